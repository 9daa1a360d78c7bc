//! Middleboxes that strip options, split and join segments, shift sequence numbers, change data and duplicate
//! segments.

use bytes::{Bytes, BytesMut};
use mptcp::{Config, Ecn, LinuxCompat, Version};
use mptcp_wire::{Codepoint, MptcpOption, Segment};

use super::check_with_details;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, Middlebox, Passing, SERVER};

fn kinds() -> Vec<(&'static str, Config)> {
    let linux_compat = LinuxCompat::LINUX;
    vec![
        ("v1", Config::default()),
        ("v1, checksum", Config { checksum: true, ..Config::default() }),
        ("v0", Config { version: Version::V0, ..Config::default() }),
        ("v0, checksum", Config { version: Version::V0, checksum: true, ..Config::default() }),
        ("linux", Config { linux_compat, ..Config::default() }),
        ("tcp", Config { ecn: Some(Ecn::On), ..Config::tcp() }),
    ]
}

fn strip(segment: &mut Segment) {
    segment.options.mptcp.clear();
    segment.options.dss = None;
}

fn shift(p: &mut Passing<'_>) {
    let offset = |up: bool, path: usize| 0x3141_5926_u32.wrapping_mul(1 + path as u32 * 2 + u32::from(up));
    let (there, back) = (offset(p.to_server, p.path), 0_u32.wrapping_sub(offset(!p.to_server, p.path)));
    p.segment.sequence = p.segment.sequence + there;
    if p.segment.flags.ack() {
        p.segment.acknowledgment = p.segment.acknowledgment + back;
        for (left, right) in &mut p.segment.options.sack {
            (*left, *right) = (*left + back, *right + back);
        }
    }
}

/// Changes one byte of the payload.
fn spoil(segment: &mut Segment) {
    let mut payload = BytesMut::from(&segment.payload[..]);
    if let Some(byte) = payload.last_mut() {
        *byte ^= 0x55;
    }
    segment.payload = payload.freeze();
}

/// Splits a segment in two; both parts keep the options.
fn cut(p: &mut Passing<'_>) {
    let half = p.segment.payload.len() / 2;
    if half > 0 && !p.segment.flags.syn() {
        let mut second = p.segment.clone();
        second.sequence = second.sequence + half as u32;
        second.payload = p.segment.payload.slice(half..);
        p.segment.payload = p.segment.payload.slice(..half);
        p.others.push(second);
    }
}

type Box_ = (&'static str, fn() -> Middlebox);

/// Middleboxes that do not change the payload.
const HARMLESS: &[Box_] = &[
    ("none on SYNs", || {
        Box::new(|p| {
            if p.segment.flags.syn() {
                strip(p.segment);
            }
            true
        })
    }),
    ("none on SYN/ACKs", || {
        Box::new(|p| {
            if p.segment.flags.syn() && !p.to_server {
                strip(p.segment);
            }
            true
        })
    }),
    ("none after SYNs", || {
        Box::new(|p| {
            if !p.segment.flags.syn() {
                strip(p.segment);
            }
            true
        })
    }),
    ("none from the server after SYNs", || {
        Box::new(|p| {
            if !p.segment.flags.syn() && !p.to_server {
                strip(p.segment);
            }
            true
        })
    }),
    ("none on data", || {
        Box::new(|p| {
            if !p.segment.payload.is_empty() {
                strip(p.segment);
            }
            true
        })
    }),
    ("none on the second path", || {
        Box::new(|p| {
            if p.path == 1 {
                strip(p.segment);
            }
            true
        })
    }),
    ("none on the second path after the SYNs", || {
        Box::new(|p| {
            if p.path == 1 && !p.segment.flags.syn() {
                strip(p.segment);
            }
            true
        })
    }),
    ("joins are not let through", || {
        Box::new(|p| !p.segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::Join(_))))
    }),
    ("numbers are shifted", || {
        Box::new(|p| {
            shift(p);
            true
        })
    }),
    ("cut in two", || {
        Box::new(|p| {
            cut(p);
            true
        })
    }),
    ("all is sent twice", || {
        Box::new(|p| {
            p.others.push(p.segment.clone());
            true
        })
    }),
    ("no timestamps", || {
        Box::new(|p| {
            p.segment.options.timestamps = None;
            true
        })
    }),
    ("no scales and no SACK", || {
        Box::new(|p| {
            p.segment.options.window_scale = None;
            p.segment.options.sack_permitted = false;
            p.segment.options.sack.clear();
            true
        })
    }),
    ("a smaller MSS", || {
        Box::new(|p| {
            p.segment.options.mss = p.segment.options.mss.map(|mss| mss.min(600));
            true
        })
    }),
    ("marks are taken off", || {
        Box::new(|p| {
            p.segment.ecn = Codepoint::NotEct;
            true
        })
    }),
    ("all is marked", || {
        Box::new(|p| {
            if p.segment.ecn.is_capable() {
                p.segment.ecn = Codepoint::Ce;
            }
            true
        })
    }),
    ("windows are small", || {
        Box::new(|p| {
            p.segment.window = p.segment.window.min(40);
            true
        })
    }),
    ("acknowledgements are thinned", || {
        Box::new(|p| {
            p.to_server
                || !p.segment.payload.is_empty()
                || p.segment.flags.bits() != 0x10
                || p.number % 3 == 0
        })
    }),
    ("data acknowledgements are taken off", || {
        Box::new(|p| {
            if let Some(dss) = p.segment.options.dss.as_mut().filter(|_| !p.to_server && p.number > 5) {
                dss.ack = None;
            }
            true
        })
    }),
    ("resets of old numbers are put in", || {
        Box::new(|p| {
            if p.number == 20 {
                let mut reset = p.segment.clone();
                strip(&mut reset);
                reset.payload = Bytes::new();
                reset.sequence = reset.sequence + 0x0100_0000;
                reset.flags = mptcp_wire::Flags::RST;
                p.others.push(reset);
            }
            true
        })
    }),
    ("a SYN is put in", || {
        Box::new(|p| {
            if p.number == 20 {
                let mut again = p.segment.clone();
                strip(&mut again);
                again.payload = Bytes::new();
                again.flags = mptcp_wire::Flags::SYN;
                p.others.push(again);
            }
            true
        })
    }),
];

#[test]
fn middleboxes_match_the_record() {
    let mut all = Vec::new();
    for (name, config) in kinds() {
        let links = [Link::new(10, 1250, 60), Link::new(20, 1250, 60)];
        let of = |what: &str| {
            Scenario::new(format!("{name}, {what}"), config.clone(), &links).up(150_000).down(60_000)
        };
        for (what, middlebox) in HARMLESS {
            all.push(of(what).middlebox(middlebox()));
        }
        all.push(of("a reset on the second path").middlebox(Box::new(|p| {
            if p.path == 1 && p.number == 12 {
                let mut reset = p.segment.clone();
                strip(&mut reset);
                reset.payload = Bytes::new();
                reset.flags = mptcp_wire::Flags::RST;
                p.others.push(reset);
            }
            true
        })));
        all.push(of("a reset on the first path").ends_otherwise().middlebox(Box::new(|p| {
            if p.path == 0 && p.number == 12 {
                let mut reset = p.segment.clone();
                strip(&mut reset);
                reset.payload = Bytes::new();
                reset.flags = mptcp_wire::Flags::RST;
                p.others.push(reset);
            }
            true
        })));
        if config.checksum {
            for path in [0, 1] {
                let spoiled = of(&format!("data is changed on path {path}"));
                all.push(
                    spoiled
                        .middlebox(Box::new(move |p| {
                            if p.path == path && p.number == 15 && p.to_server {
                                spoil(p.segment);
                            }
                            true
                        }))
                        .ends_otherwise(),
                );
            }
        }
        let one = |what: &str| {
            let link = std::slice::from_ref(&links[0]);
            Scenario::new(format!("{name}, one path, {what}"), config.clone(), link).up(150_000).down(60_000)
        };
        for (what, middlebox) in HARMLESS {
            all.push(one(what).middlebox(middlebox()));
        }
        if config.checksum {
            for number in [1, 2, 6, 40] {
                for up in [true, false] {
                    let spoiled = one(&format!("number {number} is changed, up {up}"));
                    // The only path continues as TCP and accepts the changed data.
                    let spoiled = spoiled.app(CLIENT, |app| app.careless = true);
                    let spoiled = spoiled.app(SERVER, |app| app.careless = true);
                    all.push(spoiled.ends_otherwise().middlebox(Box::new(move |p| {
                        if p.number == number && p.to_server == up {
                            spoil(p.segment);
                        }
                        true
                    })));
                }
            }
        }
        all.push(one("all before a moment is lost").middlebox(Box::new(|p| p.number % 11 != 4)));
    }
    check_with_details("middleboxes", &["v1, none", "v1, checksum, data"], all);
}
