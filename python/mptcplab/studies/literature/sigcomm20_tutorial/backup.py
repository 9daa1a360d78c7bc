"""Experiment F4 of study F (hands-on lab of the SIGCOMM 2020 tutorial): a silent failure with and without a backup.

Owns the runs, the verdicts on the lab's fourth section, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Event, Path, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.sigcomm20_tutorial.network import NAME, exchange, exchange_delays
from mptcplab.studies.verdicts import Bound, every

PATHS = {
    "first": Path(rate="100Mbit", rtt="40ms", queue="400p"),
    "second": Path(rate="100Mbit", rtt="30ms", queue="300p"),
}
FAILURE = 3.0
"""Time in s at which the first path starts to drop all packets."""
VARIANTS = {"normal": "both paths normal", "backup": "second path is a backup"}
SIZE = 1000
TIMEOUT = 200.0
"""The minimum retransmission timeout of Linux, ms."""


def longest(run: Run, start: float, end: float) -> float:
    """The longest delay of the exchanges that start between `start` and `end` (in s), in ms."""
    return float(_between(run, start, end).max())


def shortest(run: Run, start: float, end: float) -> float:
    """The shortest delay of the exchanges that start between `start` and `end` (in s), in ms."""
    return float(_between(run, start, end).min())


def _between(run: Run, start: float, end: float) -> np.ndarray:
    times, delays = exchange_delays(run)
    return delays[(times >= start) & (times < end)]


class Backup(Experiment):
    """Section 4 of the lab."""

    study = NAME
    name = "F4"
    title = "A silent failure with and without a backup path"
    setup = (
        "The connection starts on a path of 100 Mb/s with an RTT of 40 ms. A second path has 30 ms. Requests and "
        "responses of 1 KB are sent every 250 ms. At 3 s, the first path starts to drop all packets silently. The "
        "second path is either normal or a backup. The scheduler prefers the lowest RTT."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Both variants × seeds."""
        for variant, words in VARIANTS.items():
            backup: dict[str, Any] = {"backup": ["second"]} if variant == "backup" else {}
            scenario = Scenario(
                name=f"failure at 3 s, {words}",
                duration="8s",
                warmup="500ms",
                paths=PATHS,
                flows=exchange(SIZE, scheduler="minrtt", **backup),
                events=[Event(at=f"{FAILURE}s", path="first", set={"up": False}, how="blackhole")],
            )
            for seed in effort.seeds(3, 10, 40):
                yield Point((variant,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims F-4.1 to F-4.4."""
        normal, backup = measured.runs("normal"), measured.runs("backup")
        facts = [
            self.fact(
                "F-4.1",
                "with two normal paths, each delay is at least 30 ms and below 40 ms, also after the failure",
                published="the scheduler favours the subflow with the lowest RTT; the lab asks for the delays",
                checks=[
                    every("shortest delay", [shortest(run, 0.5, 8) for run in normal], Bound("delays", low=30), "ms"),
                    every("longest delay", [longest(run, 0.5, 8) for run in normal], Bound("delays", high=40), "ms"),
                ],
            ),
            self.fact(
                "F-4.2",
                "with a backup path, each delay before the failure is at least 40 ms, so the backup is not used",
                published="a backup subflow is used only without other working subflows",
                checks=[
                    every(
                        "shortest delay before 2.9 s",
                        [shortest(run, 0.5, 2.9) for run in backup],
                        Bound("before", low=40),
                        "ms",
                    )
                ],
            ),
            self.fact(
                "F-4.3",
                "with a backup path, one delay after the failure is at least one retransmission timeout, 200 ms",
                published="a subflow counts as failed after a retransmission timeout",
                checks=[
                    every(
                        "longest delay", [longest(run, 2.9, 5) for run in backup], Bound("longest", low=TIMEOUT), "ms"
                    )
                ],
                reason="The request and the response each wait for the timeout of their own sender.",
            ),
            self.fact(
                "F-4.4",
                "with a backup path, each delay from 2 s after the failure is below 40 ms",
                published="then the backup carries the data",
                checks=[
                    every(
                        "longest delay from 5 s",
                        [longest(run, FAILURE + 2, 8) for run in backup],
                        Bound("after", high=40),
                        "ms",
                    )
                ],
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(height=3.6)
        looks = figure_style.looks(["mptcp", "olia"])
        for look, (variant, words) in zip(looks.values(), VARIANTS.items(), strict=True):
            times, delays = exchange_delays(measured.one(variant))
            figure_style.curve(axes, times, delays, words, look, markers=40)
        axes.axvline(FAILURE, color="#999999", linewidth=0.8, label="first path fails")
        figure_style.finish(axes, x="time of the request [s]", y="delay [ms]", legend=None)
        axes.set_yscale("log")
        axes.set_ylim(20, 2000)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3)
        caption = "Delay from a request to the end of its response when the first path fails at 3 s, one run each."
        return Picture("f4-backup", caption, figure)
