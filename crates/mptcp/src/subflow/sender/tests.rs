//! Tests of a subflow's sender: loss detection, recovery, undo and RTT samples, one rule each.

mod found;
mod probes;
mod repeated;
mod silent;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};

use super::{Ack, Range, Recovery, Sender, Spurious, SpuriousLoss};
use crate::congestion::{
    Acked, Bbr, Congestion, CongestionControl, CouplingScope, Lost, Path, Reno, Sample, SlowStart,
};

const MSS: u64 = 1000;

/// A sender on one path with an RTT of 100 ms.
struct Rig {
    now: Instant,
    sender: Sender,
    congestion: Congestion,
}

impl Rig {
    fn new(sack: bool, rack: bool) -> Self {
        let mut sender = Sender::new(Duration::from_millis(200), 10_000, SpuriousLoss::default());
        sender.synchronised(1, sack, rack);
        let mut congestion =
            Congestion::new(Box::new(Reno), None, true, CouplingScope::All, SlowStart::Standard);
        congestion.add_path(MSS, 20);
        congestion.paths[0].sample(Duration::from_millis(100));
        congestion.set_active(0, true);
        Self { now: Instant::ZERO + Duration::from_secs(1), sender, congestion }
    }

    /// Replaces the controller as the connection does.
    fn take_over(&mut self, algorithm: impl CongestionControl + 'static) {
        self.congestion.set_algorithm(Box::new(algorithm));
        let sampled = self.congestion.needs_samples();
        self.sender.enable_rate_samples(sampled, 0, &mut self.congestion);
    }

    fn send(&mut self, segments: u64) {
        for _ in 0..segments {
            let data = self.sender.board.next - 1;
            let path = &self.congestion.paths[0];
            self.sender.send(self.now, data, Bytes::from(vec![0; MSS as usize]), false, path);
        }
    }

    /// Segments are counted from 0. Blocks name segments, `left..right`.
    fn ack(&mut self, up_to: u64, blocks: &[Range]) {
        let blocks: Vec<Range> = blocks.iter().map(|b| (1 + b.0 * MSS, 1 + b.1 * MSS)).collect();
        let ack = Ack {
            now: self.now,
            number: 1 + up_to * MSS,
            blocks: &blocks,
            echo: None,
            bare: true,
            empty: true,
            echoes: false,
        };
        self.sender.on_ack(ack, 0, &mut self.congestion);
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        if self.sender.deadline() <= self.now {
            self.sender.on_deadline(self.now, 0, &mut self.congestion);
        }
    }

    fn retransmit(&mut self) -> Option<u64> {
        self.sender.retransmit(self.now, &self.congestion.paths[0], 0).map(|sent| (sent.start - 1) / MSS)
    }

    fn cwnd(&self) -> u64 {
        self.congestion.paths[0].cwnd / MSS
    }

    fn ssthresh(&self) -> u64 {
        self.congestion.paths[0].ssthresh / MSS
    }

    fn time_out(&mut self) {
        self.now = self.sender.rto_deadline;
        self.sender.probe_deadline = Instant::FAR_FUTURE;
        assert!(self.sender.on_deadline(self.now, 0, &mut self.congestion));
    }
}

#[test]
fn a_delayed_acknowledgement_with_a_block_is_not_reordering() {
    let mut rig = Rig::new(true, true);
    rig.send(10);
    rig.wait(100);
    // The acknowledgement of 0 was delayed, 1 was lost, 2 arrived.
    rig.ack(1, &[(2, 3)]);
    assert!(!rig.sender.rack.as_ref().is_some_and(|rack| rack.reordering_seen));
    rig.ack(1, &[(2, 5)]);
    assert_eq!(rig.retransmit(), Some(1), "three later segments have arrived: lost at once");
}

#[test]
fn a_segment_that_was_overtaken_is_reordering() {
    let mut rig = Rig::new(true, true);
    rig.send(4);
    rig.wait(100);
    rig.ack(0, &[(1, 3)]);
    rig.ack(3, &[]);
    assert!(rig.sender.rack.as_ref().is_some_and(|rack| rack.reordering_seen));
}

#[test]
fn a_timeout_in_recovery_does_not_halve_again() {
    let mut rig = Rig::new(true, true);
    rig.send(20);
    rig.wait(100);
    rig.ack(0, &[(1, 5)]);
    assert!(rig.sender.in_recovery());
    assert_eq!(rig.ssthresh(), 10);
    rig.time_out();
    assert_eq!((rig.ssthresh(), rig.cwnd()), (10, 1));
    // Nothing has arrived since: the same loss event.
    rig.time_out();
    assert_eq!((rig.ssthresh(), rig.cwnd()), (10, 1));
}

#[test]
fn data_that_the_peer_discards_after_a_report_is_retransmitted() {
    let mut rig = Rig::new(true, true);
    rig.send(4);
    rig.wait(100);
    rig.ack(0, &[(1, 4)]);
    assert_eq!(rig.retransmit(), Some(0));
    // Only the first segment is acknowledged, although the others were reported before.
    rig.ack(1, &[]);
    rig.time_out();
    let retransmitted: Vec<u64> = std::iter::from_fn(|| {
        rig.congestion.paths[0].cwnd = 10 * MSS;
        rig.retransmit()
    })
    .collect();
    assert_eq!(retransmitted, [1, 2, 3]);
}

#[test]
fn without_sack_a_partial_acknowledgement_retransmits_the_next_hole() {
    let mut rig = Rig::new(false, false);
    rig.send(20);
    rig.wait(100);
    // 0, 5 and 10 are lost: 17 duplicates.
    for _ in 0..17 {
        rig.ack(0, &[]);
    }
    assert_eq!(rig.retransmit(), Some(0));
    rig.wait(100);
    rig.ack(5, &[]);
    assert_eq!(rig.retransmit(), Some(5), "{:?}", rig.sender);
    rig.wait(100);
    rig.ack(10, &[]);
    assert_eq!(rig.retransmit(), Some(10));
    rig.wait(100);
    rig.ack(20, &[]);
    assert_eq!((rig.sender.state, rig.cwnd()), (Recovery::Open, 10));
    assert_eq!((rig.sender.in_flight(), rig.sender.recoveries, rig.sender.timeouts), (0, 1, 0));
}

#[test]
fn a_retransmission_in_the_batch_makes_the_rtt_ambiguous() {
    let mut rig = Rig::new(false, false);
    rig.send(10);
    rig.wait(100);
    for _ in 0..9 {
        rig.ack(0, &[]);
    }
    assert_eq!(rig.retransmit(), Some(0));
    rig.wait(400);
    let before = rig.congestion.paths[0].srtt;
    rig.ack(10, &[]);
    assert_eq!(
        rig.congestion.paths[0].srtt, before,
        "Karn: no RTT sample from segments that waited for a retransmission"
    );
}

#[test]
fn the_acknowledgement_that_ends_a_recovery_does_not_count_a_window_again() {
    let mut rig = Rig::new(true, true);
    rig.send(20);
    rig.wait(100);
    rig.ack(0, &[(1, 20)]);
    assert_eq!(rig.retransmit(), Some(0));
    rig.wait(100);
    rig.ack(20, &[]);
    assert_eq!(rig.sender.state, Recovery::Open);
    assert_eq!(
        rig.congestion.paths[0].cwnd,
        10 * MSS,
        "the window is the threshold: data counted before adds no growth"
    );
}

/// Fills a window of ten segments in congestion avoidance, and sends two acknowledgements of two segments
/// each. Returns the growth of the window in bytes.
fn growth(rests_between: bool) -> u64 {
    let mut rig = Rig::new(true, true);
    rig.send(10);
    let full = rig.sender.in_flight();
    let state = &mut rig.congestion.paths[0];
    (state.cwnd, state.ssthresh) = (full, full);
    rig.wait(100);
    rig.ack(2, &[]);
    if rests_between {
        rig.congestion.on_rest();
    }
    rig.ack(4, &[]);
    rig.congestion.paths[0].cwnd - full
}

#[test]
fn acknowledgements_that_arrive_together_see_a_full_window() {
    // Reno adds a tenth of a segment for each acknowledged segment.
    assert!((2 * MSS / 5 - 10..=2 * MSS / 5).contains(&growth(false)), "{}", growth(false));
    assert_eq!(growth(true), MSS / 5, "no data was sent between them");
}

#[test]
fn a_controller_without_samples_sets_a_threshold_during_recovery() {
    let mut rig = Rig::new(true, true);
    rig.take_over(Bbr::default());
    rig.send(20);
    rig.wait(100);
    rig.ack(0, &[(1, 12)]);
    assert!(rig.sender.in_recovery());
    assert_eq!(rig.congestion.paths[0].ssthresh, u64::MAX, "controllers with samples have no threshold");
    rig.take_over(Reno);
    assert!(rig.ssthresh() <= 20, "{}", rig.ssthresh());
    assert_eq!(rig.retransmit(), Some(0));
    rig.wait(100);
    rig.ack(20, &[]);
    assert_eq!(rig.sender.state, Recovery::Open);
    assert!(rig.cwnd() <= rig.ssthresh() + 1, "{} {}", rig.cwnd(), rig.ssthresh());
}

/// A controller that stores the losses that it is notified of, in bytes.
#[derive(Debug, Default)]
struct Told(Arc<AtomicU64>);

impl CongestionControl for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    fn on_lost(&mut self, _paths: &mut [Path], _path: usize, lost: &Lost) {
        self.0.fetch_add(lost.bytes, Relaxed);
    }

    fn on_sample(&mut self, _paths: &mut [Path], _path: usize, sample: &Sample) {
        self.0.fetch_add(sample.newly_lost, Relaxed);
    }
}

#[test]
fn losses_without_congestion_are_not_reported() {
    let told = Arc::new(AtomicU64::new(0));
    // A path MTU probe alone.
    let mut rig = Rig::new(true, true);
    rig.take_over(Told(Arc::clone(&told)));
    rig.send(1);
    rig.sender.mtu_probe_sent(MSS, 1500);
    rig.send(10);
    rig.wait(100);
    rig.ack(0, &[(1, 11)]);
    assert_eq!((rig.sender.board.lost, told.load(Relaxed)), (MSS, 0));
    // Segments that are too large for the path MTU in an ICMP error.
    let mut rig = Rig::new(true, true);
    rig.take_over(Told(Arc::clone(&told)));
    rig.send(10);
    rig.sender.cut_larger(MSS / 2);
    rig.wait(100);
    rig.ack(1, &[]);
    assert_eq!((rig.sender.board.lost, told.load(Relaxed)), (9 * MSS, 0));
    // Retransmissions on a silent path that are given up when the peer responds.
    let mut rig = Rig::new(true, true);
    rig.take_over(Told(Arc::clone(&told)));
    rig.send(10);
    rig.time_out();
    let before = told.load(Relaxed);
    assert!(rig.retransmit().is_some());
    rig.sender.revive(rig.now, &rig.congestion.paths[0]);
    rig.ack(0, &[]);
    // Losses of a timeout are reported one by one, and not with the next acknowledgement.
    assert_eq!((before, told.load(Relaxed)), (10 * MSS, 10 * MSS));
}

#[test]
fn retransmissions_before_a_spurious_timeout_can_be_lost_again() {
    let mut rig = Rig::new(true, true);
    rig.sender.spurious = Spurious::new(SpuriousLoss { undo: false, frto: true });
    rig.send(10);
    rig.time_out();
    assert_eq!(rig.retransmit(), Some(0));
    rig.wait(100);
    rig.ack(1, &[]);
    assert!(rig.sender.spurious.abandon_frto_trial());
    assert_eq!((rig.retransmit(), rig.retransmit()), (Some(1), Some(2)));
    rig.time_out();
    rig.ack(2, &[]);
    rig.ack(2, &[(5, 6)]);
    assert_eq!(rig.sender.state, Recovery::Disorder, "segment 5 was sent once: timeout undone");
    rig.send(3);
    rig.wait(100);
    rig.ack(2, &[(10, 13), (5, 6)]);
    assert_eq!(rig.retransmit(), Some(2));
}
