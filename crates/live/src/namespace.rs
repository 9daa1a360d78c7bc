//! Work in a network namespace that is not the process's own.
//!
//! Owns nothing that stays: a thread enters, works and ends; sockets and devices that were made there stay there, whoever has them.
//! Never makes or removes a namespace.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::sys::alarm;

/// Where `ip netns` keeps namespaces.
const PLACE: &str = "/run/netns";

/// Moves the calling thread, and no other, into the network namespace that `ip netns` calls `name`. It cannot go back.
///
/// # Errors
/// When there is none of that name, or without CAP_SYS_ADMIN.
pub fn enter(name: &str) -> io::Result<()> {
    let path = place(name);
    let told = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("network namespace {name}: {error} (ip netns lists those that there are)"),
        )
    };
    File::open(&path).and_then(|file| alarm::enter_network(&file)).map_err(told)
}

/// Runs `work` on a thread of that namespace.
///
/// # Errors
/// As [`enter`], and what `work` says.
pub fn within<T: Send>(name: &str, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| enter(name).and_then(|()| work()));
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace ended by itself")))
    })
}

fn place(name: &str) -> PathBuf {
    Path::new(PLACE).join(name)
}
