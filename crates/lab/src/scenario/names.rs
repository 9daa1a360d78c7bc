//! The names of choices. One list: the format, the messages and the reference take them from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub enum $type {
            $($(#[$variant_doc])* #[serde(rename = $name)] $variant,)*
        }

        impl $type {
            /// All of them, in the order of the reference page.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name as people write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// A sign of congestion from this host's own queue, around any congestion controller.
    SendQueueRule {
        /// None.
        Off = "off",
        /// The rule of the UCL report (2013, section 4.4), the queue being what waits in this host.
        Published = "published",
        /// The same, the queue being what `ss` shows: all that is not acknowledged.
        Unacked = "unacked",
        /// Linked pacing: what mptcplab proposes instead (docs/research/send-queue-rule.md).
        Linked = "linked",
    }
}

names! {
    /// Explicit congestion notification: who asks for it.
    Ecn {
        /// Nobody, and who asks is refused.
        Off = "off",
        /// Nobody, but who asks gets it: what Linux does by default.
        Passive = "passive",
        /// Whoever opens a connection or a subflow.
        On = "on",
    }
}

names! {
    /// Whether segments find out by themselves what a path carries (RFC 4821), as Linux's tcp_mtu_probing.
    MtuProbing {
        /// They do not; what routers say counts in any case.
        Off = "off",
        /// They shrink when nothing arrives, again and again, and grow from there.
        BlackHole = "blackhole",
        /// They begin small, and grow to what arrives.
        On = "on",
    }
}

names! {
    /// The generation of a cell.
    Standard {
        /// 802.11b: 11 Mb/s at 2.4 GHz.
        B = "802.11b",
        /// 802.11a: 54 Mb/s at 5 GHz.
        A = "802.11a",
        /// 802.11g: 54 Mb/s at 2.4 GHz.
        G = "802.11g",
        /// 802.11n: 20 MHz, with aggregation.
        N = "802.11n",
    }
}

names! {
    /// The slot time at 2.4 GHz.
    Slot {
        /// 9 us.
        Short = "short",
        /// 20 us, as beside 802.11b stations.
        Long = "long",
    }
}

names! {
    /// How a wireless interface queue drops.
    Discipline {
        /// What does not fit.
        Droptail = "droptail",
        /// CoDel (RFC 8289), with its usual 5 ms and 100 ms.
        Codel = "codel",
    }
}

names! {
    /// How cells on different channels disturb each other.
    Interference {
        /// Cells on one channel share it perfectly; channels five apart, and other bands, do not meet.
        Ideal = "ideal",
        /// Calibrated by the measurements of the UCL report (2013, section 4.1).
        Ucl = "ucl",
    }
}

names! {
    /// Which paths a coupled congestion controller sees as one.
    Coupled {
        /// All paths of the connection, as RFC 6356 has it.
        All = "all",
        /// Those that may share a bottleneck, as far as the delays of their queues tell.
        Shared = "shared",
    }
}

names! {
    /// When slow start ends.
    SlowStart {
        /// At the threshold, or at a loss.
        Standard = "standard",
        /// HyStart++ (RFC 9406): it slows down where delays grow, and ends five rounds later.
        HyStartPlusPlus = "hystart++",
        /// HyStart as in Linux's CUBIC: it ends where delays grow, or acknowledgements come without a gap for half a round trip.
        HyStart = "hystart",
    }
}

names! {
    /// What M1 sends again when the window is full.
    Opportunistic {
        /// The rule of mptcp.org kernels: the oldest segment, once, where the subflow that has it is slower by far.
        Original = "original",
        /// All that would come sooner this way than by the subflow that has it.
        Sooner = "sooner",
        /// That, and where a path has nothing else to do, what others carry and may have lost, before it is late.
        Early = "early",
    }
}

names! {
    /// How M2 penalises a slow subflow.
    Penalty {
        /// The rule of the paper and of the kernels of 2012 and 2013: once in a round trip of the slow
        /// subflow, which leaves slow start.
        Original = "original",
        /// The rule of mptcp.org kernels since 0.89: once in a round trip of the fast subflow; slow
        /// start goes on.
        Later = "later",
    }
}

names! {
    /// Whose stack a flow runs: what the keys mean that it does not say.
    Stack {
        /// This one's.
        Mptcplab = "mptcplab",
        /// Linux's, 6.12 to 6.18: `scheduler`, `congestion`, `slow_start`, `ecn`, `restart_after_idle`, `cwnd_limited_per_round`, `pacing`,
        /// `opportunistic_retransmission` and what follows `subflow_queues` are as in its kernel. Each can be said otherwise.
        Linux = "linux",
    }
}

names! {
    /// When data that a subflow does not get through goes on another one.
    Reinjection {
        /// When the subflow times out: all of it.
        Timeout = "timeout",
        /// As in Linux (net/mptcp/protocol.c, __mptcp_retrans): a fragment of 32 KiB, each time that nothing was acknowledged at
        /// the data level for the longest timeout of the subflows, on one that has nothing to send. All of it when a subflow
        /// ends, or has been silent for net.mptcp.stale_loss_cnt such times. Needs `subflow_queues`.
        DataLevel = "data_level",
    }
}

names! {
    /// The transport.
    Transport {
        /// Multipath TCP.
        Mptcp = "mptcp",
        /// Plain TCP over one path.
        Tcp = "tcp",
        /// Datagrams over one path, with no congestion control: at `rate`, or as fast as they go.
        Udp = "udp",
    }
}

names! {
    /// The version of Multipath TCP.
    Version {
        /// RFC 6824, as the kernels of the published studies spoke it.
        V0 = "v0",
        /// RFC 8684, as Linux speaks it.
        V1 = "v1",
    }
}

names! {
    /// Who sends the data of a flow.
    DataDirection {
        /// The host that opened the connection.
        Upload = "upload",
        /// The host that accepted it.
        Download = "download",
    }
}

names! {
    /// One direction of a path or link.
    Side {
        /// From the client to the server; on a link, from the first end to the second.
        Forward = "forward",
        /// The other way.
        Backward = "backward",
    }
}

names! {
    /// Which options a middlebox removes.
    Stripped {
        /// Those of Multipath TCP.
        Mptcp = "mptcp",
        /// All of kinds above 8, timestamps.
        Unknown = "unknown",
    }
}

names! {
    /// Segments, by what options they may carry.
    SegmentKind {
        /// The SYN of who opens.
        Syn = "syn",
        /// The SYN/ACK.
        SynAck = "syn-ack",
        /// Segments with payload.
        Data = "data",
        /// All others.
        Ack = "ack",
    }
}

names! {
    /// How a path goes down or comes back.
    DownMode {
        /// The host is told: its address goes and comes.
        Admin = "admin",
        /// Nobody is told: packets just vanish.
        Blackhole = "blackhole",
        /// Its host may no longer use it for Multipath TCP, or may again, as with `ip mptcp endpoint`; the link works.
        Endpoint = "endpoint",
        /// Its host has no route over it any more: what it would send is lost, its subflows live, and what comes arrives.
        Route = "route",
    }
}

names! {
    /// Published values of a Gilbert-Elliott model.
    LossPreset {
        /// Air to ground and by satellite, the lower end of what was measured: bursts of 12 frames, 13 % lost (Michel 2023).
        InFlightLong = "in_flight_long",
        /// The upper end: bursts of 2 frames, 12 % lost.
        InFlightShort = "in_flight_short",
        /// An IP backbone: 0.1 % lost, in periods of 166 frames that lose 45 % (Hasslinger and Hohlfeld 2008).
        Backbone = "backbone",
        /// Across the Atlantic in 1992, packets 8 ms apart: 23 % lost, 60 % after a lost one (Bolot 1993).
        InriaMaryland = "inria_maryland",
        /// Across the Atlantic around 2000, 30 ms apart: 0.47 % lost, 14.9 % after a lost one (Jiang and Schulzrinne 2000, trace 1).
        ColumbiaGmd = "columbia_gmd",
        /// Inside the United States around 2000, 30 ms apart: 9 % lost, 33 % after a lost one (the same, trace 2).
        ColumbiaUmass = "columbia_umass",
        /// Across the United States around 2000, 30 ms apart: 2.82 % lost, 44.1 % after a lost one (the same, trace 4).
        UcscUmass = "ucsc_umass",
    }
}

names! {
    /// A network of one line.
    TopologyKind {
        /// The k-ary fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008).
        FatTree = "fat_tree",
        /// BCube of Guo et al. (SIGCOMM 2009): hosts with several ports pass on what is not for them.
        Bcube = "bcube",
    }
}

names! {
    /// What a node does with several ways of equally many hops.
    Routing {
        /// It takes the one by the link that was written first.
        First = "first",
        /// One way for each subflow and direction, by a hash that differs from node to node (RFC 2992).
        Ecmp = "ecmp",
        /// Another way for each packet, by chance.
        Spray = "spray",
    }
}

/// Whether a flow is what `word` names: itself, or one of the copies that `count` made.
pub(crate) fn is_called(flow: &str, word: &str) -> bool {
    let copy = flow.strip_prefix(word).and_then(|rest| rest.strip_prefix('-'));
    flow == word || copy.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
