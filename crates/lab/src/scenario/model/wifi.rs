//! Resolved WiFi parameters: cells, stations, background stations and couplings.
//!
//! Resolved means: defaults are filled in, names are checked, and values have base units. Tables of the
//! scenario file (`file`) have optional keys and values with units instead. `resolve` creates these types
//! from the tables, and the network builder reads them.
//!
//! A cell is an access point with its channel. A station is the WiFi interface of a host. Background stations
//! only occupy the channel; they carry no flow of the scenario. A coupling is the interference between two
//! cells.

use mptcp_clock::Duration;
use netsim::QueueLimit;

use super::super::names::{Discipline, Slot, Standard};

/// A WiFi interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// The cell.
    pub cell: String,
    /// PHY rate, bit/s; `None` for rate control.
    pub rate: Option<u64>,
    /// Distance from the access point, metres.
    pub distance: f64,
    /// Drop policy of its queue.
    pub discipline: Discipline,
    /// Size of the device ring, frames.
    pub ring: u32,
}

/// An access point and its channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Unique name.
    pub name: String,
    /// The standard.
    pub standard: Standard,
    /// The channel.
    pub channel: u32,
    /// The node that is the access point.
    pub access_point: String,
    /// The slot time.
    pub slot: Slot,
    /// CTS-to-self before OFDM frames, for 802.11b stations.
    pub protection: bool,
    /// Encryption with WPA2.
    pub wpa2: bool,
    /// Spatial streams, 1 or 2.
    pub streams: u32,
    /// The short guard interval.
    pub short_guard: bool,
    /// A-MPDU.
    pub aggregation: bool,
    /// Queue limit of the access point.
    pub queue: QueueLimit,
    /// Drop policy of this queue.
    pub discipline: Discipline,
    /// Maximum number of transmissions of a frame.
    pub retry_limit: u32,
    /// Initial contention window, slots.
    pub cw_min: u32,
    /// Maximum contention window, slots.
    pub cw_max: u32,
}

/// Background stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    /// Name.
    pub name: String,
    /// Cell.
    pub cell: String,
    /// Number of stations.
    pub stations: u32,
    /// Length of their IP packets, bytes.
    pub frame: u32,
    /// PHY rate, bit/s; `None` is the highest of the standard.
    pub rate: Option<u64>,
    /// Mean durations of on and off periods; `None` is always on.
    pub activity: Option<(Duration, Duration)>,
}

/// Interference between two cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// The cells.
    pub cells: [String; 2],
    /// Probability that a station of one cell senses a transmission of the other.
    pub carrier_sense: f64,
    /// Probability that a transmission of one cell corrupts an overlapping reception in the other.
    pub collision: f64,
}
