//! Builds `mptcplab._core`, the Python bindings of the laboratory, without logic.
//!
//! Owns the conversion of values. Long runs release the interpreter, and columns move to numpy without a copy. Another
//! crate can build its own Python module with [`fill`]. Scenarios in that module can use that crate's policies.
#![forbid(unsafe_code)]

mod batch;
mod captures;
#[cfg(target_os = "linux")]
mod emulator;
mod events;
#[cfg(target_os = "linux")]
mod live;
mod policies;
mod reasons;
mod results;
mod run_failure;
mod scenario;
mod simulation;
mod slices;

use mptcp_lab::Registry;
use pyo3::prelude::*;

/// The compiled core of mptcplab.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fill(module, Registry::new())
}

/// Adds all classes and functions to a module. Scenarios can use the entries of `registry`. Only the first registry of
/// a process has an effect.
///
/// # Errors
/// Errors of the Python interpreter.
pub fn fill(module: &Bound<'_, PyModule>, registry: Registry) -> PyResult<()> {
    scenario::register(policies::with_python_classes(registry));
    module.add("ScenarioError", module.py().get_type::<scenario::ScenarioError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<results::Results>()?;
    module.add_class::<batch::Batch>()?;
    #[cfg(target_os = "linux")]
    {
        module.add_class::<emulator::Emulator>()?;
        module.add_class::<live::Driver>()?;
        module.add_class::<live::MptcpListener>()?;
        module.add_class::<live::MptcpStream>()?;
        module.add_function(wrap_pyfunction!(live::kernel_send_for, module)?)?;
        module.add_function(wrap_pyfunction!(live::kernel_receive_for, module)?)?;
    }
    module.add_function(wrap_pyfunction!(scenario::describe, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::reference_page, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::nearest_word, module)?)?;
    module.add_class::<captures::CapturedSegments>()?;
    module.add_function(wrap_pyfunction!(captures::examine_captures, module)?)?;
    module.add_function(wrap_pyfunction!(captures::capture_report_schema, module)?)?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<policies::SendView>()?;
    module.add_class::<policies::SendPath>()?;
    module.add_class::<policies::CongestionView>()?;
    module.add_class::<policies::CongestionPath>()?;
    module.add_function(wrap_pyfunction!(policies::policy_names, module)?)?;
    module.add_function(wrap_pyfunction!(policies::policy_seed, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::findings, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::finding_text, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::reasons_in_words, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::is_healthy, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::recommended_buffer, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::queueing_delay, module)?)?;
    module.add_function(wrap_pyfunction!(reasons::long_queues, module)?)?;
    module.add_function(wrap_pyfunction!(results::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(events::event_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(events::renamed_event_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(events::event_fields, module)?)?;
    module.add_function(wrap_pyfunction!(results::run, module)?)
}
