//! The mechanisms M1 to M4, and which rules they follow.

use crate::congestion::PenaltyRule;

/// Which data M1 sends again when the window is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpportunisticRule {
    /// The oldest segment, once, where the subflow that has it is slower by far or almost closed: the kernels of mptcp.org.
    Original,
    /// In order of the stream all that would come sooner this way than by the subflow that has it.
    AllBeneficial,
    /// That, and where a path has nothing else to do, what others carry and may have lost, before it is late: at the end of the data, and
    /// while a window is full for paths that are far slower.
    #[default]
    Speculative,
}

/// The mechanisms of Raiciu et al. (NSDI 2012, section 4.2), each a switch of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// M1: when the window is full, resend its oldest data on a faster subflow.
    pub opportunistic_retransmission: bool,
    /// Which rule M1 follows.
    pub opportunistic_rule: OpportunisticRule,
    /// M2: halve the window of the subflow that holds the window up. Off: schedulers that see the window do better.
    pub penalisation: bool,
    /// M3: buffers grow with what the paths need, up to the configured sizes.
    pub autotuning: bool,
    /// With M3 the send buffer becomes smaller again when windows do. Linux's never does (`tcp_sndbuf_expand`).
    pub shrink_send_buffer: bool,
    /// With M3 the receive buffer begins with Linux's first size for each path, as those of plain TCP there would. Off: one such size for
    /// all, as Linux.
    pub receive_buffer_per_path: bool,
    /// M4: cap the congestion window of a path whose queue has grown long.
    pub cwnd_capping: bool,
    /// Which rule M2 follows.
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
