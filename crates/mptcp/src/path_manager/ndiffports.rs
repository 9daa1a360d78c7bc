//! The ndiffports path manager: several subflows between one pair of addresses, with different ports.
//! Networks that balance load by ports (ECMP) send these subflows over different routes.

use crate::path_manager::{Pair, PathManager, PathView, RemoteAddress};

/// Requests `subflows` subflows between the first pair of addresses.
#[derive(Clone, Copy, Debug)]
pub struct NdiffPorts {
    /// Total number of subflows.
    pub subflows: u8,
}

impl PathManager for NdiffPorts {
    fn name(&self) -> &'static str {
        "ndiffports"
    }

    fn missing(&mut self, view: &PathView<'_>, missing: &mut Vec<Pair>) {
        let PathView { local, remote, existing, .. } = *view;
        let Some(&local) = local.iter().min_by_key(|a| a.id) else { return };
        let same_family = |a: &&RemoteAddress| a.address.is_ipv4() == local.address.is_ipv4();
        let Some(&remote) = remote.iter().filter(same_family).min_by_key(|a| a.id) else { return };
        for _ in existing.len()..usize::from(self.subflows) {
            missing.push(Pair { local, remote });
        }
    }

    fn shares_addresses(&self) -> bool {
        true
    }
}
