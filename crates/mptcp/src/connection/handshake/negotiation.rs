//! The negotiated protocol of a connection, and its keys (RFC 8684 section 3.1).
//!
//! Owns mode, version, keys, checksums, failures to report, and the conversion between data sequence numbers and stream
//! offsets. The mode changes from negotiating to MPTCP or TCP, and from MPTCP to TCP, never back. Never parses or sends
//! an option.

use mptcp_clock::Rng;
use mptcp_wire::DataSequence;
use mptcp_wire::crypto::Version;

use crate::ids::SubflowId;

/// The maximum of acknowledgements that report a failed checksum.
const MAX_MP_FAILS: u32 = 16;

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// MP_CAPABLE was offered or answered, and the result is open.
    Negotiating,
    /// Multipath TCP.
    Multipath,
    /// TCP, from the start or by fallback.
    Plain,
}

/// A failed checksum that the peer does not know of.
#[derive(Clone, Copy, Debug)]
struct Failure {
    subflow: SubflowId,
    /// The first data sequence number of the data.
    number: u64,
    /// The number of acknowledgements that still report the failure.
    left: u32,
}

#[derive(Debug)]
pub(crate) struct Negotiation {
    receipt_query: ReceiptQuery,
    client: bool,
    mode: Mode,
    /// The version in use. The peer's offer may lower it.
    version: Version,
    local: Key,
    remote: Option<Key>,
    checksum: bool,
    /// The peer has sent a DSS, so that MP_CAPABLE need not be repeated.
    confirmed: bool,
    accept_reported: bool,
    failure: Option<Failure>,
    /// The subflow offset of the segment with the infinite mapping after an MP_FAIL.
    infinite_from: Option<u64>,
    random: Rng,
}

impl Negotiation {
    /// Creates the state with this host's `key`. Nonces are drawn from `random`.
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

    /// Changes the version: the key stays, its token and hashes change.
    pub(crate) fn set_version(&mut self, version: Version) {
        if version != self.version {
            self.version = version;
            self.local = Key::new(version, self.local.value);
        }
    }

    /// Stores the peer's key.
    pub(crate) fn set_remote_key(&mut self, key: u64) {
        self.remote = Some(Key::new(self.version, key));
    }

    /// Completes the negotiation of MPTCP.
    pub(crate) fn agree(&mut self) {
        self.mode = Mode::Multipath;
    }

    /// Changes to TCP.
    pub(crate) fn fall_back_to_tcp(&mut self) {
        self.mode = Mode::Plain;
    }

    pub(crate) fn set_checksum(&mut self, checksum: bool) {
        self.checksum = checksum;
    }

    /// Notes that the peer has proved both keys. Returns whether this is the first time.
    pub(crate) fn confirm(&mut self) -> bool {
        !std::mem::replace(&mut self.confirmed, true)
    }

    /// Notes that the application is notified of the connection. Returns whether this is the first time.
    pub(crate) fn report_accepted(&mut self) -> bool {
        !std::mem::replace(&mut self.accept_reported, true)
    }

    /// Notes that the checksum of data from `number` failed. Acknowledgements on the subflow will report it.
    pub(crate) fn checksum_failed(&mut self, subflow: SubflowId, number: u64) {
        self.failure = Some(Failure { subflow, number, left: MAX_MP_FAILS });
    }

    /// Notes that the peer knows of the failure.
    pub(crate) fn on_failure_reported(&mut self) {
        self.failure = None;
    }

    /// The data sequence number that the next acknowledgement of a subflow has to report. Counts the report.
    pub(crate) fn report_failure(&mut self, subflow: SubflowId) -> Option<u64> {
        let failure = self.failure.filter(|failure| failure.subflow == subflow)?;
        let left = failure.left - 1;
        self.failure = (left > 0).then_some(Failure { left, ..failure });
        Some(failure.number)
    }

    pub(crate) fn infinite_from(&self) -> Option<u64> {
        self.infinite_from
    }

    pub(crate) fn set_infinite_from(&mut self, offset: u64) {
        self.infinite_from = Some(offset);
    }

    /// Draws a nonce for a join.
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

/// A key, its token and the first data sequence number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub value: u64,
    pub token: u32,
    /// The data sequence number of the first byte.
    pub first: u64,
}

impl Key {
    pub(crate) fn new(version: Version, value: u64) -> Self {
        let digest = version.digest(value);
        // RFC 8684 section 3.1: the handshake occupies the initial data sequence number.
        Self { value, token: digest.token, first: digest.initial_sequence.wrapping_add(1) }
    }

    /// The data sequence number of the byte at `offset`.
    pub(crate) fn at(&self, offset: u64) -> u64 {
        self.first.wrapping_add(offset)
    }

    /// The stream offset of a data sequence number: of all possible offsets, the nearest to `near`. `None` if
    /// the offset lies before the start of the stream.
    pub(crate) fn offset(&self, number: DataSequence, near: u64) -> Option<u64> {
        let offset = number.expand(self.at(near)).wrapping_sub(self.first);
        (offset < 1 << 62).then_some(offset)
    }
}

/// Whether the peer was asked about data that its only subflow has acknowledged without a DATA_ACK. Reset by a DATA_ACK
/// of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReceiptQuery {
    #[default]
    None,
    Asked,
    Answered,
}
