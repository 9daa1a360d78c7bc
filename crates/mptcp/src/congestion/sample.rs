//! Input of rate-based congestion controllers (BBR): delivery rate samples and reports of lost segments.
//!
//! Owns only value types. The subflow measures the values by draft-cheng-iccrg-delivery-rate-estimation, as
//! in draft-ietf-ccwg-bbr section 4.1.

use mptcp_clock::{Duration, Instant};

/// Type of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// No recovery.
    #[default]
    None,
    /// Fast recovery, after acknowledgements reported losses.
    Fast,
    /// Recovery after a retransmission timeout.
    Timeout,
}

/// Delivery rate sample of an acknowledgement. Amounts are in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Arrival time of the acknowledgement.
    pub now: Instant,
    /// Delivery rate, bytes per second: the smaller of the sending rate and the acknowledgement rate.
    /// `None` if nothing new was delivered, or if the interval is shorter than the minimum RTT.
    pub rate: Option<f64>,
    /// Bytes delivered in the interval of the sample; zero if nothing new was delivered.
    pub delivered: u64,
    /// Total delivered bytes when the last of this data was sent; `None` if nothing new was delivered. A
    /// round ends when this value reaches the total at the start of the round.
    pub delivered_before: Option<u64>,
    /// Total delivered bytes.
    pub total_delivered: u64,
    /// Bytes newly delivered by this acknowledgement.
    pub newly_delivered: u64,
    /// Bytes newly marked lost since the last sample, except by a timeout.
    pub newly_lost: u64,
    /// Bytes marked lost since the last of the delivered data was sent.
    pub lost: u64,
    /// Bytes in flight when the last of the delivered data had been sent, including this data.
    pub in_flight_at_send: u64,
    /// Bytes in flight before this acknowledgement.
    pub in_flight_before: u64,
    /// Bytes in flight after this acknowledgement.
    pub in_flight: u64,
    /// RTT of the last delivered segment; `None` if it was retransmitted, or if nothing new was delivered.
    pub rtt: Option<Duration>,
    /// Whether the sender was application-limited, so that the rate may be too low.
    pub app_limited: bool,
    /// Whether the window was full at some time in the last RTT.
    pub window_limited: bool,
    /// Present type of recovery.
    pub repair: Repair,
    /// Whether the peer sends selective acknowledgements. Without them, most losses are not visible.
    pub selective: bool,
}

/// A segment was marked lost. Amounts are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Time of the detection.
    pub now: Instant,
    /// Length of the segment.
    pub bytes: u64,
    /// Bytes in flight when the segment had been sent, including the segment.
    pub in_flight_at_send: u64,
    /// Bytes marked lost since the segment was sent, including the segment.
    pub lost: u64,
    /// Total delivered bytes.
    pub total_delivered: u64,
    /// Whether the sender was application-limited.
    pub app_limited: bool,
    /// See [`Sample::selective`].
    pub selective: bool,
}
