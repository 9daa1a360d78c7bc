//! All verdicts of a connection in order, and those for a capture that cannot tell.

use super::evidence::{Case, verdict};
use super::host_facts::HostFacts;
use super::missing::MissingRates;
use super::{limits, losses, structure};
use crate::report::Verdict;
use crate::track::{Place, Request};

/// A cost below this share of the potential is no fault.
const LEAST_SHARE: f64 = 0.08;
/// Data below which there is nothing to judge, bytes and segments.
const LEAST_BYTES: u64 = 60_000;
const LEAST_SEGMENTS: u64 = 30;
/// Time below which there is nothing to judge, s.
const LEAST_TIME: f64 = 0.5;

/// All verdicts, the most expensive one first.
pub(crate) fn diagnose(case: &Case<'_>, rates: &MissingRates, host: &HostFacts) -> Vec<Verdict> {
    let mut found = structure::verdicts(case, host);
    let unsure = cannot_tell(case, rates);
    if unsure.is_none() {
        found.extend(limits::verdicts(case, rates));
        found.extend(losses::verdicts(case, rates));
    }
    root_causes(&mut found, case);
    found.retain(|one| one.share >= LEAST_SHARE || one.name == "plain-tcp");
    paths_that_would_not_help(&mut found);
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    if let Some(unsure) = unsure
        && found.iter().all(|one| {
            matches!(one.name.as_str(), "plain-tcp" | "one-subflow" | "backup" | "add-addr-unanswered")
        })
    {
        // So little data needed no further path.
        found.insert(0, unsure);
    } else if found.iter().all(|one| one.name == "plain-tcp") {
        found.insert(0, if rates.is_measured { healthy(case, rates) } else { never_full() });
    }
    found
}

/// Least share of a loss that is the cause of blocking.
const LOSSY: f64 = 0.03;
/// Queueing delay, s, above which a queue is the cause of full buffers; a larger buffer would not help against it.
const LONG_QUEUE: f64 = 0.4;

/// A long queue delays its data, and data of the other paths fills the buffers of both hosts. Then the queue is the cause of
/// full buffers and of blocking.
fn root_causes(found: &mut [Verdict], case: &Case<'_>) {
    let stream = &case.view.directions[case.side].stream;
    let is_out_of_order = stream.largest_out_of_order * 2 > stream.largest_flight;
    let full = |one: &Verdict| match one.name.as_str() {
        "head-of-line" => true,
        "send-buffer" => is_out_of_order,
        _ => false,
    };
    let share = found.iter().filter(|one| full(one)).map(|one| one.share).max_by(f64::total_cmp);
    let is_long =
        |one: &Verdict| one.name == "bufferbloat" && one.cost_seconds.is_some_and(|queue| queue > LONG_QUEUE);
    // Random loss on the blocking path delays its data by repairs.
    let blocked = found.iter().find(|one| one.name == "head-of-line").map(|one| (one.subflow, one.share));
    if let Some((subflow, share)) = blocked {
        let lossy = |one: &&mut Verdict| one.name == "loss" && one.subflow == subflow && one.share > LOSSY;
        if let Some(loss) = found.iter_mut().find(lossy) {
            loss.share = loss.share.max(share + 0.01);
        }
    }
    let queue = found.iter_mut().filter(|one| is_long(one));
    if let (Some(share), Some(queue)) = (share, queue.max_by(|a, b| a.share.total_cmp(&b.share))) {
        queue.share = queue.share.max(share + 0.01);
    }
}

/// Names of verdicts about paths that are missing.
const MISSING_PATHS: [&str; 7] = [
    "fallback",
    "join-stripped",
    "join-unanswered",
    "join-refused",
    "add-addr-unanswered",
    "one-subflow",
    "backup",
];

/// A sender that does not fill the paths it has would not fill another one.
fn paths_that_would_not_help(found: &mut [Verdict]) {
    let sender = found.iter().filter(|one| matches!(one.name.as_str(), "application" | "send-buffer"));
    let Some(share) = sender.map(|one| one.share).max_by(f64::total_cmp).filter(|share| *share > 0.15) else {
        return;
    };
    for one in found.iter_mut().filter(|one| MISSING_PATHS.contains(&one.name.as_str())) {
        one.share = one.share.min(0.9 * share);
    }
}

/// No fault, and no proof that there is none.
fn never_full() -> Verdict {
    let what = "this capture cannot tell: no limit was found, and no path was ever full";
    let mut one = verdict("cannot-tell", None, 0.0, what.to_owned());
    one.advice = vec!["capture a large transfer that is as fast as it can be".to_owned()];
    one
}

fn healthy(case: &Case<'_>, rates: &MissingRates) -> Verdict {
    let goodput = rates.rate(rates.bytes);
    let mut one = verdict(
        "healthy",
        None,
        0.0,
        format!(
            "nothing is wrong: the {} sends {goodput:.1} Mb/s, and the paths of this connection carry no more",
            case.sender()
        ),
    );
    one.advice = vec!["if it should be faster, the links are the limit".to_owned()];
    one
}

/// The verdict that the capture does not suffice; None if it does.
fn cannot_tell(case: &Case<'_>, rates: &MissingRates) -> Option<Verdict> {
    let direction = &case.view.directions[case.side];
    let totals = case.subflows().map(|(_, one)| one.halves[case.side].totals);
    let (segments, delivered, uncaptured) =
        totals.fold((0, 0, 0), |(segments, delivered, uncaptured), one| {
            (segments + one.segments, delivered + one.delivered, uncaptured + one.uncaptured)
        });
    let bytes = direction.stream.new_bytes;
    let acknowledgements: u64 = case.subflows().map(|(_, one)| one.acknowledgements[1 - case.side]).sum();
    let has_cut_options = case.subflows().any(|(_, one)| one.has_cut_options);
    let is_middle = case.subflows().next().is_some_and(|(_, first)| first.handshake.syn.is_none());
    let mut why = Vec::new();
    if has_cut_options {
        why.push(("TCP options are cut off", "tcpdump -s 128 keeps all headers"));
    }
    if segments == 0 && uncaptured > 0 || uncaptured > bytes {
        why.push((
            "most of the data was not captured",
            "capture both directions, on all interfaces: tcpdump -i any",
        ));
    } else if case.view.lacks_a_subflow() {
        why.push((
            "another subflow exists that was not captured",
            "capture on all interfaces: tcpdump -i any",
        ));
    } else if bytes < LEAST_BYTES || segments < LEAST_SEGMENTS {
        why.push(("too little data was transferred", "capture a longer transfer, or a larger file"));
    } else if acknowledgements * 20 < segments || delivered == 0 {
        why.push((
            "acknowledgements are missing",
            "capture both directions, on all interfaces: tcpdump -i any",
        ));
    } else if rates.seconds < LEAST_TIME || is_middle && rates.seconds < 2.0 * LEAST_TIME {
        why.push(("the capture is too short", "capture at least a few seconds"));
    }
    if why.is_empty() {
        return None;
    }
    let (what, remedy): (Vec<_>, Vec<_>) = why.into_iter().unzip();
    let mut one =
        verdict("cannot-tell", None, 0.0, format!("this capture cannot tell: {}", what.join(", and ")));
    one.advice = remedy.into_iter().map(str::to_owned).collect();
    if case.subflows().next().is_some_and(|(_, first)| first.handshake.request == Request::Unseen) {
        one.advice.push("start the capture before the connection, so that it contains the keys".to_owned());
    }
    if case.view.place(case.flows) == Place::Unknown {
        one.advice.push("capture on one of the two hosts".to_owned());
    }
    Some(one)
}
