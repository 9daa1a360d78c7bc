//! A transfer through a middlebox in every place, and what became of it.

pub mod page;

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Bytes of each transfer.
const SIZE: u64 = 1_000_000;

/// A middlebox, and what the page says of it.
pub struct Case {
    pub name: &'static str,
    pub keys: &'static str,
    pub what: &'static str,
}

pub const CASES: &[Case] = &[
    Case {
        name: "nat",
        keys: "kind = \"nat\"",
        what: "Another address and port towards the server. Joins find their connection by its token, not by addresses, so \
               nothing changes while the mapping lives. When it is forgotten, the server does not know the new port \
               and resets the subflow; if there is another, the connection goes on.",
    },
    Case {
        name: "rewrite-sequence",
        keys: "kind = \"rewrite-sequence\"",
        what: "An offset on sequence numbers. Mappings count from the SYN of their subflow, so the offset does not \
               show.",
    },
    Case {
        name: "strip-options from SYNs",
        keys: "kind = \"strip-options\"\nfrom = [\"syn\"]",
        what: "No MP_CAPABLE on the first path: both ends speak TCP. No MP_JOIN on another: its subflow never opens.",
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
        what: "The handshake succeeds, and the first data have no mapping. Alone, the subflow goes on as TCP; \
               a joined one is reset.",
    },
    Case {
        name: "strip-options from everything but SYNs",
        keys: "kind = \"strip-options\"\nfrom = [\"data\", \"ack\"]",
        what: "The third ACK tells the server, and the server's first segment the client.",
    },
    Case {
        name: "strip-options, unknown ones",
        keys: "kind = \"strip-options\"\noptions = \"unknown\"",
        what: "All that a box of old does not know, from all segments: as from SYNs.",
    },
    Case {
        name: "split",
        keys: "kind = \"split\"\nsize = \"500B\"",
        what: "Each part has the mapping of the whole, which says where it belongs.",
    },
    Case {
        name: "coalesce",
        keys: "kind = \"coalesce\"",
        what: "The mapping of the second segment is lost. Its payload cannot be placed: alone, the connection goes on as \
               TCP; with several subflows the one concerned is reset. For uploads the box stands behind the \
               line, where segments are further apart than it waits, and finds only the short last one to join; \
               with such a box on both paths both subflows are reset for it, and the connection ends.",
    },
    Case {
        name: "early-ack",
        keys: "kind = \"early-ack\"",
        what: "The proxy's acknowledgements have no options. When one of them is the first that a server gets for its \
               data, the server takes the path for one that removes options, and falls back. Data count as arrived only by \
               the data acknowledgement of the peer, so what the proxy still holds is never forgotten.",
    },
    Case {
        name: "rewrite-payload",
        keys: "kind = \"rewrite-payload\"",
        what: "Other bytes, of the same number. Only the DSS checksum tells: without it the changed data are delivered. \
               With it a subflow that is alone goes on as TCP, with what the gateway wrote; one of several is \
               reset and its data go again elsewhere; when the last one is reset the connection ends.",
    },
    Case {
        name: "rewrite-payload, longer",
        keys: "kind = \"rewrite-payload\"\ngrow = \"3B\"",
        what: "More bytes than were sent: mappings no longer fit. Without the checksum the data are shifted before \
               that shows.",
    },
    Case {
        name: "bleach-ecn",
        keys: "kind = \"bleach-ecn\"",
        what: "Between ends that speak ECN. What they send is marked no more, and queues drop it as they drop everything else.",
    },
    Case {
        name: "mark-ecn",
        keys: "kind = \"mark-ecn\"",
        what: "Between ends that speak ECN, everything that may be marked is. The window of such a path falls to two segments; \
               where that changes nothing for eight round trips, its marks are heeded no more. A short transfer may be over \
               before the path carries its part.",
    },
    Case {
        name: "mark-ecn, SYNs too",
        keys: "kind = \"mark-ecn\"\ncapable = false",
        what: "The same from the first SYN on. A SYN that is marked was meddled with: its subflow goes on without ECN.",
    },
];

/// Which paths there are, and which of them have the box.
pub type Place = (&'static str, &'static [&'static str], &'static [&'static str]);

pub const PLACES: [Place; 4] = [
    ("the only path", &["first"], &["first"]),
    ("the first of two", &["first", "second"], &["first"]),
    ("the second of two", &["first", "second"], &["second"]),
    ("both", &["first", "second"], &["first", "second"]),
];

pub const VERSIONS: [&str; 2] = ["v0", "v1"];

/// What varies beside the version and the place.
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

/// What became of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub multipath: bool,
    /// Every byte that arrived was right.
    pub intact: bool,
    pub finished: bool,
    /// It is over, whatever the reason.
    pub closed: bool,
    /// The paths with a box carried their part of the data.
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

    /// In words.
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
