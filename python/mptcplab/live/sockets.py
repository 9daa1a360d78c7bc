"""Sockets of Python over this stack: programs that use the module `socket` run unchanged over Multipath TCP.

    from mptcplab.live.driver import Driver, Interface
    from mptcplab.live.sockets import replaced_sockets

    with Driver([Interface("mptcp0", "10.88.0.2"), Interface("mptcp1", "10.88.1.2")]) as driver:
        with replaced_sockets(driver):
            print(urllib.request.urlopen("http://192.0.2.1/").read())

Within `replaced_sockets`, each new TCP socket of the process is a socket of the driver: `socket.create_connection`,
`http.server`, `urllib`, `ssl`, `asyncio` and the packages above them. `socket_class` gives the class alone.

A socket has a file descriptor, so that `select`, event loops and TLS work: one end of a pair of Unix sockets. Two
threads copy between the other end and the connection. Owns this copying and the errors; the connection is an
`MptcpStream`.
"""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    from mptcplab._core import ConnectionInfo, MptcpListener, MptcpStream
    from mptcplab.live.driver import Config, Driver

__all__ = ["replaced_sockets", "socket_class"]

_SOCKET = socket.socket
_BLOCK = 1 << 18
"""Bytes of one copy."""
ANY = "0.0.0.0"  # noqa: S104 - the addresses of the endpoint, not of the host
"""All addresses."""
_BACKLOG = 128
"""Default of `socket.listen`."""


class _Link:
    """Copies between a connection and the inner end of a pair of Unix sockets, until both directions have ended."""

    def __init__(self, inner: socket.socket) -> None:
        self.inner = inner
        self.stream: MptcpStream | None = None
        self.error: OSError | None = None
        self.nodelay = False
        self._running = 2
        self._lock = threading.Lock()

    def start(self, stream: MptcpStream) -> None:
        """Starts to copy."""
        if self.nodelay:
            stream.set_nodelay(True)
        self.stream = stream
        for copy in (self._receive, self._send):
            threading.Thread(target=self._run, args=(copy, stream), daemon=True).start()

    def _run(self, copy: Callable[[MptcpStream], None], stream: MptcpStream) -> None:
        try:
            copy(stream)
        except OSError as error:
            self.fail(error)
        with self._lock:
            self._running -= 1
            is_last = self._running == 0
        if is_last:
            stream.close()
            self.inner.close()

    def fail(self, error: OSError) -> None:
        """Ends both directions with an error."""
        self.error = error
        with contextlib.suppress(OSError):
            self.inner.shutdown(socket.SHUT_RDWR)

    def _receive(self, stream: MptcpStream) -> None:
        buffer = memoryview(bytearray(_BLOCK))
        try:
            while count := stream.recv_into(buffer):
                self.inner.sendall(buffer[:count])
            self.inner.shutdown(socket.SHUT_WR)
        except BrokenPipeError:
            # The application has closed its socket and reads no more.
            stream.abort()

    def _send(self, stream: MptcpStream) -> None:
        buffer = memoryview(bytearray(_BLOCK))
        while count := self.inner.recv_into(buffer):
            stream.sendall(buffer[:count])
        stream.shutdown(socket.SHUT_WR)
        # POLLHUP: the application has closed its socket, or both directions have ended.
        closed = select.poll()
        closed.register(self.inner, 0)
        closed.poll()
        stream.close()


class _MptcpSocket(_SOCKET):
    """A TCP socket over a driver. The subclass of `socket_class` has the driver."""

    driver: Driver
    config: Config | None

    def __init__(self, family: int = -1, *_type_and_protocol: int, **_named: Any) -> None:
        """Makes an unconnected socket; the arguments are those of `socket.socket`."""
        outer, inner = socket.socketpair()
        super().__init__(fileno=outer.detach())
        self._family = socket.AddressFamily(socket.AF_INET if family == -1 else family)
        self._bound: tuple[str, int] = (ANY if self._family == socket.AF_INET else "::", 0)
        self._link = _Link(inner)
        self._filler = 0
        self._listener: MptcpListener | None = None
        self._accepted: deque[MptcpStream] = deque()
        if (timeout := socket.getdefaulttimeout()) is not None:
            self.settimeout(timeout)

    @property
    def family(self) -> socket.AddressFamily:
        """The family of addresses, although the descriptor is a Unix socket."""
        return self._family

    @property
    def proto(self) -> int:
        """`IPPROTO_TCP`."""
        return socket.IPPROTO_TCP

    def bind(self, address: Any) -> None:
        """Sets the address and port of `listen`. A connection selects its own address."""
        host = address[0] or self._bound[0]
        found = socket.getaddrinfo(host, address[1], self._family, socket.SOCK_STREAM)
        self._bound = (str(found[0][4][0]), address[1])

    def listen(self, backlog: int = _BACKLOG) -> None:
        """Listens at the address of `bind`."""
        host, port = self._bound
        self._listener = self.driver.listen(
            port,
            self.config,
            host=ANY if host == "::" else host,
            backlog=max(1, backlog),
        )
        threading.Thread(target=self._accept_all, args=(self._listener,), daemon=True).start()

    def _accept_all(self, listener: MptcpListener) -> None:
        """Announces each accepted connection by a byte."""
        with contextlib.suppress(OSError):
            listener.settimeout(0.5)
            gone = select.poll()
            gone.register(self._link.inner, 0)
            while not gone.poll(0):
                try:
                    stream, _ = listener.accept()
                except TimeoutError:
                    continue
                self._accepted.append(stream)
                self._link.inner.send(b"+")
        listener.close()
        self._link.inner.close()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection and the address of its peer."""
        if self._listener is None:
            raise OSError(errno.EINVAL, "listen has not been called")
        super().recv(1)
        stream = self._accepted.popleft()
        made = type(self)(self._family)
        made._link.start(stream)  # noqa: SLF001 - its own class
        return made, stream.getpeername()

    def connect(self, address: Any) -> None:
        """Connects, within the timeout of the socket. Without blocking, the socket becomes writable when it is done."""
        timeout = self.gettimeout()
        if timeout == 0:
            self._fill()
            threading.Thread(target=self._connect_later, args=(address,), daemon=True).start()
            raise BlockingIOError(errno.EINPROGRESS, "the connection is being established")
        self._link.start(self._opened(address, timeout))

    def connect_ex(self, address: Any) -> int:
        """As `connect`, but returns the number of the error."""
        try:
            self.connect(address)
        except OSError as error:
            return error.errno or errno.ECONNREFUSED
        return 0

    def _opened(self, address: Any, timeout: float | None) -> MptcpStream:
        found = socket.getaddrinfo(address[0], address[1], self._family, socket.SOCK_STREAM)
        return self.driver.connect(str(found[0][4][0]), address[1], self.config, timeout=timeout)

    def _fill(self) -> None:
        """Fills the descriptor, so that it is not writable."""
        self._size = super().getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        super().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._filler += super().send(bytes(1 << 16))

    def _connect_later(self, address: Any) -> None:
        link = self._link
        try:
            stream = self._opened(address, None)
        except OSError as error:
            link.fail(error)
            return
        with contextlib.suppress(OSError):
            super().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._size // 2)
        while self._filler:
            self._filler -= len(link.inner.recv(self._filler))
        link.start(stream)

    def recv(self, *arguments: Any) -> bytes:
        """As `socket.recv`; raises the error that ended the connection."""
        received = super().recv(*arguments)
        self._check(len(received))
        return received

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """As `socket.recv_into`; raises the error that ended the connection."""
        count = super().recv_into(buffer, nbytes, flags)
        self._check(count or not memoryview(buffer).nbytes)
        return count

    def _check(self, received: int) -> None:
        if not received and self._link.error is not None:
            raise self._link.error

    def getsockname(self) -> Any:
        """Local address and port."""
        known = self._link.stream or self._listener
        return self._bound if known is None else known.getsockname()

    def getpeername(self) -> Any:
        """Address and port of the peer."""
        if self._link.stream is None:
            raise OSError(errno.ENOTCONN, "the socket is not connected")
        return self._link.stream.getpeername()

    def getsockopt(self, level: int, optname: int, *buflen: int) -> Any:
        """As `socket.getsockopt`; `SO_ERROR` is the error of the connection."""
        if (level, optname) == (socket.SOL_SOCKET, socket.SO_ERROR) and (error := self._link.error) is not None:
            return error.errno or errno.ECONNREFUSED
        return super().getsockopt(level, optname, *buflen)

    def setsockopt(self, level: int, optname: int, value: Any, *optlen: int) -> None:
        """Sets `TCP_NODELAY` and the options of the level `SOL_SOCKET`; others raise OSError (ENOPROTOOPT)."""
        if level == socket.SOL_SOCKET:
            super().setsockopt(level, optname, value, *optlen)
        elif (level, optname) == (socket.IPPROTO_TCP, socket.TCP_NODELAY):
            self._link.nodelay = bool(value)
            if self._link.stream is not None:
                self._link.stream.set_nodelay(bool(value))
        elif (level, optname) != (socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
            raise OSError(errno.ENOPROTOOPT, "a socket of this stack has TCP_NODELAY and the options of SOL_SOCKET")

    def dup(self) -> Self:
        """Not supported: a copy would not know the connection. `os.dup` copies the descriptor."""
        raise OSError(errno.EOPNOTSUPP, "a socket of this stack cannot be duplicated; use os.dup for its descriptor")

    def info(self) -> ConnectionInfo:
        """Paths and counters of the connection, as `MptcpStream.info`."""
        if self._link.stream is None:
            raise OSError(errno.ENOTCONN, "the socket is not connected")
        return self._link.stream.info()


def socket_class(driver: Driver, config: Config | None = None) -> type[_MptcpSocket]:
    """A class of TCP sockets over the driver, with the interface of `socket.socket`."""
    return cast("type[_MptcpSocket]", type("MptcpSocket", (_MptcpSocket,), {"driver": driver, "config": config}))


class _Replacement(type):
    """The class that stands for `socket.socket` while it is replaced: its calls make sockets of other classes."""

    made: type[_MptcpSocket]

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if cls.__bases__ != (_SOCKET,):
            return super().__call__(*arguments, **named)
        given = dict(zip(("family", "type", "proto", "fileno"), arguments, strict=False)) | named
        is_tcp = (
            given.get("fileno") is None
            and given.get("family", -1) in (-1, socket.AF_INET, socket.AF_INET6)
            and given.get("type", -1) in (-1, socket.SOCK_STREAM)
        )
        return (cls.made if is_tcp else _SOCKET)(**given)

    def __instancecheck__(cls, one: object) -> bool:
        # Subclasses are made by modules that are imported meanwhile; their sockets are the kernel's.
        return isinstance(one, _SOCKET) if cls.__bases__ == (_SOCKET,) else super().__instancecheck__(one)


@contextlib.contextmanager
def replaced_sockets(driver: Driver, config: Config | None = None) -> Iterator[type[_MptcpSocket]]:
    """Replaces `socket.socket` in this process: TCP sockets are of the driver, all others of the kernel."""
    made = socket_class(driver, config)
    socket.socket = _Replacement("socket", (_SOCKET,), {"made": made})  # type: ignore[misc, assignment]
    try:
        yield made
    finally:
        socket.socket = _SOCKET  # type: ignore[misc]
