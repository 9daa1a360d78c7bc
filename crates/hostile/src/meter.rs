//! Measures the heap and the processor time of a thread.
//!
//! Owns the counting allocator of every program that links this crate, and the system call for a thread's
//! time. Counts belong to the thread, so parallel tests do not disturb each other. Attacks and random cases
//! compare the cost of the attacked endpoint with limits; this module never judges a number.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with counters.
#[derive(Debug)]
pub struct Meter;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

fn note(taken: usize, given: usize) {
    // The cells need no initialisation and no destructor, so the calls cannot fail.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + taken as i64 - given as i64);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
    if taken > 0 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + taken as u64));
    }
}

// SAFETY: every call goes to the system's allocator unchanged, and the counters touch none of its memory.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Counters of this thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes allocated and not freed. If another thread frees memory, the counter of that thread falls.
    pub live: i64,
    /// Number of allocations and reallocations.
    pub allocations: u64,
    /// Bytes of all allocations.
    pub allocated: u64,
}

/// Reads the counters.
#[must_use]
pub fn read() -> Reading {
    Reading { live: live(), allocations: ALLOCATIONS.with(Cell::get), allocated: ALLOCATED.with(Cell::get) }
}

/// Bytes allocated and not freed.
#[must_use]
pub fn live() -> i64 {
    LIVE.with(Cell::get)
}

/// Maximum of live bytes after [`reset_peak`].
#[must_use]
pub fn peak() -> i64 {
    PEAK.with(Cell::get)
}

/// Resets the peak to the live bytes.
pub fn reset_peak() {
    PEAK.with(|peak| peak.set(live()));
}

/// Processor time of this thread in nanoseconds. It depends on the machine, so the fuzzer checks it, but no
/// test does.
#[must_use]
pub fn thread_nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a local variable of the right type, and every Linux has this clock.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if failed != 0 { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// Runs `work` and returns its result and its processor time in nanoseconds. Never inlined, so that callgrind counts
/// exactly this function (`tools/instructions.py --attacks`).
#[inline(never)]
pub fn clocked<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let begin = thread_nanos();
    let done = work();
    (done, thread_nanos() - begin)
}

#[cfg(test)]
mod tests {
    use super::{live, peak, read, reset_peak};

    #[test]
    fn what_is_held_is_counted() {
        let before = read();
        reset_peak();
        let held = vec![0_u8; 100_000];
        assert_eq!(live() - before.live, 100_000);
        drop(held);
        assert_eq!(live(), before.live);
        assert!(peak() - before.live >= 100_000);
        assert!(read().allocations > before.allocations);
    }
}
