//! A malicious peer that knows the keys, for tests of the endpoint.
//!
//! Owns a scripted peer that sends valid MPTCP in every state and deviates on demand ([`peer`]), named attacks
//! ([`attacks`]) and random cases ([`arena`]). The host is the endpoint under attack. Also owns the metering of memory
//! and work ([`meter`]) and the host's budgets ([`budget`]). Tests, the fuzz target `endpoint` and the programs in
//! `examples/` share it. Never part of a release, and never accesses the host's internals.
//!
//! ```text
//! cargo test -p mptcp-hostile                              the corpus, and 2,000 random cases
//! HOSTILE_CASES=100000 cargo test -p mptcp-hostile --release --test it random:: -- --nocapture
//! HOSTILE_TRACE=1 cargo run -p mptcp-hostile --release --example case -- 17      one case, with a trace
//! cargo run -p mptcp-hostile --release --example attacks   memory and time at three sizes
//! cargo run -p mptcp-hostile --release --example soak      a day of virtual time, a million connections
//! ```
#![deny(unsafe_op_in_unsafe_fn)]

pub mod arena;
pub mod attacks;
pub mod budget;
pub mod draw;
pub mod meter;
pub mod peer;
pub mod scene;
pub mod soak;
pub mod verdict;

#[global_allocator]
static ALLOCATOR: meter::Meter = meter::Meter;
