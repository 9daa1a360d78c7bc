"""The UDP interference test of the UCL study (2013, section 3.2.4).

The test shows how much two interfaces disturb each other. One interface sends UDP all the time, a second one in every
other period. UDP has no congestion control, so only the medium limits the rates. Owns the scenario of such a test and
the rates of both interfaces.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mptcplab.results.run import Run
from mptcplab.scenario.definition import Scenario, to_toml
from mptcplab.util.user_input import BadResult, choose, time_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEADY = "steady"
TOGGLED = "toggled"
MOST_PERIODS = 2000
LEAST_PERIOD_S = 0.01
SETTLED = 0.1
"""Share of each period that is excluded after a change."""


@dataclass(frozen=True)
class Interference:
    """Mean Mb/s of payload that arrived over each interface."""

    alone: float
    """Rate over the steady interface while it sends alone."""
    steady: float
    """Rate over the steady interface while both send."""
    toggled: float
    """Rate over the other interface while both send."""
    lost_alone: float
    """Share of frames that were dropped after all retries, while one interface sends."""
    lost_both: float
    """Share of frames that were dropped after all retries, while both send."""

    @property
    def total(self) -> float:
        """Rate over both interfaces while both send, Mb/s."""
        return self.steady + self.toggled

    @property
    def ratio(self) -> float:
        """Total rate of both interfaces relative to the steady interface alone."""
        return self.total / self.alone if self.alone else math.nan

    @property
    def share(self) -> float:
        """Share of the steady interface in the total rate, 0 to 1."""
        return self.steady / self.total if self.total else math.nan


def interfaces(scenario: Scenario) -> tuple[str, list[str]]:
    """The host that opens the first flow, and its interfaces in the order of the file."""
    table = tomllib.loads(scenario.to_toml())
    flows = list(table.get("flows", {}).values())
    who = str(flows[0].get("from", "client"))
    found = [name for name, station in table.get("stations", {}).items() if station.get("host", "client") == who]
    found += [name for name in table.get("paths", {}) if who == "client"]
    found += [name for name, link in table.get("links", {}).items() if who in link.get("ends", ())]
    return who, found


def pair(scenario: Scenario, steady: str | None = None, toggle: str | None = None) -> tuple[str, str]:
    """The steady and the toggled interface; by default the first two of the host that opens the first flow.

    Raises `BadResult` for interfaces that do not exist.
    """
    who, found = interfaces(scenario)
    if len(found) < 2:
        raise BadResult(f"{scenario.name}: {who} has fewer than two interfaces; the test needs two")
    first = choose(steady, found, "interface") if steady else next(name for name in found if name != toggle)
    other = choose(toggle, found, "interface") if toggle else next(name for name in found if name != first)
    if first == other:
        raise BadResult(f"{first} is given twice; name two interfaces: {', '.join(found)}")
    return first, other


def interference_test(  # noqa: PLR0913, RUF100 - one parameter for each option
    scenario: Scenario,
    steady: str | None = None,
    toggle: str | None = None,
    *,
    every: float = 30.0,
    duration: float | None = None,
    direction: Literal["upload", "download"] = "upload",
) -> Scenario:
    """The scenario with UDP instead of its flows: over `steady` all the time, over `toggle` in every second period.

    Without `duration`, the test lasts four periods of `every` seconds. Raises `BadResult` if the second interface would
    never send.
    """
    first, other = pair(scenario, steady, toggle)
    who, _ = interfaces(scenario)
    if every < LEAST_PERIOD_S:
        raise BadResult(f"a period of {time_text(every)} is too short; it must be at least {time_text(LEAST_PERIOD_S)}")
    length = duration or 4 * every
    if length <= every:
        raise BadResult(f"a test of {length:g} s ends before {other} starts to send, at {every:g} s; use a longer test")
    if length / every > MOST_PERIODS:
        raise BadResult(
            f"{length:g} s are {length / every:.0f} periods of {every:g} s; at most {MOST_PERIODS} are allowed"
        )
    table = tomllib.loads(scenario.to_toml())
    peer = next(iter(table["flows"].values())).get("to", "server")
    common: dict[str, Any] = {"transport": "udp", "from": who, "to": peer, "direction": direction}
    flows: dict[str, Any] = {STEADY: common | {"paths": [first]}}
    starts = np.arange(every, length - 1e-9, 2 * every)
    for at, start in enumerate(starts, 1):
        ends = {"stop": time_text(start + every)} if start + every < length - 1e-9 else {}
        flows[f"{TOGGLED}-{at}"] = common | {"paths": [other], "start": time_text(start)} | ends
    for key in ("events", "filters"):
        table.pop(key, None)
    table |= {
        "flows": flows,
        "duration": time_text(length),
        "warmup": "0s",
        "name": f"{scenario.name}, UDP interference",
    }
    return Scenario.parse(to_toml(table), scenario.name)


def measure(run: Run, every: float) -> Interference:
    """The rates of a run of `interference_test`."""
    bursts = [name for name in run.flow_names if name.startswith(f"{TOGGLED}-")]
    times, steady = run.series("goodput", flow=STEADY)
    toggled = np.sum([_at(times, *run.series("goodput", flow=name)) for name in bursts], axis=0)
    # A sample covers the time before it.
    place = (times - 1e-9) / every
    late = place % 1 > SETTLED
    both = (place.astype(int) % 2 == 1) & late
    alone = (place.astype(int) % 2 == 0) & late
    names = [run.flow(name)["paths"][0]["path"] for name in (STEADY, bursts[0])]
    lost = np.sum([_failed(run, name, times) for name in names], axis=0)
    bits = 8 * 1472 / float(np.median(np.diff(times)))
    sent = (steady + toggled) / bits + lost
    return Interference(
        alone=float(steady[alone].mean()) / 1e6,
        steady=float(steady[both].mean()) / 1e6,
        toggled=float(toggled[both].mean()) / 1e6,
        lost_alone=float(lost[alone].sum() / max(sent[alone].sum(), 1)),
        lost_both=float(lost[both].sum() / max(sent[both].sum(), 1)),
    )


def over_time(run: Run) -> tuple[Any, Sequence[Any]]:
    """Times, and the rates of the steady and the toggled interface, Mb/s."""
    times, steady = run.series("goodput", flow=STEADY)
    bursts = [name for name in run.flow_names if name.startswith(f"{TOGGLED}-")]
    toggled = np.sum([_at(times, *run.series("goodput", flow=name)) for name in bursts], axis=0)
    return times, (steady / 1e6, toggled / 1e6)


def plot(run: Run) -> Figure:
    """The rate of each interface and their total over time."""
    from mptcplab.plots import figure_style

    times, (steady, toggled) = over_time(run)
    names = [run.flow(name)["paths"][0]["path"] for name in (STEADY, f"{TOGGLED}-1")]
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.6)
        figure_style.curve(axes, times, steady, f"{names[0]}, always on", figure_style.LOOKS["mptcp"])
        figure_style.curve(axes, times, toggled, f"{names[1]}, every second period", figure_style.LOOKS["wifi"])
        figure_style.curve(axes, times, steady + toggled, "sum of both", figure_style.LOOKS["sum"], markers=1)
        top = 1.3 * float((steady + toggled).max())
        figure_style.finish(axes, x="time [s]", y="throughput [Mb/s]", title=run.name, legend=None, top=top)
        axes.legend(loc="upper left", ncols=3)
    return figure


def _at(times: Any, own: Any, values: Any) -> Any:
    """The series at `times`; 0 at times without a sample."""
    found = np.zeros(len(times))
    found[np.searchsorted(times, own - 1e-9)] = values
    return found


def _failed(run: Run, path: str, times: Any) -> Any:
    own, count = run.series("mac_drops", path=path)
    if not len(own):
        return np.zeros(len(times))
    return np.diff(_at(times, own, count), prepend=0.0)
