//! mptcplab for Python with what this crate adds: a module that takes the place of `mptcplab._core` where
//! `MPTCPLAB_CORE` names it.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

#[pymodule]
fn extension_core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let registry = extension::registry().map_err(|error| PyImportError::new_err(error.to_string()))?;
    mptcplab_core::fill(module, registry)
}
