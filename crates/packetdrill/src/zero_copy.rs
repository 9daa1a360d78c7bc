//! MSG_ZEROCOPY: who sends so is told when his memory is his again.
//!
//! Owns the numbers of such calls and the queue of what was told. This stack copies all the same, and says so, as Linux does
//! for devices that cannot gather.

use std::collections::VecDeque;

/// Of one connection.
#[derive(Debug, Default)]
pub(crate) struct ZeroCopies {
    next: u32,
    /// Where in the stream the data of each call ends, and its number.
    waiting: VecDeque<(u64, u32)>,
    /// Numbers from and to.
    told: VecDeque<(u32, u32)>,
}

impl ZeroCopies {
    /// A call has sent data that ends at an offset of the stream.
    pub(crate) fn sent(&mut self, end: u64) {
        self.waiting.push_back((end, self.next));
        self.next = self.next.wrapping_add(1);
    }

    /// All up to an offset is acknowledged; returns whether there is something to tell.
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

    /// Whether something waits to be read.
    pub(crate) fn has_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// The next that recvmsg(2) reads with MSG_ERRQUEUE.
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
