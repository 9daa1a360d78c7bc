//! Support for rate-based controllers: restarts after idle, and pacing.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use mptcp::Config;
use mptcp::congestion::{Acked, CongestionControl, Path, Sample};
use mptcp_clock::{Duration, Instant};

use crate::pair::{Fate, Pair};

/// A controller with a fixed window in segments and a fixed pacing rate in bytes per second, which counts
/// restarts.
#[derive(Debug)]
struct Fixed {
    segments: u64,
    pace: f64,
    restarts: Arc<AtomicU64>,
}

impl CongestionControl for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    fn on_sample(&mut self, paths: &mut [Path], path: usize, _sample: &Sample) {
        let state = &mut paths[path];
        (state.cwnd, state.pacing) = (self.segments * state.mss, Some(self.pace));
    }

    fn on_restart(&mut self, _paths: &mut [Path], _path: usize, _now: Instant, _idle: Duration) {
        self.restarts.fetch_add(1, Relaxed);
    }
}

/// A path of 10 ms, after one byte that sets window and pacing rate.
fn pair(segments: u64, pace: f64) -> (Pair, Arc<AtomicU64>) {
    let restarts = Arc::new(AtomicU64::new(0));
    let mut pair = Pair::builder().seed(2).links(&[10]).config(Config::tcp()).connect();
    let fixed = Fixed { segments, pace, restarts: Arc::clone(&restarts) };
    pair.client.set_policies(pair.connection, Some(Box::new(fixed)), None);
    pair.run(Duration::from_millis(100));
    pair.client.write(pair.now, pair.connection, Bytes::from_static(b"a"));
    pair.run(Duration::from_secs(1));
    pair.keep_log = true;
    (pair, restarts)
}

/// Data segments that were sent.
fn left(pair: &Pair) -> usize {
    pair.log.iter().filter(|(_, to_server, _, segment)| *to_server && !segment.payload.is_empty()).count()
}

#[test]
fn one_segment_window_does_not_restart_after_idle_with_each_segment() {
    let (mut pair, restarts) = pair(1, 1e9);
    restarts.store(0, Relaxed);
    let data = crate::pair::pattern(20_000);
    pair.client.write(pair.now, pair.connection, Bytes::from(data));
    pair.run(Duration::from_secs(1));
    assert_eq!(pair.received[0].len(), 20_001);
    assert_eq!(restarts.load(Relaxed), 1, "after the pause, and not where nothing but the window was full");
}

#[test]
fn probe_and_first_retransmission_after_a_timeout_are_not_paced() {
    // 1.5 segments per second.
    let (mut pair, _) = pair(10, 1000.0);
    pair.rule = Box::new(|_, _, _| Fate::Drop);
    pair.client.write(pair.now, pair.connection, Bytes::from(vec![0; 1400]));
    pair.run(Duration::from_millis(300));
    assert_eq!(left(&pair), 2, "the tail loss probe, 240 ms later");
    pair.run(Duration::from_millis(300));
    assert_eq!(left(&pair), 3, "the timeout, a quarter of a second later");
}
