"""Experiment A1 of study A (Lim and Valdez, CS244 at Stanford, 2013): paths go down and recover, and the connection
continues (figure 2).

Owns the runs, the verdicts on the report's claims, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Event, Flow, Scenario
from mptcplab.stats.statistics import Interval, difference, ratio
from mptcplab.studies.base import LINUX_2013, Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.cs244_wireless.network import CELLULAR, CONTROLLER, ETHERNET, NAME, WIFI
from mptcplab.studies.limiting_factor_panels import under_time
from mptcplab.studies.verdicts import Bound, Check, every

PATHS = ("ethernet", "wifi", "3g")
CHANGES = ((7, "ethernet", False), (14, "wifi", False), (21, "wifi", True), (28, "ethernet", True))
SILENT = 0.01
"""Mb/s below which a path counts as idle."""

VARIANTS = {
    "admin": "the interface is taken down, and both ends notice it",
    "blackhole": "the path drops all packets silently",
}


class Handoff(Experiment):
    """Figure 2."""

    study = NAME
    name = "A1"
    title = "Wireless handoff"
    setup = (
        "One bulk connection over Ethernet (10 Mb/s, RTT 4 ms), WiFi (2 Mb/s, 12 ms, 3% loss) and "
        "3G (2 Mb/s, 152 ms, 2% loss). Ethernet goes down at 7 s, WiFi at 14 s; WiFi comes back at 21 s, "
        "Ethernet at 28 s. The study does not specify how a link went down. Both ends are "
        "notified in the runs that decide the verdicts; in runs for comparison, the path drops all packets silently. "
        "Congestion control: CUBIC on each path, the default of the study's Ubuntu."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Each variant with several seeds, because losses are random."""
        for variant in VARIANTS:
            scenario = handoff(variant)
            for seed in effort.seeds(3, 20, 40):
                yield Point((variant,), scenario, seed, watched=seed == effort.first)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims A-1.1 to A-1.6."""
        checks = {how: _checks(measured.runs(variant)) for variant, how in VARIANTS.items()}
        facts = [self._fact(number, statement, published, checks) for number, statement, published in STATEMENTS]
        pictures = [self._picture(variant, how, measured.one(variant)) for variant, how in VARIANTS.items()]
        return Outcome(facts, pictures)

    def _fact(self, number: str, statement: str, published: str, checks: dict[str, dict[str, list[Check]]]) -> Fact:
        return self.fact(
            number,
            statement,
            published=published,
            checks={how: found[number] for how, found in checks.items()},
            main=VARIANTS["admin"],
            why="in the study, each event names an interface",
        )

    def _picture(self, variant: str, how: str, run: Run) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=5.2, height=3.3)
        for path in PATHS:
            times, values = run.series("interface_throughput", path=path)
            figure_style.curve(axes, times, values / 1e6, path, figure_style.LOOKS[path], markers=20)
        for at, path, up in CHANGES:
            axes.axvline(at, color="#999999", linewidth=0.8)
            axes.annotate(
                f"{path}\n{'up' if up else 'down'}", (at, 1), xycoords=("data", "axes fraction"),
                xytext=(3, -2), textcoords="offset points", va="top", fontsize=9, color="#555555",
            )  # fmt: skip
        figure_style.finish(axes, x="time [s]", y="interface throughput [Mb/s]", legend=None, top=12.0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
        caption = (
            f"Throughput of each interface in bins of 0.5 s, one run; {how}. The study's figure 2 shows the same "
            "order of the paths, and the same recovery."
        )
        why = under_time(figure, axes, {path: (run, "bulk", path) for path in PATHS})
        return Picture(f"a1-handoff-{variant}", caption, figure, why)


def handoff(how: str) -> Scenario:
    """The scenario; `how` is `admin` or `blackhole`."""
    events = []
    for at, path, up in CHANGES:
        events.append(Event(at=f"{at}s", path=path, set={"up": up}, how="admin" if how == "admin" else "blackhole"))
    return Scenario(
        defaults=AS_STUDIED,
        jitter=NO_JITTER,
        name=f"handoff ({how})",
        duration="40s",
        sample="500ms",
        paths={"ethernet": ETHERNET, "wifi": WIFI, "3g": CELLULAR},
        flows={"bulk": Flow(transport="mptcp", congestion=CONTROLLER, more=LINUX_2013)},
        events=events,
    )


def _window(run: Run, path: str, start: float, end: float, metric: str) -> NDArray[np.float64]:
    times, values = run.series(metric, path=path)
    return values[(times > start + 1e-9) & (times <= end + 1e-9)] / 1e6


Rates = dict[str, list[float]]

STATEMENTS = (
    ("A-1.1", "with all paths up (2 to 7 s), Ethernet carries most, then WiFi, then 3G",
     "Ethernet highest, followed by WiFi and 3G"),
    ("A-1.2", "without Ethernet (8 to 14 s), WiFi carries more than 3G, and from 9 s on no silence lasts a second",
     "traffic moves to WiFi, some of it to 3G"),
    ("A-1.3", "without Ethernet and WiFi (15 to 21 s), 3G keeps the connection alive", "3G alone carries the data"),
    ("A-1.4", "between 23 and 28 s, WiFi carries at least 70% of its throughput between 2 and 7 s",
     "shortly recovers its initial throughput"),
    ("A-1.5", "from 30 s on, Ethernet carries at least 80% of its throughput between 2 and 7 s, and the "
     "order of the paths is as in A-1.1",
     "shortly recovers its initial throughput"),
    ("A-1.6", "one connection delivers the whole byte stream, complete and in order", "seamless handoff"),
)  # fmt: skip


def _checks(runs: list[Run]) -> dict[str, list[Check]]:
    """The checks of each claim, for one variant of link failure."""
    start, end = _all(runs, 2, 7), _all(runs, 30, 40)
    gone, alone = _all(runs, 8, 14, "goodput"), _all(runs, 15, 21, "goodput")
    again = _rates(runs, "wifi", 23, 28)
    silent, alive = Bound("silent", high=0), Bound("alive", low=SILENT)

    def more(of: Rates, first: str, second: str) -> Check:
        found = difference(of[first], of[second], paired=True)
        return Check(f"{first} minus {second}", found, Bound("more", low=0, strict=True), "Mb/s")

    def is_(bound: Bound, of: Rates, path: str) -> Check:
        return every(f"rate over {path}", of[path], bound, "Mb/s")

    def none(what: str, values: list[float]) -> Check:
        return every(what, values, Bound("none", high=0))

    def back(found: Interval, low: float) -> Check:
        return Check("throughput / throughput between 2 and 7 s", found, Bound("back", low=low))

    return {
        "A-1.1": [more(start, "ethernet", "wifi"), more(start, "wifi", "3g"), is_(alive, start, "3g")],
        "A-1.2": [
            is_(silent, gone, "ethernet"),
            more(gone, "wifi", "3g"),
            none("seconds of silence from 9 s on", [_longest_silence(run, 9, 14) // 1 for run in runs]),
        ],
        "A-1.3": [is_(silent, alone, "ethernet"), is_(silent, alone, "wifi"), is_(alive, alone, "3g")],
        "A-1.4": [back(ratio(again, start["wifi"], paired=True), 0.7)],
        "A-1.5": [
            back(ratio(end["ethernet"], start["ethernet"], paired=True), 0.8),
            more(end, "ethernet", "wifi"),
            more(end, "wifi", "3g"),
            is_(alive, end, "3g"),
        ],
        "A-1.6": [
            none("runs with damaged data", [float(not run.flow()["intact"]) for run in runs]),
            none("runs with a lost connection", [float(run.flow()["closed"] is not None) for run in runs]),
        ],
    }


def _all(runs: list[Run], start: float, end: float, metric: str = "interface_throughput") -> Rates:
    return {path: _rates(runs, path, start, end, metric) for path in PATHS}


def _rates(runs: list[Run], path: str, start: float, end: float, metric: str = "interface_throughput") -> list[float]:
    """Mb/s over a window, of each run; bins in which the path did not exist count as zero."""
    bins = (end - start) / runs[0].scenario.sample
    return [float(_window(run, path, start, end, metric).sum()) / bins for run in runs]


def _longest_silence(run: Run, start: float, end: float) -> float:
    """The longest time without a byte at the application, seconds."""
    silent = _window(run, "*", start, end, "goodput") <= 0
    longest = current = 0
    for bin_is_silent in silent:
        current = current + 1 if bin_is_silent else 0
        longest = max(longest, current)
    return longest * run.scenario.sample
