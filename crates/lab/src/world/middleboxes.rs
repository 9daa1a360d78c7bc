//! The middleboxes of all links, in order.
//!
//! Owns the middleboxes, their order on a link, and their activation. Never sees a frame: the world, the
//! running simulation, extracts segments from the network and sends the results (`inspect`).
//! `crate::middlebox` implements the types.

mod inspect;

use std::fmt;

use mptcp_clock::{Instant, Rng};
use mptcp_wire::Segment;
use netsim::{DirectionId, LinkId};

use crate::middlebox::{Maker, Middlebox, Site, Travelling};
use crate::scenario::Way;
use crate::scenario::names::Side;

/// A middlebox in its position.
struct Place {
    name: String,
    link: LinkId,
    way: Way,
    make: Maker,
    /// `None` while it is inactive.
    inner: Option<Box<dyn Middlebox>>,
    stream: Rng,
    /// Number of activations.
    lives: u32,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {:?}: {:?}", self.name, self.link, self.inner)
    }
}

impl Place {
    fn build(&mut self) -> Box<dyn Middlebox> {
        self.lives += 1;
        let random = self.stream.child(&self.lives.to_string());
        (self.make)(Site { way: self.way, random })
    }
}

/// All middleboxes of a world.
#[derive(Debug, Default)]
pub(super) struct Middleboxes {
    /// In the order of the scenario. On one link, the first is closest to the first end.
    places: Vec<Place>,
}

impl Middleboxes {
    pub(super) fn add(&mut self, spec: &crate::scenario::Middlebox, link: LinkId, stream: Rng) {
        let (name, make) = (spec.name.clone(), spec.what.make().clone());
        self.places.push(Place { name, link, way: spec.way, make, inner: None, stream, lives: 0 });
        self.switch(&spec.name, spec.on);
    }

    /// Whether middleboxes, active or not, precede the queue of this direction.
    pub(super) fn before(&self, direction: DirectionId) -> bool {
        self.places.iter().any(|place| place.link.backward() == direction)
    }

    /// Activates or deactivates a middlebox. Deactivation discards its state and held segments.
    pub(super) fn switch(&mut self, name: &str, on: bool) {
        for place in self.places.iter_mut().filter(|place| place.name == name) {
            if on && place.inner.is_none() {
                place.inner = Some(place.build());
            } else if !on {
                place.inner = None;
            }
        }
    }

    /// Passes a segment through the middleboxes of a link. Returns the segments that leave the last middlebox
    /// on either side.
    pub(super) fn take(
        &mut self,
        now: Instant,
        link: LinkId,
        side: Side,
        segment: Segment,
    ) -> Vec<Travelling> {
        let chain = self.chain(link);
        let first = match side {
            Side::Forward => 0,
            Side::Backward => chain.len() as isize - 1,
        };
        let mut out = Vec::new();
        self.walk(now, &chain, vec![(first, (side, segment))], &mut out);
        out
    }

    /// Time of the next call of `wake`; `None` if no middlebox has a timer.
    pub(super) fn due(&self) -> Option<Instant> {
        self.places.iter().filter_map(|place| place.inner.as_ref()?.due()).min()
    }

    /// Wakes the middleboxes whose timer expired. Returns their segments, with the link of each.
    pub(super) fn wake(&mut self, now: Instant) -> Vec<(LinkId, Travelling)> {
        let mut out = Vec::new();
        for at in 0..self.places.len() {
            let place = &mut self.places[at];
            let link = place.link;
            let Some(inner) = place.inner.as_mut().filter(|inner| inner.due().is_some_and(|due| due <= now))
            else {
                continue;
            };
            let mut made = Vec::new();
            inner.wake(now, &mut made);
            let chain = self.chain(link);
            let here = chain.iter().position(|&other| other == at).unwrap_or(0) as isize;
            let made = made.into_iter().map(|one| (beyond(here, one.0), one)).collect();
            let mut through = Vec::new();
            self.walk(now, &chain, made, &mut through);
            out.extend(through.into_iter().map(|one| (link, one)));
        }
        out
    }

    fn chain(&self, link: LinkId) -> Vec<usize> {
        (0..self.places.len()).filter(|&at| self.places[at].link == link).collect()
    }

    /// Passes segments through the middleboxes of a link in order, each from its position on.
    fn walk(
        &mut self,
        now: Instant,
        chain: &[usize],
        mut under_way: Vec<(isize, Travelling)>,
        out: &mut Vec<Travelling>,
    ) {
        under_way.reverse();
        while let Some((here, (side, segment))) = under_way.pop() {
            let Some(&at) = usize::try_from(here).ok().and_then(|here| chain.get(here)) else {
                out.push((side, segment));
                continue;
            };
            let mut made = Vec::new();
            match &mut self.places[at].inner {
                Some(inner) => inner.take(now, side, segment, &mut made),
                None => made.push((side, segment)),
            }
            under_way.extend(made.into_iter().rev().map(|one| (beyond(here, one.0), one)));
        }
    }
}

/// The next position in a chain.
fn beyond(here: isize, side: Side) -> isize {
    match side {
        Side::Forward => here + 1,
        Side::Backward => here - 1,
    }
}
