"""The sender or the receiver of `bench wire`, as a process: `python -m mptcplab.bench.live_end '{...}'`.

Owns the loop that sends or receives for the given time, and counts its bytes and CPU seconds including the kernel.
`live_bench` sets up devices and starts two such processes, so that each has its own CPU time.
"""

from __future__ import annotations

import json
import resource
import socket
import struct
import sys
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

from mptcplab.live import devices

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 1 << 20
LINUX_BLOCK = 256 << 10
"""Bytes per call of Linux's sockets, the fastest size in Python and in C."""
PORT = 5001
BUFFER = 16 << 20
PATIENCE = 10
"""Seconds that an end waits for the other end."""


class Order(TypedDict):
    """The instructions of a sender or receiver."""

    stack: Literal["linux", "ours"]
    role: Literal["send", "receive"]
    multipath: bool
    """Whether the connection uses MPTCP instead of TCP."""
    interfaces: list[tuple[str, str]]
    """Names of the TUN devices of mptcplab with the endpoint's address on each; empty for Linux."""
    offload: bool
    plain_devices: list[str]
    """Devices of Linux on which offload is switched off."""
    congestion: str
    """The congestion controller of Linux's socket."""
    peer: str
    """The destination of the sender."""
    paths: int
    """Subflows to wait for before the measurement starts."""
    warm_up: float
    seconds: float


class Tally(TypedDict):
    """Counts of an end during the measurement."""

    seconds: float
    bytes: int
    cpu_s: float
    paths: int
    """Subflows at the end."""


class Stream(Protocol):
    """The common interface of Linux's sockets and mptcplab's."""

    def send(self, data: bytes) -> int:
        """Writes as much as fits."""

    def recv_into(self, buffer: bytearray) -> int:
        """Reads available data."""

    def close(self) -> None:
        """Closes the socket."""


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _linux(order: Order, stack: ExitStack) -> tuple[Stream, Callable[[], int]]:
    family = socket.AF_INET
    protocol = socket.IPPROTO_MPTCP if order["multipath"] else socket.IPPROTO_TCP
    stream = socket.socket(family, socket.SOCK_STREAM, protocol)
    stack.enter_context(stream)
    stream.settimeout(PATIENCE)
    _control(stream, order["congestion"])
    if order["role"] == "send":
        stream.connect((order["peer"], PORT))
        return _blocking(stream), lambda: _linux_paths(stream)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    stream.bind((order["peer"], PORT))
    stream.listen()
    _say({"listening": True})
    # An MPTCP server must keep its listening socket open, or joins are rejected.
    accepted = stack.enter_context(stream.accept()[0])
    return _blocking(accepted), lambda: _linux_paths(accepted)


def _control(stream: socket.socket, name: str) -> None:
    """Sets the congestion controller of Linux's socket. Raises `RuntimeError` if the kernel keeps another."""
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError as error:
        raise RuntimeError(f"the kernel rejects the congestion controller {name}: {error.strerror}") from error
    has = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    if has != name:
        raise RuntimeError(f"the congestion controller of the socket is {has}, not {name}")


def _blocking(stream: socket.socket) -> socket.socket:
    """Makes the kernel time out (SO_RCVTIMEO), because Python's timeout would call poll(2) before each transfer."""
    stream.settimeout(None)
    patience = struct.pack("ll", PATIENCE, 0)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        stream.setsockopt(socket.SOL_SOCKET, option, patience)
    return stream


def _linux_paths(stream: socket.socket) -> int:
    """The number of subflows: 1 plus the first byte of `struct mptcp_info`, the further subflows; 1 for TCP."""
    sol_mptcp, mptcp_info = 284, 1
    try:
        return 1 + stream.getsockopt(sol_mptcp, mptcp_info, 64)[0]
    except OSError:
        return 1


def _ours(order: Order, stack: ExitStack) -> tuple[Stream, Callable[[], int]]:
    from mptcplab.live.driver import Config, Driver, Interface

    offload = order["offload"]
    interfaces = [Interface(device, address, offload=offload) for device, address in order["interfaces"]]
    driver: AbstractContextManager[Driver] = Driver(interfaces)
    endpoint = stack.enter_context(driver)
    config = Config(multipath=order["multipath"], receive_buffer=BUFFER, send_buffer=BUFFER)
    if order["role"] == "send":
        stream = endpoint.connect(order["peer"], PORT, config, timeout=PATIENCE)
    else:
        listener = stack.enter_context(endpoint.listen(PORT, config))
        listener.settimeout(PATIENCE)
        _say({"listening": True})
        stream, _ = listener.accept()
    stream.settimeout(PATIENCE)
    stack.callback(stream.close)
    return stream, lambda: sum(path["state"] == "ESTAB" for path in stream.info()["paths"])


def run(order: Order) -> Tally:
    """Sends or receives until the time is over."""
    with ExitStack() as stack:
        for device in order["plain_devices"]:
            devices.no_offload(device)
        stream, paths = (_linux if order["stack"] == "linux" else _ours)(order, stack)
        buffer = bytearray(b"\x5a" * (LINUX_BLOCK if order["stack"] == "linux" else BLOCK))
        data = bytes(buffer)
        sends = order["role"] == "send"

        def move() -> int:
            return stream.send(data) if sends else stream.recv_into(buffer)

        deadline = time.monotonic() + PATIENCE
        while paths() < order["paths"]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"only {paths()} of {order['paths']} subflows were established within {PATIENCE} s")
            if not move():
                raise ConnectionError("the peer closed the connection before all subflows were established")
        begin = time.monotonic() + order["warm_up"]
        while time.monotonic() < begin:
            move()
        start, used, count = time.monotonic(), _cpu(), 0
        end = start + order["seconds"]
        while (now := time.monotonic()) < end:
            count += (moved := move())
            if not moved:
                break
        tally: Tally = {"seconds": now - start, "bytes": count, "cpu_s": _cpu() - used, "paths": paths()}
        # The other end may measure longer: the sender continues for a while, the receiver until the sender closes.
        until = time.monotonic() + (order["warm_up"] / 2 if sends else PATIENCE)
        with suppress(OSError):
            while time.monotonic() < until and move():
                pass
        return tally


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    _say(run(json.loads(sys.argv[1])))
