//! The options of the handshakes: MP_CAPABLE and MP_JOIN as we send them, and found in what came.
//!
//! Owns their form; what follows from them is `handshake`'s affair.

use mptcp_wire::crypto::Version;
use mptcp_wire::{MpCapable, MpJoin, MptcpOption, Options, ResetReason, Segment};

use crate::connection::Connection;
use crate::subflow::{Control, Origin};

/// SYNs with MP_CAPABLE before one without: Linux's `net.mptcp.syn_retrans_before_tcp_fallback` and the first.
pub(crate) const CAPABLE_SYNS: u32 = 3;

impl Connection {
    /// The options of a SYN or SYN/ACK of ours.
    pub(crate) fn handshake_options(&self, id: usize, control: Control) -> Vec<MptcpOption> {
        let subflow = &self.subflows[id];
        let mut flags =
            MpCapable::HMAC | if self.checksum_wanted() { MpCapable::CHECKSUM_REQUIRED } else { 0 };
        if !self.config.join_initial_address {
            flags |= MpCapable::NO_JOIN_HERE;
        }
        let option = match (subflow.handshake().origin, control) {
            (Origin::Initial, Control::Syn) if self.negotiation.is_open() => {
                // After them, one without options: something may eat them.
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
            // A SYN/ACK of ours to a SYN that crossed ours is TCP's.
            (Origin::Initial, Control::SynAck)
                if self.negotiation.is_open() && !subflow.handshake().opened_here =>
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

    /// MP_CAPABLE with both keys: on the third ACK, and on the first data.
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

    /// The third ACK of a join.
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

/// Why the peer says that it resets.
pub(crate) fn reset_reason(segment: &Segment) -> Option<ResetReason> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::TcpRst(reset) => Some(reset.reason),
        _ => None,
    })
}
