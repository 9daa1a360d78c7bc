//! A peer that knows the keys and means harm.
//!
//! Owns the hostile side of all tests: a peer made by hand that speaks valid MPTCP in every state and deviates where it
//! chooses ([`peer`]), attacks by name ([`attacks`]), random cases ([`arena`]), the counting of memory and work
//! ([`meter`]) and the budgets that a host keeps ([`budget`]). Tests, the fuzz target `endpoint` and the programs in
//! `examples/` share it. Never part of what is shipped, and never knows what the host looks like inside.
//!
//! ```text
//! cargo test -p mptcp-hostile                              the corpus, and some thousand random cases
//! HOSTILE_CASES=100000 cargo test -p mptcp-hostile --release --test it random:: -- --nocapture
//! HOSTILE_TRACE=1 cargo run -p mptcp-hostile --release --example case -- 17      one case, told
//! cargo run -p mptcp-hostile --release --example attacks   the table: memory and time at three sizes
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
