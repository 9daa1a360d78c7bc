//! The application of flows with `bulk`: sends as fast as the network accepts, without end.

use mptcp_clock::Instant;

use super::{Application, Outlet};

#[derive(Debug)]
pub(crate) struct Bulk;

impl Application for Bulk {
    fn write(&mut self, _now: Instant, outlet: &mut Outlet<'_>) {
        outlet.write_to(u64::MAX);
    }

    fn waits_since(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }
}
