//! Reception of MPTCP options other than the DSS (RFC 8684 section 3).
//!
//! Owns the dispatch of options to their handlers, and the mapping in MP_CAPABLE. Never handles MP_CAPABLE and MP_JOIN
//! of SYNs (`handshake/`).

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{MpJoin, MptcpOption, Options, ResetReason};

use crate::connection::Connection;
use crate::connection::close::{Outcome, SubflowError};
use crate::subflow::mapping::{ReceivedMapping, WireMapping};

impl Connection {
    #[inline(never)]
    pub(crate) fn process_options(
        &mut self,
        now: Instant,
        id: usize,
        options: &Options,
        in_order: bool,
    ) -> Outcome {
        for option in &options.mptcp {
            match option {
                MptcpOption::Capable(capable) => {
                    if let Some((length, checksum)) = capable.data {
                        self.on_capable_with_data(id, length, checksum, in_order)?;
                    }
                }
                MptcpOption::AddAddress(add) => self.on_add_address(now, id, add),
                MptcpOption::RemoveAddress(remove) => self.on_remove_address(now, id, remove)?,
                // RFC 8684 section 3.3.8: in version 1 the option has no address ID and applies to its own subflow.
                MptcpOption::Prio(prio)
                    if self.negotiation.version() == Version::V1 && prio.address_id.is_some() => {}
                MptcpOption::Prio(prio) => self.subflows[id].addresses_mut().peer_backup = prio.backup,
                MptcpOption::Fail(_) => self.on_mp_fail(now, id)?,
                MptcpOption::FastClose(key) => {
                    if *key == self.negotiation.local().value {
                        return Err(SubflowError::FastClose(None));
                    }
                }
                // A repeated third ACK of a join: the fourth ACK was lost (RFC 8684 section 3.2).
                MptcpOption::Join(MpJoin::Ack { .. }) => self.subflows[id].receiver_mut().acknowledge_now(),
                MptcpOption::Join(_) | MptcpOption::TcpRst(_) => {}
            }
        }
        Ok(())
    }

    /// Stores the mapping in MP_CAPABLE on the first data (RFC 8684 section 3.1).
    #[cold]
    fn on_capable_with_data(
        &mut self,
        id: usize,
        length: u16,
        checksum: Option<u16>,
        in_order: bool,
    ) -> Outcome {
        if !self.negotiation.is_multipath() || !self.is_initial(id) {
            return Ok(());
        }
        let Some(remote) = self.negotiation.remote() else { return Ok(()) };
        if self.negotiation.checksum() != checksum.is_some() {
            // RFC 8684 section 3.3: a checksum that contradicts the negotiation breaks the subflow.
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        let checksum = checksum.filter(|_| self.negotiation.checksum()).map(|checksum| WireMapping {
            dsn: remote.first,
            subflow_sequence: 1,
            length,
            checksum,
        });
        let subflow = &mut self.subflows[id];
        let start = subflow.handshake().first_received;
        let next = subflow.receiver().next();
        self.recv.set_wide_data_acks(self.recv.uses_wide_data_acks() || in_order);
        subflow
            .mapper_mut()
            .announce(ReceivedMapping { start, length: u64::from(length), data: 0, checksum }, next);
        Ok(())
    }
}
