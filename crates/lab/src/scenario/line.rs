//! Conversions of one direction of a resolved link. `wiring` needs the parameters of the simulated network,
//! and `write` needs values of the file format.

use mptcp_clock::Duration;
use netsim::{Change, Jitter, Loss, Parameters, Rate, Spread};

use super::model::LinkDirection;
use super::recording::{Recorded, Recording};

impl LinkDirection {
    /// The parameters of the simulated direction.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters {
            rate: self.rate.and_then(Rate::new),
            delay: self.delay,
            jitter: self.jitter(self.jitter),
            loss: self.loss.clone(),
            queue: self.queue,
            discipline: self.discipline.clone(),
            trace: match self.recording.as_ref().map(|recording| &recording.what) {
                Some(Recorded::Opportunities(trace, _)) => Some(trace.clone()),
                _ => None,
            },
            mark: self.mark,
            duplicate: self.duplicate,
            corrupt: self.corrupt,
            batch: self.batch,
            longest: self.path_mtu.map(frame_of),
            up: self.up,
        }
    }

    /// Kind and parameters of a loss model from another crate; `None` for a built-in model.
    #[must_use]
    pub fn custom_loss(&self) -> Option<toml::Table> {
        match &self.loss {
            // `resolve` created the identity from the table.
            Loss::Custom(custom) => custom.identity().parse().ok(),
            _ => None,
        }
    }

    /// The direction in one run of this length. Its recording begins at the start position. `draw`, a random
    /// number from 0 to 1, selects a random position.
    pub(crate) fn played(&self, draw: f64, duration: Duration) -> Self {
        let play =
            |recording: &Recording| Recording { what: recording.played(draw, duration), ..recording.clone() };
        Self { recording: self.recording.as_ref().map(play), ..self.clone() }
    }

    /// The changes that the recording makes, with their times. Empty without a recording.
    pub(crate) fn recorded_changes(&self) -> impl Iterator<Item = (Duration, Change)> + '_ {
        let steps = match self.recording.as_ref().map(|recording| &recording.what) {
            Some(Recorded::Steps(steps)) => steps.as_slice(),
            _ => &[],
        };
        steps.iter().flat_map(|step| {
            let loss = |loss| if loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None };
            let changes = [
                step.rate.and_then(Rate::new).map(|rate| Change::Rate(Some(rate))),
                step.delay.map(Change::Delay),
                step.loss.map(|share| Change::Loss(loss(share))),
            ];
            changes.into_iter().flatten().map(|change| (step.at, change))
        })
    }

    /// The rate for the file format; `None` if a recording has the rate. An inner `None` is unlimited.
    pub(super) fn rate_said(&self) -> Option<Option<u64>> {
        let recorded = self.recording.as_ref().and_then(Recording::rate);
        recorded.is_none().then_some(self.rate)
    }

    /// Kind and parameters of the queue discipline; `None` for a drop-tail queue.
    #[must_use]
    pub fn discipline_table(&self) -> Option<toml::Table> {
        // `resolve` created the identity from the table.
        self.discipline.as_ref()?.identity().parse().ok()
    }

    /// Uniform jitter with this half-width, which reorders frames if this direction does; `None` for zero.
    #[must_use]
    pub fn jitter(&self, spread: Duration) -> Option<Jitter> {
        (!spread.is_zero()).then_some(Jitter { spread, shape: Spread::Uniform, reorder: self.reorder })
    }
}

/// Length of the frame of an IP packet, bytes.
pub(crate) fn frame_of(packet: u32) -> u32 {
    packet + 14
}
