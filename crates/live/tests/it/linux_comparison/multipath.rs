//! The situations of MPTCP connections.

use super::link::Action::{self, *};
use super::link::edits;
use super::seen::{Kind, Seen};
use super::stage::Play::*;
use super::stage::Situation;

fn drop_if(condition: bool) -> Action {
    if condition { Drop } else { Pass }
}

fn become_if(condition: bool, edit: fn(&mut mptcp_wire::Segment)) -> Action {
    if condition { Becomes(edit) } else { Pass }
}

fn first(seen: &Seen, number: u64) -> bool {
    seen.forth && seen.kind == Kind::Data && seen.copy == 1 && seen.number == number
}

fn syn(seen: &Seen, path: u8) -> bool {
    seen.forth && seen.kind == Kind::Syn && seen.path == path
}

const SUMS: &[(&str, &str)] = &[("net.mptcp.checksum_enabled", "1")];

/// All situations of MPTCP.
pub const MPTCP: &[Situation] = &[
    Situation::undisturbed_mptcp("mp-plain", "One path without losses", CloseLater(40, 650)),
    Situation::undisturbed_mptcp(
        "mp-close",
        "The application closes while data waits for the window",
        Send(40),
    ),
    Situation::mptcp("mp-one-lost", "One path; segment 15 is lost", CloseLater(60, 700), |s| {
        drop_if(first(s, 15))
    }),
    Situation::mptcp("mp-syn-stripped", "A middlebox removes the options of the SYN", Send(10), |s| {
        become_if(syn(s, 1), edits::strip_mptcp)
    }),
    Situation::mptcp(
        "mp-syn-ack-stripped",
        "A middlebox removes the options of the SYN/ACK",
        Send(10),
        |s| become_if(!s.forth && s.kind == Kind::SynAck, edits::strip_mptcp),
    ),
    Situation::mptcp("mp-syn-lost", "SYNs with MP_CAPABLE are lost", Send(10), |s| {
        drop_if(syn(s, 1) && s.segment.options.has_mptcp())
    }),
    Situation::mptcp("mp-third-ack-lost", "The third ACK is lost", Send(10), |s| {
        drop_if(s.forth && s.kind == Kind::Ack && s.number == 1)
    }),
    Situation::mptcp(
        "mp-data-stripped",
        "A middlebox removes the options of all segments after the handshake",
        CloseLater(20, 400),
        |s| become_if(s.kind == Kind::Data || s.kind == Kind::Ack, edits::strip_mptcp),
    ),
    Situation::mptcp(
        "mp-altered",
        "With checksums, a middlebox changes a byte of segment 15",
        CloseLater(60, 1_000),
        |s| become_if(first(s, 15), edits::alter),
    )
    .set(SUMS, |config| config.checksum = true),
    Situation::mptcp("mp-data-fin-lost", "The DATA_FIN is lost four times", CloseLater(5, 200), |s| {
        let fin = s.segment.options.dss.is_some_and(|dss| dss.data_fin);
        drop_if(s.forth && fin && s.data_fins <= 4)
    }),
    Situation::undisturbed_mptcp("mp-abort", "The application aborts after five segments", Abort(5)),
    Situation::undisturbed_mptcp("mp-two-paths", "Two paths", Pause(1, 300, 60)).two_paths(),
    Situation::mptcp("mp-join-lost", "The SYN of the join is lost", Pause(1, 1_500, 10), |s| {
        drop_if(syn(s, 2) && s.copy == 1)
    })
    .two_paths(),
    Situation::mptcp("mp-join-ack-lost", "The third ACK of the join is lost", Pause(1, 1_000, 10), |s| {
        drop_if(s.forth && s.path == 2 && s.kind == Kind::Ack && s.number == 1)
    })
    .two_paths(),
    Situation::mptcp(
        "mp-join-stripped",
        "A middlebox removes the options of the join",
        Pause(1, 600, 10),
        |s| become_if(s.path == 2 && s.kind == Kind::Syn, edits::strip_mptcp),
    )
    .two_paths(),
    Situation::mptcp("mp-join-reset", "The join is reset", Pause(1, 600, 10), |s| {
        if syn(s, 2) { Reset(0) } else { Pass }
    })
    .two_paths(),
    Situation::undisturbed_mptcp("mp-backup", "The second path is a backup", Pause(1, 300, 40))
        .two_paths()
        .endpoint("subflow backup", |config| config.backups = vec![mptcp_live::InterfaceId(1)]),
    Situation::mptcp(
        "mp-silent-path",
        "The second path drops all data from the start of the burst",
        Pause(1, 300, 60),
        |s| drop_if(s.path == 2 && (s.kind == Kind::Data || (!s.forth && s.number > 1))),
    )
    .two_paths(),
];
