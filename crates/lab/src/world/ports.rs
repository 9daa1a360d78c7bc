//! The flow of a segment by its ports, for segments without a known connection, such as those of middleboxes.
//!
//! Owns the port numbers of flows. A label is a number in a frame that identifies its flow and subflow.

use mptcp_wire::Segment;

use super::apps::App;

/// Port of the first flow; the others follow in order.
pub(super) const FIRST_PORT: u16 = 5001;

/// The flow of a segment; `None` for unknown ports.
pub(super) fn flow_of_ports<'a>(apps: &'a [App], segment: &Segment) -> Option<&'a App> {
    let flow_at = |port: u16| apps.get(usize::from(port.wrapping_sub(FIRST_PORT)));
    flow_at(segment.destination.port()).or_else(|| flow_at(segment.source.port()))
}

/// The label of a segment with an unknown subflow. If nodes select paths by label, the ports replace the
/// subflow.
pub(super) fn label_of(apps: &[App], segment: &Segment, spreads: bool) -> u32 {
    let label = flow_of_ports(apps, segment).map_or(0, |app| app.label(segment, None));
    let ports = (segment.source.port() ^ segment.destination.port()) as u8;
    if spreads { label | u32::from(ports) } else { label }
}
