//! The k-ary fat tree: Al-Fares, Loukissas and Vahdat, A Scalable, Commodity Data Center Network Architecture,
//! SIGCOMM 2008, section 2.2.
//!
//! Owns the names and links for `topology = { kind = "fat_tree" }`: k pods with k/2 edge and k/2 aggregation
//! switches, (k/2)^2 core switches, k^3/4 hosts.

use super::plan::{Fabric, host};

/// Maximum k, which has 16,000 hosts: k = 42 would have 18,522.
pub(super) const MOST: i64 = 40;

pub(super) fn build(k: u32) -> Result<Fabric, String> {
    if k < 2 || k % 2 == 1 {
        let (below, above) = ((k & !1).max(2), (k + 1).clamp(2, MOST as u32));
        let near = if below == above { format!("{below}") } else { format!("{below} or {above}") };
        return Err(format!(
            "must be even, between 2 and {MOST}: a switch has k/2 ports up and k/2 down (try {near})"
        ));
    }
    let half = k as usize / 2;
    let mut links = Vec::new();
    let (edge, aggregation) = (|pod, at| format!("edge-{pod}-{at}"), |pod, at| format!("agg-{pod}-{at}"));
    for pod in 0..k as usize {
        for at in 0..half {
            let first = (pod * half + at) * half;
            links.extend((first..first + half).map(|number| [host(number), edge(pod + 1, at + 1)]));
        }
    }
    for pod in 1..=k as usize {
        for at in 1..=half {
            links.extend((1..=half).map(|up| [edge(pod, at), aggregation(pod, up)]));
        }
    }
    for pod in 1..=k as usize {
        for at in 0..half {
            // Aggregation switch i of each pod connects to group i of the core switches.
            links.extend(
                (1..=half).map(|core| [aggregation(pod, at + 1), format!("core-{}", at * half + core)]),
            );
        }
    }
    let hosts = (0..k as usize * half * half).map(host).collect();
    Ok(Fabric { hosts, links, relays: false })
}
