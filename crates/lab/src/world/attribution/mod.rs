//! Attribution: divides the capacity of each path among the causes that used it or left it unused.
//!
//! Results use it to explain why a flow did not fill a path. A cause is, for example, the flow's own data,
//! other flows, random loss or a full buffer. Causes come from the state of the simulated links, because a
//! sender can only estimate queues and causes of loss.
//!
//! Owns the accounts, the routes, and the shares in summaries. An account holds the time of one subflow by
//! cause. A route is the list of link directions that a path uses. To settle an account means to assign the
//! time since its last update to causes. Only observed runs, which record events, have an attribution. It
//! never affects the run.

mod account;
mod acks;
mod airtime;
mod buffers;
mod cause;
mod counted;
mod cut;
mod notes;
mod reduced;
mod route;
mod sharing;
mod silence;
mod waits;
mod watching;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use mptcp::observe::PathReasons;
use mptcp_clock::{Duration, Instant};
use netsim::{DirectionId, Network};

use self::account::Account;
use self::acks::Acks;
pub(super) use self::cause::Cause;
pub(super) use self::cut::{Links, least};
use self::notes::Key;
pub(super) use self::notes::{Full, FullTimes, Notes};
pub(super) use self::route::{Route, turning_points};
use self::silence::Silences;
use self::waits::Waits;
use crate::classes::{flow_and_interface, flow_and_subflow};

/// The attribution of a path of a flow, from the state of its links.
#[derive(Clone, Debug, Default)]
pub(super) struct PathTruth {
    /// Shares of the path capacity by cause over the lifetime of the flow. They add up to 1.
    pub(super) shares: Vec<(&'static str, f64)>,
    /// Mean capacity of the bottleneck link, bit/s of frames.
    pub(super) capacity: Option<f64>,
    /// Highest capacity of the bottleneck link, bit/s of frames.
    pub(super) rate: Option<f64>,
    /// Mean rate of each link, bit/s of frames; empty if unknown.
    pub(super) links: Links,
    /// Highest rate of each link.
    pub(super) best_links: Links,
    /// Bytes of payload, and of the frames that carried this payload.
    pub(super) carried: (u64, u64),
    /// Mean propagation RTT, s.
    pub(super) base_rtt: Option<f64>,
    /// Mean queueing delay of acknowledgements, s, and the direction with the longest one.
    pub(super) ack_wait: Option<(f64, Option<DirectionId>)>,
    /// Mean queueing delay of data, s, and the direction with the longest one; `None` if other delays are not
    /// constant.
    pub(super) queue_wait: Option<(f64, Option<DirectionId>)>,
    /// The link direction in which each cause arose.
    pub(super) places: Vec<(Cause, DirectionId)>,
    cross_share: f64,
}

/// Counters of a direction when the measured time of a flow started.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    sent_bytes: u64,
    bits: Option<f64>,
    down: Duration,
    /// Airtime of its own transmissions; zero for a wire.
    airtime: Duration,
    /// Airtime of all transmissions that it senses; zero for a wire.
    sensed: Duration,
}

impl Mark {
    fn of(direction: DirectionId, network: &mut Network<u32>) -> Self {
        let used = network.link_use(direction);
        let sent_bytes = network.counters(direction).sent_bytes;
        let airtime = network.mac(direction).map_or(Duration::ZERO, |mac| mac.airtime);
        let sensed = network.sensed_airtime(direction).unwrap_or_default();
        Self { sent_bytes, bits: used.capacity_bits, down: used.down, airtime, sensed }
    }
}

/// The attribution of a run.
#[derive(Debug)]
pub(super) struct Attribution {
    notes: Arc<Mutex<Notes>>,
    /// By flow and path; empty if nodes spread frames over several routes.
    routes: BTreeMap<(u16, u16), Route>,
    accounts: BTreeMap<Key, Account>,
    /// By flow and interface of the opening host.
    acks: BTreeMap<(u16, u16), Acks>,
    /// Queueing delays of data, by flow and interface of the opening host.
    waits: BTreeMap<(u16, u16), Waits>,
    /// Queueing delays of acknowledgements during the warm-up.
    acks_from: BTreeMap<(u16, u16), (f64, u64)>,
    /// By flow: start of the measured time.
    counts_from: BTreeMap<u16, Instant>,
    /// By flow: reports of its sender at the start of the measured time.
    reasons_before: BTreeMap<u16, Vec<PathReasons>>,
    /// By flow: reports of its sender when all data had arrived.
    reasons_after: BTreeMap<u16, Vec<PathReasons>>,
    marks: BTreeMap<(u16, DirectionId), Mark>,
    /// By flow: time at which all its data had arrived, and the counters of directions at that time.
    ended: BTreeMap<u16, (Instant, BTreeMap<DirectionId, Mark>)>,
    silences: Silences,
}

/// Totals of a path over the measured time of its flow.
#[derive(Clone, Debug, Default)]
struct Sum {
    totals: [f64; Cause::ALL.len()],
    served: Vec<f64>,
    slowed: Vec<f64>,
    delay: f64,
    watched: f64,
    offered: u64,
    payload: u64,
    began: Option<Instant>,
}

impl Attribution {
    pub(super) fn new(notes: Arc<Mutex<Notes>>, routes: BTreeMap<(u16, u16), Route>) -> Self {
        {
            let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
            for ((flow, _), route) in &routes {
                for (hop, kind) in route.forth.iter().zip(&route.kinds) {
                    notes.follow(*flow, *hop, *kind);
                }
            }
        }
        let known = routes.iter().filter(|(_, route)| route.tells_waits());
        let acks = known.map(|((flow, _), route)| ((*flow, route.interface), Acks::new(route.back.len())));
        let known = routes.iter().filter(|(_, route)| route.tells_waits_of_data());
        let waits = known.map(|((flow, _), route)| ((*flow, route.interface), Waits::new(route.forth.len())));
        Self {
            acks: acks.collect(),
            waits: waits.collect(),
            acks_from: BTreeMap::new(),
            notes,
            routes,
            accounts: BTreeMap::new(),
            counts_from: BTreeMap::new(),
            reasons_before: BTreeMap::new(),
            reasons_after: BTreeMap::new(),
            marks: BTreeMap::new(),
            ended: BTreeMap::new(),
            silences: Silences::default(),
        }
    }

    /// Replaces the routes after a change of the scenario: the highest rate of a link may be another one.
    pub(super) fn replace_routes(&mut self, routes: BTreeMap<(u16, u16), Route>) {
        self.routes = routes;
    }

    /// A sender sent a frame with data.
    #[cold]
    #[inline(never)]
    pub(super) fn offered(&mut self, label: u32, bytes: u32, payload: usize) {
        let Some((flow, subflow)) = flow_and_subflow(label) else { return };
        if let Some(account) = self.accounts.get_mut(&(flow as u16, subflow as u8)) {
            account.offered += u64::from(bytes);
            account.payload += payload as u64;
        }
    }

    /// An acknowledgement arrived that was sent at `sent`.
    #[cold]
    #[inline(never)]
    pub(super) fn acknowledged(
        &mut self,
        (sent, now): (Instant, Instant),
        label: u32,
        bytes: u32,
        network: &mut Network<u32>,
    ) {
        let Some((flow, interface)) = flow_and_interface(label) else { return };
        let key = (flow as u16, interface as u16);
        if let (Some(route), Some(acks)) = (route_of(&self.routes, key), self.acks.get_mut(&key))
            && !self.ended.contains_key(&key.0)
        {
            acks.arrive((sent, now), bytes, route, network);
        }
    }

    /// A frame with data arrived that was sent at `sent`.
    #[cold]
    #[inline(never)]
    pub(super) fn delivered(
        &mut self,
        (sent, now): (Instant, Instant),
        label: u32,
        bytes: u32,
        network: &mut Network<u32>,
    ) {
        let Some((flow, interface)) = flow_and_interface(label) else { return };
        let key = (flow as u16, interface as u16);
        if let (Some(route), Some(waits)) = (route_of(&self.routes, key), self.waits.get_mut(&key))
            && !self.ended.contains_key(&key.0)
        {
            waits.arrive((sent, now), bytes, route, network);
        }
    }

    /// A middlebox of a direction dropped or held a frame with data.
    #[cold]
    #[inline(never)]
    pub(super) fn taken(&mut self, label: u32, direction: DirectionId) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).hear_taken(label, direction);
    }

    /// Settles the accounts with pending observer events.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&mut self, now: Instant, network: &mut Network<u32>) {
        let heard = {
            let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
            notes.take()
        };
        for (key, path, note) in heard {
            if self.ended.contains_key(&key.0) {
                continue;
            }
            let Some(route) = self.routes.get(&(key.0, path)) else { continue };
            let account =
                self.accounts.entry(key).or_insert_with(|| Account::open(now, path, route, network));
            account.settle(now, route, self.acks.get(&(key.0, route.interface)), network);
            let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
            account.hear(note, notes.all_drops_of(key, route.interface));
        }
    }

    /// Settles every account: a link changes, or the run ends.
    pub(super) fn settle_all(&mut self, now: Instant, network: &mut Network<u32>) {
        self.settle(now, network);
        for (key, account) in &mut self.accounts {
            if self.ended.contains_key(&key.0) {
                continue;
            }
            if let Some(route) = self.routes.get(&(key.0, account.path)) {
                account.settle(now, route, self.acks.get(&(key.0, route.interface)), network);
            }
        }
    }

    /// A flow starts. A repeated attempt to open its connection has no effect.
    pub(super) fn start(&mut self, now: Instant, flow: u16, network: &mut Network<u32>) {
        if !self.counts_from.contains_key(&flow) {
            self.count(now, flow, network);
        }
    }

    /// Starts the measured time of a flow.
    fn count(&mut self, now: Instant, flow: u16, network: &mut Network<u32>) {
        self.settle_all(now, network);
        let then = self.spent(now, flow, network);
        self.counts_from.insert(flow, now);
        for (_, route) in self.routes.range(paths_of(flow)) {
            for &hop in route.forth.iter().chain(&route.back) {
                self.marks.insert((flow, hop), Mark::of(hop, network));
            }
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.count_anew(now, flow);
        for (key, acks) in self.acks.range(paths_of(flow)) {
            self.acks_from.insert(*key, acks.sums());
        }
        for (_, waits) in self.waits.range_mut(paths_of(flow)) {
            waits.forget();
        }
        for (key, account) in self.accounts.range_mut(subflows_of(flow)) {
            let interface = self.routes.get(&(flow, account.path)).map_or(0, |route| route.interface);
            let waits = self.acks.get(&(flow, interface)).map_or((0.0, 0), Acks::sums);
            account.forget(notes.drops_of(*key).unsent, waits);
        }
        drop(notes);
        let anew = self.spent(now, flow, network);
        self.silences.begin_again(flow, &then, &anew);
    }

    /// All data of a flow arrived: ends its measured time. `reasons` are the reports of its sender.
    pub(super) fn stop(
        &mut self,
        now: Instant,
        flow: u16,
        reasons: Vec<PathReasons>,
        network: &mut Network<u32>,
    ) {
        if self.ended.contains_key(&flow) {
            return;
        }
        self.reasons_after.insert(flow, reasons);
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).stop(now, flow);
        self.settle_all(now, network);
        let own = self.routes.range(paths_of(flow));
        let hops: Vec<DirectionId> =
            own.flat_map(|(_, route)| route.forth.iter().chain(&route.back).copied()).collect();
        let marks = hops.into_iter().map(|hop| (hop, Mark::of(hop, network))).collect();
        self.ended.insert(flow, (now, marks));
    }

    /// The warm-up ended: the measured time of started flows begins.
    pub(super) fn count_anew(&mut self, now: Instant, network: &mut Network<u32>) {
        let started: Vec<u16> = self.counts_from.keys().copied().collect();
        for flow in started {
            self.count(now, flow, network);
        }
    }

    /// The attribution of a path from the start of its measured time to `until`, the end of the connection or
    /// run. Call it after [`Self::settle_all`]. `None` if nothing is known.
    pub(super) fn summary(
        &self,
        flow: u16,
        path: u16,
        until: Instant,
        network: &mut Network<u32>,
    ) -> Option<PathTruth> {
        let (route, from) = (self.routes.get(&(flow, path))?, *self.counts_from.get(&flow)?);
        let ended = self.ended.get(&flow);
        let until = ended.map_or(until, |(at, _)| until.min(*at));
        if until <= from {
            // The connection ended before the end of the warm-up, so there is no measured time.
            return None;
        }
        let counted = ended.map_or(network.now(), |(at, _)| *at).since(from).as_secs_f64().max(1e-9);
        let mut sum = Sum::default();
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, account) in self.accounts.range(subflows_of(flow)).filter(|(_, one)| one.path == path) {
            sum.add(account);
        }
        let life = until.since(from).as_secs_f64();
        let since = |hop: &DirectionId, network: &mut Network<u32>| {
            let then = self.marks.get(&(flow, *hop)).copied().unwrap_or_default();
            let last = ended.and_then(|(_, marks)| marks.get(hop).copied());
            (then, last.unwrap_or_else(|| Mark::of(*hop, network)))
        };
        let mut truth = PathTruth { best_links: route.best_links.clone(), ..PathTruth::default() };
        let mut down = 0.0_f64;
        let (mut longest, mut busiest) = (0.0_f64, None);
        for (at, hop) in route.forth.iter().enumerate() {
            let (then, now) = since(hop, network);
            let down_here = (now.down - then.down).as_secs_f64();
            if down_here > down {
                down = down_here;
                truth.places.retain(|(cause, _)| *cause != Cause::Down);
                truth.places.push((Cause::Down, *hop));
            }
            // Traffic of other paths of the same flow is not cross traffic.
            let own = self.sent_over(flow, *hop, &notes) as f64;
            let all = now.sent_bytes.saturating_sub(then.sent_bytes) as f64;
            // Frames were queued at the hop with the longest service time.
            let served = sum.served.get(at).copied().unwrap_or(0.0);
            if served > longest {
                longest = served;
                busiest = Some(*hop);
                // `own` lacks the handshakes and acknowledgements of this flow, so `all` can exceed it
                // without cross traffic.
                let is_shared = self.is_shared(flow, *hop);
                truth.cross_share = if is_shared && all > own { 1.0 - own / all } else { 0.0 };
                let sensed = (now.sensed - then.sensed).as_secs_f64();
                if sensed > 0.0 {
                    let own = self.own_airtime(flow, &notes, |other| {
                        let (then, now) = since(other, network);
                        (then, now, network.carrier_sense(*hop, *other))
                    });
                    truth.cross_share = (1.0 - own / sensed).max(0.0);
                }
            }
            let line = now
                .bits
                .filter(|_| !route.is_wireless)
                .map(|bits| (bits - then.bits.unwrap_or(0.0)) / counted);
            if let Some(rate) = route.carried_at_most(at, line, (1.0 - down_here / counted).max(0.0)) {
                truth.links.push((*hop, rate));
                truth.capacity = Some(truth.capacity.map_or(rate, |known: f64| known.min(rate)));
            }
        }
        truth.rate =
            route.rate.map(|rate| rate as f64).filter(|_| truth.capacity.is_some()).or(truth.capacity);
        truth.carried = (sum.payload, sum.offered);
        if truth.best_links.is_empty() {
            truth.best_links.clone_from(&truth.links);
        }
        let capacity = std::mem::take(&mut sum.totals[Cause::Capacity as usize]);
        sum.totals[Cause::CrossTraffic as usize] = capacity * truth.cross_share;
        sum.totals[Cause::Capacity as usize] = capacity * (1.0 - truth.cross_share);
        truth.base_rtt = (sum.watched > 0.0).then(|| sum.delay / sum.watched);
        let key = (flow, route.interface);
        let waits = self.acks.get(&key).and_then(|acks| {
            let mean = acks.mean_since(self.acks_from.get(&key).copied().unwrap_or_default())?;
            Some((mean, acks.hop().and_then(|at| route.back.get(at).copied())))
        });
        truth.ack_wait = waits;
        truth.queue_wait = self
            .waits
            .get(&key)
            .and_then(|waits| Some((waits.mean()?, waits.hop().and_then(|at| route.forth.get(at).copied()))));
        truth.places.extend(busiest.map(|hop| (Cause::CrossTraffic, hop)));
        truth.places.extend(places(route, &sum.slowed));
        truth.places.extend(
            DROPPED.iter().filter_map(|cause| Some((*cause, notes.place_of(flow, route.interface, *cause)?))),
        );
        let before = sum.began.map_or(life, |began| began.since(from).as_secs_f64());
        let before = before.min(life);
        let known: f64 = sum.totals.iter().sum();
        let absent = (life - known - before).max(0.0);
        // Down time of links during the time without a subflow.
        let out = (down - sum.totals[Cause::Down as usize]).clamp(0.0, absent + before);
        let out_before = out.min(before);
        sum.totals[Cause::Down as usize] += out;
        sum.totals[Cause::Joining as usize] += before - out_before;
        let gone = self.accounts.range(subflows_of(flow)).filter(|(_, one)| one.path == path);
        let ended_by = gone.filter_map(|(_, account)| account.ended_by()).next_back();
        sum.totals[ended_by.unwrap_or(Cause::Closed) as usize] += absent - (out - out_before);
        let whole: f64 = sum.totals.iter().sum();
        if whole > 0.0 {
            let share = |cause: &Cause| (cause.name(), sum.totals[*cause as usize] / whole);
            truth.shares = Cause::ALL.iter().map(share).collect();
        }
        Some(truth)
    }
}

/// Causes whose place is the direction with most of their drops.
const DROPPED: [Cause; 7] = [
    Cause::QueueOverflow,
    Cause::Loss,
    Cause::Policer,
    Cause::PathMtu,
    Cause::Middlebox,
    Cause::AckLoss,
    Cause::AckQueue,
];

/// The hop whose lower rate cost most, and the hop with reordering.
fn places(route: &Route, slowed: &[f64]) -> Vec<(Cause, DirectionId)> {
    let most = slowed.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, cost)| **cost > 0.0);
    let slow = most.and_then(|(at, _)| route.forth.get(at).copied());
    let slow = slow.map(|hop| (Cause::LowerRate, hop));
    slow.into_iter().chain(route.reordering.map(|hop| (Cause::Reordering, hop))).collect()
}

/// Keys of a flow in maps by flow and path, or by flow and interface.
fn paths_of(flow: u16) -> RangeInclusive<(u16, u16)> {
    (flow, 0)..=(flow, u16::MAX)
}

/// Keys of a flow in maps by subflow.
fn subflows_of(flow: u16) -> RangeInclusive<Key> {
    (flow, 0)..=(flow, u8::MAX)
}

/// The route of an interface of a flow.
fn route_of(routes: &BTreeMap<(u16, u16), Route>, (flow, interface): (u16, u16)) -> Option<&Route> {
    let own = routes.range(paths_of(flow));
    own.map(|(_, route)| route).find(|route| route.interface == interface)
}

impl Sum {
    fn add(&mut self, account: &Account) {
        for (sum, more) in self.totals.iter_mut().zip(account.totals()) {
            *sum += more;
        }
        self.served.resize(account.served.len(), 0.0);
        for (sum, more) in self.served.iter_mut().zip(&account.served) {
            *sum += more;
        }
        self.slowed.resize(account.slowed.len(), 0.0);
        for (sum, more) in self.slowed.iter_mut().zip(&account.slowed) {
            *sum += more;
        }
        self.delay += account.delay;
        self.watched += account.watched;
        self.offered += account.offered;
        self.payload += account.payload;
        self.began = Some(self.began.map_or(account.began, |began| began.min(account.began)));
    }
}
