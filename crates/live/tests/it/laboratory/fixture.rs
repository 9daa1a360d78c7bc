//! The requirements of a test: a namespace with Linux, an endpoint of mptcplab, and devices between them.
//!
//! Owns their setup, and whether the test runs alone. If the machine lacks a feature, the test is skipped with the
//! reason; in CI (an environment variable) it fails.

use mptcp_live::{Driver, Edge, Interface, Offload};

use super::{LIMIT, Namespace, alone, or_skip, ours, ours6, within};

/// The requirements of a test, as a builder.
#[must_use]
pub struct Fixture {
    paths: u8,
    offload: Offload,
    edge: Box<dyn Fn(u8) -> Option<Edge> + Send>,
    alone: bool,
}

impl Fixture {
    /// Uses this number of devices, with all offloads.
    pub fn paths(paths: u8) -> Self {
        Self { paths, offload: Offload::Full, edge: Box::new(|_| None), alone: false }
    }

    pub fn offload(self, offload: Offload) -> Self {
        Self { offload, ..self }
    }

    /// Sets the impairments of the devices, which are numbered from 1.
    pub fn edge(self, edge: impl Fn(u8) -> Option<Edge> + Send + 'static) -> Self {
        Self { edge: Box::new(edge), ..self }
    }

    /// Runs the test while no other test runs.
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Runs a test for at most [`LIMIT`].
    pub fn run(self, test: impl FnOnce(Namespace, Driver) + Send + 'static) {
        let is_alone = self.alone;
        let test = move || {
            if let Some((namespace, driver)) = self.build() {
                test(namespace, driver);
            }
        };
        if is_alone { alone(LIMIT, test) } else { within(LIMIT, test) }
    }

    /// Sets up without running a test, for tests that need several setups.
    pub fn build(self) -> Option<(Namespace, Driver)> {
        or_skip(self.try_build())
    }

    fn try_build(self) -> Result<(Namespace, Driver), String> {
        let namespace = Namespace::try_bare()?;
        let mut interfaces = Vec::new();
        for path in 1..=self.paths {
            let tun = namespace.device(path, self.offload)?;
            let addresses = [ours(path), ours6(path.into())];
            interfaces.push(Interface { edge: (self.edge)(path), ..Interface::new(tun, addresses) });
        }
        let driver = Driver::start(interfaces).map_err(|error| error.to_string())?;
        Ok((namespace, driver))
    }
}
