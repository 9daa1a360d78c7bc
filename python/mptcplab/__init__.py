"""Multipath TCP that you can run, study and change.

    from mptcplab import Scenario

    run = Scenario.load("handoff.toml").run(seed=1)
    print(run.summary())
    run.plot()

The names below are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mptcplab._core import ScenarioError, __version__

if TYPE_CHECKING:
    from mptcplab.batch import Interrupted
    from mptcplab.results import Run, Runs
    from mptcplab.scenario import Event, Flow, Path, Scenario

_HOMES = {
    "Event": "scenario",
    "Flow": "scenario",
    "Interrupted": "batch",
    "Path": "scenario",
    "Run": "results",
    "Runs": "results",
    "Scenario": "scenario",
}

__all__ = [
    "Event",
    "Flow",
    "Interrupted",
    "Path",
    "Run",
    "Runs",
    "Scenario",
    "ScenarioError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
