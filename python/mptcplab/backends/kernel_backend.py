"""Scenarios on the kernel's own Multipath TCP and TCP, over emulated links: the same tables as the simulator gives.

Owns what is said of such a run beside its tables: which kernel it was, what stood in for what it cannot do, and how
late packets were. Flows run in the core, on sockets in the namespaces of `emulation`.
"""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.emulation.emulated_network import CannotEmulate, emulated, why_no_mptcp, why_no_paths
from mptcplab.host.netstat import Counters, counters
from mptcplab.kernel_policies.controllers import RULES, CannotLoad, prefix
from mptcplab.results.run import Run

if TYPE_CHECKING:
    from mptcplab._core import EmulationRow
    from mptcplab.emulation.emulated_network import Host, Network
    from mptcplab.scenario.definition import Scenario

CONTROLLERS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


class Unable(CannotEmulate):
    """The kernel cannot do what a scenario asks for; the message says what is nearest."""


@dataclass(frozen=True)
class Lack:
    """Something that the kernel cannot do, and what stood in for it."""

    flow: str
    what: str
    closest: str

    def __str__(self) -> str:
        """In words."""
        return f"{self.what} (nearest: {self.closest})"


@dataclass(frozen=True)
class Sockets:
    """What the kernel gave a flow, read back: the receiver's receive buffer, the rest of the sender's socket.

    Buffers are twice what was asked for; 0 where nothing was ever connected.
    """

    flow: str
    congestion: str
    receive_buffer: int
    send_buffer: int
    problem: str | None


@dataclass(frozen=True)
class Report:
    """What is to be known of a run beside its tables."""

    seed: int
    variant: str
    """Empty for the flows of the scenario; what a baseline is."""
    kernel: str
    """Its release; empty of a run on our own stack."""
    lacks: list[Lack]
    flows: list[Sockets]
    links: EmulationRow | None
    doubts: str | None
    counters: dict[str, Counters] = field(default_factory=dict)
    """By host: what Linux counted there of TCP and Multipath TCP, without what stayed 0."""

    def document(self) -> dict[str, Any]:
        """As a value for JSON."""
        return asdict(self)


def run(
    scenario: Scenario,
    seed: int = 1,
    *,
    closest: bool = False,
    pcap: str | PathLike[str] | None = None,
    variant: str = "",
) -> tuple[Run, Report]:
    """Runs it for as long as it says; `closest` takes what is nearest to what the kernel cannot do."""
    with emulated(scenario, seed) as network:
        known = CONTROLLERS.read_text().split()
        try:
            ours = prefix()
        except CannotLoad as error:
            raise Unable(str(error)) from error
        lacks = _prepare(network, scenario, (known, ours), closest=closest)
        network.start(pcap)
        results, given = network.emulator.run_flows(known, ours)
        network.check()
        counted = {host.name: _counted(host) for host in network.hosts}
        last = network.stop()
    sockets = [Sockets(name, *one) for name, one in zip(scenario.core.flows, given, strict=True)]
    report = Report(seed, variant, platform.release(), lacks, sockets, last, network.doubts(), counted)
    return Run(scenario.core, seed, results, variant, backend="kernel"), report


def _prepare(network: Network, scenario: Scenario, known: tuple[list[str], str], *, closest: bool) -> list[Lack]:
    """Sets what hosts need; returns what the kernel cannot do."""
    found, settings = network.emulator.kernel(*known)
    lacks = [Lack(*one) for one in found]
    if lacks and not closest:
        raise Unable(_in_words(lacks))
    if _is_multipath(settings) and (why := why_no_mptcp() or why_no_paths()) is not None:
        raise Unable(f"{scenario.core.name}: {why}")
    for host, key, value in settings:
        if Path(f"/proc/sys/{key.replace('.', '/')}").exists():
            network.host(host).namespace.sysctl(key, value)
    return lacks


def _counted(host: Host) -> Counters:
    found = counters(host.namespace.read("/proc/net/netstat"))
    return {
        group: {name: value for name, value in found.get(group, {}).items() if value}
        for group in ("MPTcpExt", "TcpExt")
    }


def _is_multipath(settings: list[tuple[str, str, str]]) -> bool:
    """Whether a flow speaks Multipath TCP: then its hosts have a word on checksums."""
    return any(key.startswith("net.mptcp.") for _, key, _ in settings)


def _in_words(lacks: list[Lack]) -> str:
    flows: dict[str, list[str]] = {}
    for lack in lacks:
        flows.setdefault(lack.flow, []).append(str(lack))
    first, whats = next(iter(flows.items()))
    others = f", and {len(flows) - 1} more flows" if len(flows) > 1 else ""
    return (
        f"flow {first!r} asks for what the kernel cannot do: {', '.join(whats)}{others}; {_loading(lacks)}--closest "
        "takes what is nearest"
    )


def _loading(lacks: list[Lack]) -> str:
    """How a controller comes into the kernel that it could have."""
    rule = next((rule for rule in RULES if any(lack.what == f"congestion {rule}" for lack in lacks)), None)
    return "" if rule is None else f"mptcplab kernel congestion load {rule} -- COMMAND loads the controller; "


def told(report: Report) -> str:
    """What a person has to know of a run beside its summary."""
    lines = [f"  on Linux {report.kernel}" if report.kernel else "  on our own stack, in real time"]
    rules = sorted({one.congestion for one in report.flows if one.congestion})
    if rules:
        lines.append(f"    congestion control: {', '.join(rules)}")
    if repeated := sum(of.get("MPTcpExt", {}).get("DuplicateData", 0) for of in report.counters.values()):
        lines.append(f"    data that arrived twice: {repeated} segments in the whole run, as the receiver counts them")
    lines += [f"    {lack.flow}: {lack.closest} in place of {lack.what}" for lack in report.lacks[:10]]
    lines += [f"    {one.flow}: {one.problem}" for one in report.flows[:10] if one.problem]
    if report.links is not None:
        late = report.links["lateness"]
        half, most, all_of_them = (f"{1e3 * late_s:.2f} ms" for late_s in (late["p50_s"], late["p99_s"], late["max_s"]))
        lines.append(f"    added delay: median {half}, p99 {most}, max {all_of_them} ({late['count']} packets)")
    lines.append(f"    DOUBTFUL: {report.doubts}" if report.doubts else "    timing OK: too small to affect results")
    return "\n".join(lines)
