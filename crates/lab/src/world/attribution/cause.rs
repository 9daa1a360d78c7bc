//! What the capacity of a path was spent on, or lost to.
//!
//! Owns the names. A cause is a fact about the simulated network and the sender together; [`mptcp::observe::PathLimit`] is what the
//! sender alone could see.

use mptcp::observe::PathLimit;

use super::notes::Hold;

/// One use of a path's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::world) enum Cause {
    /// The link was busy: frames of this flow were waiting or in service.
    Capacity,
    /// The link was busy with frames of other flows.
    CrossTraffic,
    /// The link was slower than at its best in this run, by an event.
    LowerRate,
    /// The link was down, or the sender had not yet recovered from that.
    Down,
    /// The window was small because frames were lost at random.
    Loss,
    /// The window was small because the queue dropped or marked frames.
    QueueOverflow,
    /// A policer dropped frames, which made the window small.
    Policer,
    /// Packets larger than the path MTU were dropped without a message to the sender.
    PathMtu,
    /// The window was small because a middlebox held or dropped segments.
    Middlebox,
    /// The window was small because acknowledgements were lost at random.
    AckLoss,
    /// The window was small because segments overtook others and counted as lost.
    Reordering,
    /// The window was reduced when the delay of the path changed or varied, or the delay has grown since.
    DelayChange,
    /// The window was reduced although the network dropped nothing, for a reason that is not known.
    Spurious,
    /// The window still grew, and nothing had made it smaller.
    Window,
    /// The window would have filled the link, had its acknowledgements not waited in a queue or been dropped there.
    AckQueue,
    /// M2 had halved the window.
    Penalty,
    /// The receive window was full; the oldest data in it was on this path.
    ReceiveWindow,
    /// The send buffer was full; the oldest data in it was on this path.
    SendBuffer,
    /// The send buffer and the receive window were full; the oldest data in them was on this path.
    BothBuffers,
    /// The receive window or the send buffer was full; the oldest data in it was on another path.
    HeadOfLine,
    /// The application had nothing to send.
    Application,
    /// The scheduler or a backup flag left the path unused.
    Scheduler,
    /// Pacing held the sender back.
    Pacing,
    /// Enough waited in the host's own interface.
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

    /// Whether the sender waits for an acknowledgement: of what fills a window or a buffer.
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

    /// Why an idle link got nothing, where the sender's finding needs no look at the network. `None` where the window was full:
    /// the cause is then whatever made that window small.
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
