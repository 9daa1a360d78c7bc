//! Summaries of a run on sockets, in the tables of the simulator.
//!
//! Tools can therefore read runs on sockets and simulated runs alike. Owns the default values for everything that sockets
//! do not report, such as penalties and limits. A tally has the counters of a flow at both ends; a watch has
//! the last state of the flow's subflows.

use mptcp_clock::{Duration, Instant};
use mptcp_lab::measurements::{AbsentPath, Fallback, FlowSummary, LinkSummary, PathSummary};
use mptcp_lab::scenario::names::Transport;
use mptcp_lab::scenario::{Flow, Link, Traffic};
use netsim::LinkUse;
use std::sync::atomic::Ordering;

use super::tally::Tally;
use super::watch::{Count, Watch};
use crate::driver::LinkCounters;

/// The summary of a flow.
pub(crate) fn flow<S: Clone>(
    spec: &Flow,
    names: &[String],
    warmup: Duration,
    end: Instant,
    watch: &Watch,
    tally: &Tally<S>,
) -> FlowSummary {
    let start = Instant::ZERO + spec.start;
    let begun = Instant::ZERO + warmup;
    let from = begun.max(tally.started().unwrap_or(start)).max(watch.warm_at.unwrap_or(start));
    // A transfer is measured until its last byte, other flows until the end of the run.
    let to = match (&spec.traffic, tally.last_byte()) {
        (Traffic::File { bytes }, Some(last)) if *bytes == tally.received.load(Ordering::Relaxed) => {
            last.min(end)
        }
        // A stopped flow is measured until its last byte arrives, at least until its stop.
        (_, last) => spec
            .stop
            .filter(|_| tally.has_ended())
            .map_or(end, |stop| (Instant::ZERO + stop).max(last.unwrap_or(Instant::ZERO)).min(end)),
    };
    let measured = to.since(from).as_secs_f64();
    let rate = |bytes: u64| if measured > 0.0 { bytes as f64 * 8.0 / measured } else { 0.0 };
    let received = tally.received.load(Ordering::Relaxed);
    let bytes_received = received.saturating_sub(watch.warm.received);
    let paths = paths(names, watch, tally.started().is_some());
    let (silence, silent_from) = tally.silence_until(to);
    let complete = matches!(spec.traffic, Traffic::File { bytes } if bytes == received);
    let fell_back = spec.transport == Transport::Mptcp && tally.started().is_some() && !watch.multipath;
    let absent = |name: &&String| watch.multipath && paths.iter().all(|path| path.path != **name);
    FlowSummary {
        longest_silence: silence.as_secs_f64(),
        longest_silence_at: silent_from.as_secs_f64(),
        flow: spec.name.clone(),
        multipath: watch.multipath,
        fallback: fell_back.then(|| Fallback {
            at: tally.started().unwrap_or(start).as_secs_f64(),
            path: spec.paths.first().cloned().unwrap_or_default(),
            reason: "it went on as TCP",
        }),
        bytes_received,
        bytes_received_total: received,
        unique_bytes_arrived: None,
        measured,
        waited: from.since(begun.max(start)).as_secs_f64(),
        goodput: rate(bytes_received),
        throughput: rate(paths.iter().map(|path| path.bytes_sent).sum()),
        intact: tally.intact.load(Ordering::Relaxed),
        completion: tally.last_byte().filter(|_| complete).map(|last| last.since(start).as_secs_f64()),
        handshake: tally.connected().map(|at| at.since(start).as_secs_f64()),
        closed: tally.has_ended().then(|| "Finished".to_owned()),
        reinjected: watch.last.reinjected.saturating_sub(watch.warm.reinjected),
        opportunistic: 0,
        penalties: 0,
        duplicates: None,
        capacity: None,
        best_capacity: None,
        receive_buffer: spec.tcp.rcvbuf,
        send_buffer: spec.tcp.sndbuf,
        full_buffers: Vec::new(),
        limits: Vec::new(),
        never_joined: spec.paths.iter().filter(absent).map(|path| AbsentPath::named(path)).collect(),
        paths,
        blocks: Vec::new(),
        latency: None,
        late: None,
        datagram_loss: None,
        jitter: None,
    }
}

/// The paths with an established subflow; before the connection is open, the attempted paths.
fn paths(names: &[String], watch: &Watch, is_open: bool) -> Vec<PathSummary> {
    let subflows = |count: &Count| if is_open { count.joined } else { count.subflows };
    let all = names.iter().zip(&watch.last.paths).zip(&watch.warm.paths).zip(&watch.rtts);
    let used = all.filter(|(((_, now), _), _)| subflows(now) > 0);
    used.map(|(((name, now), then), (sum, samples))| PathSummary {
        path: name.clone(),
        subflows: subflows(now),
        bytes_sent: now.sent.saturating_sub(then.sent),
        bytes_arrived: now.acked.saturating_sub(then.acked),
        bytes_acked: now.acked.saturating_sub(then.acked),
        retransmits: now.retransmits.saturating_sub(then.retransmits),
        timeouts: now.timeouts.saturating_sub(then.timeouts),
        reinjected: 0,
        mean_srtt: sum / f64::from(*samples),
        limits: Vec::new(),
        sender_limits: Vec::new(),
        capacity: None,
        best_capacity: None,
        base_rtt: None,
        ack_wait: None,
        ack_queue: None,
        queue_wait: None,
        is_backup: false,
        queue_at: None,
        places: Vec::new(),
        blamed: 0.0,
        silence: Vec::new(),
        drops: None,
    })
    .collect()
}

/// The summaries of both directions of a link.
pub(crate) fn link(
    link: &Link,
    counters: &LinkCounters,
    uses: &[LinkUse; 2],
    seconds: f64,
) -> [LinkSummary; 2] {
    let directions = [("forward", 0), ("backward", 1)];
    directions.map(|(name, at)| LinkSummary::of(link, name, &counters[at], 0, (uses[at], seconds)))
}

#[cfg(test)]
mod tests;
