//! The array in which a policy written in Python reads the state of the paths.
//!
//! Owns a numpy array with one row per field and one column per path. The array grows with the number of paths and is
//! then reused for each call, so a call copies numbers and creates no object per field.

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

/// Columns of a new array.
const FIRST_COLUMNS: usize = 2;

/// The array, and views of its rows.
pub(super) struct State {
    array: Py<PyArray2<f64>>,
    columns: usize,
    fields: &'static [&'static str],
    /// Number of paths in the last call.
    paths: usize,
    /// Views of the first `paths` columns of each row, made on demand.
    rows: Vec<Option<Py<PyAny>>>,
}

impl State {
    pub(super) fn new(py: Python<'_>, fields: &'static [&'static str]) -> Self {
        Self {
            array: PyArray2::zeros(py, [fields.len(), FIRST_COLUMNS], false).unbind(),
            columns: FIRST_COLUMNS,
            fields,
            paths: 0,
            rows: fields.iter().map(|_| None).collect(),
        }
    }

    pub(super) fn array(&self) -> &Py<PyArray2<f64>> {
        &self.array
    }

    /// Sets the number of paths. Returns whether a new, larger array replaced the old one.
    pub(super) fn resize(&mut self, py: Python<'_>, paths: usize) -> bool {
        if paths != self.paths {
            self.paths = paths;
            self.rows.fill_with(|| None);
        }
        let grows = paths > self.columns;
        if grows {
            self.columns = paths.next_power_of_two();
            self.array = PyArray2::zeros(py, [self.fields.len(), self.columns], false).unbind();
        }
        grows
    }

    /// Writes the values of each path, in the order of the fields.
    pub(super) fn write<const N: usize>(
        &self,
        py: Python<'_>,
        paths: impl Iterator<Item = [f64; N]>,
    ) -> PyResult<()> {
        let mut array = self.array.bind(py).try_readwrite()?;
        let values = array.as_slice_mut()?;
        for (column, of_path) in paths.enumerate() {
            for (row, value) in of_path.into_iter().enumerate() {
                values[row * self.columns + column] = value;
            }
        }
        Ok(())
    }

    /// The value of a field of a path.
    pub(super) fn get(&self, py: Python<'_>, row: usize, column: usize) -> f64 {
        get(&self.array, py, row, column)
    }

    /// A view of a field of all paths; `None` if no field has that name.
    pub(super) fn row(&mut self, py: Python<'_>, field: &str) -> PyResult<Option<Py<PyAny>>> {
        let Some(at) = self.fields.iter().position(|known| *known == field) else { return Ok(None) };
        if self.rows[at].is_none() {
            let columns = PySlice::new(py, 0, self.paths as isize, 1);
            self.rows[at] = Some(self.array.bind(py).get_item((at, columns))?.unbind());
        }
        Ok(self.rows[at].as_ref().map(|row| row.clone_ref(py)))
    }

    /// A view of all fields of all paths.
    pub(super) fn table(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (all, columns) = (PySlice::full(py), PySlice::new(py, 0, self.paths as isize, 1));
        Ok(self.array.bind(py).get_item((all, columns))?.unbind())
    }
}

/// An element; zero outside of the array.
pub(super) fn get(array: &Py<PyArray2<f64>>, py: Python<'_>, row: usize, column: usize) -> f64 {
    array.bind(py).get_owned([row, column]).unwrap_or_default()
}
