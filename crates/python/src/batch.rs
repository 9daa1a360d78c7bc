//! Runs many simulations on several threads, for `mptcplab.run` and sweeps.
//!
//! Owns the threads and the order of jobs. The caller takes each result as soon as the run has ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::events::{Trace, filter};
use crate::results::{Results, measure};
use crate::run_failure::RunFailure;
use crate::scenario::Scenario;
use crate::slices::UnderWay;

/// Maximum number of threads.
const MAX_WORKERS: usize = 1024;

type Outcome = (usize, Result<Results, RunFailure>);

/// Runs jobs on `workers` threads. Results arrive in order of completion; the number of threads never changes their
/// content.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Batch {
    outcomes: Mutex<Receiver<Outcome>>,
    cancelled: Arc<AtomicBool>,
    under_way: Arc<[UnderWay]>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

#[pymethods]
impl Batch {
    /// Starts the runs. A job is a scenario, a seed, and an event filter as for `run`.
    #[new]
    fn new(jobs: Vec<(Py<Scenario>, u64, Option<Trace>)>, workers: usize) -> PyResult<Self> {
        let job = |(scenario, seed, trace): (Py<Scenario>, u64, Option<Trace>)| {
            Ok((scenario.get().inner.clone(), seed, filter(trace)?))
        };
        let jobs = Arc::new(jobs.into_iter().map(job).collect::<PyResult<Vec<_>>>()?);
        let (send, outcomes) = mpsc::channel();
        let next = Arc::new(AtomicUsize::new(0));
        let cancelled = Arc::new(AtomicBool::new(false));
        let workers = workers.max(1).min(jobs.len().max(1)).min(MAX_WORKERS);
        let under_way: Arc<[UnderWay]> = (0..workers).map(|_| UnderWay::default()).collect();
        let threads = (0..workers).map(|worker| {
            let (jobs, next, send, cancelled) = (jobs.clone(), next.clone(), send.clone(), cancelled.clone());
            let under_way = under_way.clone();
            std::thread::Builder::new().name("mptcplab-run".to_owned()).spawn(move || {
                while !cancelled.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((scenario, seed, trace)) = jobs.get(at) else { return };
                    let own = &under_way[worker];
                    own.begin(at);
                    let go_on = |reached| own.go_on(reached, &cancelled);
                    // The thread keeps its state of the interpreter for the whole run, so that policies written in
                    // Python do not create one for each call.
                    let outcome =
                        Python::attach(|py| py.detach(|| measure(scenario, *seed, None, *trace, go_on)));
                    own.end();
                    let Some(outcome) = outcome.transpose() else {
                        return;
                    };
                    if send.send((at, outcome)).is_err() {
                        return;
                    }
                }
            })
        });
        // If the system refuses more threads, the existing ones do the work.
        let threads: Vec<_> = threads.map_while(Result::ok).collect();
        if threads.is_empty() {
            return Err(PyRuntimeError::new_err("cannot start a thread"));
        }
        Ok(Self { workers: Mutex::new(threads), outcomes: Mutex::new(outcomes), cancelled, under_way })
    }

    /// The next finished job: its number and results. None if no job finishes within `timeout` seconds.
    fn next(&self, py: Python<'_>, timeout: f64) -> PyResult<Option<(usize, Results)>> {
        let outcome = py.detach(|| {
            let outcomes = self.outcomes.lock().map_err(|e| e.to_string())?;
            match outcomes.recv_timeout(Duration::from_secs_f64(timeout.clamp(0.0, 3600.0))) {
                Ok(outcome) => Ok(Some(outcome)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err("no run is left, all have ended".to_owned()),
            }
        });
        match outcome.map_err(PyRuntimeError::new_err)? {
            None => Ok(None),
            Some((at, Ok(results))) => Ok(Some((at, results))),
            Some((at, Err(RunFailure::World(error)))) => {
                Err(PyRuntimeError::new_err(format!("run {at}: {error}")))
            }
            Some((_, Err(RunFailure::Policy(error)))) => Err(error),
        }
    }

    /// The running jobs, and their virtual time in seconds.
    fn under_way(&self) -> Vec<(usize, f64)> {
        self.under_way.iter().filter_map(UnderWay::now).collect()
    }

    /// Starts no further run, and ends the running ones without results.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Waits for the threads to end.
    fn join(&self, py: Python<'_>) -> PyResult<()> {
        let workers =
            std::mem::take(&mut *self.workers.lock().map_err(|e| PyRuntimeError::new_err(e.to_string()))?);
        py.detach(|| {
            for worker in workers {
                // A thread that panicked has sent no result, so the caller notices the missing one.
                let _ = worker.join();
            }
        });
        Ok(())
    }
}
