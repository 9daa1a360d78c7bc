//! Work in other network namespaces, in which the emulator runs the hosts of a scenario.
//!
//! Stateless: a thread enters a namespace, works there and ends. Sockets and devices that it has opened stay
//! in this namespace, whichever thread uses them. Never creates or removes a namespace.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::sys::alarm;

/// Directory of namespaces of `ip netns`.
const PLACE: &str = "/run/netns";

/// Moves only the calling thread into the network namespace `name` of `ip netns`, permanently.
///
/// # Errors
/// If there is no such namespace, or without CAP_SYS_ADMIN.
pub fn enter(name: &str) -> io::Result<()> {
    let path = place(name);
    let told = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("network namespace {name}: {error} (ip netns lists the namespaces)"),
        )
    };
    File::open(&path).and_then(|file| alarm::enter_network(&file)).map_err(told)
}

/// Runs `work` on a new thread in the network namespace `name`.
///
/// # Errors
/// As [`enter`], and the errors of `work`.
pub fn within<T: Send>(name: &str, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| enter(name).and_then(|()| work()));
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace panicked")))
    })
}

fn place(name: &str) -> PathBuf {
    Path::new(PLACE).join(name)
}
