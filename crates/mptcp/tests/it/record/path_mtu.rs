//! Paths with a small MTU, and devices with segmentation offload.

use mptcp::{Config, LinuxCompat, MtuProbing};

use super::check_with_details;
use super::link::Link;
use super::scenario::Scenario;

#[test]
fn path_mtus_match_the_record() {
    let mut all = Vec::new();
    for (kind, base) in [("mptcp", Config::default()), ("tcp", Config::tcp())] {
        for probing in [MtuProbing::Off, MtuProbing::BlackHole, MtuProbing::On] {
            let config = Config { mtu_probing: probing, ..base.clone() };
            let wide = Config { mss: 8960, linux_compat: LinuxCompat::LINUX, ..config.clone() };
            let (near, far) = (Link::new(10, 2500, 90), Link::new(20, 2500, 90));
            for (mtu, told) in
                [(1500, true), (1400, true), (900, true), (68, true), (1280, false), (600, false)]
            {
                let name = format!("{kind}, {probing:?}, {mtu}, told {told}");
                let links = [near.clone().mtu(mtu, told), far.clone()];
                let get = |name: String, config: &Config| {
                    let whole = told || probing != MtuProbing::Off;
                    let scenario = Scenario::new(name, config.clone(), &links).up(250_000).until(60_000);
                    if whole && mtu > 100 { scenario } else { scenario.ends_otherwise() }
                };
                all.push(get(name.clone(), &config));
                all.push(get(format!("{name}, jumbo"), &wide));
            }
            let both = [near.clone().mtu(1300, true), far.clone().mtu(1350, false)];
            all.push(
                Scenario::new(
                    format!("{kind}, {probing:?}, it shrinks on the way"),
                    config.clone(),
                    std::slice::from_ref(&near),
                )
                .up(400_000)
                .at(120, |w| w.links[0].mtu = Some((1000, true)))
                .at(300, |w| w.links[0].mtu = Some((700, true))),
            );
            let hidden = Scenario::new(format!("{kind}, {probing:?}, two that differ"), wide.clone(), &both);
            all.push(hidden.up(400_000).down(50_000).until(100_000).ends_otherwise());
            for (mtu, v6) in [
                (9_000, false),
                (1_200, false),
                (0, false),
                (40, false),
                (1_300, true),
                (600, true),
                (0, true),
            ] {
                // A router reports the error for all packets for a while.
                let path = Link { v6, ..near.clone() };
                let name = format!("{kind}, {probing:?}, a router says {mtu}, version 6 {v6}");
                let said = Scenario::new(name, config.clone(), std::slice::from_ref(&path)).up(300_000);
                let error = mptcp::IcmpError::TooBig { mtu };
                let said = said.at(90, move |w| w.links[0].refuses = Some(error));
                all.push(said.at(130, |w| w.links[0].refuses = None));
            }
            for gso in [3_000, 20_000, 65_535] {
                let cut = |link: &Link| Link { gso, ..link.clone() };
                let links = [cut(&near), cut(&far).loss(0.003)];
                let name = format!("{kind}, {probing:?}, cut from {gso}");
                all.push(Scenario::new(name.clone(), config.clone(), &links).up(500_000).down(50_000));
                let slow = Scenario::new(format!("{name}, blocks"), config.clone(), &links);
                all.push(slow.up(200_000).blocks(5_000, 9));
            }
        }
    }
    check_with_details("path_mtu", &["mptcp, Off, 1280"], all);
}
