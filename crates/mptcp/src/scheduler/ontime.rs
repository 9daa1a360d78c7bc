//! A path carries only what arrives on time: the default.
//!
//! In the line of BLEST (Ferlin et al., IFIP Networking 2016) and ECF (Lim et al., CoNEXT 2017). The paths in order of
//! their round-trip times: the first one with room gets the next segment, unless what is faster would be held up by it. That
//! is so when the faster paths could send more, until the segment is acknowledged, than the window or the send buffer has
//! room for; or when they could send all that is left. Where an application writes as it goes, a path that loses is late, and what
//! near paths cannot carry alone goes on the one that can.

mod copies;
mod estimates;
mod ledger;
mod lines;
mod numbers;
mod patience;
mod shares;
mod silent;
mod stream;
mod trial;

use mptcp_clock::{Duration, Instant};

use super::{Candidate, Scheduler, SendView};
use copies::Copies;
use estimates::{Mend, answered, arrives_first, by_arrival, mending, rate, sends, sends_on, takes};
use ledger::Ledger;
use lines::{GUESS, Lines};
use numbers::{larger, nanos, real, way_back};
use shares::Shares;
use silent::Silent;
use stream::Stream;

/// How much the estimate of what faster paths could send grows when a window was full nevertheless, at most once in a round
/// trip of the slower path; it falls back as slowly.
const STEP: f64 = 0.1;
/// The most that it grows to.
const MOST: f64 = 2.0;

/// See the top of the file.
#[derive(Clone, Debug)]
pub struct OnTime {
    ledger: Ledger,
    lines: Lines,
    silent: Silent,
    stream: Stream,
    shares: Shares,
    copies: Copies,
    margin: f64,
    /// When the margin is looked at next.
    due: Instant,
    full: bool,
    /// At the end of the data: since when it waits for a path without room, and until when.
    waits: Option<(Instant, Instant)>,
    /// What the one chosen last leaves to those that come to it sooner, bytes.
    leaves: u64,
    /// What each candidate of a choice takes.
    times: Vec<f64>,
    /// What of that is for losses, where an application writes as it goes.
    mends: Vec<Mend>,
}

impl Default for OnTime {
    fn default() -> Self {
        Self {
            ledger: Ledger::default(),
            lines: Lines::default(),
            silent: Silent::default(),
            stream: Stream::default(),
            shares: Shares::default(),
            copies: Copies::default(),
            margin: 1.0,
            due: Instant::ZERO,
            full: false,
            waits: None,
            leaves: 0,
            times: Vec::new(),
            mends: Vec::new(),
        }
    }
}

impl OnTime {
    /// Without a second copy of anything before it is late, if not `copies`.
    #[must_use]
    pub fn with_copies(mut self, copies: bool) -> Self {
        self.copies.wanted = copies;
        self
    }

    /// Whether a segment on the candidate at `slow` would hold nobody up, and how many bytes it leaves to others then.
    fn on_time(&self, view: &SendView<'_>, slow: usize) -> Option<u64> {
        let streams = view.streams && !view.closed;
        let grows = streams && self.is_patient(view, slow);
        let takes = self.times[slow];
        if !grows && self.times.iter().all(|&time| time >= takes) || streams && self.grows_itself(view, slow)
        {
            return Some(0);
        }
        self.leaves_room(view, slow, grows)
    }

    /// Whether it would where others are faster; `grows` where a window that lost by chance may grow again.
    #[inline(never)]
    fn leaves_room(&self, view: &SendView<'_>, at: usize, grows: bool) -> Option<u64> {
        let time = |at: usize| if grows { self.without_next(view, at) } else { self.times[at] };
        let (takes, slow) = (time(at), &view.candidates[at]);
        let (mut rates, mut first) = (0.0, f64::INFINITY);
        let streams = view.streams && !view.closed;
        let there = view.now + Duration::from_nanos(takes as u64);
        let faster = || {
            let sooner = view.candidates.iter().enumerate().filter(|&(at, _)| time(at) < takes);
            sooner.filter(|(_, fast)| {
                if view.closed {
                    // At the end one that rests for longer sends nothing before that.
                    !self.is_left_out(view, fast, there)
                } else {
                    !streams || !self.silent.is(view.now, fast)
                }
            })
        };
        // What a loss would cost there is no reason to go elsewhere for what waits for a window that has just been halved.
        let patient = streams && self.stream.is_carried_by(faster().map(|(_, fast)| fast));
        let alone = |at: usize| if patient { self.times[at] - self.mends[at].all() } else { time(at) };
        for (at, fast) in faster() {
            rates += rate(fast);
            let time = alone(at);
            first = if time < first { time } else { first };
        }
        if first.is_infinite() {
            // None of those that would be faster says anything.
            return Some(0);
        }
        let window = real(view.window().min(view.send_buffer));
        // A path that carries more than all that it might hold up is worth a stall: it is not kept small for being in the way.
        let margin = if rate(slow) > rates { 1.0 } else { self.margin };
        // A DATA_ACK comes back on the path that is the first to say so.
        let round = if by_arrival(view) { takes + way_back(slow) } else { takes };
        let until = larger(round - nanos(slow.lead), first);
        let meanwhile = if streams {
            // What it writes says how much they send.
            rates * until
        } else {
            let sent: f64 = faster().map(|(_, fast)| sends(fast, until)).sum();
            // Not more than there is, where no more comes.
            let last = view.closed || !view.more_to_come;
            if last && sent > real(view.unsent) { real(view.unsent) } else { sent }
        };
        if meanwhile * margin + real(slow.in_flight + slow.mss) > window {
            return None;
        }
        if view.more_to_come {
            return Some(0);
        }
        if by_arrival(view) {
            // What the faster paths send before it is there on this one.
            let sooner = faster().map(|(at, fast)| {
                if streams { sends_on(fast, takes - alone(at)) } else { sends(fast, takes - first) }
            });
            let sooner = sooner.sum::<f64>();
            return if streams {
                // They come to the beginning of it sooner, and this one carries what is behind that.
                (sooner + real(slow.mss) <= real(view.unsent)).then_some(sooner as u64)
            } else {
                (sooner <= real(view.unsent)).then_some(0)
            };
        }
        // All that is left goes on the faster paths before this one has answered.
        (first + real(view.unsent) / larger(rates, 1e-9) >= takes).then_some(0)
    }

    /// Whether a choice notes nothing, unless a window or the send buffer is full or the application is silent.
    #[inline]
    fn is_quiet(&self, now: Instant) -> bool {
        now < self.due && self.ledger.is_quiet(now)
    }

    /// Whether a path rests at a time. Who is left alone does not.
    fn is_left_out(&self, view: &SendView<'_>, candidate: &Candidate, at: Instant) -> bool {
        self.ledger.rests(at, candidate) && !view.candidates.iter().all(|c| self.ledger.rests(at, c))
    }

    /// Where an application writes as it goes: what the lines that are known say, and how long a small piece waits where data is in flight.
    #[cold]
    fn know_better(&mut self, view: &SendView<'_>) {
        self.stream.look(view);
        self.silent.look(view);
        self.shares.look(view);
        let more = self.stream.until_more(view.now);
        // Where one path carries all, nobody needs another one that loses.
        let carried = view.candidates.iter().any(|path| self.stream.is_carried_by([path].into_iter()));
        self.mends.clear();
        for (time, candidate) in self.times.iter_mut().zip(view.candidates) {
            let mut round = nanos(candidate.calm_rtt.max(candidate.min_rtt));
            if let Some((arrives, others)) = self.lines.arrives(view.now, candidate) {
                (*time, round) = (arrives, nanos(candidate.min_rtt) + others);
            } else {
                // A handshake does not tell how long a line takes for a segment.
                *time += real(candidate.mss.min(view.unsent)) * 1e9 / GUESS;
            }
            let part = if carried { 1.0 } else { self.shares.of(candidate.subflow) };
            self.mends.push(mending(candidate, round, part));
            *time += self.mends.last().map_or(0.0, Mend::all);
            if candidate.small_waits && view.unsent < candidate.mss && candidate.in_flight > 0 {
                // It goes with what is written next, or when all that is there has been acknowledged.
                let answer = nanos(candidate.srtt) / 2.0;
                *time += if more < answer { more } else { answer };
            }
        }
        self.weigh_losses(view);
    }

    /// At the end of the data: what left in a burst comes one after the other, however short the round trip, and a line of which nothing
    /// is known yet may be slow, for the first segment too.
    #[cold]
    fn follow_lines(&mut self, view: &SendView<'_>) {
        for (time, candidate) in self.times.iter_mut().zip(view.candidates) {
            let arrives = self.lines.behind_own(view.now, candidate);
            if let Some(arrives) = arrives.or_else(|| arrives_first(candidate)) {
                *time = larger(*time, arrives);
            }
        }
    }

    /// At the end of the data nobody waits longer for a path without room than another one would take: what is in flight there may be lost,
    /// and tells nothing until a timer rings.
    #[cold]
    fn wait_or_go(&mut self, view: &SendView<'_>, waited: Option<(Instant, Instant)>) -> Option<usize> {
        let with_room = self.times.iter().zip(view.candidates).enumerate().filter(|(_, (_, c))| c.has_room);
        let open = with_room
            .filter(|(_, (_, c))| !self.is_left_out(view, c, view.now))
            .map(|(at, (&time, _))| (time, at));
        let (time, at) = open.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let (since, _) = waited.unwrap_or((view.now, view.now));
        let until = since + Duration::from_nanos(time as u64);
        self.waits = (until > view.now).then_some((since, until));
        self.waits.is_none().then_some(at)
    }

    /// Looks once in a round trip of the slowest path whether windows were full all the same.
    fn adapt(&mut self, view: &SendView<'_>) {
        let longest = view.candidates.iter().map(|c| c.srtt).max().unwrap_or_default();
        self.margin = if self.full { self.margin + STEP } else { self.margin - STEP }.clamp(1.0, MOST);
        (self.due, self.full) = (view.now + longest.max(Duration::from_millis(1)), false);
    }
}

impl Scheduler for OnTime {
    fn name(&self) -> &'static str {
        "ontime"
    }

    fn takes_the_only_one(&mut self) -> bool {
        (self.waits, self.leaves) = (None, 0);
        self.ledger.pause();
        true
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let waited = self.waits.take();
        self.leaves = 0;
        if let [only] = view.candidates {
            self.ledger.pause();
            return only.has_room.then_some(0);
        }
        if view.now >= self.due {
            self.adapt(view);
        }
        self.ledger.look(view);
        if !view.candidates.iter().any(|c| c.has_room) {
            return None;
        }
        self.times.clear();
        self.times.extend(view.candidates.iter().map(|c| takes(view, c)));
        if view.streams && !view.closed {
            self.know_better(view);
            let whole = self.stream.carrier(view, &self.times);
            let open = |c: &Candidate| c.has_room && !self.is_left_out(view, c, view.now);
            if whole.is_some_and(|at| open(&view.candidates[at])) {
                return whole;
            }
        }
        if view.closed {
            self.follow_lines(view);
        }
        let mut best: Option<(f64, usize, u64)> = None;
        let with_room = view.candidates.iter().zip(&self.times).enumerate().filter(|(_, (c, _))| c.has_room);
        for (at, (candidate, &time)) in with_room {
            if best.is_none_or(|(least, ..)| time < least)
                && !self.is_left_out(view, candidate, view.now)
                && let Some(leaves) = self.on_time(view, at)
            {
                best = Some((time, at, leaves));
            }
        }
        let chosen = best.map(|(_, at, leaves)| {
            self.leaves = leaves;
            at
        });
        if chosen.is_none() && view.closed && view.unsent > 0 {
            self.wait_or_go(view, waited)
        } else {
            chosen
        }
    }

    fn leaves(&self) -> u64 {
        self.leaves
    }

    fn waits_until(&self) -> Option<Instant> {
        self.waits.map(|(_, until)| until)
    }

    fn second(&mut self, view: &SendView<'_>, on: usize, sent: Instant) -> Option<usize> {
        self.copies.of(view, (on, sent), &self.stream, &mut self.lines)
    }

    fn choose_at_sight(&self, now: Instant, candidates: &[Candidate]) -> Option<usize> {
        if candidates.len() < 2 || !self.is_quiet(now) {
            return None;
        }
        let (mut least, mut best) = (f64::INFINITY, None);
        for (at, candidate) in candidates.iter().enumerate() {
            // It never takes less than it ever did.
            if nanos(candidate.min_rtt) >= least {
                continue;
            }
            let time = answered(candidate);
            if time < least {
                (least, best) = (time, Some((at, candidate)));
            }
        }
        // Nobody is held up by the fastest.
        let (at, fastest) = best?;
        (fastest.has_room && !self.ledger.rests(now, fastest)).then_some(at)
    }

    fn waits_for_room(&self, now: Instant) -> bool {
        self.is_quiet(now)
    }

    fn places_small(&self) -> bool {
        true
    }

    fn on_window_full(&mut self, _view: &SendView<'_>, _position: usize) {
        self.full = true;
    }
}
