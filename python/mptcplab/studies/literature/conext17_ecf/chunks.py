"""Experiment I2 of study I (ECF, CoNEXT 2017): chunks of a video stream over a slow WiFi and a fast LTE.

Owns the runs, the verdicts on the download times of chunks, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.conext17_ecf.network import NAME, QUEUES, download, share_of_wifi
from mptcplab.studies.literature.measures import block_delays
from mptcplab.studies.verdicts import Bound, Check

WIFI, LTE = 0.3, 8.6
"""Rates in Mb/s."""
BITRATES = (0.5, 1.0, 2.0, 4.0)
"""Bit rates of the video, Mb/s."""
TOP = 6.0
"""The end of the figure's axis, s."""
CHUNK = 5
"""Seconds of video in a chunk."""
CURVES: dict[str, tuple[str, dict[str, Any]]] = {
    "lte": ("TCP over LTE", {"transport": "tcp", "congestion": "reno", "paths": ["lte"]}),
    "minrtt": ("lowest RTT first", {"scheduler": "minrtt"}),
    "daps": ("DAPS", {"scheduler": "daps"}),
    "blest": ("BLEST", {"scheduler": "blest"}),
    "ecf": ("ECF", {"scheduler": "ecf"}),
}


def chunk_time(run: Run) -> float:
    """Mean download time of a chunk without the first one, ms; a missing chunk counts until the end of the run."""
    written, delays = block_delays(run)
    duration = run.scenario.duration
    starts = range(CHUNK, round(duration), CHUNK)
    arrived = list(delays[written > CHUNK / 2])[: len(starts)]
    missing = [1e3 * (duration - start) for start in starts[len(arrived) :]]
    return sum([*arrived, *missing]) / len(starts)


class Chunks(Experiment):
    """A video stream with a fixed bit rate."""

    study = NAME
    name = "I2"
    title = "Chunks of a video over WiFi of 0.3 Mb/s and LTE of 8.6 Mb/s"
    setup = (
        "WiFi has 0.3 Mb/s and LTE 8.6 Mb/s, with one-way delays of 20 and 45 ms. A connection carries a chunk of 5 s "
        "of video every 5 s, at a bit rate of 0.5 to 4 Mb/s. The first chunk is excluded. After an idle time, the "
        "windows restart."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Bit rates × curves × seeds."""
        for queue, bitrate in product(QUEUES, BITRATES):
            size = int(bitrate * 1e6 / 8 * CHUNK)
            for curve, (words, own) in CURVES.items():
                keys = {"blocks": f"{size}B", "rate": f"{bitrate}Mbit"} | own
                name = f"video, {words}, {bitrate:g} Mb/s"
                each = download(name, (WIFI, LTE), queue, effort.pick(20, 60, 120), **keys)
                for seed in effort.seeds(3, 8, 20):
                    yield Point((queue, curve, bitrate), each, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims I-2.1 to I-2.4."""

        def faster(bound: Bound, other: str) -> dict[str, list[Check]]:
            return {
                words: [
                    Check(
                        f"ECF / {CURVES[other][0]} at {bitrate:g} Mb/s",
                        measured.ratio(chunk_time, (queue, "ecf", bitrate), chunk_time, (queue, other, bitrate)),
                        bound,
                    )
                    for bitrate in BITRATES
                ]
                for queue, words in QUEUES.items()
            }

        wifi = measured.mean(share_of_wifi, "1000p", "ecf", 1.0)
        shorter = Bound("shorter", high=1.0, strict=True)
        facts = [
            self.fact(
                "I-2.1",
                "with ECF, chunks take less time than with the lowest RTT first, at each bit rate",
                published="uses all paths more efficiently than the default scheduler, particularly for streaming",
                checks=faster(shorter, "minrtt"),
                why="the queues",
            ),
            *(
                self.fact(
                    f"I-2.{number}",
                    f"with ECF, chunks take less time than with {CURVES[other][0]}, at each bit rate",
                    published="uses all paths more efficiently than other approaches, particularly for streaming",
                    checks=faster(shorter, other),
                    why="the queues",
                )
                for number, other in ((2, "blest"), (3, "daps"))
            ),
            self.fact(
                "I-2.4",
                "with ECF, chunks take at most 5% longer than with TCP over LTE, at each bit rate",
                published="no statement; the baseline of one path",
                origin="ours",
                checks=faster(Bound("over TCP", high=1.05), "lte"),
                why="the queues",
                reason=(
                    f"WiFi has 3% of the rate of both paths and carries {wifi:.0%} of the data with ECF at 1 Mb/s and "
                    "queues of 1000 packets."
                ),
                explanation=(
                    "After an idle time, the window of LTE restarts with ten segments. While it is full, data is sent "
                    "on WiFi, where ten segments take 0.4 s."
                ),
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, panels = figure_style.new_figure(columns=2, width=4.8, height=3.5, share_y=True)
        looks = figure_style.looks(["3g", "mptcp", "wvegas", "balia", "olia"])
        for axes, (queue, title) in zip(panels, QUEUES.items(), strict=True):
            series = {}
            for look, (curve, (words, _)) in zip(looks.values(), CURVES.items(), strict=True):
                found = [measured.estimate(chunk_time, queue, curve, bitrate) for bitrate in BITRATES]
                series[words] = (look, [(one.mean / 1e3, one.half_width / 1e3) for one in found])
            figure_style.grouped_bars(axes, [f"{bitrate:g}" for bitrate in BITRATES], series)
            figure_style.finish(
                axes,
                x="bit rate of the video [Mb/s]",
                y="download time of a chunk [s]" if axes is panels[0] else "",
                title=title,
                legend=None,
                top=TOP,
            )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        longest = max(measured.mean(chunk_time, queue, "daps", BITRATES[-1]) for queue in QUEUES) / 1e3
        caption = (
            "Mean download time of chunks of 5 s of video over WiFi of 0.3 Mb/s and LTE of 8.6 Mb/s. Whiskers are 95% "
            f"intervals. The axis ends at {TOP:g} s; the longest bar, of DAPS, has {longest:.0f} s."
        )
        return Picture("i2-chunks", caption, figure)
