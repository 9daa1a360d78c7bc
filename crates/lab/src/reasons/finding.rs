//! A limiting factor and its sentence.

use std::fmt;

/// A limiting factor of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The cause, by the name that tables use.
    pub cause: String,
    /// The path with the cause; `None` for the whole connection.
    pub path: Option<String>,
    /// The share of capacity lost: of `path` if there is one, otherwise of all paths.
    pub share: f64,
    /// The rate lost, bit/s; 0 if the link has no rate.
    pub cost: f64,
    /// A detail for the sentence, or empty.
    pub detail: String,
    /// The link or middlebox with the cause, if its name differs from that of `path`.
    pub place: Option<String>,
    /// The path was configured as a backup.
    pub is_backup: bool,
}

/// Cause, path and place: findings with equal keys share a sentence.
pub(super) type Key = (String, Option<String>, Option<String>);

impl Finding {
    pub(super) fn new(cause: &str, path: Option<&str>, share: f64, cost: f64) -> Self {
        Self { cause: cause.to_owned(), path: path.map(str::to_owned), share, cost, ..Self::default() }
    }

    /// Findings with equal keys share a sentence: paths that share a link share its cross traffic and its queue.
    pub(super) fn key(&self) -> Key {
        let is_of_link =
            self.place.is_some() && matches!(self.cause.as_str(), "cross_traffic" | "bufferbloat");
        let path = if is_of_link { None } else { self.path.clone() };
        (self.cause.clone(), path, if is_of_link { self.place.clone() } else { None })
    }

    fn sentence(&self) -> String {
        let part = format!("{:.0}%", self.share * 100.0);
        let path = self.path.as_deref().unwrap_or_default();
        let place = self.place.as_deref();
        let at = place.unwrap_or(path);
        let it = if place.is_some() { path } else { "it" };
        let its = if place.is_some() { format!("the capacity of {path}") } else { "its capacity".to_owned() };
        let on = if place.is_some() { format!(" on {at}") } else { String::new() };
        let has_path = self.path.is_some();
        let has_share = self.share != 0.0;
        match self.cause.as_str() {
            "never_joined" => {
                let behind = place.map_or_else(String::new, |_| format!(", behind the middlebox {at}"));
                format!("no subflow joined over {path}{behind}")
            }
            "lower_rate" => format!("the link rate of {at} was lower for a time, which cost {part} of {its}"),
            "down" => format!("{at} was down, which cost {part} of {its}"),
            "cross_traffic" => format!("other flows took {part} of {at}"),
            "loss" => format!("random loss{on} left {part} of {path} idle"),
            "queue_overflow" => format!("drops in the queue of {at} left {part} of {it} idle"),
            "policer" => format!("drops of the policer of {at} left {part} of {it} idle"),
            "path_mtu" => {
                format!(
                    "packets larger than the path MTU of {at} were dropped, which left {part} of {it} idle"
                )
            }
            "middlebox" => {
                format!("the middlebox {at} held or dropped segments, which left {part} of {path} idle")
            }
            "ack_loss" => format!("random loss of acknowledgements{on} left {part} of {path} idle"),
            "reordering" => format!("reordering{on} left {part} of {path} idle"),
            "delay_change" => format!("a change of delay left {part} of {path} idle"),
            "spurious" => {
                format!("spurious losses, for which the network dropped nothing, left {part} of {path} idle")
            }
            "window" => format!("{part} of {path} was idle while its congestion window grew"),
            "ack_queue" if has_share => format!(
                "acknowledgements waited in the queue of {}, which left {part} of {path} idle",
                self.detail
            ),
            "ack_queue" => format!(
                "acknowledgements waited in the queue of {} (bufferbloat), which delayed {path}",
                self.detail
            ),
            "penalty" if has_path => {
                format!("{part} of {path} was idle because penalisation (M2) had halved its window")
            }
            "penalty" => format!("penalisation (M2) kept windows small, which cost {part} of capacity"),
            "head_of_line" => format!(
                "other paths waited for older data on {path} (head-of-line blocking), which cost {part} of capacity"
            ),
            "receive_window" => format!("the receive window was full, which cost {part} of capacity"),
            "send_buffer" => format!("the send buffer was full, which cost {part} of capacity"),
            "both_buffers" => {
                format!("the send buffer and the receive window were full, which cost {part} of capacity")
            }
            "bufferbloat" => format!("data waited long in the queue of {at} (bufferbloat)"),
            "application" => {
                format!("the application had nothing to send, which left {part} of capacity idle")
            }
            "scheduler" if self.is_backup => {
                format!("{path} is an unused backup: {part} of its capacity was idle")
            }
            "scheduler" if has_path => format!("the scheduler left {part} of {path} idle"),
            "scheduler" => format!("the scheduler cost {part} of capacity"),
            "copies" => {
                format!("data that opportunistic retransmission (M1) sent twice cost {part} of capacity")
            }
            "coupling" => {
                format!("coupled congestion control kept the windows small, which cost {part} of capacity")
            }
            "nagle" if has_share => {
                format!("Nagle's algorithm delayed small segments, which cost {part} of capacity")
            }
            "nagle" => "Nagle's algorithm delayed the ends of blocks".to_owned(),
            "pacing" if has_path => format!("pacing left {part} of {path} idle"),
            "pacing" => format!("pacing cost {part} of capacity"),
            "local_queue" => format!("the local queue of this host left {part} of {path} idle"),
            "joining" => {
                format!("{path} carried nothing for {part} of the time, before its handshake was complete")
            }
            "closed" => format!("{path} had no subflow for {part} of the time"),
            other => format!("{other} cost {part} of capacity"),
        }
    }
}

impl fmt::Display for Finding {
    /// A clause with subject and verb.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = self.sentence();
        if self.detail.is_empty() || self.cause == "ack_queue" {
            return f.write_str(&sentence);
        }
        match sentence.strip_suffix(')') {
            Some(open) => write!(f, "{open}: {})", self.detail),
            None => write!(f, "{sentence} ({})", self.detail),
        }
    }
}
