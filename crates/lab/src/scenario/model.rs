//! A scenario that makes sense: plain numbers, every default filled in, every name known.

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

mod air;
mod jitter;
mod limits;
mod link;
mod middlebox;
mod route;
mod way;

pub use air::{Background, Cell, Coupling, Station};
pub use jitter::HostJitter;
pub use limits::{Estimate, Limits};
pub use link::{Line, Link, LinkKind};
pub use middlebox::{Middlebox, Switch};
pub use route::Route;
pub use way::Way;

/// A whole scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// A sentence about it, or nothing.
    pub description: String,
    /// How long it runs; above zero.
    pub duration: Duration,
    /// How much of the beginning summaries leave out; less than the duration.
    pub warmup: Duration,
    /// The time between samples; above zero.
    pub sample: Duration,
    /// Whether it ends as soon as all files have arrived; there is a flow with one then.
    pub until_done: bool,
    /// Paths first, then links, then stations, each in the order of the file.
    pub links: Vec<Link>,
    /// What nodes do with several ways of equally many hops.
    pub routing: Routing,
    /// In the order of the file.
    pub routes: Vec<Route>,
    /// Hosts that pass on what is not for them.
    pub relays: Vec<String>,
    /// In the order of the file.
    pub cells: Vec<Cell>,
    /// In the order of the file.
    pub background: Vec<Background>,
    /// How cells disturb each other, where `coupling` does not say.
    pub interference: Interference,
    /// In the order of the file; no pair twice.
    pub coupling: Vec<Coupling>,
    /// In the order of the file; copies (`count`) are flows of their own.
    pub flows: Vec<Flow>,
    /// By time; those of one instant in the order of the file.
    pub events: Vec<Event>,
    /// In the order of the file.
    pub filters: Vec<Filter>,
    /// In the order of the file: on one link, who stands nearer to its first end comes first.
    pub middleboxes: Vec<Middlebox>,
    /// By time; those of one instant in the order of the file.
    pub switches: Vec<Switch>,
    /// Chance in its hosts.
    pub jitter: HostJitter,
    /// How much it may ask for.
    pub limits: Limits,
}

/// A connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name; no other flow has it.
    pub name: String,
    /// The host that opens it.
    pub from: String,
    /// The host that accepts it.
    pub to: String,
    /// Who sends the data.
    pub direction: DataDirection,
    /// The transport.
    pub transport: Transport,
    /// The version of Multipath TCP.
    pub version: Version,
    /// The links of `from` that it uses, at least one; a tcp flow has exactly one.
    pub paths: Vec<String>,
    /// Those of them that are used only when no other works.
    pub backup: Vec<String>,
    /// The congestion controller.
    pub congestion: Policy<dyn CongestionControl>,
    /// Which paths it sees as one.
    pub coupling_scope: CouplingScope,
    /// The rule around it.
    pub send_queue_rule: SendQueueRule,
    /// The scheduler.
    pub scheduler: Policy<dyn Scheduler>,
    /// Which subflows it opens.
    pub path_manager: Policy<dyn PathManager>,
    /// M1 to M4.
    pub mechanisms: Mechanisms,
    /// How data waits, and goes again.
    pub waiting: Waiting,
    /// Everything below the multipath level.
    pub tcp: Tcp,
    /// The DSS checksum.
    pub checksum: bool,
    /// What the application does.
    pub traffic: Traffic,
    /// Blocks, datagrams and files that take longer are late; `None` is no deadline.
    pub deadline: Option<Duration>,
    /// When the connection is opened.
    pub start: Duration,
    /// When the application stops writing; after `start`.
    pub stop: Option<Duration>,
    /// Whether plain TCP over each path alone is run too.
    pub baselines: bool,
}

impl Flow {
    /// The host that sends its data.
    #[must_use]
    pub fn sender(&self) -> &str {
        if self.direction == DataDirection::Upload { &self.from } else { &self.to }
    }

    /// Whether it sends so many bytes, and no more.
    #[must_use]
    pub fn has_a_file(&self) -> bool {
        matches!(self.traffic, Traffic::File { .. })
    }

    /// Mean times of sending and of pauses, if it makes pauses.
    #[must_use]
    pub fn activity(&self) -> Option<(Duration, Duration)> {
        match self.traffic {
            Traffic::Datagrams { activity, .. } => activity,
            _ => None,
        }
    }

    /// How many subflows share its first path, told apart by their ports; `None` if its path manager opens no such ones.
    #[must_use]
    pub fn ports(&self) -> Option<u32> {
        self.path_manager.ports()
    }
}

/// The mechanisms of Raiciu et al., NSDI 2012, section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// M1.
    pub opportunistic_retransmission: bool,
    /// The rule of M1.
    pub opportunistic_rule: OpportunisticRule,
    /// M2.
    pub penalisation: bool,
    /// The rule of M2.
    pub penalty_rule: PenaltyRule,
    /// M3.
    pub autotuning: bool,
    /// With M3 the send buffer shrinks, too.
    pub sndbuf_shrinks: bool,
    /// With M3 the receive buffer begins with its first size for each path.
    pub rcvbuf_by_path: bool,
    /// M4.
    pub cwnd_capping: bool,
}

/// How data waits for its turn, and goes again on another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// In queues by subflow.
    pub subflow_queues: bool,
    /// Buffers are memory.
    pub buffer_memory: bool,
    /// When it goes again.
    pub reinjection: Reinjection,
    /// Windows are what the TCP of each subflow keeps of them.
    pub windows_by_subflow: bool,
    /// How often a silent path is asked; `None` is never.
    pub failed_path_probe: Option<Duration>,
    /// DATA_ACKs of 8 bytes.
    pub wide_data_acks: bool,
    /// When an announcement goes again.
    pub add_addr_timeout: Duration,
    /// For how long a host opens TCP where MP_CAPABLE is eaten; `None` is not at all.
    pub blackhole_timeout: Option<Duration>,
}

/// The settings of a flow's TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Bytes; above zero.
    pub rcvbuf: u64,
    /// Bytes; above zero.
    pub sndbuf: u64,
    /// Bytes as the MSS option says it; `None` is what fits the mtu of the path.
    pub mss: Option<u32>,
    /// When slow start ends.
    pub slow_start: SlowStart,
    /// Internal pacing.
    pub pacing: bool,
    /// Bytes of a subflow that may wait in the host's interface; `None` is no limit.
    pub small_queues: Option<u64>,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Windows grow by bytes, not by acknowledgements.
    pub byte_counting: bool,
    /// RACK-TLP.
    pub rack: bool,
    /// F-RTO.
    pub frto: bool,
    /// Reductions of the window are taken back when nothing was lost.
    pub undo_spurious_loss: bool,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Marks weigh less than losses.
    pub abe: bool,
    /// A window that was not used begins anew.
    pub restart_after_idle: bool,
    /// Whether windows are in use is told by the round.
    pub cwnd_limited_per_round: bool,
    /// How segments find out what a path carries.
    pub mtu_probing: MtuProbing,
    /// Delayed acknowledgements.
    pub delayed_ack: bool,
    /// The Nagle algorithm.
    pub nagle: bool,
    /// Minshall's variant of it.
    pub minshall: bool,
    /// The least retransmission timeout.
    pub min_rto: Duration,
    /// Segments.
    pub initial_window: u32,
    /// Slow start threshold at the start, bytes.
    pub ssthresh: Option<u64>,
    /// How long data may stay unacknowledged; `None` is no limit.
    pub user_timeout: Option<Duration>,
    /// Bytes that may wait unsent; `None` is what the send buffer holds.
    pub notsent_lowat: Option<u64>,
}

/// What the application of a flow does.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Sends to the end.
    Bulk,
    /// Sends this many bytes and closes.
    File {
        /// Above zero.
        bytes: u64,
    },
    /// Writes blocks.
    Blocks {
        /// Bytes in a block; above zero.
        bytes: u64,
        /// bit/s of application data; `None` is as fast as they go.
        rate: Option<u64>,
    },
    /// Writes what an application of another kind writes.
    Custom(Chosen<Maker>),
    /// Sends datagrams.
    Datagrams {
        /// Payload bytes of each; above zero.
        bytes: u32,
        /// bit/s of payload; `None` is as fast as they go.
        rate: Option<u64>,
        /// Mean times of sending and of pauses, of those that have a rate; `None` is always.
        activity: Option<(Duration, Duration)>,
    },
}

/// A change during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When; before the end of the run.
    pub at: Duration,
    /// The link that changes.
    pub link: String,
    /// The directions that change.
    pub way: Way,
    /// What changes.
    pub set: Adjustment,
    /// How the link goes down or comes back, if it does.
    pub how: DownMode,
}

/// New values; `None` leaves the old.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Adjustment {
    /// Up or down.
    pub up: Option<bool>,
    /// bit/s; `Some(None)` is unlimited.
    pub rate: Option<Option<u64>>,
    /// Propagation, one way.
    pub delay: Option<Duration>,
    /// Probability of loss, 0 to 1.
    pub loss: Option<f64>,
    /// The queue limit.
    pub queue: Option<QueueLimit>,
    /// The longest IP packet that gets through, bytes.
    pub path_mtu: Option<u32>,
    /// Half-width of the jitter.
    pub jitter: Option<Duration>,
    /// Metres from the access point.
    pub distance: Option<f64>,
}

/// Extra delay and loss for chosen subflows.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The link on which it stands.
    pub link: String,
    /// The directions on which it stands.
    pub way: Way,
    /// The flows it matches; `None` is all.
    pub flows: Option<Vec<String>>,
    /// The first hops of the subflows it matches; `None` is all.
    pub paths: Option<Vec<String>>,
    /// Extra delay, one way.
    pub delay: Duration,
    /// Probability of loss, 0 to 1.
    pub loss: f64,
}
