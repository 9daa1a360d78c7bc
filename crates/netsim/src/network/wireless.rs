//! The network's cells: what the driver may ask of them, and how their MACs move frames.

use mptcp_clock::{Duration, Instant};

use super::{Event, Fate, Line, Network, Source};
use crate::direction::{Direction, Service};
use crate::frame::{Cause, DirectionId, Frame, LinkId, NodeId};
use crate::parameters::{Change, Parameters};
use crate::topology::TopologyError;
use crate::wifi::{
    Background, CellId, CellParameters, Coupling, Done, Interference, MacCounters, StationParameters,
};

impl<P> Network<P> {
    /// A cell called `name` around `access_point`. It draws its chance from streams of (seed, name).
    ///
    /// # Errors
    /// An unknown node, a name already in use, or parameters that do not fit together.
    pub fn add_cell(
        &mut self,
        name: &str,
        access_point: NodeId,
        parameters: CellParameters,
    ) -> Result<CellId, TopologyError> {
        self.topology.check_node(access_point)?;
        if self.cells.iter().any(|(other, _)| other == name) {
            return Err(TopologyError::DuplicateCell(name.to_owned()));
        }
        if let Some(reason) = parameters.contradiction() {
            return Err(TopologyError::BadCell { name: name.to_owned(), reason });
        }
        let medium = self.cells.len() as u32;
        let source = self.add_source(Source::Medium(medium));
        let stream = self.root.child("cell").child(name);
        self.cells.push((name.to_owned(), access_point));
        let cell = self.air.add_cell(self.now, parameters, &stream, source);
        self.reschedule_air();
        Ok(CellId(cell))
    }

    /// A station called `name` in a cell: a link whose forward direction leads to the access point and
    /// has a queue of its own, while frames of the backward direction wait in the access point's one
    /// queue. All that a link can do, it can; [`Change::Rate`] has no meaning for it.
    ///
    /// # Errors
    /// An unknown node or cell, the access point itself, or a name already in use.
    pub fn add_station(
        &mut self,
        name: &str,
        station: NodeId,
        cell: CellId,
        parameters: StationParameters,
    ) -> Result<LinkId, TopologyError> {
        self.check_cell(cell)?;
        let link = self.topology.add_link(name, station, self.cells[cell.index()].1)?;
        let directions = [link.forward(), link.backward()];
        let stream = self.root.child(name).child("station");
        let radios = self.air.add_station(self.now, cell.0, &parameters, directions, &stream);
        for (id, radio) in directions.into_iter().zip(radios) {
            let wire = Parameters {
                delay: parameters.delay,
                loss: parameters.loss.clone(),
                queue: parameters.queue,
                up: parameters.up,
                ..Parameters::default()
            };
            let source = self.add_source(Source::Arrivals(id));
            let direction = Direction::wireless(id, wire, &self.stream_of(id));
            self.lines.push(Line {
                direction,
                pipes: Vec::new(),
                source,
                watch: None,
                radio: Some(radio),
                open: false,
                tap: None,
                stops: false,
            });
        }
        Ok(link)
    }

    /// What two cells are to each other, whatever [`Self::set_interference`] says.
    ///
    /// # Errors
    /// An unknown cell.
    pub fn couple(&mut self, a: CellId, b: CellId, coupling: Coupling) -> Result<(), TopologyError> {
        self.check_cell(a)?;
        self.check_cell(b)?;
        self.air.couple(a.0, b.0, coupling);
        self.reschedule_air();
        Ok(())
    }

    /// How all cells disturb each other that [`Self::couple`] was not told about.
    pub fn set_interference(&mut self, interference: Interference) {
        self.air.set_interference(interference);
        self.reschedule_air();
    }

    /// Stations called `name` that only occupy the air of a cell.
    ///
    /// # Errors
    /// An unknown cell, or a name already in use in it.
    pub fn add_background(
        &mut self,
        name: &str,
        cell: CellId,
        background: Background,
    ) -> Result<(), TopologyError> {
        self.check_cell(cell)?;
        let names = &mut self.backgrounds;
        if names.iter().any(|(in_cell, other)| *in_cell == cell && other == name) {
            return Err(TopologyError::DuplicateCell(name.to_owned()));
        }
        names.push((cell, name.to_owned()));
        let stream =
            self.root.child("cell").child(&self.cells[cell.index()].0).child("background").child(name);
        self.air.add_background(self.now, cell.0, &background, &stream);
        self.reschedule_air();
        Ok(())
    }

    /// What the MAC of a station's direction has done; `None` for a wire.
    #[must_use]
    pub fn mac(&self, direction: DirectionId) -> Option<MacCounters> {
        self.lines.get(direction.index())?.radio.map(|radio| self.air.counters(radio))
    }

    /// Air that all transmissions took as far as a station's direction senses them, preambles included, acknowledgements not;
    /// `None` for a wire.
    #[must_use]
    pub fn sensed_air(&self, direction: DirectionId) -> Option<Duration> {
        self.lines.get(direction.index())?.radio.map(|radio| self.air.sensed(radio))
    }

    /// The probability that the cell of one direction senses a transmission of another direction, from 0 to 1; 0 for a wire.
    #[must_use]
    pub fn carrier_sense(&self, direction: DirectionId, other: DirectionId) -> f64 {
        let radio = |direction: DirectionId| self.lines.get(direction.index())?.radio;
        radio(direction).zip(radio(other)).map_or(0.0, |(a, b)| self.air.carrier_sense(a, b))
    }

    fn check_cell(&self, cell: CellId) -> Result<(), TopologyError> {
        if cell.index() < self.cells.len() { Ok(()) } else { Err(TopologyError::UnknownCell(cell.index())) }
    }

    #[inline(never)]
    pub(super) fn enqueue_on_air(
        &mut self,
        now: Instant,
        direction: DirectionId,
        radio: u32,
        frame: Frame<P>,
    ) -> Fate {
        let line = &mut self.lines[direction.index()].direction;
        let refused = if !line.parameters().up {
            Some(Cause::Down)
        } else if !self.air.admits(radio, frame.bytes) {
            Some(Cause::QueueFull)
        } else {
            None
        };
        if let Some(cause) = refused {
            line.refuse(now, frame, cause, &mut self.drops);
            return Fate::Lost(cause);
        }
        let bytes = frame.bytes;
        line.hold(now, frame);
        let fires = self.air.enqueue(now, radio, bytes);
        let source = self.air.source_of(radio);
        if fires < self.event_queue.pending(source) {
            self.event_queue.set(source, fires);
        }
        Fate::Queued
    }

    #[inline(never)]
    pub(super) fn pass_air(&mut self, now: Instant, medium: u32) -> Option<Event<P>> {
        self.air.pass(now, medium);
        self.carry_out(now);
        let (source, at) = self.air.pending_of(medium);
        self.event_queue.set(source, at);
        None
    }

    pub(super) fn change_on_air(&mut self, now: Instant, radio: u32, change: &Change) {
        self.air.change(now, radio, change);
        self.carry_out(now);
        self.reschedule_air();
    }

    /// Does with the frames what the MACs have decided.
    fn carry_out(&mut self, now: Instant) {
        let mut done = std::mem::take(&mut self.air.done);
        for done in done.drain(..) {
            let drops = &mut self.drops;
            let direction = match done {
                Done::Sent { direction, service } => {
                    self.lines[direction.index()].direction.release(now, service, drops);
                    direction
                }
                Done::GivenUp { direction, service } => {
                    let line = &mut self.lines[direction.index()].direction;
                    line.discard(now, 0, Cause::Retries, service, drops);
                    direction
                }
                Done::Dropped { direction, place } => {
                    let line = &mut self.lines[direction.index()].direction;
                    line.discard(now, place, Cause::Discipline, Service::default(), drops);
                    direction
                }
            };
            self.reschedule(direction);
        }
        self.air.done = done;
    }

    fn reschedule_air(&mut self) {
        for (source, at) in self.air.pending() {
            self.event_queue.set(source, at);
        }
    }
}
