//! Sends and delivers the ICMP errors for packets that were too long, with the delay of their link. Endpoints
//! need these errors for path MTU discovery.

use mptcp::IcmpError;
use mptcp_clock::Instant;

use super::Refused;
use crate::world::{ETHERNET, ScheduledAction, World, host};

impl World {
    /// Sends ICMP errors for dropped segments. The hop with the smaller MTU is at the far end of the link. An
    /// error therefore arrives one RTT of the link after the segment was sent.
    pub(in crate::world) fn send_notices(&mut self) {
        for refused in std::mem::take(&mut self.narrow.refused) {
            let Refused { at, direction, mut message } = refused;
            let forth = self.network.parameters(direction);
            let (delay, longest) = (forth.delay, forth.longest);
            let back = self.network.parameters(direction.reverse()).delay;
            let Some(mtu) = longest.map(|longest| longest - ETHERNET as u32) else { continue };
            message.error = IcmpError::TooBig { mtu };
            let Some(to) =
                host::place(message.local.ip()).map(|(to, _)| to).filter(|&to| to < self.hosts.len())
            else {
                continue;
            };
            self.narrow.sent += 1;
            self.narrow.notices.insert(self.narrow.sent, (to, message));
            self.schedule(at + delay + back, ScheduledAction::Notice(self.narrow.sent));
        }
    }

    /// An ICMP error arrives.
    #[cold]
    pub(in crate::world) fn tell_too_long(&mut self, now: Instant, number: usize) {
        if let Some((to, message)) = self.narrow.notices.remove(&number) {
            self.hosts[to].endpoint.handle_icmp(now, message);
            self.service(now, to);
        }
    }
}
