//! The results of a run: samples as columns, and summaries of flows, paths and links.
//!
//! Owns the layout of results, which runs in the simulator and on real packets share. Never computes
//! statistics across runs.

use mptcp_clock::{Duration, Instant};
use netsim::{Counters, LinkUse};

use crate::events::Events;
use crate::scenario::Link;

/// A metric of the samples. Names follow `tcp_info` and `mptcp_info` where possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Metric {
    /// Payload that the sender sends on a path, including retransmissions and reinjections, bit/s. The row
    /// without a path has the sum of all paths.
    Throughput,
    /// Acknowledged payload of a path, bit/s. The row without a path has the data that the receiving
    /// application reads in order.
    Goodput,
    /// Congestion window, bytes.
    Cwnd,
    /// Slow start threshold, bytes; missing before the first loss.
    Ssthresh,
    /// Smoothed RTT, s.
    Srtt,
    /// RTT variation, s.
    Rttvar,
    /// Bytes in flight.
    InFlight,
    /// Retransmitted segments, cumulative.
    Retransmits,
    /// Bytes written and not yet acknowledged at the data level.
    SendQueue,
    /// Receive window beyond the last DATA_ACK, bytes.
    ReceiveWindow,
    /// Bytes buffered out of order: at the data level of the receiver, or at the subflow level on a path.
    OutOfOrder,
    /// Bytes reinjected on another subflow, cumulative.
    Reinjected,
    /// Frame bits per second that a link transmits from its first end, including headers and retransmissions,
    /// as bwm-ng reads them at the sending interface.
    InterfaceThroughput,
    /// Frame bits per second that a link delivers to its first end.
    InterfaceReceived,
    /// Bytes of a path in the queue of the local interface. Only if the host is notified of departures.
    LocalQueue,
    /// Frames that a wireless link retransmitted, cumulative.
    MacRetries,
    /// Frames that a wireless link dropped after the last retry, cumulative.
    MacDrops,
    /// PHY rate of the next frame of the host, bit/s.
    PhyRate,
    /// Bytes in the queue of a link.
    Queue,
    /// Frames that the queue of a link dropped, cumulative.
    QueueDrops,
    /// Frames lost at random, cumulative.
    RandomLosses,
    /// Frames that the queue of a link marked, cumulative. Only for links that mark.
    QueueMarks,
}

impl Metric {
    /// All metrics, in the order of their numbers.
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

/// Samples as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// End of the sampling interval, s since the start of the run.
    pub time: Vec<f64>,
    /// Index into [`Measurements::flow_names`]; equal to its length for samples of links.
    pub flow: Vec<u16>,
    /// Index into [`Measurements::path_names`]; equal to its length for samples over all paths.
    pub path: Vec<u16>,
    /// Index into [`Metric::ALL`].
    pub metric: Vec<u8>,
    /// The value, in the unit of the metric.
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

/// A completely received block of application-limited traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Time at which the application wrote it.
    pub written_at: Instant,
    /// Time from writing until the receiver read the last byte.
    pub latency: Duration,
}

/// Summary of one path of a flow. Counters exclude the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathSummary {
    /// Name of the path.
    pub path: String,
    /// Number of subflows that used the path.
    pub subflows: u32,
    /// Payload bytes sent, including retransmissions.
    pub bytes_sent: u64,
    /// Payload bytes that arrived over this path, including duplicates.
    pub bytes_arrived: u64,
    /// Acknowledged payload bytes.
    pub bytes_acked: u64,
    /// Retransmitted segments.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Bytes sent on this path after another subflow sent them first.
    pub reinjected: u64,
    /// Mean of the sampled smoothed RTT, s; NaN without samples.
    pub mean_srtt: f64,
    /// Shares of the path capacity by use or cause of loss, as the links know them. They add up to 1. Empty
    /// in runs without an observer, and if nodes spread frames over several routes.
    pub limits: Vec<(&'static str, f64)>,
    /// Share of time for which each reason blocked the path, as the sender sees it. Only in runs with an
    /// observer.
    pub sender_limits: Vec<(&'static str, f64)>,
    /// Mean capacity of the bottleneck link, bit/s of frames. `None` if no link has a rate, and in runs
    /// without an observer.
    pub capacity: Option<f64>,
    /// As `capacity`, with each link up and at its highest rate of the run.
    pub best_capacity: Option<f64>,
    /// Mean RTT without queues but with jitter, s. Only in runs with an observer.
    pub base_rtt: Option<f64>,
    /// Mean queueing delay of acknowledgements, s. `None` for wireless and recorded links, behind
    /// middleboxes, and in runs without an observer.
    pub ack_wait: Option<f64>,
    /// The link and direction with the longest queueing delay of acknowledgements, such as `lte forward`.
    pub ack_queue: Option<String>,
    /// Mean queueing delay of data, s. Known if `ack_wait` is.
    pub queue_wait: Option<f64>,
    /// Whether the flow uses the path only while its other paths do not work. Only in runs with an observer.
    pub is_backup: bool,
    /// The link and direction with the longest queueing delay of data.
    pub queue_at: Option<String>,
    /// The link or middlebox of each cause in `limits`. Only in runs with an observer.
    pub places: Vec<(&'static str, String)>,
    /// Share of time for which the other paths waited for older data on this path.
    pub blamed: f64,
    /// Causes of the flow's longest interval without data at the application, as shares of that interval on
    /// this path. They add up to 1. Empty for short intervals and in runs without an observer.
    pub silence: Vec<(&'static str, f64)>,
    /// Dropped frames of the flow on this path, in both directions and over the whole run. Only in runs with
    /// an observer.
    pub drops: Option<PathDrops>,
}

/// Number of frames that links dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathDrops {
    /// Random loss, corruption, and frames that a wireless MAC gave up.
    pub random: u64,
    /// Drops by a queue or its discipline.
    pub queue: u64,
    /// Frames offered to, or held by, a link that was down.
    pub down: u64,
    /// Drops by a filter of the scenario.
    pub filter: u64,
}

/// A path that no subflow used.
#[derive(Clone, Debug, PartialEq)]
pub struct AbsentPath {
    /// Name of the path.
    pub path: String,
    /// Highest rate of the bottleneck link, bit/s of frames. `None` if no link has a rate, and in runs
    /// without an observer.
    pub best_capacity: Option<f64>,
    /// Share of the lifetime of the flow for which a link of the path was down; 0 in runs without an
    /// observer.
    pub down: f64,
    /// The middleboxes on its links, such as `m (strip-options)`; empty in runs without an observer.
    pub middleboxes: Vec<String>,
}

impl AbsentPath {
    /// A path of which only the name is known.
    #[must_use]
    pub fn named(path: &str) -> Self {
        Self { path: path.to_owned(), best_capacity: None, down: 0.0, middleboxes: Vec::new() }
    }
}

/// A fallback from MPTCP to TCP (RFC 8684 section 3.7).
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// Time at which the first end fell back, s since the start of the run.
    pub at: f64,
    /// The path that continues as TCP.
    pub path: String,
    /// The observation that caused the fallback.
    pub reason: &'static str,
}

/// Summary of one flow. Counters exclude the warm-up unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSummary {
    /// Name of the flow.
    pub flow: String,
    /// Whether the connection still used MPTCP at its end.
    pub multipath: bool,
    /// The fallback to TCP, if any.
    pub fallback: Option<Fallback>,
    /// Bytes read in order.
    pub bytes_received: u64,
    /// Bytes read in order over the whole run.
    pub bytes_received_total: u64,
    /// Bytes that arrived for the first time, in order or not. `None` if the receiver does not report them.
    /// Unlike `bytes_received`, excludes data that arrived out of order during the warm-up.
    pub unique_bytes_arrived: Option<u64>,
    /// Duration to which `bytes_received` refers, s. It starts after the warm-up and the handshake, and stops
    /// at the end of the run or transfer.
    pub measured: f64,
    /// Time in the handshake after the warm-up and the start of the flow, s.
    pub waited: f64,
    /// Goodput, bit/s.
    pub goodput: f64,
    /// Payload sent on all paths, bit/s.
    pub throughput: f64,
    /// Whether all received bytes were correct.
    pub intact: bool,
    /// Time from the start of the flow to the end of the transfer, s. `None` if it is incomplete.
    pub completion: Option<f64>,
    /// Time from the start of the flow until it could send data, s.
    pub handshake: Option<f64>,
    /// Longest interval without new data for a waiting application, s; 0 for applications that cannot tell,
    /// and for datagrams.
    pub longest_silence: f64,
    /// Start of that interval, s since the start of the run.
    pub longest_silence_at: f64,
    /// The way in which the connection ended, if it did.
    pub closed: Option<String>,
    /// Bytes reinjected on another subflow. With Linux's subflow queues, also bytes reinjected on the same
    /// subflow. Linux counts bytes when it queues them for reinjection. Bytes that are acknowledged before
    /// that do not count.
    pub reinjected: u64,
    /// The part of `reinjected` due to opportunistic retransmission (M1).
    pub opportunistic: u64,
    /// Window reductions by penalisation (M2) over the whole run, since a reduction during the warm-up
    /// affects the time after it.
    pub penalties: u64,
    /// Bytes that arrived more than once at the data level. `None` if they are not counted per flow, as in
    /// Linux.
    pub duplicates: Option<u64>,
    /// Mean payload capacity of the links of all paths, bit/s: the minimum over all cuts of links. `None` if
    /// it is unknown for a path.
    pub capacity: Option<f64>,
    /// As `capacity`, with each link up and at its highest rate of the run.
    pub best_capacity: Option<f64>,
    /// Receive buffer, bytes.
    pub receive_buffer: u64,
    /// Send buffer, bytes.
    pub send_buffer: u64,
    /// Shares of time for which full buffers limited the connection: only the send buffer, only the receive
    /// window, or both. Only in runs with an observer.
    pub full_buffers: Vec<(&'static str, f64)>,
    /// Shares of time after the handshake under each limit, without idle time. They add up to 1. Empty on
    /// real packets.
    pub limits: Vec<(&'static str, f64)>,
    /// The paths that the flow used.
    pub paths: Vec<PathSummary>,
    /// Its paths that no subflow joined, although one could have.
    pub never_joined: Vec<AbsentPath>,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
    /// Delay of blocks or datagrams from writing to reading, s: median, 95th and 99th percentile. `None`
    /// without blocks and datagrams after the warm-up.
    pub latency: Option<[f64; 3]>,
    /// Share of blocks or datagrams, or of the file, beyond the deadline of the flow. `None` without a
    /// deadline.
    pub late: Option<f64>,
    /// Share of lost datagrams. Only for UDP flows.
    pub datagram_loss: Option<f64>,
    /// Interarrival jitter at the end of the run, s (RFC 3550 section 6.4.1). Only for UDP flows.
    pub jitter: Option<f64>,
}

/// Loss and delay of the datagrams of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatagramSummary {
    /// Share of lost datagrams.
    pub loss: f64,
    /// Delay, s: median, 95th and 99th percentile. `None` without arrivals.
    pub latency: Option<[f64; 3]>,
    /// Interarrival jitter at the end, s.
    pub jitter: Option<f64>,
    /// Share of datagrams that were lost or arrived after the deadline. `None` without a deadline.
    pub late: Option<f64>,
}

/// Median, 95th and 99th percentile of durations by nearest rank, s; `None` without values.
#[must_use]
pub fn quantiles(mut values: Vec<Duration>) -> Option<[f64; 3]> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable();
    let rank = |share: f64| ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
    Some([0.5, 0.95, 0.99].map(|share| values[rank(share) - 1].as_secs_f64()))
}

/// Summary of one direction of a link over the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSummary {
    /// Name of the link.
    pub link: String,
    /// `forward` or `backward`.
    pub direction: &'static str,
    /// Frames that arrived at the queue.
    pub offered_frames: u64,
    /// Transmitted frames.
    pub sent_frames: u64,
    /// Transmitted bytes.
    pub sent_bytes: u64,
    /// Frames that the full queue dropped.
    pub queue_drops: u64,
    /// Frames lost at random.
    pub random_losses: u64,
    /// Retransmissions by a wireless MAC.
    pub mac_retries: u64,
    /// Frames that a wireless MAC dropped after the last retry.
    pub mac_drops: u64,
    /// Maximum queue length, bytes.
    pub longest_queue: u64,
    /// Share of the run for which a frame was queued or in service.
    pub busy: f64,
    /// Mean capacity over the run, bit/s of frames. `None` without a rate.
    pub capacity: Option<f64>,
    /// Frames that the queue marked. Only for links that mark.
    pub queue_marks: Option<u64>,
    /// Frames delivered twice. Only for links that duplicate or corrupt frames.
    pub duplicated: Option<u64>,
    /// Frames delivered with a bit error. Only for links that duplicate or corrupt frames.
    pub corrupted: Option<u64>,
}

impl LinkSummary {
    /// The summary of one direction of a link, from its counters and its use over a duration in seconds.
    #[must_use]
    pub fn of(
        link: &Link,
        direction: &'static str,
        counters: &Counters,
        mac_retries: u64,
        (used, seconds): (LinkUse, f64),
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

/// All results of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// Names of the flows.
    pub flow_names: Vec<String>,
    /// Names of the paths and links.
    pub path_names: Vec<String>,
    /// The time series.
    pub samples: Samples,
    /// Summaries of the flows.
    pub flows: Vec<FlowSummary>,
    /// Summaries of the link directions.
    pub links: Vec<LinkSummary>,
    /// Duration after the warm-up, s.
    pub measured: f64,
    /// Number of data segments that reached a host.
    pub data_packets: u64,
    /// The recorded events. Only in runs with an observer.
    pub events: Option<Events>,
}
