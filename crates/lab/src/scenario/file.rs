//! The format of a scenario file: the one definition from which reading, the JSON Schema and the
//! reference page come. The comments of the fields are the text of that page.
//!
//! Says what may be written, never what it means: defaults and sense are the business of `resolve`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{
    Coupled, DataDirection, DownMode, Ecn, Interference, MtuProbing, Opportunistic, Penalty, Reinjection,
    Routing, SendQueueRule, Side, SlowStart, Stack, Transport, Version,
};
use super::units::{Distance, LineRate, Percent, QueueSize, Size, Span};

/// Declares a table: every key is optional.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* } $(with $rest:ident: $rest_type:ty;)? $(and $own:ident: $own_type:ty;)? $(kind $kind:ident;)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name {
            $($(#[$field_doc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
            $(
                /// The keys of a direction, for both.
                #[serde(flatten)]
                pub $rest: $rest_type,
            )?
            $(
                /// Keys that kinds have for themselves; a registry knows them.
                #[serde(flatten)]
                #[schemars(skip)]
                pub $own: $own_type,
            )?
            $(
                /// A kind with its keys, if a registry has any.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schemars(skip)]
                pub $kind: Option<toml::Table>,
            )?
        }
    };
}

mod air;
mod fabric;
mod jitter;
mod limits;
mod links;
mod middlebox;
mod policy;
mod queue;

pub use air::{BackgroundTable, CellTable, CouplingTable, StationTable};
pub use fabric::{RouteTable, TopologyTable};
pub use jitter::JitterTable;
pub use limits::LimitsTable;
pub use links::{DirectionTable, GilbertElliottTable, LinkTable, PathTable};
pub use middlebox::MiddleboxTable;
pub use policy::PolicyValue;
pub use queue::QueueValue;

table! {
    /// A scenario.
    ScenarioFile {
        /// What to call it. Default: the name of the file.
        name: String,
        /// A sentence about it.
        description: String,
        /// How long it runs. Needed.
        duration: Span,
        /// How much of the beginning the summaries leave out. Default: 0s.
        warmup: Span,
        /// The time between two samples. Default: 100ms.
        sample: Span,
        /// Whether it ends before its duration, as soon as all files (flows with `bytes`) have arrived and who sent them knows.
        /// Default: false.
        until_done: bool,
        /// Files to build on, relative to this one. Tables merge key by key, later files win over earlier
        /// ones, and this file wins over all; arrays are replaced whole.
        include: Vec<String>,
        /// Values for all flows that do not say otherwise.
        defaults: FlowTable,
        /// Disjoint paths between the host `client`, with one interface for each, and the host `server`.
        paths: IndexMap<String, PathTable>,
        /// Links of a general topology. The hosts are the names in `from` and `to` of the flows (and `client`
        /// and `server`, if there are paths); all other names are routers.
        links: IndexMap<String, LinkTable>,
        /// A whole network of one kind, beside what `links` says.
        topology: TopologyTable,
        /// What routers do with several ways of equally many hops. Default: first; ecmp with a `topology`.
        routing: Routing,
        /// Explicit ways.
        routes: Vec<RouteTable>,
        /// Hosts that pass on what is not for them. Default: none does; all hosts of a bcube do.
        relays: Vec<String>,
        /// Access points, each with a channel.
        cells: IndexMap<String, CellTable>,
        /// Wireless interfaces of hosts: each is a path from its host to the access point of its cell.
        stations: IndexMap<String, StationTable>,
        /// Other people's stations: they contend, and what they send goes nowhere.
        background: IndexMap<String, BackgroundTable>,
        /// How cells on different channels disturb each other. Default: ideal.
        interference: Interference,
        /// How two cells disturb each other, instead.
        coupling: Vec<CouplingTable>,
        /// The connections.
        flows: IndexMap<String, FlowTable>,
        /// What changes during the run.
        events: Vec<EventTable>,
        /// Extra delay and loss for chosen subflows.
        filters: Vec<FilterTable>,
        /// Boxes on the way that change what passes.
        middleboxes: IndexMap<String, MiddleboxTable>,
        /// Chance in its hosts.
        jitter: JitterTable,
        /// How much it may ask for.
        limits: LimitsTable,
    }
}

table! {
    /// A connection.
    FlowTable {
        /// The host that opens it. Default: client.
        from: String,
        /// The host that accepts it. Default: server.
        to: String,
        /// Instead of `from` and `to`: as many flows as the `topology` has hosts, NAME-1 from h1 and so on; each host sends to
        /// another one and hears from one. This number chooses the permutation.
        permutation: u32,
        /// Who sends the data. Default: upload.
        direction: DataDirection,
        /// The transport. Default: mptcp.
        transport: Transport,
        /// The version of Multipath TCP. Default: v1.
        version: Version,
        /// Whose Multipath TCP and TCP it is: what keys that are not written mean. Default: mptcplab.
        stack: Stack,
        /// The paths, or links of the host `from`, that it may use; a tcp flow uses the first. Default: all
        /// that lead to `to`.
        paths: Vec<String>,
        /// The congestion controller. Default: lia for mptcp, reno for tcp.
        congestion: PolicyValue,
        /// Which paths a coupled controller sees as one. Default: shared.
        coupled: Coupled,
        /// A sign of congestion from this host's own queue. Default: off.
        send_queue_rule: SendQueueRule,
        /// Which subflow sends the next bytes. Default: ontime.
        scheduler: PolicyValue,
        /// Which subflows are opened. Default: fullmesh.
        path_manager: PolicyValue,
        /// How many subflows ndiffports opens, 1 to 8. Default: 2.
        subflows: u32,
        /// The paths that are used only when no other works.
        backup: Vec<String>,
        /// M1: when the receive window or the send buffer is full, send again what blocks it. Default: true.
        opportunistic_retransmission: bool,
        /// The rule of M1. Default: early.
        opportunistic: Opportunistic,
        /// M2: halve the window of the subflow that filled the receive window. Default: false.
        penalisation: bool,
        /// The rule of M2. Default: original.
        penalty: Penalty,
        /// M3: buffers grow with need, up to `rcvbuf` and `sndbuf`. Default: false.
        autotuning: bool,
        /// With `autotuning` the send buffer becomes smaller again when the congestion windows do; Linux's never does. Default: false.
        sndbuf_shrinks: bool,
        /// With `autotuning` the receive buffer begins with 128 KiB for each path; else with 128 KiB for all, as Linux's. Default: true.
        rcvbuf_by_path: bool,
        /// M4: keep the congestion window from filling queues beyond need. Default: false.
        cwnd_capping: bool,
        /// The receive buffer of the connection. Default: 6291456B, as Linux.
        rcvbuf: Size,
        /// The send buffer of the connection. Default: 4194304B, as Linux; 212992B for udp.
        sndbuf: Size,
        /// The largest segment in bytes, as the MSS option says it, 88 to 65495. Default: what fits the
        /// path's mtu.
        mss: u32,
        /// Each subflow has a queue, which is given data ahead of its window as far as the send buffer has room, as in Linux
        /// (net/mptcp/protocol.c, __mptcp_push_pending); M1 and M2 do nothing then. Default: false; true with stack linux.
        subflow_queues: bool,
        /// `rcvbuf` and `sndbuf` are what Linux calls SO_RCVBUF and SO_SNDBUF, or the limits of tcp_rmem and tcp_wmem with `autotuning`:
        /// memory, from which windows follow (net/mptcp/protocol.h, __mptcp_space). Default: false; true with stack linux.
        buffer_memory: bool,
        /// When data goes again on another subflow. Default: timeout; data_level with stack linux.
        reinjection: Reinjection,
        /// The peer's window is what the TCP of each subflow keeps of it, as in Linux (net/mptcp/options.c, ack_update_msk): after
        /// a loss more may be sent than was offered, which the peer drops. Needs reinjection data_level. Default: false; true with
        /// stack linux.
        windows_by_subflow: bool,
        /// How often a silent path is asked whether it is back, while others work; 0s is never. Default: 1s; 0s with stack linux.
        failed_path_probe: Span,
        /// DATA_ACKs of 8 bytes, as Linux sends them (net/mptcp/options.c). Default: false; true with stack linux.
        wide_data_acks: bool,
        /// When an address that nobody has confirmed is announced again, as Linux's net.mptcp.add_addr_timeout. Default: 3s; 120s
        /// with stack linux.
        add_addr_timeout: Span,
        /// For how long connections of a host open as TCP once a SYN was answered only without MP_CAPABLE, as Linux's
        /// net.mptcp.blackhole_timeout; 0s is never. Default: 0s; 3600s with stack linux.
        blackhole_timeout: Span,
        /// TCP small queues: no new data while this much of a subflow waits in this host's interface, as Linux's
        /// tcp_limit_output_bytes. Default: no limit.
        small_queues: Size,
        /// When slow start ends. Default: standard.
        slow_start: SlowStart,
        /// Spread what a full window held back over a round trip, at Linux's internal pace. Default: true for mptcp, false for
        /// tcp.
        pacing: bool,
        /// Selective acknowledgements. Default: true.
        sack: bool,
        /// TCP timestamps. Default: true.
        timestamps: bool,
        /// Congestion windows grow by acknowledged bytes, as in Linux since 4.0; by acknowledgements, as
        /// before, if false. Default: true.
        byte_counting: bool,
        /// RACK-TLP loss detection. Default: true.
        rack: bool,
        /// F-RTO (RFC 5682): after a timeout, new data shows whether it was one, and if not the window comes back, as Linux's
        /// tcp_frto. Default: true.
        frto: bool,
        /// Take a reduction of the window back when timestamps or reports of duplicates show that nothing was lost (RFC 4015,
        /// 3522, 3708), as Linux does. Default: true.
        undo: bool,
        /// Explicit congestion notification (RFC 3168). Default: off; on with a controller that works by marks, as dctcp does.
        ecn: Ecn,
        /// NewReno and CUBIC give less way to a mark than to a loss (RFC 8511). Default: false.
        abe: bool,
        /// A window that was not used for a timeout begins anew (RFC 5681), as Linux's tcp_slow_start_after_idle. Default: false.
        restart_after_idle: bool,
        /// A window is in use where it was full in the round, or, in slow start, where more than half of it was under way in the round, as
        /// Linux has it (net/ipv4/tcp_output.c, tcp_cwnd_validate). Default: false, by what is under way now; true with stack linux.
        cwnd_limited_per_round: bool,
        /// How segments find out what a path carries. Default: off.
        mtu_probing: MtuProbing,
        /// Delayed acknowledgements. Default: true.
        delayed_ack: bool,
        /// The Nagle algorithm. Default: true.
        nagle: bool,
        /// With nagle: what is less than a segment waits for what is less than a segment and in flight, as hosts have it
        /// (draft-minshall-nagle-01; Linux: tcp_minshall_check). Default: true; else for all that is in flight (RFC 9293 section 3.7.4).
        minshall: bool,
        /// The least retransmission timeout. Default: 200ms, as Linux.
        min_rto: Span,
        /// How long data may stay unacknowledged before a subflow ends, as Linux's TCP_USER_TIMEOUT. Default: no limit.
        user_timeout: Span,
        /// How much may wait unsent in the send buffer, as Linux's TCP_NOTSENT_LOWAT. Default: what sndbuf holds.
        notsent_lowat: Size,
        /// The initial congestion window in segments, 1 to 1000. Default: 10.
        initial_window: u32,
        /// The slow start threshold of each subflow at the start: what tcp_metrics remember of an earlier
        /// connection. Default: none.
        ssthresh: Size,
        /// The DSS checksum. Default: false.
        checksum: bool,
        /// Send as fast as the network takes it, to the end. The default traffic.
        bulk: bool,
        /// Send this much and close.
        bytes: Size,
        /// Send blocks of this size, each timed.
        blocks: Size,
        /// How fast the application writes blocks or sends datagrams. Default: unlimited.
        rate: LineRate,
        /// The payload of a datagram. Default: 1472B.
        datagram: Size,
        /// udp: the mean time for which it sends at `rate`, before it pauses; both times are drawn, exponentially. Default: always.
        on: Span,
        /// udp: the mean time of a pause. Needed with `on`.
        off: Span,
        /// Later than this after it was ready, a block or a datagram is late; a file is late when it is complete later than this after
        /// the start. Datagrams that never arrive are late. Default: nothing is late.
        deadline: Span,
        /// When the connection is opened. Default: 0s.
        start: Span,
        /// When the application stops writing. Default: the end of the run.
        stop: Span,
        /// How many such flows there are, 1 to 10000; they are called NAME-1, NAME-2 and so on. Default: 1.
        count: u32,
        /// The time between the starts of two copies. Default: 0s.
        stagger: Span,
        /// Also run plain TCP over each of its paths alone, to compare. Default: false.
        baselines: bool,
    } kind application;
}

table! {
    /// A change at a time.
    EventTable {
        /// When. Needed.
        at: Span,
        /// The path that changes.
        path: String,
        /// The link that changes.
        link: String,
        /// The wireless interface that changes.
        station: String,
        /// The middlebox that comes or goes.
        middlebox: String,
        /// The direction that changes. Default: both.
        direction: Side,
        /// The new values. Needed.
        set: SetTable,
        /// How a path goes down or comes back. Default: admin; blackhole for one direction alone.
        how: DownMode,
    }
}

table! {
    /// The new values of an event.
    SetTable {
        /// Up, or down: everything that the path holds is lost.
        up: bool,
        /// The line rate; the frame in service sends its remaining bits at the new rate.
        rate: LineRate,
        /// Propagation delay, one way.
        delay: Span,
        /// Random loss.
        loss: Percent,
        /// The queue limit. What is already queued stays.
        queue: QueueSize,
        /// The longest IP packet that gets through, in bytes.
        path_mtu: u32,
        /// Jitter.
        jitter: Span,
        /// Where a wireless interface is now.
        distance: Distance,
        /// Whether a middlebox is there. One that comes knows nothing of what passed before; what one holds is
        /// lost when it goes.
        on: bool,
    }
}

table! {
    /// Extra delay and loss for chosen subflows, before the queue of a path or link, as dummynet on a bridge.
    FilterTable {
        /// The path on which it stands.
        path: String,
        /// The link on which it stands.
        link: String,
        /// The wireless interface on which it stands.
        station: String,
        /// The direction on which it stands. Default: both.
        direction: Side,
        /// The flows it matches. Default: all.
        flows: Vec<String>,
        /// The subflows it matches, by the path, or link of the host `from`, that they use. Default: all.
        paths: Vec<String>,
        /// Extra delay, one way. Default: 0s.
        delay: Span,
        /// Extra loss. Default: 0%.
        loss: Percent,
    }
}
