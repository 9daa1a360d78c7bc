"""Runs scenarios on mptcplab's own stack in real time over emulated links (`mptcplab run --backend wire`).

The protocol code and the result tables are those of the simulator, but the clock is real and packets are bytes. Each
host is an endpoint in this process. No devices or namespaces are used, so no privileges are needed.
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab import _core
from mptcplab.backends.kernel_backend import Report, Sockets
from mptcplab.results.run import Run

if TYPE_CHECKING:
    from mptcplab.scenario.definition import Scenario


def run(
    scenario: Scenario, seed: int = 1, *, pcap: str | PathLike[str] | None = None, variant: str = ""
) -> tuple[Run, Report]:
    """Runs the scenario in real time; raises `ScenarioError` for settings that only the simulator supports."""
    emulator = _core.Emulator(scenario.core, seed)
    emulator.open_ours()
    try:
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
