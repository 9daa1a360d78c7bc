//! Builds the control messages that recvmsg(2) returns to a packetdrill script.
//!
//! Owns the layout of two messages: the length of the receive queue (TCP_INQ), and MSG_ZEROCOPY completions in the
//! error queue.

use std::os::fd::RawFd;

use crate::errno::{Result, fail};
use crate::memory::Control;
use crate::options::TCP_INQ;
use crate::sockets::Role;
use crate::stack::Stack;

/// `ee_origin` and `ee_code` of `struct sock_extended_err` (include/uapi/linux/errqueue.h).
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;

impl Stack {
    /// The TCP_INQ message; None if the socket has not enabled it.
    pub(crate) fn queue_message(&self, fd: RawFd) -> Result<Option<Control>> {
        self.act(|core, _| {
            let socket = core.sockets.get(fd)?.clone();
            let Role::Stream(id) = socket.role else { return Ok(None) };
            if !socket.options.tell_queue {
                return Ok(None);
            }
            let finished = core.sockets.status(id).is_ok_and(|status| status.finished);
            // As in Linux, the end of the stream counts as one byte, so that applications read it.
            let left = core.readable_now(id) + u64::from(finished && core.readable_now(id) == 0);
            let left = i32::try_from(left).unwrap_or(i32::MAX);
            let data = left.to_ne_bytes().to_vec();
            Ok(Some(Control { level: libc::IPPROTO_TCP, kind: TCP_INQ, data }))
        })
    }

    /// The next message of the error queue; EAGAIN when it is empty.
    pub(crate) fn error_message(&self, fd: RawFd) -> Result<Control> {
        self.act(|core, _| {
            let socket = core.sockets.get(fd)?.clone();
            let Role::Stream(id) = socket.role else { return fail(libc::EAGAIN) };
            let told = core.sockets.status(id)?.zero_copies.take();
            let Some((from, to)) = told else { return fail(libc::EAGAIN) };
            let mut data = vec![0, 0, 0, 0, ORIGIN_ZEROCOPY, 0, CODE_COPIED, 0];
            data.extend(from.to_ne_bytes());
            data.extend(to.to_ne_bytes());
            let (level, kind, offender) = if socket.domain == libc::AF_INET6 {
                (libc::IPPROTO_IPV6, libc::IPV6_RECVERR, size_of::<libc::sockaddr_in6>())
            } else {
                (libc::IPPROTO_IP, libc::IP_RECVERR, size_of::<libc::sockaddr_in>())
            };
            // The offender's address is all zero.
            data.resize(data.len() + offender, 0);
            Ok(Control { level, kind, data })
        })
    }
}
