//! What a path may cost, and what follows when it costs more.

use super::*;

const MSS: u64 = 1000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

/// A path with a window of so many segments and nothing under way.
fn path(subflow: usize, rtt: u64, segments: u64) -> Candidate {
    Candidate::new(subflow, ms(rtt), segments * MSS, MSS)
}

fn close(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-6, "{is}, {should} expected");
}

#[test]
fn a_capacity_is_what_fits_without_a_queue() {
    close(capacity(&path(0, 100, 20), u64::MAX), 20_000.0);
    close(capacity(&path(0, 100, 20), 5_000), 5_000.0);
    // A queue has doubled the round trip: half of the window waits there.
    let mut queued = path(0, 100, 20);
    queued.srtt = ms(200);
    close(capacity(&queued, u64::MAX), 10_000.0);
    close(rate(&queued, u64::MAX), 100_000.0);
    queued.srtt = ms(50);
    close(capacity(&queued, u64::MAX), 20_000.0);
}

#[test]
fn what_the_others_lack_is_what_they_could_have_under_way() {
    let mut paths = [path(0, 10, 30), path(1, 100, 20), path(2, 10, 10)];
    (paths[0].in_flight, paths[2].in_flight) = (10_000, 15_000);
    let view = SendView::new(at(1000), &paths);
    close(lacked(&view, 1, u64::MAX), 20_000.0);
    close(lacked(&view, 0, u64::MAX), 20_000.0);
    close(lacked(&view, 7, u64::MAX), 40_000.0);
    close(lacked(&view, 1, 15_000), 5_000.0);
}

#[test]
fn what_is_missed_is_what_those_that_ran_dry_would_have_sent() {
    let mut paths = [path(0, 10, 30), path(1, 100, 20), path(2, 20, 10)];
    (paths[0].in_flight, paths[2].in_flight) = (10_000, 10_000);
    let stall = Stall::begin(&SendView::new(at(1000), &paths), 1, u64::MAX);
    assert_eq!((stall.waits_for, stall.busy, stall.lacked), (1, 0b101, 20_000.0));
    // After 50 ms the first has run dry: 3 MB/s.
    paths[0].in_flight = 0;
    close(missed(&SendView::new(at(1050), &paths), &stall, u64::MAX), 150_000.0);
    paths[2].in_flight = 0;
    close(missed(&SendView::new(at(1050), &paths), &stall, u64::MAX), 150_000.0 + 25_000.0);
    // Who had nothing under way at its start did not run dry.
    let idle = Stall { busy: 0b100, ..stall };
    close(missed(&SendView::new(at(1050), &paths), &idle, u64::MAX), 25_000.0);
    let own = Stall { busy: 0b111, waits_for: 0, ..stall };
    close(missed(&SendView::new(at(1050), &paths), &own, u64::MAX), 25_000.0 + 10_000.0);
    assert_eq!([0, 1, 63, 64, 200].map(bit), [1, 2, 1 << 63, 0, 0]);
}

/// docs/never-slower.md: all that is sent within the longest round trip in use has to fit into the window.
#[test]
fn a_slow_path_bounds_what_all_reach() {
    let mut paths = [path(0, 10, 30), path(1, 100, 20)];
    paths.iter_mut().for_each(|path| path.in_flight = MSS);
    let ledger = Ledger::default();
    let reach = |paths: &[Candidate], window, with, but| {
        ledger.reach(&SendView::new(at(1000), paths), window, with, but)
    };
    // 3 MB/s and 0.2 MB/s.
    close(reach(&paths, 1 << 30, 1, None), 3_200_000.0);
    close(reach(&paths, 1 << 30, 1, Some(1)), 3_000_000.0);
    // A window of 100 kB, in 100 ms: 1 MB/s by both; the fast one alone has 3 MB/s, and that counts.
    close(reach(&paths, 100_000, 1, None), 3_000_000.0);
    // A window of 20 kB: 2 MB/s in 10 ms.
    close(reach(&paths, 20_000, 1, Some(1)), 2_000_000.0);
    // Who has nothing under way is not in use, but for the one that is looked at.
    paths[1].in_flight = 0;
    close(reach(&paths, 1 << 30, 0, None), 3_000_000.0);
    close(reach(&paths, 1 << 30, 1, None), 3_200_000.0);
    paths[0].in_flight = 0;
    close(reach(&paths, 1 << 30, 1, None), 200_000.0);
}

/// The rests of an account that begins one so many ms after the end of the last.
fn rests(gaps: &[u64]) -> Vec<u64> {
    let (mut account, mut now) = (Account::default(), at(100_000));
    gaps.iter()
        .map(|&gap| {
            now += ms(gap);
            account.overdrawn = 5.0;
            account.begin_rest(now, FIRST_REST.1);
            assert_eq!(account.overdrawn, 0.0);
            let rest = account.rests_until.since(now);
            now = account.rests_until;
            rest.as_millis()
        })
        .collect()
}

#[test]
fn rests_double_until_a_path_has_been_good_for_long() {
    assert_eq!(
        rests(&[0, 100, 100, 100, 100, 100, 100, 100]),
        [1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000]
    );
    // Four times the next rest, from the end of the last one: 8 s.
    assert_eq!(rests(&[0, 8000]), [1000, 2000]);
    assert_eq!(rests(&[0, 8001]), [1000, 1000]);
    assert_eq!(rests(&[0, 8000, 16_000, 1]), [1000, 2000, 4000, 8000]);
    assert_eq!(rests(&[0, 8000, 16_001, 1]), [1000, 2000, 1000, 2000]);
}

#[test]
fn the_first_rest_is_as_long_as_it_takes_to_tell() {
    let first = |first| {
        let mut account = Account::default();
        account.begin_rest(at(0), ms(first));
        let rest = account.rests_until.since(at(0));
        account.begin_rest(account.rests_until + ms(4000), ms(first));
        let next = account.rests_until.since(at(0)) - rest - ms(4000);
        account.begin_rest(account.rests_until + ms(4001), ms(first));
        (rest, next, account.rests_until.since(at(0)) - rest - next - ms(8001))
    };
    // It doubles, and after four seconds without one begins anew.
    assert_eq!(first(250), (ms(250), ms(500), ms(250)));
}

#[test]
fn a_rest_that_was_a_mistake_ends_and_the_path_is_trusted_for_longer_each_time() {
    let mut account = Account::default();
    let mut wrong = |now| {
        account.begin_rest(at(now), FIRST_REST.1);
        account.learn(at(now + 600), Finding::Wrong);
        assert_eq!((account.rests_until, account.rest), (at(now + 600), Duration::ZERO));
        account.trusted_until.since(at(now + 600)).as_millis()
    };
    let trusted = [100, 200, 300, 400, 500, 600, 700, 800].map(|seconds| wrong(seconds * 1000));
    assert_eq!(trusted, [1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000]);
    account.begin_rest(at(900_000), FIRST_REST.1);
    account.learn(at(900_600), Finding::Right);
    assert_eq!((account.rests_until, account.trust), (at(901_000), ms(1000)));
}

/// A stall for a path of 100 ms beside one of 10 ms, which is overdrawn by so much beforehand: whether it rests then.
fn settled(overdrawn: f64, window: u64, change: impl Fn(&mut Ledger, &mut [Candidate; 2])) -> (Ledger, bool) {
    let mut paths = [path(0, 10, 100), path(1, 100, 20)];
    paths.iter_mut().for_each(|path| path.in_flight = MSS);
    let mut ledger = Ledger::default();
    *ledger.account(1) = Account { id: Some(paths[1].id), overdrawn, ..Account::default() };
    change(&mut ledger, &mut paths);
    ledger.settle(&SendView::new(at(50_000), &paths), 1, window);
    let rests = ledger.rests(at(50_001), &paths[1]);
    assert!(!ledger.rests(at(50_001), &paths[0]));
    (ledger, rests)
}

#[test]
fn a_path_rests_when_it_cost_more_than_a_quarter_of_what_others_carry() {
    let rests = |overdrawn| settled(overdrawn, 1 << 30, |_, _| ()).1;
    // A quarter of 100 kB.
    assert!(!rests(25_000.0) && rests(25_001.0));
    // Its own window, where that is more.
    let large = |overdrawn| settled(overdrawn, 1 << 30, |_, paths| paths[1].cwnd = 40_000).1;
    assert!(!large(40_000.0) && large(40_001.0));
    let (ledger, _) = settled(25_001.0, 1 << 30, |_, _| ());
    // Four of the longest round trips.
    assert_eq!((ledger.accounts[1].rests_until, ledger.accounts[1].overdrawn), (at(50_400), 0.0));
    // Not while it is trusted, or one is on trial already; and who has got its place is new.
    let trusted = |until| settled(1e6, 1 << 30, move |ledger, _| ledger.account(1).trusted_until = at(until));
    assert!(!trusted(50_001).1 && trusted(50_000).1);
    assert_eq!(trusted(50_001).0.accounts[1].overdrawn, 0.0);
    // Nor one that carries more than the other could.
    let most = |rate| settled(1e6, 1 << 30, move |_, paths| paths[1].delivery_rate = Some(rate)).1;
    assert!(most(10_000_000.0) && !most(10_000_001.0));
    let other = settled(1e6, 1 << 30, |_, paths| paths[1].id = path(9, 1, 1).id);
    assert!(!other.1 && other.0.accounts[1].id == Some(path(9, 1, 1).id));
}

#[test]
fn what_a_path_brings_pays_for_what_it_costs() {
    let left = |window, delivered: u64| {
        let (ledger, _) = settled(20_000.0, window, |ledger, paths| {
            (ledger.account(1).delivered, paths[1].delivered) = (1_000_000, 1_000_000 + delivered);
        });
        assert_eq!(ledger.accounts[1].delivered, 1_000_000 + delivered);
        ledger.accounts[1].overdrawn
    };
    // The window holds all: each byte counts.
    close(left(1 << 30, 5_000), 15_000.0);
    // No more is saved up than the others have under way.
    close(left(1 << 30, 10_000_000), -100_000.0);
    // Of a window that the fast one fills alone it takes what that would have: nothing is brought.
    close(left(100_000, 5_000), 20_000.0);
}
