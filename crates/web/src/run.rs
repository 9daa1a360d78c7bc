//! A run that a person watches and changes.
//!
//! Owns the text of the scenario, the world that runs it, and the position in time. A change is written into the text
//! first. The world takes it over if it only adds later events; otherwise a new world starts, and the caller advances it
//! to the present time again. So the text always describes the whole run, and the same text and seed always give the
//! same run.

use mptcp_lab::events::Filter;
use mptcp_lab::reasons::{FlowFacts, sentences};
use mptcp_lab::scenario::{Draft, Scenario, ScenarioError};
use mptcp_lab::world::{RunError, World};
use mptcp_lab::{Duration, Instant};
use serde::Serialize;

use crate::action::Action;
use crate::edit;

/// The name of the text in messages.
pub const FILE: &str = "scenario.toml";
/// Segments that are kept for the sequence diagram.
const SEGMENTS: usize = 400;
/// Maximum size of a capture, bytes.
const CAPTURE: usize = 256 << 20;
/// Maximum memory of a run, bytes; WebAssembly has at most 4 GB, and the text of a scenario can raise its own limit.
const MEMORY: f64 = 1.5e9;
/// Maximum number of comparisons with plain TCP.
const GHOSTS: usize = 8;

/// An error of a scenario for the editor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Key, value, problem and fix.
    pub message: String,
    /// Line of the text, from 1; `None` if the error has no place in it.
    pub line: Option<usize>,
    /// Always `None`: errors refer to whole lines.
    pub column: Option<usize>,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None, column: None }
    }
}

impl From<ScenarioError> for Problem {
    fn from(error: ScenarioError) -> Self {
        let (ScenarioError::File { place, .. }
        | ScenarioError::Syntax { place, .. }
        | ScenarioError::Key { place, .. }
        | ScenarioError::Value { place, .. }) = &error;
        let whole = error.to_string();
        let message = whole.strip_prefix(&format!("{place}: ")).unwrap_or(&whole).to_owned();
        Self { message, line: place.line, column: None }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Self::new(error.to_string())
    }
}

/// A comparison with plain TCP.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// Index of the flow.
    pub flow: usize,
    /// The only path of the flow.
    pub path: String,
    /// The run.
    pub run: GhostRun,
}

/// Scenario and seed of a comparison.
#[derive(Clone, Debug)]
pub struct GhostRun {
    scenario: Scenario,
    seed: u64,
}

/// A run.
#[derive(Debug)]
pub struct Run {
    text: String,
    scenario: Scenario,
    seed: u64,
    world: World,
    reached: Instant,
}

impl Run {
    /// A run at time 0.
    ///
    /// # Errors
    /// An invalid scenario.
    pub fn load(text: &str, seed: u64) -> Result<Self, Problem> {
        let scenario = Draft::parse(text, FILE)?.finish()?;
        Self::of(text.to_owned(), scenario, seed)
    }

    fn of(text: String, scenario: Scenario, seed: u64) -> Result<Self, Problem> {
        let memory = scenario.estimate().memory;
        if memory > MEMORY {
            return Err(Problem::new(format!(
                "the run would take {:.1} GB of memory, but a browser has {:.1} GB: use fewer flows, shorter delays or \
                 queues, or run it on the command line",
                memory / 1e9,
                MEMORY / 1e9
            )));
        }
        let world = observed(&scenario, seed)?;
        Ok(Self { text, scenario, seed, world, reached: Instant::ZERO })
    }

    /// The text of the scenario, with all changes.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, for calls that update its counters.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Scenario and world.
    pub fn parts(&mut self) -> (&Scenario, &mut World) {
        (&self.scenario, &mut self.world)
    }

    /// The time that the run has reached.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.reached
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.reached >= self.world.end()
    }

    /// Runs until `time`, seconds, or to the end. Returns whether the end is not reached yet.
    ///
    /// # Errors
    /// A limit of the scenario is reached.
    pub fn advance(&mut self, time: f64) -> Result<bool, Problem> {
        let time = if time.is_finite() { Duration::from_secs_f64(time.max(0.0)) } else { Duration::MAX };
        let until = (Instant::ZERO + time).min(self.world.end());
        if until > self.reached {
            self.world.advance(until)?;
            self.reached = until.min(self.world.end());
        }
        Ok(!self.is_finished())
    }

    /// Processes the next event. Returns whether there was one.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self) -> Result<bool, Problem> {
        let next = self.world.advance_one()?;
        self.reached = next.unwrap_or_else(|| self.world.end()).max(self.reached);
        Ok(next.is_some())
    }

    /// Starts the run again at time 0.
    ///
    /// # Errors
    /// None in practice: the scenario has run before.
    pub fn restart(&mut self) -> Result<(), Problem> {
        self.world = observed(&self.scenario, self.seed)?;
        self.reached = Instant::ZERO;
        Ok(())
    }

    /// Replaces the text. Returns true if the run continues, false if it starts again at time 0.
    ///
    /// # Errors
    /// An invalid scenario; the run is then unchanged.
    pub fn edit(&mut self, text: &str) -> Result<bool, Problem> {
        let scenario = Draft::parse(text, FILE)?.finish()?;
        if self.world.amend(&scenario) {
            (self.text, self.scenario) = (text.to_owned(), scenario);
            return Ok(true);
        }
        *self = Self::of(text.to_owned(), scenario, self.seed)?;
        Ok(false)
    }

    /// Writes a change into the text, at `now`, seconds, or at the present time if that is later, and continues as
    /// [`Self::edit`]. A replay towards `now` may be going on.
    ///
    /// # Errors
    /// A change that names something unknown, or an invalid scenario; the run is then unchanged.
    pub fn act(&mut self, action: &Action, now: f64) -> Result<bool, Problem> {
        let now = self.reached.as_secs_f64().max(now);
        let text = edit::apply(&self.text, &self.scenario, action, now);
        self.edit(&text.map_err(|error| Problem::new(error.0))?)
    }

    /// A pcapng file of all interfaces from the start until now, with the first 256 bytes of each packet.
    ///
    /// # Errors
    /// A file of more than 256 MiB; otherwise as [`Self::advance`].
    pub fn capture(&self) -> Result<Vec<u8>, Problem> {
        let mut world = World::new(&self.scenario, self.seed).map_err(RunError::from)?;
        world.capture_in_memory(CAPTURE).map_err(RunError::from)?;
        world.observe(Filter::NONE);
        world.advance(self.reached)?;
        let (file, is_whole) = world.captured().unwrap_or_default();
        if !is_whole {
            return Err(Problem::new(
                "the capture has more than 256 MiB: go back to an earlier time, or run mptcplab run --pcap",
            ));
        }
        Ok(file.to_vec())
    }

    /// All samples until now as CSV, as `mptcplab run --format csv` writes them. Simulates the run again, because the
    /// world has handed its samples out.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn csv(&self) -> Result<String, Problem> {
        let mut world = World::new(&self.scenario, self.seed).map_err(RunError::from)?;
        world.advance(self.reached)?;
        let mut out = Vec::new();
        let flows: Vec<String> = self.scenario.flows.iter().map(|flow| flow.name.clone()).collect();
        let who = format!("{},{},", self.scenario.name, self.seed);
        // Writing to memory succeeds.
        let _ = mptcp_lab::write_samples(&mut out, &who, world.samples(), &flows, world.path_names());
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Sentences about what limits each flow so far; empty for a flow without data.
    pub fn reasons(&mut self) -> Vec<Vec<String>> {
        let now = self.reached;
        let flows = self.world.flows_so_far(now);
        flows.iter().map(|flow| sentences(&FlowFacts::from(flow))).collect()
    }

    /// Comparisons with plain TCP: one for each MPTCP flow and path, at most eight.
    #[must_use]
    pub fn ghosts(&self) -> Vec<Ghost> {
        let mut scenario = self.scenario.clone();
        // Each comparison is a scenario of its own, so only as many are made as are used.
        let mut left = GHOSTS;
        for flow in &mut scenario.flows {
            flow.baselines = left > 0;
            left -= left.min(flow.paths.len());
        }
        let place = |name: &str| self.scenario.flows.iter().position(|flow| flow.name == name);
        let ghosts = scenario.baselines().into_iter().filter_map(|one| {
            let run = GhostRun { scenario: one.scenario, seed: self.seed };
            Some(Ghost { flow: place(&one.flow)?, path: one.path, run })
        });
        ghosts.take(GHOSTS).collect()
    }
}

impl GhostRun {
    /// The run at time 0.
    ///
    /// # Errors
    /// As [`Run::load`].
    pub fn start(&self) -> Result<Run, Problem> {
        let world = World::new(&self.scenario, self.seed).map_err(RunError::from)?;
        let (scenario, seed) = (self.scenario.clone(), self.seed);
        Ok(Run { text: String::new(), scenario, seed, world, reached: Instant::ZERO })
    }
}

fn observed(scenario: &Scenario, seed: u64) -> Result<World, Problem> {
    let mut world = World::new(scenario, seed).map_err(RunError::from)?;
    let filter = Filter::named(EVENTS.iter().copied()).map_err(Problem::new)?;
    world.observe(filter);
    world.keep_segments(SEGMENTS);
    Ok(world)
}

/// The types of events that the page shows.
const EVENTS: [&str; 9] = [
    "schedule",
    "reinjection",
    "retransmission",
    "penalty",
    "loss",
    "timeout",
    "subflow_blocked",
    "subflow",
    "connection",
];
