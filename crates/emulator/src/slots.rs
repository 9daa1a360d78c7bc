//! Buffers of the real packets in flight. The simulated network carries only the index of a buffer.
//!
//! Owns their memory, which is reused, so that a steady load needs no allocations. The total size is limited.

/// Maximum total size of all buffers, bytes.
const MAX_BYTES: usize = 512 << 20;

#[derive(Debug)]
pub(crate) struct Slots {
    /// Size of a buffer, bytes.
    size: usize,
    places: Vec<Box<[u8]>>,
    lengths: Vec<u32>,
    free: Vec<u32>,
}

impl Slots {
    /// Buffers for packets of up to `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, places: Vec::new(), lengths: Vec::new(), free: Vec::new() }
    }

    /// Index of a free buffer; `None` at the limit.
    pub(crate) fn take(&mut self) -> Option<u32> {
        if let Some(place) = self.free.pop() {
            return Some(place);
        }
        if self.places.len() * self.size >= MAX_BYTES {
            return None;
        }
        self.places.push(vec![0; self.size].into_boxed_slice());
        self.lengths.push(0);
        Some(self.places.len() as u32 - 1)
    }

    /// Index of a buffer with a copy of the packet; `None` at the limit.
    pub(crate) fn copy(&mut self, place: u32) -> Option<u32> {
        let other = self.take()?;
        let mut packet = std::mem::take(self.places.get_mut(place as usize)?);
        let length = self.packet_length(place);
        self.room(other)[..length].copy_from_slice(&packet[..length]);
        self.set_length(other, length);
        std::mem::swap(self.places.get_mut(place as usize)?, &mut packet);
        Some(other)
    }

    fn packet_length(&self, place: u32) -> usize {
        self.lengths.get(place as usize).map_or(0, |length| *length as usize)
    }

    pub(crate) fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }

    /// The whole buffer, to be filled.
    pub(crate) fn room(&mut self, place: u32) -> &mut [u8] {
        self.places.get_mut(place as usize).map_or(&mut [], |room| room)
    }

    pub(crate) fn set_length(&mut self, place: u32, length: usize) {
        if let Some(known) = self.lengths.get_mut(place as usize) {
            *known = length.min(self.size) as u32;
        }
    }

    /// The packet in a buffer.
    pub(crate) fn packet(&mut self, place: u32) -> &mut [u8] {
        let length = self.packet_length(place);
        self.room(place).get_mut(..length).unwrap_or_default()
    }

    /// Number of used buffers.
    pub(crate) fn taken(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
