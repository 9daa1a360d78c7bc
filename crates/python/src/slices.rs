//! Runs a simulation in slices of virtual time, so that a caller can report progress and cancel it.
//!
//! Owns the length of a slice, which adapts to the wall clock. Results do not depend on this length.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mptcp_lab::world::{RunError, World};

/// Wall-clock time of a slice: minimum and maximum.
const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(40);
/// Length of the first slice, in virtual nanoseconds.
const FIRST: u64 = 1_000_000;

/// Advances `world` by `length`. After each slice, `go_on` gets the progress and returns whether to continue. Returns
/// whether the run reached its end.
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

/// The job and the progress of one thread of a batch.
#[derive(Default)]
pub(crate) struct UnderWay {
    /// Job number plus 1; 0 for no job.
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

    /// Records the progress. Returns false if the run must end.
    pub(crate) fn go_on(&self, reached: mptcp_clock::Duration, cancelled: &AtomicBool) -> bool {
        self.nanos.store(reached.as_nanos(), Ordering::Relaxed);
        !cancelled.load(Ordering::Relaxed)
    }

    /// The job and its virtual time in seconds; None without a job.
    pub(crate) fn now(&self) -> Option<(usize, f64)> {
        let job = self.job.load(Ordering::Relaxed).checked_sub(1)?;
        Some((job, Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64()))
    }
}
