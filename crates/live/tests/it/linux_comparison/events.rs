//! The events of a stack, and the rule that compares two lists of events.
//!
//! An event has a content and a cause. The cause is an answer or a timer. An answer follows a packet that arrived
//! within a third of the RTT. A timer has an idle time in classes that double.
//!
//! The comparison covers:
//!
//! - handshakes with their options, and other MPTCP options,
//! - retransmissions, reinjections and probes,
//! - acknowledgements with SACK, DSACK or ECE, and CWR,
//! - FIN and RST,
//! - bursts at the start and after a pause.
//!
//! The pace is the progress of new data at each event; a difference of more than [`PACE`] segments is a
//! deviation. Of several growing SACKs, only the last one is compared. Paths are compared separately. The
//! comparison ignores the cause of the FIN of an MPTCP subflow, plain acknowledgements, PSH, random numbers,
//! and times within a class.

use std::fmt::Write;
use std::time::{Duration, Instant};

use mptcp_wire::{Flags, MpJoin, MptcpOption, Segment};

use super::link::Record;
use super::seen::{Kind, Seen};

/// A packet that arrived within this time is the cause of an answer.
const ANSWER: Duration = Duration::from_millis(13);
/// Maximum difference of the pace at an event, in segments.
const PACE: u64 = 2;

/// The cause of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Answer,
    /// A timer, with the class of the idle time: 0 is less than 1.5 RTT, then 2 RTT, the RTO and its doublings.
    Timer(u8),
}

/// Upper ends of the classes of idle time, ms. The RTT is 40 ms, and the minimum RTO is 200 ms longer.
const CLASSES: [u64; 7] = [65, 150, 360, 720, 1_440, 2_880, 5_760];
const NAMES: [&str; 8] = ["<1.5 RTT", "2 RTT", "RTO", "2 RTO", "4 RTO", "8 RTO", "16 RTO", "later"];

impl Cause {
    fn of(silence: Duration, since_incoming: Duration) -> Self {
        if since_incoming <= ANSWER || silence <= ANSWER {
            return Self::Answer;
        }
        let silence = silence.as_millis() as u64;
        Self::Timer(CLASSES.iter().take_while(|end| silence > **end).count() as u8)
    }
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// A segment that is compared by its name.
    Named(String),
    /// Retransmitted segments of the stream, first and last.
    Retransmitted(u64, u64),
    /// Segments that are sent on another path as well, first and last.
    Reinjected(u64, u64),
    /// A number of new segments at once, at the start or after an idle period.
    Burst(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    path: u8,
    cause: Cause,
    what: What,
    /// Segments of the stream that were sent before it.
    pace: u64,
}

/// The events of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    list: Vec<Event>,
    /// The end for both applications.
    pub end: String,
}

fn names(segment: &Segment) -> String {
    let mut text = String::new();
    let options = &segment.options;
    if segment.flags.syn() {
        for (has, name) in [
            (options.mss.is_some(), " mss"),
            (options.sack_permitted, " sackOK"),
            (options.timestamps.is_some(), " TS"),
            (options.window_scale.is_some(), " wscale"),
        ] {
            text += if has { name } else { "" };
        }
    }
    for option in &options.mptcp {
        text += match option {
            MptcpOption::Capable(capable) if capable.data.is_some() => continue,
            MptcpOption::Capable(_) => " MP_CAPABLE",
            MptcpOption::Join(MpJoin::Ack { .. }) => " MP_JOIN",
            MptcpOption::Join(_) => " MP_JOIN",
            MptcpOption::AddAddress(address) if address.echo => " ADD_ADDR-echo",
            MptcpOption::AddAddress(_) => " ADD_ADDR",
            MptcpOption::RemoveAddress(_) => " REMOVE_ADDR",
            MptcpOption::Prio(_) => " MP_PRIO",
            MptcpOption::Fail(_) => " MP_FAIL",
            MptcpOption::FastClose(_) => " MP_FASTCLOSE",
            MptcpOption::TcpRst(_) => " MP_TCPRST",
        };
    }
    if options.dss.is_some_and(|dss| dss.data_fin) {
        text += " DATA_FIN";
    }
    if options.dss.is_some_and(|dss| dss.mapping.is_some_and(|mapping| mapping.length == 0)) {
        text += " infinite-mapping";
    }
    text
}

/// The content of a segment without new data.
fn control_text(seen: &Seen) -> String {
    let flags = seen.segment.flags;
    let mut text = names(&seen.segment);
    if seen.dsack {
        let (from, to) = seen.sack[0];
        let _ = write!(text, " DSACK {}", range(from, to));
    } else if !seen.sack.is_empty() && seen.kind == Kind::Ack {
        let mut blocks = seen.sack.clone();
        blocks.sort_unstable();
        let blocks: Vec<_> = blocks.iter().map(|(from, to)| range(*from, *to)).collect();
        let _ = write!(text, " SACK {}", blocks.join(","));
    }
    if flags.contains(Flags::ECE) && !flags.syn() {
        text += " ECE";
    }
    text
}

fn range(from: u64, to: u64) -> String {
    if from >= to { from.to_string() } else { format!("{from}-{to}") }
}

fn both(one: &str, other: &str, begin: &str) -> bool {
    one.starts_with(begin) && other.starts_with(begin)
}

/// Reads a capture.
pub struct Reader {
    list: Vec<Event>,
    /// For each path: the times of the last received and the last sent packet.
    times: [(Option<Instant>, Option<Instant>); 4],
    pace: u64,
    /// For each path: whether a burst continues.
    burst: [bool; 4],
    last_ece: bool,
    /// A DSS was sent.
    multipath: bool,
}

impl Reader {
    pub fn read(records: &[Record], end: String) -> Events {
        let times = [(None, None); 4];
        let mut reader =
            Self { list: Vec::new(), times, pace: 0, burst: [false; 4], last_ece: false, multipath: false };
        for record in records {
            reader.take(record);
        }
        Events { list: reader.list, end }
    }

    fn take(&mut self, Record { at, seen }: &Record) {
        let path = seen.path;
        let (incoming, outgoing) = self.times[usize::from(path)];
        if !seen.forth {
            self.times[usize::from(path)].0 = Some(*at);
            return;
        }
        self.times[usize::from(path)].1 = Some(*at);
        self.multipath |= seen.segment.options.dss.is_some();
        let since = |time: Option<Instant>| time.map_or(Duration::ZERO, |time| at.duration_since(time));
        let long = Duration::from_secs(3600);
        let since_incoming = incoming.map_or(long, |time| at.duration_since(time));
        let silence = match (incoming, outgoing) {
            (Some(_), Some(_)) => since(incoming).min(since(outgoing)),
            (one, other) => since(one.or(other)),
        };
        let cause = Cause::of(silence, since_incoming);
        let soon = outgoing.is_some_and(|time| at.duration_since(time) <= ANSWER);
        self.burst[usize::from(path)] &= soon;
        for what in self.what(seen, cause) {
            self.add(path, cause, soon, what);
        }
        if seen.kind == Kind::Data {
            self.pace = self.pace.max(seen.number);
        }
    }

    fn what(&mut self, seen: &Seen, cause: Cause) -> Vec<What> {
        let flags = seen.segment.flags;
        let mut all = Vec::new();
        let named = |name: &str| What::Named(format!("{name}{}", control_text(seen)));
        let ece = flags.contains(Flags::ECE) && !flags.syn();
        match seen.kind {
            Kind::Syn | Kind::SynAck => {
                let asks = if flags.contains(Flags::ECE) { " ECN" } else { "" };
                all.push(What::Named(format!("SYN{}{asks}", names(&seen.segment))));
            }
            Kind::Reset => all.push(named("RST")),
            Kind::Fin => all.push(named("FIN")),
            Kind::Data => {
                if flags.contains(Flags::CWR) {
                    all.push(What::Named("CWR".into()));
                }
                // The last data carries the DATA_FIN.
                let others = names(&seen.segment).replace(" DATA_FIN", "");
                if !others.is_empty() {
                    all.push(What::Named(others.trim().to_owned()));
                }
                let first = self.pace == 0;
                let timed = cause != Cause::Answer;
                if seen.old {
                    all.push(What::Retransmitted(seen.number, seen.number));
                    self.burst[usize::from(seen.path)] = false;
                } else if seen.carried {
                    all.push(What::Reinjected(seen.number, seen.number));
                } else if first || timed || self.burst[usize::from(seen.path)] {
                    all.push(What::Burst(1));
                }
                if flags.fin() {
                    all.push(What::Named("FIN".into()));
                }
            }
            Kind::Ack => {
                let says = if seen.probe { " probe".to_owned() } else { control_text(seen) };
                if ece != self.last_ece || !(says.is_empty() || says == " ECE") {
                    all.push(What::Named(format!("ACK{says}")));
                }
            }
        }
        if matches!(seen.kind, Kind::Ack) {
            self.last_ece = ece;
        }
        all
    }

    /// Appends an event. Consecutive segments are one event, and so are parts of a segment.
    fn add(&mut self, path: u8, cause: Cause, soon: bool, what: What) {
        // Linux closes subflows from a work queue.
        let closes = self.multipath && what == What::Named("FIN".into());
        let cause = if closes { Cause::Answer } else { cause };
        let answers = cause == Cause::Answer;
        let burst = &mut self.burst[usize::from(path)];
        *burst = matches!(what, What::Burst(_)) || (*burst && matches!(what, What::Named(_)));
        if let Some(last) = self.list.iter_mut().rev().find(|event| event.path == path)
            && answers
        {
            match (&mut last.what, &what) {
                (What::Retransmitted(_, to), What::Retransmitted(next, end))
                | (What::Reinjected(_, to), What::Reinjected(next, end))
                    if *next == *to + 1 || (*next == *to && soon) =>
                {
                    *to = *end;
                    return;
                }
                (What::Burst(count), What::Burst(more)) => {
                    *count += more;
                    return;
                }
                (What::Named(old), What::Named(new))
                    if soon && (old == new || both(old, new, "ACK SACK")) =>
                {
                    old.clone_from(new);
                    return;
                }
                _ => {}
            }
        }
        self.list.push(Event { path, cause, what, pace: self.pace });
    }
}

impl Event {
    fn show(&self) -> String {
        let mut text = String::new();
        if let Cause::Timer(class) = self.cause {
            let _ = write!(text, "({}) ", NAMES[usize::from(class)]);
        }
        let _ = match &self.what {
            What::Named(name) => write!(text, "{name}"),
            What::Retransmitted(from, to) => write!(text, "retransmit {}", range(*from, *to)),
            What::Reinjected(from, to) => write!(text, "reinject {}", range(*from, *to)),
            What::Burst(count) => write!(text, "burst of {count}"),
        };
        text
    }
}

/// The result of comparing two lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Equal,
    /// Equal events with another progress of new data.
    Pace,
    Different,
}

impl Events {
    /// Compares with the events of another run.
    pub fn compare(&self, other: &Self) -> Verdict {
        let same = |a: &Event, b: &Event| (a.path, a.cause, &a.what) == (b.path, b.cause, &b.what);
        let (mine, others) = (self.by_path(), other.by_path());
        let alike = mine.len() == others.len()
            && self.end == other.end
            && mine.iter().zip(&others).all(|(a, b)| same(a, b));
        if !alike {
            return Verdict::Different;
        }
        let mut pairs = mine.iter().zip(&others);
        if pairs.all(|(a, b)| a.pace.abs_diff(b.pace) <= PACE) { Verdict::Equal } else { Verdict::Pace }
    }

    fn by_path(&self) -> Vec<&Event> {
        let mut events: Vec<_> = self.list.iter().collect();
        events.sort_by_key(|event| event.path);
        events
    }

    /// The events on one line; with the progress of new data if `paced`.
    pub fn show(&self, paced: bool) -> String {
        let (mut text, mut pace, mut path) = (String::new(), 0, 1);
        let mut events = self.by_path().into_iter().peekable();
        while let Some(event) = events.next() {
            let mut times = 1;
            while events.next_if(|next| next.what == event.what && next.path == event.path).is_some() {
                times += 1;
            }
            if event.path != path {
                path = event.path;
                let _ = write!(text, "path {path}: ");
            }
            if paced && event.pace > pace {
                let _ = write!(text, "data to {}; ", event.pace);
                pace = event.pace;
            }
            let _ = match times {
                1 => write!(text, "{}; ", event.show()),
                _ => write!(text, "{} ({times} times); ", event.show()),
            };
        }
        text + &self.end
    }
}
