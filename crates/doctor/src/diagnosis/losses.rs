//! Verdicts from losses and round trips: random loss, policers, bufferbloat.

use super::evidence::{Case, counted, verdict};
use super::missing::MissingRates;
use super::policer::{self, Policer};
use super::random::{is_random, usual_queue};
use crate::report::Verdict;
use crate::track::{Limit, LossEpisode};

/// Mean queueing delays below this, s, and below this multiple of the base RTT, are no bufferbloat: a call still works
/// (ITU-T G.114 allows 150 ms one way). The laboratory uses the same bounds.
const BLOATED: f64 = 0.1;
const BLOATED_TIMES: f64 = 4.0;

pub(super) fn verdicts(case: &Case<'_>, rates: &MissingRates) -> Vec<Verdict> {
    let mut found = Vec::new();
    for number in 0..case.view.subflows.len() {
        found.extend(losses(case, rates, number));
        found.extend(bufferbloat(case, number));
    }
    found
}

/// Data in flight at which a path and its queue are full, as a share of their capacity in bytes. The rate is known to about
/// a tenth, and so is the time in the queue.
const FULL: f64 = 0.75;

/// Time after losses of bursts, s: a queue overflowed although the path was not full. Acknowledgements space the data of a
/// sender that has more to send. One that waits for its application or its buffer sends bursts.
pub(super) fn after_bursts(case: &Case<'_>, number: usize) -> f64 {
    let subflow = case.subflow(number);
    let half = &subflow.halves[case.side];
    let (Some(capacity), Some(base)) = (half.capacity(), half.round_trips.base) else { return 0.0 };
    // Far from the sender, data in the queue is not in flight yet.
    if subflow.distance(case.side) > subflow.distance(1 - case.side) {
        return 0.0;
    }
    let usual = usual_queue(half);
    let ends = half.losses.iter().skip(1).map(|next| next.time).chain([half.last_progress]);
    let bursts = half.losses.iter().zip(ends).filter(|(episode, _)| {
        let full = capacity * (base + episode.queueing);
        !is_random(episode, usual, base) && (episode.flight as f64) < FULL * full
    });
    bursts.map(|(episode, end)| end.saturating_sub(episode.time) as f64 / 1e9).sum()
}

fn losses(case: &Case<'_>, rates: &MissingRates, number: usize) -> Option<Verdict> {
    let half = &case.subflow(number).halves[case.side];
    let bytes = rates.of(number, Limit::Loss);
    if half.losses.is_empty() || half.totals.lost == 0 {
        return None;
    }
    let (usual, base) = (usual_queue(half), half.round_trips.base.unwrap_or(0.0));
    let random: Vec<&LossEpisode> =
        half.losses.iter().filter(|episode| is_random(episode, usual, base)).collect();
    let part = random.len() as f64 / half.losses.len() as f64;
    let size = half.segment_size();
    let sent = (half.totals.new_bytes + half.totals.retransmitted_bytes).div_ceil(size).max(1);
    let rate = half.totals.lost as f64 / sent as f64;
    let mut cost = bytes * part;
    let share = cost / rates.potential().max(1.0);
    let evidence: Vec<_> = random
        .iter()
        .take(4)
        .map(|episode| {
            let by = if episode.by_timer { "found by a timeout" } else { "found by later acknowledgements" };
            case.evidence(
                episode.time,
                episode.packet,
                format!(
                    "{} lost, {by}, with a queue of {:.0} ms and {} bytes in flight",
                    counted(episode.segments, "segment", "segments"),
                    episode.queueing.max(0.0) * 1e3,
                    episode.flight
                ),
            )
        })
        .collect();
    let mut found = match policer::find(case, number) {
        Some(Policer { rate: tokens, .. }) => {
            // The path carries no more than this rate, even if its window or the scheduler seem to limit it.
            let one = &rates.subflows[number];
            let most = [Limit::Loss, Limit::Growth, Limit::Unused]
                .iter()
                .map(|limit| rates.of(number, *limit))
                .sum();
            cost = cost.max(((one.capacity - tokens) * one.active).min(most));
            let mut one = verdict(
                "policer",
                Some(number),
                (cost / rates.potential().max(1.0)).max(0.1),
                format!(
                    "{} is policed to {:.1} Mb/s: packets above this rate are dropped, and never queued",
                    case.name(number),
                    tokens * 8.0 / 1e6
                ),
            );
            one.advice = vec![
                format!(
                    "shape below the policer: tc qdisc replace dev DEVICE root cake bandwidth {:.1}mbit",
                    tokens * 8.0 / 1e6 * 0.95
                ),
                "ask the operator of the link for a shaper, or for a larger burst".to_owned(),
            ];
            one
        }
        None => {
            let mut one = verdict(
                "loss",
                Some(number),
                share,
                format!(
                    "{:.2}% of the segments of {} are lost while its queue is not full: the path itself loses packets",
                    rate * 100.0,
                    case.name(number)
                ),
            );
            one.advice = vec![
                "WiFi: signal and channel (iw dev, another band); cable: errors of the interface (ip -s link)".to_owned(),
                "sysctl -w net.ipv4.tcp_congestion_control=bbr suffers less from random loss".to_owned(),
            ];
            one
        }
    };
    found.evidence = evidence;
    found.cost = Some(rates.rate(cost));
    Some(found)
}

fn bufferbloat(case: &Case<'_>, number: usize) -> Option<Verdict> {
    let half = &case.subflow(number).halves[case.side];
    let base = half.round_trips.base?;
    let median = half.round_trips.distribution.quantile(0.5)?;
    let total = case.view.directions[case.side].stream.new_bytes;
    let carries = half.totals.new_bytes * 100 >= total;
    let queueing = median - base;
    if queueing < BLOATED.max(BLOATED_TIMES * base) || !carries {
        return None;
    }
    // It costs latency; of the throughput it costs nothing. Ranked like a tenth of the rate, more if it is seconds.
    let mut one = verdict(
        "bufferbloat",
        Some(number),
        0.1 + 0.1 * queueing.min(2.0),
        format!(
            "a queue on {} delays its packets by {:.0} ms (RTT {:.0} ms, without load {:.0} ms)",
            case.name(number),
            queueing * 1e3,
            median * 1e3,
            base * 1e3
        ),
    );
    one.cost_seconds = Some(queueing);
    if let Some((time, packet)) = half.largest_rtt {
        one.evidence.push(case.evidence(time, packet, "acknowledgement with the longest RTT"));
    }
    one.advice = vec![
        format!(
            "shape below the rate of the link at the router: tc qdisc replace dev DEVICE root cake bandwidth {:.0}mbit",
            half.capacity().unwrap_or(0.0) * 8.0 / 1e6 * 0.95
        ),
        "fq_codel or cake on the bottleneck; `mptcplab measure` measures the queue of a link".to_owned(),
    ];
    Some(one)
}
