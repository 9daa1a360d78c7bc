//! WiFi of a resolved scenario: cells, stations, background stations and coupling of cells.
//!
//! Owns two conversions. `wiring` needs parameters of the simulated network, to build it. `write` needs
//! tables of the file format, to write the scenario as TOML.

use netsim::Loss;
use netsim::{Activity, CellParameters, Channel, StationParameters, StationRate};

use super::file::{BackgroundTable, CellTable, CouplingTable, StationTable};
use super::model::{Background, Cell, Coupling, Link};
use super::names::{Discipline, Interference, Slot, Standard};
use super::units::{Distance, LineRate, Percent, Size, Span};
use super::written::percent;

impl Cell {
    /// The parameters of the simulated cell.
    #[must_use]
    pub fn parameters(&self) -> CellParameters {
        let standard = match self.standard {
            Standard::B => netsim::Standard::B,
            Standard::A => netsim::Standard::A,
            Standard::G => netsim::Standard::G,
            Standard::N => netsim::Standard::N,
        };
        CellParameters {
            channel: Channel(self.channel as u8),
            short_slot: self.slot == Slot::Short,
            protection: self.protection,
            wpa2: self.wpa2,
            streams: self.streams as u8,
            short_guard: self.short_guard,
            aggregation: self.aggregation.then(netsim::Aggregation::default),
            queue: self.queue,
            discipline: self.discipline.parameters(),
            retry_limit: Some(self.retry_limit),
            cw_min: self.cw_min,
            cw_max: self.cw_max,
            ..CellParameters::ideal(standard)
        }
    }
}

impl Link {
    /// The parameters of the simulated station, if the link is a station.
    #[must_use]
    pub fn station_parameters(&self) -> Option<StationParameters> {
        let station = self.station.as_ref()?;
        Some(StationParameters {
            rate: station.rate.map_or(StationRate::Auto, StationRate::Fixed),
            distance: station.distance,
            queue: self.forward.queue,
            discipline: station.discipline.parameters(),
            ring: station.ring,
            loss: self.forward.loss.clone(),
            delay: self.forward.delay,
            up: self.forward.up,
        })
    }
}

impl Background {
    /// The parameters of the simulated background stations; `best` is the highest rate of the cell.
    #[must_use]
    pub fn parameters(&self, best: u64) -> netsim::Background {
        netsim::Background {
            stations: self.stations,
            frame_bytes: self.frame + 14,
            rate: self.rate.unwrap_or(best),
            activity: self.activity.map_or(Activity::Saturated, |(on, off)| Activity::OnOff { on, off }),
        }
    }
}

impl Coupling {
    /// The parameters of the simulated coupling.
    #[must_use]
    pub fn parameters(&self) -> netsim::Coupling {
        netsim::Coupling { carrier_sense: self.carrier_sense, collision: self.collision }
    }
}

impl Interference {
    /// The parameters of the simulated interference.
    #[must_use]
    pub fn parameters(self) -> netsim::Interference {
        match self {
            Self::Ideal => netsim::Interference::Ideal,
            Self::Ucl => netsim::Interference::Ucl,
        }
    }
}

impl Discipline {
    /// The parameters of the simulated drop policy.
    #[must_use]
    pub fn parameters(self) -> netsim::Discipline {
        match self {
            Self::Droptail => netsim::Discipline::DropTail,
            // RFC 8289 section 4.3.
            Self::Codel => netsim::Discipline::CoDel {
                target: mptcp_clock::Duration::from_millis(5),
                interval: mptcp_clock::Duration::from_millis(100),
            },
        }
    }
}

pub(super) fn cell(cell: &Cell) -> CellTable {
    let n = cell.standard == Standard::N;
    CellTable {
        standard: Some(cell.standard),
        channel: Some(cell.channel),
        access_point: Some(cell.access_point.clone()),
        slot: Some(cell.slot),
        protection: Some(cell.protection),
        wpa2: Some(cell.wpa2),
        streams: n.then_some(cell.streams),
        short_guard: n.then_some(cell.short_guard),
        aggregation: n.then_some(cell.aggregation),
        queue: Some(cell.queue.into()),
        discipline: Some(cell.discipline),
        retry_limit: Some(cell.retry_limit),
        cw_min: Some(cell.cw_min),
        cw_max: Some(cell.cw_max),
    }
}

pub(super) fn station(link: &Link) -> Option<StationTable> {
    let station = link.station.as_ref()?;
    let line = &link.forward;
    Some(StationTable {
        host: Some(link.ends[0].clone()),
        cell: Some(station.cell.clone()),
        rate: station.rate.map(|rate| LineRate(Some(rate))),
        distance: Some(Distance(station.distance)),
        queue: Some(line.queue.into()),
        discipline: Some(station.discipline),
        ring: Some(station.ring),
        loss: Some(match line.loss {
            Loss::Bernoulli(p) => percent(p),
            // Stations have no other loss models.
            Loss::None | Loss::GilbertElliott(_) | Loss::Custom(_) => Percent(0.0),
        }),
        delay: Some(Span(line.delay)),
        mtu: Some(link.mtu),
        up: Some(line.up),
    })
}

pub(super) fn background(background: &Background) -> BackgroundTable {
    BackgroundTable {
        cell: Some(background.cell.clone()),
        stations: Some(background.stations),
        frame: Some(Size(u64::from(background.frame))),
        rate: background.rate.map(|rate| LineRate(Some(rate))),
        on: background.activity.map(|(on, _)| Span(on)),
        off: background.activity.map(|(_, off)| Span(off)),
    }
}

pub(super) fn coupling(coupling: &Coupling) -> CouplingTable {
    CouplingTable {
        cells: Some(coupling.cells.to_vec()),
        carrier_sense: Some(percent(coupling.carrier_sense)),
        collision: Some(percent(coupling.collision)),
    }
}
