//! Queue disciplines on a wire: order, shares, drops and marks. Every frame is in exactly one place.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant, Rng};
use netsim::{
    By, Change, CoDel, CoDelQueue, Codepoint, DualPi2, DualPi2Queue, Event, Excess, FqCoDel, FqCoDelQueue,
    Frame, LinkId, Network, Parameters, Pie, PieQueue, Prio, PrioQueue, QueueDiscipline, QueueKind,
    QueueLimit, Rate, Red, RedQueue, RoundRobin, RoundRobinQueue, TokenBucket, TokenBucketQueue, Trace,
};

use crate::common::{ms, us};

fn kind<D: QueueDiscipline + 'static>(name: &str, make: impl Fn() -> D + Send + Sync + 'static) -> QueueKind {
    QueueKind::new(name, move || Box::new(make()))
}

fn turns(by: By, quantum: Option<u32>, limit: u64) -> QueueKind {
    let settings = RoundRobin { by, limit: QueueLimit::Packets(limit), quantum };
    kind("turns", move || RoundRobinQueue::new(settings))
}

fn red() -> Red {
    Red {
        limit: QueueLimit::Bytes(60_000),
        min: 5_000,
        max: 15_000,
        probability: 0.1,
        avpkt: 1000,
        burst: 10,
        ecn: false,
        harddrop: false,
        gentle: false,
    }
}

fn bucket(excess: Excess) -> QueueKind {
    let rate = Rate::new(800_000).expect("a rate");
    let settings = TokenBucket { rate, burst: 3_000, limit: QueueLimit::Packets(1000), excess };
    kind("bucket", move || TokenBucketQueue::new(settings))
}

fn all() -> Vec<QueueKind> {
    let codel = CoDel { ecn: true, ..CoDel::default() };
    vec![
        kind("codel", move || CoDelQueue::new(codel)),
        kind("fq_codel", || FqCoDelQueue::new(FqCoDel { flows: 4, ..FqCoDel::default() })),
        kind("red", || RedQueue::new(red())),
        kind("pie", || PieQueue::new(Pie::default())),
        kind("dualpi2", || DualPi2Queue::new(DualPi2::default())),
        kind("prio", || {
            let bands = Arc::new([(1..2, 0), (2..3, 1)]);
            PrioQueue::new(Prio { bands, limit: QueueLimit::Packets(20) })
        }),
        turns(By::Flow, Some(1514), 20),
        turns(By::Port, None, 20),
        bucket(Excess::Waits),
        bucket(Excess::Drops),
    ]
}

/// A link of 8 Mb/s (1 us per byte) with a discipline.
struct Bench {
    network: Network<u64>,
    link: LinkId,
    to: netsim::AddressId,
    sent: u64,
}

impl Bench {
    fn new(discipline: Option<QueueKind>, seed: u64) -> Self {
        let mut network = Network::new(seed);
        let (a, b) = (network.add_host(), network.add_host());
        let line = Parameters { rate: Rate::new(8_000_000), discipline, ..Parameters::default() };
        let link = network.add_link("line", a, b, line.clone(), line).expect("a link");
        let to = network.add_address(b, None).expect("an address");
        Self { network, link, to, sent: 0 }
    }

    fn send(&mut self, at: Instant, class: u32, bytes: u32, ecn: Codepoint) {
        let frame =
            Frame { bytes, destination: self.to, label: Frame::label_of(class, 0), ecn, payload: self.sent };
        self.sent += 1;
        self.network.send(at, self.link.forward(), frame);
    }

    /// Arrivals: time in us, class, bytes and mark.
    fn arrivals(&mut self, until: Instant) -> Vec<(u64, u32, u32, Codepoint)> {
        let events = std::iter::from_fn(|| self.network.next_until(until));
        let arrived = events.filter_map(|(at, event)| match event {
            Event::Arrived { frame, .. } => {
                Some((at.as_nanos() / 1000, frame.class(), frame.bytes, frame.ecn))
            }
            _ => None,
        });
        arrived.collect()
    }
}

#[test]
fn one_row_under_a_discipline_is_a_plain_queue() {
    let run = |discipline: Option<QueueKind>| {
        let mut bench = Bench::new(discipline, 3);
        let mut random = Rng::new(9, "traffic");
        let (mut now, mut arrived) = (Instant::ZERO, Vec::new());
        for _ in 0..2000 {
            now += Duration::from_micros(random.below(2_000));
            arrived.extend(bench.arrivals(now));
            bench.send(now, 1, 60 + random.below(1400) as u32, Codepoint::NotEct);
        }
        arrived.extend(bench.arrivals(now + Duration::from_secs(10)));
        (arrived, bench.network.counters(bench.link.forward()))
    };
    let plain = run(None);
    assert_eq!(run(Some(turns(By::Flow, Some(1514), 1000))), plain);
    let large =
        FqCoDel { codel: CoDel { target: Duration::from_secs(9), ..CoDel::default() }, ..FqCoDel::default() };
    assert_eq!(run(Some(kind("large", move || FqCoDelQueue::new(large)))), plain);
}

#[test]
fn every_frame_is_in_one_place_whatever_happens_to_the_link() {
    for discipline in all() {
        for seed in 0..8 {
            let mut bench = Bench::new(Some(discipline.clone()), seed);
            let forward = bench.link.forward();
            let mut random = Rng::new(seed, "traffic");
            let mut arrived = 0;
            let mut now = Instant::ZERO;
            bench.network.keep_lost(true);
            let mut lost = 0;
            for step in 0..3000 {
                now += Duration::from_micros(random.below(900));
                arrived += bench.arrivals(now).len() as u64;
                lost += bench.network.lost().count() as u64;
                let ecn = [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1][random.below(3) as usize];
                bench.send(now, random.below(4) as u32, 60 + random.below(1455) as u32, ecn);
                let change = match random.below(200) {
                    0 => Some(Change::Up(false)),
                    1..=3 => Some(Change::Up(true)),
                    4 => Some(Change::Rate(Rate::new(1_000_000 + random.below(9_000_000)))),
                    5 => Some(Change::Delay(Duration::from_micros(random.below(5_000)))),
                    _ => None,
                };
                if let Some(change) = change {
                    bench.network.schedule_change(now, forward, change);
                }
                if step % 100 == 0 {
                    let c = bench.network.counters(forward);
                    assert!(c.backlog_frames <= c.offered_frames);
                }
            }
            bench.network.schedule_change(now, forward, Change::Up(true));
            arrived += bench.arrivals(now + Duration::from_secs(100)).len() as u64;
            lost += bench.network.lost().count() as u64;
            let c = bench.network.counters(forward);
            let what = discipline.identity();
            assert_eq!((c.offered_frames, c.delivered_frames), (3000, arrived), "{what}, seed {seed}");
            assert_eq!(arrived + lost, 3000, "{what}, seed {seed}: {c:?}");
            assert_eq!(c.dropped_frames + c.flushed_frames, lost, "{what}, seed {seed}");
            assert_eq!((c.backlog_frames, c.backlog_bytes), (0, 0), "{what}, seed {seed}");
        }
    }
}

/// Bytes per second of two saturated flows with these frame lengths.
fn shares(discipline: QueueKind, bytes: [u32; 2]) -> [u64; 2] {
    let mut bench = Bench::new(Some(discipline), 1);
    for at in 0..2000 {
        for (class, bytes) in bytes.into_iter().enumerate() {
            bench.send(us(at * 500), class as u32 + 1, bytes, Codepoint::NotEct);
        }
    }
    let mut got = [0; 2];
    for (_, class, bytes, _) in bench.arrivals(ms(1000)) {
        got[class as usize - 1] += u64::from(bytes);
    }
    got
}

#[test]
fn deficit_round_robin_shares_bytes_and_turns_share_packets() {
    let [small, large] = shares(turns(By::Flow, Some(1514), 50), [300, 1500]);
    assert!(small.abs_diff(large) < 3_100, "{small} {large}");
    let [small, large] = shares(turns(By::Flow, None, 50), [300, 1500]);
    assert!((5 * small).abs_diff(large) < 3_100, "{small} {large}");
}

#[test]
fn turns_by_port_divide_a_line_among_links_not_flows() {
    let mut network: Network<u32> = Network::new(1);
    let (one, two, end) = (network.add_host(), network.add_host(), network.add_host());
    let router = network.add_router();
    let fast = Parameters { rate: Rate::new(100_000_000), ..Parameters::default() };
    let discipline = Some(turns(By::Port, None, 10));
    let slow = Parameters { rate: Rate::new(8_000_000), discipline, ..Parameters::default() };
    let lines = [one, two].map(|host| {
        network
            .add_link(&format!("{}", host.index()), host, router, fast.clone(), fast.clone())
            .expect("a link")
    });
    network.add_link("out", router, end, slow.clone(), slow).expect("a link");
    let destination = network.add_address(end, None).expect("an address");
    let mut got = [0_u32; 3];
    for at in 0..1000 {
        // The first host has two flows.
        for (flow, line) in [(0, lines[0]), (1, lines[0]), (2, lines[1])] {
            let label = Frame::label_of(flow, 0);
            let frame = Frame { bytes: 1000, destination, label, ecn: Codepoint::NotEct, payload: flow };
            network.send(ms(at), line.forward(), frame);
        }
        while let Some((_, event)) = network.next_until(ms(at)) {
            if let Event::Arrived { frame, .. } = event {
                got[frame.payload as usize] += 1;
            }
        }
    }
    assert!((got[0] + got[1]).abs_diff(got[2]) <= 1, "{got:?}");
}

#[test]
fn strict_priority_lets_the_first_band_go_first() {
    let bands = Arc::new([(7..8, 0)]);
    let prio = Prio { bands, limit: QueueLimit::Packets(100) };
    let mut bench = Bench::new(Some(kind("prio", move || PrioQueue::new(prio.clone()))), 1);
    for class in [1, 2, 7, 1, 7] {
        bench.send(ms(0), class, 1000, Codepoint::NotEct);
    }
    let order: Vec<u32> = bench.arrivals(ms(100)).into_iter().map(|(_, class, ..)| class).collect();
    // The first one was already in service.
    assert_eq!(order, [1, 7, 7, 2, 1]);
}

#[test]
fn a_shaper_lets_a_burst_through_and_then_its_rate() {
    let mut bench = Bench::new(Some(bucket(Excess::Waits)), 1);
    for _ in 0..6 {
        bench.send(ms(0), 1, 1000, Codepoint::NotEct);
    }
    let times: Vec<u64> = bench.arrivals(ms(1000)).into_iter().map(|(at, ..)| at).collect();
    // 3000 bytes at 8 Mb/s, the rest at 0.8 Mb/s: 10 ms each, plus 1 ms on the link.
    assert_eq!(times, [1_000, 2_000, 3_000, 11_000, 21_000, 31_000]);
}

#[test]
fn a_policer_drops_what_comes_too_fast_and_delays_nothing() {
    let mut bench = Bench::new(Some(bucket(Excess::Drops)), 1);
    for at in 0..100 {
        bench.send(ms(at), 1, 1000, Codepoint::NotEct);
    }
    let arrived = bench.arrivals(ms(1000));
    // The bucket and the tokens since: 3000 bytes, plus 100 per millisecond.
    assert_eq!(arrived.len(), 12);
    assert!(arrived.iter().all(|(at, ..)| at % 1000 == 0));
}

#[test]
fn codel_drops_at_distances_that_shrink_by_the_root_of_their_number() {
    let mut bench = Bench::new(Some(kind("codel", || CoDelQueue::new(CoDel::default()))), 1);
    bench.network.keep_lost(true);
    let mut lost: Vec<f64> = Vec::new();
    for at in 0..3_000 {
        // Twice the capacity of the link.
        bench.arrivals(us(at * 500));
        lost.extend(
            bench
                .network
                .lost()
                .filter(|one| one.cause == netsim::Cause::Discipline)
                .map(|one| one.at.as_secs_f64()),
        );
        bench.send(us(at * 500), 1, 1000, Codepoint::NotEct);
    }
    // Above 5 ms after about 10 ms, then for an interval of 100 ms.
    assert!((0.105..0.125).contains(&lost[0]), "{lost:?}");
    for (number, pair) in lost.windows(2).take(30).enumerate() {
        let law = 0.1 / f64::from(number as u32 + 1).sqrt();
        assert!((pair[1] - pair[0] - law).abs() < 0.0025, "{number}: {} {law}", pair[1] - pair[0]);
    }
}

#[test]
fn a_sparse_flow_beside_a_full_one_waits_for_one_frame_at_most() {
    let delay = |discipline: QueueKind| {
        let mut bench = Bench::new(Some(discipline), 1);
        for at in 0..4_000 {
            bench.send(us(at * 500), 1, 1000, Codepoint::NotEct);
            if at % 40 == 7 {
                bench.send(us(at * 500), 2, 100, Codepoint::NotEct);
            }
        }
        let arrived: Vec<u64> = bench
            .arrivals(ms(4_000))
            .iter()
            .filter(|(_, class, ..)| *class == 2)
            .map(|(at, ..)| *at)
            .collect();
        arrived.iter().enumerate().map(|(n, at)| at - (n as u64 * 20_000 + 3_500)).max().unwrap_or(u64::MAX)
    };
    let fq = kind("fq_codel", || FqCoDelQueue::new(FqCoDel::default()));
    assert!(delay(fq) <= 1_100, "a frame in service and its own");
    assert!(delay(turns(By::Flow, Some(1514), 1000)) <= 2_700);
}

#[test]
fn red_drops_by_the_average_and_marks_what_may_be_marked() {
    let run = |ecn: Codepoint, settings: Red| {
        let mut bench = Bench::new(Some(kind("red", move || RedQueue::new(settings))), 1);
        // A steady overload of 12.5%.
        for at in 0..20_000_u64 {
            bench.send(us(at * 889), 1, 1000, ecn);
        }
        let c = bench.network.counters(bench.link.forward());
        (c.dropped_frames as f64 / 20_000.0, c.marked_frames, c.max_backlog_bytes)
    };
    let (dropped, marked, most) = run(Codepoint::Ect0, red());
    // The excess is dropped, the queue stays near the thresholds, and there are no marks.
    assert!((0.10..0.13).contains(&dropped), "{dropped}");
    assert_eq!(marked, 0);
    assert!(most < 25_000, "{most}");
    let (dropped, marked, most) = run(Codepoint::Ect0, Red { ecn: true, ..red() });
    // Unresponsive traffic fills the queue: all packets are marked, and the limit drops.
    assert!(marked > 10_000 && dropped > 0.08 && most > 55_000, "{dropped} {marked} {most}");
    let (dropped, marked, _) = run(Codepoint::NotEct, Red { ecn: true, ..red() });
    assert!(marked == 0 && (0.10..0.13).contains(&dropped), "{dropped} {marked}");
}

#[test]
fn pie_holds_the_delay_of_what_does_not_listen() {
    let mut bench = Bench::new(Some(kind("pie", || PieQueue::new(Pie::default()))), 1);
    let mut sent = Vec::new();
    for at in 0..60_000_u64 {
        sent.push(at * 800);
        bench.send(us(at * 800), 1, 1000, Codepoint::NotEct);
    }
    let counters = bench.network.counters(bench.link.forward());
    let dropped = counters.dropped_frames as f64 / 60_000.0;
    assert!((0.18..0.22).contains(&dropped), "{dropped}");
    // 48 s of 20% overload. A queue of 40 ms would be 40 kB; the target is 15 ms.
    assert!((5_000..30_000).contains(&counters.backlog_bytes), "{}", counters.backlog_bytes);
}

#[test]
fn dualpi2_marks_scalable_packets_early_and_leaves_the_others_their_share() {
    let share = |protection: f64| {
        let settings = DualPi2 { classic_protection: protection, ..DualPi2::default() };
        let mut bench = Bench::new(Some(kind("dualpi2", move || DualPi2Queue::new(settings))), 1);
        // Each type alone would fill the link; the controller has hardly reacted yet.
        for at in 0..60_u64 {
            bench.send(ms(at), 1, 1000, Codepoint::Ect1);
            bench.send(ms(at), 2, 1000, Codepoint::NotEct);
        }
        let arrived = bench.arrivals(ms(60));
        let of = |class: u32| arrived.iter().filter(move |(_, own, ..)| *own == class);
        let marked = of(1).filter(|(.., ecn)| *ecn == Codepoint::Ce).count();
        // Queued packets are marked.
        assert!(protection < 0.5 || marked * 10 > of(1).count() * 6, "{marked} of {}", of(1).count());
        assert!(of(2).all(|(.., ecn)| *ecn == Codepoint::NotEct));
        of(2).count() as f64 / arrived.len() as f64
    };
    for protection in [0.1, 0.3, 0.5] {
        let share = share(protection);
        assert!((share - protection).abs() < 0.06, "{share} of {protection}");
    }
}

/// Limits below one frame: all disciplines accept a frame into an empty queue.
#[test]
fn no_limit_blocks_a_line_for_good() {
    let limit = QueueLimit::Bytes(500);
    for discipline in [
        kind("codel", move || CoDelQueue::new(CoDel { limit, ..CoDel::default() })),
        kind("fq_codel", move || {
            FqCoDelQueue::new(FqCoDel { codel: CoDel { limit, ..CoDel::default() }, ..FqCoDel::default() })
        }),
        kind("pie", move || PieQueue::new(Pie { limit, ..Pie::default() })),
        kind("red", move || RedQueue::new(Red { limit, ..red() })),
        kind("dualpi2", move || DualPi2Queue::new(DualPi2 { limit, ..DualPi2::default() })),
        kind("turns", move || RoundRobinQueue::new(RoundRobin { by: By::Flow, limit, quantum: None })),
        kind("prio", move || PrioQueue::new(Prio { bands: Arc::new([]), limit })),
    ] {
        let what = discipline.identity().to_owned();
        let mut bench = Bench::new(Some(discipline), 1);
        for at in 0..10 {
            bench.send(ms(at * 10), 1, 1000, Codepoint::NotEct);
        }
        assert_eq!(bench.arrivals(ms(200)).len(), 10, "{what}");
    }
}

/// Drops into an empty queue do not keep the average up: it decays with time (Floyd and Jacobson).
#[test]
fn red_forgets_over_idle_time() {
    // A small weight of 1/1000.
    let settings = Red { burst: 1000, ..red() };
    assert!(settings.weight().is_some_and(|weight| weight < 0.002));
    let mut bench = Bench::new(Some(kind("red", move || RedQueue::new(settings))), 1);
    for at in 0..8_000_u64 {
        bench.send(us(at * 500), 1, 1000, Codepoint::NotEct);
    }
    bench.arrivals(ms(8_000));
    // Occasional packets: dropped while the average is above the threshold, and accepted seconds later.
    let passed = (0..20_u64).map(|n| {
        bench.send(ms(10_000 + n * 2_000), 1, 1000, Codepoint::NotEct);
        bench.arrivals(ms(10_000 + n * 2_000 + 1_000)).len()
    });
    assert!(passed.skip(2).all(|one| one == 1));
}

#[test]
fn a_burst_that_no_weight_allows_has_none() {
    assert_eq!(Red { min: 300, avpkt: 1000, burst: 1, ..red() }.weight(), None);
    assert!(red().weight().is_some());
}

/// An idle year takes no time to compute, for all settings.
#[test]
fn controllers_do_not_count_a_year_step_by_step() {
    for discipline in [
        kind("no alpha", || {
            PieQueue::new(Pie { alpha: 0.0, tupdate: Duration::from_millis(1), ..Pie::default() })
        }),
        kind("no target", || {
            PieQueue::new(Pie {
                target: Duration::from_nanos(1),
                tupdate: Duration::from_millis(1),
                ..Pie::default()
            })
        }),
        kind("slow", || DualPi2Queue::new(DualPi2 { alpha: 1e-9, ..DualPi2::default() })),
    ] {
        let mut bench = Bench::new(Some(discipline), 1);
        for at in 0..2_000_u64 {
            bench.send(us(at * 500), 1, 1000, Codepoint::NotEct);
        }
        let year = Instant::ZERO + Duration::from_secs(365 * 86_400);
        bench.arrivals(year);
        bench.send(year, 1, 1000, Codepoint::NotEct);
        assert_eq!(bench.arrivals(year + Duration::from_secs(1)).len(), 1);
    }
}

/// Arrival times in ms of frames of these bytes, all queued at once, on a link with this recording.
fn recorded(times: &[u64], frames: &[u32]) -> Vec<u64> {
    let times: Vec<Duration> = times.iter().map(|&time| Duration::from_millis(time)).collect();
    let mut network = Network::new(1);
    let (a, b) = (network.add_host(), network.add_host());
    let line = Parameters { trace: Trace::new(&times), ..Parameters::default() };
    let link = network.add_link("line", a, b, line.clone(), line).expect("a link");
    let destination = network.add_address(b, None).expect("an address");
    for (payload, &bytes) in frames.iter().enumerate() {
        let frame = Frame { bytes, destination, label: 0, ecn: Codepoint::NotEct, payload };
        network.send(Instant::ZERO, link.forward(), frame);
    }
    let arrivals = std::iter::from_fn(|| network.next());
    arrivals.map(|(at, _)| at.as_nanos() / 1_000_000).collect()
}

#[test]
fn a_recording_delivers_a_frame_at_each_opportunity_and_begins_anew() {
    assert_eq!(recorded(&[2, 2, 5, 9, 10], &[1514; 8]), [2, 2, 5, 9, 10, 12, 12, 15]);
    // An opportunity at zero coincides with the end of the previous round.
    assert_eq!(recorded(&[0, 4, 6], &[1514; 5]), [4, 6, 6, 10, 12]);
    // Small frames share an opportunity, a larger frame takes two.
    assert_eq!(recorded(&[3, 7, 10], &[500, 500, 500, 500, 1514]), [3, 3, 3, 7, 10]);
    assert_eq!(recorded(&[3, 7, 10], &[3000, 28]), [7, 7]);
}

#[test]
fn an_opportunity_that_finds_nothing_is_lost() {
    let times = [5, 10].map(Duration::from_millis);
    let line = Parameters { trace: Trace::new(&times), ..Parameters::default() };
    let mut pair = crate::common::Pair::new(line);
    for (number, at) in [1, 5, 6, 23].into_iter().enumerate() {
        pair.send(ms(at), 1514, number as u64);
    }
    let times: Vec<u64> = pair.arrivals().into_iter().map(|(at, _)| at / 1_000_000).collect();
    // A frame that arrives at the instant of an opportunity misses it.
    assert_eq!(times, [5, 10, 15, 25]);
}

#[test]
fn what_is_no_recording_is_refused() {
    for times in [&[][..], &[0, 0], &[5, 3]] {
        let times: Vec<Duration> = times.iter().map(|&time| Duration::from_millis(time)).collect();
        assert_eq!(Trace::new(&times), None);
    }
    let steady = Trace::new(&[Duration::from_millis(1)]).expect("one a millisecond");
    assert_eq!(steady.mean_rate(), 12_112_000);
}
