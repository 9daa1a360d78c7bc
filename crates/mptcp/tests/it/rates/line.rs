//! A simulated link with a queue and constant segment size. Losses occur at a full queue or as a test
//! requests. The delivery rate samples follow draft-ietf-ccwg-bbr section 4.1, computed independently. Lost
//! data is retransmitted as new data.

use std::collections::VecDeque;

use mptcp::congestion::{CongestionControl, Lost, Path, Repair, Sample};
use mptcp_clock::{Duration, Instant};

pub const MSS: u64 = 1000;

#[derive(Clone, Copy)]
struct Segment {
    sent_at: Instant,
    since_sent: Instant,
    since: Instant,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    limited: bool,
    /// Arrival time; `None` if it is lost.
    arrives: Option<Instant>,
}

/// State after an acknowledgement.
pub struct Entry {
    pub now: Instant,
    pub pace: f64,
    pub cwnd: u64,
    pub in_flight: u64,
    pub held_back: bool,
    pub repairs: bool,
}

pub struct Line {
    controller: Box<dyn CongestionControl>,
    paths: Vec<Path>,
    rate: f64,
    rtt: Duration,
    queue: u64,
    now: Instant,
    /// Times at which the link is free, pacing allows a segment, and the application has one.
    free: Instant,
    next_send: Instant,
    next_data: Instant,
    /// Rate of the application, bytes per second; `None` for unlimited.
    pub offered: Option<f64>,
    /// Whether acknowledgements are selective.
    pub selective: bool,
    flight: VecDeque<Segment>,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    pub lost: u64,
    limited_to: u64,
    to_lose: u32,
    /// Type of recovery, and the segment whose arrival ends it.
    repair: Option<Instant>,
    pub log: Vec<Entry>,
}

impl Line {
    pub fn new(controller: Box<dyn CongestionControl>, rate: f64, rtt: Duration, queue: u64) -> Self {
        let state = Path {
            cwnd: 10 * MSS,
            ssthresh: u64::MAX,
            mss: MSS,
            srtt: Some(rtt),
            min_rtt: Some(rtt),
            active: true,
            ..Path::default()
        };
        let start = Instant::ZERO;
        let mut line = Self {
            controller,
            paths: vec![state],
            rate,
            rtt,
            queue,
            now: start,
            free: start,
            next_send: start,
            next_data: start,
            offered: None,
            selective: true,
            flight: VecDeque::new(),
            delivered: 0,
            delivered_at: start,
            first_sent_at: start,
            lost: 0,
            limited_to: 0,
            to_lose: 0,
            repair: None,
            log: Vec::new(),
        };
        assert!(line.controller.needs_samples());
        line.controller.on_path_change(&mut line.paths, 0);
        line
    }

    pub fn state(&self) -> &Path {
        &self.paths[0]
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    /// Drops the next segments.
    pub fn lose_next(&mut self, count: u32) {
        self.to_lose = count;
    }

    /// Declares the last losses spurious.
    pub fn undo(&mut self) {
        self.controller.on_undo(&mut self.paths, 0, self.delivered);
    }

    /// Drops all segments in flight.
    pub fn time_out(&mut self) {
        self.controller.on_loss(&mut self.paths, 0, self.now);
        self.controller.on_timeout(&mut self.paths, 0);
        self.repair = Some(self.now);
        while let Some(segment) = self.flight.pop_front() {
            self.tell_lost(segment);
        }
        self.paths[0].cwnd = MSS;
    }

    /// Sends nothing for this time.
    pub fn pause(&mut self, span: Duration) {
        let until = self.now + span;
        self.next_data = until;
        self.limited_to = self.delivered + self.in_flight();
        while !self.flight.is_empty() {
            self.step(until);
        }
        self.now = until;
        self.controller.on_restart(&mut self.paths, 0, until, span);
    }

    pub fn run(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.step(until);
        }
    }

    fn step(&mut self, until: Instant) {
        let room = self.in_flight() + MSS <= self.paths[0].cwnd;
        let may = if room { self.next_send.max(self.next_data) } else { Instant::FAR_FUTURE };
        let comes = self.flight.iter().find_map(|segment| segment.arrives).unwrap_or(Instant::FAR_FUTURE);
        let next = may.max(self.now).min(comes);
        if next >= until {
            self.now = until;
        } else if comes <= may {
            self.now = comes;
            self.arrive();
        } else {
            self.now = next;
            self.send();
        }
    }

    fn send(&mut self) {
        if self.next_data > self.next_send {
            // It could have been sent earlier if the application had provided it.
            self.limited_to = (self.delivered + self.in_flight()).max(1);
        }
        if self.flight.is_empty() {
            (self.first_sent_at, self.delivered_at) = (self.now, self.now);
        }
        let waiting = (self.free.since(self.now).as_secs_f64() * self.rate) as u64;
        let lost = self.to_lose > 0 || waiting + MSS > self.queue;
        self.to_lose = self.to_lose.saturating_sub(1);
        if !lost {
            self.free = self.free.max(self.now) + Duration::from_secs_f64(MSS as f64 / self.rate);
        }
        self.flight.push_back(Segment {
            sent_at: self.now,
            since_sent: self.first_sent_at,
            since: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: self.in_flight() + MSS,
            limited: self.limited_to > 0,
            arrives: (!lost).then(|| self.free + self.rtt),
        });
        let pace = self.paths[0].pacing.unwrap_or(f64::INFINITY);
        self.next_send = self.next_send.max(self.now) + Duration::from_secs_f64(MSS as f64 / pace);
        if let Some(offered) = self.offered {
            self.next_data = self.next_data.max(self.now) + Duration::from_secs_f64(MSS as f64 / offered);
        }
    }

    fn tell_lost(&mut self, segment: Segment) {
        self.lost += MSS;
        let lost = Lost {
            now: self.now,
            bytes: MSS,
            in_flight_at_send: segment.in_flight,
            lost: self.lost - segment.lost,
            total_delivered: self.delivered,
            app_limited: segment.limited,
            selective: self.selective,
        };
        self.controller.on_lost(&mut self.paths, 0, &lost);
    }

    fn arrive(&mut self) {
        let (before, lost_before) = (self.in_flight(), self.lost);
        let window_limited = before + MSS > self.paths[0].cwnd;
        while self.flight[0].arrives.is_none() {
            if self.repair.is_none() {
                self.controller.on_loss(&mut self.paths, 0, self.now);
                self.repair = Some(self.now);
            }
            let Some(segment) = self.flight.pop_front() else { return };
            self.tell_lost(segment);
        }
        let Some(segment) = self.flight.pop_front() else { return };
        self.delivered += MSS;
        self.delivered_at = self.now;
        self.first_sent_at = segment.sent_at;
        if self.delivered > self.limited_to {
            self.limited_to = 0;
        }
        if self.repair.is_some_and(|since| segment.sent_at > since) {
            self.repair = None;
        }
        let interval = segment.sent_at.since(segment.since_sent).max(self.now.since(segment.since));
        let delivered = self.delivered - segment.delivered;
        let whole = interval >= self.rtt;
        let sample = Sample {
            now: self.now,
            rate: whole.then(|| delivered as f64 / interval.as_secs_f64()),
            delivered,
            delivered_before: Some(segment.delivered),
            total_delivered: self.delivered,
            newly_delivered: MSS,
            newly_lost: self.lost - lost_before,
            lost: self.lost - segment.lost,
            in_flight_at_send: segment.in_flight,
            in_flight_before: before,
            in_flight: self.in_flight(),
            rtt: Some(self.now.since(segment.sent_at)),
            app_limited: segment.limited,
            window_limited,
            repair: if self.repair.is_some() { Repair::Fast } else { Repair::None },
            selective: self.selective,
        };
        self.controller.on_sample(&mut self.paths, 0, &sample);
        let state = &self.paths[0];
        if state.held_back {
            self.limited_to = (self.delivered + self.flight.len() as u64 * MSS).max(1);
        }
        self.log.push(Entry {
            now: self.now,
            pace: state.pacing.unwrap_or(0.0),
            cwnd: state.cwnd,
            in_flight: self.in_flight(),
            held_back: state.held_back,
            repairs: self.repair.is_some(),
        });
    }
}
