//! What a cell, its stations and its neighbours are like. Only values.
//!
//! Section numbers are those of IEEE 802.11-2016.

use mptcp_clock::Duration;

use crate::loss::Loss;
use crate::queue_limit::QueueLimit;

/// A cell: an access point and the stations that talk to it, on one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId(pub(crate) u32);

impl CellId {
    /// Its place in the order of creation, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The physical layer of a cell.
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

/// A 20 MHz channel by its number: 1 to 14 lie at 2.4 GHz, 36 and above at 5 GHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel(pub u8);

impl Channel {
    /// Whether the channel lies in the 5 GHz band.
    #[must_use]
    pub const fn is_5_ghz(self) -> bool {
        self.0 >= 36
    }
}

/// What happens to frames that wait too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// Nothing: the queue only refuses what does not fit.
    #[default]
    DropTail,
    /// RFC 8289. A frame is judged, and perhaps dropped, when it moves from the queue into the ring.
    CoDel {
        /// The sojourn time that is accepted for good (RFC 8289: 5 ms).
        target: Duration,
        /// How long it must be exceeded before the first drop (RFC 8289: 100 ms).
        interval: Duration,
    },
}

/// A-MPDU with block acknowledgement (sections 9.7, 10.24): frames for one receiver share one access
/// to the medium, and each of them is acknowledged and repeated on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// At most this many frames, 1 to 64 (the block acknowledgement's window).
    pub max_frames: u32,
    /// At most this many bytes, delimiters and padding included (HT: 65535).
    pub max_bytes: u32,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { max_frames: 32, max_bytes: 65_535 }
    }
}

/// How long the stations of a cell wait after a collision on the air, before they count slots again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionWait {
    /// EIFS = SIFS + an ACK at the lowest basic rate + DIFS (section 10.3.2.3.7).
    #[default]
    Eifs,
    /// The same with an ACK as the spoilt frame would have had it (section 10.3.2.3.7: DynEIFS).
    DynamicEifs,
    /// DIFS, as Bianchi (2000) has it.
    Difs,
}

/// When a backoff counter goes down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Countdown {
    /// By one for each slot that passed idle (DCF, section 10.3.4.3).
    #[default]
    IdleSlots,
    /// By one for each slot that began: the slot in which another station starts counts too. The
    /// slot model of Bianchi (2000).
    EverySlot,
}

/// An access point's cell. [`Self::ideal`] gives the values of a standard.
#[derive(Clone, Debug, PartialEq)]
pub struct CellParameters {
    /// The physical layer.
    pub standard: Standard,
    /// The channel. [`Standard::A`] wants one at 5 GHz, [`Standard::B`] and [`Standard::G`] at 2.4 GHz;
    /// the band gives SIFS (10 or 16 us) and the signal extension (6 us at 2.4 GHz).
    pub channel: Channel,
    /// Slots of 9 us rather than 20 us. 802.11b always has long ones, 5 GHz always short ones.
    pub short_slot: bool,
    /// DSSS preambles of 96 us rather than 192 us.
    pub short_preamble: bool,
    /// 802.11b stations are near: a CTS-to-self goes before each OFDM frame (section 10.3.2.11).
    pub protection: bool,
    /// The DSSS rate of that CTS, in bit/s.
    pub protection_rate: u64,
    /// Spatial streams of 802.11n, 1 or 2.
    pub streams: u8,
    /// The short guard interval of 802.11n, 400 ns.
    pub short_guard: bool,
    /// Aggregation, for 802.11n only.
    pub aggregation: Option<Aggregation>,
    /// WPA2: CCMP adds 16 bytes to each frame (section 12.5.3).
    pub wpa2: bool,
    /// How much the access point holds for all its stations: one FIFO, the ring included.
    pub queue: QueueLimit,
    /// What happens to frames that wait long in it.
    pub discipline: Discipline,
    /// How many frames the access point's card holds ready, at least 1.
    pub ring: u32,
    /// How often a frame is repeated before it is given up; `None` for ever.
    pub retry_limit: Option<u32>,
    /// What follows a collision.
    pub collision_wait: CollisionWait,
    /// When counters go down.
    pub countdown: Countdown,
    /// The contention window at first: a backoff is 0 to this many slots.
    pub cw_min: u32,
    /// The contention window at most.
    pub cw_max: u32,
    /// The highest rate of ACKs, in bit/s: they go at the highest basic rate not above their data's.
    pub max_ack_rate: u64,
    /// Transmission power less all fixed losses, in dBm.
    pub power_dbm: f64,
    /// How steeply signals fade: 2 in free space, 3 to 4 among walls.
    pub path_loss_exponent: f64,
}

impl CellParameters {
    /// The standard's own values, alone in its world: no 802.11b stations near, no encryption, no
    /// aggregation.
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
    /// Why no cell can be like this.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let five = self.channel.is_5_ghz();
        match self.standard {
            Standard::A if !five => Some("802.11a has its channels at 5 GHz (36 and above)"),
            Standard::B | Standard::G if five => Some("802.11b and 802.11g have channels 1 to 14"),
            _ if self.cw_min > self.cw_max => Some("the first contention window is above the last"),
            _ if ![1, 2, 5, 11].contains(&(self.protection_rate / 1_000_000)) => {
                Some("a CTS-to-self goes at 1, 2, 5.5 or 11 Mb/s")
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

/// At which rate frames go between a station and its access point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StationRate {
    /// The standard's highest rate not above this one, in bit/s.
    Fixed(u64),
    /// By rate control.
    #[default]
    Auto,
}

/// A station of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct StationParameters {
    /// The rate of both directions.
    pub rate: StationRate,
    /// Metres to the access point.
    pub distance: f64,
    /// How much the station holds, the ring included.
    pub queue: QueueLimit,
    /// What happens to frames that wait long in its queue.
    pub discipline: Discipline,
    /// How many frames the station's card holds ready, at least 1.
    pub ring: u32,
    /// What is lost for good after the MAC is done, in both directions: failures of cards.
    pub loss: Loss,
    /// Delay after the MAC is done, one way.
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

/// What two cells are to each other, the same in both directions. Probabilities, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coupling {
    /// That a station of one cell senses a transmission of the other; drawn for each of both.
    pub carrier_sense: f64,
    /// That a transmission of one cell destroys a transmission of the other that it overlaps.
    pub collision: f64,
}

/// Stations that only occupy the air: their frames go nowhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// How many.
    pub stations: u32,
    /// The bytes of each of their frames, counted like [`crate::Frame::bytes`].
    pub frame_bytes: u32,
    /// Their rate in bit/s, as in [`StationRate::Fixed`].
    pub rate: u64,
    /// When they have frames.
    pub activity: Activity,
}

/// When a background station has frames to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Always.
    Saturated,
    /// By turns, for exponential times with these means, beginning with silence.
    OnOff {
        /// The mean time with frames.
        on: Duration,
        /// The mean time without.
        off: Duration,
    },
}

/// What a direction's MAC has done so far, and what it is like now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MacCounters {
    /// Accesses to the medium: a frame or an aggregate counts each time that it is sent.
    pub transmissions: u64,
    /// Frames sent again, each time that one is.
    pub retries: u64,
    /// Frames given up.
    pub retry_drops: u64,
    /// Transmissions that another one destroyed.
    pub collisions: u64,
    /// Transmissions that nobody destroyed but in which a frame was too weak to be read.
    pub failures: u64,
    /// Air that its transmissions took, preambles included, acknowledgements not.
    pub airtime: Duration,
    /// The rate of the next transmission, in bit/s.
    pub phy_rate: u64,
    /// Signal to noise, in dB.
    pub snr_db: f64,
    /// Frames that wait or are being sent.
    pub backlog: u64,
}
