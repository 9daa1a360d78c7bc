//! A run in slices of virtual time: between two of them somebody may ask how far it is, and end it.
//!
//! Owns how long a slice is. It follows the wall clock, and nothing that is measured depends on it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mptcp_lab::world::{RunError, World};

/// Wall clock that a slice should take, from and to.
const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(40);
/// Virtual nanoseconds of the first one.
const FIRST: u64 = 1_000_000;

/// Lets `world` run for `length`; `go_on` hears after each slice how far it is, and says whether it goes on. Gives whether it
/// came to the end.
///
/// # Errors
/// As [`World::advance`].
pub(crate) fn advance(
    world: &mut World,
    length: mptcp_clock::Duration,
    mut go_on: impl FnMut(mptcp_clock::Duration) -> bool,
) -> Result<bool, RunError> {
    let end = length.as_nanos();
    let (mut reached, mut slice) = (0_u64, FIRST);
    while reached < end {
        let start = Instant::now();
        reached = reached.saturating_add(slice).min(end);
        world.advance(mptcp_clock::Instant::from_nanos(reached))?;
        let took = start.elapsed();
        if took < SHORT {
            slice = slice.saturating_mul(2);
        } else if took > LONG {
            slice = (slice / 2).max(1);
        }
        if !go_on(mptcp_clock::Duration::from_nanos(reached)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a worker is at.
#[derive(Default)]
pub(crate) struct UnderWay {
    /// The number of its job and one; 0 for none.
    job: AtomicUsize,
    nanos: AtomicU64,
}

impl UnderWay {
    pub(crate) fn begin(&self, job: usize) {
        self.nanos.store(0, Ordering::Relaxed);
        self.job.store(job + 1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.job.store(0, Ordering::Relaxed);
    }

    /// Notes how far the run is; false where it shall end.
    pub(crate) fn go_on(&self, reached: mptcp_clock::Duration, cancelled: &AtomicBool) -> bool {
        self.nanos.store(reached.as_nanos(), Ordering::Relaxed);
        !cancelled.load(Ordering::Relaxed)
    }

    /// The job, and virtual seconds that it has behind it.
    pub(crate) fn now(&self) -> Option<(usize, f64)> {
        let job = self.job.load(Ordering::Relaxed).checked_sub(1)?;
        Some((job, Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64()))
    }
}
