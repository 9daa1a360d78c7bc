//! A middlebox that limits the receive window, as some traffic shapers do.
//!
//! Stateless except for window scales. Does not change windows of SYNs, which are never scaled (RFC 7323
//! section 2.2).

use mptcp_lab::middlebox::{Flows, Middlebox, Site, Travelling, covers, ends};
use mptcp_lab::scenario::Way;
use mptcp_lab::scenario::names::Side;
use mptcp_lab::{Instant, Parameters, ScenarioError, Segment};

pub(crate) const ABOUT: &str =
    "Lets no receive window above `window` pass (a size, needed), in either direction.";

/// Parses `[middleboxes.NAME.parameters]`.
pub(crate) fn read(keys: &mut Parameters<'_>) -> Result<impl Fn(Site) -> ClampWindow + use<>, ScenarioError> {
    let window = keys.positive_size("window", None)?;
    Ok(move |site: Site| ClampWindow { way: site.way, window, scales: Flows::new() })
}

#[derive(Debug)]
pub(crate) struct ClampWindow {
    way: Way,
    window: u64,
    /// Window scales by connection, forward and backward.
    scales: Flows<[u8; 2]>,
}

impl Middlebox for ClampWindow {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        let scales = self.scales.entry(ends(side, &segment)).or_default();
        if segment.flags.syn() {
            scales[side as usize] = segment.options.window_scale.unwrap_or(0);
        } else if covers(self.way, side) {
            let most = self.window >> scales[side as usize];
            segment.window = segment.window.min(u16::try_from(most).unwrap_or(u16::MAX));
        }
        out.push((side, segment));
    }
}
