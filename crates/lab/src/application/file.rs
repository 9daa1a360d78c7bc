//! The application of flows with `bytes`: sends a fixed number of bytes, then closes the connection.

use mptcp_clock::Instant;

use super::{Application, Outlet};

#[derive(Debug)]
pub(crate) struct File {
    bytes: u64,
}

impl File {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes }
    }
}

impl Application for File {
    fn write(&mut self, _now: Instant, outlet: &mut Outlet<'_>) {
        if outlet.write_to(self.bytes) {
            outlet.close();
        }
    }

    fn waits_since(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }
}
