//! Several subflows between one pair of addresses, told apart by their ports.

use super::{LocalAddress, Pair, PathManager, RemoteAddress};

/// Splits one path's traffic, for networks that spread flows by port.
#[derive(Clone, Copy, Debug)]
pub struct NdiffPorts {
    /// Subflows in all.
    pub subflows: u8,
}

impl PathManager for NdiffPorts {
    fn name(&self) -> &'static str {
        "ndiffports"
    }

    fn missing(
        &self,
        local: &[LocalAddress],
        remote: &[RemoteAddress],
        existing: &[Pair],
        missing: &mut Vec<Pair>,
    ) {
        let (Some(&local), Some(&remote)) =
            (local.iter().min_by_key(|a| a.id), remote.iter().min_by_key(|a| a.id))
        else {
            return;
        };
        for _ in existing.len()..usize::from(self.subflows) {
            missing.push(Pair { local, remote });
        }
    }
}
