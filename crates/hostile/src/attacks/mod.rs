//! Named attacks with a size, and their cost for the host.
//!
//! An attack is a scripted sequence of packets from a malicious peer. Its cost per packet must not grow with its size.
//! Owns the list of attacks. `examples/attacks.rs` prints their costs, and the tests compare them with bounds. Attacks
//! target the memory of a connection (`buffers`), processor time (`work`), the endpoint's tables (`tables`) or timers
//! (`timers`).

mod buffers;
mod sample;
mod tables;
mod timers;
mod work;

pub use sample::Sample;

/// An attack.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// The number of the defect in docs/contributing/security-audit.md, and a variant.
    pub name: &'static str,
    /// The packets of the attack, for tables of results.
    pub what: &'static str,
    /// Three sizes, each about ten times the previous one.
    pub sizes: [u64; 3],
    /// Runs the attack at a size.
    pub run: fn(u64) -> Sample,
}

/// All attacks, in the order of these numbers.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "X1",
        what: "ACKs to a closed port, faster than resets are sent",
        sizes: [1_000, 10_000, 100_000],
        run: tables::strays,
    },
    Attack {
        name: "X2 subflow",
        what: "segments shifted by one byte behind a hole",
        sizes: [2_000, 20_000, 200_000],
        run: buffers::shifted_subflow,
    },
    Attack {
        name: "X2 data",
        what: "mappings shifted by one byte behind a hole",
        sizes: [2_000, 20_000, 200_000],
        run: buffers::shifted_data,
    },
    Attack {
        name: "X2 blocks",
        what: "bytes out of order, each in a block of 256 KB",
        sizes: [20, 200, 2_000],
        run: buffers::pinned_blocks,
    },
    Attack {
        name: "X2 blocks read late",
        what: "bytes in order, each in a block of 256 KB, unread",
        sizes: [20, 200, 2_000],
        run: buffers::pinned_in_order,
    },
    Attack { name: "X2 joins", what: "joins filled and reset", sizes: [1, 6, 60], run: buffers::dead_joins },
    Attack {
        name: "X2 unread",
        what: "unread segments of one byte",
        sizes: [1_000, 10_000, 100_000],
        run: buffers::unread_bytes,
    },
    Attack {
        name: "X2 mappings",
        what: "mappings of one byte without data",
        sizes: [1_000, 10_000, 100_000],
        run: buffers::mappings,
    },
    Attack {
        name: "X2 checksum",
        what: "bytes under one mapping with a checksum that is never complete",
        sizes: [600, 6_000, 60_000],
        run: buffers::held_for_checksum,
    },
    Attack {
        name: "X4",
        what: "ADD_ADDR in TIME-WAIT",
        sizes: [1_000, 10_000, 100_000],
        run: tables::time_wait_echoes,
    },
    Attack {
        name: "X5 subflow",
        what: "holes of one byte in random order",
        sizes: [1_000, 10_000, 100_000],
        run: work::holes,
    },
    Attack {
        name: "X5 data",
        what: "holes of one byte in random order at the data level",
        sizes: [1_000, 10_000, 100_000],
        run: work::data_holes,
    },
    Attack {
        name: "X5 mappings",
        what: "mappings in random order",
        sizes: [150, 1_500, 15_000],
        run: work::mapping_holes,
    },
    Attack {
        name: "X6",
        what: "MP_FAIL between DATA_FINs and FIN, then a day",
        sizes: [10, 100, 1_000],
        run: timers::fin_wait,
    },
    Attack {
        name: "X7",
        what: "connections whose addresses collide under FxHash: ACKs to them",
        sizes: [300, 3_000, 30_000],
        run: tables::collisions,
    },
    Attack {
        name: "X10",
        what: "zero window of a dead peer: days",
        sizes: [3, 30, 300],
        run: timers::zero_window,
    },
    Attack {
        name: "X11",
        what: "SACKs of one segment each at MSS 64; bytes in flight",
        sizes: [40_000, 400_000, 4_000_000],
        run: work::rack,
    },
    Attack {
        name: "X12",
        what: "ACKs beyond the window: answers",
        sizes: [1_000, 10_000, 100_000],
        run: work::ack_storm,
    },
    Attack {
        name: "X14",
        what: "all data acknowledged at the data level only, then closed; bytes",
        sizes: [40_000, 400_000, 4_000_000],
        run: timers::data_acknowledged,
    },
    Attack {
        name: "X15",
        what: "announced addresses that refuse the join",
        sizes: [30, 300, 3_000],
        run: tables::refused_addresses,
    },
    Attack {
        name: "X16",
        what: "JOIN SYNs with the token, never finished; time is until an honest join is answered",
        sizes: [8, 80, 800],
        run: tables::join_flood,
    },
    Attack {
        name: "X17",
        what: "SYNs a second for eight seconds, backlog 128; answers are honest connects of 20",
        sizes: [500, 5_000, 50_000],
        run: tables::syn_flood,
    },
    Attack {
        name: "heap",
        what: "deadlines that repeatedly move earlier",
        sizes: [100, 1_000, 10_000],
        run: timers::deadline_heap,
    },
    Attack {
        name: "redundant",
        what: "everything on four subflows at MSS 64; bytes",
        sizes: [40_000, 400_000, 4_000_000],
        run: work::redundant,
    },
    Attack {
        name: "sweep",
        what: "SYNs at a full listener with open connections: one in 100 ms",
        sizes: [1_000, 10_000, 100_000],
        run: tables::sweep,
    },
];
