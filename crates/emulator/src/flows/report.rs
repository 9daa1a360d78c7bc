//! What a run on sockets gave.

use mptcp_lab::measurements::Measurements;

/// What a flow was given by its sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowReport {
    /// The flow.
    pub flow: String,
    /// The congestion controller, as the socket says.
    pub congestion: String,
    /// Receive buffer of the receiver and send buffer of the sender, bytes: SO_RCVBUF and SO_SNDBUF read back from the kernel, of our
    /// own stack as they were asked for; 0 of a flow that was never connected.
    pub buffers: (u32, u32),
    /// What went wrong, in words.
    pub problem: Option<String>,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    /// As the simulator gives it.
    pub measured: Measurements,
    /// By flow.
    pub flows: Vec<FlowReport>,
}
