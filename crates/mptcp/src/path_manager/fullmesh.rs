//! The full-mesh path manager, the default: a subflow for each pair of addresses, as Linux's `fullmesh`
//! endpoint flag. It uses every path between two hosts with several interfaces.

use crate::path_manager::{Pair, PathManager, PathView};

/// Requests every pair of a local and a remote address of the same IP version.
#[derive(Clone, Copy, Debug)]
pub struct FullMesh;

impl PathManager for FullMesh {
    fn name(&self) -> &'static str {
        "fullmesh"
    }

    fn missing(&mut self, view: &PathView<'_>, missing: &mut Vec<Pair>) {
        let PathView { local, remote, existing, .. } = *view;
        for &local in local {
            for &remote in remote {
                let same_family = local.address.is_ipv4() == remote.address.is_ipv4();
                let exists = existing
                    .iter()
                    .any(|pair| pair.local.id == local.id && pair.remote.address == remote.address);
                if same_family && !exists {
                    missing.push(Pair { local, remote });
                }
            }
        }
    }
}
