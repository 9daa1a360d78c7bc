//! Finds a policer: a token bucket that drops what exceeds its rate, and queues nothing.
//!
//! Flach et al., "An Internet-Wide Analysis of Traffic Policing" (SIGCOMM 2016) compare the tokens at losses with the tokens
//! at other times. `bucket` does the same for each transmission and many rates. A full queue drops packets like a bucket of
//! the link rate, but its packets are late, and an empty bucket delays none.

use super::bucket;
use super::evidence::Case;
use crate::track::Half;

/// A policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    /// Its rate, bytes/s.
    pub(super) rate: f64,
}

/// Least distance of losses and other transmissions, with a confidence of 95%: most losses must find the bucket empty, and
/// most other transmissions must not.
const DISTANCE: f64 = 0.5;
/// Least size of a bucket, in segments: hosts send two segments at once for each delayed acknowledgement, and a bucket of
/// less would explain any loss in them.
const BURST: f64 = 4.0;
/// Delay at losses, as a share of that of a queue with the rate and size of the bucket, at most.
const DELAY: f64 = 0.5;
/// Rate of a policer as a share of that of the link, at most. The capacity is known to about a tenth.
const BELOW: f64 = 0.85;

/// A policer on the path of a subflow.
pub(super) fn find(case: &Case<'_>, number: usize) -> Option<Policer> {
    let half: &Half = &case.subflow(number).halves[case.side];
    let capacity = half.capacity().filter(|_| half.has_measured_capacity());
    let most = capacity.map_or(f64::INFINITY, |capacity| BELOW * capacity);
    let found = bucket::fit(half.transmissions.all(), BURST * half.segment_size() as f64, most)?;
    // Many rates explain a few bursts, and that of the link delays packets least.
    let link = capacity.and_then(|capacity| bucket::at(half.transmissions.all(), capacity));
    let queue = link.filter(|link| link.fit >= found.fit && !half.uses_echoes).unwrap_or(found);
    let queueing = bucket::queueing(half.transmissions.all()).unwrap_or(0.0);
    let is_policer = found.least_fit() > DISTANCE && queueing < DELAY * queue.size / queue.rate;
    is_policer.then_some(Policer { rate: found.rate })
}
