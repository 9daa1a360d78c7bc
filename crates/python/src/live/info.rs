//! Converts the information about a connection to dictionaries. The keys are those of `ConnectionInfo` in `_core.pyi`.
//!
//! Owns the names of states and reasons.

use mptcp_live::{
    CloseReason, ConnectionInfo, ConnectionUse, IcmpError, Mode, Recovery, SubflowCloseReason, SubflowInfo,
    SubflowState, Version,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The dictionary of a connection. Times are seconds since the start of the driver.
pub(crate) fn connection<'py>(py: Python<'py>, info: &ConnectionInfo) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("at_s", info.at.as_secs_f64())?;
    row.set_item(
        "mode",
        match info.mode {
            Mode::Negotiating => "negotiating",
            Mode::Multipath => "mptcp",
            Mode::Plain => "tcp",
        },
    )?;
    row.set_item("fallback", info.fallback)?;
    row.set_item("version", if info.version == Version::V0 { "v0" } else { "v1" })?;
    row.set_item("checksum", info.checksum)?;
    row.set_item("client", info.client)?;
    row.set_item("token", info.token)?;
    row.set_item("remote_token", info.remote_token)?;
    row.set_item("write_seq", info.write_seq)?;
    row.set_item("snd_una", info.snd_una)?;
    row.set_item("rcv_nxt", info.rcv_nxt)?;
    row.set_item("congestion", info.congestion)?;
    row.set_item("scheduler", info.scheduler)?;
    row.set_item("subflows_max", info.subflows_max)?;
    row.set_item("subflows_total", info.subflows_total)?;
    row.set_item("add_addr_signal", info.add_addr_signal)?;
    row.set_item("add_addr_accepted", info.add_addr_accepted)?;
    row.set_item("bytes_written", info.bytes_written)?;
    row.set_item("bytes_sent", info.bytes_sent)?;
    row.set_item("bytes_acked", info.bytes_acked)?;
    row.set_item("bytes_received", info.bytes_received)?;
    row.set_item("bytes_retrans", info.reinjected_bytes)?;
    row.set_item("bytes_opportunistic", info.opportunistic_bytes)?;
    row.set_item("bytes_duplicate", info.duplicate_bytes)?;
    row.set_item("bytes_out_of_order", info.out_of_order)?;
    row.set_item("penalties", info.penalties)?;
    row.set_item("send_queue", info.send_queue)?;
    row.set_item("receive_buffer", info.receive_buffer)?;
    row.set_item("peer_window", info.peer_window)?;
    row.set_item("closed", info.closed.map(closed))?;
    let limits = PyDict::new(py);
    for (limit, time) in &info.limits {
        limits.set_item(limit.name(), time.as_secs_f64())?;
    }
    row.set_item("limits_s", limits)?;
    row.set_item("usage", usage(py, &info.usage)?)?;
    // In order of creation.
    let paths = info.past.iter().map(|path| (path, None));
    let paths = paths.chain(info.subflows.iter().enumerate().map(|(slot, path)| (path, Some(slot))));
    let mut paths: Vec<(&SubflowInfo, Option<usize>)> = paths.collect();
    paths.sort_by_key(|(path, _)| path.id.number());
    let paths = paths.into_iter().map(|(path, id)| subflow(py, path, id)).collect::<PyResult<Vec<_>>>()?;
    row.set_item("paths", PyList::new(py, paths)?)?;
    Ok(row)
}

/// Resources of the connection that the peer can use up. docs/security.md lists the bounds.
fn usage<'py>(py: Python<'py>, held: &ConnectionUse) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("receive_bytes", held.receive_bytes)?;
    row.set_item("pieces", held.pieces)?;
    row.set_item("mappings", held.mappings)?;
    row.set_item("segments_in_flight", held.segments_in_flight)?;
    row.set_item("signals", held.signals)?;
    row.set_item("half_open_joins", held.half_open_joins)?;
    row.set_item("remote_addresses", held.remote_addresses)?;
    row.set_item("failed", held.failed)?;
    row.set_item("subflows", held.subflows)?;
    Ok(row)
}

/// The dictionary of a subflow. `id` is its slot, None if it is closed.
fn subflow<'py>(py: Python<'py>, path: &SubflowInfo, id: Option<usize>) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let tally = &path.stats;
    row.set_item("number", path.id.number())?;
    row.set_item("id", id)?;
    row.set_item("interface", path.interface.0)?;
    row.set_item("local", path.local.to_string())?;
    row.set_item("remote", path.remote.to_string())?;
    row.set_item("state", state(path.state))?;
    row.set_item(
        "ca_state",
        match path.recovery {
            Recovery::Open => "open",
            Recovery::Disorder => "disorder",
            Recovery::Cwr { .. } => "cwr",
            Recovery::Recovery { .. } => "recovery",
            Recovery::Loss { .. } => "loss",
        },
    )?;
    row.set_item("icmp", path.icmp.map(icmp))?;
    row.set_item("backup", path.backup)?;
    row.set_item("opened_at_s", path.opened_at.as_secs_f64())?;
    row.set_item("closed_at_s", path.closed_at.map(|at| at.as_secs_f64()))?;
    row.set_item("closed_by", path.closed_by.map(closure))?;
    row.set_item("snd_cwnd", path.cwnd)?;
    row.set_item("snd_ssthresh", path.ssthresh)?;
    row.set_item("snd_mss", path.mss)?;
    row.set_item("rcv_mss", tally.longest_received)?;
    row.set_item("advmss", path.advmss)?;
    row.set_item("pmtu", path.pmtu)?;
    row.set_item("timestamps", path.timestamps)?;
    row.set_item("ecn", path.ecn)?;
    row.set_item("delivered_ce", path.delivered_ce)?;
    row.set_item("received_ce", path.received_ce)?;
    row.set_item("sack", path.sack)?;
    row.set_item("snd_wscale", path.send_scale)?;
    row.set_item("rcv_wscale", path.receive_scale)?;
    row.set_item("rtt_s", path.srtt.map(|time| time.as_secs_f64()))?;
    row.set_item("rttvar_s", path.rttvar.as_secs_f64())?;
    row.set_item("min_rtt_s", path.min_rtt.map(|time| time.as_secs_f64()))?;
    row.set_item("rto_s", path.rto.as_secs_f64())?;
    row.set_item("backoff", path.backoff)?;
    row.set_item("pacing_rate", path.pacing_rate)?;
    row.set_item("in_flight", path.in_flight)?;
    row.set_item("unacked", path.unacked)?;
    row.set_item("sacked", path.sacked)?;
    row.set_item("lost", path.lost)?;
    row.set_item("retrans", path.retrans)?;
    row.set_item("total_retrans", path.retransmissions)?;
    row.set_item("bytes_retrans", path.retransmitted_bytes)?;
    row.set_item("bytes_reinjected", tally.bytes_reinjected)?;
    row.set_item("timeouts", path.timeouts)?;
    row.set_item("recoveries", path.recoveries)?;
    row.set_item("probation", path.probation)?;
    row.set_item("reordering_seen", path.reordering_seen)?;
    row.set_item("bytes_out_of_order", path.out_of_order)?;
    row.set_item("bytes_sent", tally.bytes_sent)?;
    row.set_item("bytes_acked", tally.bytes_acked)?;
    row.set_item("bytes_received", tally.bytes_received)?;
    row.set_item("segs_out", tally.segments_sent)?;
    row.set_item("segs_in", tally.segments_received)?;
    row.set_item("data_segs_out", tally.data_segments_sent)?;
    row.set_item("data_segs_in", tally.data_segments_received)?;
    Ok(row)
}

fn icmp(error: IcmpError) -> &'static str {
    match error {
        IcmpError::NetworkUnreachable => "network unreachable",
        IcmpError::HostUnreachable => "host unreachable",
        IcmpError::ProtocolUnreachable => "protocol unreachable",
        IcmpError::PortUnreachable => "port unreachable",
        IcmpError::Prohibited => "prohibited",
        IcmpError::TimeExceeded => "time exceeded",
        IcmpError::TooBig { .. } => "too big",
    }
}

/// State names as in ss(8).
fn state(state: SubflowState) -> &'static str {
    match state {
        SubflowState::SynSent => "SYN-SENT",
        SubflowState::SynReceived => "SYN-RECV",
        SubflowState::Established => "ESTAB",
        SubflowState::FinWait1 => "FIN-WAIT-1",
        SubflowState::FinWait2 => "FIN-WAIT-2",
        SubflowState::CloseWait => "CLOSE-WAIT",
        SubflowState::Closing => "CLOSING",
        SubflowState::LastAck => "LAST-ACK",
        SubflowState::TimeWait => "TIME-WAIT",
        SubflowState::Closed => "CLOSED",
    }
}

fn closed(how: CloseReason) -> &'static str {
    match how {
        CloseReason::Finished => "finished",
        CloseReason::Refused => "refused",
        CloseReason::Reset(_) => "reset by peer",
        CloseReason::Aborted => "aborted",
        CloseReason::Unreachable => "unreachable",
        CloseReason::TimedOut => "timed out",
    }
}

fn closure(why: SubflowCloseReason) -> String {
    let reset = |by: &str, reason: Option<u8>| match reason {
        Some(reason) => format!("reset by {by}, MP_TCPRST reason {reason}"),
        None => format!("reset by {by}"),
    };
    match why {
        SubflowCloseReason::Finished => "finished".to_owned(),
        SubflowCloseReason::ResetByPeer(reason) => reset("peer", reason.map(|reason| reason.0)),
        SubflowCloseReason::ResetByUs(reason) => reset("us", reason.map(|reason| reason.0)),
        SubflowCloseReason::Unreachable => "unreachable".to_owned(),
        SubflowCloseReason::TimedOut => "timed out".to_owned(),
        SubflowCloseReason::InterfaceGone => "interface gone".to_owned(),
        SubflowCloseReason::ConnectionEnded => "connection ended".to_owned(),
    }
}
