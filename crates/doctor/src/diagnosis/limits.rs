//! Verdicts from the time in each state: receive window, head-of-line blocking, send buffer, application, scheduler.

use super::evidence::{Case, counted, verdict};
use super::losses::after_bursts;
use super::missing::MissingRates;
use crate::report::{Evidence, Verdict};
use crate::track::Limit;

/// Least share of the time in which the data in flight reaches the same value, if a send buffer limits it.
const PLATEAU: f64 = 0.6;
/// Largest deviation from that value.
const FLAT: f64 = 0.06;

/// Share of the time within 2% of that value that needs no other proof.
const EXACT: f64 = 0.95;
/// Least mean of the data in flight, as a share of that value. Linux wakes a writer when a third of the buffer is free.
const MEAN: f64 = 0.65;
/// Share of the data that is sent just after an acknowledgement, if acknowledgements free the send buffer. An application
/// with a rate of its own does not wait for them.
const CLOCKED: f64 = 0.7;
/// Share of a path that was silent for half a second or longer, at least.
const LEAST_DEAD: f64 = 0.09;
/// Share of the time in which all paths have space, at most, if a send buffer limits the sender.
const WAITING: f64 = 0.5;
/// Window of the best path alone, in bandwidth-delay products, that is certainly enough for it.
const MARGIN: f64 = 1.3;
/// Share of the time without any data in flight, above which an application pauses.
const IDLE: f64 = 0.05;
/// Share of an application that never filled a path.
const UNKNOWN: f64 = 0.3;
/// More than half. If a slow path delays this share of thin data, the scheduler is the first thing to change. If this share
/// of the time follows bursts, the sender limits the connection.
const MOST: f64 = 0.5;
/// Share of the potential that the application leaves unused, if its data is thin.
const THIN: f64 = 0.25;

/// All verdicts from states.
pub(super) fn verdicts(case: &Case<'_>, rates: &MissingRates) -> Vec<Verdict> {
    let mut found = Vec::new();
    found.extend(full_window(case, rates));
    let is_sender = is_limited_by_sender(case, rates);
    found.extend(sender(case, rates, is_sender));
    if !is_sender {
        found.extend(unused(case, rates));
        found.extend(reinjection(case, rates));
    }
    found.extend(misplaced(case, rates, is_sender));
    found.extend(dead_paths(case, rates));
    found
}

fn with_cost(mut verdict: Verdict, rates: &MissingRates, bytes: f64) -> Verdict {
    verdict.cost = Some(rates.rate(bytes));
    verdict
}

fn share(rates: &MissingRates, bytes: f64) -> f64 {
    bytes / rates.potential().max(1.0)
}

fn kilobytes(bytes: u64) -> String {
    if bytes >= 10_000_000 {
        format!("{:.0} MB", bytes as f64 / 1e6)
    } else if bytes >= 1_000_000 {
        format!("{:.1} MB", bytes as f64 / 1e6)
    } else {
        format!("{:.0} kB", bytes as f64 / 1e3)
    }
}

/// Window that all paths together need, bytes: the sum of rates multiplied by the longest RTT (RFC 8684 section 3.3.5).
fn needed_window(case: &Case<'_>, rates: &MissingRates) -> u64 {
    let rate: f64 = rates.subflows.iter().map(|one| one.capacity).sum();
    let longest = case
        .subflows()
        .filter_map(|(_, subflow)| subflow.halves[case.side].round_trips.base)
        .fold(0.0, f64::max);
    (2.0 * rate * longest) as u64
}

/// A full receive window: too small, or full of data that waits for a slow path.
fn full_window(case: &Case<'_>, rates: &MissingRates) -> Option<Verdict> {
    let bytes = rates.total(Limit::Window) + rates.total(Limit::HeadOfLine);
    if bytes <= 0.0 {
        return None;
    }
    let direction = &case.view.directions[case.side];
    let window = direction.stream.largest_window;
    let blocking = direction
        .blocked_by
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map(|(number, seconds)| (number, *seconds));
    // A window that is large enough for the best path alone, and yet less goodput than that path would give: the other
    // paths hold the window.
    let (best, base) = best_path(case, rates);
    let holds = window as f64 >= MARGIN * best * base && rates.bytes / rates.seconds < 0.9 * best;
    // A window for all paths at their base RTTs, which is full because one of them stalls.
    let suffices =
        window as f64 >= needed_window(case, rates) as f64 / 2.0 && rates.total(Limit::HeadOfLine) > 0.0;
    let slowest = || {
        let trip = |number: usize| case.subflow(number).halves[case.side].round_trips.smoothed.unwrap_or(0.0);
        (0..case.view.subflows.len()).max_by(|a, b| trip(*a).total_cmp(&trip(*b))).map(|number| (number, 0.0))
    };
    let is_blocked = rates.total(Limit::HeadOfLine) > rates.total(Limit::Window) || holds || suffices;
    let one = match blocking.or_else(slowest) {
        Some((number, seconds)) if is_blocked && case.view.subflows.len() > 1 => {
            head_of_line(case, rates, number, seconds, bytes)
        }
        _ => receive_window(case, rates, bytes),
    };
    Some(with_cost(one, rates, bytes))
}

/// Rate and base RTT of the path with the highest rate, bytes/s and s.
fn best_path(case: &Case<'_>, rates: &MissingRates) -> (f64, f64) {
    let paths = rates.subflows.iter().enumerate();
    paths.max_by(|a, b| a.1.capacity.total_cmp(&b.1.capacity)).map_or((0.0, 0.0), |(number, one)| {
        let base = case.subflow(number).halves[case.side].round_trips.base.unwrap_or(0.0);
        (one.capacity, base)
    })
}

fn receive_window(case: &Case<'_>, rates: &MissingRates, bytes: f64) -> Verdict {
    let window = case.view.directions[case.side].stream.largest_window;
    let need = needed_window(case, rates);
    let mut one = verdict(
        "receive-window",
        None,
        share(rates, bytes),
        format!(
            "the receive window of the {} (at most {}) limits the connection",
            case.receiver(),
            kilobytes(window)
        ),
    );
    one.evidence = case.episodes(Limit::Window, None, "the window is full");
    one.evidence.extend(window_scale(case, window));
    one.advice = vec![
        "if the application sets SO_RCVBUF, remove that: it disables autotuning; an application that reads slowly also \
         closes the window"
            .to_owned(),
        format!(
            "on the {}: sysctl net.ipv4.tcp_rmem, whose third value must be at least {} for these paths; new connections \
             use it",
            case.receiver(),
            (2 * need).max(2 * window)
        ),
    ];
    one
}

/// The handshake of a receiver whose window scale allows no larger window than the largest one.
fn window_scale(case: &Case<'_>, window: u64) -> Option<Evidence> {
    let first = case.subflow(0);
    let receiver = 1 - case.side;
    let scale = first.halves[receiver].window_scale?;
    let (time, packet) =
        if receiver == first.opener { first.handshake.syn? } else { first.handshake.syn_ack? };
    let most = 65_535_u64 << scale;
    let what = format!("window scale {scale}: the window can never exceed {}", kilobytes(most));
    (window * 10 > most * 9).then(|| case.evidence(time, packet, what))
}

fn head_of_line(case: &Case<'_>, rates: &MissingRates, blocking: usize, seconds: f64, bytes: f64) -> Verdict {
    let direction = &case.view.directions[case.side];
    let time = if seconds >= 0.1 { format!(" for {seconds:.1} s") } else { String::new() };
    let mut one = verdict(
        "head-of-line",
        Some(blocking),
        share(rates, bytes),
        format!(
            "data on {} holds back the others{time}: the receive window ({}) is full of data that waits for it",
            case.name(blocking),
            kilobytes(direction.stream.largest_window)
        ),
    );
    one.evidence = case.episodes(Limit::HeadOfLine, None, "the window is full of out-of-order data");
    one.evidence.extend(case.episodes(Limit::Window, None, "the window is full"));
    one.evidence.truncate(4);
    one.advice = vec![format!(
        "a larger receive buffer on the {}: the third value of net.ipv4.tcp_rmem at least {}, and no SO_RCVBUF",
        case.receiver(),
        4 * needed_window(case, rates)
    )];
    let carried = case.subflow(blocking).halves[case.side].totals.new_bytes;
    if carried * 2 < direction.stream.new_bytes {
        one.advice.push(format!(
            "or make the slow path a backup: ip mptcp endpoint change {} backup",
            case.subflow(blocking).ends[0].ip()
        ));
    }
    one
}

/// The data in flight at which a send buffer stops the sender: it returns to this value again and again, and stays near it.
fn plateau(case: &Case<'_>, rates: &MissingRates) -> Option<u64> {
    let direction = &case.view.directions[case.side];
    let mut steps = direction.steps.clone();
    let longest = case
        .subflows()
        .filter_map(|(_, one)| one.halves[case.side].round_trips.smoothed)
        .fold(0.05, f64::max);
    steps.coarsen((longest * 1.5e9) as u64);
    let flights: Vec<u64> =
        steps.values().iter().map(|step| step.flight).filter(|flight| *flight > 0).collect();
    if flights.len() < 8 {
        return None;
    }
    let mut sorted = flights.clone();
    sorted.sort_unstable();
    let top = sorted[sorted.len() * 3 / 4];
    let near = |flight: &&u64| (**flight as f64 - top as f64).abs() <= FLAT * top as f64;
    let share = flights.iter().filter(near).count() as f64 / flights.len() as f64;
    let mean = direction.flight_time / direction.busy.max(1e-9);
    let window = rates.subflows.iter().map(|one| one.seconds[Limit::Window as usize]).fold(0.0, f64::max);
    let is_full = mean > MEAN * top as f64 && direction.idle < IDLE * rates.seconds;
    let is_other = window > 0.2 * rates.seconds;
    // If all paths lose data, their windows limit the connection.
    let mut used =
        case.subflows().map(|(number, _)| &rates.subflows[number]).filter(|one| one.delivered > 0.0);
    let has_space = used.any(|one| !one.is_limited_by_path());
    // Queues far from the sender hide its clock; the value must be exact instead.
    let exact = flights.iter().filter(|flight| flight.abs_diff(top) * 50 <= top).count() as f64
        / flights.len() as f64;
    let is_exact = exact > EXACT && mean > 0.9 * top as f64;
    let is_sure = is_clocked(case) || is_exact;
    (share >= PLATEAU && is_full && is_sure && !is_other && has_space).then_some(top)
}

/// Whether a subflow carries hardly anything but copies.
fn is_redundant(case: &Case<'_>) -> bool {
    let stream = &case.view.directions[case.side].stream;
    let sent =
        case.subflows().map(|(_, one)| one.halves[case.side].totals.new_bytes).filter(|bytes| *bytes > 0);
    let least = sent.min().unwrap_or(0);
    stream.reinjected * 10 > stream.new_bytes && stream.reinjected * 10 > 8 * least
}

/// Whether the sender has less to send than the paths could carry: short segments end its writes, or no path limits it.
fn is_limited_by_sender(case: &Case<'_>, rates: &MissingRates) -> bool {
    let has_buffer = || plateau(case, rates).is_some() || has_full_buffer(case, rates);
    if writes_little(case) || !is_redundant(case) && has_buffer() {
        return true;
    }
    let mut is_used = false;
    for (number, subflow) in case.subflows() {
        let one = &rates.subflows[number];
        if one.active <= 0.0 || subflow.is_backup() {
            continue;
        }
        if one.is_limited_by_path() {
            return false;
        }
        let idle = one.seconds[Limit::Application as usize] + one.seconds[Limit::Unused as usize];
        is_used |= one.is_flat() || idle > 0.5 * one.active;
    }
    is_used
}

/// Data in flight at which the send buffer is full.
fn full_buffer(case: &Case<'_>, rates: &MissingRates) -> Option<u64> {
    let usual = || {
        let direction = &case.view.directions[case.side];
        (direction.flight_time / direction.busy.max(1e-9)) as u64
    };
    plateau(case, rates).or_else(|| has_full_buffer(case, rates).then(usual))
}

/// Whether the send buffer is full. The sender never pauses and always waits for acknowledgements. Still, all paths have
/// space again and again, or bursts overflow the queue of a path that is not full. A scheduler with data to send would use
/// that space, and an application would not wait for acknowledgements.
fn has_full_buffer(case: &Case<'_>, rates: &MissingRates) -> bool {
    let direction = &case.view.directions[case.side];
    let most = |time: &dyn Fn(usize) -> f64| (0..rates.subflows.len()).map(time).fold(0.0, f64::max);
    let waiting = most(&|number| rates.subflows[number].seconds[Limit::Application as usize]);
    let waits = waiting > IDLE * rates.seconds && waiting < WAITING * rates.seconds;
    let bursts = most(&|number| after_bursts(case, number)) > MOST * rates.seconds;
    (waits || bursts) && is_clocked(case) && direction.idle < IDLE * rates.seconds
}

/// Whether acknowledgements release the data, so that the sender has more.
fn is_clocked(case: &Case<'_>) -> bool {
    let direction = &case.view.directions[case.side];
    direction.clocked as f64 > CLOCKED * direction.stream.new_bytes as f64
}

/// Whether many segments are short and have the flag PSH: at each of them, the sender had no more data. With more data in
/// its buffer, it would have sent full segments.
fn writes_little(case: &Case<'_>) -> bool {
    let (short, segments) = case.subflows().fold((0, 0), |(short, all), (_, one)| {
        let totals = &one.halves[case.side].totals;
        (short + totals.short_segments, all + totals.segments)
    });
    short * 20 > segments
}

/// Bytes of new data that a sender could have sent while nothing limited it but itself.
fn unsent(case: &Case<'_>, rates: &MissingRates, is_sender: bool) -> f64 {
    let waiting = rates.total(Limit::Application);
    if !is_sender {
        return waiting;
    }
    // A burst that overflows a queue is the fault of the sender too.
    let after_bursts = rates.subflows.iter().enumerate().map(|(number, one)| {
        let part = after_bursts(case, number) / one.active.max(1e-3);
        part.min(1.0) * one.missing[Limit::Loss as usize]
    });
    waiting + rates.total(Limit::Growth) + rates.total(Limit::Unused) + after_bursts.sum::<f64>()
}

/// A sender whose application has nothing to send, or whose send buffer holds no more.
fn sender(case: &Case<'_>, rates: &MissingRates, is_sender: bool) -> Option<Verdict> {
    let bytes = unsent(case, rates, is_sender);
    if bytes <= 0.0 {
        return None;
    }
    let one = match full_buffer(case, rates) {
        Some(top) => send_buffer(case, rates, top, bytes),
        None => application(case, rates, bytes, is_sender),
    };
    Some(with_cost(one, rates, bytes))
}

fn send_buffer(case: &Case<'_>, rates: &MissingRates, top: u64, bytes: f64) -> Verdict {
    let direction = &case.view.directions[case.side];
    let need = needed_window(case, rates);
    let mut one = verdict(
        "send-buffer",
        None,
        share(rates, bytes),
        format!(
            "the {} has about {} in flight, although windows and paths allow more: its send buffer is too small",
            case.sender(),
            kilobytes(top)
        ),
    );
    one.evidence = case.episodes(Limit::Application, None, "nothing more is sent");
    if one.evidence.is_empty()
        && let (Some(first), Some((_, packet))) = (direction.first_data, case.subflow(0).handshake.third)
    {
        let most = kilobytes(direction.stream.largest_flight);
        one.evidence.push(case.evidence(
            first,
            packet,
            format!("from here on, at most {most} are in flight"),
        ));
    }
    one.advice = vec![
        "if the application sets SO_SNDBUF, remove that: it disables autotuning".to_owned(),
        format!(
            "on the {}: sysctl net.ipv4.tcp_wmem, whose third value must be at least {} for these paths",
            case.sender(),
            2 * need
        ),
    ];
    one
}

fn application(case: &Case<'_>, rates: &MissingRates, bytes: f64, is_sender: bool) -> Verdict {
    let mut share = share(rates, bytes);
    let mut summary =
        format!("the application on the {} sends less than the network could carry", case.sender());
    if is_sender && !rates.is_measured {
        // Paths that were never full could carry an unknown amount more; twice as much is a guess for the order only.
        share = share.max(UNKNOWN);
        summary += "; how much more is unknown, because no path was ever full";
    }
    let mut one = verdict("application", None, share, summary);
    one.evidence = case.episodes(Limit::Application, None, "windows are open, and nothing is sent");
    one.advice = vec![
        "the network is not the limit: look at the disk, the CPU, or requests that wait for answers"
            .to_owned(),
    ];
    one
}

/// A subflow that the scheduler leaves empty.
fn unused(case: &Case<'_>, rates: &MissingRates) -> Option<Verdict> {
    // A window that neither grows nor loses data is limited by the scheduler, if another path is full.
    let left = |number: usize| {
        let one = &rates.subflows[number];
        let flat = if one.is_flat() { rates.of(number, Limit::Growth) } else { 0.0 };
        rates.of(number, Limit::Unused) + flat
    };
    let numbers = 0..case.view.subflows.len();
    let (number, bytes) =
        numbers.clone().map(|number| (number, left(number))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let total: f64 = numbers.map(left).sum();
    let mut one = verdict(
        "scheduler",
        Some(number),
        share(rates, total),
        format!(
            "{} is open and has space, but the scheduler of the {} hardly uses it",
            case.name(number),
            case.sender()
        ),
    );
    one.evidence = case.episodes(Limit::Unused, Some(number), "the subflow has space, others are full");
    one.advice = vec![
        "try another scheduler (sysctl net.mptcp.scheduler); `mptcplab doctor --scenario` and `mptcplab compare` rank them \
         on this network"
            .to_owned(),
    ];
    (bytes > 0.0).then(|| with_cost(one, rates, total))
}

/// Thin data that was sent on a slow path though a fast one was free.
fn misplaced(case: &Case<'_>, rates: &MissingRates, is_sender: bool) -> Option<Verdict> {
    let direction = &case.view.directions[case.side];
    let counts = &direction.misplaced;
    let total = direction.stream.new_bytes.max(1);
    let part = counts.late as f64 / total as f64;
    // While paths are full, a slow one is used for its capacity.
    let is_unknown = is_sender && !rates.is_measured;
    let is_thin = is_unknown || unsent(case, rates, is_sender) > THIN * rates.potential();
    if full_buffer(case, rates).is_some() {
        return None;
    }
    let delay = counts.delay / counts.late.max(1) as f64;
    if part < 0.1 || !is_thin {
        return None;
    }
    let fast_base = case.subflow(usize::from(counts.fast)).halves[case.side].round_trips.base.unwrap_or(0.0);
    // An application that sends little needs no throughput. It lacks the time that the slow path takes.
    let mut one = verdict(
        "scheduler",
        Some(usize::from(counts.slow)),
        if part > MOST && delay > fast_base { 1.0 } else { part.min(0.3) },
        format!(
            "{:.0}% of the data took a slow subflow, or had to wait for such data, although a faster one was free: it arrives {:.0} ms later",
            part * 100.0,
            delay * 1e3
        ),
    );
    one.cost_seconds = Some(delay);
    if let Some((time, packet)) = counts.packet {
        let fast = case.name(usize::from(counts.fast));
        one.evidence.push(case.evidence(time, packet, format!("sent here while {fast} had space")));
    }
    one.advice = vec![
        "use a scheduler that prefers the path with the lowest RTT (Linux's default does)".to_owned(),
        format!(
            "or make the slow path a backup: ip mptcp endpoint change {} backup",
            case.subflow(usize::from(counts.slow)).ends[0].ip()
        ),
    ];
    Some(one)
}

/// Data that was sent on several subflows.
fn reinjection(case: &Case<'_>, rates: &MissingRates) -> Option<Verdict> {
    let stream = &case.view.directions[case.side].stream;
    let part = stream.reinjected as f64 / (stream.new_bytes + stream.reinjected).max(1) as f64;
    if part < 0.03 {
        return None;
    }
    let bytes = stream.reinjected as f64;
    let mut one = verdict(
        "reinjection",
        None,
        bytes / (rates.potential() + bytes),
        format!(
            "{:.0}% of the data from the {} was sent on a second subflow too ({})",
            part * 100.0,
            case.sender(),
            kilobytes(stream.reinjected)
        ),
    );
    for (time, packet) in stream.reinjections.iter().take(3) {
        one.evidence.push(case.evidence(*time, *packet, "data that another subflow had sent"));
    }
    one.advice = vec![
        "a redundant scheduler sends everything twice: use it for latency only".to_owned(),
        "otherwise a larger receive buffer avoids reinjection, which starts when the window is full or a path stalls"
            .to_owned(),
    ];
    Some(with_cost(one, rates, bytes))
}

/// Paths that went silent.
fn dead_paths(case: &Case<'_>, rates: &MissingRates) -> Vec<Verdict> {
    let mut found = Vec::new();
    for number in 0..case.view.subflows.len() {
        let seconds = rates.subflows[number].seconds[Limit::Dead as usize];
        let bytes = rates.of(number, Limit::Dead);
        if seconds < 0.5 {
            continue;
        }
        let half = &case.subflow(number).halves[case.side];
        let episodes = case.view.directions[case.side].episodes();
        let dead = episodes.filter(|one| one.limit == Limit::Dead && usize::from(one.subflow) == number);
        let last = case.view.last_seen;
        let silent: u64 = dead.map(|one| one.end.min(last).saturating_sub(one.start)).sum();
        let seconds = (silent as f64 / 1e9).max(seconds);
        let mut one = verdict(
            "dead-path",
            Some(number),
            // Seconds without an answer are a fault of their own, even on a path of a low rate.
            share(rates, bytes).max(LEAST_DEAD),
            format!(
                "{} was silent for {seconds:.1} s: nothing was acknowledged in spite of {}",
                case.name(number),
                counted(
                    half.totals.timeouts.max(1),
                    "retransmission by timeout",
                    "retransmissions by timeout"
                )
            ),
        );
        one.cost_seconds = Some(seconds);
        one.evidence = case.episodes(Limit::Dead, Some(number), "no acknowledgement");
        one.advice = vec![
            "is the link down, or out of coverage? ip link, and a ping over this interface".to_owned(),
            "Linux sends the data on other paths after 4 timeouts; earlier with sysctl -w net.mptcp.stale_loss_cnt=1 on the \
             sender"
                .to_owned(),
        ];
        found.push(with_cost(one, rates, bytes));
    }
    found
}
