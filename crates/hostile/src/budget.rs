//! What a host may cost: memory, work and answers, by which a random case is judged.
//!
//! Owns the numbers, and how much of the judgement is wanted. Never measures.

use mptcp::Config;

/// The limits of one case. Memory is counted in bytes of this thread's heap.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// What an endpoint may hold beside its connections.
    pub endpoint: i64,
    /// What a connection may hold beside its buffers.
    pub connection: i64,
    /// How many times its buffers, both added up, a connection may hold.
    pub buffers: i64,
    /// Whether memory is judged while the attack goes on.
    pub memory: bool,
    /// What may be left when everything is over: for the endpoint, and for each connection that there was at once.
    pub left: (i64, i64),
    /// Whether that is judged.
    pub leak: bool,
    /// Whether a connection that outlives its abort by a day is a fault.
    pub immortal: bool,
    /// Whether waking up for nothing again and again is a fault.
    pub wakeups: bool,
    /// Processor time of a packet on average, nanoseconds; judged over a thousand packets or more, and only where somebody
    /// runs a case by [`crate::arena::judge`]. None for no limit.
    pub nanos: Option<u64>,
}

impl Budget {
    /// Everything is judged.
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

    /// Only what needs no number: no panic, no endless loop, no wrong byte.
    pub const LOGIC: Self = Self { memory: false, leak: false, immortal: false, nanos: None, ..Self::ALL };

    /// As `HOSTILE_RELAX` says, a list of `memory`, `leak`, `immortal`, `wakeups` and `time` that are not judged.
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

    /// What a connection with these settings may hold, bytes.
    #[must_use]
    pub fn of(&self, config: &Config) -> i64 {
        let asked = config.receive_buffer.saturating_add(config.send_buffer);
        // Linux's memory is twice what is asked for.
        let buffers = if config.linux_stack.buffer_memory { asked.saturating_mul(2) } else { asked };
        self.connection.saturating_add(self.buffers.saturating_mul(buffers.min(1 << 40) as i64))
    }
}
