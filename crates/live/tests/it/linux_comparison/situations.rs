//! The situations of TCP connections.

use std::time::Duration;

use mptcp_live::{Ecn, MtuProbing};

use super::link::Action::{self, *};
use super::link::edits;
use super::seen::{Kind, Seen};
use super::stage::Play::*;
use super::stage::Situation;

/// Whether it is the first copy of these data segments of the stack under test.
fn first(seen: &Seen, numbers: std::ops::RangeInclusive<u64>) -> bool {
    seen.forth && seen.kind == Kind::Data && seen.copy == 1 && numbers.contains(&seen.number)
}

/// Whether it is the first copy of these data segments of its peer.
fn theirs(seen: &Seen, numbers: std::ops::RangeInclusive<u64>) -> bool {
    !seen.forth && seen.kind == Kind::Data && seen.copy == 1 && numbers.contains(&seen.number)
}

fn ack(seen: &Seen) -> bool {
    !seen.forth && seen.kind == Kind::Ack
}

fn kind(seen: &Seen, forth: bool, kind: Kind) -> bool {
    seen.forth == forth && seen.kind == kind
}

fn drop_if(condition: bool) -> Action {
    if condition { Drop } else { Pass }
}

fn become_if(condition: bool, edit: fn(&mut mptcp_wire::Segment)) -> Action {
    if condition { Becomes(edit) } else { Pass }
}

const ECN: &[(&str, &str)] = &[("net.ipv4.tcp_ecn", "1")];

/// All situations of TCP.
pub const TCP: &[Situation] = &[
    Situation::undisturbed_tcp("plain", "Nothing is lost", Send(40)),
    Situation::tcp("one-lost", "Segment 15 is lost", Send(60), |s| drop_if(first(s, 15..=15))),
    Situation::tcp("first-lost", "Segment 1 is lost", Send(40), |s| drop_if(first(s, 1..=1))),
    Situation::tcp("lost-twice", "Segment 15 is lost, and so is its retransmission", Send(60), |s| {
        drop_if(s.forth && s.kind == Kind::Data && s.number == 15 && s.copy <= 2)
    }),
    Situation::tcp("three-lost", "Segments 12, 15 and 18 are lost", Send(60), |s| {
        drop_if(first(s, 12..=12) || first(s, 15..=15) || first(s, 18..=18))
    }),
    Situation::tcp("five-consecutive", "Segments 12 to 16 are lost", Send(60), |s| {
        drop_if(first(s, 12..=16))
    }),
    Situation::tcp(
        "two-of-five",
        "Segments 2 and 3 of five are lost (limited transmit has nothing to send)",
        Send(5),
        |s| drop_if(first(s, 2..=3)),
    ),
    Situation::tcp("tail", "The last segment is lost", Send(20), |s| drop_if(first(s, 20..=20))),
    Situation::tcp("tail-of-three", "The last three segments are lost", Send(20), |s| {
        drop_if(first(s, 18..=20))
    }),
    Situation::tcp("only-segment", "The only segment is lost", CloseLater(1, 600), |s| {
        drop_if(first(s, 1..=1))
    }),
    Situation::tcp("first-window", "The complete first window is lost", Send(20), |s| {
        drop_if(first(s, 1..=10))
    }),
    Situation::tcp("second-window", "The complete second window is lost", Send(60), |s| {
        drop_if(first(s, 11..=30))
    }),
    Situation::tcp("ack-lost", "The second acknowledgement is lost", Send(40), |s| {
        drop_if(ack(s) && s.number == 2)
    }),
    Situation::tcp("acks-lost", "All acknowledgements of the first window are lost", Send(10), |s| {
        drop_if(ack(s) && !s.repaired)
    }),
    Situation::tcp("two-late", "Segment 15 arrives two places later", Send(40), |s| {
        if first(s, 15..=15) { Behind(2) } else { Pass }
    }),
    Situation::tcp("eight-late", "Segment 12 arrives eight places later", Send(60), |s| {
        if first(s, 12..=12) { Behind(8) } else { Pass }
    }),
    Situation::tcp("acks-late", "The second acknowledgement arrives two places later", Send(40), |s| {
        if ack(s) && s.number == 2 { Behind(2) } else { Pass }
    }),
    Situation::tcp(
        "twice",
        "Segment 5 arrives twice",
        Send(40),
        |s| if first(s, 5..=5) { Twice } else { Pass },
    ),
    Situation::tcp(
        "flight-delayed",
        "The second window takes 450 ms longer, which causes a spurious timeout",
        Send(60),
        |s| {
            if first(s, 11..=30) { Late(Duration::from_millis(450)) } else { Pass }
        },
    ),
    Situation::tcp("no-sack", "The peer has no SACK, and segment 15 is lost", Send(60), |s| {
        if s.segment.flags.syn() { Becomes(edits::strip_sack) } else { drop_if(first(s, 15..=15)) }
    }),
    Situation::tcp(
        "no-sack-two",
        "The peer has no SACK, and segments 12 and 15 are lost (NewReno)",
        Send(60),
        |s| {
            if s.segment.flags.syn() {
                Becomes(edits::strip_sack)
            } else {
                drop_if(first(s, 12..=12) || first(s, 15..=15))
            }
        },
    ),
    Situation::tcp("no-timestamps", "The peer has no timestamps, and segment 15 is lost", Send(60), |s| {
        if s.segment.flags.syn() { Becomes(edits::strip_timestamps) } else { drop_if(first(s, 15..=15)) }
    }),
    Situation::tcp("syn-lost", "The SYN is lost", Send(10), |s| {
        drop_if(kind(s, true, Kind::Syn) && s.copy == 1)
    }),
    Situation::tcp("syn-ack-lost", "The SYN/ACK is lost", Send(10), |s| {
        drop_if(kind(s, false, Kind::SynAck) && s.copy == 1)
    }),
    Situation::tcp("third-ack-lost", "The third ACK is lost", Send(10), |s| {
        drop_if(kind(s, true, Kind::Ack) && s.number == 1)
    }),
    Situation::tcp("fin-lost", "The FIN without data is lost", CloseLater(5, 200), |s| {
        drop_if(kind(s, true, Kind::Fin) && s.copy == 1)
    }),
    Situation::tcp("their-fin-twice", "The FIN of the peer arrives twice", Send(5), |s| {
        if kind(s, false, Kind::Fin) && s.copy == 1 { Twice } else { Pass }
    }),
    Situation::tcp("reset", "The peer resets after segment 15", Send(60), |s| {
        if first(s, 15..=15) { Reset(0) } else { Pass }
    }),
    Situation::tcp(
        "blind-reset",
        "A RST has a number within the window, not the expected one (RFC 5961)",
        Send(40),
        |s| {
            if first(s, 15..=15) { Reset(1_000) } else { Pass }
        },
    ),
    Situation::tcp("future-ack", "An acknowledgement covers unsent data", Send(40), |s| {
        become_if(ack(s) && s.number == 4, edits::acknowledge_the_future)
    }),
    Situation::tcp("marked", "Segment 15 is marked", Send(60), |s| become_if(first(s, 15..=15), edits::mark))
        .set(ECN, |config| config.ecn = Some(Ecn::On)),
    Situation::tcp("marked-all", "The complete second window is marked", Send(60), |s| {
        become_if(first(s, 11..=30), edits::mark)
    })
    .set(ECN, |config| config.ecn = Some(Ecn::On)),
    Situation::tcp("marked-and-lost", "Segment 13 is marked and 17 is lost", Send(60), |s| {
        if first(s, 13..=13) { Becomes(edits::mark) } else { drop_if(first(s, 17..=17)) }
    })
    .set(ECN, |config| config.ecn = Some(Ecn::On)),
    Situation::tcp("ecn-syn-lost", "SYNs that ask for ECN are lost", Send(10), |s| {
        drop_if(kind(s, true, Kind::Syn) && s.segment.flags.contains(mptcp_wire::Flags::ECE))
    })
    .set(ECN, |config| config.ecn = Some(Ecn::On)),
    Situation::tcp(
        "bleached",
        "The path clears the negotiated ECN field; segment 15 is lost",
        Send(60),
        |s| {
            if first(s, 15..=15) { Drop } else { become_if(s.forth, edits::bleach) }
        },
    )
    .set(ECN, |config| config.ecn = Some(Ecn::On)),
    Situation::tcp(
        "mtu-reported",
        "From segment 11 on, the path drops packets above 1300 bytes and reports it by ICMP",
        Send(40),
        |s| {
            if s.forth && s.number > 10 && s.length > 1_248 { TooLong(1_300) } else { Pass }
        },
    ),
    Situation::tcp("mtu-silent", "The path drops them without ICMP, with tcp_mtu_probing=1", Send(20), |s| {
        if s.forth && s.number > 10 && s.length > 1_248 { TooLong(0) } else { Pass }
    })
    .set(&[("net.ipv4.tcp_mtu_probing", "1")], |config| config.mtu_probing = MtuProbing::BlackHole),
    Situation::undisturbed_tcp("idle", "40 more segments follow after an idle second", Pause(40, 1_000, 40)),
    Situation::undisturbed_tcp(
        "short-idle",
        "40 more segments follow after an idle time below the RTO",
        Pause(40, 220, 40),
    ),
    Situation::undisturbed_tcp(
        "zero-window",
        "The reader waits for 1.5 s, and the window closes",
        SlowReader(60, 1_500),
    ),
    Situation::tcp("update-lost", "The window update is lost", SlowReader(60, 1_000), |s| {
        drop_if(!s.forth && s.opens && s.copy == 1)
    }),
    Situation::tcp("receive-lost", "The stack receives; segment 15 is lost", Receive(40), |s| {
        drop_if(theirs(s, 15..=15))
    }),
    Situation::tcp(
        "receive-two-holes",
        "The stack receives; segments 13 and 16 are lost",
        Receive(40),
        |s| drop_if(theirs(s, 13..=13) || theirs(s, 16..=16)),
    ),
    Situation::tcp(
        "receive-late",
        "The stack receives; segment 15 arrives two places later",
        Receive(40),
        |s| {
            if theirs(s, 15..=15) { Behind(2) } else { Pass }
        },
    ),
    Situation::tcp("receive-twice", "The stack receives; segment 5 arrives twice", Receive(40), |s| {
        if theirs(s, 5..=5) { Twice } else { Pass }
    }),
    Situation::tcp("receive-marked", "The stack receives; segment 15 is marked", Receive(60), |s| {
        become_if(theirs(s, 15..=15), edits::mark)
    })
    .set(ECN, |config| config.ecn = Some(Ecn::On)),
];
