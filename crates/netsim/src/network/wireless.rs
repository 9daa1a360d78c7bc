//! WiFi cells: the interface of the driver, and the transfer of frames between MACs and directions.
//!
//! A cell is an access point with its channel. A station is a host's link to the access point. The MACs in
//! `wifi` decide when a frame is transmitted; this module moves the frames. Never computes airtime.

use mptcp_clock::{Duration, Instant};

use super::{DirectionEntry, Event, Network, SendOutcome, Source};
use crate::direction::{Direction, Service};
use crate::frame::{Cause, DirectionId, Frame, LinkId, NodeId};
use crate::parameters::{Change, Parameters};
use crate::topology::TopologyError;
use crate::wifi::{
    Background, CellId, CellParameters, Coupling, Done, Interference, MacCounters, StationParameters,
};

impl<P> Network<P> {
    /// Adds a cell called `name` around `access_point`. Its random streams derive from seed and name.
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
        let cell = self.wifi.add_cell(self.now, parameters, &stream, source);
        self.reschedule_air();
        Ok(CellId(cell))
    }

    /// Adds a station called `name` to a cell. A station is a link whose forward direction leads to the
    /// access point and has its own queue. Frames of the backward direction share the queue of the access
    /// point. [`Change::Rate`] has no effect on it.
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
        let radios = self.wifi.add_station(self.now, cell.0, &parameters, directions, &stream);
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
            self.lines.push(DirectionEntry {
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

    /// Sets the coupling of two cells, which overrides [`Self::set_interference`].
    ///
    /// # Errors
    /// An unknown cell.
    pub fn couple(&mut self, a: CellId, b: CellId, coupling: Coupling) -> Result<(), TopologyError> {
        self.check_cell(a)?;
        self.check_cell(b)?;
        self.wifi.couple(a.0, b.0, coupling);
        self.reschedule_air();
        Ok(())
    }

    /// Sets the interference model for all cells without an explicit coupling.
    pub fn set_interference(&mut self, interference: Interference) {
        self.wifi.set_interference(interference);
        self.reschedule_air();
    }

    /// Adds background stations called `name`, which only occupy the medium of a cell.
    ///
    /// # Errors
    /// An unknown cell, or a name already in use in the cell.
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
        self.wifi.add_background(self.now, cell.0, &background, &stream);
        self.reschedule_air();
        Ok(())
    }

    /// MAC counters of the direction of a station; `None` for a wire.
    #[must_use]
    pub fn mac(&self, direction: DirectionId) -> Option<MacCounters> {
        self.lines.get(direction.index())?.radio.map(|radio| self.wifi.counters(radio))
    }

    /// Airtime of all transmissions that a station's direction senses, with preambles and without
    /// acknowledgements; `None` for a wire.
    #[must_use]
    pub fn sensed_airtime(&self, direction: DirectionId) -> Option<Duration> {
        self.lines.get(direction.index())?.radio.map(|radio| self.wifi.sensed(radio))
    }

    /// Probability that the cell of one direction senses a transmission of the other direction, 0 to 1; 0 for
    /// a wire.
    #[must_use]
    pub fn carrier_sense(&self, direction: DirectionId, other: DirectionId) -> f64 {
        let radio = |direction: DirectionId| self.lines.get(direction.index())?.radio;
        radio(direction).zip(radio(other)).map_or(0.0, |(a, b)| self.wifi.carrier_sense(a, b))
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
    ) -> SendOutcome {
        let line = &mut self.lines[direction.index()].direction;
        let refused = if !line.parameters().up {
            Some(Cause::Down)
        } else if !self.wifi.admits(radio, frame.bytes) {
            Some(Cause::QueueFull)
        } else {
            None
        };
        if let Some(cause) = refused {
            line.refuse(now, frame, cause, &mut self.drops);
            return SendOutcome::Lost(cause);
        }
        let bytes = frame.bytes;
        line.hold(now, frame);
        let fires = self.wifi.enqueue(now, radio, bytes);
        let source = self.wifi.source_of(radio);
        if fires < self.event_queue.pending(source) {
            self.event_queue.set(source, fires);
        }
        SendOutcome::Queued
    }

    #[inline(never)]
    pub(super) fn pass_air(&mut self, now: Instant, medium: u32) -> Option<Event<P>> {
        self.wifi.pass(now, medium);
        self.carry_out(now);
        let (source, at) = self.wifi.pending_of(medium);
        self.event_queue.set(source, at);
        None
    }

    pub(super) fn change_on_air(&mut self, now: Instant, radio: u32, change: &Change) {
        self.wifi.change(now, radio, change);
        self.carry_out(now);
        self.reschedule_air();
    }

    /// Applies the decisions of the MACs to the frames.
    fn carry_out(&mut self, now: Instant) {
        let mut done = std::mem::take(&mut self.wifi.done);
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
        self.wifi.done = done;
    }

    fn reschedule_air(&mut self) {
        for (source, at) in self.wifi.pending() {
            self.event_queue.set(source, at);
        }
    }
}
