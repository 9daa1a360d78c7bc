//! The table of C functions that packetdrill calls (its `packetdrill.h`).
//!
//! Owns the layout of the table and the conversion between C's arguments and [`Stack`]. A function returns a result, or
//! -1 with errno. A panic becomes EIO and never leaves a function. Accesses memory only through `memory`.

mod preload;
mod transfer;

use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use libc::{
    epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, size_t, sockaddr, socklen_t, ssize_t, timeval,
};

use crate::errno::{Result, fail};
use crate::flags::Flags;
use crate::memory;
use crate::stack::Stack;
use crate::streams::Polled;
use transfer::{receive, receive_parts, transmit};

/// The instance behind `userdata`.
struct Instance {
    stack: Arc<Stack>,
    timers: Option<JoinHandle<()>>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stack.stop();
        if let Some(timers) = self.timers.take() {
            // The thread's panic message is already printed.
            let _ = timers.join();
        }
    }
}

/// Runs a call. Returns -1 and sets errno after an error or a panic.
///
/// # Safety
/// `userdata` is a pointer that [`packetdrill_interface_init`] stored, and not freed.
unsafe fn call(userdata: *mut c_void, work: impl FnOnce(&Stack) -> Result<ssize_t>) -> ssize_t {
    // SAFETY: as the caller guarantees.
    let instance = unsafe { userdata.cast::<Instance>().as_ref() };
    let Some(instance) = instance else {
        memory::set_errno(libc::EFAULT);
        return -1;
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| work(&instance.stack))).unwrap_or(fail(libc::EIO));
    outcome.unwrap_or_else(|error| {
        memory::set_errno(error.0);
        -1
    })
}

macro_rules! table {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $result:ty = |$stack:ident| $body:expr;)*) => {
        /// `struct packetdrill_interface`.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "the names are those of the system calls")]
        pub struct Interface {
            pub userdata: *mut c_void,
            pub free: Option<unsafe extern "C" fn(*mut c_void)>,
            $(pub $name: Option<unsafe extern "C" fn(*mut c_void, $($kind),*) -> $result>,)*
        }

        impl Interface {
            /// Creates the table of an instance.
            fn of(instance: Box<Instance>) -> Self {
                Self {
                    userdata: Box::into_raw(instance).cast(),
                    free: Some(free),
                    $($name: Some($name),)*
                }
            }

            /// A table without functions, to be filled.
            #[must_use]
            pub const fn empty() -> Self {
                Self { userdata: std::ptr::null_mut(), free: None, $($name: None,)* }
            }
        }

        $(
            unsafe extern "C" fn $name(userdata: *mut c_void, $($argument: $kind),*) -> $result {
                // SAFETY: packetdrill passes the table's `userdata` and valid arguments of the system call.
                unsafe { call(userdata, |$stack| $body) as $result }
            }
        )*
    };
}

// In the order of packetdrill.h. C declares `fcntl` and `ioctl` with "...". The calling conventions of Linux on x86-64
// and AArch64 pass one additional argument in the same register either way.
table! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int = |stack| {
        let fd = memory::descriptor()?;
        stack.socket(fd, domain, kind, protocol).inspect_err(|_| memory::release(fd))?;
        Ok(fd as ssize_t)
    };
    fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int = |stack| {
        let Some(local) = memory::address(address, length)? else { return fail(libc::EAFNOSUPPORT) };
        stack.bind(fd, local).map(|()| 0)
    };
    fn listen(fd: c_int, backlog: c_int) -> c_int = |stack| stack.listen(fd, backlog).map(|()| 0);
    fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int = |stack| {
        let fresh = memory::descriptor()?;
        let peer = stack.accept(fd, fresh).inspect_err(|_| memory::release(fresh))?;
        memory::put_address(address, length, peer)?;
        Ok(fresh as ssize_t)
    };
    fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int = |stack| {
        let remote = memory::address(address, length)?;
        stack.connect(fd, remote).map(|()| 0)
    };
    fn read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t = |stack| {
        receive(stack, fd, buffer, count, 0)
    };
    fn readv(fd: c_int, vector: *const iovec, count: c_int) -> ssize_t = |stack| {
        receive_parts(stack, fd, memory::parts(vector, count.max(0) as usize)?, 0)
    };
    fn recv(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int) -> ssize_t = |stack| {
        receive(stack, fd, buffer, count, flags)
    };
    // A connected stream reports no sender address.
    fn recvfrom(
        fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int,
        _address: *mut sockaddr, _length: *mut socklen_t
    ) -> ssize_t = |stack| receive(stack, fd, buffer, count, flags);
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t = |stack| {
        let Some(message) = message.as_mut() else { return fail(libc::EFAULT) };
        message.msg_namelen = 0;
        if flags & libc::MSG_ERRQUEUE != 0 {
            let told = stack.error_message(fd)?;
            message.msg_flags = libc::MSG_ERRQUEUE | memory::put_control(message, Some(told))?;
            return Ok(0);
        }
        let received = receive_parts(stack, fd, memory::parts(message.msg_iov, message.msg_iovlen)?, flags)?;
        message.msg_flags = memory::put_control(message, stack.queue_message(fd)?)?;
        Ok(received)
    };
    fn write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t = |stack| {
        transmit(stack, fd, memory::bytes(buffer, count)?.to_vec(), 0, std::ptr::null(), 0)
    };
    fn writev(fd: c_int, vector: *const iovec, count: c_int) -> ssize_t = |stack| {
        let data = memory::gather(memory::parts(vector, count.max(0) as usize)?)?;
        transmit(stack, fd, data, 0, std::ptr::null(), 0)
    };
    fn send(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int) -> ssize_t = |stack| {
        transmit(stack, fd, memory::bytes(buffer, count)?.to_vec(), flags, std::ptr::null(), 0)
    };
    fn sendto(
        fd: c_int, buffer: *const c_void, count: size_t, flags: c_int,
        address: *const sockaddr, length: socklen_t
    ) -> ssize_t = |stack| {
        transmit(stack, fd, memory::bytes(buffer, count)?.to_vec(), flags, address, length)
    };
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t = |stack| {
        let Some(message) = message.as_ref() else { return fail(libc::EFAULT) };
        let data = memory::gather(memory::parts(message.msg_iov, message.msg_iovlen)?)?;
        transmit(stack, fd, data, flags, message.msg_name.cast(), message.msg_namelen)
    };
    fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int = |stack| {
        stack.control(fd, command, argument as i32).map(|flags| flags as ssize_t)
    };
    fn ioctl(fd: c_int, request: c_ulong, value: *mut c_int) -> c_int = |stack| {
        let count = stack.queued(fd, request)?;
        memory::copy_out(value.cast(), &count.to_ne_bytes()).map(|()| 0)
    };
    fn close(fd: c_int) -> c_int = |stack| {
        stack.close(fd)?;
        memory::release(fd);
        Ok(0)
    };
    fn shutdown(fd: c_int, how: c_int) -> c_int = |stack| stack.shutdown(fd, how).map(|()| 0);
    fn getsockopt(
        fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t
    ) -> c_int = |stack| {
        transfer::get_option(stack, fd, level, name, value, length).map(|()| 0)
    };
    fn setsockopt(
        fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t
    ) -> c_int = |stack| {
        stack.set_option(fd, level, name, memory::bytes(value, length as usize)?).map(|()| 0)
    };
    fn poll(entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int = |stack| {
        if entries.is_null() && count > 0 {
            return fail(libc::EFAULT);
        }
        let entries = if count == 0 { &mut [] } else { std::slice::from_raw_parts_mut(entries, count as usize) };
        let mut polled: Vec<Polled> =
            entries.iter().map(|entry| Polled { fd: entry.fd, events: entry.events, ready: 0 }).collect();
        let ready = stack.poll(&mut polled, timeout);
        entries.iter_mut().zip(&polled).for_each(|(entry, polled)| entry.revents = polled.ready);
        Ok(ready as ssize_t)
    };
    // packetdrill expects zero, not a count.
    fn netdev_send(packet: *const c_void, count: size_t) -> c_int = |stack| {
        stack.receive(memory::bytes(packet, count)?);
        Ok(0)
    };
    // packetdrill retries forever after a failure; an empty packet ends the script instead.
    fn netdev_receive(buffer: *mut c_void, count: *mut size_t, micros: *mut c_longlong) -> c_int = |stack| {
        let (Some(count), Some(micros)) = (count.as_mut(), micros.as_mut()) else { return fail(libc::EFAULT) };
        let Some(left) = stack.next_packet() else {
            eprintln!("no packet left the stack within {} s", stack.flags.patience.as_secs());
            *count = 0;
            return Ok(0);
        };
        let taken = left.packet.len().min(*count);
        memory::copy_out(buffer, &left.packet[..taken])?;
        (*count, *micros) = (taken, stack.time_of_day(left.at));
        Ok(0)
    };
    fn usleep(micros: c_uint) -> c_int = |_stack| {
        std::thread::sleep(std::time::Duration::from_micros(micros.into()));
        Ok(0)
    };
    fn gettimeofday(time: *mut timeval, _zone: *mut c_void) -> c_int = |stack| {
        let Some(time) = time.as_mut() else { return fail(libc::EFAULT) };
        let micros = stack.time_of_day(stack.now());
        (time.tv_sec, time.tv_usec) = (micros / 1_000_000, micros % 1_000_000);
        Ok(0)
    };
    fn epoll_create(size: c_int) -> c_int = |stack| {
        let fd = memory::descriptor()?;
        stack.epoll_create(fd, size).inspect_err(|_| memory::release(fd))?;
        Ok(fd as ssize_t)
    };
    fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int = |stack| {
        let event = if event.is_null() { None } else { Some(event.read_unaligned()) };
        stack.epoll_control(epoll, operation, fd, event.map(|event| (event.events, event.u64))).map(|()| 0)
    };
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int = |stack| {
        if events.is_null() {
            return fail(libc::EFAULT);
        }
        let told = stack.epoll_wait(epoll, most.max(0) as usize, timeout)?;
        for (at, (ready, data)) in told.iter().enumerate() {
            events.add(at).write_unaligned(epoll_event { events: *ready, u64: *data });
        }
        Ok(told.len() as ssize_t)
    };
    fn pipe(_ends: *mut c_int) -> c_int = |_stack| fail(libc::ENOSYS);
    fn splice(
        _from: c_int, _from_offset: *mut loff_t, _to: c_int, _to_offset: *mut loff_t, _count: size_t, _flags: c_uint
    ) -> ssize_t = |_stack| fail(libc::ENOSYS);
}

/// Frees an instance.
unsafe extern "C" fn free(userdata: *mut c_void) {
    if !userdata.is_null() {
        // SAFETY: packetdrill frees `userdata` once and does not use it afterwards.
        let instance = unsafe { Box::from_raw(userdata.cast::<Instance>()) };
        // C has no way to receive a panic.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(instance)));
    }
}

/// Fills packetdrill's table. If the flags are wrong, prints a message and ends the process, as packetdrill does for
/// its own flags.
///
/// # Safety
/// `flags` is null or a C string, and `table` points to a `struct packetdrill_interface`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, table: *mut Interface) {
    let text = if flags.is_null() {
        String::new()
    } else {
        // SAFETY: the caller guarantees a C string.
        unsafe { CStr::from_ptr(flags) }.to_string_lossy().into_owned()
    };
    let made = catch_unwind(|| {
        let stack = Arc::new(Stack::new(Flags::parse(&text)?));
        preload::serve(&stack);
        let driven = Arc::clone(&stack);
        let timers = std::thread::Builder::new()
            .name("timers".to_owned())
            .spawn(move || driven.run_timers())
            .map_err(|error| format!("cannot start the timer thread: {error}"))?;
        Ok(Interface::of(Box::new(Instance { stack, timers: Some(timers) })))
    });
    match made.unwrap_or_else(|_| Err("internal error (please report)".to_owned())) {
        // SAFETY: the caller guarantees the table.
        Ok(made) => unsafe { table.write(made) },
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(1);
        }
    }
}
