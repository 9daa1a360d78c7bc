//! Limits of memory and time for the host in a random case.
//!
//! A case is one simulated attack, which random bytes control ([`crate::arena`]). The host is the attacked endpoint with
//! its connections.
//!
//! Owns the numbers and the choice of checks. Never measures.

use mptcp::Config;

/// The limits of a case. Memory is the size of this thread's heap in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Maximum heap of an endpoint without its connections.
    pub endpoint: i64,
    /// Maximum heap of a connection without its buffers.
    pub connection: i64,
    /// Maximum heap of a connection's buffers, as a multiple of their configured sum.
    pub buffers: i64,
    /// Whether memory is checked during the attack.
    pub memory: bool,
    /// Maximum heap after all connections are closed: for the endpoint, and for each connection of the largest
    /// number open simultaneously.
    pub left: (i64, i64),
    /// Whether the heap at the end is checked.
    pub leak: bool,
    /// Whether a connection that still exists a day after its abort fails the case.
    pub immortal: bool,
    /// Whether repeated useless wakeups fail the case.
    pub wakeups: bool,
    /// Maximum average processor time for a packet, in nanoseconds; None for no limit. Only [`crate::arena::judge`]
    /// checks it, over at least 1,000 packets.
    pub nanos: Option<u64>,
}

impl Budget {
    /// All checks.
    pub const ALL: Self = Self {
        endpoint: 4 << 20,
        connection: 1 << 20,
        buffers: 3,
        memory: true,
        left: (64 << 10, 1 << 10),
        leak: true,
        immortal: true,
        wakeups: true,
        nanos: Some(200_000),
    };

    /// Checks without numeric limits: panics, endless loops and corrupt data.
    pub const LOGIC: Self = Self { memory: false, leak: false, immortal: false, nanos: None, ..Self::ALL };

    /// All checks except the ones in `HOSTILE_RELAX`: `memory`, `leak`, `immortal`, `wakeups`, `time`.
    #[must_use]
    pub fn from_environment() -> Self {
        let relaxed = std::env::var("HOSTILE_RELAX").unwrap_or_default();
        let has = |word: &str| relaxed.split([',', ' ']).any(|part| part == word);
        Self {
            memory: !has("memory"),
            leak: !has("leak"),
            immortal: !has("immortal"),
            wakeups: !has("wakeups"),
            nanos: Self::ALL.nanos.filter(|_| !has("time")),
            ..Self::ALL
        }
    }

    /// Maximum heap of a connection with these settings, in bytes.
    #[must_use]
    pub fn of(&self, config: &Config) -> i64 {
        let asked = config.receive_buffer.saturating_add(config.send_buffer);
        // Linux doubles the requested buffer sizes.
        let buffers = if config.linux_stack.buffer_memory { asked.saturating_mul(2) } else { asked };
        self.connection.saturating_add(self.buffers.saturating_mul(buffers.min(1 << 40) as i64))
    }
}
