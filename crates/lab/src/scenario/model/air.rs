//! Cells, stations, and who disturbs them.

use mptcp_clock::Duration;
use netsim::QueueLimit;

use super::super::names::{Discipline, Slot, Standard};

/// A wireless interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// The cell.
    pub cell: String,
    /// bit/s on the air; `None` is found by rate control.
    pub rate: Option<u64>,
    /// Metres from the access point.
    pub distance: f64,
    /// How its own queue drops.
    pub discipline: Discipline,
    /// Frames in the device.
    pub ring: u32,
}

/// An access point and its channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its name; no other cell has it.
    pub name: String,
    /// The generation.
    pub standard: Standard,
    /// The channel.
    pub channel: u32,
    /// The node that is the access point.
    pub access_point: String,
    /// The slot time.
    pub slot: Slot,
    /// Whether OFDM frames are announced to 802.11b stations.
    pub protection: bool,
    /// Encryption.
    pub wpa2: bool,
    /// Spatial streams, 1 or 2.
    pub streams: u32,
    /// The short guard interval.
    pub short_guard: bool,
    /// A-MPDU.
    pub aggregation: bool,
    /// The access point's queue.
    pub queue: QueueLimit,
    /// How it drops.
    pub discipline: Discipline,
    /// Transmissions of a frame before it is given up.
    pub retry_limit: u32,
    /// Slots of the contention window of a first transmission.
    pub cw_min: u32,
    /// Slots of the contention window after many collisions.
    pub cw_max: u32,
}

/// Other people's stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    /// Their name.
    pub name: String,
    /// Their cell.
    pub cell: String,
    /// How many.
    pub stations: u32,
    /// Bytes of their IP packets.
    pub frame: u32,
    /// bit/s on the air; `None` is the best of the standard.
    pub rate: Option<u64>,
    /// Mean times with and without something to send; `None` is always.
    pub activity: Option<(Duration, Duration)>,
}

/// How two cells disturb each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// The cells.
    pub cells: [String; 2],
    /// Probability that a station of one hears a transmission of the other.
    pub carrier_sense: f64,
    /// Probability that a transmission of one spoils a reception of the other that it overlaps.
    pub collision: f64,
}
