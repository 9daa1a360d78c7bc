//! What connections ask of their endpoint, as they say it.
//!
//! Owns what is done for each of their events. Never looks into a connection for what it did not say.

use mptcp_clock::Instant;

use super::Endpoint;
use crate::connection::EndpointEvent;
use crate::path_manager::Pair;
use crate::subflow::Origin;

impl Endpoint {
    /// Does what a connection has asked for.
    #[cold]
    pub(super) fn hear(&mut self, now: Instant, place: u32) {
        while let Some(connection) = self.slots.connection_at(place)
            && let Some(event) = connection.poll_endpoint_event()
        {
            let token = connection.token();
            match event {
                EndpointEvent::Opened(at) => self.demux.register(place, token, at),
                EndpointEvent::Closed(at) => self.demux.forget_subflow(place, at),
                EndpointEvent::Wanted(pair) => self.open_wanted(now, place, pair),
                EndpointEvent::Cookie(server, cookie, mss) => self.keep_cookie(server, (cookie, mss)),
                EndpointEvent::Answered => self.note_opened(place),
                EndpointEvent::FellBackOnThirdAck => self.counters.capable_fallback_acks += 1,
                EndpointEvent::Over => {
                    self.demux.forget_token(place, token);
                    self.note_opened(place);
                }
            }
        }
    }

    /// Opens a further subflow from a port that is free.
    fn open_wanted(&mut self, now: Instant, place: u32, pair: Pair) {
        let Some(local) = self.free_port(pair.local.address, pair.remote.address) else { return };
        let iss = self.random.next_u32();
        let Some(connection) = self.slots.connection_at(place) else { return };
        let origin = Origin::Join { nonce: 0, peer_nonce: 0 };
        let mut subflow = self.interfaces.subflow(
            pair.local.interface,
            local,
            pair.remote.address,
            origin,
            iss,
            connection.config(),
        );
        subflow.clock_mut().offset = self.secret.timestamp_offset(local, pair.remote.address);
        connection.open_join(now, subflow, pair);
        self.line_up(place);
    }
}
