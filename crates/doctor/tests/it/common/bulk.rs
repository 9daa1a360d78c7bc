//! A transfer at a constant rate, with losses and their repair by SACK.

use std::collections::BTreeSet;

use super::scene::{Flow, MSS, Scene, dss, initial_data};
use mptcp_wire::DataSequence;

/// A transfer of full segments on one subflow.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub(crate) flow: Flow,
    /// The side of the subflow that sends, and the side of the connection.
    pub(crate) side: usize,
    pub(crate) host: usize,
    pub(crate) start: u64,
    pub(crate) count: u32,
    /// Time between segments, ns.
    pub(crate) gap: u64,
    /// Segments that are lost once, and whether before the capture.
    pub(crate) lost: Vec<u32>,
    pub(crate) is_lost_before_capture: bool,
    /// Number of the first byte at the data level; None without MPTCP.
    pub(crate) data: Option<u64>,
    pub(crate) is_short: bool,
    /// Relative number of the first byte on the subflow.
    pub(crate) first: u32,
}

impl Bulk {
    /// MPTCP data of the opener.
    pub(crate) fn new(flow: &Flow, start: u64, count: u32, gap: u64) -> Self {
        Self {
            flow: *flow,
            side: 0,
            host: 0,
            start,
            count,
            gap,
            lost: Vec::new(),
            is_lost_before_capture: false,
            data: Some(1),
            is_short: false,
            first: 1,
        }
    }

    pub(crate) fn plain(flow: &Flow, start: u64, count: u32, gap: u64) -> Self {
        Self { data: None, ..Self::new(flow, start, count, gap) }
    }

    pub(crate) fn server_sends(self) -> Self {
        Self { side: 1, host: 1, ..self }
    }

    fn number(&self, index: u32) -> u32 {
        self.first + index * MSS
    }

    fn data_number(&self, host: usize, data: u64) -> DataSequence {
        let number = initial_data(host).wrapping_add(data);
        if self.is_short { DataSequence::Short(number as u32) } else { DataSequence::Wide(number) }
    }

    /// Adds data, acknowledgements and retransmissions to a scene. Returns the time of the last acknowledgement.
    pub(crate) fn play(&self, scene: &mut Scene) -> u64 {
        let rtt = scene.rtt();
        let from = scene.distance[self.side];
        // Times at the sender; the capture sees data half of its distance later.
        let mut sent: Vec<(u64, u32, bool)> = Vec::new();
        for index in 0..self.count {
            let time = self.start + u64::from(index) * self.gap;
            let is_lost = self.lost.contains(&index);
            sent.push((time, index, is_lost));
            if is_lost {
                // The acknowledgement of the fourth later segment arrives.
                sent.push((time + 4 * self.gap + rtt + self.gap / 2, index, false));
            }
        }
        sent.sort_unstable();
        let mut received = BTreeSet::new();
        let mut last = self.start;
        for (time, index, is_lost) in sent {
            let seen = time + from / 2;
            if !is_lost || !self.is_lost_before_capture {
                let mut segment = self.flow.data(self.side, self.number(index), MSS);
                if let Some(data) = self.data {
                    let number = self.data_number(self.host, data + u64::from(index * MSS));
                    segment.options.dss = Some(dss(None, Some((number, self.number(index), MSS as u16))));
                }
                scene.add(seen, segment);
            }
            if is_lost {
                continue;
            }
            received.insert(index);
            let acknowledged = (0..).find(|one| !received.contains(one)).unwrap_or(0);
            let blocks = self.blocks(&received, acknowledged);
            let mut ack = self.flow.ack(1 - self.side, self.number(acknowledged), &blocks);
            if let Some(data) = self.data {
                let number = self.data_number(self.host, data + u64::from(acknowledged * MSS));
                ack.options.dss = Some(dss(Some(number), None));
            }
            last = seen + rtt - from;
            scene.add(last, ack);
        }
        last
    }

    /// SACK blocks of segments above the cumulative acknowledgement, the highest one first.
    fn blocks(&self, received: &BTreeSet<u32>, acknowledged: u32) -> Vec<(u32, u32)> {
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        for &index in received.iter().filter(|index| **index > acknowledged) {
            match blocks.last_mut() {
                Some((_, end)) if *end == index => *end += 1,
                _ => blocks.push((index, index + 1)),
            }
        }
        blocks.iter().rev().take(2).map(|(left, right)| (self.number(*left), self.number(*right))).collect()
    }
}
