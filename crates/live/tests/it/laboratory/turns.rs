//! Schedules tests: a few run in parallel; tests that measure this process or stalls of milliseconds run alone.
//!
//! Owns the schedule. Never looks at the content of a test.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// Maximum number of parallel tests on any machine: each has several threads and the deadlines of a protocol.
const BESIDE: usize = 4;

struct Turns {
    running: usize,
    /// Tests that wait to run alone; later tests wait behind them.
    waiting_alone: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { running: 0, waiting_alone: 0 });
static CHANGED: Condvar = Condvar::new();

fn turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The permission to run, alone or in parallel; dropping it frees the place.
struct Turn(usize);

impl Turn {
    fn beside_others() -> Self {
        let wait = |turns: &mut Turns| turns.waiting_alone > 0 || turns.running >= BESIDE;
        let mut turns = CHANGED.wait_while(turns(), wait).unwrap_or_else(PoisonError::into_inner);
        turns.running += 1;
        Self(1)
    }

    fn alone() -> Self {
        let mut waiting = turns();
        waiting.waiting_alone += 1;
        let mut turns =
            CHANGED.wait_while(waiting, |turns| turns.running > 0).unwrap_or_else(PoisonError::into_inner);
        turns.waiting_alone -= 1;
        turns.running = BESIDE;
        Self(BESIDE)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        turns().running -= self.0;
        CHANGED.notify_all();
    }
}

/// Runs a test on a thread and fails if it exceeds `limit`, because blocked calls would hang forever. The
/// time starts from its turn.
pub fn within(limit: Duration, test: impl FnOnce() + Send + 'static) {
    in_turn(Turn::beside_others(), limit, test);
}

/// [`within`] while no other test of this process runs.
pub fn alone(limit: Duration, test: impl FnOnce() + Send + 'static) {
    in_turn(Turn::alone(), limit, test);
}

fn in_turn(_turn: Turn, limit: Duration, test: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match wait.recv_timeout(limit) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("not done after {limit:?}"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}
