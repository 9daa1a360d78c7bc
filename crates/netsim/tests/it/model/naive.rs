//! A simple reimplementation of the network of `model.rs`, with one event per stage of each frame.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use mptcp_clock::{Duration, Instant, Rng};
use netsim::{Change, GilbertElliott, Jitter, Loss, Parameters, QueueLimit, Rate, Spread};

/// Simultaneous events have the order of these variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Departure,
    Change,
    Arrival,
    Release,
    Send,
}

#[derive(Clone, Copy)]
pub struct Packet {
    pub number: u64,
    pub bytes: u32,
    pub filtered: bool,
}

enum Event {
    Departure,
    Change(Change),
    Arrival(Packet),
    Enter(Packet),
    Release(Packet),
}

struct Wire {
    parameters: Parameters,
    queue: VecDeque<Packet>,
    /// The departure of the frame in service.
    departs: Instant,
    departure: u64,
    /// The arrivals of the frames in flight.
    in_flight: Vec<u64>,
    last_arrival: Instant,
    bad: bool,
    loss: Rng,
    jitter: Rng,
    /// Dropped, lost, flushed.
    counts: [u64; 3],
}

/// Wires 0 and 1 lead into wire 2, behind a filter.
pub struct Naive {
    wires: Vec<Wire>,
    filter: (Duration, f64, Rng),
    /// Time, stage, wire (0 for changes), event number.
    agenda: BinaryHeap<Reverse<(Instant, Stage, usize, u64)>>,
    events: BTreeMap<u64, (usize, Event)>,
    scheduled: u64,
    arrivals: Vec<(u64, u64)>,
}

impl Naive {
    pub fn new(seed: u64, wires: &[Parameters; 3], delay: Duration, loss: f64) -> Self {
        let root = |index: usize| Rng::new(seed, "netsim").child(&format!("wire {index}")).child("forward");
        let wire = |(index, parameters): (usize, &Parameters)| Wire {
            parameters: parameters.clone(),
            queue: VecDeque::new(),
            departs: Instant::ZERO,
            departure: 0,
            in_flight: Vec::new(),
            last_arrival: Instant::ZERO,
            bad: false,
            loss: root(index).child("loss"),
            jitter: root(index).child("jitter"),
            counts: [0; 3],
        };
        Self {
            wires: wires.iter().enumerate().map(wire).collect(),
            filter: (delay, loss, root(2).child("filter 0")),
            agenda: BinaryHeap::new(),
            events: BTreeMap::new(),
            scheduled: 0,
            arrivals: Vec::new(),
        }
    }

    pub fn send(&mut self, at: Instant, wire: usize, packet: Packet) {
        self.schedule(at, Stage::Send, wire, Event::Enter(packet));
    }

    pub fn change(&mut self, at: Instant, wire: usize, change: Change) {
        self.schedule(at, Stage::Change, wire, Event::Change(change));
    }

    /// Arrivals (nanoseconds, number), and numbers of dropped, lost and flushed frames per wire.
    pub fn run(mut self) -> (Vec<(u64, u64)>, Vec<[u64; 3]>) {
        while let Some(Reverse((at, _, _, id))) = self.agenda.pop() {
            let Some((wire, event)) = self.events.remove(&id) else { continue };
            match event {
                Event::Departure => self.depart(at, wire),
                Event::Change(change) => self.apply(at, wire, change),
                Event::Arrival(packet) => {
                    self.wires[wire].in_flight.retain(|&other| other != id);
                    if wire == 2 {
                        self.arrivals.push((at.as_nanos(), packet.number));
                    } else {
                        self.filter(at, packet);
                    }
                }
                Event::Enter(packet) | Event::Release(packet) => self.enqueue(at, wire, packet),
            }
        }
        (self.arrivals, self.wires.iter().map(|wire| wire.counts).collect())
    }

    fn schedule(&mut self, at: Instant, stage: Stage, wire: usize, event: Event) -> u64 {
        self.scheduled += 1;
        self.events.insert(self.scheduled, (wire, event));
        let ties = if matches!(stage, Stage::Change | Stage::Send) { 0 } else { wire };
        self.agenda.push(Reverse((at, stage, ties, self.scheduled)));
        self.scheduled
    }

    fn filter(&mut self, at: Instant, packet: Packet) {
        if !packet.filtered {
            self.enqueue(at, 2, packet);
        } else if !self.filter.2.chance(self.filter.1) {
            if self.filter.0.is_zero() {
                self.enqueue(at, 2, packet);
            } else {
                self.schedule(at + self.filter.0, Stage::Release, 2, Event::Release(packet));
            }
        }
    }

    fn enqueue(&mut self, at: Instant, index: usize, packet: Packet) {
        let wire = &mut self.wires[index];
        if !wire.parameters.up {
            wire.counts[2] += 1;
            return;
        }
        let total =
            wire.queue.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>() + u64::from(packet.bytes);
        let fits = match (wire.parameters.queue, wire.parameters.rate) {
            (QueueLimit::Packets(limit), _) => (wire.queue.len() as u64) < limit,
            (QueueLimit::Bytes(limit), _) => total <= limit,
            (QueueLimit::Time(limit), Some(rate)) => {
                let carried = u128::from(limit.as_nanos()) * u128::from(rate.bits_per_second());
                u128::from(total) * 8_000_000_000 <= carried
            }
            _ => true,
        };
        if !wire.queue.is_empty() && !fits {
            wire.counts[0] += 1;
            return;
        }
        wire.queue.push_back(packet);
        if wire.queue.len() == 1 {
            self.serve(at, index);
        }
    }

    fn serve(&mut self, at: Instant, index: usize) {
        let wire = &self.wires[index];
        let rate = wire.parameters.rate;
        let departs = at + rate.map_or(Duration::ZERO, |rate| rate.serialisation(wire.queue[0].bytes));
        self.finish_at(departs, index);
    }

    fn finish_at(&mut self, departs: Instant, index: usize) {
        let departure = self.schedule(departs, Stage::Departure, index, Event::Departure);
        (self.wires[index].departs, self.wires[index].departure) = (departs, departure);
    }

    fn depart(&mut self, at: Instant, index: usize) {
        let wire = &mut self.wires[index];
        let packet = wire.queue.pop_front().expect("a frame is in service");
        if wire.loses() {
            wire.counts[1] += 1;
        } else {
            let arrives = wire.arrival(at);
            let arrival = self.schedule(arrives, Stage::Arrival, index, Event::Arrival(packet));
            self.wires[index].in_flight.push(arrival);
        }
        if !self.wires[index].queue.is_empty() {
            self.serve(at, index);
        }
    }

    fn apply(&mut self, at: Instant, index: usize, change: Change) {
        let wire = &mut self.wires[index];
        match change {
            Change::Rate(rate) => {
                let old = std::mem::replace(&mut wire.parameters.rate, rate);
                if !wire.queue.is_empty() {
                    let left = remaining(old, rate, wire.departs.since(at));
                    self.events.remove(&wire.departure);
                    self.finish_at(at + left, index);
                }
            }
            Change::Delay(delay) => wire.parameters.delay = delay,
            Change::Jitter(jitter) => wire.parameters.jitter = jitter,
            Change::Loss(loss) => (wire.parameters.loss, wire.bad) = (loss, false),
            Change::Distance(_) | Change::StationRate(_) | Change::Longest(_) => {}
            Change::Queue(limit) => wire.parameters.queue = limit,
            Change::Open(open) => wire.parameters.up = open,
            Change::Up(up) => {
                wire.parameters.up = up;
                if !up {
                    wire.counts[2] += (wire.in_flight.len() + wire.queue.len()) as u64;
                    for event in wire.in_flight.drain(..).chain([wire.departure]) {
                        self.events.remove(&event);
                    }
                    wire.queue.clear();
                    wire.last_arrival = at;
                }
            }
        }
    }
}

fn remaining(old: Option<Rate>, new: Option<Rate>, left: Duration) -> Duration {
    let (Some(old), Some(new)) = (old, new) else { return Duration::ZERO };
    let bits = u128::from(left.as_nanos()) * u128::from(old.bits_per_second());
    let new = u128::from(new.bits_per_second());
    Duration::from_nanos(((bits + new / 2) / new) as u64)
}

impl Wire {
    fn loses(&mut self) -> bool {
        match self.parameters.loss {
            Loss::None => false,
            Loss::Bernoulli(p) => self.loss.chance(p),
            Loss::GilbertElliott(GilbertElliott { good_to_bad, bad_to_good, loss_in_bad, loss_in_good }) => {
                let was_bad = self.bad;
                if self.loss.chance(if was_bad { bad_to_good } else { good_to_bad }) {
                    self.bad = !was_bad;
                }
                self.loss.chance(if was_bad { loss_in_bad } else { loss_in_good })
            }
            Loss::Custom(_) => unreachable!("this model draws none"),
        }
    }

    fn arrival(&mut self, departs: Instant) -> Instant {
        let delay = self.parameters.delay.as_nanos();
        let arrives = match self.parameters.jitter {
            Some(Jitter { spread, shape: Spread::Uniform, reorder }) => {
                let spread = spread.as_nanos();
                let shifted = delay + self.jitter.below(2 * spread + 1);
                let own = departs + Duration::from_nanos(shifted.saturating_sub(spread));
                if reorder { own } else { own.max(self.last_arrival) }
            }
            Some(_) => unreachable!("the traffic of this test has uniform jitter"),
            None => (departs + Duration::from_nanos(delay)).max(self.last_arrival),
        };
        self.last_arrival = self.last_arrival.max(arrives);
        arrives
    }
}
