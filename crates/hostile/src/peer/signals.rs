//! The attacking peer's MPTCP options other than the DSS, signed with valid keys.
//!
//! Owns their valid forms; `arena::deviate` creates invalid ones. The host is the attacked endpoint.

use std::net::IpAddr;

use mptcp::Version;
use mptcp_wire::crypto::add_address_hmac;
use mptcp_wire::{AddAddress, MptcpOption, RemoveAddress};

use super::Peer;

impl Peer {
    /// ADD_ADDR with a valid HMAC; without HMAC in version 0, and while the host's key is unknown.
    #[must_use]
    pub fn add_address(&self, id: usize, address_id: u8, address: IpAddr, port: Option<u16>) -> MptcpOption {
        let link = &self.links[self.flows[id].link];
        let key = link.host_key.filter(|_| link.version == Version::V1);
        let hmac = key.map(|key| add_address_hmac(link.key, key, address_id, address, port));
        MptcpOption::AddAddress(AddAddress { echo: false, id: address_id, address, port, hmac })
    }

    /// REMOVE_ADDR with these address IDs.
    #[must_use]
    pub fn remove_address(ids: &[u8]) -> MptcpOption {
        let mut option = RemoveAddress::default();
        ids.iter().for_each(|&id| {
            let _ = option.ids.try_push(id);
        });
        MptcpOption::RemoveAddress(option)
    }

    /// MP_FASTCLOSE with the host's key, or with an invalid key while the host's key is unknown.
    #[must_use]
    pub fn fast_close(&self, id: usize) -> MptcpOption {
        MptcpOption::FastClose(self.links[self.flows[id].link].host_key.unwrap_or(1))
    }

    /// MP_FAIL for an offset of the host's stream.
    #[must_use]
    pub fn fail(&self, id: usize, offset: u64) -> MptcpOption {
        MptcpOption::Fail(self.links[self.flows[id].link].host_number(offset).unwrap_or(0))
    }
}
