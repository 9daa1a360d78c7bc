//! The complete public state of an endpoint as text. Default values are omitted.
//!
//! Excludes [`mptcp::ConnectionUse::receive_bytes`], which depends on the addresses of the allocator.

use std::fmt::{Debug, Write};

use mptcp::observe::PathLimit;
use mptcp::{ConnectionId, ConnectionInfo, Endpoint, SubflowInfo};
use mptcp_clock::{Duration, Instant};

/// Level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All fields.
    All,
    /// Without fields that rarely differ.
    Most,
}

/// Fields with their names, without zero and empty values.
#[derive(Default)]
struct Line(String);

impl Line {
    /// A field that is omitted in [`Part::Most`] if it has a usual value.
    fn usual(self, part: Part, name: &str, value: impl Debug, usual: &[&str]) -> Self {
        if part == Part::Most && usual.contains(&&*format!("{value:?}")) {
            self
        } else {
            self.add(name, value)
        }
    }

    /// A field only in [`Part::All`].
    fn hidden(self, part: Part, name: &str, value: impl Debug) -> Self {
        if part == Part::Most { self } else { self.add(name, value) }
    }

    fn add(mut self, name: &str, value: impl Debug) -> Self {
        let before = self.0.len();
        // Writing to a string does not fail.
        let _ = write!(self.0, " {name}=");
        let at = self.0.len();
        let _ = write!(self.0, "{value:?}");
        if matches!(&self.0[at..], "0" | "false" | "None" | "0ns") {
            self.0.truncate(before);
        } else if self.0[at..].starts_with("Some(") {
            self.0.replace_range(at..at + 5, "");
            self.0.pop();
        }
        self
    }
}

/// The state of a connection.
fn connection(part: Part, info: &ConnectionInfo) -> String {
    let limits = info.limits.iter().filter(|(_, time)| !time.is_zero());
    let limits: Vec<String> = limits.map(|(limit, time)| format!("{} {time}", limit.name())).collect();
    Line::default()
        .usual(part, "mode", info.mode, &["Multipath"])
        .add("fallback", info.fallback)
        .usual(part, "version", info.version, &["V1"])
        .add("checksum", info.checksum)
        .hidden(part, "client", info.client)
        .hidden(part, "token", info.token)
        .hidden(part, "remote_token", info.remote_token)
        .hidden(part, "write_seq", info.write_seq)
        .hidden(part, "snd_una", info.snd_una)
        .hidden(part, "rcv_nxt", info.rcv_nxt)
        .add("by", (info.congestion, info.scheduler))
        .usual(
            part,
            "subflows",
            (info.subflows.len(), info.past.len(), info.subflows_total, info.subflows_max),
            &["(1, 0, 1, 8)", "(2, 0, 2, 8)"],
        )
        .usual(part, "addresses", (info.add_addr_signal, info.add_addr_accepted), &["(0, 0)"])
        .add("closed", info.closed)
        .add("written", info.bytes_written)
        .add("sent", info.bytes_sent)
        .add("acked", info.bytes_acked)
        .add("received", info.bytes_received)
        .add("out_of_order", info.out_of_order)
        .add("duplicate", info.duplicate_bytes)
        .add("queue", info.send_queue)
        .usual(part, "buffer", info.receive_buffer, &["6291456"])
        .add("peer_window", info.peer_window)
        .add("reinjected", info.reinjected_bytes)
        .add("opportunistic", info.opportunistic_bytes)
        .add("penalties", info.penalties)
        .hidden(part, "pieces", info.usage.pieces)
        .add("mappings", info.usage.mappings)
        .add("in_flight", info.usage.segments_in_flight)
        .add("signals", info.usage.signals)
        .add("joins", info.usage.half_open_joins)
        .add("remote_addresses", info.usage.remote_addresses)
        .add("failed", info.usage.failed)
        .hidden(part, "places", info.usage.subflows)
        .add("limits", limits.join(", "))
        .0
}

/// The state of a subflow.
fn subflow(part: Part, info: &SubflowInfo) -> String {
    let tally = &info.stats;
    Line::default()
        .add("opened", info.opened_at)
        .add("closed", info.closed_at)
        .hidden(part, "from", (info.interface.0, info.local.port()))
        .hidden(part, "to", info.remote.ip())
        .usual(part, "state", info.state, &["Established", "FinWait1", "FinWait2"])
        .add("closed_by", info.closed_by)
        .add("icmp", info.icmp)
        .add("backup", info.backup)
        .add("probation", info.probation)
        .add("cwnd", info.cwnd)
        .add("ssthresh", info.ssthresh)
        .usual(part, "mss", info.mss, &["1420", "1460", "1448"])
        .usual(part, "pmtu", info.pmtu, &["1500"])
        .usual(part, "advmss", info.advmss, &["1460"])
        .usual(part, "timestamps", info.timestamps, &["true"])
        .usual(part, "sack", info.sack, &["true"])
        .add("syn_data", info.syn_data)
        .usual(part, "scales", (info.send_scale, info.receive_scale), &["(7, 7)"])
        .add("ecn", info.ecn)
        .usual(part, "ce", (info.delivered_ce, info.received_ce, info.mark_reductions), &["(0, 0, 0)"])
        .add("srtt", info.srtt)
        .add("rttvar", info.rttvar)
        .add("min_rtt", info.min_rtt)
        .add("rto", info.rto)
        .add("backoff", info.backoff)
        .add("pacing", info.pacing_rate.map(|rate| rate as u64))
        .add("in_flight", info.in_flight)
        .add("probes", info.probes)
        .usual(part, "ack_delay", info.ack_delay, &["40ms"])
        .add("unacked", info.unacked)
        .add("sacked", info.sacked)
        .add("lost", info.lost)
        .add("resent", info.retrans)
        .add("reordering", info.reordering_seen)
        .add("local_queue", info.local_queue)
        .usual(part, "recovery", info.recovery, &["Open"])
        .usual(part, "again", (info.retransmissions, info.retransmitted_bytes), &["(0, 0)"])
        .add("timeouts", info.timeouts)
        .add("recoveries", info.recoveries)
        .add("undone", info.undone)
        .add("out_of_order", info.out_of_order)
        .add("bytes", (tally.bytes_sent, tally.bytes_acked, tally.bytes_received, tally.bytes_reinjected))
        .add("segments", (tally.segments_sent, tally.segments_received))
        .add("data", (tally.data_segments_sent, tally.data_segments_received, tally.longest_received))
        .0
}

/// The most variable fields of each subflow.
pub fn short(info: &ConnectionInfo) -> String {
    let one = |s: &SubflowInfo| {
        format!(
            "{} {:?}/{:?} {:?} {} {} {}",
            s.cwnd, s.ssthresh, s.srtt, s.recovery, s.in_flight, s.retransmissions, s.stats.bytes_sent
        )
        .replace("None", "-")
        .replace("Some(", "")
        .replace(')', "")
    };
    let subflows: Vec<String> = info.subflows.iter().map(one).collect();
    format!("{} written {} acked, {}", info.bytes_written, info.bytes_acked, subflows.join(" | "))
}

/// A connection: one line for it, one per subflow, and the limiting factors of each if it is observed.
pub fn of(part: Part, end: &Endpoint, now: Instant, id: ConnectionId) -> Vec<String> {
    let (Some(info), Some(found)) = (end.info(now, id), end.connection(id)) else {
        return vec![" gone".into()];
    };
    let more = Line::default()
        .usual(part, "writable", end.writable(id), &["4194304"])
        .add("readable", end.readable(id))
        .usual(part, "largest_window", found.largest_window(), &["6291456"])
        .hidden(part, "port", found.local_port())
        .hidden(part, "early", found.out_of_order())
        .hidden(part, "ids", found.subflow_ids().map(mptcp::SubflowId::number).collect::<Vec<_>>())
        .hidden(part, "place", id.slot())
        .hidden(part, "most", found.config().max_subflows);
    let mut lines = vec![connection(part, &info) + &more.0];
    for sub in info.subflows.iter().chain(&info.past) {
        let size = end.gso_size(id, sub.id).filter(|size| *size != sub.mss);
        lines.push(format!(" {}:{}", sub.id, subflow(part, sub) + &Line::default().add("frame", size).0));
    }
    for reasons in found.reasons(now) {
        let total = PathLimit::ALL.iter().zip(reasons.total).filter(|(_, time)| *time > Duration::ZERO);
        let total: Vec<String> = total.map(|(limit, time)| format!("{} {time}", limit.name())).collect();
        let blamed = Line::default().add("blamed", reasons.blamed).0;
        lines.push(format!(" {} was held back: {}{blamed}", reasons.place.subflow, total.join(", ")));
    }
    lines
}

/// The senders of a connection: windows, ssthresh and retransmissions.
pub fn windows(info: &ConnectionInfo) -> String {
    let one = |s: &SubflowInfo| {
        let ssthresh = s.ssthresh.map_or_else(|| "-".into(), |ssthresh| ssthresh.to_string());
        let line = Line(format!("{}/{ssthresh}", s.cwnd)).add("again", s.retransmissions);
        line.add("timeouts", s.timeouts).add("undone", s.undone).0
    };
    let subflows: Vec<String> = info.subflows.iter().map(one).collect();
    subflows.join(", ") + &Line::default().add("reinjected", info.reinjected_bytes).0
}
