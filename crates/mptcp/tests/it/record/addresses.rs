//! Subflows that open and close: announced and removed addresses, interface changes, backups, lost joins.

use mptcp::path_manager::{NdiffPorts, PathManager};
use mptcp::policy::{Factory, Parameters, Policies, Value};
use mptcp::{Announced, Config, IcmpError, InterfaceChange, InterfaceId, LinuxCompat, Version};
use mptcp_clock::Duration;
use mptcp_wire::MptcpOption;

use super::check_with_details;
use super::hosts::server_address;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, PORT, SERVER};

/// Linux's path manager with endpoints of each type.
fn kernel() -> Factory<dyn PathManager> {
    let values = Parameters::default()
        .with("endpoints", Value::Text("dev 1 subflow signal, dev 2 signal backup, any laminar".into()))
        .with("subflows", Value::Integer(8))
        .with("add_addr_accepted", Value::Integer(8));
    Policies::default().path_managers.find_with("kernel", values).unwrap()
}

fn kinds() -> Vec<(&'static str, Config)> {
    vec![
        ("v1", Config::default()),
        ("v0", Config { version: Version::V0, ..Config::default() }),
        ("linux", Config { linux_compat: LinuxCompat::LINUX, ..Config::default() }),
        ("historical", Config::historical()),
        ("kernel", Config { path_manager: kernel(), ..Config::default() }),
        ("ndiffports", Config { path_manager: NdiffPorts { subflows: 2 }.into(), ..Config::default() }),
    ]
}

#[test]
fn addresses_match_the_record() {
    let policies = Policies::default();
    assert_eq!(
        policies.path_managers.names().collect::<Vec<_>>(),
        ["fullmesh", "ndiffports", "kernel"],
        "see kinds()"
    );
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(10, 800, 40), Link::new(25, 800, 40), Link::new(40, 400, 40)];
        let of = |config: &Config, what: &str| {
            Scenario::new(format!("{name}, {what}"), config.clone(), &links[..2]).up(400_000).down(20_000)
        };
        let new = |what: &str| of(&config, what);
        all.push(new("two addresses each").servers(&[false, false]));
        all.push(new("three addresses of the server's").servers(&[false; 3]));
        all.push(
            new("an interface that goes")
                .at(200, |w| w.interface(CLIENT, 1, InterfaceChange::Down))
                .at(600, |w| w.interface(CLIENT, 1, InterfaceChange::Up)),
        );
        all.push(
            new("the first interface goes")
                .at(200, |w| w.interface(CLIENT, 0, InterfaceChange::Down))
                .at(900, |w| w.interface(CLIENT, 0, InterfaceChange::Up)),
        );
        all.push(
            new("both go, and one comes back")
                .at(200, |w| {
                    w.interface(CLIENT, 0, InterfaceChange::Down);
                    w.interface(CLIENT, 1, InterfaceChange::Down);
                })
                .at(2_000, |w| w.interface(CLIENT, 1, InterfaceChange::Up)),
        );
        all.push(
            new("both go for good")
                .at(200, |w| {
                    w.interface(CLIENT, 0, InterfaceChange::Down);
                    w.interface(CLIENT, 1, InterfaceChange::Down);
                })
                .ends_otherwise(),
        );
        all.push(
            new("the server's second address goes and comes back")
                .servers(&[false, false])
                .at(200, |w| w.interface(SERVER, 1, InterfaceChange::Down))
                .at(500, |w| w.interface(SERVER, 1, InterfaceChange::Up)),
        );
        all.push(
            new("the server's first address goes")
                .servers(&[false, false])
                .at(200, |w| w.interface(SERVER, 0, InterfaceChange::Down)),
        );
        all.push(
            new("a backup by word of the client's")
                .at(150, |w| w.interface(CLIENT, 1, InterfaceChange::Backup(true)))
                .at(450, |w| w.interface(CLIENT, 1, InterfaceChange::Backup(false))),
        );
        all.push(
            new("the first is a backup, and the other goes")
                .at(150, |w| w.interface(CLIENT, 0, InterfaceChange::Backup(true)))
                .at(450, |w| w.links[1].dead = true),
        );
        all.push(
            new("a backup by word of the server's")
                .servers(&[false, false])
                .at(150, |w| w.interface(SERVER, 1, InterfaceChange::Backup(true))),
        );
        all.push(new("a subflow by hand and one less").at(150, |w| {
            let (id, now) = (w.id(CLIENT), w.now);
            w.ends[CLIENT].open_subflow(now, id, InterfaceId(1), (server_address(0, false), PORT).into());
            let first = w.ends[CLIENT].info(now, id).unwrap().subflows[0].id;
            w.ends[CLIENT].close_subflow(now, id, first);
        }));
        let few = Config { max_subflows: 1, ..config.clone() };
        let three = Scenario::new(format!("{name}, one more and not two"), few, &links).up(300_000);
        all.push(three);
        let three = Scenario::new(format!("{name}, three paths"), config.clone(), &links).up(500_000);
        all.push(three.servers(&[false, false]).at(300, |w| w.interface(CLIENT, 2, InterfaceChange::Down)));
        let closed = Config { join_initial_address: false, ..config.clone() };
        all.push(of(&closed, "no join to the first address").servers(&[false, false]));
        let told = Announced { id: 7, address: server_address(1, false) };
        let closed = Config { announce: Some(vec![told]), ..config.clone() };
        all.push(of(&config, "one is announced by number").server(closed).servers(&[false, false]));
        let quick = Config { announce_timeout: Duration::from_millis(200), ..config.clone() };
        let lost = of(&quick, "announcements are lost").servers(&[false, false]);
        all.push(lost.middlebox(Box::new(|p| {
            p.segment.options.mptcp.retain(|o| !matches!(o, MptcpOption::AddAddress(_)));
            true
        })));
        let echoes = of(&quick, "echoes are lost").servers(&[false, false]);
        all.push(echoes.middlebox(Box::new(|p| {
            p.segment.options.mptcp.retain(|o| !matches!(o, MptcpOption::AddAddress(add) if add.echo));
            true
        })));
        all.push(
            new("a join whose SYN is lost twice").middlebox(Box::new(|p| !(p.path == 1 && p.number < 2))),
        );
        all.push(
            new("a join whose SYN/ACK is lost")
                .middlebox(Box::new(|p| p.path != 1 || p.to_server || p.number > 0)),
        );
        all.push(
            new("a join whose third ACK is lost thrice")
                .middlebox(Box::new(|p| p.path != 1 || !p.to_server || p.number == 0 || p.number > 3)),
        );
        all.push(new("a join that is reset").at(36, |w| w.links[1].dead = true).at(300, |w| {
            w.links[1].dead = false;
            let sequence = mptcp_wire::Seq::default();
            w.notice(0, sequence, IcmpError::HostUnreachable);
        }));
        if name == "v1" {
            // More subflows than the history keeps.
            let mut flaps = new("ninety times an interface comes and goes").up(240_000).blocks(2_000, 50);
            for number in 0..90 {
                flaps = flaps
                    .at(200 + 60 * number, |w| w.interface(CLIENT, 1, InterfaceChange::Down))
                    .at(225 + 60 * number, |w| w.interface(CLIENT, 1, InterfaceChange::Up));
            }
            all.push(flaps);
        }
        let six =
            [Link { v6: true, ..links[0].clone() }, links[1].clone(), Link { v6: true, ..links[2].clone() }];
        all.push(
            Scenario::new(format!("{name}, both families"), config.clone(), &six)
                .servers(&[true, false])
                .up(300_000),
        );
        all.push(
            Scenario::new(format!("{name}, version 6 alone"), config, &[six[0].clone(), six[2].clone()])
                .up(200_000),
        );
    }
    let full = ["v1, two", "v1, an interface", "v1, the first", "v1, a backup", "v1, both families"];
    check_with_details("addresses", &full, all);
}
