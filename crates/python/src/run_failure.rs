//! The reason why a run has no results: an error of the simulator, or an exception in a policy written in Python.
//!
//! Owns the conversion to a Python exception, so that an exception of the user keeps its traceback.

use mptcp_lab::world::RunError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The reason why a run has no results.
pub(crate) enum RunFailure {
    /// An error of the simulator or of a capture file.
    World(RunError),
    /// An exception in a policy written in Python, with its traceback.
    Policy(PyErr),
}

impl<E: Into<RunError>> From<E> for RunFailure {
    fn from(error: E) -> Self {
        Self::World(error.into())
    }
}

impl From<RunFailure> for PyErr {
    fn from(failure: RunFailure) -> Self {
        match failure {
            RunFailure::World(error) => PyRuntimeError::new_err(error.to_string()),
            RunFailure::Policy(error) => error,
        }
    }
}
