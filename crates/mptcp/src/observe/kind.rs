//! The event types: their names, descriptions and numeric fields.
//!
//! Event filters and result columns use this table, and docs/events.md is generated from it.

/// Numeric field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Congestion window, bytes.
    Cwnd,
    /// Slow start threshold, bytes; missing before the first reduction.
    Ssthresh,
    /// Bytes in flight.
    InFlight,
    /// RTT sample, nanoseconds.
    Rtt,
    /// Smoothed RTT, nanoseconds.
    Srtt,
    /// RTT variation (RFC 6298), nanoseconds.
    Rttvar,
    /// New retransmission timeout, nanoseconds.
    Rto,
    /// Number of consecutive timeouts.
    InARow,
    /// Offset in the subflow's stream, bytes.
    Seq,
    /// Offset in the connection's stream, bytes.
    Offset,
    /// Length, bytes.
    Bytes,
    /// Written but unsent bytes.
    Unsent,
    /// Value of an option: address ID, version or reset reason.
    Number,
    /// Data sequence number, as on the wire.
    DataSeq,
    /// Data acknowledgement, as on the wire.
    DataAck,
}

impl Field {
    /// All fields, in the order of the columns.
    pub const ALL: [Self; 15] = [
        Self::Offset,
        Self::Seq,
        Self::Bytes,
        Self::Cwnd,
        Self::Ssthresh,
        Self::InFlight,
        Self::Rtt,
        Self::Srtt,
        Self::Rttvar,
        Self::Rto,
        Self::InARow,
        Self::Unsent,
        Self::Number,
        Self::DataSeq,
        Self::DataAck,
    ];

    /// Column name; a suffix `_s` means seconds.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd",
            Self::Ssthresh => "ssthresh",
            Self::InFlight => "in_flight",
            Self::Rtt => "rtt_s",
            Self::Srtt => "srtt_s",
            Self::Rttvar => "rttvar_s",
            Self::Rto => "rto_s",
            Self::InARow => "consecutive",
            Self::Seq => "seq",
            Self::Offset => "offset",
            Self::Bytes => "bytes",
            Self::Unsent => "unsent",
            Self::Number => "number",
            Self::DataSeq => "data_seq",
            Self::DataAck => "data_ack",
        }
    }

    /// Description, for users.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Cwnd => "Congestion window, bytes",
            Self::Ssthresh => "Slow start threshold, bytes; missing in the first slow start",
            Self::InFlight => "Bytes in flight on the subflow; for `connection_blocked`, at the data level",
            Self::Rtt => "The sample of the RTT",
            Self::Srtt => "The smoothed RTT",
            Self::Rttvar => "The RTT variation",
            Self::Rto => "The new retransmission timeout, after its backoff",
            Self::InARow => "Consecutive timeouts",
            Self::Seq => "Offset in the stream of the subflow; the SYN is 0",
            Self::Offset => "Offset in the stream of the connection, from 0",
            Self::Bytes => "Bytes of payload; for frames, bytes on the wire",
            Self::Unsent => "Bytes written but not sent",
            Self::Number => "A number of the option: an address id, a version, a reason, 1 for backup",
            Self::DataSeq => "Data sequence number, as on the wire",
            Self::DataAck => "Data acknowledgement, as on the wire",
        }
    }
}

macro_rules! kinds {
    ($($kind:ident $name:literal [$($field:ident),*] $says:literal;)*) => {
        /// Type of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $(#[doc = $says] $kind,)*
        }

        impl Kind {
            /// All types.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Name in filters and tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Description, for users.
            #[must_use]
            pub const fn says(self) -> &'static str {
                match self { $(Self::$kind => $says,)* }
            }

            /// Meaning of the numbers of an event, in order.
            #[must_use]
            pub const fn fields(self) -> &'static [Field] {
                match self { $(Self::$kind => &[$(Field::$field),*],)* }
            }
        }
    };
}

kinds! {
    Window "window" [Cwnd, Ssthresh, InFlight] "The congestion window or its threshold changed";
    RoundTrip "rtt" [Rtt, Srtt, Rttvar] "A sample of the RTT";
    Loss "loss" [Seq, Bytes, InFlight] "Segments were declared lost; `what` is the method";
    Timeout "timeout" [Rto, InARow, InFlight] "The retransmission timer expired";
    Spurious "spurious" [Cwnd, Ssthresh] "A loss was spurious, and the window reduction was undone";
    Retransmission "retransmission" [Offset, Bytes, Seq] "A segment was retransmitted on its own subflow";
    Schedule "schedule" [Offset, Bytes, Seq] "New data was sent on a subflow; `what` is the reason for this subflow, `other` a subflow that was not chosen";
    Reinjection "reinjection" [Offset, Bytes, Seq] "Data was reinjected on another subflow; `other` sent it first";
    Penalty "penalty" [Cwnd, Ssthresh] "Penalisation (M2) halved a window; `other` is the subflow that waited";
    Block "connection_blocked" [InFlight, Unsent] "The connection stops sending; `what` is the reason, `other` the subflow that causes it";
    Limit "subflow_blocked" [Cwnd, InFlight] "The limit of a subflow changed; `what` is the limit, `other` the subflow that causes it";
    Subflow "subflow" [] "A subflow changed its state";
    Connection "connection" [] "The connection was established, fell back or ended";
    OptionIn "option_in" [Number] "An MPTCP option other than the DSS was received";
    OptionOut "option_out" [Number] "An MPTCP option other than the DSS was sent";
    DssIn "dss_in" [DataSeq, Bytes, DataAck] "A DSS was received";
    DssOut "dss_out" [DataSeq, Bytes, DataAck] "A DSS was sent";
}

impl Kind {
    /// Finds a type by its name; `None` if unknown.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// A set of event types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    /// No types. Limiting factors are still measured; see [`crate::Connection::reasons`].
    pub const NONE: Self = Self(0);
    /// All types.
    pub const ALL: Self = Self(u32::MAX);

    /// The set with one more type.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Whether the set contains a type.
    #[must_use]
    #[inline]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}
