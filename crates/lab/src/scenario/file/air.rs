//! The tables of cells, stations, and who disturbs them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::{Discipline, Slot, Standard};
use super::super::units::{Distance, LineRate, Percent, QueueSize, Size, Span};

table! {
    /// An access point and its stations' common channel (IEEE 802.11-2016, DCF).
    CellTable {
        /// The generation. Default: 802.11g.
        standard: Standard,
        /// The channel: 1 to 14 at 2.4 GHz, 36 and above at 5 GHz. Default: 1, or 36 for 802.11a.
        channel: u32,
        /// The node that is the access point. Default: the name of the cell.
        access_point: String,
        /// The slot time. Default: short.
        slot: Slot,
        /// Whether OFDM frames are announced by a CTS-to-self that 802.11b stations hear. Default: false.
        protection: bool,
        /// Whether frames are encrypted (WPA2, CCMP): 16 bytes more. Default: false.
        wpa2: bool,
        /// Spatial streams of 802.11n, 1 or 2. Default: 2.
        streams: u32,
        /// The short guard interval of 802.11n. Default: false.
        short_guard: bool,
        /// Whether 802.11n aggregates frames (A-MPDU). Default: true.
        aggregation: bool,
        /// The queue of the access point, common to its stations. Default: 100p.
        queue: QueueSize,
        /// How that queue drops. Default: droptail.
        discipline: Discipline,
        /// Transmissions of a frame before it is given up, 1 to 255. Default: 7.
        retry_limit: u32,
        /// The contention window of a first transmission: a backoff is 0 to this many slots, 0 to 1023. Default: 15, or 31 for 802.11b.
        cw_min: u32,
        /// The contention window after many collisions, at least `cw_min`; equal to it, no collision lengthens a backoff. At most 32767. Default: 1023.
        cw_max: u32,
    }
}

table! {
    /// A wireless interface of a host.
    StationTable {
        /// The host. Default: client.
        host: String,
        /// The cell. Default: the only one.
        cell: String,
        /// The rate on the air, both ways; found by rate control if not given.
        rate: LineRate,
        /// How far it is from the access point. Default: 3m.
        distance: Distance,
        /// The host's own queue: `txqueuelen` and the device ring, as Linux holds them. Default: 1000p.
        queue: QueueSize,
        /// How that queue drops. Default: droptail.
        discipline: Discipline,
        /// How many of its frames are in the device, out of reach of the discipline; no
        /// aggregate is longer. Default: 2, or 64 with aggregation.
        ring: u32,
        /// Residual loss: frames that the card loses though the air did not. Default: 0%.
        loss: Percent,
        /// Further delay, one way. Default: 0s.
        delay: Span,
        /// The largest IP packet in bytes, 68 to 2290. Default: 1500.
        mtu: u32,
        /// Whether it works at the start. Default: true.
        up: bool,
    }
}

table! {
    /// Other people's stations.
    BackgroundTable {
        /// The cell that they disturb. Default: the only one.
        cell: String,
        /// How many, 1 to 100. Default: 1.
        stations: u32,
        /// The IP packets that they send. Default: 1500B.
        frame: Size,
        /// Their rate on the air. Default: the best of the standard.
        rate: LineRate,
        /// The mean time for which one has something to send. Default: always.
        on: Span,
        /// The mean time for which it has nothing. Default: 0s.
        off: Span,
    }
}

table! {
    /// How two cells disturb each other.
    CouplingTable {
        /// The two cells. Needed.
        cells: Vec<String>,
        /// How often a station of one hears a transmission of the other. Needed.
        carrier_sense: Percent,
        /// How often a transmission of one spoils a reception of the other that it overlaps. Needed.
        collision: Percent,
    }
}
