//! Numbers calls with MSG_ZEROCOPY, and queues their completions for recvmsg(2).
//!
//! packetdrill scripts check them. Owns the numbers and the queue. This stack copies the data and reports the
//! copy (SO_EE_CODE_ZEROCOPY_COPIED), as Linux does for devices that cannot gather.

use std::collections::VecDeque;

/// The MSG_ZEROCOPY calls of a connection.
#[derive(Debug, Default)]
pub(crate) struct ZeroCopies {
    next: u32,
    /// Stream offset of the end of each call's data, and the call's number.
    waiting: VecDeque<(u64, u32)>,
    /// Completed ranges: first and last number.
    told: VecDeque<(u32, u32)>,
}

impl ZeroCopies {
    /// Numbers a call whose data ends at a stream offset.
    pub(crate) fn sent(&mut self, end: u64) {
        self.waiting.push_back((end, self.next));
        self.next = self.next.wrapping_add(1);
    }

    /// Completes all calls up to an acknowledged offset. Returns whether any completed.
    pub(crate) fn acknowledged(&mut self, offset: u64) -> bool {
        let mut news = false;
        while let Some((_, number)) = self.waiting.pop_front_if(|(end, _)| *end <= offset) {
            news = true;
            match self.told.back_mut() {
                Some((_, last)) if last.wrapping_add(1) == number => *last = number,
                _ => self.told.push_back((number, number)),
            }
        }
        news
    }

    /// Whether a completion waits to be read.
    pub(crate) fn has_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// The next completion for recvmsg(2) with MSG_ERRQUEUE.
    pub(crate) fn take(&mut self) -> Option<(u32, u32)> {
        self.told.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::ZeroCopies;

    #[test]
    fn what_follows_each_other_is_told_at_once() {
        let mut copies = ZeroCopies::default();
        for end in [100, 200, 300] {
            copies.sent(end);
        }
        assert!(copies.acknowledged(250) && !copies.acknowledged(250));
        assert_eq!(copies.take(), Some((0, 1)));
        assert!(copies.acknowledged(300));
        assert_eq!((copies.take(), copies.take()), (Some((2, 2)), None));
    }
}
