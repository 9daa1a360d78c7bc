//! The values of one time step of a subflow and of a connection.

use super::series::Combine;

/// Why a subflow carries less than its path could, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Its data is lost again and again, or nothing arrives.
    Dead,
    /// It is a backup, and others work.
    Backup,
    /// The receive window is full of data that waits for another subflow.
    HeadOfLine,
    /// The receive window is full.
    Window,
    /// The application sends nothing, or the send buffer is full.
    Application,
    /// Other subflows are full, but the scheduler does not use this one.
    Unused,
    /// The congestion window was reduced by a loss.
    Loss,
    /// The congestion window grows, or fits the path.
    Growth,
}

impl Limit {
    pub(crate) const COUNT: usize = 8;
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Dead,
        Self::Backup,
        Self::HeadOfLine,
        Self::Window,
        Self::Application,
        Self::Unused,
        Self::Loss,
        Self::Growth,
    ];

    /// Its name in reports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::Backup => "backup",
            Self::HeadOfLine => "head-of-line",
            Self::Window => "window",
            Self::Application => "application",
            Self::Unused => "unused",
            Self::Loss => "loss",
            Self::Growth => "growth",
        }
    }
}

/// One time step of a subflow's direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubflowStep {
    /// New payload sent, retransmitted payload, and payload acknowledged, bytes.
    pub(crate) sent: u64,
    pub(crate) again: u64,
    pub(crate) delivered: u64,
    /// Lost segments.
    pub(crate) lost: u32,
    /// Highest number sent and acknowledged, relative to the SYN.
    pub(crate) next: u64,
    pub(crate) acknowledged: u64,
    /// RTT: sum, count and maximum, s.
    pub(crate) rtt_sum: f32,
    pub(crate) rtt_count: u32,
    pub(crate) rtt_max: f32,
    /// Integral of the data in flight over time, bytes × s.
    pub(crate) flight: f32,
    /// Time in each state, s.
    pub(crate) limits: [f32; Limit::COUNT],
}

impl Combine for SubflowStep {
    fn combine(&mut self, later: &Self) {
        self.sent += later.sent;
        self.again += later.again;
        self.delivered += later.delivered;
        self.lost += later.lost;
        self.next = self.next.max(later.next);
        self.acknowledged = self.acknowledged.max(later.acknowledged);
        self.rtt_sum += later.rtt_sum;
        self.rtt_count += later.rtt_count;
        self.rtt_max = self.rtt_max.max(later.rtt_max);
        self.flight += later.flight;
        self.limits.iter_mut().zip(later.limits).for_each(|(sum, more)| *sum += more);
    }
}

/// One time step of a connection's direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamStep {
    /// Data acknowledged by DATA_ACKs, and data sent a second time, bytes.
    pub(crate) delivered: u64,
    pub(crate) reinjected: u64,
    /// Most data in flight, bytes.
    pub(crate) flight: u64,
    /// Largest window left, and out-of-order data, bytes.
    pub(crate) window: u64,
    pub(crate) out_of_order: u64,
    /// Loss episodes of all subflows.
    pub(crate) losses: u32,
    /// Whether the data reached the right edge of the window, except for two segments.
    pub(crate) touches_edge: bool,
}

impl Combine for StreamStep {
    fn combine(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.reinjected += later.reinjected;
        self.flight = self.flight.max(later.flight);
        self.window = self.window.max(later.window);
        self.out_of_order = self.out_of_order.max(later.out_of_order);
        self.losses += later.losses;
        self.touches_edge |= later.touches_edge;
    }
}
