"""Experiment L1 of study L (Wischik et al., NSDI 2011, section 4): three loads over a fat tree with 128 hosts.

Owns the runs, the verdicts on the table of the paper, and the figure.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Fact, Key, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.nsdi11_datacenter.network import ALGORITHMS, NAME, host_rate, scenario
from mptcplab.studies.verdicts import Bound, Check

PUBLISHED: dict[str, dict[str, float]] = {
    "TP1": {"tcp": 51, "ewtcp": 92, "lia": 95},
    "TP2": {"tcp": 94, "ewtcp": 92.5, "lia": 97},
    "TP3": {"tcp": 60, "ewtcp": 99, "lia": 99},
}
"""Mb/s per host by load and algorithm, from the table of the paper as other documents quote it."""
TOLERANCE = 0.1
REPEATS = "TP3 with repeats"
READINGS = {"TP3": "each host receives once at most", REPEATS: "hosts may receive several times"}


class Loads(Experiment):
    """The table of the paper: three algorithms and three loads."""

    study = NAME
    name = "L1"
    title = "Three loads over a fat tree"
    setup = (
        "A fat tree with 128 hosts and links of 100 Mb/s (quick: 16 hosts). TP1: each host sends to one host. TP2: "
        "each host sends to 12 hosts. TP3: 30% of the hosts send to one host each. A connection has 8 subflows over "
        "different paths, or one over a random path. All flows start at once. The second half of the run is measured."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Loads × algorithms × seeds; a seed also selects receivers and paths."""
        k, duration = effort.pick((4, 0.8), (8, 4), (8, 12))
        for load in (*PUBLISHED, REPEATS):
            for algorithm in ALGORITHMS:
                for seed in effort.seeds(3, 3, 3):
                    one = scenario(load, algorithm, k=k, number=seed, duration=duration, warmup=duration / 2)
                    yield Point((load, algorithm), one, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims L-1.1 to L-1.5."""
        facts = [
            self._table("L-1.1", "TP1", measured),
            self._table("L-1.2", "TP2", measured),
            self._sparse(measured),
            self._more("L-1.4", "TP1", "ewtcp", "MPTCP gets more than EWTCP", measured),
            self._more("L-1.5", "TP1", "tcp", "MPTCP gets more than single-path TCP", measured),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _rates(self, load: str, published: str, measured: Measured) -> list[Check]:
        return [
            Check(
                ALGORITHMS[algorithm][0],
                measured.interval(host_rate, load, algorithm),
                Bound(algorithm, value * (1 - TOLERANCE), value * (1 + TOLERANCE)),
                "Mb/s",
            )
            for algorithm, value in PUBLISHED[published].items()
        ]

    def _table(self, fact: str, load: str, measured: Measured) -> Fact:
        values = PUBLISHED[load]
        return self.fact(
            fact,
            f"with {load}, hosts get {_listed(values)} Mb/s (within 10%)",
            published=_listed(values),
            checks=self._rates(load, load, measured),
        )

    def _sparse(self, measured: Measured) -> Fact:
        values = PUBLISHED["TP3"]
        return self.fact(
            "L-1.3",
            f"with TP3, hosts get {_listed(values)} Mb/s (within 10%)",
            published=_listed(values),
            checks={words: self._rates(load, "TP3", measured) for load, words in READINGS.items()},
            why="whether a host may receive several times",
        )

    def _more(self, fact: str, load: str, other: str, statement: str, measured: Measured) -> Fact:
        keys: list[Key] = [(load, "lia"), (load, other)]
        found = measured.ratio(host_rate, keys[0], host_rate, keys[1], paired=True)
        return self.fact(
            fact,
            f"with {load}, {statement}",
            published=f"{PUBLISHED[load]['lia']:g} and {PUBLISHED[load][other]:g} Mb/s",
            checks=[Check(f"MPTCP / {ALGORITHMS[other][0]}", found, Bound("more", low=1, strict=True))],
        )

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure()
        groups = [*PUBLISHED, REPEATS]
        looks = figure_style.looks(list(ALGORITHMS))
        series = {}
        for (algorithm, look), (title, _) in zip(looks.items(), ALGORITHMS.values(), strict=True):
            found = [measured.estimate(host_rate, load, algorithm) for load in groups]
            series[title] = (look, [(one.mean, one.half_width) for one in found])
        figure_style.grouped_bars(axes, groups, series)
        for at, algorithm in enumerate(ALGORITHMS):
            xs = figure_style.bar_places(len(PUBLISHED), at, len(ALGORITHMS))
            ys = [values[algorithm] for values in PUBLISHED.values()]
            figure_style.published_points(axes, xs, ys, "published" if not at else "_")
        figure_style.finish(axes, x="", y="rate per sending host [Mb/s]", legend=None, top=118)
        figure_style.legend_below(axes, columns=4)
        caption = "Rate of the hosts that send, by load and algorithm, with 95% intervals over the seeds."
        return Picture("l1-loads", caption, figure)


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{value:g} ({ALGORITHMS[algorithm][0]})" for algorithm, value in values.items())
