//! BCube: Guo et al., BCube: A High Performance, Server-centric Network Architecture for Modular Data Centers,
//! SIGCOMM 2009, section 3.1.
//!
//! Owns the names and links for `topology = { kind = "bcube" }`. BCube_k with n-port switches has n^(k+1)
//! hosts with k+1 ports each, and n^k switches on each of its k+1 levels. A switch of level i joins the hosts
//! whose numbers in base n differ only in digit i.

use super::super::model::Limits;
use super::plan::{Fabric, host};

/// Maximum number of ports per switch. A BCube_0 has as many hosts as ports.
pub(super) const MAX_PORTS: i64 = 128;
/// The highest level. With two ports per switch, a higher one would have too many hosts.
pub(super) const MAX_LEVEL: i64 = 6;

pub(super) fn build(n: u32, k: u32) -> Result<Fabric, (&'static str, String)> {
    if n < 2 {
        return Err(("n", "must be at least 2 (try 4)".to_owned()));
    }
    let base = n as usize;
    let count = base.checked_pow(k + 1).filter(|&count| count <= Limits::MAX_HOSTS);
    let Some(count) = count else {
        let most = (0..k).rev().find(|&k| base.pow(k + 1) <= Limits::MAX_HOSTS).unwrap_or(0);
        let many: f64 = (0..=k).map(|_| f64::from(n)).product();
        let most_hosts = Limits::MAX_HOSTS;
        return Err((
            "k",
            format!("must give at most {most_hosts} hosts, but n^(k+1) is {many} (try k = {most})"),
        ));
    };
    let mut links = Vec::new();
    for number in 0..count {
        for level in 0..=k {
            let unit = base.pow(level);
            // The switch number is the host number without the digit of this level.
            let switch = number / (unit * base) * unit + number % unit;
            links.push([host(number), format!("s{level}-{}", switch + 1)]);
        }
    }
    Ok(Fabric { hosts: (0..count).map(host).collect(), links, relays: true })
}
