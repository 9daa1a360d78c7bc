//! Scenarios with a middlebox in every place, and what became of the data.

use mptcp_lab::measurements::FlowSummary;
use mptcp_lab::scenario::Scenario;
use mptcp_lab::world::World;

/// Bytes of each transfer.
const SIZE: u64 = 1_000_000;

/// A middlebox, and what one should know of it.
pub struct Case {
    pub name: &'static str,
    pub keys: &'static str,
    /// It changes the payload.
    pub damages: bool,
}

const fn case(name: &'static str, keys: &'static str) -> Case {
    Case { name, keys, damages: false }
}

pub const CASES: &[Case] = &[
    case("nat", "kind = \"nat\""),
    case("rewrite-sequence", "kind = \"rewrite-sequence\""),
    case("strip-options, from syn", "kind = \"strip-options\"\nfrom = [\"syn\"]"),
    case("strip-options, from syn-ack", "kind = \"strip-options\"\nfrom = [\"syn-ack\"]"),
    case("strip-options, from data", "kind = \"strip-options\"\nfrom = [\"data\"]"),
    case("strip-options, from ack", "kind = \"strip-options\"\nfrom = [\"ack\"]"),
    case("strip-options, from data and ack", "kind = \"strip-options\"\nfrom = [\"data\", \"ack\"]"),
    case("strip-options, from all", "kind = \"strip-options\""),
    case("strip-options, unknown", "kind = \"strip-options\"\noptions = \"unknown\""),
    case("split", "kind = \"split\"\nsize = \"500B\""),
    case("coalesce", "kind = \"coalesce\""),
    case("early-ack", "kind = \"early-ack\""),
    Case { name: "rewrite-payload", keys: "kind = \"rewrite-payload\"", damages: true },
    Case { name: "rewrite-payload, longer", keys: "kind = \"rewrite-payload\"\ngrow = \"3B\"", damages: true },
];

/// Which of the paths there are, and which of them have the box.
pub type Place = (&'static [&'static str], &'static [&'static str]);

pub const PLACES: [Place; 4] = [
    (&["first"], &["first"]),
    (&["first", "second"], &["first"]),
    (&["first", "second"], &["second"]),
    (&["first", "second"], &["first", "second"]),
];

/// What became of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub multipath: bool,
    pub intact: bool,
    pub finished: bool,
    /// The paths with a box carried a part of the data.
    pub used: bool,
    pub why: Option<&'static str>,
    pub received: u64,
    pub took: Option<u64>,
    pub closed: Option<String>,
}

impl Outcome {
    pub fn of(flow: &FlowSummary, place: Place) -> Self {
        let acked = |path: &&str| {
            flow.paths.iter().filter(|one| one.path == **path).map(|one| one.bytes_acked).sum::<u64>()
        };
        Self {
            multipath: flow.multipath,
            intact: flow.intact,
            finished: flow.closed.as_deref() == Some("Finished"),
            used: place.1.iter().map(|path| acked(path)).sum::<u64>() > SIZE / 100,
            why: flow.fallback.as_ref().map(|fallback| fallback.reason),
            received: flow.bytes_received_total,
            took: flow.completion.map(|seconds| (seconds * 10.0) as u64),
            closed: flow.closed.clone(),
        }
    }
}

/// Runs a transfer through the box.
pub fn run(
    case: &Case,
    version: &str,
    place: Place,
    checksum: bool,
    loss: &str,
    direction: &str,
) -> (String, FlowSummary) {
    let mut text = "duration = \"200s\"\nsample = \"1s\"\n".to_owned();
    for (path, delay) in place.0.iter().zip(["10ms", "15ms"]) {
        text += &format!("[paths.{path}]\nrate = \"8Mbit\"\ndelay = \"{delay}\"\nloss = \"{loss}\"\n");
    }
    for path in place.1 {
        text += &format!("[middleboxes.box-{path}]\npath = \"{path}\"\n{}\n", case.keys);
    }
    text += &format!(
        "[flows.f]\nbytes = \"{SIZE}B\"\nversion = \"{version}\"\nchecksum = {checksum}\ndirection = \"{direction}\"\n"
    );
    let scenario = Scenario::parse(&text, "middlebox").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let flow = World::new(&scenario, 1).expect("a network").run().flows.remove(0);
    let label = format!(
        "{}: {version}, {} of {}, checksum {checksum}, loss {loss}, {direction}",
        case.name,
        place.1.join("+"),
        place.0.len()
    );
    (label, flow)
}

pub fn page() {}
