//! Data leaves: new data, and data that is sent again.

use bytes::Bytes;
use mptcp_clock::Instant;

use super::Sender;
use crate::congestion::PathState;
use crate::subflow::sent::Sent;

impl Sender {
    /// Sends new data: the caller has checked the window.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Instant, data: u64, payload: Bytes, fin: bool, path: &PathState) {
        let start = self.board.next;
        let sent = Sent {
            start,
            data,
            payload,
            whole: None,
            sent_at: now,
            first_sent_at: now,
            fin,
            sacked: false,
            lost: false,
            resent: false,
            ever_resent: false,
        };
        self.prr_out += sent.length();
        self.last_sent = Some(now);
        self.filled.0 = u64::MAX;
        self.spurious.on_new_data();
        let end = sent.end();
        self.board.push(sent);
        self.note_sent(now, start, end, false);
        if let Some(round) = &mut self.round {
            let full = self.board.in_flight() + path.mss > path.cwnd;
            round.note(self.board.una, self.board.next, full);
        }
        if std::mem::take(&mut self.probe_wanted) {
            self.probe = Some((self.board.next, false));
        }
        self.arm(now, self.rto_deadline == Instant::FAR_FUTURE, path);
    }

    /// The next segment to retransmit, if the window allows it. Of a large one, as many frames as the window has room for,
    /// where the device cuts `largest` bytes into frames; else one.
    pub(crate) fn retransmit(&mut self, now: Instant, path: &PathState, largest: u64) -> Option<&Sent> {
        let PathState { cwnd, mss, .. } = *path;
        let room = cwnd.saturating_sub(self.in_flight());
        let held = self.spurious.tries_new_data();
        let at = if self.board.lost > 0 && room > 0 && !held { self.board.next_lost() } else { None };
        let at = match at {
            Some(at) => {
                self.board.split(at, (room.min(largest) / mss).max(1) * mss);
                at
            }
            None if std::mem::take(&mut self.probe_wanted) => {
                // RFC 8985 section 7.3: no new data was there for the probe, so the last segment.
                let last = self.board.queue.iter().rposition(|sent| !sent.sacked)?;
                self.probe = Some((self.board.next, true));
                let before = (self.board.queue[last].payload.len() as u64).saturating_sub(1) / mss;
                self.board.split(last, before * mss);
                last + usize::from(before > 0)
            }
            None => return None,
        };
        self.board.mark_resent(at, now);
        let (start, end) = (self.board.queue[at].start, self.board.queue[at].end());
        self.note_sent(now, start, end, true);
        self.last_sent = Some(now);
        self.note_repeated_probe(start);
        let length = end - start;
        self.prr_out += length;
        self.spurious.on_repeated(now, (start, end));
        self.retransmissions += 1;
        self.retransmitted_bytes += length;
        // RFC 6298 section 5: the timer watches the oldest segment.
        self.arm(now, at == 0 || self.rto_deadline == Instant::FAR_FUTURE, path);
        self.board.queue.get(at)
    }
}
