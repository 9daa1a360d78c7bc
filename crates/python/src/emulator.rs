//! Python bindings of the emulator, which runs the links of a scenario in real time between TUN devices.
//!
//! Owns the conversion of values. Releases the interpreter while it opens devices and while it waits for a thread.
//! Never creates a namespace or an address: Python creates them from the plan.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mptcp_emulator::kernel::{self, Ability, Order};
use mptcp_emulator::{
    Attachment, Control, Driver, Emulation, EmulatorError, Recording, Snapshot, Spread, wire,
};
use mptcp_lab::measurements::Measurements;
use mptcp_lab::netsim::{Counters, Parameters, Rate};
use mptcp_live::{Offload, Tun, namespace};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::policies::Watch;
use crate::results::Results;
use crate::scenario::{Scenario, ScenarioError};

type Texts = (String, String, String);
/// Actual settings of a flow: congestion controller, receive and send buffer in bytes, and the problem if any.
type Given = (String, u32, u32, Option<String>);

/// An emulated network between devices.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Emulator {
    scenario: Arc<mptcp_lab::scenario::Scenario>,
    shortest: mptcp_clock::Duration,
    plan: mptcp_emulator::Plan,
    state: Mutex<State>,
}

enum State {
    Made(Box<Emulation>),
    Open(Box<Emulation>, Vec<Attachment>, Outside),
    Running(Arc<Driver>, Outside),
    Over,
}

/// The hosts at the ends of the links.
enum Outside {
    /// Names of the namespaces, by host.
    Namespaces(Vec<String>),
    /// Endpoints of this stack, which live as long as the links.
    Ours(Arc<wire::Hosts>),
}

/// Maximum delay before a signal such as Ctrl-C is handled.
const SLICE: Duration = Duration::from_millis(100);

impl Emulator {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn table<'py>(&self, py: Python<'py>, snapshot: &Snapshot) -> PyResult<Bound<'py, PyDict>> {
        let table = PyDict::new(py);
        table.set_item("elapsed_s", snapshot.elapsed.as_secs_f64())?;
        let mut rows = Vec::new();
        let states = snapshot.links.iter().zip(&snapshot.parameters);
        for (link, (counters, parameters)) in self.scenario.links.iter().zip(states) {
            let state = counters.iter().zip(parameters);
            for (direction, state) in ["forward", "backward"].into_iter().zip(state) {
                rows.push(link_row(py, &link.name, direction, state)?);
            }
        }
        table.set_item("links", PyList::new(py, rows)?)?;
        table.set_item("lateness", spread(py, &snapshot.lateness)?)?;
        table.set_item("turns", spread(py, &snapshot.turns)?)?;
        table.set_item("real_time", snapshot.first)?;
        table.set_item("ignored", snapshot.ignored)?;
        table.set_item("refused", snapshot.refused)?;
        table.set_item("down", snapshot.down)?;
        table.set_item("left_out", snapshot.left_out)?;
        table.set_item("doubts", snapshot.doubts(self.shortest))?;
        Ok(table)
    }
}

#[pymethods]
impl Emulator {
    /// Creates the network of a scenario with a seed.
    #[new]
    fn new(scenario: &Scenario, seed: u64) -> PyResult<Self> {
        let emulation = Emulation::new(&scenario.inner, seed).map_err(told)?;
        Ok(Self {
            scenario: Arc::new(scenario.inner.drawn(seed)),
            shortest: emulation.shortest_round_trip(),
            plan: emulation.plan().clone(),
            state: Mutex::new(State::Made(Box::new(emulation))),
        })
    }

    /// The hosts, with the devices, addresses and routes that they need.
    fn hosts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut hosts = Vec::new();
        for host in &self.plan.hosts {
            let row = PyDict::new(py);
            row.set_item("name", &host.name)?;
            row.set_item("opens", host.opens)?;
            let mut devices = Vec::new();
            for device in &host.devices {
                let row = PyDict::new(py);
                row.set_item("name", &device.name)?;
                row.set_item("link", &device.link)?;
                row.set_item("address", device.address.to_string())?;
                row.set_item("mtu", device.mtu)?;
                row.set_item("joins", device.joins)?;
                row.set_item("backup", device.backup)?;
                devices.push(row);
            }
            row.set_item("devices", devices)?;
            let routes = host.routes.iter().map(|route| (route.to.to_string(), route.device));
            row.set_item("routes", routes.collect::<Vec<_>>())?;
            hosts.push(row);
        }
        PyList::new(py, hosts)
    }

    /// Interface events: time in seconds, host index, device index, whether the device comes up, and the event's `how`.
    fn notices(&self) -> Vec<(f64, usize, usize, bool, &'static str)> {
        self.plan
            .notices
            .iter()
            .map(|told| (told.at.as_secs_f64(), told.host, told.device, told.up, told.how.name()))
            .collect()
    }

    /// The opening and the accepting host of each flow.
    fn ends(&self) -> Vec<(String, String)> {
        self.scenario.flows.iter().map(|flow| (flow.from.clone(), flow.to.clone())).collect()
    }

    /// Creates the devices. `namespaces` names the namespace of each host.
    fn open(&self, py: Python<'_>, namespaces: Vec<String>) -> PyResult<()> {
        let mut state = self.state();
        let State::Made(emulation) = std::mem::replace(&mut *state, State::Over) else {
            return Err(PyRuntimeError::new_err("the devices of an emulator can be opened only once"));
        };
        let hosts = &self.plan.hosts;
        if namespaces.len() != hosts.len() {
            let said = format!("{} namespaces: must be {}, one per host", namespaces.len(), hosts.len());
            return Err(PyRuntimeError::new_err(said));
        }
        let opened = py.detach(|| {
            let mut opened = Vec::new();
            for (at, (host, name)) in hosts.iter().zip(&namespaces).enumerate() {
                let devices = host.devices.iter();
                let tuns = namespace::within(name, || {
                    devices
                        .map(|device| Tun::open_with(&device.name, Offload::None))
                        .collect::<Result<Vec<_>, _>>()
                })?;
                let places = tuns.into_iter().enumerate();
                opened.extend(places.map(|(place, tun)| Attachment {
                    link: tun.into(),
                    host: at,
                    device: Some(place),
                }));
            }
            Ok::<_, std::io::Error>(opened)
        })?;
        *state = State::Open(emulation, opened, Outside::Namespaces(namespaces));
        Ok(())
    }

    /// Connects the links to endpoints of this stack in this process, one for each host.
    fn open_ours(&self) -> PyResult<()> {
        wire::refuse(&self.scenario).map_err(told)?;
        let mut state = self.state();
        let State::Made(emulation) = std::mem::replace(&mut *state, State::Over) else {
            return Err(PyRuntimeError::new_err("an emulator can be opened only once"));
        };
        let (hosts, attached) = wire::Hosts::start(&self.plan)?;
        *state = State::Open(emulation, attached, Outside::Ours(Arc::new(hosts)));
        Ok(())
    }

    /// Starts forwarding at time zero. With `pcap`, captures the packets of every device to that file.
    #[pyo3(signature = (pcap = None))]
    fn start(&self, pcap: Option<PathBuf>) -> PyResult<()> {
        let mut state = self.state();
        let State::Open(emulation, devices, outside) = std::mem::replace(&mut *state, State::Over) else {
            return Err(PyRuntimeError::new_err(
                "an emulator can start only once, after its devices are open",
            ));
        };
        let names = devices.iter().map(|one| {
            let host = &self.plan.hosts[one.host];
            let device = one.device.map_or("any", |place| host.devices[place].name.as_str());
            format!("{}-{device}", host.name)
        });
        let names: Vec<String> = names.collect();
        let recording = pcap.map(|path| Recording::start(&path, &names)).transpose()?;
        let driver = Driver::start(*emulation, self.scenario.links.len(), devices, recording)?;
        *state = State::Running(Arc::new(driver), outside);
        Ok(())
    }

    /// Compares the scenario's flows with the features of the kernel. `ours` is the name prefix of mptcplab's
    /// controllers among `controllers`. Returns unsupported features (flow, feature, closest substitute) and the
    /// required sysctls (host, key, value).
    fn kernel(&self, controllers: Vec<String>, ours: &str) -> PyResult<(Vec<Texts>, Vec<Texts>)> {
        let ability = Ability::of(&self.scenario, &controllers, ours).map_err(told)?;
        let lacks = ability.lacks.into_iter().map(|lack| (lack.flow, lack.what, lack.closest));
        let settings = ability.settings.into_iter().map(|set| (set.host, set.key.to_owned(), set.value));
        Ok((lacks.collect(), settings.collect()))
    }

    /// Runs the flows on kernel sockets to the end of the scenario. Returns the measurements and, for each flow, the
    /// controller, the receiver's receive buffer, the sender's send buffer, and the problem.
    fn run_flows(
        &self,
        py: Python<'_>,
        controllers: Vec<String>,
        ours: &str,
    ) -> PyResult<(Results, Vec<Given>)> {
        let ability = Ability::of(&self.scenario, &controllers, ours).map_err(told)?;
        let (driver, namespaces) = match &*self.state() {
            State::Running(driver, Outside::Namespaces(names)) => (Arc::clone(driver), names.clone()),
            _ => {
                return Err(PyRuntimeError::new_err(
                    "flows can run only while the emulator runs over its devices",
                ));
            }
        };
        let (scenario, plan) = (Arc::clone(&self.scenario), self.plan.clone());
        let order = Order { scenario, plan, namespaces, options: ability.options };
        on_a_thread(py, move |off| {
            let ran = kernel::run(&order, &driver, off)?;
            let given = ran.flows.into_iter();
            let given = given.map(|one| (one.congestion, one.buffers.0, one.buffers.1, one.problem));
            Ok((ran.measured, given.collect()))
        })
    }

    /// Runs the flows on this stack, after `open_ours`, to the end of the scenario. Returns what `run_flows` returns,
    /// but with the requested buffer sizes.
    fn run_ours(&self, py: Python<'_>) -> PyResult<(Results, Vec<Given>)> {
        let (driver, hosts) = match &*self.state() {
            State::Running(driver, Outside::Ours(hosts)) => (Arc::clone(driver), Arc::clone(hosts)),
            _ => {
                return Err(PyRuntimeError::new_err(
                    "flows can run only while the emulator runs over this stack",
                ));
            }
        };
        let order = wire::Order { scenario: Arc::clone(&self.scenario), plan: self.plan.clone(), hosts };
        on_a_thread(py, move |off| {
            let ran = wire::run(&order, &driver, off)?;
            let given = ran.flows.into_iter();
            let given = given.map(|one| (one.congestion, one.buffers.0, one.buffers.1, one.problem));
            Ok((ran.measured, given.collect()))
        })
    }

    /// Changes both directions of a link during a run: `up`, `rate`, `delay`, `loss` or `queue`, with a value as in
    /// scenarios.
    fn change(&self, link: &str, key: &str, value: &str) -> PyResult<()> {
        let control = Control::read(&self.scenario, link, key, value).map_err(ScenarioError::new_err)?;
        match &*self.state() {
            State::Running(driver, _) => {
                driver.change(control);
                Ok(())
            }
            _ => Err(PyRuntimeError::new_err("links can change only while the emulator runs")),
        }
    }

    /// The counters at the last update; None before the start and after the end.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let State::Running(driver, _) = &*self.state() else { return Ok(None) };
        self.table(py, &driver.snapshot()).map(Some)
    }

    /// The connections of each host, in the order of `hosts`; empty unless the emulator runs over this stack.
    fn connections<'py>(&self, py: Python<'py>) -> PyResult<Vec<Vec<Bound<'py, PyDict>>>> {
        let hosts = match &*self.state() {
            State::Running(_, Outside::Ours(hosts)) => Arc::clone(hosts),
            _ => return Ok(Vec::new()),
        };
        let rows = |host: Vec<mptcp_live::ConnectionInfo>| {
            host.iter().map(|info| crate::live::connection_row(py, info)).collect::<PyResult<Vec<_>>>()
        };
        hosts.connections().into_iter().map(rows).collect()
    }

    /// Whether packets are forwarded. After an unexpected end, `stop` raises the error.
    fn is_running(&self) -> bool {
        matches!(&*self.state(), State::Running(driver, _) if driver.is_running())
    }

    /// Ends the run, removes the devices, and returns the final counters. None if it never started.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let state = std::mem::replace(&mut *self.state(), State::Over);
        let State::Running(mut driver, _) = state else { return Ok(None) };
        let last = py.detach(|| {
            loop {
                match Arc::try_unwrap(driver) {
                    Ok(alone) => return alone.stop(),
                    // A run on another thread still holds the driver.
                    Err(shared) => driver = shared,
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        })?;
        self.table(py, &last).map(Some)
    }
}

/// Runs `run` on a separate thread, so that the calling thread can handle signals.
fn on_a_thread(
    py: Python<'_>,
    run: impl FnOnce(&AtomicBool) -> std::io::Result<(Measurements, Vec<Given>)> + Send + 'static,
) -> PyResult<(Results, Vec<Given>)> {
    let off = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let called = Arc::clone(&off);
    let policies = Watch::start();
    let running = std::thread::spawn(move || run(&called));
    while !running.is_finished() {
        py.detach(|| std::thread::sleep(SLICE));
        let failure = policies.take().map_or_else(|| py.check_signals(), Err);
        if let Err(raised) = failure {
            off.store(true, Ordering::Relaxed);
            let _ = py.detach(|| running.join());
            return Err(raised);
        }
    }
    let ended = py.detach(|| running.join());
    if let Some(failure) = policies.take() {
        return Err(failure);
    }
    let (measured, given) =
        ended.map_err(|_| PyRuntimeError::new_err("the thread of the flows panicked"))??;
    Ok((Results::new(measured, began.elapsed().as_secs_f64()), given))
}

fn told(error: EmulatorError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

fn spread<'py>(py: Python<'py>, spread: &Spread) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("count", spread.count)?;
    row.set_item("p50_s", spread.p50.as_secs_f64())?;
    row.set_item("p99_s", spread.p99.as_secs_f64())?;
    row.set_item("p999_s", spread.p999.as_secs_f64())?;
    row.set_item("max_s", spread.max.as_secs_f64())?;
    Ok(row)
}

fn link_row<'py>(
    py: Python<'py>,
    link: &str,
    direction: &str,
    (counters, parameters): (&Counters, &Parameters),
) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("link", link)?;
    row.set_item("direction", direction)?;
    row.set_item("offered_frames", counters.offered_frames)?;
    row.set_item("sent_frames", counters.sent_frames)?;
    row.set_item("sent_bytes", counters.sent_bytes)?;
    row.set_item("delivered_frames", counters.delivered_frames)?;
    row.set_item("delivered_bytes", counters.delivered_bytes)?;
    row.set_item("queue_drops", counters.dropped_frames)?;
    row.set_item("random_losses", counters.lost_frames)?;
    row.set_item("flushed", counters.flushed_frames)?;
    row.set_item("queue_bytes", counters.backlog_bytes)?;
    row.set_item("queue_frames", counters.backlog_frames)?;
    row.set_item("rate", parameters.rate.map(Rate::bits_per_second))?;
    row.set_item("delay_s", parameters.delay.as_secs_f64())?;
    row.set_item("loss", parameters.loss.mean())?;
    row.set_item("up", parameters.up)?;
    Ok(row)
}
