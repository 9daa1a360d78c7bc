//! What a controller is told that works by the rate at which data arrives. Only values.
//!
//! How they are measured: draft-cheng-iccrg-delivery-rate-estimation, as draft-ietf-ccwg-bbr section 4.1 has it.

use mptcp_clock::{Duration, Instant};

/// What is repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    #[default]
    None,
    /// What acknowledgements told lost: fast recovery.
    Fast,
    /// What the retransmission timer took for lost.
    Timeout,
}

/// What an acknowledgement says of how fast a path delivers. Amounts are in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// When it came.
    pub now: Instant,
    /// Bytes a second between the sending of what has arrived last and its arrival: not faster than it was sent, nor than it was
    /// acknowledged. None where nothing new has arrived, or in less time than any round trip took.
    pub rate: Option<f64>,
    /// What arrived in that time; zero where nothing new has.
    pub delivered: u64,
    /// All that had arrived when the last of it was sent; None where nothing new has arrived. A round trip is over when this
    /// reaches what had arrived at its beginning.
    pub delivered_before: Option<u64>,
    /// All that has arrived.
    pub delivered_in_all: u64,
    /// What has arrived by this acknowledgement.
    pub newly_delivered: u64,
    /// What was found lost since the last one, but for what a timeout took for lost.
    pub newly_lost: u64,
    /// What was found lost since the last of what has arrived was sent.
    pub lost: u64,
    /// What was under way when that had been sent, with itself.
    pub in_flight_then: u64,
    /// What was under way before this acknowledgement, and what is now.
    pub in_flight_before: u64,
    /// See [`Self::in_flight_before`].
    pub in_flight: u64,
    /// The round trip of the last that has arrived, if it was sent once.
    pub rtt: Option<Duration>,
    /// There was less to send than the path might have taken, so that the rate says little.
    pub app_limited: bool,
    /// The window was full at some time in the last round trip.
    pub window_limited: bool,
    /// What is repaired now.
    pub repair: Repair,
    /// The peer acknowledges selectively: without that few losses of many are seen.
    pub selective: bool,
}

/// A segment was found lost. Amounts are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When it was found.
    pub now: Instant,
    /// Its length.
    pub bytes: u64,
    /// What was under way when it had been sent, with itself.
    pub in_flight_then: u64,
    /// What was found lost since it was sent, with itself.
    pub lost: u64,
    /// All that has arrived.
    pub delivered_in_all: u64,
    /// There was less to send than the path might have taken.
    pub app_limited: bool,
    /// See [`Sample::selective`].
    pub selective: bool,
}
