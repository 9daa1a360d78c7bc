"""Measures throughput and CPU time of mptcplab's stack and Linux's on real packets (`mptcplab bench wire`).

Owns the cases, the network namespaces and the result rows. Sender and receiver are processes (`live_end`). Every round
runs all cases, so that other load on the machine affects all cases equally.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypedDict

from mptcplab.bench.live_end import Order, Tally
from mptcplab.emulation.namespaces import CannotMake, Namespace, namespace

Stack = Literal["linux", "ours"]
Device = Literal["veth", "tun"]

ETHERNET = "02:6d:70:74:63:70"
"""The Ethernet address of mptcplab's endpoints (`Interface.ETHERNET`; its module needs Linux)."""
CONTROLLER = "reno"
"""The controller of all senders, also on machines with another default: the default of Linux itself."""
BLOCKS = (64 << 10, 256 << 10, 1 << 20)
"""Bytes per call of both ends: each case is measured with each size, and the fastest one counts."""
SPREAD = 2.0
"""The largest ratio of the fastest to the slowest round of a case that counts. Others are repeated."""
FAILURES = 2
"""Failed measurements of a case between two Linux hosts that are repeated. One more ends the benchmark."""


@dataclass(frozen=True)
class Case:
    """Sender, receiver and paths."""

    sender: Stack
    receiver: Stack
    paths: int = 1
    offload: bool = True
    multipath: bool = True
    device: Device = "veth"
    """The device of mptcplab's end. Two Linux hosts always use veth."""
    gro: bool = False
    """Whether both ends of veth join received frames (GRO), as drivers of network cards do. Only without `offload`."""

    def reference(self) -> Case:
        """The same case between two Linux hosts."""
        return Case("linux", "linux", self.paths, self.offload, self.multipath, gro=self.gro)


def cases() -> list[Case]:
    """All cases: for each set of paths, offload and transport, Linux to Linux, then mptcplab on each device.

    A TUN device has no GRO.
    """
    pairs: list[tuple[Stack, Stack, Device]] = [
        ("linux", "linux", "veth"),
        ("ours", "linux", "veth"),
        ("linux", "ours", "veth"),
        ("ours", "linux", "tun"),
        ("linux", "ours", "tun"),
    ]
    ways = [
        *((1, True, True, False), (2, True, True, False), (1, False, True, False), (1, False, True, True)),
        *((1, False, False, False), (1, False, False, True)),
    ]
    return [
        Case(sender, receiver, paths, offload, multipath, device, gro)
        for paths, offload, multipath, gro in ways
        for sender, receiver, device in pairs
        if not gro or device == "veth"
    ]


class Row(TypedDict):
    """The results of a case: medians over the rounds with the fastest block size."""

    sender: str
    receiver: str
    transport: str
    paths: int
    offload: bool
    gro: bool
    device: str
    """The device of mptcplab's end: veth or TUN."""
    block: int
    """Bytes per call of both ends."""
    gbps: float
    gbps_least: float
    gbps_most: float
    sender_user_s_per_gb: float
    sender_system_s_per_gb: float
    receiver_user_s_per_gb: float
    receiver_system_s_per_gb: float
    cpu_s_per_gb: float
    """The sum of the four."""
    retransmitted: int
    """Segments retransmitted by the sender's subflows, in all rounds together."""
    reinjected: int
    """Retransmissions at the data level in all rounds together: `MPTCPRetrans` for Linux, bytes for mptcplab."""
    of_linux: float | None
    """The median of the ratios to two Linux hosts in the same round; None for these hosts themselves."""
    unsteady: bool
    """Whether the spread of the rounds is still larger than `SPREAD` after the second measurement."""
    failed: int
    """Failed and repeated measurements between two Linux hosts."""
    congestion: str
    """The congestion controller of the sender."""


@dataclass(frozen=True)
class Measurement:
    """One connection: Gb/s at the receiver, CPU seconds per GB of the sender and the receiver, retransmissions."""

    gbps: float
    sender_cpu: tuple[float, float] = (0, 0)
    """User and system."""
    receiver_cpu: tuple[float, float] = (0, 0)
    retransmitted: int = 0
    reinjected: int = 0

    def cpu(self) -> float:
        """CPU seconds of both ends per GB."""
        return sum(self.sender_cpu) + sum(self.receiver_cpu)


class CannotMeasure(RuntimeError):
    """An end failed; the message says which and why."""


Found = dict[tuple[Case, int], list[Measurement]]
"""The measurements of each case and block size, in the order of the rounds."""


def measure(
    rounds: int,
    seconds: float,
    warm_up: float,
    chosen: Sequence[Case],
    progress: Callable[[int], None],
    blocks: Sequence[int] = BLOCKS,
) -> list[Row]:
    """Runs every case with every block size in every round. Cases with a large spread are repeated.

    `progress` gets the number of finished measurements, without repeated ones.
    """
    failed = dict.fromkeys(chosen, 0)
    done = 0

    def run(cases: Sequence[Case]) -> Found:
        nonlocal done
        found: Found = {(case, block): [] for case in cases for block in blocks}
        for _ in range(rounds):
            for at in found:
                progress(min(done, rounds * len(chosen) * len(blocks)))
                found[at].append(_repeated(*at, seconds, warm_up, failed))
                done += 1
        return found

    found = run(chosen)
    progress(done)
    unsteady = [case for case in chosen if _spread(_fastest(found, case, blocks)[1]) > SPREAD]
    if unsteady:
        # With the reference of each, so that both have the same load of the machine.
        groups = {case.reference() for case in unsteady}
        again = [case for case in chosen if case.reference() in groups]
        found |= run(again)
    return [_row(case, found, blocks, failed[case]) for case in chosen]


def _fastest(found: Found, case: Case, blocks: Sequence[int]) -> tuple[int, list[Measurement]]:
    """The block size with the largest median, and its measurements."""
    block = max(blocks, key=lambda block: median(one.gbps for one in found[case, block]))
    return block, found[case, block]


def _spread(measured: list[Measurement]) -> float:
    rates = [one.gbps for one in measured]
    return max(rates) / max(min(rates), 1e-9)


def _row(case: Case, found: Found, blocks: Sequence[int], failed: int) -> Row:
    block, measured = _fastest(found, case, blocks)
    rates = [one.gbps for one in measured]
    of_linux = None
    if case != case.reference() and (case.reference(), block) in found:
        linux = _fastest(found, case.reference(), blocks)[1]
        of_linux = median(rate / one.gbps for rate, one in zip(rates, linux, strict=True))
    return {
        "sender": case.sender,
        "receiver": case.receiver,
        "transport": "mptcp" if case.multipath else "tcp",
        "paths": case.paths,
        "offload": case.offload,
        "gro": case.gro,
        "device": case.device,
        "block": block,
        "gbps": median(rates),
        "gbps_least": min(rates),
        "gbps_most": max(rates),
        "sender_user_s_per_gb": median(one.sender_cpu[0] for one in measured),
        "sender_system_s_per_gb": median(one.sender_cpu[1] for one in measured),
        "receiver_user_s_per_gb": median(one.receiver_cpu[0] for one in measured),
        "receiver_system_s_per_gb": median(one.receiver_cpu[1] for one in measured),
        "cpu_s_per_gb": median(one.cpu() for one in measured),
        "retransmitted": sum(one.retransmitted for one in measured),
        "reinjected": sum(one.reinjected for one in measured),
        "of_linux": of_linux,
        "unsteady": _spread(measured) > SPREAD,
        "failed": failed,
        "congestion": CONTROLLER,
    }


def _repeated(case: Case, block: int, seconds: float, warm_up: float, failed: dict[Case, int]) -> Measurement:
    """Measures once. Repeats failed measurements between two Linux hosts, and counts them."""
    while True:
        try:
            return _once(case, block, seconds, warm_up)
        except CannotMeasure:
            # On a busy machine, about one in 100 connections between two Linux hosts never gets its second subflow
            # (6.18). A failure with mptcplab at one end ends the benchmark.
            failed[case] += 1
            if case != case.reference() or failed[case] > FAILURES:
                raise


def _once(case: Case, block: int, seconds: float, warm_up: float) -> Measurement:
    with _set_up(case) as (near, far, orders):
        for order in orders:
            order["block"], order["seconds"], order["warm_up"] = block, seconds, warm_up
        sending, receiving = orders
        receiver = _start(far, receiving)
        try:
            if not (receiver.stdout and receiver.stdout.readline()):
                raise CannotMeasure(_why(receiver, receiver.communicate()[1], "receiver", case))
            sender = _start(near, sending)
            try:
                sent, received = _tally(sender, "sender", case), _tally(receiver, "receiver", case)
            finally:
                sender.kill()
                sender.communicate()
        finally:
            receiver.kill()
            receiver.communicate()
    if not received["bytes"]:
        raise CannotMeasure(f"{_name(case)}: the receiver got no byte within {seconds} s")
    rate = 8 * received["bytes"] / received["seconds"] / 1e9

    def cpu(end: Tally) -> tuple[float, float]:
        gigabytes = rate / 8 * end["seconds"]
        return end["user_s"] / gigabytes, end["system_s"] / gigabytes

    return Measurement(rate, cpu(sent), cpu(received), sent["retransmitted"], sent["reinjected"])


def _start(where: Namespace, order: Order) -> subprocess.Popen[str]:
    command = where.command(sys.executable, "-m", "mptcplab.bench.live_end", json.dumps(order))
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _tally(end: subprocess.Popen[str], name: str, case: Case) -> Tally:
    out, message = end.communicate(timeout=120)
    if end.returncode or not out:
        raise CannotMeasure(_why(end, message, name, case))
    tally: Tally = json.loads(out.splitlines()[-1])
    return tally


def _why(end: subprocess.Popen[str], message: str, name: str, case: Case) -> str:
    last = message.strip().splitlines()[-1] if message.strip() else f"exit code {end.wait()}"
    return f"{_name(case)}: the {name} failed: {last}"


def _name(case: Case) -> str:
    return f"{case.sender} to {case.receiver} over {case.paths} paths"


@contextmanager
def _set_up(case: Case) -> Iterator[tuple[Namespace, Namespace, tuple[Order, Order]]]:
    """Creates namespaces for sender and receiver (one for both with mptcplab), and the orders of both processes."""
    blank: Order = {
        "stack": "linux",
        "role": "send",
        "multipath": case.multipath,
        "interfaces": [],
        "offload": case.offload,
        "plain_devices": [],
        "gro": case.gro,
        "congestion": CONTROLLER,
        "block": BLOCKS[0],
        "peer": "10.88.1.2",
        "paths": case.paths,
        "warm_up": 0,
        "seconds": 0,
    }
    paths = range(1, case.paths + 1)
    if case.device == "veth":
        with namespace("send") as near, namespace("receive") as far:
            yield near, far, _veth(case, blank, near, far)
        return
    with namespace("host") as host:
        for path in paths:
            host.ip(f"tuntap add path{path} mode tun")
        _prepare(host, {f"path{path}": f"10.88.{path}.1" for path in paths})
        ours: list[tuple[str, str, str | None]] = [(f"path{path}", f"10.88.{path}.2", None) for path in paths]
        if case.sender == "ours":
            peer = "10.88.1.1"
            sending: Order = {**blank, "stack": "ours", "interfaces": ours, "peer": peer}
            yield host, host, (sending, {**blank, "role": "receive", "peer": peer})
        else:
            yield host, host, (blank, {**blank, "stack": "ours", "role": "receive", "interfaces": ours})


def _veth(case: Case, blank: Order, near: Namespace, far: Namespace) -> tuple[Order, Order]:
    """Connects two namespaces by a veth pair for each path. Returns the orders of the sender and the receiver."""
    paths = range(1, case.paths + 1)
    plain = [] if case.offload else [f"path{path}" for path in paths]
    for path in paths:
        ends = [f"path{path} address 02:00:00:00:{path:02x}:{last:02x}" for last in (1, 2)]
        near.ip(f"link add {ends[0]} type veth peer name {ends[1]} netns {far.name}")
    orders: list[Order] = []
    for host, stack, last in ((near, case.sender, 1), (far, case.receiver, 2)):
        order: Order = {**blank, "stack": stack, "role": "send" if last == 1 else "receive", "plain_devices": plain}
        if stack == "linux":
            _prepare(host, {f"path{path}": f"10.88.{path}.{last}" for path in paths})
            for path in paths if "ours" in (case.sender, case.receiver) else ():
                host.ip(f"neigh add 10.88.{path}.{3 - last} lladdr {ETHERNET} dev path{path} nud permanent")
        else:
            for path in paths:
                host.ip(f"link set path{path} up")
            order["interfaces"] = [
                (f"path{path}", f"10.88.{path}.{last}", f"02:00:00:00:{path:02x}:{3 - last:02x}") for path in paths
            ]
        orders.append(order)
    for path in paths[1:] if case.sender == "linux" else ():
        near.ip(f"mptcp endpoint add 10.88.{path}.1 dev path{path} subflow")
    return orders[0], orders[1]


def _prepare(host: Namespace, addresses: dict[str, str]) -> None:
    for device, address in addresses.items():
        host.ip(f"addr add {address}/24 dev {device}")
        host.ip(f"link set {device} up txqueuelen 2000")
    try:
        host.ip("mptcp limits set subflows 8 add_addr_accepted 8")
    except CannotMake as error:
        raise CannotMeasure(f"the kernel has no Multipath TCP: {error}") from error
    for key in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        # The maximum of 32 MiB exceeds the bandwidth-delay product of a path in memory; initial sizes are Linux's.
        host.sysctl(key, "4096 131072 33554432")
