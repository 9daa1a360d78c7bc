//! The fixed sets of words that scenario keys accept, such as `ecn = "passive"` or `direction = "download"`.
//!
//! Parser, error messages and reference page take the words from these lists. The registry has the names that
//! other crates can add to, such as schedulers.

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
            /// All values, in the order of the reference page.
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
    /// A congestion signal from the queue of the sending host, independent of the congestion controller.
    SendQueueRule {
        /// No signal.
        Off = "off",
        /// The rule of the UCL report (2013, section 4.4). The queue is the data in the interface of the
        /// host.
        Published = "published",
        /// The rule of the UCL report with all unacknowledged data as the queue, as `ss` shows it.
        Unacked = "unacked",
        /// Linked pacing, the proposal of mptcplab (docs/research/send-queue-rule.md).
        Linked = "linked",
    }
}

names! {
    /// Negotiation of explicit congestion notification.
    Ecn {
        /// Neither requests nor accepts ECN.
        Off = "off",
        /// Accepts ECN but does not request it, the default of Linux.
        Passive = "passive",
        /// Requests and accepts ECN.
        On = "on",
    }
}

names! {
    /// Packetization layer path MTU discovery (RFC 4821), as tcp_mtu_probing in Linux.
    MtuProbing {
        /// No probes. ICMP errors still reduce the segment size.
        Off = "off",
        /// Reduces the segment size after repeated timeouts, then probes upwards.
        BlackHole = "blackhole",
        /// Starts with small segments and probes upwards.
        On = "on",
    }
}

names! {
    /// The WiFi standard of a cell.
    Standard {
        /// 11 Mb/s at 2.4 GHz.
        B = "802.11b",
        /// 54 Mb/s at 5 GHz.
        A = "802.11a",
        /// 54 Mb/s at 2.4 GHz.
        G = "802.11g",
        /// 20 MHz channels with aggregation, at 2.4 or 5 GHz.
        N = "802.11n",
    }
}

names! {
    /// The slot time at 2.4 GHz.
    Slot {
        /// 9 us.
        Short = "short",
        /// 20 us, which 802.11b stations require.
        Long = "long",
    }
}

names! {
    /// The drop policy of a WiFi interface queue.
    Discipline {
        /// Drops frames that arrive at a full queue.
        Droptail = "droptail",
        /// CoDel (RFC 8289) with target 5 ms and interval 100 ms.
        Codel = "codel",
    }
}

names! {
    /// The model of interference between cells.
    Interference {
        /// Cells on one channel share it without hidden stations. Cells five or more channels apart, or in
        /// different bands, do not interfere.
        Ideal = "ideal",
        /// Calibrated on the measurements of the UCL report (2013, section 4.1).
        Ucl = "ucl",
    }
}

names! {
    /// The paths that a coupled congestion controller couples.
    CouplingScope {
        /// All paths of the connection, as in RFC 6356.
        All = "all",
        /// Paths that may share a bottleneck, according to the delays of their queues.
        Shared = "shared",
    }
}

names! {
    /// The rule that ends slow start.
    SlowStart {
        /// Slow start ends at the slow start threshold or a loss.
        Standard = "standard",
        /// HyStart++ (RFC 9406): growth slows down when delays grow, and ends five rounds later.
        HyStartPlusPlus = "hystart++",
        /// HyStart of CUBIC in Linux: slow start ends when delays grow, or when an ACK train lasts for half
        /// an RTT.
        HyStart = "hystart",
    }
}

names! {
    /// The data that opportunistic retransmission (M1) reinjects.
    OpportunisticRule {
        /// Rule of mptcp.org kernels: the oldest segment, once, if its subflow is much slower.
        Original = "original",
        /// All data that would arrive earlier than on its current subflow.
        AllBeneficial = "all_beneficial",
        /// As "all_beneficial". In addition, an idle path reinjects data of other paths that may be lost,
        /// before this data is late.
        Speculative = "speculative",
    }
}

names! {
    /// The rule of penalisation (M2), which halves the congestion window of a slow subflow.
    PenaltyRule {
        /// Rule of the NSDI 2012 paper and of the kernels of 2012 and 2013: once per RTT of the slow subflow.
        /// The slow subflow leaves slow start.
        Original = "original",
        /// Rule of mptcp.org kernels since 0.89: once per RTT of the fast subflow. The slow subflow stays in
        /// slow start.
        Kernel089 = "kernel_0.89",
    }
}

names! {
    /// The implementation whose defaults apply to a flow.
    Stack {
        /// The defaults of mptcplab.
        Mptcplab = "mptcplab",
        /// The defaults of Linux 6.12 to 6.18. They affect `scheduler`, `congestion`, `slow_start`, `ecn`,
        /// `restart_after_idle`, `cwnd_limited_per_round`, `pacing`, `opportunistic_retransmission`,
        /// `coupling_scope`, `rcvbuf_by_path`, and the keys from `subflow_queues` to `blackhole_timeout`.
        /// Each key can be overridden.
        Linux = "linux",
    }
}

names! {
    /// The event after which data of a stalled subflow is reinjected.
    Reinjection {
        /// A retransmission timeout of the subflow. All data of the subflow is reinjected.
        Timeout = "timeout",
        /// The data-level timer of Linux (__mptcp_retrans in net/mptcp/protocol.c), which expires without
        /// DATA_ACK progress for the longest RTO of the subflows. It reinjects 32 KiB on a subflow with an
        /// empty queue. When a subflow ends, or is stale for net.mptcp.stale_loss_cnt expiries, all data in
        /// flight of the connection is reinjected. Requires `subflow_queues`.
        DataLevel = "data_level",
    }
}

names! {
    /// The transport protocol.
    Transport {
        /// Multipath TCP.
        Mptcp = "mptcp",
        /// Plain TCP over one path.
        Tcp = "tcp",
        /// UDP datagrams over one path without congestion control, at `rate` or at the maximum rate.
        Udp = "udp",
    }
}

names! {
    /// The version of MPTCP.
    Version {
        /// RFC 6824, which the kernels of the published studies use.
        V0 = "v0",
        /// RFC 8684, which Linux uses.
        V1 = "v1",
    }
}

names! {
    /// The sender of the data of a flow.
    DataDirection {
        /// The host that opens the connection sends.
        Upload = "upload",
        /// The host that accepts the connection sends.
        Download = "download",
    }
}

names! {
    /// One direction of a path or link.
    Side {
        /// From the client to the server; on a link, from the first end to the second.
        Forward = "forward",
        /// From the server to the client; on a link, from the second end to the first.
        Backward = "backward",
    }
}

names! {
    /// The TCP options that a middlebox removes.
    Stripped {
        /// MPTCP options.
        Mptcp = "mptcp",
        /// All options with a kind above 8 (timestamps).
        Unknown = "unknown",
    }
}

names! {
    /// The type of a segment.
    SegmentKind {
        /// SYN.
        Syn = "syn",
        /// SYN/ACK.
        SynAck = "syn-ack",
        /// Segments with payload.
        Data = "data",
        /// All other segments.
        Ack = "ack",
    }
}

names! {
    /// The way in which a path goes down or comes up.
    DownMode {
        /// The host is notified: its address is removed or added.
        Admin = "admin",
        /// No host is notified. The path drops all packets.
        Blackhole = "blackhole",
        /// The MPTCP endpoint of the host is removed or added, as with `ip mptcp endpoint`. The link keeps
        /// working.
        Endpoint = "endpoint",
        /// The host loses or regains its route. Packets that it sends are lost, its subflows stay open, and
        /// it still receives packets.
        Route = "route",
    }
}

names! {
    /// Published parameters of the Gilbert-Elliott model.
    LossPreset {
        /// In-flight Internet over satellite and air-to-ground links, long bursts: 12 frames, 13% loss
        /// (Michel 2023).
        InFlightLong = "in_flight_long",
        /// In-flight Internet over satellite and air-to-ground links, short bursts: 2 frames, 12% loss
        /// (Michel 2023).
        InFlightShort = "in_flight_short",
        /// IP backbone: 0.1% loss, in periods of 166 frames with 45% loss (Hasslinger and Hohlfeld 2008).
        Backbone = "backbone",
        /// INRIA to Maryland, 1992, packets every 8 ms: 23% loss, 60% after a lost packet (Bolot 1993).
        InriaMaryland = "inria_maryland",
        /// Columbia to GMD, about 2000, packets every 30 ms: 0.47% loss, 14.9% after a lost packet (Jiang and
        /// Schulzrinne 2000, trace 1).
        ColumbiaGmd = "columbia_gmd",
        /// Columbia to UMass, about 2000, packets every 30 ms: 9% loss, 33% after a lost packet (Jiang and
        /// Schulzrinne 2000, trace 2).
        ColumbiaUmass = "columbia_umass",
        /// UCSC to UMass, about 2000, packets every 30 ms: 2.82% loss, 44.1% after a lost packet (Jiang and
        /// Schulzrinne 2000, trace 4).
        UcscUmass = "ucsc_umass",
    }
}

names! {
    /// The type of a generated network.
    TopologyKind {
        /// k-ary fat tree (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).
        FatTree = "fat_tree",
        /// BCube (Guo et al., SIGCOMM 2009). Its hosts have several ports and forward packets.
        Bcube = "bcube",
    }
}

names! {
    /// The choice of a node among paths of equal hop count.
    Routing {
        /// The path over the link that the scenario defines first.
        First = "first",
        /// One path per subflow and direction, by a hash that differs between nodes (RFC 2992).
        Ecmp = "ecmp",
        /// A random path for each packet.
        Spray = "spray",
    }
}

/// Whether `word` is the name of `flow`, or of the flow that `count` copied: `bulk` for `bulk-2`.
pub(crate) fn is_called(flow: &str, word: &str) -> bool {
    let copy = flow.strip_prefix(word).and_then(|rest| rest.strip_prefix('-'));
    flow == word || copy.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
