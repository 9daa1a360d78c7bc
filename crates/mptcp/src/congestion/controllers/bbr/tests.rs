//! Tests of BBR version 1: one rule of draft-cardwell-iccrg-bbr-congestion-control-00 each.

use super::*;

const MSS: u64 = 1000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

/// A path of 1 MB/s and 100 ms: a bandwidth-delay product of 100 kB.
fn known(mode: Mode) -> (PathMemory, Path) {
    let mut path = PathMemory {
        mode,
        min_rtt: Some(ms(100)),
        min_rtt_at: at(1000),
        measured: true,
        ..PathMemory::default()
    };
    path.rates.update(RATE_ROUNDS, 0, 1e6);
    let mut state = Path::new(MSS, 10);
    (state.srtt, state.min_rtt) = (Some(ms(100)), Some(ms(100)));
    (path, state)
}

fn sample(now: u64) -> Sample {
    Sample { now: at(now), rate: Some(1e6), delivered_before: Some(0), selective: true, ..Sample::default() }
}

/// Section 4.2.3.2: rate times RTT times gain. Linux adds three quanta, and two segments while probing.
#[test]
fn inflight_target_is_the_bdp_plus_an_aggregation_allowance() {
    let (mut path, mut state) = known(Mode::Startup);
    assert_eq!(path.inflight(&state, 1.0), 100_000 + 3_000);
    assert_eq!(path.inflight(&state, HIGH_GAIN), 288_500 + 3_000);
    state.quantum = 4_000;
    assert_eq!(path.inflight(&state, 2.0), 200_000 + 12_000);
    path.mode = Mode::ProbeBw;
    assert_eq!(path.inflight(&state, 1.25), 125_000 + 12_000 + 2_000);
    path.phase = 1;
    assert_eq!(path.inflight(&state, 1.0), 100_000 + 12_000);
    path.min_rtt = None;
    assert_eq!(path.inflight(&state, 9.0), 10_000, "ten segments before anything is known");
}

#[test]
fn each_mode_has_its_pacing_gain() {
    let gain = |mode, phase| PathMemory { mode, phase, ..PathMemory::default() }.pacing_gain();
    assert_eq!(gain(Mode::Startup, 0), 2.885);
    assert!((gain(Mode::Drain, 0) - 0.3466).abs() < 1e-4);
    assert_eq!(gain(Mode::ProbeRtt, 0), 1.0);
    assert_eq!([0, 1, 2, 7].map(|phase| gain(Mode::ProbeBw, phase)), [1.25, 0.75, 1.0, 1.0]);
}

/// Section 4.1.1: a round ends when data that was sent after its start arrives. Application-limited samples
/// do not lower the rate.
#[test]
fn rate_filter_expires_by_rounds_and_ignores_application_limited_samples() {
    let mut path = PathMemory::default();
    let mut take = |before, in_all, rate, app_limited| {
        path.update_rate(&Sample {
            delivered_before: Some(before),
            total_delivered: in_all,
            rate: Some(rate),
            app_limited,
            ..Sample::default()
        });
        (path.round_start, path.rounds, path.rates.get())
    };
    assert_eq!(take(0, 10_000, 5e5, true), (true, 1, 5e5));
    assert_eq!(take(9_999, 20_000, 4e5, false), (false, 1, 5e5));
    assert_eq!(take(10_000, 30_000, 6e5, true), (true, 2, 6e5));
    // The rate is valid for ten rounds; then the later maximum applies.
    for round in 3..=12 {
        assert_eq!(take(10_000 * round, 10_000 * (round + 1), 3e5, round == 5), (true, round, 6e5));
    }
    assert_eq!(take(130_000, 140_000, 3e5, false), (true, 13, 3e5));
    for round in 14..40 {
        assert_eq!(take(10_000 * round, 10_000 * (round + 1), 1e5, true), (true, round, 3e5));
    }
    path.update_rate(&Sample { delivered_before: None, rate: Some(9e9), ..Sample::default() });
    assert!(!path.round_start && path.rates.get() < 9e9, "nothing has arrived");
}

/// Section 4.2.2: three rounds without a growth of 25%.
#[test]
fn pipe_is_full_when_the_rate_stops_growing() {
    let pipe_full = |rates: &[f64], app_limited| {
        let mut path = PathMemory { round_start: true, ..PathMemory::default() };
        rates.iter().position(|&rate| {
            path.rounds += 1;
            path.rates.update(RATE_ROUNDS, path.rounds, rate);
            path.check_full(&Sample { app_limited, ..Sample::default() });
            path.pipe_full
        })
    };
    assert_eq!(pipe_full(&[100.0, 124.0, 124.0, 124.0, 124.0], false), Some(3));
    assert_eq!(
        pipe_full(&[100.0, 124.0, 124.0, 125.0, 125.0, 125.0, 125.0], false),
        Some(6),
        "growth of 25% restarts the count"
    );
    assert_eq!(pipe_full(&[100.0; 20], true), None);
    let mut path = PathMemory { round_start: false, ..PathMemory::default() };
    (0..20).for_each(|_| path.check_full(&Sample::default()));
    assert!(!path.pipe_full && path.full_rounds == 0);
}

/// Section 4.2.3.1, `IsNextCyclePhase`.
#[test]
fn phase_lasts_an_rtt_and_the_first_two_depend_on_the_inflight() {
    let over = |phase, waited: u64, newly_lost, in_flight_before| {
        let (path, state) = known(Mode::ProbeBw);
        let path = PathMemory { phase, phase_at: at(2000), ..path };
        path.is_phase_over(&state, &Sample { newly_lost, in_flight_before, ..sample(2000 + waited) })
    };
    // Up: for one RTT, and until 125 kB and 5 kB are in flight or something is lost.
    assert_eq!(
        [(100, 0, 900_000), (101, 0, 129_999), (101, 0, 130_000), (101, 1, 0), (100, 1, 0)]
            .map(|(waited, lost, before)| over(0, waited, lost, before)),
        [false, false, true, true, false]
    );
    // Down: until at most the bandwidth-delay product and 3 kB are in flight, or for one RTT.
    assert_eq!(
        [(1, 103_001), (1, 103_000), (100, 900_000), (101, 900_000)]
            .map(|(waited, before)| over(1, waited, 0, before)),
        [false, true, false, true]
    );
    // Other phases: for one RTT.
    assert_eq!([100, 101].map(|waited| over(2, waited, 1, 0)), [false, true]);
}

/// Section 4.2.3.3: starts in any phase but the draining one.
#[test]
fn cycle_starts_in_any_phase_but_draining() {
    let (mut jitter, mut seen) = (JitterRng::default(), [0; CYCLE.len()]);
    for number in 0..700 {
        let mut path = PathMemory::default();
        path.enter_probe_bw(at(number * 7), &mut jitter);
        assert_eq!((path.mode, path.phase_at), (Mode::ProbeBw, at(number * 7)));
        seen[path.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(
        seen.iter().enumerate().all(|(phase, &times)| phase == 1 || (60..145).contains(&times)),
        "{seen:?}"
    );
}

/// Sections 4.1.2 and 4.2.4: ten seconds without a lower sample; then four segments for 200 ms and one round.
#[test]
fn probe_rtt_starts_after_ten_seconds() {
    let (mut path, mut state) = known(Mode::ProbeBw);
    (path.pipe_full, state.cwnd) = (true, 150_000);
    let mut jitter = JitterRng::default();
    let rtt = |now, rtt, in_flight| Sample { rtt: Some(ms(rtt)), in_flight, delivered: 1, ..sample(now) };
    path.update_min_rtt(&mut state, &rtt(11_000, 120, 90_000), &mut jitter);
    assert_eq!((path.mode, path.min_rtt, path.min_rtt_at), (Mode::ProbeBw, Some(ms(100)), at(1000)));
    path.update_min_rtt(&mut state, &rtt(11_001, 120, 90_000), &mut jitter);
    assert_eq!((path.mode, path.min_rtt, path.min_rtt_at), (Mode::ProbeRtt, Some(ms(120)), at(11_001)));
    assert!(state.held_back && path.prior == 150_000 && path.probe_ends.is_none());
    // The time starts when at most four segments are in flight.
    path.update_min_rtt(&mut state, &rtt(11_050, 120, 4_001), &mut jitter);
    assert_eq!(path.probe_ends, None);
    path.update_min_rtt(&mut state, &rtt(11_100, 90, 4_000), &mut jitter);
    assert_eq!((path.probe_ends, path.min_rtt), (Some(at(11_300)), Some(ms(90))));
    path.round_start = false;
    path.update_min_rtt(&mut state, &rtt(11_400, 90, 4_000), &mut jitter);
    assert_eq!(path.mode, Mode::ProbeRtt, "no round is over");
    path.round_start = true;
    path.update_min_rtt(&mut state, &rtt(11_250, 90, 4_000), &mut jitter);
    assert_eq!(path.mode, Mode::ProbeRtt, "a round alone is not enough");
    (path.round_start, state.cwnd) = (false, 4_000);
    path.update_min_rtt(&mut state, &rtt(11_301, 90, 4_000), &mut jitter);
    assert_eq!((path.mode, path.min_rtt_at, state.cwnd), (Mode::ProbeBw, at(11_301), 150_000));
    assert!(!state.held_back);
}

#[test]
fn idle_restart_skips_probe_rtt_and_startup_continues_after_it() {
    let mut jitter = JitterRng::default();
    let late = Sample { rtt: Some(ms(110)), ..sample(20_000) };
    let (mut path, mut state) = known(Mode::ProbeBw);
    path.idle_restart = true;
    path.update_min_rtt(&mut state, &late, &mut jitter);
    assert_eq!((path.mode, path.min_rtt, path.idle_restart), (Mode::ProbeBw, Some(ms(110)), true));
    path.update_min_rtt(&mut state, &Sample { delivered: 1, ..sample(20_001) }, &mut jitter);
    assert!(!path.idle_restart, "something has arrived");
    let (mut path, mut state) = known(Mode::ProbeRtt);
    (path.probe_ends, path.probe_round) = (Some(at(1_500)), true);
    path.update_min_rtt(&mut state, &Sample { rtt: Some(ms(100)), ..sample(1_501) }, &mut jitter);
    assert_eq!(path.mode, Mode::Startup);
}

/// Section 4.2.1: before the pipe is full, the pacing rate only rises; 99% of the rate, as Linux.
#[test]
fn pacing_rate_only_rises_until_the_pipe_is_full() {
    let (mut path, mut state) = known(Mode::Startup);
    path.set_pacing(&mut state, 2.0);
    assert_eq!(state.pacing, Some(1_980_000.0));
    path.set_pacing(&mut state, 1.0);
    assert_eq!(state.pacing, Some(1_980_000.0));
    path.set_pacing(&mut state, 2.5);
    assert_eq!(state.pacing, Some(2_475_000.0));
    path.pipe_full = true;
    path.set_pacing(&mut state, 0.5);
    assert_eq!(state.pacing, Some(495_000.0));
    // Initially 2.885 windows per RTT, or per millisecond before the first RTT sample.
    let (_, mut state) = known(Mode::Startup);
    let mut fresh = PathMemory::default();
    fresh.init_pacing(&mut state);
    assert!(fresh.measured && (state.pacing.unwrap_or(0.0) - 0.99 * 2.885 * 100_000.0).abs() < 1e-6);
    state.srtt = None;
    fresh.init_pacing(&mut state);
    assert!(!fresh.measured && (state.pacing.unwrap_or(0.0) - 0.99 * 2.885 * 10_000_000.0).abs() < 1e-3);
}

/// Section 4.2.3.4: one round of packet conservation; the window is restored after recovery.
#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let (mut path, mut state) = known(Mode::ProbeBw);
    (path.pipe_full, state.cwnd, path.phase) = (true, 150_000, 2);
    path.save_window(&state);
    let repair = |in_flight, newly_lost| Sample {
        repair: Repair::Fast,
        in_flight,
        newly_delivered: 1_000,
        newly_lost,
        total_delivered: 500_000,
        ..sample(2000)
    };
    path.set_window(&mut state, &repair(80_000, 3_000));
    assert_eq!((state.cwnd, path.round_end), (81_000, 500_000));
    path.set_window(&mut state, &repair(82_000, 0));
    assert_eq!(state.cwnd, 83_000, "as much as was delivered");
    path.set_window(&mut state, &repair(70_000, 2_000));
    assert_eq!(state.cwnd, 81_000, "losses reduce the window");
    // After that round, the window grows as usual, except for losses.
    path.packet_conservation = false;
    path.set_window(&mut state, &repair(70_000, 500));
    assert_eq!(state.cwnd, 81_500);
    // Recovery is over.
    path.set_window(&mut state, &Sample { newly_delivered: 1_000, ..sample(2100) });
    assert_eq!(state.cwnd, 151_000);
    // During recovery, the larger window is saved.
    let (mut path, mut state) = known(Mode::ProbeBw);
    (path.repair, path.prior) = (Repair::Fast, 90_000);
    path.save_window(&state);
    assert_eq!(path.prior, 90_000);
    state.cwnd = 95_000;
    path.save_window(&state);
    assert_eq!(path.prior, 95_000);
    (path.repair, state.cwnd) = (Repair::None, 5_000);
    path.save_window(&state);
    assert_eq!(path.prior, 5_000);
    (path.mode, state.cwnd) = (Mode::ProbeRtt, 4_000);
    path.save_window(&state);
    assert_eq!(path.prior, 5_000);
}

/// Section 4.2.3: the congestion window.
#[test]
fn window_grows_by_delivered_bytes_up_to_its_target() {
    let window = |pipe_full, cwnd, newly_delivered, in_all| {
        let (mut path, mut state) = known(Mode::ProbeBw);
        (path.pipe_full, path.phase, state.cwnd) = (pipe_full, 2, cwnd);
        path.set_window(&mut state, &Sample { newly_delivered, total_delivered: in_all, ..sample(2000) });
        state.cwnd
    };
    assert_eq!(window(true, 100_000, 2_000, 1 << 20), 102_000);
    assert_eq!(window(true, 202_000, 2_000, 1 << 20), 203_000, "twice 100 kB and 3 kB");
    assert_eq!(window(true, 900_000, 2_000, 1 << 20), 203_000);
    assert_eq!(window(false, 202_000, 2_000, 1 << 20), 204_000);
    assert_eq!(window(false, 203_000, 2_000, 1 << 20), 203_000);
    assert_eq!(window(false, 203_000, 2_000, 9_999), 205_000, "the first ten segments");
    assert_eq!(window(true, 1_000, 1_000, 1 << 20), 4_000, "four segments");
    assert_eq!(window(true, 1_000, 0, 1 << 20), 1_000, "nothing has arrived");
    let (mut path, mut state) = known(Mode::ProbeRtt);
    state.cwnd = 50_000;
    path.set_window(&mut state, &sample(2000));
    assert_eq!(state.cwnd, 4_000);
}
