//! What a run gave, as plain columns.
//!
//! Owns the shape of results. Never runs anything, never computes a statistic.

use mptcp_clock::{Duration, Instant};
use netsim::{Counters, LineUse};

use crate::events::Events;
use crate::scenario::Link;

/// A metric with its unit; the names are those of `tcp_info` and `mptcp_info` where they have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Metric {
    /// Payload bits per second that the sender put on a path, retransmissions and reinjections
    /// included; over all paths on the row without a path.
    Throughput,
    /// Payload bits per second acknowledged on a path; in order at the receiving application on the
    /// row without a path.
    Goodput,
    /// Congestion window.
    Cwnd,
    /// Slow start threshold; missing in the first slow start.
    Ssthresh,
    /// Smoothed round-trip time.
    Srtt,
    /// Round-trip time variation.
    Rttvar,
    /// Bytes in flight.
    InFlight,
    /// Segments sent again so far.
    Retransmits,
    /// Bytes written and not yet acknowledged at the data level.
    SendQueue,
    /// The receive window beyond the last data-level acknowledgement.
    ReceiveWindow,
    /// Bytes that wait out of order: at the receiver's data level, or on a path at its subflow level.
    OutOfOrder,
    /// Bytes carried again by another subflow so far.
    Reinjected,
    /// Frame bits per second that a link put on the line from its first end to its second: what a tool
    /// like bwm-ng reads at the sending interface, headers and retransmissions included.
    InterfaceThroughput,
    /// Frame bits per second that came out of a link at its first end.
    InterfaceReceived,
    /// Bytes of a path's packets that wait in the sending host's own interface; where the host is told of
    /// departures from it.
    LocalQueue,
    /// Frames that a wireless link sent again so far.
    MacRetries,
    /// Frames that a wireless link gave up so far.
    MacDrops,
    /// The rate on the air of the host's next frame.
    PhyRate,
    /// Bytes that wait in a link's queue.
    Queue,
    /// Frames dropped by a link's queue so far.
    QueueDrops,
    /// Frames lost at random so far.
    RandomLosses,
    /// Frames marked by a link's queue so far; of links that mark.
    QueueMarks,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Throughput,
        Self::Goodput,
        Self::Cwnd,
        Self::Ssthresh,
        Self::Srtt,
        Self::Rttvar,
        Self::InFlight,
        Self::Retransmits,
        Self::SendQueue,
        Self::ReceiveWindow,
        Self::OutOfOrder,
        Self::Reinjected,
        Self::InterfaceThroughput,
        Self::InterfaceReceived,
        Self::LocalQueue,
        Self::MacRetries,
        Self::MacDrops,
        Self::PhyRate,
        Self::Queue,
        Self::QueueDrops,
        Self::RandomLosses,
        Self::QueueMarks,
    ];

    /// Name and unit.
    #[must_use]
    pub const fn name_and_unit(self) -> (&'static str, &'static str) {
        match self {
            Self::Throughput => ("throughput", "bit/s"),
            Self::Goodput => ("goodput", "bit/s"),
            Self::Cwnd => ("cwnd", "B"),
            Self::Ssthresh => ("ssthresh", "B"),
            Self::Srtt => ("srtt", "s"),
            Self::Rttvar => ("rttvar", "s"),
            Self::InFlight => ("in_flight", "B"),
            Self::Retransmits => ("retransmits", "segments"),
            Self::SendQueue => ("send_queue", "B"),
            Self::ReceiveWindow => ("receive_window", "B"),
            Self::OutOfOrder => ("out_of_order", "B"),
            Self::Reinjected => ("reinjected", "B"),
            Self::InterfaceThroughput => ("interface_throughput", "bit/s"),
            Self::InterfaceReceived => ("interface_received", "bit/s"),
            Self::LocalQueue => ("local_queue", "B"),
            Self::MacRetries => ("mac_retries", "frames"),
            Self::MacDrops => ("mac_drops", "frames"),
            Self::PhyRate => ("phy_rate", "bit/s"),
            Self::Queue => ("queue", "B"),
            Self::QueueDrops => ("queue_drops", "frames"),
            Self::RandomLosses => ("random_losses", "frames"),
            Self::QueueMarks => ("queue_marks", "frames"),
        }
    }
}

/// Samples in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Seconds since the start of the run: the end of the sampling interval.
    pub time: Vec<f64>,
    /// Index into [`Measurements::flow_names`]; its length for a link's own samples.
    pub flow: Vec<u16>,
    /// Index into [`Measurements::path_names`]; its length for a sample over all paths.
    pub path: Vec<u16>,
    /// The metric, as its place in [`Metric::ALL`].
    pub metric: Vec<u8>,
    /// The value in the metric's unit.
    pub value: Vec<f64>,
}

impl Samples {
    /// Adds a value.
    pub fn push(&mut self, time: Instant, flow: usize, path: usize, metric: Metric, value: f64) {
        self.time.push(time.as_secs_f64());
        self.flow.push(flow as u16);
        self.path.push(path as u16);
        self.metric.push(metric as u8);
        self.value.push(value);
    }
}

/// A block of application-limited traffic that arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// When the application had it ready.
    pub written_at: Instant,
    /// Until its last byte was read.
    pub latency: Duration,
}

/// A path of a flow over the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathSummary {
    /// Name of the path.
    pub path: String,
    /// Subflows that used it.
    pub subflows: u32,
    /// Payload bytes sent after the warm-up, with everything sent again.
    pub bytes_sent: u64,
    /// Payload bytes that arrived at the receiver over this path after the warm-up, duplicates included.
    pub bytes_arrived: u64,
    /// Payload bytes acknowledged after the warm-up.
    pub bytes_acked: u64,
    /// Segments sent again after the warm-up.
    pub retransmits: u64,
    /// Retransmission timeouts after the warm-up.
    pub timeouts: u64,
    /// Bytes carried after the warm-up that another subflow carried first.
    pub reinjected: u64,
    /// Mean of the sampled smoothed round-trip times after the warm-up, seconds; NaN without any.
    pub mean_srtt: f64,
    /// What the path's capacity went to over the flow's life without the warm-up, as the links know it: shares by cause that add up
    /// to 1. Empty in runs that are not observed, and where nodes spread frames over several routes.
    pub limits: Vec<(&'static str, f64)>,
    /// Share of the flow's life after the warm-up that each reason held the path back, as the sender saw it; only of runs that are observed.
    pub sender_limits: Vec<(&'static str, f64)>,
    /// What the slowest link of the path could carry on average after the warm-up, bit/s of frames. `None` where no link has a rate
    /// of its own, and in runs that are not observed.
    pub capacity: Option<f64>,
    /// The same with each link at the highest rate that it has in the run, and never down.
    pub best_capacity: Option<f64>,
    /// Mean delay to the receiver and back without queues, with jitter, s; only of runs that are observed.
    pub base_rtt: Option<f64>,
    /// Mean time that acknowledgements of this path waited in the queues of their links, s; only of runs that are observed, and not
    /// known of wireless and recorded links, nor behind middleboxes.
    pub ack_wait: Option<f64>,
    /// The link and its direction in whose queue they waited longest, as in `lte forward`.
    pub ack_queue: Option<String>,
    /// Mean time over the life of the flow that its data waited in the queues of the path, s; known where `ack_wait` is.
    pub queue_wait: Option<f64>,
    /// The flow uses it while its other paths do not work; only of runs that are observed.
    pub is_backup: bool,
    /// The link and its direction in whose queue the data waited longest.
    pub queue_at: Option<String>,
    /// By cause: the link, or the middlebox, where it was found; only of runs that are observed.
    pub places: Vec<(&'static str, String)>,
    /// Share of the flow's life in which the other paths waited for older data on this one.
    pub blamed: f64,
    /// Shares by cause of the longest time in which nothing arrived at the application, as this path spent it; they add up to 1. Empty where that time is short, and in runs that are not observed.
    pub silence: Vec<(&'static str, f64)>,
    /// Frames of the flow that were dropped on this path in the whole run, in both directions; only of runs that are observed.
    pub drops: Option<PathDrops>,
}

/// Frames that links dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathDrops {
    /// Lost at random, damaged, or given up by a wireless MAC.
    pub random: u64,
    /// Dropped by a queue or its discipline.
    pub queue: u64,
    /// Offered to a link that was down, or held by one that went down.
    pub down: u64,
    /// Dropped by a filter of the scenario.
    pub filter: u64,
}

/// A path that no subflow ever used.
#[derive(Clone, Debug, PartialEq)]
pub struct AbsentPath {
    /// Its name.
    pub path: String,
    /// Highest rate of its slowest link, bit/s of frames; `None` where no link has a rate of its own, and in runs that are not
    /// observed.
    pub best_capacity: Option<f64>,
    /// Share of the flow's life in which a link of it was down; 0 in runs that are not observed.
    pub down: f64,
    /// The middleboxes on its links, as in `m (strip-options)`; empty in runs that are not observed.
    pub middleboxes: Vec<String>,
}

impl AbsentPath {
    /// One of which only the name is known.
    #[must_use]
    pub fn named(path: &str) -> Self {
        Self { path: path.to_owned(), best_capacity: None, down: 0.0, middleboxes: Vec::new() }
    }
}

/// Multipath TCP was given up for TCP (RFC 8684 section 3.7).
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// Seconds since the start of the run: when the first end fell back.
    pub at: f64,
    /// The path that goes on as TCP.
    pub path: String,
    /// What showed that the network does not carry Multipath TCP, in words.
    pub reason: &'static str,
}

/// A flow over the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSummary {
    /// Name of the flow.
    pub flow: String,
    /// Whether it spoke Multipath TCP to the end.
    pub multipath: bool,
    /// Multipath TCP was given up for TCP.
    pub fallback: Option<Fallback>,
    /// Bytes read in order after the warm-up.
    pub bytes_received: u64,
    /// Bytes read in order over the whole run.
    pub bytes_received_total: u64,
    /// Bytes that arrived for the first time after the warm-up, in order or not; `None` where the receiver does not tell.
    /// `bytes_received` also has those that had arrived before it ended and waited for older ones.
    pub unique_bytes_arrived: Option<u64>,
    /// Seconds over which `bytes_received` counts: from the end of the warm-up, or of the handshake if
    /// that was later, to the end of the run or of the transfer.
    pub measured: f64,
    /// Seconds before those, after the warm-up and since the start of the flow: in its handshake.
    pub waited: f64,
    /// Goodput after the warm-up, bit/s.
    pub goodput: f64,
    /// Payload put on all paths after the warm-up, bit/s.
    pub throughput: f64,
    /// Whether every byte that arrived was the right one in the right place.
    pub intact: bool,
    /// Seconds from the start of the flow to the end of the transfer, once it was complete.
    pub completion: Option<f64>,
    /// Seconds from the start of the flow until data could be sent.
    pub handshake: Option<f64>,
    /// The longest time in which nothing arrived although the application waited for data, s; zero for applications that cannot
    /// tell, and for datagrams.
    pub longest_silence: f64,
    /// When that began, seconds since the start of the run.
    pub longest_silence_at: f64,
    /// How the connection ended, if it did.
    pub closed: Option<String>,
    /// Bytes given to a further subflow after the warm-up, or with Linux's queues to the same one again; Linux counts them when it
    /// queues them, and sends none that is acknowledged before its turn.
    pub reinjected: u64,
    /// The part that M1 asked for.
    pub opportunistic: u64,
    /// Times that M2 halved a window in the whole run: one that was halved in the warm-up stays small after it.
    pub penalties: u64,
    /// Bytes that arrived more than once at the data level after the warm-up; `None` where nobody counts them by flow, as in Linux.
    pub duplicates: Option<u64>,
    /// Payload bit/s that the links of all its paths could carry on average after the warm-up: the least capacity of a set of links
    /// of which each path crosses one. `None` where that is not known of a path.
    pub capacity: Option<f64>,
    /// The same with each link at the highest rate that it has in the run, and never down.
    pub best_capacity: Option<f64>,
    /// Its receive buffer, bytes.
    pub receive_buffer: u64,
    /// Its send buffer, bytes.
    pub send_buffer: u64,
    /// Share of the time in which full buffers held the connection back: the send buffer alone, the receive window alone, or both;
    /// only of runs that are observed.
    pub full_buffers: Vec<(&'static str, f64)>,
    /// Share of the time after the handshake under each limit, by name; sums to 1.
    pub limits: Vec<(&'static str, f64)>,
    /// The paths that it used.
    pub paths: Vec<PathSummary>,
    /// Those of its paths over which no subflow ever came, where one might have.
    pub never_joined: Vec<AbsentPath>,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// Seconds from when a block was ready, or a datagram was sent, until it was read: what half of them, 95% and 99% took at most.
    /// Of those that were ready after the warm-up; `None` without any.
    pub latency: Option<[f64; 3]>,
    /// Share of the blocks or datagrams, or of the file, that took longer than the deadline of the flow; `None` without one.
    pub late: Option<f64>,
    /// Datagrams that were sent after the warm-up and never arrived, as a share; only of a flow of datagrams.
    pub datagram_loss: Option<f64>,
    /// Interarrival jitter of datagrams at the end, s (RFC 3550 section 6.4.1); only of a flow of datagrams.
    pub jitter: Option<f64>,
}

/// Loss and delay of the datagrams of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatagramSummary {
    /// Share that never arrived.
    pub loss: f64,
    /// Delay, s: what half of them, 95% and 99% took at most; `None` where none arrived.
    pub latency: Option<[f64; 3]>,
    /// Interarrival jitter at the end, s.
    pub jitter: Option<f64>,
    /// Share that arrived later than the deadline or never; `None` without one.
    pub late: Option<f64>,
}

/// Median, 95th and 99th percentile of durations by nearest rank, s; `None` without any.
#[must_use]
pub fn quantiles(mut values: Vec<Duration>) -> Option<[f64; 3]> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable();
    let rank = |share: f64| ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
    Some([0.5, 0.95, 0.99].map(|share| values[rank(share) - 1].as_secs_f64()))
}

/// A link direction over the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSummary {
    /// Name of the link.
    pub link: String,
    /// `forward` or `backward`.
    pub direction: &'static str,
    /// Frames that came to the queue.
    pub offered_frames: u64,
    /// Frames that left on the line.
    pub sent_frames: u64,
    /// Bytes that left on the line.
    pub sent_bytes: u64,
    /// Frames dropped by the full queue.
    pub queue_drops: u64,
    /// Frames lost at random.
    pub random_losses: u64,
    /// Frames that a wireless MAC sent again, each time.
    pub mac_retries: u64,
    /// Frames that it gave up.
    pub mac_drops: u64,
    /// The longest queue, bytes.
    pub longest_queue: u64,
    /// Share of the run in which a frame was waiting or in service.
    pub busy: f64,
    /// What it could carry on average over the run, bit/s of frames; `None` where it has no rate of its own.
    pub capacity: Option<f64>,
    /// Frames marked by the queue; of links that mark.
    pub queue_marks: Option<u64>,
    /// Frames that came out twice; of links that double or damage frames.
    pub duplicated: Option<u64>,
    /// Frames that came out with a wrong bit; of links that double or damage frames.
    pub corrupted: Option<u64>,
}

impl LinkSummary {
    /// Of one direction of a link, by what it counted and how it was used over so many seconds.
    #[must_use]
    pub fn of(
        link: &Link,
        direction: &'static str,
        counters: &Counters,
        mac_retries: u64,
        (used, seconds): (LineUse, f64),
    ) -> Self {
        let per_second = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
        Self {
            link: link.name.clone(),
            direction,
            offered_frames: counters.offered_frames,
            sent_frames: counters.sent_frames,
            sent_bytes: counters.sent_bytes,
            queue_drops: counters.dropped_frames,
            random_losses: counters.lost_frames,
            mac_retries,
            mac_drops: counters.retry_drops,
            longest_queue: counters.max_backlog_bytes,
            busy: per_second(used.busy.as_secs_f64()),
            capacity: used.capacity_bits.map(per_second),
            queue_marks: link.marks().then_some(counters.marked_frames),
            duplicated: link.impairs().then_some(counters.duplicated_frames),
            corrupted: link.impairs().then_some(counters.corrupted_frames),
        }
    }
}

/// Everything measured in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// Names of the flows.
    pub flow_names: Vec<String>,
    /// Names of the paths and links.
    pub path_names: Vec<String>,
    /// The time series.
    pub samples: Samples,
    /// A summary of each flow.
    pub flows: Vec<FlowSummary>,
    /// A summary of each link direction.
    pub links: Vec<LinkSummary>,
    /// Seconds after the warm-up.
    pub measured: f64,
    /// Data segments that reached a host.
    pub data_packets: u64,
    /// The events that were kept; only of runs that are observed.
    pub events: Option<Events>,
}
