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

LINUX_CONTROLLER = "cubic"
"""The controller that Linux's end uses, also on machines with another default: the default of Linux itself."""
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

    def reference(self) -> Case:
        """The same case between two Linux hosts."""
        return Case("linux", "linux", self.paths, self.offload, self.multipath)


def cases() -> list[Case]:
    """All cases: for each set of paths, offload and transport, Linux to Linux, mptcplab to Linux, and the reverse."""
    pairs: list[tuple[Stack, Stack]] = [("linux", "linux"), ("ours", "linux"), ("linux", "ours")]
    ways = [(1, True, True), (2, True, True), (1, False, True), (1, False, False)]
    return [Case(sender, receiver, *way) for way in ways for sender, receiver in pairs]


class Row(TypedDict):
    """The results of a case: medians over the rounds."""

    sender: str
    receiver: str
    transport: str
    paths: int
    offload: bool
    gbps: float
    gbps_least: float
    gbps_most: float
    cpu_s_per_gb: float
    of_linux: float | None
    """Throughput divided by that between two Linux hosts in the same rounds; None for these hosts themselves."""
    failed: int
    """Failed and repeated measurements between two Linux hosts."""
    linux_congestion: str
    """The congestion controller of Linux's end."""


class CannotMeasure(RuntimeError):
    """An end failed; the message says which and why."""


def measure(
    rounds: int, seconds: float, warm_up: float, chosen: Sequence[Case], progress: Callable[[int], None]
) -> list[Row]:
    """Runs every case in every round. `progress` gets the number of finished measurements."""
    found: dict[Case, list[tuple[float, float]]] = {case: [] for case in chosen}
    failed = dict.fromkeys(chosen, 0)
    for number in range(rounds):
        for at, case in enumerate(chosen):
            progress(number * len(chosen) + at)
            while len(found[case]) <= number:
                try:
                    found[case].append(_once(case, seconds, warm_up))
                except CannotMeasure:
                    # On a busy machine, about one in 100 connections between two Linux hosts never gets its second
                    # subflow (6.18). A failure with mptcplab at one end ends the benchmark.
                    failed[case] += 1
                    if case != case.reference() or failed[case] > FAILURES:
                        raise
    progress(rounds * len(chosen))
    rates = {case: median(rate for rate, _ in values) for case, values in found.items()}
    return [_row(case, values, rates.get(case.reference()), failed[case]) for case, values in found.items()]


def _row(case: Case, values: list[tuple[float, float]], linux: float | None, failed: int) -> Row:
    rates = [rate for rate, _ in values]
    return {
        "sender": case.sender,
        "receiver": case.receiver,
        "transport": "mptcp" if case.multipath else "tcp",
        "paths": case.paths,
        "offload": case.offload,
        "gbps": median(rates),
        "gbps_least": min(rates),
        "gbps_most": max(rates),
        "cpu_s_per_gb": median(cpu for _, cpu in values),
        "of_linux": median(rates) / linux if linux and case != case.reference() else None,
        "failed": failed,
        "linux_congestion": LINUX_CONTROLLER,
    }


def _once(case: Case, seconds: float, warm_up: float) -> tuple[float, float]:
    """Gb/s at the receiver, and CPU seconds of both ends per GB."""
    with _set_up(case) as (near, far, orders):
        for order in orders:
            order["seconds"], order["warm_up"] = seconds, warm_up
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
    rate = 8 * received["bytes"] / received["seconds"] / 1e9
    cpu = sent["cpu_s"] / sent["seconds"] + received["cpu_s"] / received["seconds"]
    return rate, cpu / (rate / 8)


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
    return f"{case.sender} to {case.receiver} over {case.paths} paths: the {name} failed: {last}"


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
        "congestion": LINUX_CONTROLLER,
        "peer": "10.88.1.2",
        "paths": case.paths,
        "warm_up": 0,
        "seconds": 0,
    }
    paths = range(1, case.paths + 1)
    if (case.sender, case.receiver) == ("linux", "linux"):
        with namespace("send") as near, namespace("receive") as far:
            for path in paths:
                near.ip(f"link add path{path} type veth peer name path{path} netns {far.name}")
            for host, last in ((near, 1), (far, 2)):
                _prepare(host, {f"path{path}": f"10.88.{path}.{last}" for path in paths})
            for path in paths[1:]:
                near.ip(f"mptcp endpoint add 10.88.{path}.1 dev path{path} subflow")
            plain = [] if case.offload else [f"path{path}" for path in paths]
            yield near, far, ({**blank, "plain_devices": plain}, {**blank, "role": "receive", "plain_devices": plain})
        return
    with namespace("host") as host:
        for path in paths:
            host.ip(f"tuntap add path{path} mode tun")
        _prepare(host, {f"path{path}": f"10.88.{path}.1" for path in paths})
        ours = [(f"path{path}", f"10.88.{path}.2") for path in paths]
        if case.sender == "ours":
            peer = "10.88.1.1"
            sending: Order = {**blank, "stack": "ours", "interfaces": ours, "peer": peer}
            yield host, host, (sending, {**blank, "role": "receive", "peer": peer})
        else:
            yield host, host, (blank, {**blank, "stack": "ours", "role": "receive", "interfaces": ours})


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
