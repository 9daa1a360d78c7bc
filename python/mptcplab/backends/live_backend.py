"""Runs scenarios on mptcplab's own stack in real time over emulated links (`mptcplab run --backend wire`).

The protocol code and the result tables are those of the simulator, but the clock is real and packets are bytes. Each
host is an endpoint in this process. No devices or namespaces are used, so no privileges are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab import _core
from mptcplab.backends.kernel_backend import Report, Sockets
from mptcplab.emulation.links import delivered_bytes
from mptcplab.results.run import Run

if TYPE_CHECKING:
    from mptcplab.scenario.definition import Scenario


def run(
    scenario: Scenario,
    seed: int = 1,
    *,
    pcap: str | PathLike[str] | None = None,
    variant: str = "",
    watch: Callable[[_core.Emulator], AbstractContextManager[None]] | None = None,
) -> tuple[Run, Report]:
    """Runs the scenario in real time; raises `ScenarioError` for settings that only the simulator supports.

    The block of `watch` contains the run.
    """
    emulator = _core.Emulator(scenario.core, seed)
    emulator.open_ours()
    try:
        with nullcontext() if watch is None else watch(emulator):
            emulator.start(None if pcap is None else Path(fspath(pcap)))
            results, given = emulator.run_ours()
            if not emulator.is_running():
                raise RuntimeError("the links stopped before the end of the run")
    finally:
        last = emulator.stop()
    sockets = [Sockets(name, *one) for name, one in zip(scenario.core.flows, given, strict=True)]
    doubts = last["doubts"] if last else None
    report = Report(seed, variant, "", [], sockets, last, doubts)
    return Run(scenario.core, seed, results, variant, backend="wire"), report


class WireLinks:
    """The links of a run, for `LinkControl`. The hosts are endpoints in this process, which learn no link state."""

    STATES = ("up", "silent")
    """The states of a link that this backend supports."""

    def __init__(self, emulator: _core.Emulator, links: list[str]) -> None:
        """Changes these links of a started emulator."""
        self._emulator = emulator
        self.links = links

    def set_link(self, link: str, key: str, value: str) -> None:
        """Changes a link; raises `ScenarioError` for an invalid value."""
        self._emulator.change(link, key, value)

    def set_up(self, link: str, *, up: bool) -> None:
        """Does nothing, because `STATES` excludes visible changes."""

    def delivered_bytes(self) -> Mapping[str, tuple[int, int]]:
        """Bytes that each link has delivered so far, forward and backward."""
        return delivered_bytes(self._emulator.snapshot(), self.links)
