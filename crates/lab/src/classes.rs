//! Classes of frames, by which filters and queues know the flow and the interface that a frame belongs to.
//!
//! Only numbers.

use std::ops::Range;

/// Classes of one flow lie this far apart; a flow has fewer interfaces.
const INTERFACES: u32 = 256;

/// The class of a flow's frames over an interface of the host that opened it.
pub(crate) fn class_of(flow: usize, interface: usize) -> u32 {
    1 + flow as u32 * INTERFACES + interface as u32
}

/// All classes of a flow.
pub(crate) fn classes_of(flow: usize) -> Range<u32> {
    class_of(flow, 0)..class_of(flow + 1, 0)
}

/// The flow that a label stands for, and the interface of the host that opened it.
pub(crate) fn flow_and_interface(label: u32) -> Option<(usize, usize)> {
    let class = (label >> 8).checked_sub(1)?;
    Some(((class / INTERFACES) as usize, (class % INTERFACES) as usize))
}

/// The flow that a label stands for, and its detail.
pub(crate) fn flow_and_subflow(label: u32) -> Option<(usize, usize)> {
    let class = (label >> 8).checked_sub(1)?;
    Some(((class / INTERFACES) as usize, (label & 0xff) as usize))
}
