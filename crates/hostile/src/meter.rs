//! What this thread holds on the heap, and the time it has worked.
//!
//! Owns the counting allocator of every program that links this crate, and the one system call that reads a thread's
//! time. Counts belong to the thread: tests that run side by side do not see each other. Never judges a number.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, and counts beside it.
#[derive(Debug)]
pub struct Meter;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

fn note(taken: usize, given: usize) {
    // Neither fails: the cells need no initialisation and no destructor.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + taken as i64 - given as i64);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
    if taken > 0 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + taken as u64));
    }
}

// SAFETY: every call is passed on to the system's allocator as it came; the counts touch no memory of it.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller keeps the promises of `alloc`.
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

/// Counts of this thread at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes allocated and not freed; what another thread frees counts there.
    pub live: i64,
    /// Allocations so far, those that grow or shrink included.
    pub allocations: u64,
    /// Bytes of all allocations so far.
    pub allocated: u64,
}

/// The counts now.
#[must_use]
pub fn read() -> Reading {
    Reading { live: live(), allocations: ALLOCATIONS.with(Cell::get), allocated: ALLOCATED.with(Cell::get) }
}

/// Bytes allocated and not freed.
#[must_use]
pub fn live() -> i64 {
    LIVE.with(Cell::get)
}

/// The most bytes that were live since [`reset_peak`].
#[must_use]
pub fn peak() -> i64 {
    PEAK.with(Cell::get)
}

/// Begins the peak anew at what is live now.
pub fn reset_peak() {
    PEAK.with(|peak| peak.set(live()));
}

/// Processor time of this thread so far, nanoseconds. For programs that print; tests assert nothing on it.
#[must_use]
pub fn thread_nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours and large enough; the clock exists on every Linux.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if failed != 0 { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// Does the work; gives what it gives and the nanoseconds that it took. Never inlined, so that callgrind can count here
/// and nowhere else (`tools/instructions.py --attacks`).
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
