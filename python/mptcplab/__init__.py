"""Simulate, study and run Multipath TCP.

    from mptcplab import Scenario

    run = Scenario.load("handoff.toml").run(seed=1)
    print(run.summary())
    run.plot()

The names below are loaded when they are first used, so that the command line starts fast. `MPTCPLAB_CORE` names a
module that replaces the compiled core, such as a build with further policies (docs/extending.md).
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if os.environ.get("MPTCPLAB_CORE"):
    sys.modules[f"{__name__}._core"] = importlib.import_module(os.environ["MPTCPLAB_CORE"])

if TYPE_CHECKING:
    from mptcplab._core import ScenarioError, __version__
    from mptcplab.policies.base import CongestionControl, Scheduler
    from mptcplab.results.run import Run, Runs
    from mptcplab.run.batch import Interrupted
    from mptcplab.scenario.definition import Cell, Event, Flow, Path, Scenario, Station

_HOMES = {
    "Cell": "scenario.definition",
    "CongestionControl": "policies.base",
    "Event": "scenario.definition",
    "Flow": "scenario.definition",
    "Interrupted": "run.batch",
    "Path": "scenario.definition",
    "Run": "results.run",
    "Runs": "results.run",
    "Scenario": "scenario.definition",
    "ScenarioError": "_core",
    "Scheduler": "policies.base",
    "Station": "scenario.definition",
    "__version__": "_core",
}

__all__ = [
    "Cell",
    "CongestionControl",
    "Event",
    "Flow",
    "Interrupted",
    "Path",
    "Run",
    "Runs",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "Station",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Every public name, loaded or not, for completion in notebooks."""
    return sorted({*globals(), *__all__})
