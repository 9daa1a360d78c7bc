//! The observer is notified of every dropped or marked frame, with time and place.

use std::sync::{Arc, Mutex};

use crate::common::{Pair, line, ms, us};
use mptcp_clock::Duration;
use netsim::{
    Cause, CellParameters, Change, CoDel, CoDelQueue, Codepoint, Event, Frame, FrameEvent, FrameEventType,
    Labels, Loss, Network, Observer, Parameters, QueueKind, QueueLimit, StationParameters, StationRate,
};

#[derive(Debug, Default)]
struct Notes(Mutex<Vec<FrameEvent>>);

impl Observer for Notes {
    fn observe(&self, event: &FrameEvent) {
        self.0.lock().expect("one thread").push(*event);
    }
}

impl Notes {
    fn take(&self) -> Vec<FrameEvent> {
        std::mem::take(&mut self.0.lock().expect("one thread"))
    }
}

/// Observes a link; reports must match the kept frames.
fn watched(parameters: Parameters) -> (Pair, Arc<Notes>) {
    let (mut pair, notes) = (Pair::new(parameters), Arc::new(Notes::default()));
    pair.network.set_observer(Arc::clone(&notes) as Arc<dyn Observer>);
    pair.network.keep_lost(true);
    (pair, notes)
}

/// The reported causes, after a comparison with the lost frames.
fn causes(pair: &mut Pair, notes: &Notes) -> Vec<Cause> {
    let told = notes.take();
    let kept: Vec<FrameEvent> = pair
        .network
        .lost()
        .map(|lost| FrameEvent {
            at: lost.at,
            direction: lost.direction,
            label: lost.frame.label,
            bytes: lost.frame.bytes,
            what: FrameEventType::Dropped(lost.cause),
        })
        .collect();
    assert_eq!(told, kept);
    kept.iter()
        .map(|event| match event.what {
            FrameEventType::Dropped(cause) => cause,
            FrameEventType::Marked => unreachable!("no lost frame says that"),
        })
        .collect()
}

fn send_all(pair: &mut Pair, frames: u64, bytes: u32) {
    for number in 0..frames {
        pair.send(us(0), bytes, number);
    }
    pair.arrivals();
}

#[test]
fn drops_of_a_wire_are_told_with_their_causes() {
    let (mut pair, notes) = watched(Parameters { queue: QueueLimit::Packets(3), ..line(1) });
    send_all(&mut pair, 5, 1000);
    assert_eq!(causes(&mut pair, &notes), [Cause::QueueFull; 2]);
    let (mut pair, notes) = watched(Parameters { longest: Some(1000), ..line(1) });
    send_all(&mut pair, 3, 1001);
    assert_eq!(causes(&mut pair, &notes), [Cause::TooLong; 3]);
    let (mut pair, notes) = watched(Parameters { loss: Loss::Bernoulli(1.0), ..line(1) });
    send_all(&mut pair, 2, 1000);
    assert_eq!(causes(&mut pair, &notes), [Cause::Chance; 2]);
    let (mut pair, notes) = watched(line(1));
    let forward = pair.link.forward();
    pair.network.add_filter(forward, Labels::All, Duration::ZERO, Loss::Bernoulli(1.0)).expect("known");
    send_all(&mut pair, 2, 1000);
    assert_eq!(causes(&mut pair, &notes), [Cause::Filter; 2]);
    let (mut pair, notes) = watched(line(10));
    pair.network.schedule_change(us(1500), pair.link.forward(), Change::Up(false));
    // One is in flight, one in service, one queued, and one is sent later.
    send_all(&mut pair, 3, 1000);
    pair.send(ms(2), 1000, 4);
    assert_eq!(causes(&mut pair, &notes), [Cause::Down; 4]);
}

#[test]
fn drops_of_a_discipline_are_told_and_those_on_the_air() {
    let codel = || -> Box<dyn netsim::QueueDiscipline> { Box::new(CoDelQueue::new(CoDel::default())) };
    let (mut pair, notes) =
        watched(Parameters { discipline: Some(QueueKind::new("codel", codel)), ..line(0) });
    send_all(&mut pair, 300, 1000);
    let told = causes(&mut pair, &notes);
    assert!(told.len() > 2 && told.iter().all(|&cause| cause == Cause::Discipline), "{told:?}");
    let (mut network, notes) = (Network::new(1), Arc::new(Notes::default()));
    let (access_point, node) = (network.add_host(), network.add_host());
    let cell = network.add_cell("cell", access_point, CellParameters::default()).expect("a cell");
    let station = StationParameters {
        distance: 1000.0,
        rate: StationRate::Fixed(54_000_000),
        ..StationParameters::default()
    };
    let link = network.add_station("station", node, cell, station).expect("a station");
    let destination = network.add_address(access_point, None).expect("known");
    network.set_observer(Arc::clone(&notes) as Arc<dyn Observer>);
    network.send(
        us(0),
        link.forward(),
        Frame { bytes: 100, destination, label: 7, ecn: Codepoint::NotEct, payload: () },
    );
    assert_eq!(network.next(), None);
    let told = notes.take();
    let told: Vec<_> = told.iter().map(|told| (told.direction, told.label, told.bytes, told.what)).collect();
    assert_eq!(told, [(link.forward(), 7, 100, FrameEventType::Dropped(Cause::Retries))]);
}

#[test]
fn marks_are_told_where_they_are_made() {
    let codel = CoDel { ecn: true, ..CoDel::default() };
    let kind = QueueKind::new("codel", move || Box::new(CoDelQueue::new(codel)));
    let plain = Parameters { mark: Some(QueueLimit::Packets(2)), ..line(0) };
    for parameters in [plain, Parameters { discipline: Some(kind), ..line(0) }] {
        let (mut pair, notes) = watched(parameters);
        let (destination, forward) = (pair.address, pair.link.forward());
        for payload in 0..300 {
            let frame = Frame { bytes: 1000, destination, label: 9, ecn: Codepoint::Ect0, payload };
            pair.network.send(us(0), forward, frame);
        }
        let marked = std::iter::from_fn(|| pair.network.next())
            .filter(|(_, event)| matches!(event, Event::Arrived { frame, .. } if frame.ecn == Codepoint::Ce))
            .count();
        let told = notes.take();
        assert_eq!((told.len(), pair.network.counters(forward).marked_frames), (marked, marked as u64));
        assert!(marked > 2);
        for event in told {
            assert_eq!((event.what, event.label, event.bytes), (FrameEventType::Marked, 9, 1000));
            assert_eq!(event.direction, forward);
        }
    }
}

#[test]
fn damage_is_told_as_a_drop_though_the_frame_goes_on() {
    let (mut pair, notes) = watched(Parameters { corrupt: 1.0, ..line(1) });
    pair.send(us(0), 1000, 5);
    let Some((at, Event::Impaired { corrupted: true, .. })) = pair.network.next() else { panic!("damaged") };
    assert_eq!(at, us(2000));
    let told = notes.take();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].at, told[0].what), (at, FrameEventType::Dropped(Cause::Corrupted)));
    assert_eq!((pair.network.lost_count(), told[0].direction), (0, pair.link.forward()));
}
