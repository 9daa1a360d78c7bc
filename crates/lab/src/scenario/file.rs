//! The format of a scenario file. Parser, JSON Schema and reference page all come from the tables in this
//! module; the doc comments of fields are the text of the reference page.
//!
//! Owns the set of valid keys. `resolve` interprets the keys and has the defaults.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{
    CouplingScope, DataDirection, DownMode, Ecn, Interference, MtuProbing, OpportunisticRule, PenaltyRule,
    Reinjection, Routing, SendQueueRule, Side, SlowStart, Stack, Transport, Version,
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
                /// The keys of a direction, which apply to both directions.
                #[serde(flatten)]
                pub $rest: $rest_type,
            )?
            $(
                /// Keys of a single kind, such as `nat`; the registry knows them.
                #[serde(flatten)]
                #[schemars(skip)]
                pub $own: $own_type,
            )?
            $(
                /// A table of a registered kind and its keys.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[schemars(skip)]
                pub $kind: Option<toml::Table>,
            )?
        }
    };
}

mod fabric;
mod jitter;
mod limits;
mod links;
mod middlebox;
mod policy;
mod queue;
mod wifi;

pub use fabric::{RouteTable, TopologyTable};
pub use jitter::JitterTable;
pub use limits::LimitsTable;
pub use links::{DirectionTable, GilbertElliottTable, LinkTable, PathTable};
pub use middlebox::MiddleboxTable;
pub use policy::PolicyValue;
pub use queue::QueueValue;
pub use wifi::{BackgroundTable, CellTable, CouplingTable, StationTable};

table! {
    /// A simulation: a network, its flows, and the events of one run.
    ScenarioFile {
        /// Name of the scenario. Default: the name of the file.
        name: String,
        /// One sentence that describes the scenario.
        description: String,
        /// Virtual time of one run, above 0s. Required.
        duration: Span,
        /// Time at the start of a run that summaries exclude, below `duration`. Default: 0s.
        warmup: Span,
        /// Interval between two samples, above 0s. Default: 100ms.
        sample: Span,
        /// Ends the run early, once each sender has acknowledgements for all its files (flows with `bytes`).
        /// Default: false.
        until_done: bool,
        /// Files that this scenario extends; their paths are relative to this file. Tables merge key by key.
        /// Later files override earlier ones, and this file overrides all of them. Arrays are replaced as a
        /// whole.
        include: Vec<String>,
        /// Keys for all flows. A key in a flow overrides the same key here.
        defaults: FlowTable,
        /// Disjoint paths between the hosts `client` and `server`. The client has one interface per path.
        paths: IndexMap<String, PathTable>,
        /// Links of a general topology. Nodes that `from` or `to` of a flow names are hosts, as are `client`
        /// and `server` if there are paths. All other nodes are routers.
        links: IndexMap<String, LinkTable>,
        /// A generated network, in addition to `links`.
        topology: TopologyTable,
        /// The choice of a router among paths of equal hop count. Default: first; ecmp with a `topology`.
        routing: Routing,
        /// Explicit routes, which override `routing`.
        routes: Vec<RouteTable>,
        /// Hosts that forward packets of other hosts. Default: none; all hosts of a bcube.
        relays: Vec<String>,
        /// WiFi cells: an access point and its channel.
        cells: IndexMap<String, CellTable>,
        /// WiFi interfaces of hosts. Each is a path from its host to the access point of its cell.
        stations: IndexMap<String, StationTable>,
        /// Groups of competing WiFi stations. They contend for the channel, and the network discards their
        /// frames.
        background: IndexMap<String, BackgroundTable>,
        /// The model of interference between cells on different channels. Default: ideal.
        interference: Interference,
        /// Interference between pairs of cells, instead of `interference`.
        coupling: Vec<CouplingTable>,
        /// The flows: MPTCP and TCP connections, and UDP streams.
        flows: IndexMap<String, FlowTable>,
        /// Changes to the network during the run.
        events: Vec<EventTable>,
        /// Extra delay and loss for selected subflows.
        filters: Vec<FilterTable>,
        /// Middleboxes on paths and links, which modify segments.
        middleboxes: IndexMap<String, MiddleboxTable>,
        /// Random delays in hosts, which make runs with different seeds independent.
        jitter: JitterTable,
        /// Limits on the size of a run.
        limits: LimitsTable,
    }
}

table! {
    /// A flow: one connection, or a UDP stream.
    FlowTable {
        /// The host that opens the connection. Default: client.
        from: String,
        /// The host that accepts the connection. Default: server.
        to: String,
        /// Creates one flow per host of the `topology`, instead of `from` and `to`. Each host sends to one
        /// other host and receives from one. The flow of host h1 is called NAME-1, and so on. The number
        /// selects the permutation.
        permutation: u32,
        /// The direction of the data. Default: upload.
        direction: DataDirection,
        /// The transport protocol. Default: mptcp.
        transport: Transport,
        /// The version of MPTCP. Default: v1.
        version: Version,
        /// The implementation whose defaults apply to all keys that are not set. Default: mptcplab.
        stack: Stack,
        /// The paths, or links of the host `from`, that the flow may use. A tcp flow uses the first one.
        /// Default: all over which `to` is reachable.
        paths: Vec<String>,
        /// The congestion controller. Default: lia for mptcp, reno for tcp.
        congestion: PolicyValue,
        /// The paths that a coupled congestion controller couples. Default: shared.
        coupling_scope: CouplingScope,
        /// A congestion signal from the queue of the sending host. Default: off.
        send_queue_rule: SendQueueRule,
        /// The scheduler, which selects the subflow for the next data. Default: ontime.
        scheduler: PolicyValue,
        /// The path manager, which selects the subflows to open. Default: fullmesh.
        path_manager: PolicyValue,
        /// Number of subflows that ndiffports opens, 1 to 8. Default: 2.
        subflows: u32,
        /// Paths whose subflows have backup priority: MPTCP uses them only while no other subflow works.
        backup: Vec<String>,
        /// When the receive window or the send buffer is full, another subflow reinjects the blocking data
        /// (mechanism M1). Default: true.
        opportunistic_retransmission: bool,
        /// The data that M1 reinjects. Default: speculative.
        opportunistic_rule: OpportunisticRule,
        /// Halves the congestion window of the subflow that filled the receive window (mechanism M2).
        /// Default: false.
        penalisation: bool,
        /// The rule of M2. Default: original.
        penalty_rule: PenaltyRule,
        /// Grows the buffers on demand, up to `rcvbuf` and `sndbuf` (mechanism M3). Default: false.
        autotuning: bool,
        /// With `autotuning`, also shrinks the send buffer when the congestion windows shrink. Linux never
        /// shrinks the send buffer. Default: false.
        sndbuf_shrinks: bool,
        /// With `autotuning`, starts the receive buffer at 128 KiB per path. If false, it starts at 128 KiB
        /// in total, as in Linux. Default: true.
        rcvbuf_by_path: bool,
        /// Limits the congestion window so that queues stay short (mechanism M4). Default: false.
        cwnd_capping: bool,
        /// The receive buffer of the connection. Default: 6291456B, as in Linux.
        rcvbuf: Size,
        /// The send buffer of the connection. Default: 4194304B, as in Linux; 212992B for udp.
        sndbuf: Size,
        /// The maximum segment size that the MSS option announces, 88 to 65495 bytes. Default: the largest
        /// that fits the mtu of the path.
        mss: u32,
        /// Gives each subflow a send queue, which the scheduler fills ahead of the window as far as the send
        /// buffer allows. M1 and M2 are inactive then (Linux: __mptcp_push_pending in net/mptcp/protocol.c).
        /// Default: false; true with stack linux.
        subflow_queues: bool,
        /// Counts `rcvbuf` and `sndbuf` as memory, as Linux counts SO_RCVBUF and SO_SNDBUF, and derives the
        /// windows from them. With `autotuning`, both keys correspond to the limits of tcp_rmem and tcp_wmem
        /// (__mptcp_space in net/mptcp/protocol.h). Default: false; true with stack linux.
        buffer_memory: bool,
        /// The event after which a stalled subflow's data is reinjected. Default: timeout; data_level with
        /// stack linux.
        reinjection: Reinjection,
        /// Tracks the receive window of the peer per subflow, as in Linux (ack_update_msk in
        /// net/mptcp/options.c). After a loss, the sender may exceed the offered window; the peer then drops
        /// the excess. Requires reinjection data_level. Default: false; true with stack linux.
        windows_by_subflow: bool,
        /// Interval between two probes of a failed path while other paths work; 0s disables probes. Default:
        /// 1s; 0s with stack linux.
        failed_path_probe: Span,
        /// Sends DATA_ACKs of 8 bytes, as in Linux (net/mptcp/options.c). Default: false; true with stack
        /// linux.
        wide_data_acks: bool,
        /// Time after which an ADD_ADDR without echo is retransmitted, as net.mptcp.add_addr_timeout in
        /// Linux. Default: 3s; 120s with stack linux.
        add_addr_timeout: Span,
        /// Time for which a host opens plain TCP connections after a path dropped SYNs with MP_CAPABLE, as
        /// net.mptcp.blackhole_timeout in Linux; 0s disables it. Default: 0s; 3600s with stack linux.
        blackhole_timeout: Span,
        /// Maximum data of a subflow in the interface queue of the host (TCP small queues,
        /// tcp_limit_output_bytes in Linux). Default: no limit.
        small_queues: Size,
        /// The rule that ends slow start. Default: standard.
        slow_start: SlowStart,
        /// Sends data that waited for a full window at the rate of Linux's internal pacing, not as a burst.
        /// Default: true for mptcp, false for tcp.
        pacing: bool,
        /// Selective acknowledgements (RFC 2018). Default: true.
        sack: bool,
        /// TCP timestamps (RFC 7323). Default: true.
        timestamps: bool,
        /// Grows congestion windows by acknowledged bytes, as in Linux since 4.0. If false, they grow by the
        /// number of acknowledgements. Default: true.
        byte_counting: bool,
        /// RACK-TLP loss detection (RFC 8985). Default: true.
        rack: bool,
        /// F-RTO (RFC 5682): detects spurious timeouts with new data and undoes their window reduction, as
        /// tcp_frto in Linux. Default: true.
        frto: bool,
        /// Undoes a window reduction when timestamps or duplicate reports show that the loss was spurious
        /// (RFC 4015, 3522, 3708), as in Linux. Default: true.
        undo_spurious_loss: bool,
        /// Explicit congestion notification (RFC 3168). Default: off; on with a controller that needs marks,
        /// such as dctcp.
        ecn: Ecn,
        /// NewReno and CUBIC reduce the window less after an ECN mark than after a loss (RFC 8511). Default:
        /// false.
        abe: bool,
        /// Restarts from the initial window after an idle time of one retransmission timeout (RFC 5681), as
        /// tcp_slow_start_after_idle in Linux. Default: false.
        restart_after_idle: bool,
        /// Determines per round whether the congestion window limits the flow, as in Linux (tcp_cwnd_validate
        /// in net/ipv4/tcp_output.c). The window is a limit if it was full during the round, or more than
        /// half full in slow start. If false, only the current data in flight counts. Default: false; true
        /// with stack linux.
        cwnd_limited_per_round: bool,
        /// Packetization layer path MTU discovery (RFC 4821). Default: off.
        mtu_probing: MtuProbing,
        /// Delayed acknowledgements (RFC 1122). Default: true.
        delayed_ack: bool,
        /// The Nagle algorithm (RFC 896). Default: true.
        nagle: bool,
        /// With `nagle`, a small segment waits only for other small segments in flight
        /// (draft-minshall-nagle-01; tcp_minshall_check in Linux). If false, it waits for all data in flight
        /// (RFC 9293 section 3.7.4). Default: true.
        minshall: bool,
        /// The minimum retransmission timeout. Default: 200ms, as in Linux.
        min_rto: Span,
        /// Time after which a subflow with unacknowledged data ends, as TCP_USER_TIMEOUT in Linux. Default:
        /// no limit.
        user_timeout: Span,
        /// Maximum unsent data in the send buffer, as TCP_NOTSENT_LOWAT in Linux. Default: `sndbuf`.
        notsent_lowat: Size,
        /// The initial congestion window, 1 to 1000 segments. Default: 10.
        initial_window: u32,
        /// The initial slow start threshold of each subflow. In Linux, tcp_metrics saves it from an earlier
        /// connection. Default: none.
        ssthresh: Size,
        /// The DSS checksum. Default: false.
        checksum: bool,
        /// Whether the accepting host uses MPTCP; if false, it answers with TCP. Default: true.
        accept_mptcp: bool,
        /// Additional subflows that the accepting host allows, 0 to 8; it resets further joins. Default: 8.
        accept_subflows: u32,
        /// Sends at the maximum rate until the end of the run. This is the default traffic.
        bulk: bool,
        /// Sends a file of this size, then closes the connection.
        bytes: Size,
        /// Sends blocks of this size and measures the delay of each.
        blocks: Size,
        /// Rate at which the application writes blocks or sends datagrams. Default: unlimited.
        rate: LineRate,
        /// Payload of a UDP datagram, 1B to 65507B. Default: 1472B.
        datagram: Size,
        /// Mean duration of an on period of a udp flow. On and off periods are exponentially distributed.
        /// Default: always on.
        on: Span,
        /// Mean duration of an off period of a udp flow. Required with `on`.
        off: Span,
        /// A block or datagram with a longer delay, or a file with a longer completion time, counts as late.
        /// Lost datagrams count as late. Default: none.
        deadline: Span,
        /// Time at which the connection is opened. Default: 0s.
        start: Span,
        /// Time at which the application stops writing. Default: the end of the run.
        stop: Span,
        /// Number of copies of this flow, 1 to 10000. They are called NAME-1, NAME-2 and so on. Default: 1.
        count: u32,
        /// Time between the starts of two copies. Default: 0s.
        stagger: Span,
        /// Also runs plain TCP over each path of the flow, for comparison. Default: false.
        baselines: bool,
    } kind application;
}

table! {
    /// A change to the network at a given time.
    EventTable {
        /// Time of the change. Required.
        at: Span,
        /// The path that changes.
        path: String,
        /// The link that changes.
        link: String,
        /// The station that changes.
        station: String,
        /// The middlebox that is switched on or off.
        middlebox: String,
        /// The flow whose policies change.
        flow: String,
        /// The direction that changes. Default: both.
        direction: Side,
        /// The new values. Required.
        set: SetTable,
        /// The way in which a path goes down or comes up. Default: admin; blackhole for a single direction.
        how: DownMode,
    }
}

table! {
    /// The new values of an event.
    SetTable {
        /// Up or down. All frames in a path are lost when it goes down.
        up: bool,
        /// The link rate. The frame in service sends its remaining bits at the new rate.
        rate: LineRate,
        /// One-way propagation delay.
        delay: Span,
        /// Random frame loss.
        loss: Percent,
        /// The queue limit. Queued frames stay.
        queue: QueueSize,
        /// The largest IP packet that passes, in bytes.
        path_mtu: u32,
        /// Maximum deviation of the delay.
        jitter: Span,
        /// Distance of a station from the access point.
        distance: Distance,
        /// Whether a middlebox is active. An activated middlebox starts without state. Deactivation drops the
        /// segments that it holds.
        on: bool,
        /// The scheduler of a flow, from the next segment on.
        scheduler: PolicyValue,
        /// The congestion controller of a flow. It starts with the present windows.
        congestion: PolicyValue,
    }
}

table! {
    /// Extra delay and loss for selected subflows, before the queue of a path or link. A bridge with dummynet
    /// has this effect.
    FilterTable {
        /// The path with the filter.
        path: String,
        /// The link with the filter.
        link: String,
        /// The station with the filter.
        station: String,
        /// The direction with the filter. Default: both.
        direction: Side,
        /// The flows that match. Default: all.
        flows: Vec<String>,
        /// The paths, or links of the host `from`, whose subflows match. Default: all.
        paths: Vec<String>,
        /// Extra one-way delay. Default: 0s.
        delay: Span,
        /// Extra loss. Default: 0%.
        loss: Percent,
    }
}
