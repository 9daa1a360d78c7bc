//! Parameters of 802.11 cells, stations and background stations, which [`crate::Network`] takes when it adds
//! them.
//!
//! Owns the defaults, and the check that the values of a cell fit together. Section numbers refer to IEEE
//! 802.11-2016. A *ring* holds the frames that left the interface queue for the device.

use mptcp_clock::Duration;

use crate::loss::Loss;
use crate::queue_limit::QueueLimit;

/// A cell: an access point and its stations on one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub(crate) u32);

impl CellId {
    /// The index in the order of creation, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The physical layer standard of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b, DSSS and CCK at 2.4 GHz: 1 to 11 Mb/s (clause 16).
    B,
    /// 802.11a, OFDM at 5 GHz: 6 to 54 Mb/s (clause 17).
    A,
    /// 802.11g, OFDM at 2.4 GHz: 6 to 54 Mb/s (clause 18).
    G,
    /// 802.11n, HT at 20 MHz in either band: MCS 0 to 15 (clause 19).
    N,
}

/// A 20 MHz channel by number: 1 to 14 at 2.4 GHz, 36 and above at 5 GHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel(pub u8);

impl Channel {
    /// Whether the channel lies in the 5 GHz band.
    #[must_use]
    pub const fn is_5_ghz(self) -> bool {
        self.0 >= 36
    }
}

/// Drop policy of an interface queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// Drop-tail.
    #[default]
    DropTail,
    /// CoDel (RFC 8289). A frame is checked when it moves from the queue into the ring.
    CoDel {
        /// Acceptable queueing delay (RFC 8289: 5 ms).
        target: Duration,
        /// Time above `target` before the first drop (RFC 8289: 100 ms).
        interval: Duration,
    },
}

/// A-MPDU with block acknowledgement (sections 9.7, 10.24): frames for one receiver share one medium access.
/// Each frame is acknowledged and retried individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Maximum number of frames, 1 to 64 (window of the block acknowledgement).
    pub max_frames: u32,
    /// Maximum length in bytes, including delimiters and padding (HT: 65535).
    pub max_bytes: u32,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { max_frames: 32, max_bytes: 65_535 }
    }
}

/// Waiting time of the stations of a cell after a collision, before the backoff resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionWait {
    /// EIFS = SIFS + an ACK at the lowest basic rate + DIFS (section 10.3.2.3.7).
    #[default]
    Eifs,
    /// EIFS with an ACK at the rate that the destroyed frame would have had (section 10.3.2.3.7: DynEIFS).
    DynamicEifs,
    /// DIFS, as in Bianchi (2000).
    Difs,
}

/// The slots that decrement a backoff counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Countdown {
    /// Each idle slot (DCF, section 10.3.4.3).
    #[default]
    IdleSlots,
    /// Each slot, including one in which another station starts: the slot model of Bianchi (2000).
    EverySlot,
}

/// Parameters of a cell. [`Self::ideal`] has the values of a standard.
#[derive(Clone, Debug, PartialEq)]
pub struct CellParameters {
    /// The physical layer.
    pub standard: Standard,
    /// The channel. [`Standard::A`] requires 5 GHz, [`Standard::B`] and [`Standard::G`] 2.4 GHz. The band
    /// determines SIFS (10 or 16 us) and the signal extension (6 us at 2.4 GHz).
    pub channel: Channel,
    /// Slots of 9 us instead of 20 us. 802.11b always uses long slots, 5 GHz always short ones.
    pub short_slot: bool,
    /// DSSS preambles of 96 us instead of 192 us.
    pub short_preamble: bool,
    /// Whether a CTS-to-self precedes each OFDM frame, for 802.11b stations (section 10.3.2.11).
    pub protection: bool,
    /// The DSSS rate of this CTS-to-self, in bit/s.
    pub protection_rate: u64,
    /// Spatial streams of 802.11n, 1 or 2.
    pub streams: u8,
    /// The short guard interval of 802.11n, 400 ns.
    pub short_guard: bool,
    /// Aggregation, for 802.11n only.
    pub aggregation: Option<Aggregation>,
    /// WPA2: CCMP adds 16 bytes to each frame (section 12.5.3).
    pub wpa2: bool,
    /// Queue limit of the access point for all its stations, including the ring.
    pub queue: QueueLimit,
    /// Drop policy of this queue.
    pub discipline: Discipline,
    /// Size of the ring of the access point in frames, at least 1.
    pub ring: u32,
    /// Maximum number of retries of a frame; `None` is unlimited.
    pub retry_limit: Option<u32>,
    /// Waiting time after a collision.
    pub collision_wait: CollisionWait,
    /// The slots that decrement backoff counters.
    pub countdown: Countdown,
    /// Minimum contention window: the first backoff is 0 to this number of slots.
    pub cw_min: u32,
    /// Maximum contention window, in slots.
    pub cw_max: u32,
    /// Maximum rate of ACKs, bit/s. ACKs use the highest basic rate not above the data rate.
    pub max_ack_rate: u64,
    /// Transmission power minus all fixed losses, dBm.
    pub power_dbm: f64,
    /// Path loss exponent: 2 in free space, 3 to 4 indoors.
    pub path_loss_exponent: f64,
}

impl CellParameters {
    /// The values of a standard, without 802.11b stations, encryption and aggregation.
    #[must_use]
    pub const fn ideal(standard: Standard) -> Self {
        let five = matches!(standard, Standard::A);
        let b = matches!(standard, Standard::B);
        Self {
            standard,
            channel: Channel(if five { 36 } else { 1 }),
            short_slot: !b,
            short_preamble: false,
            protection: false,
            protection_rate: 11_000_000,
            streams: 1,
            short_guard: false,
            aggregation: None,
            wpa2: false,
            queue: QueueLimit::Packets(1000),
            discipline: Discipline::DropTail,
            ring: 32,
            retry_limit: Some(7),
            collision_wait: CollisionWait::Eifs,
            countdown: Countdown::IdleSlots,
            cw_min: if b { 31 } else { 15 },
            cw_max: 1023,
            max_ack_rate: if b { 11_000_000 } else { 24_000_000 },
            power_dbm: 16.0,
            path_loss_exponent: 3.0,
        }
    }
}

impl CellParameters {
    /// The inconsistency of the parameters, if any.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let five = self.channel.is_5_ghz();
        match self.standard {
            Standard::A if !five => Some("802.11a requires a channel at 5 GHz (36 and above)"),
            Standard::B | Standard::G if five => Some("802.11b and 802.11g require a channel from 1 to 14"),
            _ if self.cw_min > self.cw_max => Some("cw_min must be at most cw_max"),
            _ if ![1, 2, 5, 11].contains(&(self.protection_rate / 1_000_000)) => {
                Some("protection_rate must be 1, 2, 5.5 or 11 Mb/s")
            }
            _ if self.channel.0 == 0 || (15..36).contains(&self.channel.0) => Some("no such channel"),
            _ if self.aggregation.is_some() && self.standard != Standard::N => {
                Some("only 802.11n aggregates frames")
            }
            _ => None,
        }
    }
}

impl Default for CellParameters {
    fn default() -> Self {
        Self::ideal(Standard::G)
    }
}

/// The rate between a station and its access point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StationRate {
    /// The highest rate of the standard not above this one, bit/s.
    Fixed(u64),
    /// The rate that rate control chooses.
    #[default]
    Auto,
}

/// Parameters of a station.
#[derive(Clone, Debug, PartialEq)]
pub struct StationParameters {
    /// The rate of both directions.
    pub rate: StationRate,
    /// Metres to the access point.
    pub distance: f64,
    /// Queue limit of the station, including the ring.
    pub queue: QueueLimit,
    /// Drop policy of its queue.
    pub discipline: Discipline,
    /// Size of the ring of the station in frames, at least 1.
    pub ring: u32,
    /// Residual loss after the MAC, in both directions, such as device failures.
    pub loss: Loss,
    /// One-way delay after the MAC.
    pub delay: Duration,
    /// Whether the station is on and associated.
    pub up: bool,
}

impl Default for StationParameters {
    fn default() -> Self {
        Self {
            rate: StationRate::Auto,
            distance: 3.0,
            queue: QueueLimit::Packets(1000),
            discipline: Discipline::DropTail,
            ring: 32,
            loss: Loss::None,
            delay: Duration::ZERO,
            up: true,
        }
    }
}

/// Symmetric coupling of two cells, as probabilities from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coupling {
    /// Probability that a station of one cell senses a transmission of the other.
    pub carrier_sense: f64,
    /// Probability that a transmission of one cell destroys an overlapping transmission of the other.
    pub collision: f64,
}

/// Background stations. They load the medium; their frames have no receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// Number of stations.
    pub stations: u32,
    /// Length of their frames in bytes, as in [`crate::Frame::bytes`].
    pub frame_bytes: u32,
    /// Their rate in bit/s, as in [`StationRate::Fixed`].
    pub rate: u64,
    /// Their traffic.
    pub activity: Activity,
}

/// Traffic of a background station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Saturated: it always has frames.
    Saturated,
    /// On-off: exponentially distributed periods, starting with an off period.
    OnOff {
        /// Mean on period.
        on: Duration,
        /// Mean off period.
        off: Duration,
    },
}

/// MAC counters of a direction, and its current state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MacCounters {
    /// Medium accesses: transmissions of frames or aggregates.
    pub transmissions: u64,
    /// Retransmissions of frames.
    pub retries: u64,
    /// Frames given up.
    pub retry_drops: u64,
    /// Transmissions destroyed by collisions.
    pub collisions: u64,
    /// Transmissions without collision in which a frame was too weak.
    pub failures: u64,
    /// Airtime of its transmissions, with preambles and without acknowledgements.
    pub airtime: Duration,
    /// Rate of the next transmission, bit/s.
    pub phy_rate: u64,
    /// Signal-to-noise ratio, dB.
    pub snr_db: f64,
    /// Frames queued or in service.
    pub backlog: u64,
}
