//! Verdicts about the form of a connection: no MPTCP, subflows that did not open, idle backups.

use super::evidence::{Case, counted, verdict};
use super::host_facts::HostFacts;
use crate::report::{Role, Verdict};
use crate::track::{Request, Subflow};

/// Longest time in which a host answers a handshake, ns: the first retransmission timeout (RFC 6298) and a round trip.
const LONGEST_ANSWER: u64 = 2_000_000_000;

/// Shortest time after which a missing subflow is a fault, ns. Linux opens further subflows just after the handshake.
const SHORTEST_VIEW: u64 = 200_000_000;

/// The gain of one more path, as a share: as much as each path that works.
fn one_more(case: &Case<'_>) -> f64 {
    let working = case.subflows().filter(|(_, one)| carried(one) && !one.is_backup()).count().max(1);
    1.0 / (working as f64 + 1.0)
}

/// All verdicts about the form.
pub(super) fn verdicts(case: &Case<'_>, host: &HostFacts) -> Vec<Verdict> {
    let mut found = Vec::new();
    let Some((_, first)) = case.subflows().next() else { return found };
    if let Some(verdict) = no_mptcp(case, first, host) {
        // The client sees SYNs that never arrive at the server.
        let there = case.other.map(|view| Case { view, other: Some(case.view), ..*case });
        let first_there = there.and_then(|there| Some((there, there.subflows().next()?.1)));
        let at_client = first_there.and_then(|(there, first)| no_mptcp(&there, first, host));
        found.push(at_client.filter(|one| one.name == "blackhole").unwrap_or(verdict));
        return found;
    }
    if !case.view.is_mptcp {
        return found;
    }
    found.extend(failed_joins(case));
    // The other end may have seen joins that did not arrive here.
    if let Some(other) = case.other.filter(|_| found.is_empty()) {
        let there = Case { view: other, other: None, ..*case };
        found.extend(failed_joins(&there).into_iter().map(|one| Verdict { subflow: None, ..one }));
    }
    found.extend(only_one_subflow(case, host, &found));
    found.extend(backups(case));
    found
}

/// Whether the other capture of this connection has MP_CAPABLE on its SYN.
fn other_first<'a>(case: &Case<'a>) -> Option<&'a Subflow> {
    case.other.and_then(|view| view.subflows.first()).map(|&id| &case.flows[id])
}

fn no_mptcp(case: &Case<'_>, first: &Subflow, host: &HostFacts) -> Option<Verdict> {
    let handshake = &first.handshake;
    let (syn_time, syn) = handshake.syn.or(handshake.syn_ack).or(handshake.third).unwrap_or_default();
    let share = 0.5;
    if let Some((plain_time, plain)) = handshake.plain_after_mptcp {
        let mut found = verdict(
            "blackhole",
            None,
            share,
            format!(
                "SYNs with MP_CAPABLE got no answer, and the SYN without it got one after {:.1} s: a firewall drops the \
                 option",
                handshake.syn_ack.map_or(0.0, |(answered, _)| answered.saturating_sub(syn_time) as f64 / 1e9)
            ),
        );
        found.cost_seconds =
            handshake.syn_ack.map(|(answered, _)| answered.saturating_sub(syn_time) as f64 / 1e9);
        found.evidence.push(case.evidence(syn_time, syn, "SYN with MP_CAPABLE, without an answer"));
        found.evidence.push(case.evidence(plain_time, plain, "SYN without MPTCP"));
        found.advice = vec![
            "find the firewall that drops TCP option 30, and let it pass".to_owned(),
            "Linux opens all connections as TCP for net.mptcp.blackhole_timeout (one hour) afterwards"
                .to_owned(),
        ];
        return Some(found);
    }
    let asked = matches!(handshake.request, Request::Capable(_));
    let asked_elsewhere =
        other_first(case).is_some_and(|other| matches!(other.handshake.request, Request::Capable(_)));
    let fallback = &case.view.fallback;
    let explain = |summary: String, time: u64, packet, what: &str, advice: Vec<String>| {
        let mut found = verdict("fallback", None, share, summary);
        found.evidence.push(case.evidence(time, packet, what));
        found.advice = advice;
        Some(found)
    };
    let middlebox = || {
        vec![
            "find the middlebox on this path: capture at both ends, and compare the SYNs".to_owned(),
            "use another path or port for the first subflow; a tunnel (WireGuard) hides TCP options"
                .to_owned(),
        ]
    };
    if !asked && asked_elsewhere {
        return explain(
            "the client's SYN has MP_CAPABLE, but it arrives without it: a middlebox removes the option"
                .to_owned(),
            syn_time,
            syn,
            "the SYN arrives without MP_CAPABLE",
            middlebox(),
        );
    }
    if let Some((time, packet)) = handshake.syn_ack
        && asked
        && !handshake.is_agreed
    {
        let sent = other_first(case).filter(|other| other.handshake.is_agreed);
        let summary = if sent.is_some() {
            "the server agreed to MPTCP, but its SYN/ACK arrives without MP_CAPABLE: a middlebox removes the option"
        } else if other_first(case).is_some_and(|other| other.handshake.request == Request::Plain) {
            "the client's SYN has MP_CAPABLE, but it arrives without it: a middlebox removes the option"
        } else {
            "the server's SYN/ACK has no MP_CAPABLE: the server does not use MPTCP, or a middlebox removes the option"
        };
        let advice = vec![
            "on the server: is the listener an MPTCP socket (`ss -lM`, or start it with mptcpize), and \
             net.mptcp.enabled = 1?"
                .to_owned(),
            "if it is, a middlebox removes the option: capture at both ends, or run `mptcplab host check --peer`"
                .to_owned(),
        ];
        return explain(summary.to_owned(), time, packet, "SYN/ACK without MP_CAPABLE", advice);
    }
    if let Some((time, packet)) = fallback.fail {
        return explain(
            "a DSS checksum was wrong, and the connection fell back to TCP: a middlebox changes the payload"
                .to_owned(),
            time,
            packet,
            "MP_FAIL",
            vec![
                "find the middlebox (often an application-level gateway for FTP or SIP), and disable it"
                    .to_owned(),
                "encrypt the payload (TLS), so that no middlebox can change it".to_owned(),
            ],
        );
    }
    if let Some((time, packet)) = fallback.infinite {
        return explain(
            "a host sent an infinite mapping, which ends MPTCP for this connection".to_owned(),
            time,
            packet,
            "DSS with an infinite mapping",
            middlebox(),
        );
    }
    if let Some((time, packet)) = handshake.third
        && handshake.is_agreed
        && !handshake.is_confirmed
        && (fallback.unmapped.is_some() || !case.view.is_mapped() || case.view.key[0].is_none())
    {
        return explain(
            "the third ACK has no MP_CAPABLE, so the connection is TCP: a middlebox removes the option from the SYN/ACK or \
             from later segments"
                .to_owned(),
            time,
            packet,
            "ACK without MP_CAPABLE",
            middlebox(),
        );
    }
    if let Some((time, packet)) = fallback.unmapped {
        return explain(
            "data arrives without DSS options after both hosts agreed to MPTCP: a middlebox removes options from data"
                .to_owned(),
            time,
            packet,
            "data without DSS",
            middlebox(),
        );
    }
    if handshake.request == Request::Plain && !handshake.is_syn_cut && !case.view.is_mptcp {
        return plain(case, syn_time, syn, host);
    }
    None
}

/// TCP that nobody asked to be MPTCP.
fn plain(case: &Case<'_>, time: u64, packet: crate::capture::PacketRef, host: &HostFacts) -> Option<Verdict> {
    if host.blackhole_active {
        let mut found = verdict(
            "blackhole",
            None,
            0.5,
            "the SYN has no MP_CAPABLE, because this kernel saw SYNs with MPTCP vanish, and opens connections as TCP for a \
             while"
                .to_owned(),
        );
        found.evidence.push(case.evidence(time, packet, "SYN without MP_CAPABLE"));
        found.advice = vec![
            "sysctl -w net.mptcp.blackhole_timeout=0 ends this at once; find the firewall that drops option 30".to_owned(),
        ];
        return Some(found);
    }
    // A share of its own would accuse every TCP connection; only a request for MPTCP makes it a fault.
    let share = if host.expects_mptcp { 0.5 } else { 0.0 };
    let mut found = verdict(
        "plain-tcp",
        None,
        share,
        "the client did not ask for MPTCP: its SYN has no MP_CAPABLE".to_owned(),
    );
    found.evidence.push(case.evidence(time, packet, "SYN without MP_CAPABLE"));
    found.advice = vec![
        "if it should use MPTCP: start the client with `mptcpize run`, or open IPPROTO_MPTCP sockets".to_owned(),
        "nstat -asz MPTcpExtBlackhole: Linux opens connections as TCP for an hour after SYNs with MPTCP vanished"
            .to_owned(),
    ];
    Some(found)
}

/// Joins that failed.
fn failed_joins(case: &Case<'_>) -> Vec<Verdict> {
    let share = one_more(case);
    let mut found: Vec<Verdict> = Vec::new();
    for (number, subflow) in case.subflows() {
        let handshake = &subflow.handshake;
        let (Request::Join(_), Some((time, syn))) = (handshake.request, handshake.syn) else { continue };
        // A reset at the end of the connection refuses nothing.
        let closing = case.view.data_fin.iter().flatten().map(|(time, _)| *time).min().unwrap_or(u64::MAX);
        if subflow.ending.reset.is_some_and(|(_, reset, _)| reset > closing || case.view.fast_close.is_some())
        {
            continue;
        }
        let path = format!("{} to {}", subflow.ends[0].ip(), subflow.ends[1]);
        let mut verdict = match handshake.syn_ack {
            // Other options were dropped by the capture, not by the peer.
            None if case.view.directions.iter().all(|one| one.stream.new_bytes == 0) => continue,
            None if subflow.ending.reset.is_some_and(|(side, ..)| side != subflow.opener) => {
                refused(case, number, &path, share)
            }
            // The last SYN of a capture may still get its answer.
            None if case.view.last_seen.saturating_sub(time) < 500_000_000 => continue,
            None => {
                let mut one = verdict("join-unanswered", Some(number), share, {
                    let syns = u64::from(handshake.repeated_syns) + 1;
                    let said = counted(syns, "SYN with MP_JOIN", "SYNs with MP_JOIN");
                    format!("{said} from {path} got no answer")
                });
                let to_announced =
                    case.view.announced.iter().any(|one| one.address.ip() == subflow.ends[1].ip());
                if to_announced {
                    one.advice.push(format!(
                        "the server announced {}: can it be reached from outside? A private address behind a NAT cannot",
                        subflow.ends[1].ip()
                    ));
                }
                one.advice.extend([
                    format!(
                        "ip route get {} from {}: does it leave by its own interface?",
                        subflow.ends[1].ip(),
                        subflow.ends[0].ip()
                    ),
                    "`mptcplab host check --peer HOST:PORT` tests each address; a firewall or NAT may drop MP_JOIN or the \
                     path is down"
                        .to_owned(),
                ]);
                one
            }
            Some((time, packet)) if !handshake.is_agreed => {
                let mut one = verdict(
                    "join-stripped",
                    Some(number),
                    share,
                    format!(
                        "the SYN/ACK from {} has no MP_JOIN, so this path cannot be used: a middlebox removes the \
                             option",
                        subflow.ends[1].ip()
                    ),
                );
                one.evidence.push(case.evidence(time, packet, "SYN/ACK without MP_JOIN"));
                one.advice = vec![
                    "another port may pass the middlebox; a tunnel (WireGuard) hides TCP options".to_owned(),
                ];
                one
            }
            Some((time, packet)) if handshake.third.is_none() || !handshake.is_confirmed => {
                match unconfirmed(case, number, time, packet, share) {
                    Some(one) => one,
                    None => continue,
                }
            }
            // Without MP_JOIN in the third ACK, the peer resets the subflow, with reason 1 if it states any.
            Some((time, packet))
                if !carried(subflow)
                    && subflow.ending.reset.is_some()
                    && subflow.ending.reason.is_none_or(|reason| reason == 1) =>
            {
                match unconfirmed(case, number, time, packet, share) {
                    Some(one) => one,
                    None => continue,
                }
            }
            Some(_) if !carried(subflow) && subflow.ending.reset.is_some() => {
                refused(case, number, &path, share)
            }
            Some(_) => continue,
        };
        verdict.evidence.insert(0, case.evidence(time, syn, "SYN with MP_JOIN"));
        // Several attempts on one path are one fault.
        let same = |other: &&mut Verdict| {
            other.name == verdict.name
                && other.subflow.is_some_and(|known| {
                    case.subflow(usize::from(known)).ends.map(|end| end.ip())
                        == subflow.ends.map(|end| end.ip())
                })
        };
        match found.iter_mut().find(same) {
            Some(known) => known.evidence.extend(verdict.evidence.into_iter().take(2)),
            // A later attempt on the same path may have succeeded.
            None if succeeded(case, subflow) => {}
            None => found.push(verdict),
        }
    }
    found
}

/// A join that the peer answered, and that was not completed.
fn unconfirmed(
    case: &Case<'_>,
    number: usize,
    time: u64,
    packet: crate::capture::PacketRef,
    share: f64,
) -> Option<Verdict> {
    let subflow = case.subflow(number);
    let handshake = &subflow.handshake;
    let opener = subflow.ends[subflow.opener].ip();
    let mut one = match (subflow.ending.reset, handshake.third) {
        // A late reset is the end of the connection, not an answer to the join.
        (Some((_, reset_time, _)), _) if reset_time.saturating_sub(time) > LONGEST_ANSWER => return None,
        (Some((_, reset_time, reset)), third) if !carried(subflow) => {
            let what = if third.is_some() { "the third ACK" } else { "the SYN/ACK" };
            let mut one = verdict(
                "join-stripped",
                Some(number),
                share,
                format!(
                    "the join from {opener} was agreed to and then reset: a middlebox removes MP_JOIN from {what}"
                ),
            );
            one.evidence.push(case.evidence(reset_time, reset, "RST after the SYN/ACK"));
            one.advice = vec![
                "another port may pass the middlebox; a tunnel (WireGuard) hides TCP options".to_owned(),
            ];
            one
        }
        (None, None) if case.view.last_seen.saturating_sub(time) > 1_000_000_000 => {
            let mut one = verdict(
                "join-unanswered",
                Some(number),
                share,
                format!(
                    "the SYN/ACK to the join from {opener} got no answer: packets to this address are lost"
                ),
            );
            one.advice =
                vec![format!("traceroute or ping to {opener}; look for a firewall or a wrong route")];
            one
        }
        _ => return None,
    };
    one.evidence.insert(0, case.evidence(time, packet, "SYN/ACK with MP_JOIN"));
    Some(one)
}

/// Whether data was acknowledged on a subflow in any direction.
fn carried(subflow: &Subflow) -> bool {
    subflow.halves.iter().any(|half| half.totals.delivered > 0)
}

/// Whether another subflow between the same addresses works.
fn succeeded(case: &Case<'_>, failed: &Subflow) -> bool {
    case.subflows()
        .any(|(_, other)| carried(other) && other.ends.map(|end| end.ip()) == failed.ends.map(|end| end.ip()))
}

fn refused(case: &Case<'_>, number: usize, path: &str, share: f64) -> Verdict {
    let subflow = case.subflow(number);
    let reason = subflow.ending.reason.map(|reason| format!(": {}", crate::track::reset_reason(reason)));
    let mut one = verdict(
        "join-refused",
        Some(number),
        share,
        format!("a RST answers the MP_JOIN from {path}{}", reason.unwrap_or_default()),
    );
    if let Some((side, time, packet)) = subflow.ending.reset {
        let by = Role::of(side).word();
        one.evidence.push(case.evidence(time, packet, format!("RST from the {by}")));
    }
    one.advice = vec![
        "on the peer: ip mptcp limits set subflows 8; and does the listening socket still exist? Linux refuses joins after \
         it is closed"
            .to_owned(),
        "nstat -asz | grep MPTcpExt on the peer: MPJoinNoTokenFound, MPJoinSynAckHMacFailure, MPJoinRejected".to_owned(),
    ];
    one
}

/// No second subflow, and none was tried.
fn only_one_subflow(case: &Case<'_>, host: &HostFacts, failed: &[Verdict]) -> Option<Verdict> {
    let joins = case.subflows().filter(|(_, one)| matches!(one.handshake.request, Request::Join(_))).count();
    let (_, first) = case.subflows().next()?;
    // Later subflows of a connection whose start is missing have a token that belongs to no key.
    if joins > 0 || case.view.subflows.len() > 1 || !failed.is_empty() || first.handshake.syn.is_none() {
        return None;
    }
    // Data on a subflow that was not captured.
    if case.view.lacks_a_subflow() {
        return None;
    }
    // A host may open subflows a moment later.
    if case.view.last_seen.saturating_sub(case.view.started) < SHORTEST_VIEW {
        return None;
    }
    let share = one_more(case);
    let unused: Vec<_> = case
        .view
        .announced
        .iter()
        .filter(|one| one.removed.is_none() && !case.subflows().any(|(_, subflow)| uses(subflow, one)))
        .collect();
    if let Some(one) = unused.first() {
        let peer = Role::of(1 - one.side).word();
        let (asked, echoed) = (Role::of(one.side).word(), one.echoed.is_some());
        let confirmed = match (echoed, case.view.version) {
            (true, _) => "confirmed the option",
            // Version 0 has no echo (RFC 6824 section 3.4.1).
            (false, Some(mptcp_wire::crypto::Version::V0)) => "got the option",
            (false, _) => "did not even confirm the option",
        };
        let mut verdict = verdict(
            "add-addr-unanswered",
            None,
            share,
            format!(
                "the {asked} announced {}, and the {peer} {confirmed}, but opened no subflow to it",
                one.address
            ),
        );
        verdict.evidence.push(case.evidence(one.time, one.packet, format!("ADD_ADDR {}", one.address)));
        if let Some(packet) = one.echoed {
            verdict.evidence.push(case.evidence(one.time, packet, "its echo"));
        }
        verdict.advice = vec![
            format!(
                "on the {peer}: ip mptcp limits set subflows 2 add_addr_accepted 2 (Linux's default accepts none)"
            ),
            format!(
                "or give the {peer} endpoints of its own: ip mptcp endpoint add ADDRESS dev DEVICE subflow"
            ),
        ];
        if let Some(limit) = host.add_addr_accepted.filter(|limit| *limit == 0) {
            verdict.summary += &format!(" (its limit add_addr_accepted is {limit})");
        }
        return Some(verdict);
    }
    let mut why = String::new();
    if first.handshake.no_join_here[1] {
        why = "; the server forbids joins to this address (flag C) and announced no other".to_owned();
    } else if let Some(0) = host.subflow_limit {
        why = "; the limit of additional subflows is 0".to_owned();
    } else if host.endpoints == Some(0) {
        why = "; the host has no endpoints".to_owned();
    }
    let mut verdict = verdict(
        "one-subflow",
        None,
        share,
        format!("one subflow only: no host announced an address, and none opened a second subflow{why}"),
    );
    let (time, packet) = first.handshake.third.or(first.handshake.syn)?;
    verdict.evidence.push(case.evidence(time, packet, "the handshake; no MP_JOIN and no ADD_ADDR follows"));
    verdict.advice = vec![
        "on the client: ip mptcp endpoint add ADDRESS dev DEVICE subflow, for each further interface"
            .to_owned(),
        "ip mptcp limits set subflows 2 add_addr_accepted 2; `mptcplab host check` finds what is missing"
            .to_owned(),
    ];
    Some(verdict)
}

/// Whether a subflow goes to an announced address.
fn uses(subflow: &Subflow, announced: &crate::track::Announced) -> bool {
    subflow.ends.iter().any(|end| end.ip() == announced.address.ip())
        && subflow.handshake.request != Request::Unseen
        && matches!(subflow.handshake.request, Request::Join(_))
}

/// Backups that carry nothing.
fn backups(case: &Case<'_>) -> Vec<Verdict> {
    let share = one_more(case);
    let mut found = Vec::new();
    for (number, subflow) in case.subflows() {
        let carried = subflow.halves[case.side].totals.new_bytes;
        let total = case.view.directions[case.side].stream.new_bytes;
        if !subflow.is_established || !subflow.is_backup() || carried * 50 > total || total == 0 {
            continue;
        }
        let by = match subflow.backup {
            [true, true] => "both hosts",
            [true, false] => "the host that opened it",
            _ => "its peer",
        };
        let mut one = verdict(
            "backup",
            Some(number),
            share,
            format!(
                "{} is a backup ({by} asked for that), and carries nothing while others work",
                case.name(number)
            ),
        );
        if let Some((time, packet)) =
            subflow.handshake.syn.filter(|_| subflow.backup[0]).or(subflow.handshake.syn_ack)
        {
            one.evidence.push(case.evidence(time, packet, "handshake of the backup"));
        }
        let address = subflow.ends[0].ip();
        one.advice = vec![format!(
            "ip mptcp endpoint change {address} nobackup, if this path should carry data; keep it if it costs money"
        )];
        found.push(one);
    }
    found
}
