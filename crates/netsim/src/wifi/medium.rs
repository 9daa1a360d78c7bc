//! Events on a medium, the set of WiFi cells that sense each other: transmissions start, collide, end, and
//! are acknowledged. The network calls [`Cells::pass`] at each event.
//!
//! Stations that start at one instant do not sense each other, and may collide. The coupling of two cells is
//! the probability that a station of one cell senses, or destroys, a transmission of the other. A contender
//! is a station, access point or background station.

use mptcp_clock::{Duration, Instant};

use super::cells::{Cells, Done};
use super::exchange::{Exchange, NONE};
use super::interface::mac_bytes;
use super::propagation::success;
use crate::direction::Service;

/// Maximum duration of an aggregate, as in Linux drivers.
const LONGEST: Duration = Duration::from_millis(4);

impl Cells {
    /// Time of the next event of a medium.
    pub(super) fn next_event(&self, medium: u32) -> Instant {
        let medium = &self.media[medium as usize];
        let ends = medium.on_air.iter().map(|exchange| exchange.end);
        let fires = medium.members.iter().map(|&member| self.access[member as usize].fires);
        let turn = |&member: &u32| self.contenders[member as usize].neighbour.as_ref();
        let turns = medium.neighbours.iter().filter_map(turn).map(|neighbour| neighbour.turns);
        ends.chain(fires).chain(turns).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Handles the events of a medium at `now`.
    pub(crate) fn pass(&mut self, now: Instant, medium: u32) {
        while let Some(over) = self.media[medium as usize].on_air.iter().position(|on_air| on_air.end <= now)
        {
            let exchange = self.media[medium as usize].on_air.remove(over);
            self.finish(now, &exchange);
            self.media[medium as usize].spare.push(exchange);
        }
        self.turn(now, medium);
        let place = &mut self.media[medium as usize];
        let mut starters = std::mem::take(&mut place.starters);
        starters.clear();
        let due = |&member: &u32| self.access[member as usize].fires <= now;
        starters.extend(place.members.iter().copied().filter(due));
        if !starters.is_empty() {
            self.begin(now, medium, &starters);
        }
        self.media[medium as usize].starters = starters;
    }

    /// Starts the exchanges of all `starters`, and decides which of them collide.
    fn begin(&mut self, now: Instant, medium: u32, starters: &[u32]) {
        let first = self.media[medium as usize].on_air.len();
        for &sender in starters {
            let exchange = self.compose(sender, medium);
            self.media[medium as usize].on_air.push(exchange);
            self.access[sender as usize].begin();
        }
        self.collide(medium, first);
        let mut on_air = std::mem::take(&mut self.media[medium as usize].on_air);
        for exchange in &mut on_air[first..] {
            exchange.garbled = exchange.destroyed;
            let answer = if exchange.garbled { Duration::ZERO } else { exchange.answer };
            exchange.end = now + exchange.data + answer;
            self.spread(now, medium, exchange);
        }
        self.media[medium as usize].on_air = on_air;
    }

    /// Determines which contenders sense an exchange.
    fn spread(&mut self, now: Instant, medium: u32, exchange: &mut Exchange) {
        for &member in &self.media[medium as usize].members {
            let listener = &mut self.contenders[member as usize];
            let factor = self.couplings[exchange.cell as usize][listener.cell as usize].carrier_sense;
            if member == exchange.sender || listener.sense.chance(factor) {
                exchange.hear(member);
                self.access[member as usize].seize(now, &mut listener.backoff);
            }
        }
    }

    /// Marks collisions: of each new exchange, from index `first` on, with each earlier one in progress.
    fn collide(&mut self, medium: u32, first: usize) {
        let mut on_air = std::mem::take(&mut self.media[medium as usize].on_air);
        for later in first..on_air.len() {
            for earlier in 0..later {
                let [a, b] = [earlier, later].map(|index| (on_air[index].cell, on_air[index].sender));
                let factor = self.coupling(a.0, b.0).collision;
                for (index, (_, sender)) in [(earlier, a), (later, b)] {
                    let hit = self.contenders[sender as usize].collision.chance(factor);
                    on_air[index].destroyed |= hit;
                }
            }
        }
        self.media[medium as usize].on_air = on_air;
    }

    /// Builds the next exchange of `sender`: rate, frames and durations.
    fn compose(&mut self, sender: u32, medium: u32) -> Exchange {
        let contender = &self.contenders[sender as usize];
        let cell = &self.cells[contender.cell as usize];
        let phy = &cell.phy;
        let mut exchange = self.media[medium as usize].spare.pop().unwrap_or_else(Exchange::blank);
        exchange.heard.fill(0);
        (exchange.sender, exchange.cell, exchange.destroyed) = (sender, contender.cell, false);
        (exchange.radio, exchange.frames) = (NONE, 0);
        if let Some(head) = contender.interface.head() {
            let radio = &mut self.radios[head.radio as usize];
            let attempts = contender.interface.first_open(head.radio).map_or(0, |entry| entry.attempts);
            exchange.rate = radio.rates.choose(attempts, &mut radio.trials);
            exchange.radio = head.radio;
            let rate = &phy.rates[exchange.rate];
            (exchange.frames, exchange.bytes) = match cell.parameters.aggregation {
                Some(rules) => {
                    let most = (rate.bits_per_second / 8 * LONGEST.as_millis() / 1000) as u32;
                    contender.interface.aggregate(head.radio, rules, most, phy.overhead)
                }
                None => (1, mac_bytes(head.bytes, phy.overhead)),
            };
        } else if let Some(neighbour) = &contender.neighbour {
            exchange.rate = neighbour.rate;
            exchange.bytes = mac_bytes(neighbour.bytes, phy.overhead);
        }
        let rate = &phy.rates[exchange.rate];
        exchange.data = phy.protection + phy.duration(exchange.bytes, rate);
        exchange.answer = if cell.parameters.aggregation.is_some() { rate.block_answer } else { rate.answer };
        exchange
    }

    /// Ends an exchange. Its frames are acknowledged, retried or given up.
    fn finish(&mut self, now: Instant, exchange: &Exchange) {
        let cell = &self.cells[exchange.cell as usize];
        let (retry_limit, difs) = (cell.parameters.retry_limit, cell.phy.difs);
        let wait = if exchange.garbled {
            cell.phy.collision_wait(cell.parameters.collision_wait, exchange.answer)
        } else {
            difs
        };
        let (success, given_up) = if exchange.radio == NONE {
            (!exchange.destroyed, false)
        } else {
            self.acknowledge(now, exchange, retry_limit)
        };
        self.cells[exchange.cell as usize].airtime += exchange.data;
        let contender = &mut self.contenders[exchange.sender as usize];
        let mut again = contender.interface.len() > 0;
        let mut exhausted = given_up;
        if let Some(neighbour) = &mut contender.neighbour {
            neighbour.attempts = if success { 0 } else { neighbour.attempts + 1 };
            exhausted = retry_limit.is_some_and(|limit| neighbour.attempts > limit);
            if exhausted {
                neighbour.attempts = 0;
            }
            again = neighbour.active;
        }
        let access = &mut self.access[exchange.sender as usize];
        access.sent(success || exhausted, again, &mut contender.backoff);
        for (word, &bits) in exchange.heard.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let listener = word * 64 + bits.trailing_zeros() as usize;
                self.access[listener].release(now, wait);
                bits &= bits - 1;
            }
        }
    }

    /// Determines which frames of an exchange were received, and removes finished frames. Returns whether a
    /// frame was received, and whether a frame was given up.
    fn acknowledge(&mut self, now: Instant, exchange: &Exchange, retry_limit: Option<u32>) -> (bool, bool) {
        let cell = &self.cells[exchange.cell as usize];
        let overhead = cell.phy.overhead;
        let access = cell.phy.difs + cell.phy.slot * u64::from(cell.parameters.cw_min) / 2;
        let contender = &mut self.contenders[exchange.sender as usize];
        let radio = &mut self.radios[exchange.radio as usize];
        let log_success = radio.log_success[exchange.rate];
        let alone = (access + exchange.data + exchange.answer) / u64::from(exchange.frames.max(1));
        let mut read = 0;
        for entry in contender.interface.open(exchange.radio).take(exchange.frames as usize) {
            let probability = success(log_success, mac_bytes(entry.bytes, overhead));
            if !exchange.destroyed && radio.noise.chance(probability) {
                entry.acknowledged = Some(alone);
                read += 1;
            } else {
                entry.attempts += 1;
            }
        }
        radio.rates.learn(now, exchange.rate, exchange.frames, read);
        let counters = &mut radio.counters;
        counters.transmissions += 1;
        counters.airtime += exchange.data;
        counters.collisions += u64::from(exchange.destroyed);
        counters.failures += u64::from(!exchange.destroyed && read < exchange.frames);
        counters.retries += u64::from(exchange.frames - read);
        let (direction, mut given_up) = (radio.direction, false);
        while let Some(entry) = contender.interface.pop_done(exchange.radio, retry_limit) {
            let time = now.since(contender.head_since);
            contender.head_since = now;
            let service = Service { time, alone: entry.acknowledged.unwrap_or(Duration::ZERO) };
            self.done.push(if entry.acknowledged.is_some() {
                Done::Sent { direction, service }
            } else {
                counters.retries -= 1;
                counters.retry_drops += 1;
                given_up = true;
                Done::GivenUp { direction, service }
            });
        }
        self.refill(now, exchange.sender);
        (read > 0, given_up)
    }

    /// Moves frames from a sender's queue into the ring of its device.
    pub(super) fn refill(&mut self, now: Instant, contender: u32) {
        let (radios, done) = (&self.radios, &mut self.done);
        self.contenders[contender as usize].interface.refill(now, |radio, place| {
            done.push(Done::Dropped { direction: radios[radio as usize].direction, place });
        });
    }

    /// Switches background stations between on and off periods.
    fn turn(&mut self, now: Instant, medium: u32) {
        for &member in &self.media[medium as usize].neighbours {
            let contender = &mut self.contenders[member as usize];
            let Some(neighbour) = contender.neighbour.as_mut().filter(|neighbour| neighbour.turns <= now)
            else {
                continue;
            };
            neighbour.turn(now);
            let access = &mut self.access[member as usize];
            if neighbour.active {
                access.want(now, &mut contender.backoff);
            } else {
                access.rest();
            }
        }
    }
}
