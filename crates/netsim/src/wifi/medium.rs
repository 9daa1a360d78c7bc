//! What happens on a medium: transmissions begin, spoil each other, end, and are answered.
//!
//! All that begin at one instant begin together, each deaf to the others; what begins later is heard
//! or not as the cells are coupled.

use mptcp_clock::{Duration, Instant};

use super::air::{Air, Done};
use super::exchange::{Exchange, NONE};
use crate::direction::Service;

impl Air {
    /// When a medium next wants attention.
    pub(super) fn next_event(&self, medium: u32) -> Instant {
        let medium = &self.media[medium as usize];
        let ends = medium.on_air.iter().map(|exchange| exchange.end);
        let fires = medium.members.iter().map(|&member| self.access[member as usize].fires);
        ends.chain(fires).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Does what is due on a medium at `now`.
    pub(crate) fn pass(&mut self, now: Instant, medium: u32) {
        while let Some(over) = self.media[medium as usize].on_air.iter().position(|on_air| on_air.end <= now)
        {
            let exchange = self.media[medium as usize].on_air.remove(over);
            self.finish(now, &exchange);
            self.media[medium as usize].spare.push(exchange);
        }
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

    /// Lets all `starters` begin to send.
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

    /// Lets the others hear an exchange.
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

    /// Decides which of the exchanges from `first` on spoil others, and are spoilt.
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

    /// What `sender` now sends.
    fn compose(&mut self, sender: u32, medium: u32) -> Exchange {
        let contender = &self.contenders[sender as usize];
        let phy = &self.cells[contender.cell as usize].phy;
        let blank = || Exchange {
            sender: 0,
            cell: 0,
            radio: NONE,
            frames: 0,
            rate: 0,
            data: Duration::ZERO,
            answer: Duration::ZERO,
            end: Instant::ZERO,
            destroyed: false,
            garbled: false,
            heard: Vec::new(),
        };
        let mut exchange = self.media[medium as usize].spare.pop().unwrap_or_else(blank);
        exchange.heard.fill(0);
        (exchange.sender, exchange.cell, exchange.destroyed) = (sender, contender.cell, false);
        if let Some(head) = contender.interface.head() {
            let rate = self.radios[head.radio as usize].rate;
            (exchange.radio, exchange.frames, exchange.rate) = (head.radio, 1, rate);
            (exchange.data, exchange.answer) = Self::times(phy, Self::mac_bytes(phy, head.bytes), rate);
        }
        exchange
    }

    /// An exchange is over: its frames are done, or will be tried again.
    fn finish(&mut self, now: Instant, exchange: &Exchange) {
        let contender = &mut self.contenders[exchange.sender as usize];
        let cell = &self.cells[exchange.cell as usize];
        let success = !exchange.destroyed;
        let mut given_up = false;
        if exchange.radio != NONE {
            let radio = &mut self.radios[exchange.radio as usize];
            let counters = &mut radio.counters;
            counters.transmissions += 1;
            counters.airtime += exchange.data;
            counters.collisions += u64::from(exchange.destroyed);
            if let Some(head) = contender.interface.ring().next() {
                head.attempts += u32::from(!success);
                given_up = cell.parameters.retry_limit.is_some_and(|limit| head.attempts > limit);
            }
            let (direction, time) = (radio.direction, now.since(contender.head_since));
            if success {
                let airtime = exchange.data + exchange.answer;
                self.done.push(Done::Sent { direction, service: Service { time, airtime } });
            } else if given_up {
                counters.retry_drops += 1;
                let service = Service { time, airtime: Duration::ZERO };
                self.done.push(Done::GivenUp { direction, service });
            } else {
                counters.retries += 1;
            }
            if success || given_up {
                contender.interface.pop(exchange.radio);
                contender.interface.refill();
                contender.head_since = now;
            }
        }
        let access = &mut self.access[exchange.sender as usize];
        access.sent(success, contender.interface.len() > 0, &mut contender.backoff);
        if given_up {
            access.forget();
        }
        let (wait, after) = (cell.phy.difs, cell.phy.collision_wait);
        let wait = if exchange.garbled { after } else { wait };
        for (word, &bits) in exchange.heard.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let listener = word * 64 + bits.trailing_zeros() as usize;
                self.access[listener].release(now, wait);
                bits &= bits - 1;
            }
        }
    }
}
