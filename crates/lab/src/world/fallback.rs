//! The reason of a fallback to TCP, for the summary of a flow. Each end of a connection reports only its own
//! observation, so this module combines the reports of both ends.

use mptcp::FallbackReason;

use super::apps::App;
use super::host::Host;
use crate::measurements::Fallback;

/// The fallback of a flow. `removes` states whether a middlebox of the scenario may remove options.
pub(super) fn of(app: &App, hosts: &[Host], removes: bool) -> Option<Fallback> {
    let [opener, acceptor] = app.fell_back;
    let at = opener.into_iter().chain(acceptor).map(|(at, _)| at).min()?;
    let reason = match (opener, acceptor) {
        // The acceptor never received an MPTCP option.
        (Some((_, FallbackReason::SynAck)), None) if !removes => {
            "several SYNs were not answered, so the next one had no options of Multipath TCP"
        }
        (Some((_, FallbackReason::SynAck)), None) => "options were removed from the SYN",
        (Some((_, FallbackReason::SynAck)), Some(_)) => "options were removed from the SYN/ACK",
        // The end that saw the cause has more information than the notified end.
        (Some((_, FallbackReason::MpFail | FallbackReason::InfiniteMapping)), Some((_, seen))) => words(seen),
        (Some((there, seen)), Some((here, other))) => words(if here < there { other } else { seen }),
        (Some((_, seen)), None) | (None, Some((_, seen))) => words(seen),
        (None, None) => return None,
    };
    let path = hosts[app.from].interface_names.get(app.interface.0 as usize).cloned().unwrap_or_default();
    Some(Fallback { at: at.as_secs_f64(), path, reason })
}

fn words(reason: FallbackReason) -> &'static str {
    match reason {
        FallbackReason::SimultaneousOpen => "both ends sent a SYN",
        FallbackReason::SynAck => "options were removed from the SYN/ACK",
        FallbackReason::ThirdAck => "options were removed from the third ACK of the handshake",
        FallbackReason::FirstData => "options were removed from the first segments after the handshake",
        FallbackReason::Stripped => "options were removed from segments, and no data was acknowledged",
        FallbackReason::Unmapped => "data came without a mapping",
        FallbackReason::Checksum => "the payload was changed: a DSS checksum did not match",
        FallbackReason::MpFail => "the peer found a DSS checksum that did not match",
        FallbackReason::InfiniteMapping => "the peer fell back",
    }
}
