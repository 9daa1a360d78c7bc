//! Waiters of a socket: threads and tasks that sleep until the socket has data, space or a connection.
//!
//! Owns the wake-ups. A change of a socket collects its waiters under the lock, and wakes them after the lock
//! is released. Woken threads then do not block on the lock, and no task runs under it.

use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::Instant;

/// The event that a waiter needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Data, the end of the stream, or a connection to accept.
    Read,
    /// Space in the send buffer, or the end of the handshake.
    Write,
}

/// The waiters of one socket. Several tasks can wait, for example one for reading and one for writing.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    threads: Arc<Condvar>,
    sleeping: usize,
    tasks: Vec<(Interest, Waker)>,
}

/// A waiter to wake after the lock is released.
#[derive(Debug)]
#[must_use]
pub(crate) enum Woken {
    Threads(Arc<Condvar>),
    Task(Waker),
}

impl Waiters {
    /// Stores the waker of a task.
    pub(crate) fn register(&mut self, interest: Interest, context: &Context<'_>) {
        let waker = context.waker();
        if !self.tasks.iter().any(|(for_what, known)| *for_what == interest && known.will_wake(waker)) {
            self.tasks.push((interest, waker.clone()));
        }
    }

    /// Collects the tasks that wait for `interest`, and all threads.
    pub(crate) fn served(&mut self, interest: Interest, woken: &mut Vec<Woken>) {
        self.wake_threads(woken);
        let tasks = self.tasks.extract_if(.., |(for_what, _)| *for_what == interest);
        woken.extend(tasks.map(|(_, waker)| Woken::Task(waker)));
    }

    /// Collects all waiters.
    pub(crate) fn all(&mut self, woken: &mut Vec<Woken>) {
        self.wake_threads(woken);
        woken.extend(self.tasks.drain(..).map(|(_, waker)| Woken::Task(waker)));
    }

    fn wake_threads(&self, woken: &mut Vec<Woken>) {
        if self.sleeping > 0 {
            woken.push(Woken::Threads(Arc::clone(&self.threads)));
        }
    }
}

/// Wakes the waiters; call it without the lock.
pub(crate) fn wake(woken: Vec<Woken>) {
    for one in woken {
        match one {
            Woken::Threads(threads) => threads.notify_all(),
            Woken::Task(waker) => waker.wake(),
        }
    }
}

/// Sleeps until the waiters of a socket are woken, or until `deadline`. Returns `None` if the deadline passed
/// before the call. `of` finds the waiters; the socket may be gone after the sleep.
pub(crate) fn sleep<'a, T>(
    mut core: MutexGuard<'a, T>,
    deadline: Option<Instant>,
    of: impl Fn(&mut T) -> Option<&mut Waiters>,
) -> Option<MutexGuard<'a, T>> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_some_and(|left| left.is_zero()) {
        return None;
    }
    let Some(waiters) = of(&mut core) else { return Some(core) };
    waiters.sleeping += 1;
    let threads = Arc::clone(&waiters.threads);
    let mut core = match left {
        None => threads.wait(core).unwrap_or_else(PoisonError::into_inner),
        Some(left) => threads.wait_timeout(core, left).unwrap_or_else(PoisonError::into_inner).0,
    };
    if let Some(waiters) = of(&mut core) {
        waiters.sleeping -= 1;
    }
    Some(core)
}
