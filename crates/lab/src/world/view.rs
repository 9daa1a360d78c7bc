//! The network and its flows at an instant, for programs that draw a run while it advances.
//!
//! Owns the view. Reading changes no result: the same run without a viewer has the same samples.

use mptcp::SubflowId;
use mptcp::observe::PathLimit;
use mptcp_clock::{Duration, Instant};
use netsim::{DirectionId, Position};

use super::World;
use super::datagrams::is_datagram;
use crate::classes::flow_and_subflow;
use crate::measurements::{FlowSummary, Samples};

/// The type of a packet in a view of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// Data that is sent for the first time.
    Data,
    /// A segment without data.
    Acknowledgement,
    /// Data that was sent before: a retransmission, or a reinjection on another subflow.
    Again,
    /// A segment with SYN, FIN or RST.
    Control,
    /// A UDP datagram.
    Datagram,
}

/// A packet on a direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketView {
    /// Its position.
    pub position: Position,
    /// Its type.
    pub kind: PacketKind,
    /// The flow; `None` for traffic of no flow.
    pub flow: Option<usize>,
    /// The number of the subflow; `None` for traffic of no flow.
    pub subflow: Option<usize>,
}

/// The state of a direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionView {
    /// Bytes in the queue and in service.
    pub queued_bytes: u64,
    /// Frames in the queue and in service.
    pub queued_frames: u64,
    /// Current rate, bit/s; `None` if unlimited, or unknown for a station.
    pub rate: Option<u64>,
    /// Current one-way propagation delay.
    pub delay: Duration,
    /// Current mean rate of random losses, 0 to 1; `None` for a model from another crate.
    pub loss: Option<f64>,
    /// Whether the direction is up.
    pub up: bool,
    /// Frames that the queue, or the MAC after its last retry, dropped so far.
    pub queue_drops: u64,
    /// Frames lost at random so far.
    pub random_losses: u64,
    /// Bytes transmitted so far.
    pub sent_bytes: u64,
}

impl World {
    /// The time of the latest event.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.network.now()
    }

    /// The end of the run: its duration, or earlier if all files have arrived.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Processes the next event at or before the end of the run, with those of its host. Returns its time; `None` at
    /// the end.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_one(&mut self) -> Result<Option<Instant>, super::RunError> {
        let next = self.network.next_time().filter(|next| *next <= self.end);
        let Some(next) = next else { return Ok(None) };
        self.advance(next)?;
        Ok(Some(next))
    }

    /// At most `most` packets of a direction, the first to arrive first. `link` is the index in the scenario.
    #[must_use]
    pub fn packets(&self, now: Instant, link: usize, backward: bool, most: usize) -> Vec<PacketView> {
        let Some(direction) = self.direction(link, backward) else { return Vec::new() };
        let frames = self.network.frames_at(now, direction);
        let view = |(position, frame): (Position, &netsim::Frame<u32>)| {
            let whose = flow_and_subflow(frame.label);
            let kind = if is_datagram(frame.payload) {
                PacketKind::Datagram
            } else {
                let segment = self.pool.look(frame.payload);
                let flags = segment.flags;
                if flags.contains(mptcp_wire::Flags::SYN)
                    || flags.contains(mptcp_wire::Flags::FIN)
                    || flags.contains(mptcp_wire::Flags::RST)
                {
                    PacketKind::Control
                } else if segment.payload.is_empty() {
                    PacketKind::Acknowledgement
                } else if self.pool.is_again(frame.payload) {
                    PacketKind::Again
                } else {
                    PacketKind::Data
                }
            };
            PacketView {
                position,
                kind,
                flow: whose.map(|(flow, _)| flow),
                subflow: whose.map(|(_, sub)| sub),
            }
        };
        frames.take(most).map(view).collect()
    }

    /// The state of a direction. `None` if there is no such link.
    pub fn direction_view(&mut self, link: usize, backward: bool) -> Option<DirectionView> {
        let direction = self.direction(link, backward)?;
        let counters = self.network.counters(direction);
        let parameters = self.network.parameters(direction);
        Some(DirectionView {
            queued_bytes: counters.backlog_bytes,
            queued_frames: counters.backlog_frames,
            rate: parameters.rate.map(netsim::Rate::bits_per_second),
            delay: parameters.delay,
            loss: parameters.loss.mean(),
            up: parameters.up,
            queue_drops: counters.dropped_frames + counters.retry_drops,
            random_losses: counters.lost_frames,
            sent_bytes: counters.sent_bytes,
        })
    }

    fn direction(&self, link: usize, backward: bool) -> Option<DirectionId> {
        let link = self.wiring.links().get(link)?;
        Some(if backward { link.backward() } else { link.forward() })
    }

    /// The samples so far, without those that [`Self::take_samples`] removed.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        self.sampler.samples()
    }

    /// Removes and returns the samples since the last call, so that a long run needs no more memory than a short one.
    /// [`Self::finish`] returns only later ones.
    pub fn take_samples(&mut self) -> Samples {
        self.sampler.take_samples()
    }

    /// Names that the columns `path` of samples and events index.
    #[must_use]
    pub fn path_names(&self) -> &[String] {
        self.sampler.path_names()
    }

    /// Names that the column `host` of events indexes.
    #[must_use]
    pub fn host_names(&self) -> Vec<String> {
        self.scenario.node_names()
    }

    /// Removes and returns the recorded events since the last call. Empty without [`Self::observe`].
    pub fn take_events(&mut self) -> mptcp::observe::Columns {
        self.recorder.as_ref().map(|recorder| recorder.take()).unwrap_or_default()
    }

    /// Current limits of the subflows of a flow's sender. Empty without [`Self::observe`].
    #[must_use]
    pub fn limits_now(&self, flow: usize) -> Vec<(SubflowId, PathLimit)> {
        let Some(app) = self.apps.get(flow) else { return Vec::new() };
        app.connection_of_sender(&self.hosts).map_or_else(Vec::new, mptcp::Connection::limits_now)
    }

    /// The summaries of all flows so far, as [`Self::finish`] would return them if the run ended at `now`.
    pub fn flows_so_far(&mut self, now: Instant) -> Vec<FlowSummary> {
        let of = |app| self.sampler.summary(now, &self.scenario, &self.hosts, app);
        let mut flows: Vec<FlowSummary> = self.apps.iter().map(of).collect();
        if self.recorder.is_some() {
            self.add_limits(now, &mut flows);
        }
        flows
    }
}
