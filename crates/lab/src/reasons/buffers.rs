//! Full buffers: a buffer that is too small for its paths, or else the path for whose data others waited.

use super::BUFFERS;
use super::facts::{FlowFacts, PathFacts, share};
use super::finding::Finding;
use super::queues::{bloated, is_bloated, queueing_delay};
use mptcp_clock::math;

/// A buffer of this multiple of (sum of the rates) x (longest RTT) keeps all paths busy during recovery (RFC 6182
/// section 5.3).
const BUFFER_TIMES: f64 = 2.0;
/// No buffer size is recommended if data waits in queues for more than this multiple of the longest RTT: a larger buffer
/// would only lengthen the queues.
const QUEUED_TIMES: f64 = 0.5;

impl FlowFacts {
    /// The buffer size that RFC 6182 section 5.3 recommends for the paths of a flow, bytes; 0 if unknown.
    #[must_use]
    pub fn recommended_buffer(&self) -> f64 {
        let rates: f64 = self.rates().iter().map(|(_, rate)| rate).sum();
        BUFFER_TIMES * rates / 8.0 * longest_rtt(self.paths.iter())
    }
}

fn longest_rtt<'a>(paths: impl Iterator<Item = &'a PathFacts>) -> f64 {
    paths.map(|path| path.base_rtt.unwrap_or(0.0)).fold(0.0, f64::max)
}

/// The finding about full buffers, if they cost anything.
pub(super) fn of_buffers(flow: &FlowFacts, rates: &[(&str, f64)]) -> Option<Finding> {
    let known: Vec<&PathFacts> = flow.observed().collect();
    let whole =
        Some(rates.iter().map(|(_, rate)| rate).sum::<f64>()).filter(|sum| *sum != 0.0).unwrap_or(1.0);
    let rate =
        |path: &PathFacts| rates.iter().find(|(name, _)| *name == path.path).map_or(0.0, |(_, rate)| *rate);
    let cost = |cause: &str| known.iter().map(|path| path.limit(cause) * rate(path)).sum::<f64>();
    let costs: Vec<(String, f64)> =
        BUFFERS.iter().chain(&["head_of_line"]).map(|cause| ((*cause).to_owned(), cost(cause))).collect();
    let together: f64 = costs.iter().map(|(_, cost)| cost).sum();
    if together == 0.0 {
        return None;
    }
    // A path that waits for older data on another path is blocked by the same full buffers.
    let full = if flow.full_buffers.is_empty() { &costs } else { &flow.full_buffers };
    let mut cause = BUFFERS[0];
    for other in &BUFFERS[1..] {
        if share(full, other) > share(full, cause) {
            cause = other;
        }
    }
    let sizes: Vec<(&str, u64)> = match cause {
        "both_buffers" => vec![("send buffer", flow.send_buffer), ("receive buffer", flow.receive_buffer)],
        "receive_window" => vec![("buffer", flow.receive_buffer)],
        _ => vec![("buffer", flow.send_buffer)],
    };
    let longest = longest_rtt(known.iter().copied());
    let need = BUFFER_TIMES * whole / 8.0 * longest;
    let mut late = *known.first()?;
    for path in &known[1..] {
        if path.blamed > late.blamed {
            late = path;
        }
    }
    let part = together / whole;
    let smallest = sizes.iter().map(|(_, size)| *size).min()?;
    if (smallest as f64) < need || known.len() < 2 || late.blamed == 0.0 {
        let names: Vec<String> =
            sizes.iter().map(|(name, size)| format!("{name} {}", size_text(*size))).collect();
        let mut detail = names.join(", ");
        let is_queued = known.iter().any(|path| queueing_delay(path) > QUEUED_TIMES * longest);
        let recommended = size_like(need, smallest);
        if (smallest as f64) < need && !is_queued && recommended != size_text(smallest) {
            detail += &format!(", RFC 6182 recommends {recommended} for these paths");
        }
        return Some(Finding { detail, ..Finding::new(cause, None, part, together) });
    }
    if is_bloated(late) {
        return Some(Finding { share: part, cost: together, ..bloated(late) });
    }
    Some(Finding::new("head_of_line", Some(&late.path), part, together))
}

const UNITS: [(u64, &str); 5] =
    [(1_000_000, "MB"), (1 << 20, "MiB"), (1000, "kB"), (1 << 10, "KB"), (1, "B")];

fn unit(size: u64) -> (u64, &'static str) {
    UNITS.into_iter().find(|(scale, _)| size.is_multiple_of(*scale)).unwrap_or((1, "B"))
}

/// A size as scenarios write it: 61,440 bytes are 60KB, 2,000,000 are 2MB.
fn size_text(size: u64) -> String {
    let (scale, unit) = unit(size);
    format!("{}{unit}", size / scale)
}

/// An approximate size, in the unit that [`size_text`] uses for the size `like`.
fn size_like(size: f64, like: u64) -> String {
    let (scale, unit) = match unit(like) {
        (_, "B") => (1000, "kB"),
        known => known,
    };
    let value = size / scale as f64;
    if value >= 9.5 {
        return format!("{value:.0}{unit}");
    }
    // Two significant digits.
    let digits = if value > 0.0 { (1.0 - math::log10(value).floor()).max(0.0) as usize } else { 0 };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}
