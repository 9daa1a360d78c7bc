//! What a connection speaks, and with which keys (RFC 8684 section 3.1).
//!
//! Owns mode, version, keys, checksum, and what is still to be shown or told of them. A mode is never left backwards: from
//! negotiating to Multipath TCP or TCP, from Multipath TCP to TCP.
//!
//! A key and what follows from it (RFC 8684 section 3.1).
//!
//! Owns the way between data sequence numbers on the wire and offsets in the stream.

use mptcp_clock::Rng;
use mptcp_wire::DataSequence;
use mptcp_wire::crypto::Version;

use crate::ids::SubflowId;

/// Acknowledgements that tell of a failed checksum, at most.
const MAX_MP_FAILS: u32 = 16;

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
pub(crate) struct Negotiation {
    receipt_query: ReceiptQuery,
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
    pub(crate) fn new(client: bool, multipath: bool, version: Version, key: u64, random: Rng) -> Self {
        Self {
            receipt_query: ReceiptQuery::default(),
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

    pub(crate) fn client(&self) -> bool {
        self.client
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn is_multipath(&self) -> bool {
        self.mode == Mode::Multipath
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.mode == Mode::Plain
    }

    pub(crate) fn is_open(&self) -> bool {
        self.mode == Mode::Negotiating
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn local(&self) -> &Key {
        &self.local
    }

    pub(crate) fn remote(&self) -> Option<Key> {
        self.remote
    }

    pub(crate) fn checksum(&self) -> bool {
        self.checksum
    }

    pub(crate) fn confirmed(&self) -> bool {
        self.confirmed
    }

    /// Goes on in another version: the key stays, what follows from it changes.
    pub(crate) fn speak(&mut self, version: Version) {
        if version != self.version {
            self.version = version;
            self.local = Key::new(version, self.local.value);
        }
    }

    /// The peer's key came.
    pub(crate) fn learn(&mut self, key: u64) {
        self.remote = Some(Key::new(self.version, key));
    }

    /// Both keys are known where they have to be.
    pub(crate) fn settle(&mut self) {
        self.mode = Mode::Multipath;
    }

    /// TCP from now on.
    pub(crate) fn give_up(&mut self) {
        self.mode = Mode::Plain;
    }

    pub(crate) fn set_checksum(&mut self, checksum: bool) {
        self.checksum = checksum;
    }

    /// The peer has shown that it has both keys; returns whether that is news.
    pub(crate) fn confirm(&mut self) -> bool {
        !std::mem::replace(&mut self.confirmed, true)
    }

    /// The application may be told of the connection; returns whether it was not yet.
    pub(crate) fn report_accepted(&mut self) -> bool {
        !std::mem::replace(&mut self.accept_reported, true)
    }

    /// Data from `number` on failed its checksum on a subflow: acknowledgements there will tell.
    pub(crate) fn checksum_failed(&mut self, subflow: SubflowId, number: u64) {
        self.failure = Some(Failure { subflow, number, left: MAX_MP_FAILS });
    }

    /// The peer knows.
    pub(crate) fn on_failure_reported(&mut self) {
        self.failure = None;
    }

    /// The number to be told on the next acknowledgement of a subflow.
    pub(crate) fn report_failure(&mut self, subflow: SubflowId) -> Option<u64> {
        let failure = self.failure.filter(|failure| failure.subflow == subflow)?;
        let left = failure.left - 1;
        self.failure = (left > 0).then_some(Failure { left, ..failure });
        Some(failure.number)
    }

    /// Subflow offset of the segment that carries the infinite mapping after an MP_FAIL.
    pub(crate) fn infinite_from(&self) -> Option<u64> {
        self.infinite_from
    }

    pub(crate) fn set_infinite_from(&mut self, offset: u64) {
        self.infinite_from = Some(offset);
    }

    /// A nonce for a join.
    pub(crate) fn nonce(&mut self) -> u32 {
        self.random.next_u32()
    }

    pub(crate) fn receipt_query(&self) -> ReceiptQuery {
        self.receipt_query
    }

    pub(crate) fn set_receipt_query(&mut self, query: ReceiptQuery) {
        self.receipt_query = query;
    }
}

/// A key and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub value: u64,
    pub token: u32,
    /// Data sequence number of the first byte.
    pub first: u64,
}

impl Key {
    pub(crate) fn new(version: Version, value: u64) -> Self {
        let digest = version.digest(value);
        // RFC 8684 section 3.1: the initial number itself is taken by the handshake.
        Self { value, token: digest.token, first: digest.initial_sequence.wrapping_add(1) }
    }

    /// The number of the byte at `offset`.
    pub(crate) fn at(&self, offset: u64) -> u64 {
        self.first.wrapping_add(offset)
    }

    /// The offset nearest to `near` that a number on the wire stands for; None before the start.
    pub(crate) fn offset(&self, number: DataSequence, near: u64) -> Option<u64> {
        let offset = number.expand(self.at(near)).wrapping_sub(self.first);
        (offset < 1 << 62).then_some(offset)
    }
}

/// Whether the peer was asked if it lacks data that its only subflow has acknowledged, since the last DATA_ACK of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReceiptQuery {
    #[default]
    None,
    Asked,
    Answered,
}
