//! A transfer through a middlebox in every place, and its outcome.

pub mod page;

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Bytes of each transfer.
const SIZE: u64 = 1_000_000;

/// A middlebox, its keys, and its text on the page.
pub struct Case {
    pub name: &'static str,
    pub keys: &'static str,
    pub what: &'static str,
}

pub const CASES: &[Case] = &[
    Case {
        name: "nat",
        keys: "kind = \"nat\"",
        what: "The box changes the client's address and port. A join identifies its connection by the token, so \
               nothing changes while the mapping lives. When the mapping expires, the server does not know the new \
               port and resets the subflow. Another subflow keeps the connection alive.",
    },
    Case {
        name: "rewrite-sequence",
        keys: "kind = \"rewrite-sequence\"",
        what: "The box adds an offset to sequence numbers. Mappings are relative to the SYN of their subflow, so \
               the offset has no effect.",
    },
    Case {
        name: "strip-options from SYNs",
        keys: "kind = \"strip-options\"\nfrom = [\"syn\"]",
        what: "Without MP_CAPABLE on the first path, both ends use TCP. Without MP_JOIN on another path, its \
               subflow never opens.",
    },
    Case {
        name: "strip-options from SYN/ACKs",
        keys: "kind = \"strip-options\"\nfrom = [\"syn-ack\"]",
        what: "The server has agreed and the client does not hear it. The third ACK has no option, which tells the \
               server.",
    },
    Case {
        name: "strip-options from data",
        keys: "kind = \"strip-options\"\nfrom = [\"data\"]",
        what: "The handshake succeeds, and the first data has no mapping. A single subflow continues as TCP. A \
               joined subflow is reset.",
    },
    Case {
        name: "strip-options from everything but SYNs",
        keys: "kind = \"strip-options\"\nfrom = [\"data\", \"ack\"]",
        what: "The third ACK shows the loss to the server, and the first segment of the server shows it to the \
               client.",
    },
    Case {
        name: "strip-options, unknown ones",
        keys: "kind = \"strip-options\"\noptions = \"unknown\"",
        what: "The box removes every option that is unknown to old devices from all segments. The outcomes are \
               those of SYNs without options.",
    },
    Case {
        name: "split",
        keys: "kind = \"split\"\nsize = \"500B\"",
        what: "Each part carries the mapping of the whole segment, so its place in the stream is known.",
    },
    Case {
        name: "coalesce",
        keys: "kind = \"coalesce\"",
        what: "The mapping of the second segment is lost, and its payload has no place in the stream. A single \
               subflow continues as TCP. One of several subflows is reset. In uploads, the box is behind the link, \
               where segments are further apart than it waits, and it joins only the short last one. With such a \
               box on both paths, both subflows are reset, and the connection ends.",
    },
    Case {
        name: "early-ack",
        keys: "kind = \"early-ack\"",
        what: "The acknowledgements of the proxy have no options. If one of them is the first acknowledgement of \
               the server's data, the server assumes a path that removes options, and falls back. Only a data \
               acknowledgement confirms delivery, so the sender keeps the data that the proxy holds.",
    },
    Case {
        name: "rewrite-payload",
        keys: "kind = \"rewrite-payload\"",
        what: "The box replaces bytes and keeps their number. Only the DSS checksum detects this. Without it, the \
               changed data is delivered. With it, a single subflow continues as TCP with the changed data. One of \
               several subflows is reset, and its data is sent on another one. When the last subflow is reset, the \
               connection ends.",
    },
    Case {
        name: "rewrite-payload, longer",
        keys: "kind = \"rewrite-payload\"\ngrow = \"3B\"",
        what: "The box adds bytes, so mappings no longer fit. Without the checksum, shifted data is delivered \
               before that shows.",
    },
    Case {
        name: "bleach-ecn",
        keys: "kind = \"bleach-ecn\"",
        what: "Both ends use ECN. The box clears the ECN field, so queues drop these packets instead of marking \
               them.",
    },
    Case {
        name: "mark-ecn",
        keys: "kind = \"mark-ecn\"",
        what: "Both ends use ECN, and the box marks every ECN-capable packet. The window of such a path falls to \
               two segments. If that changes nothing for eight RTTs, the marks are ignored. A short transfer can \
               end before the path carries its part.",
    },
    Case {
        name: "mark-ecn, SYNs too",
        keys: "kind = \"mark-ecn\"\ncapable = false",
        what: "The box also marks SYNs. A marked SYN was changed on the path, so its subflow continues without ECN.",
    },
];

/// The title of a place, its paths, and the paths with the box.
pub type Place = (&'static str, &'static [&'static str], &'static [&'static str]);

pub const PLACES: [Place; 4] = [
    ("the only path", &["first"], &["first"]),
    ("the first of two", &["first", "second"], &["first"]),
    ("the second of two", &["first", "second"], &["second"]),
    ("both", &["first", "second"], &["first", "second"]),
];

pub const VERSIONS: [&str; 2] = ["v0", "v1"];

/// The variants of each version and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    pub checksum: bool,
    pub upload: bool,
    pub lossy: bool,
}

impl Variant {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self { checksum: bits & 1 != 0, upload: bits & 2 != 0, lossy: bits & 4 != 0 })
    }
}

/// The outcome of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub multipath: bool,
    /// Every received byte was correct.
    pub intact: bool,
    pub finished: bool,
    /// The connection ended, for any reason.
    pub closed: bool,
    /// The paths with a box carried at least a seventh of the data.
    pub used: bool,
    pub reason: Option<&'static str>,
}

impl Outcome {
    fn of(flow: &FlowSummary, place: Place) -> Self {
        let with_box = flow.paths.iter().filter(|path| place.2.contains(&path.path.as_str()));
        let whole = flow.bytes_received_total == SIZE || !flow.intact;
        Self {
            multipath: flow.multipath,
            intact: flow.intact,
            finished: whole && flow.closed.as_deref() == Some("Finished"),
            closed: flow.closed.is_some(),
            used: with_box.map(|path| path.bytes_acked).sum::<u64>() > SIZE / 7,
            reason: flow.fallback.as_ref().map(|fallback| fallback.reason),
        }
    }

    /// The outcome as text.
    pub fn text(&self) -> String {
        let reason = self.reason.map_or(String::new(), |reason| format!(": {reason}"));
        match (self.finished, self.multipath, self.intact) {
            (false, _, true) => "ends early, intact so far".to_owned(),
            (false, _, false) => "ends early, **changed data delivered**".to_owned(),
            (_, true, false) => "MPTCP, **changed data delivered**".to_owned(),
            (_, false, false) => format!("TCP, **changed data delivered**{reason}"),
            (_, true, true) if self.used => "MPTCP".to_owned(),
            (_, true, true) => "MPTCP, without this path".to_owned(),
            (_, false, true) => format!("TCP{reason}"),
        }
    }
}

/// Runs a transfer through the box.
pub fn run(case: &Case, version: &str, place: Place, variant: Variant) -> Outcome {
    let loss = if variant.lossy { "1%" } else { "0%" };
    let mut text = "duration = \"150s\"\nsample = \"1s\"\n".to_owned();
    for (path, delay) in place.1.iter().zip(["10ms", "15ms"]) {
        text += &format!("[paths.{path}]\nrate = \"8Mbit\"\ndelay = \"{delay}\"\nloss = \"{loss}\"\n");
    }
    for path in place.2 {
        text += &format!("[middleboxes.on-{path}]\npath = \"{path}\"\n{}\n", case.keys);
    }
    text += &format!("[flows.f]\nbytes = \"{SIZE}B\"\nversion = \"{version}\"\n");
    let direction = if variant.upload { "upload" } else { "download" };
    if case.keys.contains("-ecn") {
        text += "ecn = \"on\"\n";
    }
    text += &format!("checksum = {}\ndirection = \"{direction}\"\n", variant.checksum);
    Outcome::of(&simulate(&text), place)
}

/// The summary of the first flow of a scenario.
pub fn simulate(text: &str) -> FlowSummary {
    let scenario = Scenario::parse(text, "middlebox").unwrap_or_else(|error| panic!("{error}\n{text}"));
    World::new(&scenario, 1).expect("a network").run().expect("it comes to its end").flows.remove(0)
}
