//! Joint capacity of several paths: the minimum cut. A cut is a set of links such that every path crosses one
//! of them. The minimum cut has the smallest sum of rates.
//!
//! Results list this capacity as the upper bound of a flow's rate. Two paths over one slow link have the
//! capacity of that link, however fast their other links are. Owns the search.

use std::collections::BTreeMap;

use netsim::DirectionId;

/// Maximum number of steps of the search. After them, the best cut so far serves as an upper bound.
const MAX_STEPS: u32 = 100_000;

/// The links of a path that have a rate, each with this rate, bit/s.
pub(in crate::world) type Links = Vec<(DirectionId, f64)>;

/// Capacity of the minimum cut, bit/s; `None` if a path has no link with a rate.
pub(in crate::world) fn least(paths: &[Links]) -> Option<f64> {
    if paths.is_empty() || paths.iter().any(Vec::is_empty) {
        return None;
    }
    let mut search = Search { paths: relevant(paths), best: f64::INFINITY, steps: 0 };
    search.choose(0, 0.0, &mut Vec::new());
    Some(search.best)
}

/// The links that matter for the cut: the slowest of all links that the same paths cross.
fn relevant(paths: &[Links]) -> Vec<Links> {
    let mut crossing: BTreeMap<DirectionId, (Vec<usize>, f64)> = BTreeMap::new();
    for (at, links) in paths.iter().enumerate() {
        for &(link, rate) in links {
            crossing.entry(link).or_insert((Vec::new(), rate)).0.push(at);
        }
    }
    let mut slowest: BTreeMap<Vec<usize>, (DirectionId, f64)> = BTreeMap::new();
    for (link, (crossed_by, rate)) in crossing {
        let known = slowest.entry(crossed_by).or_insert((link, rate));
        if rate < known.1 {
            *known = (link, rate);
        }
    }
    let mut found = vec![Links::new(); paths.len()];
    for (crossed_by, link) in slowest {
        for at in crossed_by {
            found[at].push(link);
        }
    }
    for links in &mut found {
        links.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    found
}

struct Search {
    paths: Vec<Links>,
    best: f64,
    steps: u32,
}

impl Search {
    /// Chooses a link for each path from `at` on.
    fn choose(&mut self, at: usize, sum: f64, chosen: &mut Vec<DirectionId>) {
        self.steps += 1;
        // The search finds the first complete cut without backtracking, so the limit never prevents this cut.
        let is_over = self.steps > MAX_STEPS && self.best.is_finite();
        if sum >= self.best || is_over {
            return;
        }
        let Some(links) = self.paths.get(at) else {
            self.best = sum;
            return;
        };
        if links.iter().any(|(link, _)| chosen.contains(link)) {
            return self.choose(at + 1, sum, chosen);
        }
        for (link, rate) in links.clone() {
            chosen.push(link);
            self.choose(at + 1, sum + rate, chosen);
            chosen.pop();
        }
    }
}
