//! Background stations, which only occupy the medium: their frames have no receiver. They model the load of
//! other networks, and are called neighbours here. Owns their on and off periods.

use mptcp_clock::{Duration, Instant, Rng, math};

use super::parameters::Activity;

#[derive(Debug)]
pub(crate) struct Neighbour {
    /// As in [`crate::Frame::bytes`].
    pub(crate) bytes: u32,
    pub(crate) rate: usize,
    /// Whether the station is in an on period.
    pub(crate) active: bool,
    /// Failed attempts of the current frame.
    pub(crate) attempts: u32,
    /// End of the current period; [`Instant::FAR_FUTURE`] for a saturated station.
    pub(crate) turns: Instant,
    activity: Activity,
    stream: Rng,
}

impl Neighbour {
    pub(crate) fn new(bytes: u32, rate: usize, activity: Activity, now: Instant, stream: Rng) -> Self {
        let active = activity == Activity::Saturated;
        let turns = Instant::FAR_FUTURE;
        let mut neighbour = Self { bytes, rate, active, attempts: 0, turns, activity, stream };
        neighbour.wait(now);
        neighbour
    }

    /// Switches between on and off.
    pub(crate) fn turn(&mut self, now: Instant) {
        self.active = !self.active;
        self.wait(now);
    }

    fn wait(&mut self, now: Instant) {
        if let Activity::OnOff { on, off } = self.activity {
            let mean = if self.active { on } else { off };
            let factor = -math::ln(1.0 - self.stream.unit());
            self.turns = now + mean.mul_f64(factor).max(Duration::from_nanos(1));
        }
    }
}
