//! The tables `cells`, `stations`, `background` and `coupling` of a scenario file, which describe WiFi.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::{Discipline, Slot, Standard};
use super::super::units::{Distance, LineRate, Percent, QueueSize, Size, Span};

table! {
    /// A WiFi cell: an access point and its stations on one channel (IEEE 802.11-2016, DCF).
    CellTable {
        /// The standard. Default: 802.11g.
        standard: Standard,
        /// The channel number: 1 to 14 at 2.4 GHz, 36 to 177 at 5 GHz. Default: 1; 36 for 802.11a.
        channel: u32,
        /// The node that is the access point. Default: the name of the cell.
        access_point: String,
        /// The slot time. Default: short; long for 802.11b.
        slot: Slot,
        /// Sends a CTS-to-self before OFDM frames, for 802.11b stations. Default: false.
        protection: bool,
        /// Encrypts frames with WPA2 (CCMP), which adds 16 bytes per frame. Default: false.
        wpa2: bool,
        /// Number of spatial streams of 802.11n, 1 or 2. Default: 2.
        streams: u32,
        /// The short guard interval of 802.11n. Default: false.
        short_guard: bool,
        /// Frame aggregation of 802.11n (A-MPDU). Default: true.
        aggregation: bool,
        /// Limit of the access point queue, which all stations share. Default: 100p.
        queue: QueueSize,
        /// Drop policy of the access point queue. Default: droptail.
        discipline: Discipline,
        /// Maximum number of transmissions of a frame, 1 to 255. Default: 7.
        retry_limit: u32,
        /// Contention window of the first transmission, 0 to 1023 slots. The backoff is uniform between 0 and
        /// this value. Default: 15; 31 for 802.11b.
        cw_min: u32,
        /// Maximum contention window after collisions, `cw_min` to 32767 slots. If equal to `cw_min`, the
        /// window never grows. Default: 1023.
        cw_max: u32,
    }
}

table! {
    /// A WiFi interface of a host.
    StationTable {
        /// The host. Default: client.
        host: String,
        /// The cell. Required if there are several.
        cell: String,
        /// PHY rate in both directions. Default: chosen by rate control.
        rate: LineRate,
        /// Distance from the access point. Default: 3m.
        distance: Distance,
        /// Limit of the interface queue in the host, including the device ring (Linux: txqueuelen). Default:
        /// 1000p.
        queue: QueueSize,
        /// Drop policy of the interface queue. Default: droptail.
        discipline: Discipline,
        /// Number of frames in the device ring, 1 to 100000. The discipline cannot drop frames in the ring,
        /// and no aggregate is longer than the ring. Default: 2; 64 with aggregation.
        ring: u32,
        /// Residual frame loss in the receiver, after 802.11 retransmissions. Default: 0%.
        loss: Percent,
        /// Extra one-way delay. Default: 0s.
        delay: Span,
        /// The largest IP packet, 68 to 2290 bytes. Default: 1500.
        mtu: u32,
        /// Whether the station is up at the start. Default: true.
        up: bool,
    }
}

table! {
    /// A group of competing WiFi stations.
    BackgroundTable {
        /// The cell of these stations. Required if there are several.
        cell: String,
        /// Number of stations, 1 to 100. Default: 1.
        stations: u32,
        /// Size of their IP packets, 28B to 2290B. Default: 1500B.
        frame: Size,
        /// PHY rate. Default: the highest of the standard.
        rate: LineRate,
        /// Mean duration of an on period of a station. Default: always on.
        on: Span,
        /// Mean duration of an off period. Default: 0s.
        off: Span,
    }
}

table! {
    /// Interference between two cells.
    CouplingTable {
        /// The two cells. Required.
        cells: Vec<String>,
        /// Probability that a station of one cell senses a transmission of the other. Required.
        carrier_sense: Percent,
        /// Probability that a transmission of one cell corrupts an overlapping reception in the other.
        /// Required.
        collision: Percent,
    }
}
