//! MP_CAPABLE and MP_JOIN: the options that this host sends, and the search for them in a segment.
//!
//! Owns their fields. Never decides the result of a handshake (`handshake/mod.rs`).

use mptcp_wire::crypto::Version;
use mptcp_wire::{MpCapable, MpJoin, MptcpOption, Options, ResetReason, Segment};

use crate::connection::Connection;
use crate::subflow::{Control, Origin};

/// The maximum of SYNs with MP_CAPABLE: Linux's `net.mptcp.syn_retrans_before_tcp_fallback` and the first.
pub(crate) const CAPABLE_SYNS: u32 = 3;

impl Connection {
    /// The MPTCP options of a SYN or SYN/ACK.
    pub(crate) fn handshake_options(&self, id: usize, control: Control) -> Vec<MptcpOption> {
        let subflow = &self.subflows[id];
        let mut flags =
            MpCapable::HMAC | if self.checksum_wanted() { MpCapable::CHECKSUM_REQUIRED } else { 0 };
        if !self.config.join_initial_address {
            flags |= MpCapable::NO_JOIN_HERE;
        }
        let option = match (subflow.handshake().origin, control) {
            (Origin::Initial, Control::Syn) if self.negotiation.is_open() => {
                // A middlebox may drop SYNs with the option, so later SYNs omit it.
                if subflow.handshake().attempts > CAPABLE_SYNS {
                    return Vec::new();
                }
                MptcpOption::Capable(MpCapable {
                    version: self.negotiation.version().number(),
                    flags,
                    sender_key: (self.negotiation.version() == Version::V0)
                        .then_some(self.negotiation.local().value),
                    receiver_key: None,
                    data: None,
                })
            }
            // The SYN/ACK of a simultaneous open is TCP's.
            (Origin::Initial, Control::SynAck)
                if self.negotiation.is_open() && !subflow.handshake().is_active_open =>
            {
                MptcpOption::Capable(MpCapable {
                    version: self.negotiation.version().number(),
                    flags,
                    sender_key: Some(self.negotiation.local().value),
                    receiver_key: None,
                    data: None,
                })
            }
            (Origin::Join { nonce, .. }, Control::Syn) => {
                let Some(remote) = self.negotiation.remote() else { return Vec::new() };
                MptcpOption::Join(MpJoin::Syn {
                    backup: subflow.addresses().backup,
                    address_id: subflow.addresses().local_id,
                    token: remote.token,
                    nonce,
                })
            }
            (Origin::Join { nonce, peer_nonce }, Control::SynAck) => {
                let Some(remote) = self.negotiation.remote() else { return Vec::new() };
                MptcpOption::Join(MpJoin::SynAck {
                    backup: subflow.addresses().backup,
                    address_id: subflow.addresses().local_id,
                    hmac: self.negotiation.version().join_hmac_truncated(
                        self.negotiation.local().value,
                        remote.value,
                        nonce,
                        peer_nonce,
                    ),
                    nonce,
                })
            }
            _ => return Vec::new(),
        };
        vec![option]
    }

    fn checksum_wanted(&self) -> bool {
        if self.negotiation.client() { self.config.checksum } else { self.negotiation.checksum() }
    }

    /// MP_CAPABLE with both keys, for the third ACK and the first data. `None` if the peer's key is unknown.
    pub(crate) fn capable_with_keys(&self, data: Option<(u16, Option<u16>)>) -> Option<MptcpOption> {
        let flags =
            MpCapable::HMAC | if self.negotiation.checksum() { MpCapable::CHECKSUM_REQUIRED } else { 0 };
        Some(MptcpOption::Capable(MpCapable {
            version: self.negotiation.version().number(),
            flags,
            sender_key: Some(self.negotiation.local().value),
            receiver_key: Some(self.negotiation.remote()?.value),
            data,
        }))
    }

    /// MP_JOIN for the third ACK of a join. `None` if the subflow is no join or the peer's key is unknown.
    pub(crate) fn join_with_hmac(&self, id: usize) -> Option<MptcpOption> {
        let Origin::Join { nonce, peer_nonce } = self.subflows[id].handshake().origin else { return None };
        let remote = self.negotiation.remote()?;
        let hmac = self.negotiation.version().join_hmac(
            self.negotiation.local().value,
            remote.value,
            nonce,
            peer_nonce,
        );
        Some(MptcpOption::Join(MpJoin::Ack { hmac }))
    }

    pub(crate) fn window_scale(&self) -> u8 {
        let tunes = self.config.mechanisms.autotuning;
        self.config.linux_stack.window_scale(self.config.receive_buffer, tunes)
    }
}

pub(crate) fn capable(options: &Options) -> Option<&MpCapable> {
    options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(capable),
        _ => None,
    })
}

pub(crate) fn join(options: &Options) -> Option<&MpJoin> {
    options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(join) => Some(join),
        _ => None,
    })
}

/// The reason in the peer's MP_TCPRST, if present.
pub(crate) fn reset_reason(segment: &Segment) -> Option<ResetReason> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::TcpRst(reset) => Some(reset.reason),
        _ => None,
    })
}
