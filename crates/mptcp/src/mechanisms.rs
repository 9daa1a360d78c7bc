//! The mechanisms M1 to M4 of Raiciu et al. (NSDI 2012) and their variants: opportunistic retransmission, penalisation,
//! buffer autotuning and cwnd capping.
//!
//! Their aim: with small buffers, MPTCP is at least as fast as TCP on the best path. Owns the switches: the
//! connection acts on them.

use crate::congestion::PenaltyRule;

/// Variant of opportunistic retransmission (M1): which data it retransmits when the window is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpportunisticRule {
    /// The oldest segment, once, if its subflow is much slower or has a window of at most four segments. This is the
    /// rule of the mptcp.org kernels.
    Original,
    /// All data that would arrive sooner than on its present subflow, in stream order.
    AllBeneficial,
    /// As `AllBeneficial`. In addition, a path with nothing else to send repeats data that may be lost,
    /// before that data is late. This applies at the end of the data, and while much slower paths fill the
    /// window.
    #[default]
    Speculative,
}

/// The mechanisms of Raiciu et al. (NSDI 2012, section 4.2), each with its own switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// M1: when the window is full, reinjects its oldest data on a faster subflow.
    pub opportunistic_retransmission: bool,
    /// Variant of M1.
    pub opportunistic_rule: OpportunisticRule,
    /// M2: halves the congestion window of the subflow that blocks the connection-level window. Default: off,
    /// because schedulers that consider the window perform better.
    pub penalisation: bool,
    /// M3: buffers grow to the size that the paths need, up to the configured size.
    pub autotuning: bool,
    /// With M3, the send buffer also shrinks with the windows. Linux's send buffer never shrinks
    /// (`tcp_sndbuf_expand`).
    pub shrink_send_buffer: bool,
    /// With M3, the receive buffer starts with Linux's initial size per path, as separate TCP connections
    /// would. Off: with one initial size, as Linux.
    pub receive_buffer_per_path: bool,
    /// M4: limits the congestion window of a path with a long queue.
    pub cwnd_capping: bool,
    /// Variant of M2.
    pub penalty_rule: PenaltyRule,
}

impl Default for Mechanisms {
    fn default() -> Self {
        Self {
            opportunistic_retransmission: true,
            opportunistic_rule: OpportunisticRule::default(),
            penalisation: false,
            autotuning: false,
            shrink_send_buffer: false,
            receive_buffer_per_path: true,
            cwnd_capping: false,
            penalty_rule: PenaltyRule::Original,
        }
    }
}
