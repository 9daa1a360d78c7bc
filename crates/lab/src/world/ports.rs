//! Which flow a segment belongs to, by its ports alone.
//!
//! Owns the ports of flows.

use mptcp_wire::Segment;

use super::apps::App;

/// The port of the first flow; the others follow.
pub(super) const FIRST_PORT: u16 = 5001;

/// The flow that a segment belongs to, by its ports.
pub(super) fn flow_of_ports<'a>(apps: &'a [App], segment: &Segment) -> Option<&'a App> {
    let flow_at = |port: u16| apps.get(usize::from(port.wrapping_sub(FIRST_PORT)));
    flow_at(segment.destination.port()).or_else(|| flow_at(segment.source.port()))
}

/// The label of a segment of which nobody knows the subflow. Where nodes choose ways by labels, the ports stand for it.
pub(super) fn label_of(apps: &[App], segment: &Segment, spreads: bool) -> u32 {
    let label = flow_of_ports(apps, segment).map_or(0, |app| app.label(segment, None));
    let ports = (segment.source.port() ^ segment.destination.port()) as u8;
    if spreads { label | u32::from(ports) } else { label }
}
