//! Random traffic and changes give the same arrivals as a simple model with one event per stage of each frame
//! (`model/naive.rs`).

mod naive;

use mptcp_clock::{Duration, Instant};
use naive::{Naive, Packet};
use netsim::{
    Change, Event, Frame, GilbertElliott, Jitter, Labels, Loss, Network, Parameters, QueueLimit, Rate, Spread,
};
use proptest::prelude::*;

fn rate() -> impl Strategy<Value = Option<Rate>> {
    prop_oneof![1 => Just(None), 2 => Just(Rate::new(8_000_000)), 3 => (100_000u64..50_000_000).prop_map(Rate::new)]
}

/// Multiples of 100 µs, so that instants coincide often.
fn delay() -> impl Strategy<Value = Duration> {
    (0u64..100).prop_map(|n| Duration::from_micros(n * 100))
}

fn loss() -> impl Strategy<Value = Loss> {
    let probability = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64];
    prop_oneof![
        2 => Just(Loss::None),
        1 => (0.0..0.5f64).prop_map(Loss::Bernoulli),
        1 => (probability(), probability(), probability(), probability()).prop_map(|(p, r, bad, good)| {
            let model =
                GilbertElliott { good_to_bad: p, bad_to_good: r, loss_in_bad: bad, loss_in_good: good };
            Loss::GilbertElliott(model)
        }),
    ]
}

fn jitter() -> impl Strategy<Value = Option<Jitter>> {
    let jitter = (delay(), any::<bool>())
        .prop_map(|(spread, reorder)| Some(Jitter { spread, shape: Spread::Uniform, reorder }));
    prop_oneof![1 => Just(None), 1 => jitter]
}

fn queue() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0u64..8).prop_map(QueueLimit::Packets),
        (0u64..10_000).prop_map(QueueLimit::Bytes),
        delay().prop_map(QueueLimit::Time),
        Just(QueueLimit::Unlimited),
    ]
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (rate(), delay(), jitter(), loss(), queue()).prop_map(|(rate, delay, jitter, loss, queue)| Parameters {
        rate,
        delay,
        jitter,
        loss,
        queue,
        ..Parameters::default()
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        rate().prop_map(Change::Rate),
        delay().prop_map(Change::Delay),
        jitter().prop_map(Change::Jitter),
        loss().prop_map(Change::Loss),
        queue().prop_map(Change::Queue),
        any::<bool>().prop_map(Change::Up),
    ]
}

#[derive(Clone, Debug)]
struct Sending {
    gap: Duration,
    wire: usize,
    bytes: u32,
}

fn sending() -> impl Strategy<Value = Sending> {
    let gap = prop_oneof![
        (0u64..20).prop_map(|n| Duration::from_micros(n * 100)),
        (0u64..2_000_000).prop_map(Duration::from_nanos)
    ];
    let bytes = prop_oneof![Just(100u32), Just(1514), 1u32..3000];
    (gap, 0usize..2, bytes).prop_map(|(gap, wire, bytes)| Sending { gap, wire, bytes })
}

#[derive(Clone, Debug)]
struct Scene {
    seed: u64,
    wires: [Parameters; 3],
    filter: (Duration, f64),
    sendings: Vec<Sending>,
    changes: Vec<(Duration, usize, Change)>,
    watch: bool,
}

fn scene() -> impl Strategy<Value = Scene> {
    let at = || delay().prop_map(|at| at * 10);
    let changes = prop::collection::vec((at(), 0usize..3, change()), 0..12);
    let outages = prop::collection::vec((at(), 0usize..3, delay(), change()), 0..3);
    let sendings = prop::collection::vec(sending(), 1..120);
    let wires = [parameters(), parameters(), parameters()];
    (any::<u64>(), wires, (delay(), 0.0..0.5f64), sendings, changes, outages, any::<bool>()).prop_map(
        |(seed, wires, filter, sendings, mut changes, outages, watch)| {
            for (at, wire, long, change) in outages {
                let flushes = long.as_nanos() % 2 == 0;
                let set = |up| if flushes { Change::Up(up) } else { Change::Open(up) };
                changes.extend([(at, wire, set(false)), (at, wire, change)]);
                changes.push((at + long, wire, set(true)));
            }
            Scene { seed, wires, filter, sendings, changes, watch }
        },
    )
}

type Outcome = (Vec<(u64, u64)>, Vec<[u64; 3]>);

fn simple(scene: &Scene) -> Outcome {
    let mut naive = Naive::new(scene.seed, &scene.wires, scene.filter.0, scene.filter.1);
    for (at, wire, change) in scene.changes.clone() {
        naive.change(Instant::ZERO + at, wire, change);
    }
    let mut now = Instant::ZERO;
    for (number, sending) in scene.sendings.iter().enumerate() {
        now += sending.gap;
        let packet = Packet { number: number as u64, bytes: sending.bytes, filtered: sending.wire == 1 };
        naive.send(now, sending.wire, packet);
    }
    naive.run()
}

fn real(scene: &Scene) -> Outcome {
    let mut network = Network::new(scene.seed);
    let (a, b, server) = (network.add_host(), network.add_host(), network.add_host());
    let router = network.add_router();
    let ends = [(a, router), (b, router), (router, server)];
    let mut lines = Vec::new();
    for (index, (from, to)) in ends.into_iter().enumerate() {
        let name = format!("wire {index}");
        let link = network.add_link(&name, from, to, scene.wires[index].clone(), Parameters::default());
        lines.push(link.expect("fresh names").forward());
    }
    let destination = network.add_address(server, None).expect("known");
    let (delay, loss) = scene.filter;
    network.add_filter(lines[2], Labels::Only(vec![1]), delay, Loss::Bernoulli(loss)).expect("known");
    network.watch_departures(lines[1], scene.watch);
    for (at, wire, change) in scene.changes.clone() {
        network.schedule_change(Instant::ZERO + at, lines[wire], change);
    }
    let (mut now, mut arrivals) = (Instant::ZERO, Vec::new());
    let mut note = |(at, event): (Instant, Event<u64>)| {
        if let Event::Arrived { frame, .. } = event {
            arrivals.push((at.as_nanos(), frame.payload));
        }
    };
    for (number, sending) in scene.sendings.iter().enumerate() {
        now += sending.gap;
        std::iter::from_fn(|| network.next_until(now)).for_each(&mut note);
        let frame = Frame {
            bytes: sending.bytes,
            destination,
            label: Frame::label_of(sending.wire as u32, 7),
            ecn: netsim::Codepoint::NotEct,
            payload: number as u64,
        };
        network.send(now, lines[sending.wire], frame);
    }
    std::iter::from_fn(|| network.next()).for_each(&mut note);
    let counts = lines.iter().map(|&line| {
        let counters = network.counters(line);
        let gone = counters.dropped_frames + counters.lost_frames + counters.flushed_frames;
        let held = counters.offered_frames - counters.filtered_frames - counters.delivered_frames - gone;
        assert_eq!(
            held + counters.backlog_frames + counters.backlog_bytes,
            0,
            "every frame is accounted for"
        );
        [counters.dropped_frames, counters.lost_frames, counters.flushed_frames]
    });
    let counts = counts.collect();
    (arrivals, counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn random_traffic_and_changes_go_as_in_the_simple_model(scene in scene()) {
        prop_assert_eq!(real(&scene), simple(&scene));
    }
}
