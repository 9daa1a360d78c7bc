"""Experiment I1 of study I (ECF, CoNEXT 2017): downloads of files by rates and size.

Owns the runs, the verdicts on completion times, and the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Scenario
from mptcplab.stats.statistics import interval
from mptcplab.studies.base import Effort, Experiment, Key, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.conext17_ecf.network import NAME, QUEUES, download, share_of_wifi
from mptcplab.studies.literature.measures import near
from mptcplab.studies.verdicts import Bound, Check

SIZES = (128, 256, 512, 1024)
"""Sizes of the files, KiB."""
LARGE = SIZES[1:]
SLOW_AND_FAST = {"1 Mb/s on WiFi": (1, 10), "1 Mb/s on LTE": (10, 1)}
"""The rates of WiFi and LTE with the quoted numbers, by interpretation."""
LIMIT = 60
"""Duration of an incomplete run, s."""
SCHEDULERS = {"minrtt": "lowest RTT first", "ecf": "ECF"}


def completion(run: Run) -> float:
    """Time from the opening of the connection until the last byte, ms."""
    done = run.flow()["completion_s"]
    return 1e3 * (run.scenario.duration if done is None else done)


def extreme(rows: Sequence[Sequence[float]], pick: Callable[[Sequence[float]], float]) -> list[float]:
    """For each seed, the smallest or largest value of all rows."""
    return [pick(row) for row in zip(*rows, strict=True)]


def rates(effort: Effort) -> tuple[int, ...]:
    """Rates of each path, Mb/s."""
    return effort.pick((1, 10), (1, 2, 5, 10), (1, 2, 3, 5, 7, 10))


class Files(Experiment):
    """Downloads with wget."""

    study = NAME
    name = "I1"
    title = "Downloads of files by rates and size"
    setup = (
        "WiFi and LTE have rates of 1 to 10 Mb/s and one-way delays of 20 and 45 ms. Each run downloads a file of "
        "128 KiB to 1 MiB over a new connection, with the lowest RTT first and with ECF. TCP over each path is the "
        "baseline."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Rates × sizes × schedulers, and TCP over each path, × seeds."""
        seeds = effort.seeds(3, 6, 20)
        some = rates(effort)
        for queue in QUEUES:
            scenarios: dict[Key, Scenario] = {}
            for size in SIZES:
                for pair in product(some, some):
                    for scheduler, words in SCHEDULERS.items():
                        keys: dict[str, Any] = {"bytes": f"{size}KiB", "scheduler": scheduler}
                        each = download(f"{size} KiB, {words}", pair, queue, LIMIT, **keys)
                        scenarios[scheduler, *pair, size] = each
                for rate, path in product(some, ("wifi", "lte")):
                    keys = {"bytes": f"{size}KiB", "transport": "tcp", "congestion": "reno", "paths": [path]}
                    each = download(f"{size} KiB, TCP over {path}", (rate, rate), queue, LIMIT, **keys)
                    scenarios[path, rate, size] = each
            for key, each in scenarios.items():
                for seed in seeds:
                    yield Point((queue, *key), each, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims I-1.1 to I-1.5."""
        pairs = list(product(rates(effort), rates(effort)))

        def over_minrtt(queue: str, size: int) -> list[list[float]]:
            """For each pair of rates, the ratio ECF / lowest RTT first of each seed."""
            values = [
                [measured.values(completion, queue, name, *pair, size) for name in ("ecf", "minrtt")] for pair in pairs
            ]
            return [[one / other for one, other in zip(*both, strict=True)] for both in values]

        def over_tcp(queue: str, size: int) -> list[list[float]]:
            """For each pair of rates, the ratio ECF / TCP over the faster path of each seed."""
            rows = []
            for wifi, lte in pairs:
                keys = (("ecf", wifi, lte, size), ("wifi", wifi, size), ("lte", lte, size))
                values = [measured.values(completion, queue, *key) for key in keys]
                rows.append([ecf / min(single) for ecf, *single in zip(*values, strict=True)])
            return rows

        def equal(queue: str) -> list[Check]:
            ratios = over_minrtt(queue, 128)
            bound = Bound("equal", 0.95, 1.05)
            return [
                Check("smallest ratio", interval(extreme(ratios, min)), bound),
                Check("largest ratio", interval(extreme(ratios, max)), bound),
            ]

        def worst(rows: Callable[[str, int], list[list[float]]], queue: str, bound: Bound) -> list[Check]:
            return [
                Check(f"largest ratio at {size} KiB", interval(extreme(rows(queue, size), max)), bound)
                for size in LARGE
            ]

        def largest(queue: str) -> list[Check]:
            ratios = [row for size in LARGE for row in over_minrtt(queue, size)]
            found = interval(1 - ratio for ratio in extreme(ratios, min))
            return [Check("largest reduction", found, near("reduction", 0.2))]

        def quoted(queue: str, pair: tuple[int, int]) -> list[Check]:
            minrtt, ecf = ((queue, name, *pair, 1024) for name in SCHEDULERS)
            return [
                Check(
                    "ECF / lowest RTT first",
                    measured.ratio(completion, ecf, completion, minrtt),
                    Bound("reduced by 13%", 1 - 1.2 * 0.13, 1 - 0.8 * 0.13),
                ),
                Check(
                    "lowest RTT first minus ECF",
                    measured.difference(completion, minrtt, ecf),
                    near("200 ms", 200),
                    "ms",
                ),
            ]

        wifi = [measured.mean(share_of_wifi, "1000p", name, 1, 10, 1024) for name in SCHEDULERS]
        early = (
            f"With 1 Mb/s on WiFi and queues of 1000 packets, WiFi carries {wifi[0]:.1%} of a file of 1 MiB with the "
            f"lowest RTT first, and {wifi[1]:.1%} with ECF."
        )
        start = (
            "WiFi has the lower RTT at first. It takes its data in slow start, before its queue raises the RTT. The "
            "schedulers do not differ while WiFi is the faster path."
        )
        times = [measured.mean(completion, "1000p", name, 10, 1, 256) for name in SCHEDULERS]
        lte = [1 - measured.mean(share_of_wifi, "1000p", name, 10, 1, 256) for name in SCHEDULERS]
        late = (
            f"With 10 Mb/s on WiFi and 1 Mb/s on LTE, 256 KiB take {times[0]:.0f} ms with the lowest RTT first and "
            f"{times[1]:.0f} ms with ECF. LTE carries {lte[0]:.1%} and {lte[1]:.1%}."
        )
        facts = [
            self.fact(
                "I-1.1",
                "at 128 KiB, ECF and the lowest RTT first take the same time within 5%, at all rates",
                published="no difference at 128 KB",
                checks={words: equal(queue) for queue, words in QUEUES.items()},
                why="the queues",
                reason=(
                    "With the highest RTT first or round robin instead of ECF, the ratios are also within 1%. Files of "
                    "this size do not distinguish these schedulers."
                ),
            ),
            self.fact(
                "I-1.2",
                "from 256 KiB on, ECF takes at most 2% longer than the lowest RTT first, at all rates",
                published="ECF never does worse",
                checks={words: worst(over_minrtt, queue, Bound("worst", high=1.02)) for queue, words in QUEUES.items()},
                why="the queues",
                reason=late,
                explanation=(
                    "With little data left, the second condition of ECF sends the data on the slow path that it held "
                    "back before."
                ),
            ),
            self.fact(
                "I-1.3",
                "from 256 KiB on, the largest reduction by ECF is 20% within 20%",
                published="up to 20% for at least 256 KB",
                checks={words: largest(queue) for queue, words in QUEUES.items()},
                why="the queues",
                reason=early,
                explanation=start,
            ),
            self.fact(
                "I-1.4",
                "over 1 and 10 Mb/s, ECF reduces the time for 1 MiB by 13% and by 200 ms, both within 20%",
                published="13%, 200 ms",
                checks={
                    f"{path}, {words}": quoted(queue, pair)
                    for path, pair in SLOW_AND_FAST.items()
                    for queue, words in QUEUES.items()
                },
                why="which path has 1 Mb/s, and the queues",
                reason=early,
                explanation=start,
            ),
            self.fact(
                "I-1.5",
                "from 256 KiB on, ECF takes at most 5% longer than TCP over the faster path, at all rates",
                published="no statement; the baselines of one path",
                origin="ours",
                checks={words: worst(over_tcp, queue, Bound("over TCP", high=1.05)) for queue, words in QUEUES.items()},
                why="the queues",
                explanation=start,
            ),
        ]
        return Outcome(facts, [self._picture(measured, effort)])

    def _picture(self, measured: Measured, effort: Effort) -> Picture:
        figure, panels = figure_style.new_figure(columns=len(SIZES), width=2.7, height=3.0)
        some = rates(effort)
        image = None
        for axes, size in zip(panels, SIZES, strict=True):
            grid = np.array(
                [
                    [
                        100 * (measured.mean(completion, "1000p", "ecf", wifi, lte, size)
                               / measured.mean(completion, "1000p", "minrtt", wifi, lte, size) - 1)
                        for lte in some
                    ]
                    for wifi in some
                ]
            )  # fmt: skip
            image = axes.imshow(grid, cmap="RdBu_r", vmin=-25, vmax=25, origin="lower")
            for at, value in np.ndenumerate(grid):
                axes.text(
                    at[1], at[0], f"{value:+.0f}" if abs(value) >= 0.5 else "0", ha="center", va="center", fontsize=8
                )
            axes.set_xticks(range(len(some)), [str(rate) for rate in some])
            axes.set_yticks(range(len(some)), [str(rate) for rate in some])
            axes.set_title(f"{size} KiB", loc="left")
            axes.set_xlabel("LTE [Mb/s]")
            axes.set_ylabel("WiFi [Mb/s]" if axes is panels[0] else "")
            axes.grid(visible=False)
        if image is not None:
            figure.colorbar(image, ax=panels, label="change of the time [%]", shrink=0.7)
        caption = (
            "Completion time of a file with ECF compared with the lowest RTT first, by the rates of WiFi and LTE, "
            "with queues of 1000 packets. Negative values mean that ECF is faster."
        )
        return Picture("i1-files", caption, figure)
