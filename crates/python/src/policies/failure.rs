//! The first error of a policy written in Python, and the random seeds of such policies, for one run.
//!
//! The traits of policies return no errors. So an adapter stores the error here, and answers with a default until the
//! driver of the run stops. A run of the simulator uses one thread, and this state belongs to the thread. On real packets,
//! a `Watch` reads the error; without one, it is printed.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

thread_local! {
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// Whether this thread advances a run of the simulator.
    static IN_RUN: Cell<bool> = const { Cell::new(false) };
    /// Seed of the run, and the number of generators that policies have asked for.
    static SEED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// The watch on policies outside of the simulator, with the first error.
static WATCHED: Mutex<Option<Option<PyErr>>> = Mutex::new(None);

/// Stores an error of `policy`, unless one is stored. Outside of the simulator, a `Watch` gets it, or it is printed with
/// its traceback.
pub(super) fn store(policy: &str, error: PyErr) {
    Python::attach(|py| {
        // The command line shows the traceback of an exception with this attribute. Some types accept no attributes.
        let _ = error.value(py).setattr("mptcplab_policy", policy);
        if IN_RUN.get() || has_failed() {
            return;
        }
        match &mut *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(first) => {
                first.get_or_insert_with(|| error.clone_ref(py));
            }
            None => error.print(py),
        }
    });
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Whether a policy of this run has failed. Its methods are not called any more.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Collects the first error of a policy on real packets while it exists. One watch exists at a time in a process.
pub(crate) struct Watch;

impl Watch {
    /// Starts to watch.
    pub(crate) fn start() -> Self {
        *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(None);
        Self
    }

    /// Takes the error, if a policy has failed.
    pub(crate) fn take(&self) -> Option<PyErr> {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(Option::take)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The state of policies in one run, which moves to the thread of the run while the run advances.
pub(crate) struct RunState {
    failure: Option<PyErr>,
    seed: (u64, u64),
}

impl RunState {
    /// The state before a run with this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { failure: None, seed: (seed, 0) }
    }

    /// Calls `advance` as a part of the run.
    pub(crate) fn within<T>(&mut self, advance: impl FnOnce() -> T) -> T {
        FAILURE.set(self.failure.take());
        SEED.set(self.seed);
        IN_RUN.set(true);
        let result = advance();
        IN_RUN.set(false);
        self.failure = FAILURE.take();
        self.seed = SEED.get();
        result
    }

    /// Takes the error of the run.
    pub(crate) fn take_failure(&mut self) -> Option<PyErr> {
        self.failure.take()
    }
}

/// Two numbers for a random generator of a policy: the seed of the run, and a counter. Both are the same in each
/// repetition of a run.
#[pyfunction]
pub(crate) fn policy_seed() -> (u64, u64) {
    let (seed, count) = SEED.get();
    SEED.set((seed, count + 1));
    (seed, count)
}
