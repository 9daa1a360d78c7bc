//! Causes for which a path's capacity was used by a flow or not used.
//!
//! Attribution divides the capacity among these causes, to explain why a flow did not fill a path. Owns the
//! names, under which results list the share of each cause. A cause combines the state of the simulated
//! network and of the sender. [`mptcp::observe::PathLimit`] is the view of the sender alone.

use mptcp::observe::PathLimit;

use super::notes::Hold;

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::world) enum Cause {
    /// The link was busy with frames of this flow, queued or in service.
    Capacity,
    /// The link was busy with frames of other flows.
    CrossTraffic,
    /// An event made the link slower than its highest rate of the run.
    LowerRate,
    /// The link was down, or the sender had not recovered from the outage.
    Down,
    /// Random loss had reduced the window.
    Loss,
    /// Drops or marks of the queue had reduced the window.
    QueueOverflow,
    /// Drops of a policer had reduced the window.
    Policer,
    /// Packets larger than the path MTU were dropped without an ICMP error.
    PathMtu,
    /// A middlebox that held or dropped segments had reduced the window.
    Middlebox,
    /// Random loss of acknowledgements had reduced the window.
    AckLoss,
    /// Reordering had caused spurious losses, which reduced the window.
    Reordering,
    /// The window was reduced while the path delay changed or varied, or the delay has grown since.
    DelayChange,
    /// The window was reduced for an unknown reason, without a drop in the network.
    Spurious,
    /// The window was growing, and had not been reduced.
    Window,
    /// The window would have filled the link without queueing delay and drops of its acknowledgements.
    AckQueue,
    /// Penalisation (M2) had halved the window.
    Penalty,
    /// The receive window was full, with the oldest data on this path.
    ReceiveWindow,
    /// The send buffer was full, with the oldest data on this path.
    SendBuffer,
    /// Both buffers were full, with the oldest data on this path.
    BothBuffers,
    /// A buffer was full, with the oldest data on another path.
    HeadOfLine,
    /// The application had nothing to send.
    Application,
    /// The scheduler or a backup flag left the path unused.
    Scheduler,
    /// Pacing delayed the sender.
    Pacing,
    /// The local queue of the host was full.
    LocalQueue,
    /// The handshake of the subflow was not complete.
    Joining,
    /// The path had no subflow.
    Closed,
}

impl Cause {
    pub(super) const ALL: [Self; 26] = [
        Self::Capacity,
        Self::CrossTraffic,
        Self::LowerRate,
        Self::Down,
        Self::Loss,
        Self::QueueOverflow,
        Self::Policer,
        Self::PathMtu,
        Self::Middlebox,
        Self::AckLoss,
        Self::Reordering,
        Self::DelayChange,
        Self::Spurious,
        Self::Window,
        Self::AckQueue,
        Self::Penalty,
        Self::ReceiveWindow,
        Self::SendBuffer,
        Self::BothBuffers,
        Self::HeadOfLine,
        Self::Application,
        Self::Scheduler,
        Self::Pacing,
        Self::LocalQueue,
        Self::Joining,
        Self::Closed,
    ];

    /// The name in tables.
    pub(in crate::world) const fn name(self) -> &'static str {
        match self {
            Self::Capacity => "bottleneck",
            Self::CrossTraffic => "cross_traffic",
            Self::LowerRate => "lower_rate",
            Self::Down => "down",
            Self::Loss => "loss",
            Self::QueueOverflow => "queue_overflow",
            Self::Policer => "policer",
            Self::PathMtu => "path_mtu",
            Self::Middlebox => "middlebox",
            Self::AckLoss => "ack_loss",
            Self::Reordering => "reordering",
            Self::DelayChange => "delay_change",
            Self::Spurious => "spurious",
            Self::Window => "window",
            Self::AckQueue => "ack_queue",
            Self::Penalty => "penalty",
            Self::ReceiveWindow => "receive_window",
            Self::SendBuffer => "send_buffer",
            Self::BothBuffers => "both_buffers",
            Self::HeadOfLine => "head_of_line",
            Self::Application => "application",
            Self::Scheduler => "scheduler",
            Self::Pacing => "pacing",
            Self::LocalQueue => "local_queue",
            Self::Joining => "joining",
            Self::Closed => "closed",
        }
    }

    /// Whether the sender waits for an acknowledgement of the data that fills a window or buffer.
    pub(super) const fn ends_with_an_acknowledgement(self) -> bool {
        matches!(
            self,
            Self::Loss
                | Self::QueueOverflow
                | Self::Policer
                | Self::Middlebox
                | Self::Reordering
                | Self::DelayChange
                | Self::Spurious
                | Self::Window
                | Self::ReceiveWindow
                | Self::SendBuffer
                | Self::BothBuffers
        )
    }

    /// The cause of idle time, if the report of the sender determines it. `None` if the window was full: the
    /// cause is then that of its last reduction.
    pub(super) const fn of(hold: Hold) -> Option<Self> {
        let limit = match hold {
            Hold::Sender(limit) => limit,
            Hold::BothBuffers => return Some(Self::BothBuffers),
        };
        Some(match limit {
            PathLimit::Window | PathLimit::Capacity | PathLimit::Loss => return None,
            PathLimit::Idle | PathLimit::Application => Self::Application,
            PathLimit::SendBuffer => Self::SendBuffer,
            PathLimit::ReceiveWindow => Self::ReceiveWindow,
            PathLimit::HeadOfLine => Self::HeadOfLine,
            PathLimit::Scheduler => Self::Scheduler,
            PathLimit::Penalty => Self::Penalty,
            PathLimit::Pacing => Self::Pacing,
            PathLimit::LocalQueue => Self::LocalQueue,
            PathLimit::Joining => Self::Joining,
            PathLimit::Closed => Self::Closed,
        })
    }
}
