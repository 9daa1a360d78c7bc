//! All cells of a network and all that send in them.
//!
//! Owns them by number. Cells that hear each other share a medium (`medium`); a medium grows when
//! cells are coupled and never splits.

use mptcp_clock::{Duration, Instant, Rng};

use super::access::Access;
use super::background::Neighbour;
use super::exchange::{Exchange, NONE};
use super::interface::{Entry, Interface};
use super::interference::Interference;
use super::parameters::{Background, CellParameters, Coupling, Discipline, MacCounters, StationParameters};
use super::phy::Phy;
use super::propagation::{log_success, snr_db};
use super::rate_control::RateControl;
use crate::direction::Service;
use crate::frame::DirectionId;
use crate::parameters::Change;
use crate::queue_limit::QueueLimit;
use crate::rate::Rate;

/// What the MAC has done with a frame that waited in a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Done {
    /// It brought the first one over.
    Sent { direction: DirectionId, service: Service },
    /// It gave the first one up.
    GivenUp { direction: DirectionId, service: Service },
    /// Its discipline dropped the one at a place among those that wait.
    Dropped { direction: DirectionId, place: usize },
}

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) parameters: CellParameters,
    pub(super) phy: Phy,
    /// The access point's contender.
    pub(super) access_point: u32,
    pub(super) medium: u32,
    /// Air that its transmissions took, those of the background too.
    pub(super) airtime: Duration,
}

/// Something that sends: a station, an access point or a station of the background.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) cell: u32,
    pub(super) interface: Interface,
    /// When the frame now at the head came there.
    pub(super) head_since: Instant,
    /// What it sends when nothing waits.
    pub(super) neighbour: Option<Neighbour>,
    pub(super) backoff: Rng,
    pub(super) sense: Rng,
    pub(super) collision: Rng,
}

/// One way between a station and its access point.
#[derive(Debug)]
pub(super) struct Radio {
    pub(super) direction: DirectionId,
    pub(super) contender: u32,
    pub(super) cell: u32,
    pub(super) rates: RateControl,
    pub(super) snr_db: f64,
    /// By rate, the logarithm of the probability that one bit is read.
    pub(super) log_success: Vec<f64>,
    pub(super) trials: Rng,
    pub(super) noise: Rng,
    pub(super) counters: MacCounters,
}

/// Cells that hear each other.
#[derive(Debug, Default)]
pub(super) struct Medium {
    pub(super) members: Vec<u32>,
    /// Those of the members that fall silent and talk again.
    pub(super) neighbours: Vec<u32>,
    pub(super) on_air: Vec<Exchange>,
    /// The event queue's number for it.
    pub(super) source: u32,
    /// Exchanges that are over, kept for the memory they own.
    pub(super) spare: Vec<Exchange>,
    pub(super) starters: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Air {
    pub(super) cells: Vec<Cell>,
    pub(super) contenders: Vec<Contender>,
    /// By contender; apart from them because every transmission walks through these.
    pub(super) access: Vec<Access>,
    pub(super) radios: Vec<Radio>,
    pub(super) media: Vec<Medium>,
    pub(super) interference: Interference,
    /// Couplings that were given, by cells, the lower first.
    pub(super) given: Vec<(u32, u32, Coupling)>,
    /// The coupling of each pair of cells.
    pub(super) couplings: Vec<Vec<Coupling>>,
    /// What is done with frames since the network last looked.
    pub(crate) done: Vec<Done>,
}

impl Air {
    pub(crate) fn new() -> Self {
        Self {
            cells: Vec::new(),
            contenders: Vec::new(),
            access: Vec::new(),
            radios: Vec::new(),
            media: Vec::new(),
            interference: Interference::Ideal,
            given: Vec::new(),
            couplings: Vec::new(),
            done: Vec::new(),
        }
    }

    /// A cell that draws from `stream`, with a medium whose number in the event queue is `source`.
    pub(crate) fn add_cell(
        &mut self,
        now: Instant,
        parameters: CellParameters,
        stream: &Rng,
        source: u32,
    ) -> u32 {
        let (cell, medium) = (self.cells.len() as u32, self.media.len() as u32);
        self.media.push(Medium { source, ..Medium::default() });
        let interface = Interface::new(parameters.queue, parameters.discipline, parameters.ring);
        let phy = Phy::new(&parameters);
        let access_point = self.contenders.len() as u32;
        self.cells.push(Cell { parameters, phy, access_point, medium, airtime: Duration::ZERO });
        self.add_contender(now, cell, interface, &stream.child("access point"));
        self.recouple();
        cell
    }

    /// A station of a cell: its radios to the access point and back.
    pub(crate) fn add_station(
        &mut self,
        now: Instant,
        cell: u32,
        parameters: &StationParameters,
        directions: [DirectionId; 2],
        stream: &Rng,
    ) -> [u32; 2] {
        let interface = Interface::new(parameters.queue, parameters.discipline, parameters.ring);
        let station = self.add_contender(now, cell, interface, stream);
        let senders = [station, self.cells[cell as usize].access_point];
        let first = self.radios.len() as u32;
        for (direction, contender) in directions.into_iter().zip(senders) {
            let side = if contender == station { "to access point" } else { "from access point" };
            let [trials, noise] = ["trials", "noise"].map(|name| stream.child(side).child(name));
            self.radios.push(Radio {
                direction,
                contender,
                cell,
                rates: RateControl::new(parameters.rate, &self.cells[cell as usize].phy),
                snr_db: 0.0,
                log_success: Vec::new(),
                trials,
                noise,
                counters: MacCounters::default(),
            });
        }
        self.set_distance(first, parameters.distance);
        [first, first + 1]
    }

    /// Stations that only occupy the air of a cell.
    pub(crate) fn add_background(&mut self, now: Instant, cell: u32, background: &Background, stream: &Rng) {
        for number in 0..background.stations {
            let stream = stream.child(&number.to_string());
            let interface = Interface::new(QueueLimit::Unlimited, Discipline::DropTail, 1);
            let contender = self.add_contender(now, cell, interface, &stream);
            let owner = &self.cells[cell as usize];
            let rate = owner.phy.rate_at_most(background.rate);
            let activity = background.activity;
            let turns = stream.child("activity");
            let neighbour = Neighbour::new(background.frame_bytes, rate, activity, now, turns);
            let sender = &mut self.contenders[contender as usize];
            if neighbour.active {
                self.access[contender as usize].want(now, &mut sender.backoff);
            }
            sender.neighbour = Some(neighbour);
            self.media[owner.medium as usize].neighbours.push(contender);
        }
    }

    fn add_contender(&mut self, now: Instant, cell: u32, interface: Interface, stream: &Rng) -> u32 {
        let contender = self.contenders.len() as u32;
        let owner = &self.cells[cell as usize];
        self.access.push(Access::new(&owner.parameters, &owner.phy, now));
        let [backoff, sense, collision] = ["backoff", "sense", "collision"].map(|name| stream.child(name));
        let head_since = Instant::ZERO;
        let neighbour = None;
        self.contenders.push(Contender { cell, interface, head_since, neighbour, backoff, sense, collision });
        self.media[owner.medium as usize].members.push(contender);
        contender
    }

    /// Sets the distance of both radios of a station, by one of them.
    fn set_distance(&mut self, radio: u32, metres: f64) {
        for radio in [radio, radio ^ 1] {
            let radio = &mut self.radios[radio as usize];
            let cell = &self.cells[radio.cell as usize];
            radio.snr_db = snr_db(&cell.parameters, metres);
            radio.log_success.clear();
            let thresholds = cell.phy.rates.iter().map(|rate| rate.threshold_db);
            radio.log_success.extend(thresholds.map(|threshold| log_success(radio.snr_db, threshold)));
        }
    }

    /// Whether a frame fits into the queue of a radio's sender.
    pub(crate) fn admits(&self, radio: u32, bytes: u32) -> bool {
        let radio = &self.radios[radio as usize];
        let interface = &self.contenders[radio.contender as usize].interface;
        let phy_rate = self.cells[radio.cell as usize].phy.rates[radio.rates.current()].bits_per_second;
        let rate = Rate::new(phy_rate);
        interface.len() == 0 || interface.limit.admits(interface.len(), interface.bytes(), bytes, rate)
    }

    /// Queues a frame that fits. Returns when its sender now means to send.
    pub(crate) fn enqueue(&mut self, now: Instant, radio: u32, bytes: u32) -> Instant {
        let contender = self.radios[radio as usize].contender;
        let sender = &mut self.contenders[contender as usize];
        if sender.interface.len() == 0 {
            sender.head_since = now;
        }
        sender.interface.push(Entry { radio, bytes, queued_at: now, attempts: 0, acknowledged: None });
        self.refill(now, contender);
        let (access, sender) =
            (&mut self.access[contender as usize], &mut self.contenders[contender as usize]);
        access.want(now, &mut sender.backoff);
        access.fires
    }

    /// Takes note of a change that concerns the air.
    pub(crate) fn change(&mut self, now: Instant, radio: u32, change: &Change) {
        let index = radio as usize;
        let contender = self.radios[index].contender;
        match *change {
            Change::Queue(limit) => self.contenders[contender as usize].interface.limit = limit,
            Change::StationRate(rate) => {
                let phy = &self.cells[self.radios[index].cell as usize].phy;
                self.radios[index].rates = RateControl::new(rate, phy);
            }
            Change::Distance(metres) => self.set_distance(radio, metres),
            Change::Up(false) => self.flush(now, radio, contender),
            _ => {}
        }
    }

    /// Forgets all that waits for a radio. What is on the air goes on, for nothing.
    fn flush(&mut self, now: Instant, radio: u32, contender: u32) {
        let sender = &mut self.contenders[contender as usize];
        let was_head = sender.interface.head().is_some_and(|head| head.radio == radio);
        sender.interface.flush(radio);
        if was_head {
            sender.head_since = now;
        }
        let medium = self.cells[sender.cell as usize].medium;
        for exchange in &mut self.media[medium as usize].on_air {
            if exchange.radio == radio {
                exchange.radio = NONE;
            }
        }
        if sender.interface.len() == 0 {
            self.access[contender as usize].rest();
        }
        self.refill(now, contender);
    }

    /// The MAC's counters of a radio.
    pub(crate) fn counters(&self, number: u32) -> MacCounters {
        let radio = &self.radios[number as usize];
        let phy = &self.cells[radio.cell as usize].phy;
        MacCounters {
            phy_rate: phy.rates[radio.rates.current()].bits_per_second,
            snr_db: radio.snr_db,
            backlog: self.contenders[radio.contender as usize].interface.waiting(number) as u64,
            ..radio.counters
        }
    }

    /// Air that all transmissions took as far as the cell of a radio senses them.
    pub(crate) fn sensed(&self, radio: u32) -> Duration {
        let cell = self.radios[radio as usize].cell;
        let others = self.cells.iter().enumerate();
        others.fold(Duration::ZERO, |sum, (other, from)| {
            sum + from.airtime.mul_f64(self.coupling(cell, other as u32).carrier_sense)
        })
    }

    /// The probability that the cell of radio `a` senses a transmission of radio `b`.
    pub(crate) fn carrier_sense(&self, a: u32, b: u32) -> f64 {
        let [a, b] = [a, b].map(|radio| self.radios[radio as usize].cell);
        self.coupling(a, b).carrier_sense
    }

    /// How many contend on a medium.
    pub(crate) fn members(&self, medium: u32) -> usize {
        self.media[medium as usize].members.len()
    }

    /// The event queue number of a radio's medium.
    pub(crate) fn source_of(&self, radio: u32) -> u32 {
        let cell = self.radios[radio as usize].cell;
        self.media[self.cells[cell as usize].medium as usize].source
    }

    /// The numbers of the media in the event queue, and when each next wants attention.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (u32, Instant)> + '_ {
        self.media.iter().enumerate().map(|(index, medium)| (medium.source, self.next_event(index as u32)))
    }

    /// The event queue number of a medium and when it next wants attention.
    pub(crate) fn pending_of(&self, medium: u32) -> (u32, Instant) {
        (self.media[medium as usize].source, self.next_event(medium))
    }
}
