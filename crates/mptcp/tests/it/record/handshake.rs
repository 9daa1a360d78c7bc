//! Handshakes: lost and refused SYNs, full listeners, cookies, Fast Open, and peers with fewer options.

use mptcp::{Config, Ecn, IcmpError, InterfaceId, ServerFastOpen, Version};

use super::app::App;
use super::check_with_details;
use super::hosts::server_address;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, PORT, Passing, SERVER, World};

fn kinds() -> Vec<(&'static str, Config)> {
    vec![
        ("v1", Config::default()),
        ("v0", Config { version: Version::V0, ..Config::default() }),
        ("v1, checksum", Config { checksum: true, ..Config::default() }),
        ("tcp", Config::tcp()),
        ("plain options", Config { sack: false, timestamps: false, ..Config::default() }),
        ("marks", Config { ecn: Some(Ecn::On), ..Config::default() }),
    ]
}

/// Drops the segments with these numbers in one direction of the first path.
fn without(to_server: bool, numbers: &'static [u64]) -> Box<dyn FnMut(&mut Passing<'_>) -> bool> {
    Box::new(move |p| p.path != 0 || p.to_server != to_server || !numbers.contains(&p.number))
}

fn calls(w: &mut World, config: &Config, count: u64) {
    for number in 0..count {
        let apps = [App { goal: 2_000 + number, ..App::default() }, App { goal: 3_000, ..App::default() }];
        w.connect(0, config.clone(), PORT, apps);
    }
}

fn fast(w: &mut World, config: Config, data: usize, cookies: bool) {
    let remote = (server_address(0, false), PORT).into();
    let apps = [App::default(), App { goal: 500, ..App::default() }];
    let early = super::app::from(0, data as u64);
    let id = w.ends[CLIENT].connect_fast_open(w.now, InterfaceId(0), remote, config, early, cookies);
    let mut flow = super::world::Flow { ids: [id.ok(), None], apps };
    (flow.apps[CLIENT].goal, flow.apps[CLIENT].written) = (data as u64, data as u64);
    w.flows.push(flow);
}

#[test]
fn handshakes_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(20, 1250, 60), Link::new(30, 1250, 60)];
        let of = |config: &Config, what: &str| {
            Scenario::new(format!("{name}, {what}"), config.clone(), &links).up(30_000).down(5_000)
        };
        let new = |what: &str| of(&config, what);
        all.push(new("nothing is lost"));
        all.push(new("two SYNs are lost").middlebox(without(true, &[0, 1])));
        all.push(new("two SYN/ACKs are lost").middlebox(without(false, &[0, 1])));
        all.push(new("the third ACK and what follows are lost").middlebox(without(true, &[1, 2, 3, 4, 5])));
        all.push(new("the server speaks first, its third ACK lost").up(0).middlebox(without(true, &[1])));
        all.push(
            new("nobody is there")
                .at(0, |w| w.links[0].dead = true)
                .ends_otherwise()
                .server(Config::default()),
        );
        let once = Config { syn_retries: 2, ..config.clone() };
        all.push(of(&once, "nobody is there, few tries").at(0, |w| w.links[0].dead = true).ends_otherwise());
        all.push(new("nobody listens").deaf().ends_otherwise());
        let late = config.clone();
        all.push(new("somebody listens late").deaf().middlebox(without(true, &[0])).at(500, move |w| {
            w.ends[SERVER].listen(PORT, late).unwrap();
        }));
        for error in [IcmpError::HostUnreachable, IcmpError::PortUnreachable, IcmpError::Prohibited] {
            let refused = new(&format!("{error:?}")).deaf().middlebox(without(true, &[0, 1]));
            all.push(refused.ends_otherwise().at(300, move |w| {
                let found = w.ends[CLIENT].info(w.now, w.id(CLIENT)).unwrap();
                let first = found.subflows[0].clone();
                for sequence in [0_u32, 1 << 31] {
                    let sequence = mptcp_wire::Seq::default() + sequence;
                    w.notice(0, sequence, error);
                }
                assert!(first.icmp.is_none());
            }));
        }
        for (other, there) in kinds() {
            all.push(new(&format!("to {other}")).server(there));
        }
        let (near, other) = (config.clone(), config.clone());
        all.push(
            new("a full listener")
                .mute()
                .deaf()
                .at(0, move |w| {
                    w.accepts = false;
                    w.ends[SERVER].listen_on(PORT, other, Some(vec![InterfaceId(0)]), Some(3)).unwrap();
                    calls(w, &near, 9);
                })
                .at(900, |w| {
                    w.accepts = true;
                    for number in 0..3 {
                        let id = w.flows[number].ids[SERVER].unwrap();
                        w.ends[SERVER].accept(id);
                    }
                })
                .ends_otherwise()
                .until(20_000),
        );
        for (what, there) in [("alike", config.clone()), ("of the default", Config::default())] {
            let near = config.clone();
            all.push(
                new(&format!("many callers at a small listener {what}, by cookies"))
                    .mute()
                    .deaf()
                    .at(0, move |w| {
                        w.ends[SERVER].listen_on(PORT, there, None, Some(2)).unwrap();
                        calls(w, &near, 7);
                    })
                    .until(90_000),
            );
        }
        let without_cookies = Config { syn_cookies: false, ..config.clone() };
        let near = config.clone();
        all.push(
            new("a full listener without cookies")
                .mute()
                .deaf()
                .at(0, move |w| {
                    w.ends[SERVER].listen_on(PORT, without_cookies, None, Some(2)).unwrap();
                    calls(w, &near, 7);
                })
                .until(90_000),
        );
        let (near, other) = (config.clone(), config.clone());
        all.push(
            new("a listener that ends")
                .mute()
                .deaf()
                .at(0, move |w| {
                    w.ends[SERVER].listen_on(PORT, other.clone(), None, Some(4)).unwrap();
                    w.ends[SERVER].listen(PORT + 1, other).unwrap();
                    calls(w, &near, 3);
                })
                .at(25, |w| {
                    w.ends[SERVER].unlisten(PORT);
                })
                .until(90_000),
        );
        let fast_open = Some(ServerFastOpen { key: [7, 8], old_key: None, cookies: false });
        let (near, there) = (config.clone(), Config { fast_open, ..config.clone() });
        all.push(
            new("fast open at a full listener")
                .mute()
                .deaf()
                .at(0, move |w| {
                    w.ends[SERVER].listen_on(PORT, there, None, Some(1)).unwrap();
                    for size in [100, 300, 900, 2_000] {
                        fast(w, near.clone(), size, false);
                    }
                })
                .until(90_000),
        );
        for error in [IcmpError::NetworkUnreachable, IcmpError::TimeExceeded, IcmpError::ProtocolUnreachable]
        {
            let mut refusing = links.clone();
            refusing[0].refuses = Some(error);
            let what = format!("{name}, a router says {error:?}");
            let refused = Scenario::new(what, config.clone(), &refusing).ends_otherwise();
            all.push(refused.at(500, |w| w.links[0].refuses = None));
        }
        for (cookies, key) in [(true, [1, 2]), (false, [3, 4])] {
            let fast_open = Some(ServerFastOpen { key, old_key: Some([5, 6]), cookies });
            let there = Config { fast_open, ..config.clone() };
            for size in [100, 1_000, 5_000] {
                let (first, second) = (config.clone(), config.clone());
                let scenario =
                    new(&format!("fast open, cookies {cookies}, {size} bytes")).server(there.clone());
                all.push(
                    scenario
                        .mute()
                        .at(0, move |w| fast(w, first, size, cookies))
                        .at(1_000, move |w| fast(w, second, size, cookies)),
                );
            }
        }
    }
    check_with_details(
        "handshake",
        &["v1, nothing", "v1, fast", "v1, a full", "v1, many", "tcp, a full"],
        all,
    );
}
