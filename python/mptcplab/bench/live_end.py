"""The sender or the receiver of `bench wire`, as a process: `python -m mptcplab.bench.live_end '{...}'`.

Owns the connection, and counts bytes, retransmissions and CPU seconds including the kernel. The loop of blocking calls
is in Rust (`crates/live/src/bulk.rs`). `live_bench` sets up devices and starts two such processes, so that each has its
own CPU time.
"""

from __future__ import annotations

import json
import resource
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from mptcplab import _core
from mptcplab.live import devices

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
    interfaces: list[tuple[str, str, str | None]]
    """Names of the devices of mptcplab with the endpoint's address on each, and the Ethernet address of the next hop on
    veth; empty for Linux."""
    offload: bool
    plain_devices: list[str]
    """Devices on which offload is switched off by `ethtool`."""
    gro: bool
    """Whether these devices join received frames (GRO)."""
    congestion: str
    """The congestion controller of the socket."""
    block: int
    """Bytes per call."""
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
    user_s: float
    system_s: float
    paths: int
    """Subflows at the end."""
    retransmitted: int
    """Segments that the subflows of this end retransmitted since the start (`TcpRetransSegs` for Linux)."""
    reinjected: int
    """Retransmissions at the data level since the start: `MPTCPRetrans` for Linux, bytes for mptcplab."""


@dataclass(frozen=True)
class End:
    """An open connection."""

    transfer: Callable[[float], tuple[int, float, bool]]
    """Sends or receives for some seconds. Returns bytes, seconds, and whether the peer has closed the connection."""
    paths: Callable[[], int]
    retransmissions: Callable[[], tuple[int, int]]
    """Retransmissions of subflows and of the connection since its start."""


def _cpu() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def _linux(order: Order, stack: ExitStack) -> End:
    family = socket.AF_INET
    protocol = socket.IPPROTO_MPTCP if order["multipath"] else socket.IPPROTO_TCP
    stream = socket.socket(family, socket.SOCK_STREAM, protocol)
    stack.enter_context(stream)
    stream.settimeout(PATIENCE)
    _control(stream, order["congestion"])
    if order["role"] == "send":
        stream.connect((order["peer"], PORT))
    else:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stream.bind((order["peer"], PORT))
        stream.listen()
        _say({"listening": True})
        # An MPTCP server must keep its listening socket open, or joins are rejected.
        stream = stack.enter_context(stream.accept()[0])
    # Otherwise the socket is non-blocking, and Python would call poll(2) before each transfer.
    stream.settimeout(None)
    loop = _core.kernel_send_for if order["role"] == "send" else _core.kernel_receive_for
    return End(
        transfer=lambda seconds: loop(stream.fileno(), seconds, order["block"]),
        paths=lambda: _linux_paths(stream),
        retransmissions=_linux_retransmissions,
    )


def _control(stream: socket.socket, name: str) -> None:
    """Sets the congestion controller of Linux's socket. Raises `RuntimeError` if the kernel keeps another."""
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError as error:
        raise RuntimeError(f"the kernel rejects the congestion controller {name}: {error.strerror}") from error
    has = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    if has != name:
        raise RuntimeError(f"the congestion controller of the socket is {has}, not {name}")


def _linux_paths(stream: socket.socket) -> int:
    """The number of subflows: 1 plus the first byte of `struct mptcp_info`, the further subflows; 1 for TCP."""
    sol_mptcp, mptcp_info = 284, 1
    try:
        return 1 + stream.getsockopt(sol_mptcp, mptcp_info, 64)[0]
    except OSError:
        return 1


def _linux_retransmissions() -> tuple[int, int]:
    """`TcpRetransSegs` and `MPTCPRetrans` of the network namespace, which contains one connection."""
    return _counter("/proc/self/net/snmp", "Tcp:", "RetransSegs"), _counter(
        "/proc/self/net/netstat", "MPTcpExt:", "MPTCPRetrans"
    )


def _counter(file: str, group: str, name: str) -> int:
    """A counter of the kernel: a line has the names of its group, the next one the values."""
    lines = [line.split() for line in Path(file).read_text().splitlines() if line.startswith(group)]
    return dict(zip(lines[0], map(int, ["0", *lines[1][1:]]), strict=True)).get(name, 0) if lines else 0


def _ours(order: Order, stack: ExitStack) -> End:
    from mptcplab.live.driver import Config, Driver, Interface

    offload = order["offload"]
    interfaces = [
        Interface(device, address, offload=offload, next_hop=next_hop)
        for device, address, next_hop in order["interfaces"]
    ]
    driver: AbstractContextManager[Driver] = Driver(interfaces)
    endpoint = stack.enter_context(driver)
    config = Config(
        multipath=order["multipath"], congestion=order["congestion"], receive_buffer=BUFFER, send_buffer=BUFFER
    )
    if order["role"] == "send":
        stream = endpoint.connect(order["peer"], PORT, config, timeout=PATIENCE)
    else:
        listener = stack.enter_context(endpoint.listen(PORT, config))
        listener.settimeout(PATIENCE)
        _say({"listening": True})
        stream, _ = listener.accept()
    stack.callback(stream.close)
    loop = stream.send_for if order["role"] == "send" else stream.receive_for

    def retransmissions() -> tuple[int, int]:
        info = stream.info()
        return sum(path["total_retrans"] for path in info["paths"]), info["bytes_retrans"]

    return End(
        transfer=lambda seconds: loop(seconds, order["block"]),
        paths=lambda: sum(path["state"] == "ESTAB" for path in stream.info()["paths"]),
        retransmissions=retransmissions,
    )


def run(order: Order) -> Tally:
    """Sends or receives until the time is over."""
    with ExitStack() as stack:
        for device in order["plain_devices"]:
            devices.no_offload(device, gro=order["gro"])
        end = (_linux if order["stack"] == "linux" else _ours)(order, stack)
        deadline = time.monotonic() + PATIENCE
        while (paths := end.paths()) < order["paths"]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"only {paths} of {order['paths']} subflows were established within {PATIENCE} s")
            if end.transfer(0)[2]:
                raise ConnectionError("the peer closed the connection before all subflows were established")
        end.transfer(order["warm_up"])
        before = _cpu()
        count, seconds, _ = end.transfer(order["seconds"])
        user, system = (now - then for now, then in zip(_cpu(), before, strict=True))
        paths = end.paths()
        # The other end may measure longer: the sender continues for a while, the receiver until the sender closes.
        with suppress(OSError):
            end.transfer(order["warm_up"] / 2 if order["role"] == "send" else PATIENCE)
        retransmitted, reinjected = end.retransmissions()
        return {
            "seconds": seconds,
            "bytes": count,
            "user_s": user,
            "system_s": system,
            "paths": paths,
            "retransmitted": retransmitted,
            "reinjected": reinjected,
        }


def _say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    _say(run(json.loads(sys.argv[1])))
