"""Multipath TCP that you can run, study and change.

    from mptcplab import Scenario

    run = Scenario.load("handoff.toml").run(seed=1)
    print(run.summary())
    run.plot()
"""

from mptcplab._core import __version__
from mptcplab.batch import Interrupted
from mptcplab.results import Run, Runs
from mptcplab.scenario import Event, Flow, Path, Scenario, ScenarioError

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
