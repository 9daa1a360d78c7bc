"""Runs scenarios on Linux's MPTCP and TCP over emulated links (`mptcplab run --backend kernel`).

The result has the tables of the simulator, so that both can be compared. Owns the report of such a run: the kernel, the
replaced settings, and the added delay of packets. The core runs the flows in the namespaces of `emulation`.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
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
    """The kernel does not support a setting; the message names the closest one."""


@dataclass(frozen=True)
class Replacement:
    """A setting that the kernel does not support, and its replacement."""

    flow: str
    what: str
    closest: str

    def __str__(self) -> str:
        """The replacement as text."""
        return f"{self.what} (nearest: {self.closest})"


@dataclass(frozen=True)
class Sockets:
    """Options of a flow's sockets: the receive buffer of the receiver; send buffer and controller of the sender.

    Buffers are in bytes, and 0 without a connection. Linux reports twice the requested size.
    """

    flow: str
    congestion: str
    receive_buffer: int
    send_buffer: int
    problem: str | None


@dataclass(frozen=True)
class Report:
    """The conditions of a run, which the tables do not show."""

    seed: int
    variant: str
    """Empty for the flows of the scenario; otherwise the name of a baseline."""
    kernel: str
    """The kernel release; empty for a run on mptcplab's own stack."""
    lacks: list[Replacement]
    flows: list[Sockets]
    links: EmulationRow | None
    doubts: str | None
    counters: dict[str, Counters] = field(default_factory=dict)
    """By host: the non-zero counters of TCP and MPTCP."""

    def document(self) -> dict[str, Any]:
        """The report as JSON."""
        return asdict(self)


def run(
    scenario: Scenario,
    seed: int = 1,
    *,
    closest: bool = False,
    pcap: str | PathLike[str] | None = None,
    variant: str = "",
    watch: Callable[[Network], AbstractContextManager[None]] | None = None,
) -> tuple[Run, Report]:
    """Runs the scenario in real time; with `closest`, replaces unsupported settings.

    The block of `watch` contains the run.
    """
    with emulated(scenario, seed) as network:
        known = CONTROLLERS.read_text().split()
        try:
            ours = prefix()
        except CannotLoad as error:
            raise Unable(str(error)) from error
        replacements = _prepare(network, scenario, (known, ours), closest=closest)
        with nullcontext() if watch is None else watch(network):
            network.start(pcap)
            results, given = network.emulator.run_flows(known, ours)
            network.check()
        counted = {host.name: _counted(host) for host in network.hosts}
        last = network.stop()
    sockets = [Sockets(name, *one) for name, one in zip(scenario.core.flows, given, strict=True)]
    report = Report(seed, variant, platform.release(), replacements, sockets, last, network.doubts(), counted)
    return Run(scenario.core, seed, results, variant, backend="kernel"), report


def _prepare(network: Network, scenario: Scenario, known: tuple[list[str], str], *, closest: bool) -> list[Replacement]:
    """Sets the sysctls of hosts; returns the unsupported settings."""
    found, settings = network.emulator.kernel(*known)
    replacements = [Replacement(*one) for one in found]
    if replacements and not closest:
        raise Unable(_in_words(replacements))
    if _is_multipath(settings) and (why := why_no_mptcp() or why_no_paths()) is not None:
        raise Unable(f"{scenario.core.name}: {why}")
    for host, key, value in settings:
        if Path(f"/proc/sys/{key.replace('.', '/')}").exists():
            network.host(host).namespace.sysctl(key, value)
    return replacements


def _counted(host: Host) -> Counters:
    found = counters(host.namespace.read("/proc/net/netstat"))
    return {
        group: {name: value for name, value in found.get(group, {}).items() if value}
        for group in ("MPTcpExt", "TcpExt")
    }


def _is_multipath(settings: list[tuple[str, str, str]]) -> bool:
    """Whether a flow uses MPTCP: only the hosts of such flows get the sysctl `net.mptcp.checksum_enabled`."""
    return any(key.startswith("net.mptcp.") for _, key, _ in settings)


def _in_words(replacements: list[Replacement]) -> str:
    flows: dict[str, list[str]] = {}
    for replacement in replacements:
        flows.setdefault(replacement.flow, []).append(str(replacement))
    first, whats = next(iter(flows.items()))
    others = f" ({len(flows) - 1} more flows have such settings)" if len(flows) > 1 else ""
    return (
        f"flow {first!r} has settings that the kernel does not support: {', '.join(whats)}{others}; "
        f"{_loading(replacements)}--closest replaces these settings by the closest supported ones"
    )


def _loading(replacements: list[Replacement]) -> str:
    """A hint with the command that loads a missing coupled controller; empty if none of these is missing."""
    rule = next(
        (rule for rule in RULES if any(replacement.what == f"congestion {rule}" for replacement in replacements)), None
    )
    return "" if rule is None else f"mptcplab kernel congestion load {rule} -- COMMAND loads the controller; "


def report_text(report: Report) -> str:
    """The report as text."""
    lines = [f"  run on Linux {report.kernel}" if report.kernel else "  run on mptcplab's own stack, in real time"]
    rules = sorted({one.congestion for one in report.flows if one.congestion})
    if rules:
        lines.append(f"    congestion control: {', '.join(rules)}")
    if repeated := sum(of.get("MPTcpExt", {}).get("DuplicateData", 0) for of in report.counters.values()):
        lines.append(f"    duplicate segments in the whole run, counted by the receiver: {repeated}")
    lines += [
        f"    {replacement.flow}: {replacement.closest} instead of {replacement.what}"
        for replacement in report.lacks[:10]
    ]
    lines += [f"    {one.flow}: {one.problem}" for one in report.flows[:10] if one.problem]
    if report.links is not None:
        late = report.links["lateness"]
        half, most, all_of_them = (f"{1e3 * late_s:.2f} ms" for late_s in (late["p50_s"], late["p99_s"], late["max_s"]))
        lines.append(f"    added delay: median {half}, p99 {most}, max {all_of_them} ({late['count']} packets)")
    lines.append(
        f"    DOUBTFUL: {report.doubts}"
        if report.doubts
        else "    timing OK: the added delay is too small to affect results"
    )
    return "\n".join(lines)
