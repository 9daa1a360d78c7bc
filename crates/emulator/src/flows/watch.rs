//! Samples of a flow: turns the state of its sending socket into rows of the sample table.
//!
//! The table has the form of the simulator's. Owns the last state of each subflow, also of closed ones, so
//! that the counters of a path never fall. A path is a link at the opening host.

use std::net::Ipv4Addr;

use mptcp_clock::Instant;
use mptcp_lab::measurements::{Metric, Samples};
use mptcp_live::kernel::{PathInfo, SocketInfo};
use std::sync::atomic::Ordering;

use super::tally::Tally;

/// Counters of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub sent: u64,
    pub acked: u64,
    pub retransmits: u64,
    pub timeouts: u64,
    pub subflows: u32,
    /// Number of subflows that were established.
    pub joined: u32,
}

/// Counters of a flow at an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    pub received: u64,
    /// Bytes reinjected on another subflow.
    pub reinjected: u64,
    pub paths: Vec<Count>,
}

/// A sampled flow.
#[derive(Debug)]
pub(crate) struct Watch {
    flow: usize,
    /// Whether the opener sends.
    upload: bool,
    /// The opener's address, by link; `None` where the opener has no device.
    addresses: Vec<Option<Ipv4Addr>>,
    /// The last state of all subflows so far.
    subflows: Vec<PathInfo>,
    pub last: Mark,
    last_at: Instant,
    /// State at the end of the warm-up, or when data could first be sent if that was later.
    pub warm: Mark,
    pub warm_at: Option<Instant>,
    pub multipath: bool,
    reinjected: u64,
    /// Sum of smoothed RTTs after the warm-up in seconds, and number of samples.
    pub rtts: Vec<(f64, u32)>,
}

impl Watch {
    pub(crate) fn new(flow: usize, upload: bool, addresses: Vec<Option<Ipv4Addr>>) -> Self {
        let links = addresses.len();
        let empty = Mark { received: 0, reinjected: 0, paths: vec![Count::default(); links] };
        Self {
            flow,
            upload,
            addresses,
            subflows: Vec::new(),
            last: empty.clone(),
            last_at: Instant::ZERO,
            warm: empty,
            warm_at: None,
            multipath: false,
            reinjected: 0,
            rtts: vec![(0.0, 0); links],
        }
    }

    /// Adds rows for the sample of `nominal`, taken at `now`. `said` is the state of the sending socket.
    pub(crate) fn look<S: Clone>(
        &mut self,
        (nominal, now): (Instant, Instant),
        warmup: Instant,
        said: Option<SocketInfo>,
        tally: &Tally<S>,
        samples: &mut Samples,
    ) {
        if let Some(said) = said {
            self.take(said, (nominal > warmup, tally.has_ended()), nominal, samples);
        }
        let received = tally.received.load(Ordering::Relaxed);
        let mark = Mark { received, reinjected: self.reinjected, paths: self.counts() };
        let span = now.since(self.last_at).as_secs_f64();
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 * 8.0 / span.max(1e-9);
        let all = self.addresses.len();
        let mut total = 0.0;
        for (path, (count, then)) in mark.paths.iter().zip(&self.last.paths).enumerate() {
            if count.subflows == 0 {
                continue;
            }
            let sent = rate(count.sent, then.sent);
            total += sent;
            samples.push(nominal, self.flow, path, Metric::Throughput, sent);
            samples.push(nominal, self.flow, path, Metric::Goodput, rate(count.acked, then.acked));
            samples.push(nominal, self.flow, path, Metric::Retransmits, count.retransmits as f64);
        }
        samples.push(nominal, self.flow, all, Metric::Throughput, total);
        let read = rate(mark.received, self.last.received);
        samples.push(nominal, self.flow, all, Metric::Goodput, read);
        if tally.started().is_some() {
            samples.push(nominal, self.flow, all, Metric::Reinjected, self.reinjected as f64);
        }
        (self.last, self.last_at) = (mark, now);
        if nominal <= warmup || tally.started().is_none() {
            self.warm = self.last.clone();
            self.warm_at = Some(now);
        }
    }

    /// Handles the state of open subflows. Once the data has ended (`over`), the smoothed RTT is not sampled.
    fn take(&mut self, said: SocketInfo, (warm, over): (bool, bool), at: Instant, samples: &mut Samples) {
        self.multipath = said.multipath;
        self.reinjected = self.reinjected.max(said.reinjected);
        for subflow in said.paths {
            let same = |known: &&mut PathInfo| known.local == subflow.local && known.remote == subflow.remote;
            match self.subflows.iter_mut().find(same) {
                Some(known) => *known = subflow,
                None => self.subflows.push(subflow),
            }
            let Some(path) = self.path_of(&subflow) else { continue };
            let mss = f64::from(subflow.mss);
            samples.push(at, self.flow, path, Metric::Cwnd, f64::from(subflow.cwnd) * mss);
            if let Some(ssthresh) = subflow.ssthresh {
                samples.push(at, self.flow, path, Metric::Ssthresh, f64::from(ssthresh) * mss);
            }
            let [srtt, rttvar] = [subflow.srtt_us, subflow.rttvar_us].map(|micros| f64::from(micros) / 1e6);
            let over = over && self.rtts[path].1 > 0;
            if subflow.srtt_us > 0 && !over {
                samples.push(at, self.flow, path, Metric::Srtt, srtt);
                samples.push(at, self.flow, path, Metric::Rttvar, rttvar);
                if warm {
                    let (sum, count) = &mut self.rtts[path];
                    (*sum, *count) = (*sum + srtt, *count + 1);
                }
            }
            samples.push(at, self.flow, path, Metric::InFlight, f64::from(subflow.unacked) * mss);
        }
    }

    fn counts(&self) -> Vec<Count> {
        let mut counts = vec![Count::default(); self.addresses.len()];
        for subflow in &self.subflows {
            let Some(count) = self.path_of(subflow).and_then(|path| counts.get_mut(path)) else {
                continue;
            };
            count.sent += subflow.bytes_sent;
            count.acked += subflow.bytes_acked;
            count.retransmits += subflow.retransmits;
            count.timeouts += subflow.timeouts;
            count.subflows += 1;
            count.joined += u32::from(subflow.srtt_us > 0 || subflow.bytes_acked > 0);
        }
        counts
    }

    /// Index of a subflow's link at the opening host; `None` for an unknown address.
    fn path_of(&self, subflow: &PathInfo) -> Option<usize> {
        let own = if self.upload { subflow.local } else { subflow.remote };
        self.addresses.iter().position(|address| address.as_ref() == Some(own.ip()))
    }
}
