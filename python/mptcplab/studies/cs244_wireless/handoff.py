"""Experiment A1: paths go away and come back, the connection stays (figure 2 of the study)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mptcplab import plots
from mptcplab.results import Run
from mptcplab.scenario import HISTORICAL, Event, Flow, Scenario
from mptcplab.statistics import estimate
from mptcplab.studies.base import LINUX_2013, Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.cs244_wireless.network import CELLULAR, CONTROLLER, ETHERNET, NAME, WIFI

PATHS = ("ethernet", "wifi", "3g")
CHANGES = ((7, "ethernet", False), (14, "wifi", False), (21, "wifi", True), (28, "ethernet", True))
SILENT = 0.01
"""Mb/s below which a path counts as carrying nothing."""

VARIANTS = {
    "admin": "the interface is taken down, and both ends know",
    "blackhole": "the path swallows everything, and nobody is told",
}


class Handoff(Experiment):
    """Figure 2."""

    study = NAME
    name = "A1"
    title = "Wireless handoff"
    setup = (
        "One bulk connection over Ethernet (10 Mb/s, round trip 4 ms), WiFi (2 Mb/s, 12 ms, 3 % loss) and "
        "3G (2 Mb/s, 152 ms, 2 % loss). Ethernet goes down at 7 s, WiFi at 14 s; WiFi comes back at 21 s, "
        "Ethernet at 28 s. The study does not say how a link went down, so both ways are run. "
        "Congestion control: CUBIC on each path, the default of the study's Ubuntu."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Each variant with several seeds, for the losses."""
        for variant in VARIANTS:
            scenario = handoff(variant)
            for seed in range(1, effort.pick(2, 10, 40) + 1):
                yield Point((variant,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Facts A-1.1 to A-1.6 for each variant."""
        outcome = Outcome()
        for variant, how in VARIANTS.items():
            outcome.facts += self._facts(variant, measured.runs(variant))
            outcome.pictures.append(self._picture(variant, how, measured.one(variant)))
        return outcome

    def _facts(self, variant: str, runs: list[Run]) -> list[Fact]:
        start = {path: _mean(runs, path, 2, 7) for path in PATHS}
        gone = {path: _mean(runs, path, 8, 14, "goodput") for path in PATHS}
        alone = {path: _mean(runs, path, 15, 21, "goodput") for path in PATHS}
        wifi_again = _mean(runs, "wifi", 23, 28)
        end = {path: _mean(runs, path, 30, 40) for path in PATHS}
        quiet = max(_longest_silence(run, 9, 14) for run in runs)
        damaged = [run.seed for run in runs if not run.flow()["intact"]]
        ended = [run.seed for run in runs if run.flow()["closed"] is not None]
        return [
            self.fact(
                "A-1.1",
                "with all paths up, Ethernet carries most, then WiFi, then 3G",
                published="Ethernet highest, followed by WiFi and 3G",
                measured=f"2 to 7 s: {_words(start)}",
                verdict=start["ethernet"] > start["wifi"] > start["3g"] > SILENT,
                variant=variant,
            ),
            self.fact(
                "A-1.2",
                "without Ethernet, WiFi carries more than 3G, and data flow in every second from 2 s on",
                published="traffic moves to WiFi, some of it to 3G",
                measured=f"8 to 14 s: {_words(gone)}; longest silence from 9 s on: {quiet:g} s",
                verdict=gone["ethernet"] < SILENT and gone["wifi"] > gone["3g"] and quiet < 1,
                variant=variant,
            ),
            self.fact(
                "A-1.3",
                "without Ethernet and WiFi, 3G keeps the connection alive",
                published="3G alone carries the data",
                measured=f"15 to 21 s: {_words(alone)}",
                verdict=alone["ethernet"] < SILENT and alone["wifi"] < SILENT and alone["3g"] > SILENT,
                variant=variant,
            ),
            self.fact(
                "A-1.4",
                "WiFi is back at 70 % of its first throughput or more between 23 and 28 s",
                published="shortly recovers its initial throughput",
                measured=f"{wifi_again:.2f} of {start['wifi']:.2f} Mb/s = {wifi_again / start['wifi']:.0%}",
                verdict=wifi_again >= 0.7 * start["wifi"],
                variant=variant,
            ),
            self.fact(
                "A-1.5",
                "after 30 s Ethernet is back at 80 % or more, and the order is that of the beginning",
                published="shortly recovers its initial throughput",
                measured=f"30 to 40 s: {_words(end)} ({end['ethernet'] / start['ethernet']:.0%} of Ethernet)",
                verdict=end["ethernet"] >= 0.8 * start["ethernet"]
                and end["ethernet"] > end["wifi"] > end["3g"] > SILENT,
                variant=variant,
            ),
            self.fact(
                "A-1.6",
                "one connection delivers the whole byte stream, complete and in order",
                published="seamless handoff",
                measured=f"{len(runs)} runs: {len(damaged)} with damaged data, {len(ended)} with a lost connection",
                verdict=not damaged and not ended,
                variant=variant,
            ),
        ]

    def _picture(self, variant: str, how: str, run: Run) -> Picture:
        figure, (axes,) = plots.new_figure(width=7.6)
        for path in PATHS:
            times, values = run.series("interface_throughput", path=path)
            plots.curve(axes, times, values / 1e6, path, plots.LOOKS[path], markers=20)
        for at, path, up in CHANGES:
            axes.axvline(at, color="#999999", linewidth=0.8)
            axes.annotate(
                f"{path} {'up' if up else 'down'}", (at, 1), xycoords=("data", "axes fraction"),
                xytext=(3, -2), textcoords="offset points", va="top", fontsize=8, color="#555555",
            )  # fmt: skip
        plots.finish(axes, x="time [s]", y="throughput of each interface [Mb/s]", legend=None, top=12.0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
        caption = (
            f"Throughput of each interface in bins of 0.5 s, one run; {how}. The study's figure 2 shows the same "
            "order of the paths, and the same recovery."
        )
        return Picture(f"a1-handoff-{variant}", caption, figure)


def handoff(how: str) -> Scenario:
    """The scenario; `how` is `admin` or `blackhole`."""
    events = []
    for at, path, up in CHANGES:
        events.append(Event(at=f"{at}s", path=path, set={"up": up}, how="admin" if how == "admin" else "blackhole"))
    return Scenario(
        defaults=HISTORICAL,
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


def _mean(runs: list[Run], path: str, start: float, end: float, metric: str = "interface_throughput") -> float:
    """Mb/s over a window, averaged over the runs; bins in which the path did not exist count as zero."""
    bins = (end - start) / runs[0].scenario.sample
    return estimate(float(_window(run, path, start, end, metric).sum()) / bins for run in runs).mean


def _longest_silence(run: Run, start: float, end: float) -> float:
    """Seconds in a row without a byte at the application."""
    silent = _window(run, "*", start, end, "goodput") <= 0
    longest = current = 0
    for bin_is_silent in silent:
        current = current + 1 if bin_is_silent else 0
        longest = max(longest, current)
    return longest * run.scenario.sample


def _words(rates: dict[str, float]) -> str:
    return ", ".join(f"{path} {rate:.2f}" for path, rate in rates.items()) + " Mb/s"
