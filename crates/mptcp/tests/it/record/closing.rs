//! Closing connections: in order, with lost segments, by abort, and after a timeout.

use mptcp::{Config, Keepalive, LinuxCompat, Version};
use mptcp_clock::Duration;

use super::check_with_details;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, PORT, SERVER, World};

fn kinds() -> Vec<(&'static str, Config)> {
    vec![
        ("v1", Config::default()),
        ("v0", Config { version: Version::V0, ..Config::default() }),
        ("linux", Config { linux_compat: LinuxCompat::LINUX, ..Config::default() }),
        ("tcp", Config::tcp()),
        ("tcp like linux", Config { linux_compat: LinuxCompat::LINUX, ..Config::tcp() }),
    ]
}

fn abort(w: &mut World, side: usize) {
    let id = w.id(side);
    w.ends[side].abort(w.now, id);
}

fn silence(w: &mut World, dead: bool) {
    w.links.iter_mut().for_each(|link| link.dead = dead);
}

#[test]
fn closings_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(10, 1250, 60), Link::new(25, 1250, 60)];
        let of = |config: &Config, what: &str| {
            Scenario::new(format!("{name}, {what}"), config.clone(), &links).up(60_000).down(30_000)
        };
        let new = |what: &str| of(&config, what);
        for (what, side) in [("the client's", CLIENT), ("the server's", SERVER)] {
            all.push(new(&format!("{what} end is lost once")).middlebox(Box::new({
                let mut left = 3;
                move |p| {
                    let last = p.segment.flags.fin() || p.segment.options.dss.is_some_and(|dss| dss.data_fin);
                    let loses = last && p.to_server == (side == CLIENT) && left > 0;
                    left -= u32::from(loses);
                    !loses
                }
            })));
            all.push(
                new(&format!("{what} application aborts")).at(90, move |w| abort(w, side)).ends_otherwise(),
            );
            let open = new(&format!("{what} application aborts at rest")).app(side, |app| app.close = false);
            all.push(open.at(900, move |w| abort(w, side)));
            let early = new(&format!("{what} application aborts at once")).ends_otherwise();
            all.push(early.at(45, move |w| abort(w, side)));
            all.push(
                new(&format!("{what} resets are lost"))
                    .ends_otherwise()
                    .at(90, move |w| abort(w, side))
                    .middlebox(Box::new({
                        let mut left = 4;
                        move |p| {
                            let loses = p.segment.flags.rst() && left > 0;
                            left -= u32::from(loses);
                            !loses
                        }
                    })),
            );
            let unread = new(&format!("{what} reader goes away")).app(side, |app| {
                app.reads_from = mptcp_clock::Instant::ZERO + Duration::from_secs(500);
            });
            all.push(unread.ends_otherwise().at(2_000, move |w| {
                let id = w.id(side);
                w.ends[side].discard(w.now, id);
            }));
        }
        all.push(
            new("everything is silent from the last data on").at(110, |w| silence(w, true)).ends_otherwise(),
        );
        all.push(
            new("everything is silent for a minute")
                .at(110, |w| silence(w, true))
                .at(60_000, |w| silence(w, false)),
        );
        let watched = Config { user_timeout: Some(Duration::from_secs(4)), ..config.clone() };
        all.push(of(&watched, "silence and a user timeout").at(70, |w| silence(w, true)).ends_otherwise());
        let (idle, interval) = (Duration::from_secs(3), Duration::from_secs(1));
        let asked = Config { keepalive: Some(Keepalive { idle, interval, probes: 3 }), ..config.clone() };
        let rests = of(&asked, "silence and keepalive").app(CLIENT, |app| app.close = false).until(60_000);
        all.push(rests.at(8_000, |w| silence(w, true)));
        let rests = new("settings that come late").app(CLIENT, |app| app.close = false).until(90_000);
        all.push(
            rests
                .at(700, move |w| {
                    let (id, now) = (w.id(CLIENT), w.now);
                    let probes = 2;
                    w.ends[CLIENT].set_keepalive(now, id, Some(Keepalive { idle, interval, probes }));
                    w.ends[CLIENT].set_user_timeout(now, id, Some(Duration::from_secs(9)));
                    w.ends[CLIENT].set_notsent_lowat(now, id, Some(3_000));
                    w.ends[CLIENT].set_syn_retries(now, id, 1);
                })
                .at(9_000, |w| silence(w, true)),
        );
        let quick = Config { close_timeout: Duration::from_secs(2), ..config.clone() };
        all.push(of(&quick, "no subflow is left").ends_otherwise().at(80, |w| {
            for path in 0..2 {
                w.interface(CLIENT, path, mptcp::InterfaceChange::Down);
            }
        }));
        let again = config.clone();
        all.push(
            new("another one to the same port, and a third")
                .at(300, {
                    let again = again.clone();
                    move |w| w.connect(0, again, PORT, Default::default())
                })
                .at(61_000, move |w| w.connect(1, again, PORT, Default::default())),
        );
    }
    check_with_details("closing", &["v1, the client", "tcp, silence", "v1, silence"], all);
}
