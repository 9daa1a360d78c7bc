//! Tests of the scoreboard and RACK against a scan of the whole flight, as in RFC 8985 section 6.2.

use bytes::Bytes;
use mptcp_clock::{Duration, Instant, Rng};

use super::Rack;
use crate::subflow::scoreboard::Scoreboard;
use crate::subflow::scoreboard::SentSegment;

/// The lost segments and the time of the next check, by a scan of all segments.
fn walk(
    rack: &Rack,
    board: &Scoreboard,
    now: Instant,
    eager: bool,
    rtt: Option<Duration>,
) -> (Vec<bool>, Option<Instant>) {
    let window = rack.window(eager, rtt, rtt);
    let mut again: Option<Instant> = None;
    let lost = board.queue.iter().map(|sent| {
        if (sent.sent_at, sent.end()) >= (rack.sent_at, rack.end)
            || sent.sacked
            || (sent.lost && !sent.retransmitted)
        {
            return sent.lost && !sent.retransmitted;
        }
        let due = sent.sent_at + rack.rtt + window;
        if due > now {
            again = again.max(Some(due));
        }
        due <= now || (sent.lost && !sent.retransmitted)
    });
    (lost.collect(), again)
}

/// Compares counters and indices with the segments.
fn check(board: &Scoreboard) {
    let sum = |which: fn(&&SentSegment) -> bool| {
        board.queue.iter().filter(which).map(SentSegment::length).sum::<u64>()
    };
    assert_eq!(board.sacked, sum(|sent| sent.sacked));
    assert_eq!(board.lost, sum(|sent| sent.lost));
    assert_eq!(board.retransmitted, sum(|sent| sent.retransmitted));
    assert_eq!(board.next_lost(), board.queue.iter().position(|sent| sent.lost && !sent.retransmitted));
    assert_eq!(board.una, board.queue.front().map_or(board.next, |first| first.start));
    for at in 0..=board.queue.len() {
        let end = board.queue.get(at).map_or(board.next + 1, SentSegment::end);
        let near = board.queue.range(at.saturating_sub(64)..at).rev();
        let gap = near.clone().find(|sent| !sent.sacked && (sent.lost || sent.retransmitted));
        assert_eq!(board.gap_before(end).map(|sent| sent.start), gap.map(|sent| sent.start), "before {end}");
    }
}

struct Flight {
    now: Instant,
    board: Scoreboard,
    rack: Rack,
    random: Rng,
}

impl Flight {
    fn send(&mut self) {
        let length = 100 * (1 + self.random.below(5)) as usize;
        let start = self.board.next;
        self.board.push(SentSegment {
            start,
            data: start,
            payload: Bytes::from(vec![0; length]),
            whole: None,
            sent_at: self.now,
            first_sent_at: self.now,
            fin: false,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
        });
    }

    /// A random offset in the flight, usually the end of a frame.
    fn place(&mut self) -> u64 {
        let at = self.board.una + self.random.below(self.board.next - self.board.una + 1);
        if self.random.chance(0.8) { self.board.una.max(at - at % 100) } else { at }
    }

    fn report(&mut self) {
        let (one, other) = (self.place(), self.place());
        let (left, right) = (one.min(other), one.max(other).min(one.min(other) + 600));
        if left == right {
            return;
        }
        self.rack.on_ack();
        self.board.split_near(left, 100, 100_000);
        self.board.split_near(right, 100, 100_000);
        let Self { board, rack, now, .. } = self;
        let before: Vec<u64> = board.queue.iter().filter(|sent| sent.sacked).map(|sent| sent.start).collect();
        let expected: Vec<u64> = board
            .queue
            .iter()
            .filter(|sent| left <= sent.start && sent.end() <= right && !sent.sacked)
            .map(|sent| sent.start)
            .collect();
        let mut news = Vec::new();
        board.report(left, right, |sent| {
            news.push(sent.start);
            rack.on_delivered(sent, *now, None, None);
        });
        assert_eq!(news, expected, "{left}..{right}, reported before: {before:?}");
    }

    fn acknowledge(&mut self) {
        let to = self.place();
        self.rack.on_ack();
        let (rack, now) = (&mut self.rack, self.now);
        while self.board.take_acknowledged(to, |sent| {
            if !sent.sacked {
                rack.on_delivered(sent, now, None, None);
            }
        }) {}
        self.board.trim_front(to);
        self.board.trim_ranges();
    }

    fn detect(&mut self) {
        let eager = self.random.chance(0.5);
        let rtt = Some(Duration::from_millis(40));
        let (lost, again) = walk(&self.rack, &self.board, self.now, eager, rtt);
        let before = self.board.queue.iter().filter(|sent| sent.lost && !sent.retransmitted).count();
        let (marked, when) = self.rack.detect(&mut self.board, self.now, eager, rtt, rtt);
        let found: Vec<bool> = self.board.queue.iter().map(|sent| sent.lost && !sent.retransmitted).collect();
        assert_eq!(found, lost);
        assert_eq!(when, again);
        assert_eq!(marked, found.iter().filter(|lost| **lost).count() > before);
    }

    fn step(&mut self) {
        self.now += Duration::from_micros(self.random.below(20_000));
        match self.random.below(20) {
            0..=6 => (0..=self.random.below(6)).for_each(|_| self.send()),
            7..=11 => self.report(),
            12..=13 => self.acknowledge(),
            14..=17 => {
                for _ in 0..=self.random.below(3) {
                    let Some(at) = self.board.next_lost() else { break };
                    self.board.split(at, 100 * (1 + self.random.below(3)));
                    self.board.mark_retransmitted(at, self.now);
                }
            }
            18 if self.random.chance(0.2) => {
                self.board.clear_sack();
                self.board.mark_all_lost();
            }
            // A tail loss probe.
            _ => {
                if let Some(last) = self.board.queue.iter().rposition(|sent| !sent.sacked) {
                    self.board.mark_retransmitted(last, self.now);
                }
            }
        }
        check(&self.board);
        self.detect();
        check(&self.board);
    }
}

#[test]
fn losses_match_a_scan_of_the_whole_flight() {
    for case in 0..3000 {
        let mut flight = Flight {
            now: Instant::ZERO + Duration::from_secs(1),
            board: Scoreboard::starting_at(1),
            rack: Rack { reordering_seen: case % 3 == 0, ..Rack::default() },
            random: Rng::new(case, "flight"),
        };
        flight.board.una = 1;
        (0..120).for_each(|_| flight.step());
    }
}
