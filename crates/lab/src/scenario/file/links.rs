//! The tables of paths and links, and of their directions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::LossPreset;
use super::super::units::{LineRate, Percent, QueueSize, Span, TraceStart};
use super::queue::QueueValue;

table! {
    /// One direction of a path or link.
    DirectionTable {
        /// The line rate, in frame bytes (IP + 14). Needed for a path or link.
        rate: LineRate,
        /// A recording instead of a rate: a file of times at which a frame may leave (mahimahi's), or a table of times with what the
        /// link is like from then on. Relative to this file.
        trace: String,
        /// Where in the recording a run begins: a time such as "12s", or "random", which draws it by the seed. Default: 0s.
        trace_start: TraceStart,
        /// Whether a table begins again when it ends. Lists of times always do. Default: with a random start alone.
        trace_repeat: bool,
        /// Propagation delay, one way. Default: 0s.
        delay: Span,
        /// Random loss of each frame, in each direction, as Mininet does. Default: 0%.
        loss: Percent,
        /// Loss in bursts, instead of `loss`.
        gilbert_elliott: GilbertElliottTable,
        /// Frames that come out twice: of those that were not lost here. A copy follows its original, takes no time of the line, and is
        /// neither lost nor damaged here (netem's is drawn before loss: docs/fabrics.md). Default: 0%.
        duplicate: Percent,
        /// Frames that come out with a wrong bit. They go on to the end, where a checksum tells (docs/fabrics.md).
        /// Default: 0%.
        corrupt: Percent,
        /// Frames are held at the far end and come out together, so long after the first of them: netem's slot, or interrupts that
        /// wait. Default: none is.
        slot: Span,
        /// With `slot`: or as soon as there are so many. Default: the time alone counts.
        slot_frames: u32,
        /// The delay varies uniformly by as much as this up and down. Default: 0s.
        jitter: Span,
        /// Whether jitter may let a frame overtake another. Default: false.
        reorder: bool,
        /// The limit of the drop-tail queue; the frame in service counts. Or another discipline, as a table. Default: 1000p.
        queue: QueueValue,
        /// A packet that finds more than this in the queue is marked, if its connection speaks ECN: DCTCP's K. The frame in service
        /// counts. Default: none is.
        mark: QueueSize,
        /// The longest IP packet that gets through, in bytes, 68 to 65535, whatever `mtu` lets both ends believe. Default: all do.
        path_mtu: u32,
        /// Whether the sender of a longer one is told so by ICMP, as routers should (RFC 1191), after a round trip of this path or
        /// link. Default: true.
        icmp: bool,
        /// Whether it works at the start. Default: true.
        up: bool,
    } kind loss_model;
}

table! {
    /// The Gilbert-Elliott model, as `gemodel` of tc-netem(8): a good and a bad state, stepped once a frame.
    GilbertElliottTable {
        /// Published values, instead of the others: see docs/fabrics.md.
        preset: LossPreset,
        /// Probability of going from good to bad. Needed without a preset.
        p: Percent,
        /// Probability of going from bad to good. Needed without a preset.
        r: Percent,
        /// Loss in the bad state (netem's 1-h). Default: 100%.
        loss_bad: Percent,
        /// Loss in the good state (netem's 1-k). Default: 0%.
        loss_good: Percent,
    }
}

table! {
    /// A path between client and server.
    PathTable {
        /// Twice the delay, instead of `delay`: half goes to each direction.
        rtt: Span,
        /// The largest IP packet in bytes, 68 to 65535. Default: 1500.
        mtu: u32,
        /// What is different from client to server.
        forward: DirectionTable,
        /// What is different from server to client.
        backward: DirectionTable,
    } with both: DirectionTable;
}

table! {
    /// A link between two nodes.
    LinkTable {
        /// The two nodes it joins. Needed.
        ends: Vec<String>,
        /// Twice the delay, instead of `delay`: half goes to each direction.
        rtt: Span,
        /// The largest IP packet in bytes, 68 to 65535. Default: 1500.
        mtu: u32,
        /// What is different from the first end to the second.
        forward: DirectionTable,
        /// What is different from the second end to the first.
        backward: DirectionTable,
    } with both: DirectionTable;
}
