//! What a subflow has waiting to be sent, beside new data.
//!
//! One look at each subflow, and the sums of them, say which questions need to be asked at all. Says nothing of when.

use std::ops::BitOr;

use super::Subflow;

/// Kinds of segments that wait, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Due(u8);

impl Due {
    pub(crate) const CONTROL: Self = Self(1);
    /// What is lost, or a probe for it.
    pub(crate) const AGAIN: Self = Self(2);
    pub(crate) const FIN: Self = Self(4);
    pub(crate) const ACKNOWLEDGEMENT: Self = Self(8);

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}

impl BitOr for Due {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Subflow {
    #[inline]
    pub(crate) fn owes_nothing(&self) -> bool {
        !self.receiver.wants_ack()
            && self.owed.control.is_none()
            && self.sender.board.lost == 0
            && !self.sender.wants_probe()
            && !self.owed.fin
    }

    #[inline]
    pub(crate) fn due(&self) -> Due {
        let again = (self.sender.board.lost > 0) | self.sender.wants_probe();
        Due(u8::from(self.owed.control.is_some())
            | u8::from(again) << 1
            | u8::from(self.owed.fin) << 2
            | u8::from(self.receiver.wants_ack()) << 3)
    }
}
