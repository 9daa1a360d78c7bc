"""Sockets of Python over this stack: programs that use the module `socket` run unchanged over Multipath TCP.

    from mptcplab.live.driver import Driver, Interface
    from mptcplab.live.sockets import replaced_sockets

    with Driver([Interface("mptcp0", "10.88.0.2"), Interface("mptcp1", "10.88.1.2")]) as driver:
        with replaced_sockets(driver):
            print(urllib.request.urlopen("http://192.0.2.1/").read())

Within `replaced_sockets`, each new TCP socket of the process is a socket of the driver: `socket.create_connection`,
`http.server`, `urllib`, `ssl`, `asyncio` and the packages above them. `socket_class` gives the class alone.

A socket has a file descriptor, so that `select`, event loops and TLS work: one end of a pair of Unix sockets. Threads
copy between the other end and the connection (`socket_link`). Owns the states of a socket and its errors.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from mptcplab.live.socket_link import Acceptor, Link, is_hung_up, numbered

if TYPE_CHECKING:
    from mptcplab._core import ConnectionInfo, MptcpListener, MptcpStream
    from mptcplab.live.driver import Config, Driver

__all__ = ["replaced_sockets", "socket_class"]

_SOCKET = socket.socket
ANY = "0.0.0.0"  # noqa: S104 - the addresses of the endpoint, not of the host
"""All addresses."""
BACKLOG = 128
"""Default of `socket.listen`."""
GIVES_UP_S = 130.0
"""A connection without blocking is given up after this time, seconds; Linux needs as long."""
RETRY_S = 0.05
"""Duration of `accept` at a listener that has ended, seconds."""
FLAGS = getattr(socket, "SOCK_NONBLOCK", 0) | getattr(socket, "SOCK_CLOEXEC", 0)


class _MptcpSocket(_SOCKET):
    """A TCP socket over a driver. The subclass of `socket_class` has the driver."""

    driver: Driver
    config: Config | None
    wildcards: ClassVar[dict[int, set[socket.AddressFamily]]]
    """Families of the listeners at all addresses, by port: those of both versions share one."""

    def __init__(self, family: int = -1, *_type_and_protocol: int, **_named: Any) -> None:
        """Makes an unconnected socket; the arguments are those of `socket.socket`."""
        outer, inner = socket.socketpair()
        super().__init__(fileno=outer.detach())
        self._family = socket.AddressFamily(socket.AF_INET if family == -1 else family)
        self._bound: tuple[str, int] = (ANY if self._family == socket.AF_INET else "::", 0)
        self._link = Link(inner)
        self._is_connecting = False
        self._filler = 0
        self._listener: MptcpListener | None = None
        self._acceptor: Acceptor | None = None
        self._is_listening = False
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
        """Reserves an address and port for `listen`. A connection selects its own address."""
        host, port = address[0] or self._bound[0], address[1]
        if not 0 <= port <= 65535:
            raise OverflowError("bind(): port must be 0-65535.")
        if self._listener is not None or self._bound[1]:
            raise OSError(errno.EINVAL, "the socket is bound already")
        found = str(socket.getaddrinfo(host, port, self._family, socket.SOCK_STREAM)[0][4][0])
        if found in (ANY, "::") and port:
            families = self.wildcards.setdefault(port, set())
            if families and self._family not in families:
                # The listener of the other IP version accepts the connections of both.
                families.add(self._family)
                self._bound = (found, port)
                return
        self._listen_at(found, port)
        if found in (ANY, "::"):
            self.wildcards.setdefault(self._bound[1], set()).add(self._family)

    def _listen_at(self, host: str, port: int) -> None:
        try:
            self._listener = self.driver.listen(port, self.config, host=ANY if host == "::" else host)
        except OSError as error:
            is_taken = "listener" in str(error)
            raise numbered(error, errno.EADDRINUSE if is_taken else errno.EADDRNOTAVAIL) from None
        self._bound = (host, self._listener.getsockname()[1])

    def listen(self, backlog: int = BACKLOG) -> None:
        """Accepts connections at the address of `bind`."""
        self._check_state(idle=True)
        if self._listener is None and not self._bound[1]:
            self._listen_at(*self._bound)
        self._is_listening = True
        if self._listener is not None:
            self._acceptor = Acceptor(self._link.inner, self._listener, backlog)
            self._acceptor.start()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection and the address of its peer."""
        if not self._is_listening:
            raise OSError(errno.EINVAL, "listen has not been called")
        if not super().recv(1) or self._acceptor is None:
            # The descriptor stays readable. A server that goes on must not occupy a processor, and with this number,
            # `asyncio` waits before it tries again.
            time.sleep(RETRY_S)
            raise OSError(errno.ENOBUFS, "the listener has ended, because its driver has stopped")
        stream = self._acceptor.take()
        made = type(self)(self._family)
        made._link.attach(stream)  # noqa: SLF001 - its own class
        made._link.start()  # noqa: SLF001
        return made, made.getpeername()

    def connect(self, address: Any) -> None:
        """Connects, within the timeout of the socket. Without blocking, the socket becomes writable when it is done."""
        self._check_state(idle=True)
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        timeout = self.gettimeout()
        if timeout == 0:
            self._is_connecting = True
            self._fill()
            threading.Thread(target=self._connect_later, args=(self._found(address),), daemon=True).start()
            raise BlockingIOError(errno.EINPROGRESS, "the connection is being established")
        self._link.attach(self._opened(self._found(address), timeout))
        self._link.start()

    def connect_ex(self, address: Any) -> int:
        """As `connect`, but returns the number of the error."""
        try:
            self.connect(address)
        except socket.gaierror:
            raise
        except TimeoutError:
            return errno.EAGAIN
        except OSError as error:
            return error.errno or errno.ECONNREFUSED
        return 0

    def _found(self, address: Any) -> tuple[str, int]:
        host, port = address[0], address[1]
        found = str(socket.getaddrinfo(host, port, self._family, socket.SOCK_STREAM)[0][4][0])
        if ipaddress.ip_address(found).is_loopback:
            raise OSError(errno.ENETUNREACH, f"{host} is the loopback of the host, and the driver has no path to it")
        return found, port

    def _opened(self, to: tuple[str, int], timeout: float | None) -> MptcpStream:
        try:
            return self.driver.connect(*to, self.config, timeout=timeout)
        except TimeoutError:
            raise
        except OSError as error:
            raise numbered(error, errno.EHOSTUNREACH) from None

    def _fill(self) -> None:
        """Fills the descriptor, so that it is not writable."""
        self._size = super().getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        super().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._filler += super().send(bytes(1 << 16))

    def _connect_later(self, to: tuple[str, int]) -> None:
        link = self._link
        try:
            link.attach(self._opened(to, GIVES_UP_S))
        except OSError as error:
            link.error = numbered(error, errno.EHOSTUNREACH)
        # From here on, the socket is writable.
        with contextlib.suppress(OSError):
            super().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._size // 2)
        while self._filler:
            self._filler -= len(link.inner.recv(self._filler))
        self._is_connecting = False
        if link.error is not None:
            link.fail(link.error)
        elif is_hung_up(link.inner) and link.stream is not None:
            # The application did not wait.
            link.stream.abort()
            link.inner.close()
        else:
            link.start()

    def _check_state(self, *, idle: bool) -> None:
        """Raises an error unless the socket is unconnected (`idle`), or connected."""
        if self._is_connecting:
            raise OSError(errno.EALREADY if idle else errno.EAGAIN, "the connection is being established")
        if self._is_listening:
            raise OSError(errno.EINVAL if idle else errno.ENOTCONN, "the socket listens")
        is_idle = self._link.stream is None and self._link.error is None
        if idle and not is_idle:
            raise OSError(errno.EISCONN, "the socket is connected already, or its connection failed; use a new one")
        if not idle and is_idle:
            raise OSError(errno.ENOTCONN, "the socket is not connected")

    def send(self, data: Any, flags: int = 0) -> int:
        """As `socket.send`."""
        self._check_state(idle=False)
        return super().send(data, flags)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """As `socket.sendall`."""
        self._check_state(idle=False)
        super().sendall(data, flags)

    def recv(self, *arguments: Any) -> bytes:
        """As `socket.recv`; raises the error that ended the connection."""
        if not self._is_connecting:
            self._check_state(idle=False)
        received = super().recv(*arguments)
        self._check_end(len(received))
        return received

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """As `socket.recv_into`; raises the error that ended the connection."""
        if not self._is_connecting:
            self._check_state(idle=False)
        count = super().recv_into(buffer, nbytes, flags)
        self._check_end(count or not memoryview(buffer).nbytes)
        return count

    def recvfrom(self, *arguments: Any) -> tuple[bytes, Any]:
        """As `recv`, with the address of the peer."""
        return self.recv(*arguments), None

    def _check_end(self, received: int) -> None:
        if not received and self._link.error is not None:
            raise self._link.error

    def _real_close(self, *arguments: Any) -> None:
        # A method of `socket.socket` that its `close` calls; typeshed does not have it.
        super()._real_close(*arguments)  # type: ignore[misc]
        if self._acceptor is not None:
            self._acceptor.wait()
        if self._listener is not None:
            self._listener.close()
            self.wildcards.get(self._bound[1], set()).discard(self._family)

    def getsockname(self) -> Any:
        """Local address and port."""
        return self._bound if self._link.names is None else self._link.names[0]

    def getpeername(self) -> Any:
        """Address and port of the peer."""
        if self._link.names is None:
            raise OSError(errno.ENOTCONN, "the socket is not connected")
        return self._link.names[1]

    def info(self) -> ConnectionInfo:
        """Paths and counters of the connection, as `MptcpStream.info`."""
        if self._link.stream is None:
            raise OSError(errno.ENOTCONN, "the socket is not connected")
        return self._link.stream.info()

    def getsockopt(self, level: int, optname: int, *buflen: int) -> Any:
        """As `socket.getsockopt`, for the options of `setsockopt`. `SO_ERROR` is the error of the connection."""
        if (level, optname) == (socket.IPPROTO_TCP, socket.TCP_NODELAY):
            return int(self._link.nodelay)
        if level != socket.SOL_SOCKET:
            raise self._unknown_option()
        if optname == socket.SO_ERROR and (error := self._link.error) is not None:
            return error.errno or errno.ECONNREFUSED
        if optname == socket.SO_TYPE and self._link.stream is None:
            # `ssl` asks for the type first. It would take the pair of sockets for a connection.
            raise OSError(errno.ENOTCONN, "wrap a connected or an accepted socket, not one before")
        return super().getsockopt(level, optname, *buflen)

    def setsockopt(self, level: int, optname: int, value: Any, *optlen: int) -> None:
        """Sets `TCP_NODELAY` and the options of the level `SOL_SOCKET`; others raise OSError (ENOPROTOOPT)."""
        if (level, optname) == (socket.IPPROTO_TCP, socket.TCP_NODELAY):
            self._link.nodelay = bool(value)
            if self._link.stream is not None:
                self._link.stream.set_nodelay(bool(value))
        elif level == socket.SOL_SOCKET and optname != socket.SO_REUSEPORT:
            super().setsockopt(level, optname, value, *optlen)
        elif (level, optname) != (socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
            raise self._unknown_option()

    @staticmethod
    def _unknown_option() -> OSError:
        options = "TCP_NODELAY and the options of SOL_SOCKET except SO_REUSEPORT"
        return OSError(errno.ENOPROTOOPT, f"a socket of this stack has {options}")

    def dup(self) -> Self:
        """Not supported: a copy would not know the connection. `os.dup` copies the descriptor."""
        raise OSError(errno.EOPNOTSUPP, "a socket of this stack cannot be duplicated; use os.dup for its descriptor")


def socket_class(driver: Driver, config: Config | None = None) -> type[_MptcpSocket]:
    """A class of TCP sockets over the driver, with the interface of `socket.socket`."""
    attributes: dict[str, Any] = {"driver": driver, "config": config, "wildcards": {}}
    return cast("type[_MptcpSocket]", type("MptcpSocket", (_MptcpSocket,), attributes))


class _Replacement(type):
    """The class that stands for `socket.socket` while it is replaced: its calls make sockets of other classes."""

    made: type[_MptcpSocket]

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if cls.__bases__ != (_SOCKET,):
            return super().__call__(*arguments, **named)
        given = dict(zip(("family", "type", "proto", "fileno"), arguments, strict=False)) | named
        kind = given.get("type", -1)
        is_tcp = (
            given.get("fileno") is None
            and given.get("family", -1) in (-1, socket.AF_INET, socket.AF_INET6)
            and (kind == -1 or kind & ~FLAGS == socket.SOCK_STREAM)
            and given.get("proto", -1) in (-1, 0, socket.IPPROTO_TCP)
        )
        if not is_tcp:
            return _SOCKET(**given)
        one = cls.made(given.get("family", -1))
        if kind != -1 and kind & getattr(socket, "SOCK_NONBLOCK", 0):
            one.setblocking(False)
        return one

    def __instancecheck__(cls, one: object) -> bool:
        # Subclasses are made by modules that are imported meanwhile; their sockets are the kernel's.
        return isinstance(one, _SOCKET) if cls.__bases__ == (_SOCKET,) else super().__instancecheck__(one)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _SOCKET) if cls.__bases__ == (_SOCKET,) else super().__subclasscheck__(other)


@contextlib.contextmanager
def replaced_sockets(driver: Driver, config: Config | None = None) -> Iterator[type[_MptcpSocket]]:
    """Replaces `socket.socket` in this process: TCP sockets are of the driver, all others of the kernel."""
    made = socket_class(driver, config)
    socket.socket = _Replacement("socket", (_SOCKET,), {"made": made})  # type: ignore[misc, assignment]
    try:
        yield made
    finally:
        socket.socket = _SOCKET  # type: ignore[misc]
