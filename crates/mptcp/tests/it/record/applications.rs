//! Application patterns: small and large amounts, blocks, records, MSG_MORE, and many connections.

use mptcp::{Config, LinuxCompat, WriteFlags};
use mptcp_clock::Duration;

use super::app::App;
use super::check_with_details;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, PORT, SERVER};

fn kinds() -> Vec<(&'static str, Config)> {
    let linux_compat = LinuxCompat { minshall: true, push_where_writes_end: true, ..LinuxCompat::default() };
    vec![
        ("mptcp", Config::default()),
        ("tcp", Config::tcp()),
        ("no nagle", Config { nagle: false, ..Config::default() }),
        ("minshall", Config { linux_compat, ..Config::default() }),
        ("tcp like linux", Config { linux_compat: LinuxCompat::LINUX, ..Config::tcp() }),
    ]
}

#[test]
fn applications_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(15, 1250, 60), Link::new(25, 1250, 60)];
        let new = |what: &str| Scenario::new(format!("{name}, {what}"), config.clone(), &links);
        for size in [0, 1, 1419, 1420, 1421, 1449, 4_000, 14_200, 14_201, 30_000] {
            all.push(new(&format!("{size} bytes")).up(size));
            all.push(new(&format!("{size} bytes back")).up(100).down(size));
        }
        all.push(new("small blocks").up(8_000).blocks(80, 3));
        all.push(new("blocks that do not fill segments").up(40_000).blocks(2_000, 12));
        all.push(new("blocks with rests").up(40_000).blocks(4_000, 400));
        all.push(new("records").up(20_000).blocks(700, 2).app(CLIENT, |app| {
            app.flags = WriteFlags { end_of_record: true, more: false };
        }));
        all.push(new("more is promised").up(20_000).blocks(700, 45).app(CLIENT, |app| {
            app.flags = WriteFlags { more: true, end_of_record: false };
        }));
        all.push(
            new("more is promised for long, then not")
                .up(3_000)
                .blocks(300, 330)
                .app(CLIENT, |app| app.flags.more = true)
                .at(1_200, |w| {
                    let id = w.id(CLIENT);
                    w.ends[CLIENT].end_more(w.now, id);
                }),
        );
        all.push(
            new("corked")
                .up(9_000)
                .blocks(500, 60)
                .at(70, |w| {
                    let id = w.id(CLIENT);
                    w.ends[CLIENT].set_cork(w.now, id, true);
                })
                .at(400, |w| {
                    let id = w.id(CLIENT);
                    w.ends[CLIENT].set_cork(w.now, id, false);
                    w.ends[CLIENT].set_nodelay(w.now, id, true);
                }),
        );
        all.push(new("both at once").up(150_000).down(150_000));
        all.push(new("both in blocks").up(30_000).blocks(1_000, 11).down(30_000).app(SERVER, |app| {
            (app.block, app.every) = (900, Duration::from_millis(7));
        }));
        all.push(new("one ends long before the other").up(3_000).down(60_000).app(SERVER, |app| {
            (app.block, app.every) = (3_000, Duration::from_millis(150));
        }));
        all.push(new("nobody ends").up(30_000).app(CLIENT, |app| app.close = false).until(30_000));
        let waits = |what: &str| new(what).up(50_000).app(CLIENT, |app| app.close = false);
        all.push(waits("an end behind a rest").at(5_000, |w| {
            let id = w.id(CLIENT);
            w.ends[CLIENT].close(w.now, id);
        }));
        all.push(new("policies that change on the way").up(200_000).at(80, |w| {
            let id = w.id(CLIENT);
            let congestion: Box<dyn mptcp::congestion::CongestionControl> = Box::new(mptcp::congestion::Reno);
            w.ends[CLIENT].set_policies(id, Some(congestion), Some(Box::new(mptcp::scheduler::Redundant)));
        }));
        let again = config.clone();
        all.push(new("several connections").up(30_000).at(40, move |w| {
            for number in 0..6_u64 {
                let goal = 4_000 * number;
                let apps = [App { goal, ..App::default() }, App { goal: 20_000 - goal, ..App::default() }];
                w.connect(number as usize % 2, again.clone(), PORT, apps);
            }
        }));
    }
    check_with_details(
        "applications",
        &["mptcp, both", "mptcp, records", "mptcp, corked", "tcp, small", "mptcp, one ends"],
        all,
    );
}
