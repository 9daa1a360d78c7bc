//! The tables `paths` and `links` of a scenario file, and the keys of their directions.
//!
//! The macro `table!` creates a struct for a table of the file, with its JSON Schema. In it, `with NAME: TABLE` adds
//! the keys of another table. `kind NAME` adds a key for an element that the registry defines, such as a loss model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::LossPreset;
use super::super::units::{LineRate, Percent, QueueSize, Span, TraceStart};
use super::queue::QueueValue;

table! {
    /// The keys of one direction of a path or link.
    DirectionTable {
        /// The link rate, counted in frame bytes (IP packet + 14). Required without `trace`.
        rate: LineRate,
        /// A recording that replaces `rate`; its path is relative to this file. It is a list of delivery
        /// times (mahimahi), or a table of link properties over time.
        trace: String,
        /// Position in the recording at which a run starts: a time such as "12s", or "random" for a position
        /// that the seed selects. Default: 0s.
        trace_start: TraceStart,
        /// Repeats a table after its end. Lists of delivery times always repeat. Default: true with a random
        /// start, else false.
        trace_repeat: bool,
        /// One-way propagation delay. Default: 0s.
        delay: Span,
        /// Probability that a frame is lost. As a key of a path or link, it applies to each direction.
        /// Default: 0%.
        loss: Percent,
        /// Burst loss, instead of `loss`.
        gilbert_elliott: GilbertElliottTable,
        /// Probability that a delivered frame is duplicated. The copy follows the original without
        /// transmission time, loss or corruption. Unlike in netem, a lost frame is never duplicated
        /// (docs/fabrics.md). Default: 0%.
        duplicate: Percent,
        /// Probability that a frame is delivered with a bit error. The receiver detects the error by a
        /// checksum (docs/fabrics.md). Default: 0%.
        corrupt: Percent,
        /// Time for which the receiver collects frames before it delivers them together, as slots in netem or
        /// interrupt coalescing. Default: none.
        slot: Span,
        /// With `slot`, number of frames at which a collection ends early. Default: unlimited.
        slot_frames: u32,
        /// Maximum deviation from `delay`, uniformly distributed. Default: 0s.
        jitter: Span,
        /// Lets `jitter` reorder frames. Default: false.
        reorder: bool,
        /// Limit of the drop-tail queue, including the frame in service; or a queue discipline as a table.
        /// Default: 1000p.
        queue: QueueValue,
        /// Queue length, including the frame in service, above which an arriving ECN-capable packet is marked
        /// (K of DCTCP). Default: none.
        mark: QueueSize,
        /// The largest IP packet that passes, 68 to 65535 bytes. The end hosts know only `mtu`. Default:
        /// `mtu`.
        path_mtu: u32,
        /// Sends an ICMP error to the sender of a packet larger than `path_mtu` (RFC 1191), after one RTT of
        /// this path or link. Default: true.
        icmp: bool,
        /// Whether the path or link is up at the start. Default: true.
        up: bool,
    } kind loss_model;
}

table! {
    /// The Gilbert-Elliott loss model with a good and a bad state (gemodel in tc-netem(8)). The state can
    /// change before each frame.
    GilbertElliottTable {
        /// Published parameters, instead of the other keys (docs/fabrics.md).
        preset: LossPreset,
        /// Transition probability from good to bad. Required without `preset`.
        p: Percent,
        /// Transition probability from bad to good. Required without `preset`.
        r: Percent,
        /// Loss in the bad state (1-h in netem). Default: 100%.
        loss_bad: Percent,
        /// Loss in the good state (1-k in netem). Default: 0%.
        loss_good: Percent,
    }
}

table! {
    /// A path between `client` and `server`.
    PathTable {
        /// Round-trip propagation delay, instead of `delay`. Each direction gets half of it.
        rtt: Span,
        /// The largest IP packet, 68 to 65535 bytes. Default: 1500.
        mtu: u32,
        /// Keys for the direction from client to server, where they differ from the path's.
        forward: DirectionTable,
        /// Keys for the direction from server to client, where they differ from the path's.
        backward: DirectionTable,
    } with both: DirectionTable;
}

table! {
    /// A link between two nodes.
    LinkTable {
        /// The two nodes. Required.
        ends: Vec<String>,
        /// Round-trip propagation delay, instead of `delay`. Each direction gets half of it.
        rtt: Span,
        /// The largest IP packet, 68 to 65535 bytes. Default: 1500.
        mtu: u32,
        /// Keys for the direction from the first end to the second, where they differ from the link's.
        forward: DirectionTable,
        /// Keys for the direction from the second end to the first, where they differ from the link's.
        backward: DirectionTable,
    } with both: DirectionTable;
}
