//! Scenarios: descriptions of a network and its flows in TOML, which the simulator and the emulator run.
//!
//! [`mod@file`] is the only definition of the format. The JSON Schema and the reference page come from it. A
//! [`Draft`] holds the values as written, with the file and line of each (the place). [`Draft::finish`]
//! validates them and returns a [`Scenario`] of plain numbers. Nothing here runs a simulation.
//!
//! Processing of a value: text -> tree with places (`tree`) -> old names translated (`deprecated`) ->
//! includes merged (`files`) -> overrides (`draft`) -> keys, types, units and names checked against the
//! schema (`check`) -> `defaults` added to flows (`draft`) -> topologies expanded (`fabrics`) -> serde
//! ([`mod@file`]) -> defaults of missing keys and cross-checks (`resolve`) -> [`Scenario`].

mod check;
pub mod deprecated;
mod draft;
mod drawn;
pub(crate) mod error;
mod estimate;
mod fabrics;
pub mod file;
mod files;
mod impaired;
mod keys;
pub(crate) mod kind_schema;
pub(crate) mod kinds;
mod line;
mod middleboxes;
mod model;
pub mod names;
mod nearest_key;
pub(crate) mod parameters;
mod policies;
mod reach;
mod recording;
pub(crate) mod reference;
mod regular;
mod repetitions;
mod resolve;
pub(crate) mod schema;
mod synonyms;
mod tree;
pub mod units;
mod wifi;
mod write;
mod written;

pub use draft::Draft;
pub use error::{Place, ScenarioError, nearest_word};
pub use kinds::Chosen;
pub use model::{
    Adjustment, Background, Cell, Coupling, Estimate, Event, Filter, Flow, HostJitter, Limits, Link,
    LinkDirection, LinkKind, Mechanisms, Middlebox, PolicyChange, Route, Scenario, Station, Switch, Tcp,
    Traffic, Way,
};
pub(crate) use names::is_called;
pub use parameters::Parameters;
pub(crate) use policies::MAX_SUBFLOWS;
pub use policies::Policy;
pub(crate) use reach::way_out;
pub use recording::{Recorded, Recording, Recordings, Start, Step};
#[doc(hidden)]
pub use synonyms::WORDS;

pub use crate::registry::{json_schema, reference_page};
