//! How what was written is cut into what segments carry.
//!
//! Owns where copies are made, which is where a segment would not be full otherwise.

use bytes::{Bytes, BytesMut};

use super::{SendBuffer, Written};

impl SendBuffer {
    /// Cuts the next chunk of at most `size` bytes. Within one written buffer it is a slice; across
    /// two it is copied together, so that segments stay full. A large one (more than `mss`) rather ends
    /// with the buffer than be copied, unless little is left of that.
    #[inline(always)]
    pub(crate) fn cut(&mut self, size: u64, mss: u64) -> Bytes {
        let size = size.min(self.unsent_bytes) as usize;
        if let Some(front) = self.unsent.front_mut().filter(|front| size < front.length) {
            front.length -= size;
            self.unsent_bytes -= size as u64;
            self.next += size as u64;
            return front.buffer.split_to(size);
        }
        self.cut_last(size, mss)
    }

    /// The same where no more than that is left of what was written at once.
    #[inline(never)]
    fn cut_last(&mut self, mut size: usize, mss: u64) -> Bytes {
        let Some(front) = self.unsent.front_mut() else { return Bytes::new() };
        if size as u64 > mss && front.length >= size / 4 {
            size = size.min(front.length);
        }
        let chunk = if front.length >= size {
            front.length -= size;
            front.buffer.split_to(size)
        } else {
            self.join(size)
        };
        // One that was taken in part is kept for its writer, who comes back with what follows in it.
        let last = self.unsent.len() == 1;
        let over = |front: &Written| front.length == 0 && (!last || front.buffer.is_empty());
        if self.unsent.front().is_some_and(over) {
            self.unsent.pop_front();
        }
        self.unsent_bytes -= chunk.len() as u64;
        self.next += chunk.len() as u64;
        chunk
    }

    /// Copies the next `size` bytes together.
    #[inline(never)]
    fn join(&mut self, size: usize) -> Bytes {
        let mut joined = BytesMut::with_capacity(size);
        while joined.len() < size {
            let Some(front) = self.unsent.front_mut() else { break };
            let length = front.length.min(size - joined.len());
            joined.extend_from_slice(&front.buffer.split_to(length));
            front.length -= length;
            if front.length == 0 {
                self.unsent.pop_front();
            }
        }
        joined.freeze()
    }

    /// Makes two chunks of the one at `start` when it is longer than `most` bytes. The second waits to be
    /// carried again if the first does.
    pub(crate) fn split(&mut self, start: u64, most: u64) {
        let at = self.flight.partition_point(|chunk| chunk.end() <= start);
        let Some(chunk) = self.flight.get_mut(at).filter(|chunk| chunk.payload.len() as u64 > most) else {
            return;
        };
        let mut rest = chunk.clone();
        chunk.shorten(rest.payload.len() as u64 - most);
        chunk.payload.truncate(most as usize);
        rest.payload = rest.payload.slice(most as usize..);
        rest.start += most;
        if rest.queued {
            self.again.insert(rest.start);
        }
        self.flight.insert(at + 1, rest);
    }
}
