//! The rate that each limit costs: the difference to the capacity of each subflow.
//!
//! A subflow could carry its capacity while it is established. In each time step, the part that it did not carry is
//! assigned to the states of that time, in proportion. A step whose mean data in flight fills the path misses nothing:
//! the link itself was slower then.

use super::silence;
use crate::track::{Limit, Series, StreamStep, Subflow, View};

/// Data in flight that fills a path, in bandwidth-delay products. The capacity is known to about a tenth.
const FILLED: f64 = 0.9;
/// Steps are at least this long, s, and two RTTs: a shorter one may end between two bursts.
const STEP: f64 = 0.1;

/// Share of a step in which the window is full, above which the window limits the whole step.
const WINDOW: f32 = 0.2;

/// The rates that limits cost one subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubflowRates {
    /// Rate of the path, bytes/s; assumed where the subflow carried too little.
    pub(crate) capacity: f64,
    /// Bytes missing, and time, s, by limit.
    pub(crate) missing: [f64; Limit::COUNT],
    pub(crate) seconds: [f64; Limit::COUNT],
    /// Bytes acknowledged.
    pub(crate) delivered: f64,
    /// Time in which it was established, and in which its data filled the path, s.
    pub(crate) active: f64,
    pub(crate) filled: f64,
    /// Data in flight in steps without losses: its mean in the first half of them and in the second, bytes.
    pub(crate) growth: [f64; 2],
}

impl SubflowRates {
    /// Whether the path itself limits the subflow: it loses data again and again, or its window still grows.
    pub(crate) fn is_limited_by_path(&self) -> bool {
        let [early, late] = self.growth;
        let grows = self.seconds[Limit::Growth as usize] > 0.5 * self.active && late >= 1.15 * early;
        self.seconds[Limit::Loss as usize] > 0.5 * self.active || grows && self.filled > 0.5 * self.active
    }

    /// Assigns the time and the bytes of a limit to another one.
    fn assign(&mut self, from: Limit, to: Limit) {
        for values in [&mut self.seconds, &mut self.missing] {
            let value = std::mem::take(&mut values[from as usize]);
            values[to as usize] += value;
        }
    }

    /// Whether its window neither grows nor loses data, and does not fill the path, so that something else limits it.
    pub(crate) fn is_flat(&self) -> bool {
        let [early, late] = self.growth;
        let is_full = self.filled > 0.5 * self.active;
        self.seconds[Limit::Growth as usize] > 0.3 * self.active && late < 1.15 * early && !is_full
    }
}

/// The rates that limits cost a connection in one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingRates {
    pub(crate) subflows: Vec<SubflowRates>,
    /// Time from the first data to the last packet, s.
    pub(crate) seconds: f64,
    /// Data acknowledged, bytes.
    pub(crate) bytes: f64,
    /// Whether the capacity of any path is known.
    pub(crate) is_measured: bool,
}

impl MissingRates {
    /// Computes all rates for the data from `side`.
    pub(crate) fn compute(view: &View, flows: &[Subflow], side: usize) -> Self {
        let direction = &view.directions[side];
        let start = direction.first_data.unwrap_or(view.started);
        let end = view.subflows.iter().map(|&id| flows[id].halves[side].last_progress).max().unwrap_or(start);
        let seconds = end.max(direction.last_data).saturating_sub(start) as f64 / 1e9;
        // A path that was never full could carry more than it did: at least as much as the others on average.
        let halves = || view.subflows.iter().map(|&id| &flows[id].halves[side]);
        let measured: Vec<f64> =
            halves().filter(|half| half.has_measured_capacity()).filter_map(|half| half.capacity()).collect();
        let assumed =
            if measured.is_empty() { 0.0 } else { measured.iter().sum::<f64>() / measured.len() as f64 };
        let subflows: Vec<SubflowRates> = view
            .subflows
            .iter()
            .enumerate()
            .map(|(number, &id)| {
                let half = &flows[id].halves[side];
                let capacity = match half.capacity() {
                    Some(known) if half.has_measured_capacity() => known,
                    Some(least) => least.max(assumed),
                    None => assumed,
                };
                let mut rates = one(&flows[id], side, capacity, &direction.steps);
                if rates.seconds[Limit::Dead as usize] > 0.0 {
                    rates.assign(Limit::Dead, silence::cause(view, &flows[id], number, side));
                }
                rates
            })
            .collect();
        // A path can be silent for longer than data was sent.
        let longest = subflows.iter().map(|one| one.active).fold(0.0, f64::max);
        let seconds = seconds.max(longest);
        let stream = &direction.stream;
        // Data at the end of a capture may still wait for other data; without acknowledgements, all of it counts.
        let bytes =
            if stream.delivered > 0 { stream.delivered.min(stream.new_bytes) } else { stream.new_bytes };
        Self { subflows, seconds: seconds.max(1e-3), bytes: bytes as f64, is_measured: !measured.is_empty() }
    }

    /// Bytes that a limit cost all subflows.
    pub(crate) fn total(&self, limit: Limit) -> f64 {
        self.subflows.iter().map(|one| one.missing[limit as usize]).sum()
    }

    /// Bytes that a limit cost one subflow.
    pub(crate) fn of(&self, subflow: usize, limit: Limit) -> f64 {
        self.subflows.get(subflow).map_or(0.0, |one| one.missing[limit as usize])
    }

    /// Bytes that the connection could have carried.
    pub(crate) fn potential(&self) -> f64 {
        self.bytes + Limit::ALL.iter().map(|limit| self.total(*limit)).sum::<f64>()
    }

    /// A number of bytes as a rate, Mb/s.
    pub(crate) fn rate(&self, bytes: f64) -> f64 {
        bytes * 8.0 / self.seconds / 1e6
    }
}

fn one(subflow: &Subflow, side: usize, capacity: f64, stream: &Series<StreamStep>) -> SubflowRates {
    // Far from the sender, data in a queue is not seen yet, and the window seems to have space.
    let is_far = subflow.distance(side) > subflow.distance(1 - side);
    let half = &subflow.halves[side];
    let base = half.round_trips.base.unwrap_or(0.0);
    let mut series = subflow.steps[side].clone();
    let least = STEP.max(2.0 * half.round_trips.smoothed.unwrap_or(0.0));
    series.coarsen((least * 1e9) as u64);
    let mut rates = SubflowRates { capacity, ..SubflowRates::default() };
    let mut growing = Vec::new();
    for (number, step) in series.values().iter().enumerate() {
        let active: f32 = step.limits.iter().sum();
        let active = f64::from(active);
        if active <= 0.0 {
            continue;
        }
        let delivered = step.delivered as f64;
        rates.delivered += delivered;
        rates.active += active;
        let fills = f64::from(step.flight) / active >= FILLED * capacity * base + half.segment_size() as f64;
        if fills {
            rates.filled += active;
        }
        if f64::from(step.limits[Limit::Growth as usize]) > 0.5 * active {
            growing.push(f64::from(step.flight) / active);
        }
        let mut limits = step.limits;
        let full = limits[Limit::Window as usize] + limits[Limit::HeadOfLine as usize];
        let start = series.start() + number as u64 * series.step();
        let touches = is_far && stream.any(start, start + series.step() - 1, |one| one.touches_edge);
        if full > WINDOW * step.limits.iter().sum::<f32>() || touches {
            // A window that is full every few ms also decides what is sent in between.
            for other in [Limit::Unused, Limit::Application] {
                limits[Limit::Window as usize] += std::mem::take(&mut limits[other as usize]);
            }
        }
        for limit in Limit::ALL {
            let share = f64::from(limits[limit as usize]) / active;
            rates.seconds[limit as usize] += share * active;
            let is_silent = matches!(limit, Limit::Dead | Limit::Backup | Limit::Unused);
            if fills && !is_silent {
                continue;
            }
            rates.missing[limit as usize] += share * (capacity * active - delivered).max(0.0);
        }
    }
    // The first steps are slow start.
    let steady = &growing[growing.len() / 5..];
    if steady.len() >= 6 {
        let (early, late) = steady.split_at(steady.len() / 2);
        rates.growth = [early, late].map(|part| part.iter().sum::<f64>() / part.len() as f64);
    } else {
        rates.growth = [0.0, 1.0];
    }
    rates
}
