//! A resolved scenario: all defaults are filled in, names are valid, and values are numbers in base units.
//! `resolve` creates it from the tables of the file, and the simulator and the emulator read it.

use mptcp::congestion::CongestionControl;
use mptcp::path_manager::PathManager;
use mptcp::scheduler::Scheduler;
use mptcp_clock::Duration;
use netsim::QueueLimit;

use super::kinds::Chosen;
use super::names::{
    CouplingScope, DataDirection, DownMode, Ecn, Interference, MtuProbing, OpportunisticRule, PenaltyRule,
    Reinjection, Routing, SendQueueRule, SlowStart, Transport, Version,
};
use super::policies::Policy;
use crate::application::Maker;

mod jitter;
mod limits;
mod link;
mod middlebox;
mod policy_change;
mod route;
mod way;
mod wifi;

pub use jitter::HostJitter;
pub use limits::{Estimate, Limits};
pub use link::{Link, LinkDirection, LinkKind};
pub use middlebox::{Middlebox, Switch};
pub use policy_change::PolicyChange;
pub use route::Route;
pub use way::Way;
pub use wifi::{Background, Cell, Coupling, Station};

/// A resolved scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name.
    pub name: String,
    /// Description; may be empty.
    pub description: String,
    /// Virtual duration of a run, above zero.
    pub duration: Duration,
    /// Time at the start of a run that summaries exclude, below `duration`.
    pub warmup: Duration,
    /// Sampling interval, above zero.
    pub sample: Duration,
    /// Whether a run ends once all files are acknowledged. If true, at least one flow sends a file.
    pub until_done: bool,
    /// Paths, then links, then stations, each in the order of the file.
    pub links: Vec<Link>,
    /// Selection among equal-cost paths.
    pub routing: Routing,
    /// In the order of the file.
    pub routes: Vec<Route>,
    /// Hosts that forward packets of other hosts.
    pub relays: Vec<String>,
    /// In the order of the file.
    pub cells: Vec<Cell>,
    /// In the order of the file.
    pub background: Vec<Background>,
    /// Interference between cells without an entry in `coupling`.
    pub interference: Interference,
    /// In the order of the file, without repeated pairs.
    pub coupling: Vec<Coupling>,
    /// In the order of the file; each copy (`count`) is a separate flow.
    pub flows: Vec<Flow>,
    /// By time, then in the order of the file.
    pub events: Vec<Event>,
    /// In the order of the file.
    pub filters: Vec<Filter>,
    /// In the order of the file. On one link, the first is closest to the first end.
    pub middleboxes: Vec<Middlebox>,
    /// By time, then in the order of the file.
    pub switches: Vec<Switch>,
    /// By time, then in the order of the file.
    pub policy_changes: Vec<PolicyChange>,
    /// Random delays in hosts.
    pub jitter: HostJitter,
    /// Limits on the size of a run.
    pub limits: Limits,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique name.
    pub name: String,
    /// The host that opens the connection.
    pub from: String,
    /// The host that accepts the connection.
    pub to: String,
    /// Direction of the data.
    pub direction: DataDirection,
    /// Transport protocol.
    pub transport: Transport,
    /// Version of MPTCP.
    pub version: Version,
    /// The links of the host `from` that the flow uses, at least one. Only mptcp flows have several.
    pub paths: Vec<String>,
    /// The paths with backup priority.
    pub backup: Vec<String>,
    /// The congestion controller.
    pub congestion: Policy<dyn CongestionControl>,
    /// The paths that a coupled controller couples.
    pub coupling_scope: CouplingScope,
    /// Congestion signal from the queue of the sending host.
    pub send_queue_rule: SendQueueRule,
    /// The scheduler.
    pub scheduler: Policy<dyn Scheduler>,
    /// The path manager.
    pub path_manager: Policy<dyn PathManager>,
    /// Opportunistic retransmission, penalisation, buffer autotuning and cwnd capping (M1 to M4).
    pub mechanisms: Mechanisms,
    /// Settings for data that waits to be sent or reinjected.
    pub waiting: Waiting,
    /// Settings of TCP.
    pub tcp: Tcp,
    /// The DSS checksum.
    pub checksum: bool,
    /// Whether the accepting host uses MPTCP.
    pub accept_mptcp: bool,
    /// Additional subflows that the accepting host allows.
    pub accept_subflows: u32,
    /// Traffic of the application.
    pub traffic: Traffic,
    /// Maximum delay of a block or datagram, or completion time of a file; `None` without a deadline.
    pub deadline: Option<Duration>,
    /// Time at which the connection is opened.
    pub start: Duration,
    /// Time at which the application stops writing, after `start`; `None` for the end of the run.
    pub stop: Option<Duration>,
    /// Whether further runs send the flow over each path alone with plain TCP.
    pub baselines: bool,
}

impl Flow {
    /// The host that sends the data of the flow.
    #[must_use]
    pub fn sender(&self) -> &str {
        if self.direction == DataDirection::Upload { &self.from } else { &self.to }
    }

    /// Whether the flow sends a fixed number of bytes.
    #[must_use]
    pub fn has_a_file(&self) -> bool {
        matches!(self.traffic, Traffic::File { .. })
    }

    /// Mean durations of on and off periods; `None` if the flow is always on.
    #[must_use]
    pub fn activity(&self) -> Option<(Duration, Duration)> {
        match self.traffic {
            Traffic::Datagrams { activity, .. } => activity,
            _ => None,
        }
    }

    /// Number of subflows on the first path that differ only in their ports; `None` if the path manager opens
    /// no such subflows.
    #[must_use]
    pub fn ports(&self) -> Option<u32> {
        self.path_manager.ports()
    }
}

/// The mechanisms of Raiciu et al., NSDI 2012, section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// M1: when a buffer is full, another subflow reinjects the blocking data.
    pub opportunistic_retransmission: bool,
    /// The rule of M1.
    pub opportunistic_rule: OpportunisticRule,
    /// M2: the congestion window of the subflow that blocks the receive window is halved.
    pub penalisation: bool,
    /// The rule of M2.
    pub penalty_rule: PenaltyRule,
    /// M3: the buffers grow on demand.
    pub autotuning: bool,
    /// With M3, whether the send buffer also shrinks.
    pub sndbuf_shrinks: bool,
    /// With M3, whether the receive buffer starts at 128 KiB per path instead of 128 KiB in total.
    pub rcvbuf_by_path: bool,
    /// M4: the congestion window is limited, so that queues stay short.
    pub cwnd_capping: bool,
}

/// Settings of a flow for data that waits to be sent or reinjected, and the timers of MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// One send queue per subflow.
    pub subflow_queues: bool,
    /// Buffer sizes are amounts of memory, from which the windows follow.
    pub buffer_memory: bool,
    /// Trigger of reinjection.
    pub reinjection: Reinjection,
    /// Receive windows per subflow.
    pub windows_by_subflow: bool,
    /// Interval of probes of failed paths; `None` disables them.
    pub failed_path_probe: Option<Duration>,
    /// DATA_ACKs of 8 bytes.
    pub wide_data_acks: bool,
    /// Retransmission timeout of ADD_ADDR.
    pub add_addr_timeout: Duration,
    /// Time for which a host opens plain TCP after dropped MP_CAPABLE options; `None` disables it.
    pub blackhole_timeout: Option<Duration>,
}

/// TCP settings of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Receive buffer, bytes; above zero.
    pub rcvbuf: u64,
    /// Send buffer, bytes; above zero.
    pub sndbuf: u64,
    /// Announced MSS, bytes; `None` is the largest that fits the path.
    pub mss: Option<u32>,
    /// End of slow start.
    pub slow_start: SlowStart,
    /// Internal pacing.
    pub pacing: bool,
    /// Maximum bytes of a subflow in the local queue; `None` is unlimited.
    pub small_queues: Option<u64>,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Windows grow by bytes instead of acknowledgements.
    pub byte_counting: bool,
    /// RACK-TLP.
    pub rack: bool,
    /// F-RTO.
    pub frto: bool,
    /// Reductions after spurious losses are undone.
    pub undo_spurious_loss: bool,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Smaller reductions for marks than for losses.
    pub abe: bool,
    /// Restart from the initial window after idle periods.
    pub restart_after_idle: bool,
    /// Whether the window limits the flow is determined per round, as in Linux.
    pub cwnd_limited_per_round: bool,
    /// Packetization layer path MTU discovery.
    pub mtu_probing: MtuProbing,
    /// Delayed acknowledgements.
    pub delayed_ack: bool,
    /// The Nagle algorithm.
    pub nagle: bool,
    /// Minshall's variant of the Nagle algorithm.
    pub minshall: bool,
    /// Minimum retransmission timeout.
    pub min_rto: Duration,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Initial slow start threshold, bytes; `None` is unlimited.
    pub ssthresh: Option<u64>,
    /// Time after which a subflow with unacknowledged data ends; `None` is unlimited.
    pub user_timeout: Option<Duration>,
    /// Maximum unsent bytes in the send buffer; `None` is the size of this buffer.
    pub notsent_lowat: Option<u64>,
}

/// The traffic of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Sends without end.
    Bulk,
    /// Sends a fixed number of bytes, then closes the connection.
    File {
        /// Size of the file, bytes; above zero.
        bytes: u64,
    },
    /// Writes blocks, and measures the delay of each.
    Blocks {
        /// Bytes in a block; above zero.
        bytes: u64,
        /// Rate of application data, bit/s; `None` is the maximum.
        rate: Option<u64>,
    },
    /// Traffic of a registered application.
    Custom(Chosen<Maker>),
    /// Sends datagrams.
    Datagrams {
        /// Payload per datagram, bytes; above zero.
        bytes: u32,
        /// Rate of payload, bit/s; `None` is the maximum.
        rate: Option<u64>,
        /// Mean durations of on and off periods, for flows with a rate; `None` is always on.
        activity: Option<(Duration, Duration)>,
    },
}

/// A change during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time, before the end of the run.
    pub at: Duration,
    /// The link that changes.
    pub link: String,
    /// The directions that change.
    pub way: Way,
    /// The new values.
    pub set: Adjustment,
    /// The way in which the link goes down or comes up.
    pub how: DownMode,
}

/// The values that an event sets; `None` keeps the old value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Adjustment {
    /// Whether the link is up.
    pub up: Option<bool>,
    /// Link rate, bit/s; `Some(None)` is unlimited.
    pub rate: Option<Option<u64>>,
    /// One-way propagation delay.
    pub delay: Option<Duration>,
    /// Loss probability, 0 to 1.
    pub loss: Option<f64>,
    /// The queue limit.
    pub queue: Option<QueueLimit>,
    /// The largest IP packet that passes, bytes.
    pub path_mtu: Option<u32>,
    /// Half-width of the jitter.
    pub jitter: Option<Duration>,
    /// Distance from the access point, metres.
    pub distance: Option<f64>,
}

/// Extra delay and loss for selected subflows.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The link.
    pub link: String,
    /// The directions.
    pub way: Way,
    /// The matching flows; `None` is all.
    pub flows: Option<Vec<String>>,
    /// The first links of the matching subflows; `None` is all.
    pub paths: Option<Vec<String>>,
    /// Extra one-way delay.
    pub delay: Duration,
    /// Loss probability, 0 to 1.
    pub loss: f64,
}
