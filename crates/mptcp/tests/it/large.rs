//! Segments larger than a frame, for devices with segmentation offload.

use std::sync::{Arc, Mutex};

use crate::pair::{Fate, Pair, frames, pattern};
use bytes::Bytes;
use mptcp::congestion::{Acked, CongestionControl, Path, Sample};
use mptcp::{Config, InterfaceId};
use mptcp_clock::Duration;
use mptcp_wire::{Mapping, Segment};

const FRAME: usize = 1420;

/// A pair with segmentation offload of up to 60,000 bytes. `lost` are the numbers of data frames that the
/// first path drops.
fn pair(latency: &[u64], client: Config, lost: &'static [usize]) -> Pair {
    let mut pair = Pair::builder().seed(1).links(latency).client(client).connect();
    // The subflow of the handshake exists already; those of further paths follow.
    for path in 0..latency.len() {
        pair.client.set_gso_max(InterfaceId(path as u32), 60_000);
    }
    let mut count = 0;
    pair.rule = Box::new(move |to_server, path, segment| {
        if !to_server || path == 0 || segment.payload.is_empty() {
            return Fate::Deliver;
        }
        let mut kept = Vec::new();
        for frame in frames(segment, FRAME) {
            if !lost.contains(&count) {
                kept.push(frame);
            }
            count += 1;
        }
        Fate::Several(kept)
    });
    pair.keep_log = true;
    pair
}

/// Data sent on the second path.
fn sent(pair: &Pair) -> Vec<&Segment> {
    let log =
        pair.log.iter().filter(|(_, to_server, path, s)| *to_server && *path == 1 && !s.payload.is_empty());
    log.map(|(.., segment)| segment).collect()
}

fn mapping(segment: &Segment) -> Mapping {
    segment.options.dss.and_then(|dss| dss.mapping).expect("data has a mapping")
}

/// Frames of one mapping are sent in one segment, up to the window.
#[test]
fn several_frames_are_sent_as_one_segment() {
    let mut pair = pair(&[20, 10], Config::default(), &[]);
    let data = pattern(2_000_000);
    pair.transfer(&data, Duration::from_secs(20));
    assert_eq!(pair.received[0], data);
    let sent = sent(&pair);
    let largest = sent.iter().map(|segment| segment.payload.len()).max().unwrap();
    assert_eq!(largest, 60_000 / FRAME * FRAME);
    assert!(sent.iter().all(|s| usize::from(mapping(s).length) == s.payload.len()));
}

/// Only the lost frames of a large segment are retransmitted, with the original mapping. Another mapping
/// would be invalid (RFC 8684 section 3.3.1).
#[test]
fn lost_frame_is_retransmitted_alone() {
    for checksum in [false, true] {
        let config = Config { checksum, ..Config::default() };
        let mut pair = pair(&[20, 10], config, &[200, 201, 390]);
        let data = pattern(2_000_000);
        pair.transfer(&data, Duration::from_secs(20));
        assert_eq!(pair.received[0], data);
        let sent = sent(&pair);
        let parts: Vec<&&Segment> =
            sent.iter().filter(|s| usize::from(mapping(s).length) > s.payload.len()).collect();
        let bytes: usize = parts.iter().map(|segment| segment.payload.len()).sum();
        assert!(!parts.is_empty() && bytes <= 4 * FRAME, "{bytes} bytes again");
        for part in parts {
            assert!(sent.iter().any(|s| mapping(s) == mapping(part) && s.sequence != part.sequence));
        }
    }
}

/// Data sent in large segments by one path is reinjected in frames by a path without offload.
#[test]
fn large_segment_is_reinjected_frame_by_frame() {
    let mut pair = pair(&[20, 10], Config::default(), &[]);
    pair.run(Duration::from_secs(1));
    pair.client.write(pair.now, pair.connection, Bytes::from(pattern(50_000)));
    pair.run(Duration::from_secs(1));
    // From here on, the second path accepts everything and delivers nothing.
    pair.rule = Box::new(|_, path, _| if path == 1 { Fate::Drop } else { Fate::Deliver });
    let data = pattern(400_000);
    pair.log.clear();
    pair.client.write(pair.now, pair.connection, Bytes::from(data.clone()));
    pair.run(Duration::from_secs(10));
    assert_eq!(pair.received[0][50_000..], data);
    let large = sent(&pair).iter().filter(|s| s.payload.len() > FRAME).count();
    assert!(large > 0, "the path that died had large segments");
    let carried = pair.log.iter().filter(|(_, to_server, path, _)| *to_server && *path == 0);
    assert!(carried.clone().all(|(.., s)| s.payload.len() <= FRAME));
    assert!(carried.filter(|(.., s)| !s.payload.is_empty()).count() > 200);
}

/// A window of 100 frames and a pacing rate that fills it in bursts of two, and the resulting samples.
#[derive(Debug, Default)]
struct Rows(Arc<Mutex<Vec<Sample>>>);

impl CongestionControl for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        let state = &mut paths[path];
        (state.cwnd, state.quantum, state.pacing) = (100 * state.mss, 2 * state.mss, Some(1e8));
        // The first path has no offload.
        if path == 1 {
            self.0.lock().expect("no panic").push(*sample);
        }
    }
}

/// Bursts wait for space for a burst, not for a large segment: the window is filled, and the samples report
/// it.
#[test]
fn paced_path_fills_its_window_in_bursts() {
    let samples = Arc::new(Mutex::new(Vec::new()));
    let mut pair = pair(&[20, 10], Config::default(), &[]);
    pair.client.set_policies(pair.connection, Some(Box::new(Rows(Arc::clone(&samples)))), None);
    pair.transfer(&pattern(2_000_000), Duration::from_secs(20));
    let samples = samples.lock().expect("no panic");
    let settled = &samples[samples.len() / 2..samples.len() * 3 / 4];
    let most = settled.iter().map(|sample| sample.in_flight_before).max().expect("there are some");
    assert!(most >= 97 * FRAME as u64, "{most}");
    let full = settled.iter().filter(|sample| sample.window_limited).count();
    assert!(full * 10 > settled.len() * 9, "{full} of {}", settled.len());
}
