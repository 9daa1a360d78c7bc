//! Random, correct calls of the application on the attacked host (the victim), so that an attack meets the
//! endpoint in many states.
//!
//! A random case is a simulated attack whose steps random bytes control; `Arena` holds its state. Owns the
//! choice of calls: data, options, closes, subflows and interfaces. Never sends packets itself.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp::{InterfaceChange, InterfaceId};
use mptcp_clock::Duration;

use super::application::OpenConnection;
use super::choices::peer_address;
use super::{Arena, settings};
use crate::scene::PORT;

impl Arena<'_> {
    fn any_connection(&mut self) -> Option<usize> {
        let count = self.application.connections.len();
        (count > 0).then(|| self.draw.below(count))
    }

    /// Performs one random action.
    pub(super) fn act(&mut self) {
        let now = self.now;
        let what = self.draw.byte() % 20;
        if what == 0 || self.application.connections.is_empty() && what < 14 {
            return self.connect();
        }
        if what >= 14 {
            return self.act_on_host(what);
        }
        let Some(at) = self.any_connection() else { return };
        let id = self.application.connections[at].id;
        self.tell(|| format!("application {what} on {id:?}"));
        match what {
            1..=4 => {
                let length = self.draw.scaled(20).min(self.victim.writable(id) + 1);
                self.victim.write(now, id, Bytes::from(vec![7; length as usize]));
                self.victim.await_writable(now, id);
            }
            5 => drop(self.victim.read(now, id)),
            6 => while self.victim.read(now, id).is_some() {},
            7 => self.application.connections[at].reads = self.draw.flag(),
            8 => self.victim.close(now, id),
            9 => self.victim.abort(now, id),
            10 => {
                let on = self.draw.flag();
                self.victim.set_cork(now, id, on);
            }
            11 => {
                let on = self.draw.flag();
                self.victim.set_nodelay(now, id, on);
            }
            12 => {
                let interface = InterfaceId((self.draw.byte() % 4).into());
                let to = self.some_address();
                self.victim.open_subflow(now, id, interface, to);
            }
            _ => {
                let which = self.draw.below(10);
                let found = self.victim.connection(id).and_then(|known| known.subflow_ids().nth(which));
                if let Some(subflow) = found {
                    self.victim.close_subflow(now, id, subflow);
                }
            }
        }
    }

    fn act_on_host(&mut self, what: u8) {
        let now = self.now;
        self.tell(|| format!("host {what}"));
        match what {
            14 => {
                let Some(at) = self.any_connection() else { return };
                let id = self.application.connections[at].id;
                let (congestion, scheduler) =
                    (settings::congestion(&mut self.draw), settings::scheduler(&mut self.draw));
                self.victim.set_policies(id, Some(congestion.build()), Some(scheduler.build()));
            }
            15 => {
                let interface = InterfaceId(self.draw.below(self.addresses.len()) as u32);
                let change = match self.draw.byte() % 4 {
                    0 => InterfaceChange::Down,
                    1 => InterfaceChange::Backup(self.draw.flag()),
                    _ => InterfaceChange::Up,
                };
                self.victim.handle_interface(now, interface, change);
            }
            16 => {
                self.application.accepts = self.draw.flag();
                self.application.reads = self.draw.flag();
            }
            17 => self.depart(),
            18 => {
                let port = self.draw.pick(&[PORT, PORT + 1]);
                if !self.victim.unlisten(port) {
                    self.listen(port);
                }
            }
            _ => {
                if let Some(friend) = &mut self.friend {
                    let bytes = self.draw.scaled(17);
                    friend.counts[usize::from(self.draw.flag())].wanted += bytes;
                }
            }
        }
    }

    pub(super) fn listen(&mut self, port: u16) {
        let at = self.draw.below(self.application.configs.len());
        let config = self.application.configs[at].clone();
        let backlog = self.draw.pick(&[None, Some(1), Some(4), Some(128)]);
        let _ = self.victim.listen_on(port, config, None, backlog);
    }

    fn connect(&mut self) {
        let (now, count) = (self.now, self.application.configs.len());
        let config = self.application.configs[self.draw.below(count)].clone();
        let interface = InterfaceId(self.draw.below(self.addresses.len()) as u32);
        let wide = self.addresses[interface.0 as usize].is_ipv6();
        let remote = SocketAddr::new(peer_address(self.draw.byte() % 3, wide), 443);
        self.tell(|| format!("connect {interface:?} {remote}"));
        let opened = if self.draw.chance(60) {
            let length = self.draw.pick(&[1, 0, 100, 500, 1_400, 20_000]);
            let cookies = self.draw.flag();
            let data = Bytes::from(vec![7; length]);
            self.victim.connect_fast_open(now, interface, remote, config, data, cookies)
        } else {
            self.victim.connect(now, interface, remote, config)
        };
        if let Ok(id) = opened {
            self.application.connections.push(OpenConnection { id, reads: self.application.reads });
        }
    }

    /// Removes a random number of packets from the interfaces' queues, and reports their departure.
    pub(super) fn depart(&mut self) {
        let count = self.draw.below(self.queued.len() + 1);
        for (id, subflow, bytes) in self.queued.drain(..count) {
            let departure = mptcp::congestion::Departure {
                bytes,
                service: Duration::from_micros(bytes),
                alone: Duration::from_micros(bytes / 2),
            };
            self.victim.handle_departed(self.now, id, subflow, departure);
        }
    }
}
