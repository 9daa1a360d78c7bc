//! The facts about the stack that scripts can check.
//!
//! Owns the names of facts and the format of their values.

use mptcp::{ConnectionInfo, Mode, Recovery, SubflowInfo, SubflowState};

use super::host::Host;
use super::peer::Peer;
use super::text::show;

/// Checks `= [flow] NAME VALUE`.
pub fn check(host: &mut Host, peer: &mut Peer, words: &[String]) -> Result<(), String> {
    let mut words: Vec<_> = words.iter().map(String::as_str).collect();
    let mut flow = None;
    if let Some(name) = words.first().and_then(|word| word.strip_prefix('[')) {
        flow = Some(name.trim_end_matches(']'));
        words.remove(0);
    }
    match words.as_slice() {
        ["event", rest @ ..] => return event(host, &rest.join(" ")),
        ["no", "event", rest @ ..] => {
            let name = rest.join(" ");
            let told = host.events.contains(&name);
            return if told { Err(format!("the event {name} occurred")) } else { Ok(()) };
        }
        _ => {}
    }
    let [name, wanted @ ..] = words.as_slice() else { return Err("`=` lacks the name of a fact".into()) };
    let at = peer.flow(flow);
    let subflow = host.subflow(&peer.flows[at]);
    let is = value(host, subflow.as_ref(), name)?;
    let wanted = wanted.join(" ");
    if is == wanted { Ok(()) } else { Err(format!("{name} is {is}, not {wanted}")) }
}

fn event(host: &mut Host, name: &str) -> Result<(), String> {
    let Some(at) = host.events.iter().position(|event| event == name) else {
        return Err(format!("the event {name} did not occur; events: {}", host.events.join(", ")));
    };
    host.events.remove(at);
    Ok(())
}

fn value(host: &Host, subflow: Option<&SubflowInfo>, name: &str) -> Result<String, String> {
    let whole = match name {
        "state" => Some(state(subflow.map_or(SubflowState::Closed, |subflow| subflow.state)).into()),
        "connections" => Some(host.endpoint.connections().count().to_string()),
        "cookie" => Some(host.endpoint.has_cookie(super::peer::PEER).to_string()),
        "readable" => Some(host.endpoint.readable(host.id()?).to_string()),
        "writable" => Some(host.endpoint.writable(host.id()?).to_string()),
        _ => None,
    };
    if let Some(value) = whole {
        return Ok(value);
    }
    if let Some(info) = host.info()
        && let Some(value) = of_connection(&info, name)
    {
        return Ok(value);
    }
    let subflow = subflow.ok_or_else(|| format!("unknown fact `{name}`, or no subflow"))?;
    of_subflow(subflow, name).ok_or_else(|| format!("unknown fact `{name}`"))
}

fn of_connection(info: &ConnectionInfo, name: &str) -> Option<String> {
    Some(match name {
        "mode" => match info.mode {
            Mode::Negotiating => "negotiating".into(),
            Mode::Multipath => "multipath".into(),
            Mode::Plain => "plain".into(),
        },
        "closed" => info.closed.map_or("no".into(), |how| format!("{how:?}")),
        "version" => info.version.number().to_string(),
        "checksum" => info.checksum.to_string(),
        "subflows" => info.subflows.iter().filter(|s| s.state != SubflowState::Closed).count().to_string(),
        "peer_window" => info.peer_window.to_string(),
        "send_queue" => info.send_queue.to_string(),
        "receive_buffer" => info.receive_buffer.to_string(),
        "bytes_received" => info.bytes_received.to_string(),
        "bytes_sent" => info.bytes_sent.to_string(),
        "bytes_acked" => info.bytes_acked.to_string(),
        "duplicate_bytes" => info.duplicate_bytes.to_string(),
        "data_out_of_order" => info.out_of_order.to_string(),
        "reinjected" => info.reinjected_bytes.to_string(),
        "opportunistic" => info.opportunistic_bytes.to_string(),
        "penalties" => info.penalties.to_string(),
        "accepted_addresses" => info.add_addr_accepted.to_string(),
        _ => return None,
    })
}

fn of_subflow(info: &SubflowInfo, name: &str) -> Option<String> {
    Some(match name {
        "closed_by" => info.closed_by.map_or("no".into(), |why| format!("{why:?}")),
        "cwnd" => info.cwnd.to_string(),
        "ssthresh" => info.ssthresh.map_or("none".into(), |ssthresh| ssthresh.to_string()),
        "mss" => info.mss.to_string(),
        "srtt" => info.srtt.map_or("none".into(), show),
        "rttvar" => show(info.rttvar),
        "min_rtt" => info.min_rtt.map_or("none".into(), show),
        "rto" => show(info.rto),
        "backoff" => info.backoff.to_string(),
        "in_flight" => info.in_flight.to_string(),
        "unacked" => info.unacked.to_string(),
        "sacked" => info.sacked.to_string(),
        "lost" => info.lost.to_string(),
        "retrans" => info.retrans.to_string(),
        "recovery" => match info.recovery {
            Recovery::Open => "open".into(),
            Recovery::Disorder => "disorder".into(),
            Recovery::Cwr { .. } => "cwr".into(),
            Recovery::Recovery { .. } => "recovery".into(),
            Recovery::Loss { .. } => "loss".into(),
        },
        "retransmissions" => info.retransmissions.to_string(),
        "timeouts" => info.timeouts.to_string(),
        "undone" => info.undone.to_string(),
        "pmtu" => info.pmtu.to_string(),
        "ecn" => info.ecn.to_string(),
        "delivered_ce" => info.delivered_ce.to_string(),
        "received_ce" => info.received_ce.to_string(),
        "mark_reductions" => info.mark_reductions.to_string(),
        "recoveries" => info.recoveries.to_string(),
        "reordering" => info.reordering_seen.to_string(),
        "timestamps" => info.timestamps.to_string(),
        "sack" => info.sack.to_string(),
        "send_scale" => info.send_scale.to_string(),
        "receive_scale" => info.receive_scale.to_string(),
        "backup" => info.backup.to_string(),
        "out_of_order" => info.out_of_order.to_string(),
        "icmp" => info.icmp.map_or("none".into(), |error| format!("{error:?}")),
        _ => return None,
    })
}

/// A state by its name in RFC 9293, in lower case.
fn state(state: SubflowState) -> &'static str {
    match state {
        SubflowState::SynSent => "syn-sent",
        SubflowState::SynReceived => "syn-received",
        SubflowState::Established => "established",
        SubflowState::FinWait1 => "fin-wait-1",
        SubflowState::FinWait2 => "fin-wait-2",
        SubflowState::CloseWait => "close-wait",
        SubflowState::Closing => "closing",
        SubflowState::LastAck => "last-ack",
        SubflowState::TimeWait => "time-wait",
        SubflowState::Closed => "closed",
    }
}
