"""Threads between a socket of Python and the stack: copies of data, and accepted connections.

A socket of `mptcplab.live.sockets` is one end of a pair of Unix sockets, the outer one. A `Link` has the inner end of a
connected socket, an `Acceptor` that of a listener. Neither refers to the socket, so that a socket which nobody uses any
more is closed, and its threads end.
"""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab._core import MptcpListener, MptcpStream

BLOCK = 1 << 18
"""Bytes of one copy."""
PATIENCE_S = 0.5
"""Time after which a thread that waits for data looks whether its socket is closed, seconds."""
ACCEPT_S = 0.05
"""The same for a thread that waits for a connection: its port is taken until then."""

_NUMBERS: tuple[tuple[type[OSError], int], ...] = (
    (ConnectionRefusedError, errno.ECONNREFUSED),
    (ConnectionResetError, errno.ECONNRESET),
    (ConnectionAbortedError, errno.ECONNABORTED),
    (BrokenPipeError, errno.EPIPE),
    (TimeoutError, errno.ETIMEDOUT),
)


def numbered(error: OSError, other: int) -> OSError:
    """The error with a number, which errors of the stack lack; `other` if its type has none."""
    if error.errno is not None:
        return error
    number = next((number for kind, number in _NUMBERS if isinstance(error, kind)), other)
    return OSError(number, str(error))


def is_hung_up(inner: socket.socket) -> bool:
    """Whether the outer end is closed, or both directions have ended."""
    poll = select.poll()
    poll.register(inner, 0)
    return bool(poll.poll(0))


class Link:
    """Copies between a connection and the inner end of a socket, until both directions have ended."""

    def __init__(self, inner: socket.socket) -> None:
        """Makes a link without a connection."""
        self.inner = inner
        self.stream: MptcpStream | None = None
        self.names: tuple[tuple[str, int], tuple[str, int]] | None = None
        """The local address and that of the peer."""
        self.error: OSError | None = None
        self.nodelay = False
        self._is_over = False
        self._running = 2
        self._lock = threading.Lock()

    def attach(self, stream: MptcpStream) -> None:
        """Sets the connection."""
        if self.nodelay:
            stream.set_nodelay(True)
        stream.settimeout(PATIENCE_S)
        self.names = stream.getsockname(), stream.getpeername()
        self.stream = stream

    def start(self) -> None:
        """Starts to copy; `attach` comes first."""
        for copy in (self._receive, self._send):
            threading.Thread(target=self._run, args=(copy, self.stream), daemon=True).start()

    def fail(self, error: OSError) -> None:
        """Ends both directions with an error, which the application gets."""
        if not self._is_over:
            self.error = numbered(error, errno.EHOSTUNREACH)
        with contextlib.suppress(OSError):
            self.inner.shutdown(socket.SHUT_RDWR)

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

    def _receive(self, stream: MptcpStream) -> None:
        buffer = memoryview(bytearray(BLOCK))
        while True:
            try:
                count = stream.recv_into(buffer)
            except TimeoutError:
                if self._is_over:
                    return
                continue
            if not count:
                break
            try:
                self.inner.sendall(buffer[:count])
            except OSError:
                # The application has closed its socket and reads no more.
                stream.abort()
                return
        self.inner.shutdown(socket.SHUT_WR)

    def _send(self, stream: MptcpStream) -> None:
        buffer = memoryview(bytearray(BLOCK))
        while count := self.inner.recv_into(buffer):
            data = buffer[:count]
            while data:
                with contextlib.suppress(TimeoutError):
                    data = data[stream.send(data) :]
        stream.shutdown(socket.SHUT_WR)
        poll = select.poll()
        poll.register(self.inner, 0)
        poll.poll()
        self._is_over = True
        stream.close()


class Acceptor:
    """Accepts connections of a listener, and announces each by a byte on the inner end."""

    def __init__(self, inner: socket.socket, listener: MptcpListener, backlog: int) -> None:
        """Makes an acceptor; at most `backlog` connections wait for `take`."""
        self.inner = inner
        self.listener = listener
        self.accepted: deque[MptcpStream] = deque()
        self._backlog = max(1, backlog)
        self._has_space = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Starts to accept."""
        self._thread.start()

    def wait(self) -> None:
        """Waits until the port is free, after the outer end was closed."""
        self._thread.join(2 * PATIENCE_S)

    def take(self) -> MptcpStream:
        """The next connection, after its byte was read."""
        stream = self.accepted.popleft()
        self._has_space.set()
        return stream

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.settimeout(ACCEPT_S)
            while not is_hung_up(self.inner):
                if len(self.accepted) >= self._backlog:
                    self._has_space.wait(ACCEPT_S)
                    self._has_space.clear()
                    continue
                with contextlib.suppress(TimeoutError):
                    stream, _ = self.listener.accept()
                    self.accepted.append(stream)
                    self.inner.send(b"+")
        self.listener.close()
        self.inner.close()
        for stream in self.accepted:
            with contextlib.suppress(OSError):
                stream.abort()
