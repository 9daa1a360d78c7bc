//! Reports on captures, and their segments as columns.
//!
//! Owns the conversion of values; the crate `mptcp-doctor` reads captures and draws conclusions.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use mptcp_doctor::HostFacts;
use mptcp_doctor::capture::{CaptureError, Merged, SeenSegment};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn raised(error: &CaptureError) -> PyErr {
    match error {
        CaptureError::Read { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Reads captures of the same connections; returns the report as JSON (`capture_report_schema`).
///
/// `host` is JSON with facts about the host of the capture. `progress` gets the number of packets from time to time, and
/// returns False to stop.
#[pyfunction]
#[pyo3(signature = (files, host=None, progress=None))]
pub(crate) fn examine_captures(
    py: Python<'_>,
    files: Vec<PathBuf>,
    host: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let host: HostFacts = match host {
        None => HostFacts::default(),
        Some(text) => HostFacts::from_json(text).map_err(PyValueError::new_err)?,
    };
    let mut raised_by_progress = None;
    let report = py.detach(|| {
        mptcp_doctor::examine(&files, &host, |packets| {
            let answer = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(true), |call| call.call1(py, (packets,))?.extract(py))
            });
            answer.unwrap_or_else(|error| {
                raised_by_progress = Some(error);
                false
            })
        })
    });
    if let Some(error) = raised_by_progress {
        return Err(error);
    }
    Ok(report.map_err(|error| raised(&error))?.to_json())
}

/// The JSON Schema of the report.
#[pyfunction]
pub(crate) fn capture_report_schema() -> String {
    mptcp_doctor::schema()
}

/// The TCP segments of captures in the order of time, in batches of columns.
#[pyclass]
pub(crate) struct CapturedSegments {
    /// Only for `Sync`, which Python asks for; a method has exclusive access.
    merged: Mutex<Merged>,
    numbers: HashMap<(SocketAddr, SocketAddr), u64>,
    flows: Vec<(String, String)>,
}

#[pymethods]
impl CapturedSegments {
    #[new]
    fn new(files: Vec<PathBuf>) -> PyResult<Self> {
        let merged = Merged::open(&files).map_err(|error| raised(&error))?;
        Ok(Self { merged: Mutex::new(merged), numbers: HashMap::new(), flows: Vec::new() })
    }

    /// The next rows as columns; None at the end.
    #[pyo3(signature = (rows=65536))]
    fn next_batch<'py>(&mut self, py: Python<'py>, rows: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut columns: [Vec<u64>; COLUMNS.len()] = Default::default();
        while columns[0].len() < rows {
            let merged = self.merged.get_mut().unwrap_or_else(PoisonError::into_inner);
            let Some(segment) = merged.next_segment() else { break };
            let flow = self.number(segment.from, segment.to);
            columns.iter_mut().zip(row(&segment, flow)).for_each(|(column, value)| column.push(value));
        }
        if columns[0].is_empty() {
            return Ok(None);
        }
        let batch = PyDict::new(py);
        for (name, column) in COLUMNS.iter().zip(columns) {
            let array: Bound<'py, PyArray1<u64>> = column.into_pyarray(py);
            batch.set_item(name, array)?;
        }
        Ok(Some(batch))
    }

    /// Sender and receiver of each number in the column `flow`.
    #[getter]
    fn flows(&self) -> Vec<(String, String)> {
        self.flows.clone()
    }
}

impl CapturedSegments {
    fn number(&mut self, from: SocketAddr, to: SocketAddr) -> u64 {
        let next = self.flows.len() as u64;
        *self.numbers.entry((from, to)).or_insert_with(|| {
            self.flows.push((from.to_string(), to.to_string()));
            next
        })
    }
}

/// Names of the columns. Times are ns since 1970. Absent numbers of MPTCP are 0.
const COLUMNS: [&str; 13] = [
    "time",
    "file",
    "packet",
    "flow",
    "sequence",
    "acknowledgment",
    "flags",
    "window",
    "payload",
    "data_sequence",
    "data_length",
    "data_ack",
    "timestamp",
];

fn row(segment: &SeenSegment, flow: u64) -> [u64; COLUMNS.len()] {
    let (sequence, length, ack) = segment.data_numbers();
    [
        segment.time,
        segment.packet.file.into(),
        segment.packet.number,
        flow,
        segment.sequence.into(),
        segment.acknowledgment.into(),
        segment.flags.bits().into(),
        segment.window.into(),
        segment.payload.into(),
        sequence,
        length,
        ack,
        segment.options.timestamps.map_or(0, |times| times.value.into()),
    ]
}
