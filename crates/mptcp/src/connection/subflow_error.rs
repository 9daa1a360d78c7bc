//! Why a subflow cannot go on.
//!
//! Owns the words; what follows is [`super::Connection::end_subflow`]'s.

use mptcp_wire::ResetReason;

use crate::subflow::SubflowCloseReason;

/// What a look at a segment or a timer found that ends its subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubflowError {
    /// We reset it, with a reason for a peer that speaks MPTCP.
    Reset {
        reason: Option<ResetReason>,
        /// Data sequence number of the data that failed its checksum.
        failed: Option<u64>,
    },
    /// It is over without a word of ours.
    Over(SubflowCloseReason),
    /// The peer ends the whole connection: by MP_FASTCLOSE on an acknowledgement, or on a RST, which has ended this one.
    FastClose(Option<SubflowCloseReason>),
}

impl SubflowError {
    /// A reset without a word of why.
    pub(super) const RESET: Self = Self::Reset { reason: None, failed: None };

    /// A reset that says why.
    pub(super) const fn because(reason: ResetReason) -> Self {
        Self::Reset { reason: Some(reason), failed: None }
    }
}

/// What such a look gives.
pub(super) type Outcome<T = ()> = Result<T, SubflowError>;
