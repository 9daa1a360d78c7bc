//! What a connection speaks, and with which keys (RFC 8684 section 3.1).
//!
//! Owns mode, version, keys, checksum, and what is still to be shown or told of them. A mode is never left backwards: from
//! negotiating to Multipath TCP or TCP, from Multipath TCP to TCP.

use mptcp_clock::Rng;
use mptcp_wire::crypto::Version;

use super::key::Key;
use crate::ids::SubflowId;

/// Acknowledgements that tell of a failed checksum, at most.
const MOST_FAILS: u32 = 16;

/// What the connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// MP_CAPABLE was offered or answered, and is not settled.
    Negotiating,
    /// Multipath TCP.
    Multipath,
    /// TCP, from the start or by fallback.
    Plain,
}

/// Data that failed its checksum, of which the peer is yet to learn.
#[derive(Clone, Copy, Debug)]
struct Failure {
    subflow: SubflowId,
    /// Its first data sequence number.
    number: u64,
    /// Acknowledgements that will tell of it.
    left: u32,
}

#[derive(Debug)]
pub(super) struct Negotiation {
    client: bool,
    mode: Mode,
    /// What is spoken; the peer's offer may lower it.
    version: Version,
    local: Key,
    remote: Option<Key>,
    checksum: bool,
    /// The peer has shown by a DSS that it speaks MPTCP: MP_CAPABLE need not be repeated.
    confirmed: bool,
    accept_reported: bool,
    /// A failed checksum that the peer does not know of.
    failure: Option<Failure>,
    /// Subflow offset of the segment that carries the infinite mapping after an MP_FAIL.
    infinite_from: Option<u64>,
    random: Rng,
}

impl Negotiation {
    /// With a key of ours; nonces come from `random`.
    pub(super) fn new(client: bool, multipath: bool, version: Version, key: u64, random: Rng) -> Self {
        Self {
            client,
            mode: if multipath { Mode::Negotiating } else { Mode::Plain },
            version,
            local: Key::new(version, key),
            remote: None,
            checksum: false,
            confirmed: false,
            accept_reported: false,
            failure: None,
            infinite_from: None,
            random,
        }
    }

    pub(super) fn client(&self) -> bool {
        self.client
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn is_multipath(&self) -> bool {
        self.mode == Mode::Multipath
    }

    pub(super) fn is_plain(&self) -> bool {
        self.mode == Mode::Plain
    }

    pub(super) fn is_open(&self) -> bool {
        self.mode == Mode::Negotiating
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn local(&self) -> &Key {
        &self.local
    }

    pub(super) fn remote(&self) -> Option<Key> {
        self.remote
    }

    pub(super) fn checksum(&self) -> bool {
        self.checksum
    }

    pub(super) fn confirmed(&self) -> bool {
        self.confirmed
    }

    /// Goes on in another version: the key stays, what follows from it changes.
    pub(super) fn speak(&mut self, version: Version) {
        if version != self.version {
            self.version = version;
            self.local = Key::new(version, self.local.value);
        }
    }

    /// The peer's key came.
    pub(super) fn learn(&mut self, key: u64) {
        self.remote = Some(Key::new(self.version, key));
    }

    /// Both keys are known where they have to be.
    pub(super) fn settle(&mut self) {
        self.mode = Mode::Multipath;
    }

    /// TCP from now on.
    pub(super) fn give_up(&mut self) {
        self.mode = Mode::Plain;
    }

    pub(super) fn set_checksum(&mut self, checksum: bool) {
        self.checksum = checksum;
    }

    /// The peer has shown that it has both keys; returns whether that is news.
    pub(super) fn confirm(&mut self) -> bool {
        !std::mem::replace(&mut self.confirmed, true)
    }

    /// The application may be told of the connection; returns whether it was not yet.
    pub(super) fn report_accepted(&mut self) -> bool {
        !std::mem::replace(&mut self.accept_reported, true)
    }

    /// Data from `number` on failed its checksum on a subflow: acknowledgements there will tell.
    pub(super) fn checksum_failed(&mut self, subflow: SubflowId, number: u64) {
        self.failure = Some(Failure { subflow, number, left: MOST_FAILS });
    }

    /// The peer knows.
    pub(super) fn failure_is_known(&mut self) {
        self.failure = None;
    }

    /// The number to be told on the next acknowledgement of a subflow.
    pub(super) fn tell_failure(&mut self, subflow: SubflowId) -> Option<u64> {
        let failure = self.failure.filter(|failure| failure.subflow == subflow)?;
        let left = failure.left - 1;
        self.failure = (left > 0).then_some(Failure { left, ..failure });
        Some(failure.number)
    }

    /// Subflow offset of the segment that carries the infinite mapping after an MP_FAIL.
    pub(super) fn infinite_from(&self) -> Option<u64> {
        self.infinite_from
    }

    pub(super) fn set_infinite_from(&mut self, offset: u64) {
        self.infinite_from = Some(offset);
    }

    /// A nonce for a join.
    pub(super) fn nonce(&mut self) -> u32 {
        self.random.next_u32()
    }
}
