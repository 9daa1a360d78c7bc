//! The state of all WiFi cells of a network, and its construction.
//!
//! Owns cells, contenders, radios and media by number; the other files of `wifi` work on them. A contender is
//! a station, access point or background station. A radio is one direction between a station and its access
//! point. Cells that sense each other share a medium (`medium`). Media merge when cells are coupled, and
//! never split.

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

/// The MAC's result for a queued frame of a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Done {
    /// The first frame was acknowledged.
    Sent { direction: DirectionId, service: Service },
    /// The first frame was given up.
    GivenUp { direction: DirectionId, service: Service },
    /// The discipline dropped the queued frame at `place`.
    Dropped { direction: DirectionId, place: usize },
}

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) parameters: CellParameters,
    pub(super) phy: Phy,
    /// Contender number of the access point.
    pub(super) access_point: u32,
    pub(super) medium: u32,
    /// Airtime of the cell's transmissions, including background stations.
    pub(super) airtime: Duration,
}

/// A contender: a station, an access point or a background station.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) cell: u32,
    pub(super) interface: Interface,
    /// Time at which the current first frame became first.
    pub(super) head_since: Instant,
    /// Traffic of a background station; `None` for other contenders.
    pub(super) neighbour: Option<Neighbour>,
    pub(super) backoff: Rng,
    pub(super) sense: Rng,
    pub(super) collision: Rng,
}

/// One direction between a station and its access point.
#[derive(Debug)]
pub(super) struct Radio {
    pub(super) direction: DirectionId,
    pub(super) contender: u32,
    pub(super) cell: u32,
    pub(super) rates: RateControl,
    pub(super) snr_db: f64,
    /// Log probability of receiving one bit, by rate.
    pub(super) log_success: Vec<f64>,
    pub(super) trials: Rng,
    pub(super) noise: Rng,
    pub(super) counters: MacCounters,
}

/// Cells that sense each other.
#[derive(Debug, Default)]
pub(super) struct Medium {
    pub(super) members: Vec<u32>,
    /// Background stations with on-off traffic.
    pub(super) neighbours: Vec<u32>,
    pub(super) on_air: Vec<Exchange>,
    /// Source number in the event queue.
    pub(super) source: u32,
    /// Finished exchanges, reused for their allocations.
    pub(super) spare: Vec<Exchange>,
    pub(super) starters: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Cells {
    pub(super) cells: Vec<Cell>,
    pub(super) contenders: Vec<Contender>,
    /// Indexed by contender; stored separately because every transmission iterates over them.
    pub(super) access: Vec<Access>,
    pub(super) radios: Vec<Radio>,
    pub(super) media: Vec<Medium>,
    pub(super) interference: Interference,
    /// Explicit couplings, by pairs of cells with the lower number first.
    pub(super) given: Vec<(u32, u32, Coupling)>,
    /// Coupling of each pair of cells.
    pub(super) couplings: Vec<Vec<Coupling>>,
    /// MAC results since the network last read them.
    pub(crate) done: Vec<Done>,
}

impl Cells {
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

    /// Adds a cell with random stream `stream`. Its medium has source number `source`.
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

    /// Adds a station to a cell: one radio per direction.
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

    /// Adds background stations to a cell.
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

    /// Sets the distance of both radios of a station.
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

    /// Whether a frame fits into the queue of the sender of a radio.
    pub(crate) fn admits(&self, radio: u32, bytes: u32) -> bool {
        let radio = &self.radios[radio as usize];
        let interface = &self.contenders[radio.contender as usize].interface;
        let phy_rate = self.cells[radio.cell as usize].phy.rates[radio.rates.current()].bits_per_second;
        let rate = Rate::new(phy_rate);
        interface.len() == 0 || interface.limit.admits(interface.len(), interface.bytes(), bytes, rate)
    }

    /// Queues a frame that fits. Returns the time at which its sender now plans to send.
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

    /// Applies a change that affects the medium.
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

    /// Drops all queued frames of a radio. A transmission in progress continues without effect.
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

    /// MAC counters of a radio.
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

    /// Airtime of all transmissions that the cell of a radio senses.
    pub(crate) fn sensed(&self, radio: u32) -> Duration {
        let cell = self.radios[radio as usize].cell;
        let others = self.cells.iter().enumerate();
        others.fold(Duration::ZERO, |sum, (other, from)| {
            sum + from.airtime.mul_f64(self.coupling(cell, other as u32).carrier_sense)
        })
    }

    /// Probability that the cell of radio `a` senses a transmission of radio `b`.
    pub(crate) fn carrier_sense(&self, a: u32, b: u32) -> f64 {
        let [a, b] = [a, b].map(|radio| self.radios[radio as usize].cell);
        self.coupling(a, b).carrier_sense
    }

    /// Number of contenders of a medium.
    pub(crate) fn members(&self, medium: u32) -> usize {
        self.media[medium as usize].members.len()
    }

    /// Source number of the medium of a radio.
    pub(crate) fn source_of(&self, radio: u32) -> u32 {
        let cell = self.radios[radio as usize].cell;
        self.media[self.cells[cell as usize].medium as usize].source
    }

    /// Source number and next event time of each medium.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (u32, Instant)> + '_ {
        self.media.iter().enumerate().map(|(index, medium)| (medium.source, self.next_event(index as u32)))
    }

    /// Source number and next event time of a medium.
    pub(crate) fn pending_of(&self, medium: u32) -> (u32, Instant) {
        (self.media[medium as usize].source, self.next_event(medium))
    }
}
