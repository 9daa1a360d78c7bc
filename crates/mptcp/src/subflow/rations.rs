//! How many answers a subflow gives that are not owed.

use mptcp_clock::Duration;

use crate::ration::Ration;

/// RFC 5961 section 7: challenge acknowledgements are rationed; Linux allows one in half a second.
const CHALLENGES: Ration = Ration::new(1, Duration::from_millis(500));
/// Answers to data that was here before and to probes: a peer that repeats a window needs some, a stranger gets no more.
const REPETITIONS: Ration = Ration::new(64, Duration::from_millis(5));

/// What is left of both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rations {
    pub(super) challenges: Ration,
    pub(super) repetitions: Ration,
}

impl Default for Rations {
    fn default() -> Self {
        Self { challenges: CHALLENGES, repetitions: REPETITIONS }
    }
}
