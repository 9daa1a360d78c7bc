//! Unexpected segments: modified copies of segments, and segments of unknown hosts.

use bytes::Bytes;
use mptcp::{Config, EndpointBounds, LinuxCompat, Version};
use mptcp_clock::Rng;
use mptcp_wire::{DataSequence, Flags, MpTcpRst, MptcpOption, ResetReason, Segment};

use super::check;
use super::link::Link;
use super::scenario::Scenario;
use super::world::{CLIENT, Passing, SERVER, World};

/// Number of scenarios of each type.
const COUNT: u64 = 24;

/// A difference, mostly a small one.
fn near(draws: &mut Rng) -> u32 {
    match draws.below(6) {
        0 => 0,
        1 => 1,
        2 => 0_u32.wrapping_sub(1),
        3 => draws.below(5_000) as u32,
        4 => 0_u32.wrapping_sub(draws.below(5_000) as u32),
        _ => draws.next_u32(),
    }
}

/// A copy without payload and with random changes.
fn changed(segment: &Segment, draws: &mut Rng) -> Segment {
    let mut other = Segment { payload: Bytes::new(), ..segment.clone() };
    other.sequence = other.sequence + near(draws);
    other.acknowledgment = other.acknowledgment + near(draws);
    if draws.chance(0.4) {
        let flags = [Flags::RST, Flags::SYN, Flags::ACK, Flags::NONE];
        let bits = flags[draws.below(4) as usize].bits() | flags[draws.below(4) as usize].bits();
        other.flags = Flags::from_bits(bits);
    } else {
        other.flags = Flags::from_bits(other.flags.bits() & !Flags::FIN.bits());
    }
    if draws.chance(0.3) {
        other.window = draws.below(65_536) as u16;
    }
    if draws.chance(0.3) {
        other.options.timestamps = other.options.timestamps.map(|mut stamps| {
            (stamps.value, stamps.echo) =
                (stamps.value.wrapping_add(near(draws)), stamps.echo.wrapping_add(near(draws)));
            stamps
        });
    }
    if draws.chance(0.3) {
        let left = other.acknowledgment + near(draws);
        other.options.sack.clear();
        other.options.sack.push((left, left + near(draws) % 9_000));
    }
    if let Some(dss) = &mut other.options.dss {
        dss.mapping = None;
        dss.data_fin = false;
        match draws.below(4) {
            0 => dss.ack = Some(DataSequence::Wide(draws.next_u64())),
            1 => dss.ack = Some(DataSequence::Short(draws.next_u32())),
            2 => dss.ack = None,
            _ => {}
        }
    }
    match draws.below(8) {
        0 => other.options.mptcp.push(MptcpOption::Fail(draws.next_u64())),
        1 => other.options.mptcp.push(MptcpOption::FastClose(draws.next_u64())),
        2 => {
            let reason = ResetReason(draws.below(7) as u8);
            other.options.mptcp.push(MptcpOption::TcpRst(MpTcpRst { flags: 0, reason }));
        }
        _ => {}
    }
    if other.options.length() > mptcp_wire::Options::SPACE { segment.clone() } else { other }
}

fn meddler(seed: u64, often: f64) -> Box<dyn FnMut(&mut Passing<'_>) -> bool> {
    let mut draws = Rng::new(seed, "meddler");
    Box::new(move |p| {
        if draws.chance(often) {
            p.others.push(changed(p.segment, &mut draws));
        }
        true
    })
}

fn config(number: u64) -> Config {
    match number % 6 {
        0 => Config::tcp(),
        1 => Config { version: Version::V0, ..Config::default() },
        2 => Config { linux_compat: LinuxCompat::LINUX, checksum: true, ..Config::default() },
        3 => Config { timestamps: false, sack: false, ..Config::default() },
        4 => Config { rack: false, ..Config::tcp() },
        _ => Config::default(),
    }
}

/// Sends segments of unknown hosts to both ends.
fn strangers(w: &mut World, seed: u64, count: u64) {
    let mut draws = Rng::new(seed, "strangers");
    for number in 0..count {
        let Some(info) = w.ends[CLIENT].info(w.now, w.id(CLIENT)) else { return };
        let (local, remote) = (info.subflows[0].local, info.subflows[0].remote);
        for (side, source, mut to) in [(SERVER, local, remote), (CLIENT, remote, local)] {
            let mut from = source;
            from.set_port(1 + draws.below(60_000) as u16);
            if draws.chance(0.3) {
                to.set_port(to.port() + 1);
            }
            let mut segment = Segment::new(from, to);
            segment.flags = Flags::from_bits(draws.below(64) as u16);
            segment.sequence = segment.sequence + draws.next_u32();
            segment.acknowledgment = segment.acknowledgment + draws.next_u32();
            if draws.chance(0.5) {
                segment.payload = Bytes::from_static(b"strange");
            }
            let interface = mptcp::InterfaceId(if number % 7 == 6 { 5 } else { 0 });
            w.ends[side].handle_segment(w.now, interface, segment);
        }
    }
}

#[test]
fn unexpected_segments_match_the_record() {
    let mut all = Vec::new();
    let links = [Link::new(10, 1250, 60), Link::new(20, 1250, 60)];
    for number in 0..COUNT {
        let new = |what: &str| {
            Scenario::new(format!("{number}, {what}"), config(number), &links)
                .up(120_000)
                .down(30_000)
                .seed(number)
        };
        all.push(new("copies now and then").middlebox(meddler(number, 0.02)).ends_otherwise().until(60_000));
        all.push(new("copies often").middlebox(meddler(number, 0.2)).ends_otherwise().until(60_000));
        let few = new("strangers").at(70, move |w| strangers(w, number, 40));
        all.push(few.at(75, move |w| strangers(w, number + 100, 10)));
        let rare = EndpointBounds { stray_answers: 5, resets_per_second: 3, ..EndpointBounds::default() };
        all.push(
            new("strangers and few answers")
                .at(30, move |w| {
                    for end in &mut w.ends {
                        end.set_bounds(rare);
                        assert_eq!(end.bounds(), rare);
                    }
                })
                .at(60, move |w| strangers(w, number, 12))
                .at(900, move |w| strangers(w, number, 12)),
        );
    }
    check("unexpected_segments", all);
}
