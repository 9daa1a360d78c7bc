//! Values in equal time steps, in bounded memory: the steps double when there are too many.

/// First length of a step, ns.
const SHORTEST: u64 = 10_000_000;

/// Values of one step, which two steps combine.
pub(crate) trait Combine: Default + Clone {
    /// Adds the values of the following step.
    fn combine(&mut self, later: &Self);
}

/// A series that starts at a time.
#[derive(Clone, Debug)]
pub(crate) struct Series<T> {
    start: u64,
    step: u64,
    /// Steps at most.
    most: usize,
    values: Vec<T>,
}

impl<T: Combine> Series<T> {
    /// A series of at most `most` steps.
    pub(crate) const fn new(start: u64, most: usize) -> Self {
        Self { start, step: SHORTEST, most, values: Vec::new() }
    }

    /// The step of a time, which may be shared with later times.
    pub(crate) fn at(&mut self, time: u64) -> &mut T {
        let since = time.saturating_sub(self.start);
        while since / self.step >= self.most as u64 {
            self.double();
        }
        let index = (since / self.step) as usize;
        if index >= self.values.len() {
            self.values.resize(index + 1, T::default());
        }
        &mut self.values[index]
    }

    fn double(&mut self) {
        self.step = self.step.saturating_mul(2);
        let pairs = self.values.chunks(2).map(|pair| {
            let mut first = pair[0].clone();
            if let Some(second) = pair.get(1) {
                first.combine(second);
            }
            first
        });
        self.values = pairs.collect();
    }

    /// Doubles the steps until one is at least this long, ns.
    pub(crate) fn coarsen(&mut self, least: u64) {
        while self.step < least {
            self.double();
        }
    }

    /// Whether a step that overlaps an interval satisfies a condition.
    pub(crate) fn any(&self, from: u64, to: u64, condition: impl Fn(&T) -> bool) -> bool {
        let index = |time: u64| (time.saturating_sub(self.start) / self.step) as usize;
        let last = index(to).min(self.values.len().saturating_sub(1));
        self.values.get(index(from)..=last).is_some_and(|steps| steps.iter().any(condition))
    }

    /// Start of the first step, ns.
    pub(crate) const fn start(&self) -> u64 {
        self.start
    }

    /// Length of a step, s.
    pub(crate) fn seconds(&self) -> f64 {
        self.step as f64 / 1e9
    }

    /// Length of a step, ns.
    pub(crate) const fn step(&self) -> u64 {
        self.step
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// Calls `add` for each step that the interval touches, with its part of the interval in seconds.
    pub(crate) fn spread(&mut self, from: u64, to: u64, mut add: impl FnMut(&mut T, f32)) {
        // Makes the step long enough for the end, so that the loop is bounded.
        self.at(to);
        let mut at = from.max(self.start);
        while at < to {
            let index = (at - self.start) / self.step;
            let end = (self.start + (index + 1) * self.step).min(to);
            let part = (end - at) as f32 / 1e9;
            add(&mut self.values[index as usize], part);
            at = end;
        }
    }
}
