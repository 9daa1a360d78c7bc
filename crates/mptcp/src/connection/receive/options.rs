//! What the options of MPTCP on a segment say (RFC 8684 section 3), the DSS aside.

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
                // RFC 8684 section 3.3.8: version 1 speaks of the subflow that it comes on, and has no address id.
                MptcpOption::Prio(prio)
                    if self.negotiation.version() == Version::V1 && prio.address_id.is_some() => {}
                MptcpOption::Prio(prio) => self.subflows[id].addresses_mut().peer_backup = prio.backup,
                MptcpOption::Fail(_) => self.on_mp_fail(now, id)?,
                MptcpOption::FastClose(key) => {
                    if *key == self.negotiation.local().value {
                        return Err(SubflowError::FastClose(None));
                    }
                }
                // The third ACK of a join again: the fourth was lost (RFC 8684 section 3.2).
                MptcpOption::Join(MpJoin::Ack { .. }) => self.subflows[id].receiver_mut().acknowledge_now(),
                MptcpOption::Join(_) | MptcpOption::TcpRst(_) => {}
            }
        }
        Ok(())
    }

    /// MP_CAPABLE on the first data maps it (RFC 8684 section 3.1).
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
            // RFC 8684 section 3.3: without the checksum that was agreed on, or with one that was not, the subflow is broken.
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
        self.recv.set_wide_numbers(self.recv.has_wide_numbers() || in_order);
        subflow
            .mapper_mut()
            .announce(ReceivedMapping { start, length: u64::from(length), data: 0, checksum }, next);
        Ok(())
    }
}
