//! Conversion of an event to a name and up to three numbers, so that all events fit into one table or one
//! line of text.

use mptcp_clock::Duration;

use crate::observe::event::Event;
use crate::observe::log::NOTHING;
use crate::subflow::State;

/// Table values of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// Subtype or reason.
    pub what: &'static str,
    /// Numbers, in the order of [`crate::observe::Kind::fields`]; [`NOTHING`] if missing.
    pub numbers: [u64; 3],
}

/// Displays the numbers that an event has, such as `rtt=20.1ms srtt=21ms`.
#[derive(Clone, Copy, Debug)]
pub struct Numbers(Event);

impl std::fmt::Display for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (fields, numbers) = (self.0.kind().fields(), self.0.values().numbers);
        let known = fields.iter().zip(numbers).filter(|(_, number)| *number != NOTHING);
        for (at, (field, number)) in known.enumerate() {
            let space = if at == 0 { "" } else { " " };
            match field.name().strip_suffix("_s") {
                Some(name) => write!(f, "{space}{name}={}ms", number as f64 / 1e6)?,
                None => write!(f, "{space}{}={number}", field.name())?,
            }
        }
        Ok(())
    }
}

fn some(number: Option<u64>) -> u64 {
    number.unwrap_or(NOTHING)
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos()
}

impl Event {
    /// The numbers, for text output; formatted only when displayed.
    #[must_use]
    pub const fn numbers(self) -> Numbers {
        Numbers(self)
    }

    /// The values, for tables.
    #[must_use]
    pub fn values(&self) -> Values {
        let of = |what, numbers| Values { what, numbers };
        match *self {
            Self::Window { why, cwnd, ssthresh, in_flight } => {
                of(why.word(), [cwnd, some(ssthresh), in_flight])
            }
            Self::RoundTrip { latest, srtt, rttvar } => {
                of("sample", [nanos(latest), nanos(srtt), nanos(rttvar)])
            }
            Self::Loss { by, seq, bytes, in_flight } => of(by.word(), [seq, bytes, in_flight]),
            Self::Timeout { rto, consecutive, in_flight } => {
                of("retransmission", [nanos(rto), u64::from(consecutive), in_flight])
            }
            Self::Spurious { cwnd, ssthresh } => of("undone", [cwnd, some(ssthresh), NOTHING]),
            Self::Retransmission { offset, bytes, seq } => of("again", [offset, bytes, seq]),
            Self::Schedule { why, offset, bytes, seq } => of(why.word(), [offset, bytes, seq]),
            Self::Reinjection { why, offset, bytes, seq } => of(why.word(), [offset, bytes, seq]),
            Self::Penalty { cwnd, ssthresh } => of("halved", [cwnd, some(ssthresh), NOTHING]),
            Self::Block { limit, in_flight, unsent } => of(limit.name(), [in_flight, unsent, NOTHING]),
            Self::Limit { limit, cwnd, in_flight } => of(limit.name(), [cwnd, in_flight, NOTHING]),
            Self::Subflow { state } => of(state_name(state), [NOTHING; 3]),
            Self::Connection { what } => of(what, [NOTHING; 3]),
            Self::OptionIn { name, number } | Self::OptionOut { name, number } => {
                of(name, [some(number), NOTHING, NOTHING])
            }
            Self::DssIn { sequence, length, ack, fin } | Self::DssOut { sequence, length, ack, fin } => {
                let what = match (fin, sequence.is_some()) {
                    (true, _) => "data_fin",
                    (false, true) => "mapping",
                    (false, false) => "ack",
                };
                of(what, [some(sequence), length, some(ack)])
            }
        }
    }
}

/// RFC 9293's state names, in lower case.
fn state_name(state: State) -> &'static str {
    match state {
        State::SynSent => "syn_sent",
        State::SynReceived => "syn_received",
        State::Established => "established",
        State::FinWait1 => "fin_wait_1",
        State::FinWait2 => "fin_wait_2",
        State::CloseWait => "close_wait",
        State::Closing => "closing",
        State::LastAck => "last_ack",
        State::TimeWait => "time_wait",
        State::Closed => "closed",
    }
}
