//! Tests of captures, of the numbers in reports, and of verdicts.
#![allow(clippy::unwrap_used, reason = "tests")]

mod causes;
mod common;
mod corpus;
mod files;
mod hostile;
mod links;
mod multipath;
mod numbers;
mod packets;
mod places;
mod schema;
mod verdicts;
