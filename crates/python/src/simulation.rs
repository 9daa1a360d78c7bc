//! A run that Python advances step by step.
//!
//! Owns the position in virtual time. Gymnasium environments and notebooks read the state of flows between the steps;
//! policies written in Python act during the steps.

use std::sync::Mutex;

use mptcp_clock::Instant;
use mptcp_lab::world::World;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::policies::RunState;
use crate::results::Results;
use crate::run_failure::RunFailure;
use crate::scenario::Scenario;

/// A running scenario and the time that it has reached.
struct Running {
    world: World,
    reached: Instant,
    state: RunState,
}

/// A run that advances step by step.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Simulation {
    running: Mutex<Option<Running>>,
    end: Instant,
}

impl Simulation {
    fn with<T>(&self, call: impl FnOnce(&mut Running) -> PyResult<T>) -> PyResult<T> {
        let mut slot = self.running.lock().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        call(slot.as_mut().ok_or_else(|| PyRuntimeError::new_err("the simulation was finished"))?)
    }
}

#[pymethods]
impl Simulation {
    /// Prepares a run at time 0.
    #[new]
    fn new(scenario: &Scenario, seed: u64) -> PyResult<Self> {
        let mut state = RunState::new(seed);
        let world = state.within(|| World::new(&scenario.inner, seed)).map_err(RunFailure::from)?;
        let end = Instant::ZERO + scenario.inner.duration;
        Ok(Self { running: Mutex::new(Some(Running { world, reached: Instant::ZERO, state })), end })
    }

    /// Runs until `time` in seconds, or until the end. Returns whether the end is not reached yet.
    fn advance(&self, time: f64) -> PyResult<bool> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(PyValueError::new_err(format!(
                "time = {time}: must be a number of seconds of at least 0"
            )));
        }
        self.with(|running| {
            let until = (Instant::ZERO + mptcp_clock::Duration::from_secs_f64(time)).min(self.end);
            if until > running.reached {
                let Running { world, state, .. } = running;
                state.within(|| world.advance(until)).map_err(RunFailure::from)?;
                running.reached = until;
            }
            match running.state.take_failure() {
                Some(error) => Err(error),
                None => Ok(running.reached < self.end),
            }
        })
    }

    /// The time that the run has reached, seconds.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        self.with(|running| Ok(running.reached.as_secs_f64()))
    }

    /// The state of a flow: counters in bytes, latencies of the blocks from number `first_block` on, and one
    /// dictionary for each open subflow of the sender.
    #[pyo3(signature = (flow = 0, first_block = 0))]
    fn flow<'py>(&self, py: Python<'py>, flow: usize, first_block: usize) -> PyResult<Bound<'py, PyDict>> {
        self.with(|running| {
            let progress = running.world.progress(running.reached, flow);
            let progress = progress.ok_or_else(|| PyIndexError::new_err(format!("no flow {flow}")))?;
            let row = PyDict::new(py);
            row.set_item("written", progress.written)?;
            row.set_item("received", progress.received)?;
            row.set_item("send_queue", progress.send_queue)?;
            row.set_item("peer_window", progress.peer_window)?;
            row.set_item("is_finished", progress.is_finished)?;
            row.set_item("blocks", progress.blocks.len())?;
            let new = progress.blocks.get(first_block..).unwrap_or_default();
            row.set_item("latencies", PyList::new(py, new.iter().map(|block| block.latency.as_secs_f64()))?)?;
            let subflows = PyList::empty(py);
            for subflow in &progress.subflows {
                let (info, own) = (&subflow.info, PyDict::new(py));
                own.set_item("path", subflow.path)?;
                own.set_item("slot", subflow.slot)?;
                own.set_item("id", info.id.number())?;
                own.set_item("cwnd", info.cwnd)?;
                own.set_item("mss", info.mss)?;
                own.set_item("in_flight", info.in_flight)?;
                own.set_item("srtt", info.srtt.map_or(0.0, mptcp_clock::Duration::as_secs_f64))?;
                own.set_item("base_rtt", info.min_rtt.map_or(0.0, mptcp_clock::Duration::as_secs_f64))?;
                own.set_item("bytes_sent", info.stats.bytes_sent)?;
                own.set_item("bytes_acked", info.stats.bytes_acked)?;
                own.set_item("retransmits", info.retransmissions)?;
                own.set_item("backup", info.backup)?;
                subflows.append(own)?;
            }
            row.set_item("subflows", subflows)?;
            Ok(row)
        })
    }

    /// Ends the simulation and returns its results, up to the time that it has reached.
    fn finish(&self) -> PyResult<Results> {
        let mut slot = self.running.lock().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let running = slot.take().ok_or_else(|| PyRuntimeError::new_err("the simulation was finished"))?;
        Ok(Results::new(running.world.finish(), 0.0))
    }
}
