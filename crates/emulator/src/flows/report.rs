//! Results of a run on sockets, which the Python binding reads.
//!
//! Owns the values only; `kernel` (Linux's sockets) and `wire` (mptcplab's stack) fill them.

use mptcp_lab::measurements::Measurements;

/// Actual settings and problems of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowReport {
    /// The flow.
    pub flow: String,
    /// Congestion controller of the socket.
    pub congestion: String,
    /// Receive buffer of the receiver and send buffer of the sender, bytes: SO_RCVBUF and SO_SNDBUF of the
    /// kernel, or the configured values of mptcplab's stack. 0 for a flow that never connected.
    pub buffers: (u32, u32),
    /// The problem, if any.
    pub problem: Option<String>,
}

/// Results of a run.
#[derive(Debug)]
pub struct Ran {
    /// Measurements as in the simulator.
    pub measured: Measurements,
    /// Settings and problems, by flow.
    pub flows: Vec<FlowReport>,
}
