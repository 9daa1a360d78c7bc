//! Owns what a test asks of the machine: a namespace with Linux in it and an endpoint of ours, joined by devices;
//! and whether it runs alone. Where the machine lacks something the test skips with the reason;
//! in CI (the variable is set) it fails.

use mptcp_live::{Driver, Edge, Interface, Offload};

use super::{LIMIT, Namespace, alone, or_skip, ours, ours6, within};

/// What a test needs, said one thing after the other.
#[must_use]
pub struct Fixture {
    paths: u8,
    offload: Offload,
    edge: Box<dyn Fn(u8) -> Option<Edge> + Send>,
    alone: bool,
}

impl Fixture {
    /// So many devices, which offload what they can.
    pub fn paths(paths: u8) -> Self {
        Self { paths, offload: Offload::Full, edge: Box::new(|_| None), alone: false }
    }

    pub fn offload(self, offload: Offload) -> Self {
        Self { offload, ..self }
    }

    /// A bad network at the devices, which are numbered from 1.
    pub fn edge(self, edge: impl Fn(u8) -> Option<Edge> + Send + 'static) -> Self {
        Self { edge: Box::new(edge), ..self }
    }

    /// No other test runs meanwhile.
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Runs a test with it, for at most [`LIMIT`].
    pub fn run(self, test: impl FnOnce(Namespace, Driver) + Send + 'static) {
        let is_alone = self.alone;
        let test = move || {
            if let Some((namespace, driver)) = self.build() {
                test(namespace, driver);
            }
        };
        if is_alone { alone(LIMIT, test) } else { within(LIMIT, test) }
    }

    /// Without a test around it, for one that needs several.
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
