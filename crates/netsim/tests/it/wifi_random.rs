//! Random cells, traffic and changes: every frame is accounted for, frames of a direction keep their order,
//! and the same seed gives the same events.

use mptcp_clock::{Duration, Instant};
use netsim::{
    Activity, Aggregation, Background, Cause, CellParameters, Change, Channel, Counters, Coupling,
    Discipline, Event, Frame, Interference, Loss, Network, QueueLimit, Standard, StationParameters,
    StationRate,
};
use proptest::prelude::*;

fn standard() -> impl Strategy<Value = Standard> {
    prop_oneof![Just(Standard::B), Just(Standard::A), Just(Standard::G), Just(Standard::N)]
}

fn queue() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0u64..20).prop_map(QueueLimit::Packets),
        (0u64..30_000).prop_map(QueueLimit::Bytes),
        (0u64..20).prop_map(|ms| QueueLimit::Time(Duration::from_millis(ms))),
        Just(QueueLimit::Unlimited),
    ]
}

fn discipline() -> impl Strategy<Value = Discipline> {
    let codel = (1u64..10, 5u64..50).prop_map(|(target, interval)| Discipline::CoDel {
        target: Duration::from_millis(target),
        interval: Duration::from_millis(interval),
    });
    prop_oneof![Just(Discipline::DropTail), codel]
}

fn rate() -> impl Strategy<Value = StationRate> {
    prop_oneof![Just(StationRate::Auto), (1u64..150).prop_map(|rate| StationRate::Fixed(rate * 1_000_000))]
}

fn cell() -> impl Strategy<Value = CellParameters> {
    let aggregation =
        (1u32..70, 1000u32..70_000).prop_map(|(max_frames, max_bytes)| Aggregation { max_frames, max_bytes });
    let how = (any::<bool>(), any::<bool>(), 1u8..3, prop::option::of(aggregation));
    let limits = (queue(), discipline(), 1u32..40, prop::option::of(0u32..9), 0u32..40);
    (standard(), 1u8..12, how, limits).prop_map(|(standard, channel, how, limits)| {
        let (protection, short_slot, streams, aggregation) = how;
        let (queue, discipline, ring, retry_limit, cw_min) = limits;
        let ideal = CellParameters::ideal(standard);
        CellParameters {
            channel: if standard == Standard::A { ideal.channel } else { Channel(channel) },
            protection,
            short_slot,
            streams,
            short_guard: protection,
            aggregation: aggregation.filter(|_| standard == Standard::N),
            wpa2: short_slot,
            queue,
            discipline,
            ring,
            retry_limit,
            cw_min,
            ..ideal
        }
    })
}

fn station() -> impl Strategy<Value = StationParameters> {
    (rate(), 1f64..300.0, queue(), discipline(), 1u32..40, 0.0..0.2f64, 0u64..5).prop_map(
        |(rate, distance, queue, discipline, ring, loss, delay)| StationParameters {
            rate,
            distance,
            queue,
            discipline,
            ring,
            loss: Loss::Bernoulli(loss),
            delay: Duration::from_millis(delay),
            up: true,
        },
    )
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (1f64..400.0).prop_map(Change::Distance),
        rate().prop_map(Change::StationRate),
        (0u64..10).prop_map(|ms| Change::Delay(Duration::from_millis(ms))),
        (0.0..0.3f64).prop_map(|loss| Change::Loss(Loss::Bernoulli(loss))),
        queue().prop_map(Change::Queue),
        Just(Change::Rate(None)),
        any::<bool>().prop_map(Change::Up),
    ]
}

#[derive(Clone, Debug)]
struct Scene {
    seed: u64,
    cells: Vec<(CellParameters, Vec<StationParameters>)>,
    interference: Interference,
    coupling: Option<Coupling>,
    background: Option<(u32, bool)>,
    /// Gap, direction, bytes.
    sendings: Vec<(u64, usize, u32)>,
    /// Time, direction, change.
    changes: Vec<(u64, usize, Change)>,
    watch: bool,
}

fn scene() -> impl Strategy<Value = Scene> {
    let cells = prop::collection::vec((cell(), prop::collection::vec(station(), 1..4)), 1..4);
    let coupling = (0.0..1.0f64, 0.0..1.0f64)
        .prop_map(|(carrier_sense, collision)| Coupling { carrier_sense, collision });
    let air = (
        prop_oneof![Just(Interference::Ideal), Just(Interference::Ucl)],
        prop::option::of(coupling),
        prop::option::of((1u32..4, any::<bool>())),
    );
    let sendings = prop::collection::vec((0u64..1500, any::<usize>(), 20u32..2000), 1..200);
    let changes = prop::collection::vec((0u64..150_000, any::<usize>(), change()), 0..12);
    (any::<u64>(), cells, air, sendings, changes, any::<bool>()).prop_map(
        |(seed, cells, (interference, coupling, background), sendings, changes, watch)| Scene {
            seed,
            cells,
            interference,
            coupling,
            background,
            sendings,
            changes,
            watch,
        },
    )
}

/// Frames that have left the link.
fn gone(counters: &Counters) -> u64 {
    let lost =
        counters.dropped_frames + counters.flushed_frames + counters.lost_frames + counters.retry_drops;
    counters.delivered_frames + lost
}

/// Runs a scene until `end` and checks the counters. Returns all events.
fn run(scene: &Scene, end: Instant) -> Vec<String> {
    let mut network = Network::<u64>::new(scene.seed);
    network.set_interference(scene.interference);
    network.keep_lost(true);
    let (mut cells, mut ways) = (Vec::new(), Vec::new());
    for (index, (parameters, stations)) in scene.cells.iter().enumerate() {
        let access_point = network.add_host();
        let cell =
            network.add_cell(&format!("{index}"), access_point, parameters.clone()).expect("a good cell");
        let up = network.add_address(access_point, None).expect("known");
        cells.push(cell);
        for (number, parameters) in stations.iter().enumerate() {
            let node = network.add_host();
            let link = network
                .add_station(&format!("{index}.{number}"), node, cell, parameters.clone())
                .expect("a fresh name");
            let down = network.add_address(node, None).expect("known");
            ways.extend([(link.forward(), up), (link.backward(), down)]);
        }
        if let Some((stations, saturated)) = scene.background {
            let (on, off) = (Duration::from_millis(20), Duration::from_millis(30));
            let activity = if saturated { Activity::Saturated } else { Activity::OnOff { on, off } };
            let background = Background { stations, frame_bytes: 1514, rate: 24_000_000, activity };
            network.add_background("neighbours", cell, background).expect("a fresh name");
        }
    }
    if let (Some(coupling), [first, .., last]) = (scene.coupling, cells.as_slice()) {
        network.couple(*first, *last, coupling).expect("known cells");
    }
    for &(direction, _) in &ways {
        network.watch_departures(direction, scene.watch);
    }
    for (at, way, change) in scene.changes.clone() {
        let (direction, _) = ways[way % ways.len()];
        network.schedule_change(Instant::ZERO + Duration::from_micros(at), direction, change);
    }
    let mut log = Vec::new();
    let mut last = vec![None; ways.len()];
    let mut note = |(at, event): (Instant, Event<u64>)| {
        if let Event::Arrived { by, frame, .. } = &event {
            let place = ways.iter().position(|(way, _)| way == by).expect("one of ours");
            assert!(last[place] < Some(frame.payload), "{place}: {} after {:?}", frame.payload, last[place]);
            last[place] = Some(frame.payload);
        }
        log.push(format!("{at:?} {event:?}"));
    };
    let mut now = Instant::ZERO;
    for (number, &(gap, way, bytes)) in scene.sendings.iter().enumerate() {
        now += Duration::from_micros(gap);
        std::iter::from_fn(|| network.next_until(now)).for_each(&mut note);
        let (direction, destination) = ways[way % ways.len()];
        network.send(
            now,
            direction,
            Frame { bytes, destination, label: 0, ecn: netsim::Codepoint::NotEct, payload: number as u64 },
        );
    }
    std::iter::from_fn(|| network.next_until(end)).for_each(&mut note);
    let lost: Vec<_> = network.lost().collect();
    for &(direction, _) in &ways {
        let (counters, mac) = (network.counters(direction), network.mac(direction).expect("wireless"));
        let in_flight = counters.offered_frames - gone(&counters) - counters.backlog_frames;
        assert!(in_flight <= counters.sent_frames - counters.delivered_frames, "{direction:?}: {counters:?}");
        assert_eq!(mac.backlog, counters.backlog_frames, "{direction:?}");
        assert_eq!(mac.retry_drops, counters.retry_drops, "{direction:?}");
        assert_eq!(counters.backlog_frames == 0, counters.backlog_bytes == 0, "{direction:?}");
        let buried =
            |cause| lost.iter().filter(|lost| lost.direction == direction && lost.cause == cause).count();
        assert_eq!(buried(Cause::Retries) as u64, counters.retry_drops, "{direction:?}");
        assert_eq!((buried(Cause::QueueFull) + buried(Cause::Discipline)) as u64, counters.dropped_frames);
        network.schedule_change(end, direction, Change::Up(false));
    }
    while network.next_until(end).is_some() {}
    for &(direction, _) in &ways {
        let counters = network.counters(direction);
        assert_eq!(counters.offered_frames, gone(&counters), "{direction:?}: {counters:?}");
        assert_eq!((counters.backlog_frames, counters.backlog_bytes), (0, 0));
        assert_eq!(network.mac(direction).expect("wireless").backlog, 0);
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_frame_is_somewhere_and_none_overtakes(scene in scene()) {
        run(&scene, Instant::ZERO + Duration::from_millis(2000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_same_seed_gives_the_same_events(scene in scene()) {
        let end = Instant::ZERO + Duration::from_millis(500);
        prop_assert_eq!(run(&scene, end), run(&scene, end));
    }
}
