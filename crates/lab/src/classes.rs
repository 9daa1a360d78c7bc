//! Frame classes: numbers by which filters, queues and counters know the flow and interface of a frame.
//!
//! The network sees only the length and the label of a frame. A label is a class (24 bits) and a detail (8
//! bits), the number of the subflow. Owns arithmetic only.

use std::ops::Range;

/// Number of classes per flow; a flow has fewer interfaces.
const INTERFACES: u32 = 256;

/// The class of a flow's frames over an interface of its opening host.
pub(crate) fn class_of(flow: usize, interface: usize) -> u32 {
    1 + flow as u32 * INTERFACES + interface as u32
}

/// All classes of a flow.
pub(crate) fn classes_of(flow: usize) -> Range<u32> {
    class_of(flow, 0)..class_of(flow + 1, 0)
}

/// Flow, and interface at its opening host, of a label; `None` for a frame of no flow.
pub(crate) fn flow_and_interface(label: u32) -> Option<(usize, usize)> {
    let class = (label >> 8).checked_sub(1)?;
    Some(((class / INTERFACES) as usize, (class % INTERFACES) as usize))
}

/// Flow and subflow of a label; `None` for a frame of no flow.
pub(crate) fn flow_and_subflow(label: u32) -> Option<(usize, usize)> {
    let class = (label >> 8).checked_sub(1)?;
    Some(((class / INTERFACES) as usize, (label & 0xff) as usize))
}
