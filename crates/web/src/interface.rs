//! The functions and classes that JavaScript sees.
//!
//! Owns the conversion to typed arrays and JSON, and nothing else. Errors are JSON of a `Problem`.

use mptcp_lab::described;
use mptcp_lab::measurements::Samples;
use serde::Serialize;
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::action::Action;
use crate::decode::decoded;
use crate::run::{Problem, Run};
use crate::state;

/// Packets that a frame shows: of one direction, and of the whole network.
const PER_DIRECTION: usize = 60;
const PACKETS: usize = 600;

fn thrown(problem: &Problem) -> JsValue {
    JsValue::from_str(&text(problem))
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A run.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Simulation {
    run: Run,
    samples: Samples,
    events: mptcp_lab::mptcp::observe::Columns,
}

impl Simulation {
    fn of(run: Run) -> Self {
        Self { run, samples: Samples::default(), events: Default::default() }
    }
}

#[wasm_bindgen]
impl Simulation {
    /// Loads a scenario; the run is at time 0. Seeds are whole numbers.
    ///
    /// # Errors
    /// An invalid scenario.
    #[wasm_bindgen(constructor)]
    pub fn new(toml: &str, seed: f64) -> Result<Simulation, JsValue> {
        Run::load(toml, seed as u64).map(Self::of).map_err(|problem| thrown(&problem))
    }

    /// The text of the scenario, with all changes.
    #[must_use]
    pub fn toml(&self) -> String {
        self.run.text().to_owned()
    }

    /// JSON of the network and its flows.
    #[must_use]
    pub fn description(&self) -> String {
        described(self.run.scenario()).to_string()
    }

    /// Runs until a time, seconds, or to the end. Returns whether the end is not reached yet.
    ///
    /// # Errors
    /// A limit of the scenario is reached.
    pub fn advance(&mut self, time: f64) -> Result<bool, JsValue> {
        self.run.advance(time).map_err(|problem| thrown(&problem))
    }

    /// Processes one event. Returns whether there was one.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self) -> Result<bool, JsValue> {
        self.run.step().map_err(|problem| thrown(&problem))
    }

    /// Starts again at time 0.
    ///
    /// # Errors
    /// None in practice.
    pub fn restart(&mut self) -> Result<(), JsValue> {
        self.run.restart().map_err(|problem| thrown(&problem))
    }

    /// The time reached, seconds.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.run.now().as_secs_f64()
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.run.is_finished()
    }

    /// Replaces the text. Returns true if the run continues, false if it starts again at time 0.
    ///
    /// # Errors
    /// An invalid scenario.
    pub fn edit(&mut self, toml: &str) -> Result<bool, JsValue> {
        self.run.edit(toml).map_err(|problem| thrown(&problem))
    }

    /// Writes a change (JSON of `Action`) into the text, at `now`, seconds, or at the present time if that is later.
    /// Returns as [`Self::edit`].
    ///
    /// # Errors
    /// A change that is not possible.
    pub fn act(&mut self, action: &str, now: f64) -> Result<bool, JsValue> {
        let action: Action = serde_json::from_str(action).map_err(|error| {
            thrown(&Problem { message: format!("not a change: {error}"), line: None, column: None })
        })?;
        self.run.act(&action, now).map_err(|problem| thrown(&problem))
    }

    /// The state of each direction: `Frame.directions`.
    pub fn directions(&mut self) -> Vec<f64> {
        let (scenario, world) = self.run.parts();
        state::directions(scenario, world)
    }

    /// Packets in the network: `Frame.packets`.
    #[must_use]
    pub fn packets(&self) -> Vec<f32> {
        let now = self.run.now();
        state::packets(self.run.scenario(), self.run.world(), now, PER_DIRECTION, PACKETS)
    }

    /// JSON of the flows: `Frame.flows`.
    #[must_use]
    pub fn flows(&self) -> String {
        state::flows(self.run.scenario(), self.run.world(), self.run.now()).to_string()
    }

    /// JSON of sentences about what limits each flow so far: `Frame.reasons`.
    pub fn reasons(&mut self) -> String {
        text(&self.run.reasons())
    }

    /// Collects the rows since the last call, which the getters below return.
    pub fn collect(&mut self) {
        self.samples = self.run.world_mut().take_samples();
        self.events = self.run.world_mut().take_events();
    }

    /// Column of the collected samples.
    #[must_use]
    pub fn sample_time(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.samples.time)
    }

    /// Column of the collected samples.
    #[must_use]
    pub fn sample_flow(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.samples.flow)
    }

    /// Column of the collected samples.
    #[must_use]
    pub fn sample_path(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.samples.path)
    }

    /// Column of the collected samples.
    #[must_use]
    pub fn sample_metric(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.samples.metric)
    }

    /// Column of the collected samples.
    #[must_use]
    pub fn sample_value(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.samples.value)
    }

    /// Column of the collected events, seconds.
    #[must_use]
    pub fn event_time(&self) -> Vec<f64> {
        self.events.at.iter().map(|at| *at as f64 / 1e9).collect()
    }

    /// Column of the collected events.
    #[must_use]
    pub fn event_host(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.events.host)
    }

    /// Column of the collected events.
    #[must_use]
    pub fn event_flow(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.events.flow)
    }

    /// Column of the collected events.
    #[must_use]
    pub fn event_path(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.events.path)
    }

    /// Column of the collected events.
    #[must_use]
    pub fn event_subflow(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.events.subflow)
    }

    /// Column of the collected events.
    #[must_use]
    pub fn event_other(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.events.other)
    }

    /// Column of the collected events: indices into [`Self::event_words`].
    #[must_use]
    pub fn event_kind(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.events.kind)
    }

    /// Column of the collected events: indices into [`Self::event_words`].
    #[must_use]
    pub fn event_what(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.events.what)
    }

    /// One of the three number columns of the collected events; NaN if missing.
    #[must_use]
    pub fn event_numbers(&self, column: usize) -> Vec<f64> {
        let missing = mptcp_lab::mptcp::observe::NOTHING;
        let number = |value: &u64| if *value == missing { f64::NAN } else { *value as f64 };
        self.events.numbers.get(column).map_or_else(Vec::new, |column| column.iter().map(number).collect())
    }

    /// JSON of the words of the collected events.
    #[must_use]
    pub fn event_words(&self) -> String {
        text(&self.events.words)
    }

    /// JSON of the first segments: `SegmentView`s.
    #[must_use]
    pub fn segments(&self) -> String {
        let segments: Vec<_> = self.run.world().segments().iter().map(decoded).collect();
        text(&segments)
    }

    /// A pcapng file of all interfaces from the start until now.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn capture(&self) -> Result<Vec<u8>, JsValue> {
        self.run.capture().map_err(|problem| thrown(&problem))
    }

    /// The samples from the start until now as CSV.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn csv(&self) -> Result<String, JsValue> {
        self.run.csv().map_err(|problem| thrown(&problem))
    }

    /// JSON of the comparisons with plain TCP, in order: `{flow, path}`.
    #[must_use]
    pub fn ghosts(&self) -> String {
        let name = |flow: usize| self.run.scenario().flows[flow].name.clone();
        let ghosts = self.run.ghosts().into_iter();
        text(&ghosts.map(|one| json!({ "flow": name(one.flow), "path": one.path })).collect::<Vec<_>>())
    }

    /// The run of a comparison, at time 0.
    ///
    /// # Errors
    /// An index beyond the list.
    pub fn ghost(&self, index: usize) -> Result<Simulation, JsValue> {
        let missing =
            || JsValue::from_str("{\"message\":\"no such comparison\",\"line\":null,\"column\":null}");
        let ghosts = self.run.ghosts();
        let run = ghosts.get(index).ok_or_else(missing)?.run.start();
        run.map(Self::of).map_err(|problem| thrown(&problem))
    }
}
