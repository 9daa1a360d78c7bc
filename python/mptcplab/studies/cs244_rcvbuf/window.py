"""Experiment C1 of study C (the CS244 report of 2014 on receive buffers): throughput against the receive window (figure
4, panels a, b and c).

Owns the runs and the verdicts on the report's claims: MPTCP without mechanisms (a), with M1 (opportunistic
retransmission) (b), and with M1 and M2 (penalisation) (c). A *reading* is an interpretation of a setting that the study
does not specify.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from mptcplab.results.run import Run
from mptcplab.stats import formulas
from mptcplab.stats.statistics import Interval, difference, interval
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Point, goodput, listed, throughput
from mptcplab.studies.cs244_rcvbuf.network import MAIN, MECHANISMS, NAME, READINGS, WHY, mptcp, paths, seeds, tcp
from mptcplab.studies.cs244_rcvbuf.window_figure import PUBLISHED, picture
from mptcplab.studies.verdicts import Bound, Check

WIDE = 50
"""The smallest window, in KB, that does not count as tiny."""


class Window(Experiment):
    """Figure 4."""

    study = NAME
    name = "C1"
    title = "Throughput against the receive window"
    published = tuple(PUBLISHED.values())
    setup = (
        "WiFi has 8 Mb/s and an RTT of 20 ms, 3G has 2 Mb/s and 150 ms; no packet is lost at random. Receive and send "
        "buffers have 5 to 500 KB (--full: in steps of 5 KB). TCP (Reno) runs over each path. MPTCP (LIA, lowest RTT "
        "first) runs without mechanisms (a), with opportunistic retransmission, M1 (b), and with M1 and penalisation, "
        "M2 (c). All runs are made with both interpretations of the queues. Rates are means over 30 s, after a warm-up "
        "of 10 s."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Interpretations × windows × curves × seeds."""
        for reading in READINGS:
            both = paths(reading)
            for size in _windows(effort):
                for seed in seeds(effort):
                    yield Point((reading, "wifi", size), tcp(both, "wifi", size), seed)
                    yield Point((reading, "3g", size), tcp(both, "3g", size), seed)
                    for mechanisms in MECHANISMS:
                        yield Point((reading, mechanisms, size), mptcp(both, mechanisms, size), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims C-1.1 to C-1.8."""
        windows = _windows(effort)
        curves = {
            reading: {
                name: {size: measured.mean(goodput, reading, name, size) for size in windows}
                for name in ("wifi", "3g", *MECHANISMS)
            }
            for reading in READINGS
        }
        sent = {
            reading: {
                name: {size: measured.mean(throughput, reading, name, size) for size in windows} for name in MECHANISMS
            }
            for reading in READINGS
        }
        judged = _Judged(measured, windows)
        facts = [self._fact(number, judged) for number in STATEMENTS]
        facts.append(self._median(judged))
        return Outcome(facts, [picture(measured, reading, curves[reading], sent[reading]) for reading in READINGS])

    def _fact(self, number: str, judged: _Judged) -> Fact:
        statement, published, check, reason = STATEMENTS[number]
        checks = {reading: check(judged, reading) for reading in READINGS}
        measured = {reading: _shortest(found) for reading, found in checks.items()}
        if number == "C-1.4":
            ours = " In mptcplab, the curves reach 95% of their common maximum: "
            reason += ours + "; ".join(f"[{reading}] {judged.common(reading)}" for reading in READINGS) + "."
        return self.fact(
            number, statement, published=published, checks=checks, main=MAIN, why=WHY, measured=measured, reason=reason
        )

    def _median(self, judged: _Judged) -> Fact:
        checks = {reading: judged.medians(reading) for reading in READINGS}
        return self.fact(
            "C-1.8",
            "with M1 and M2, at each window from 50 KB on, the study's measurement (the median of three samples of 1 s "
            "on the sender's interfaces) is within 10% of the mean rate on these interfaces over the whole measured "
            "time",
            published="(no claim of the study) it reports the median of three samples of one second",
            checks=checks,
            main=MAIN,
            why=WHY,
            measured={reading: _shortest(found) for reading, found in checks.items()},
            origin="ours",
        )


@dataclass(frozen=True)
class _Judged:
    """The checks of each claim, for one interpretation."""

    measured: Measured
    windows: tuple[int, ...]

    def rate(self, reading: str, name: str, size: int) -> Interval:
        return self.measured.interval(goodput, reading, name, size)

    def over_wifi(self, reading: str, name: str, size: int) -> Interval:
        return self.measured.ratio(goodput, (reading, name, size), goodput, (reading, "wifi", size))

    def single_paths(self, reading: str) -> list[Check]:
        limits = {size: min(8.0, formulas.window_limit(size * 1024, 0.02) / 1e6) for size in self.windows}
        wide = [size for size in self.windows if size >= WIDE]
        tiny = min(self.windows)
        return [
            *(
                Check(f"TCP over WiFi with {size} KB, rate / (window / RTT)",
                      _scaled(self.rate(reading, "wifi", size), 1 / limit),
                      Bound("of the limit", high=1.05))
                for size, limit in limits.items()
            ),
            Check(f"TCP over WiFi with {tiny} KB", self.rate(reading, "wifi", tiny), Bound("tiny", high=7.2), "Mb/s"),
            *(Check(f"TCP over WiFi with {size} KB", self.rate(reading, "wifi", size), Bound("WiFi", low=7.2), "Mb/s")
              for size in wide),
            *(Check(f"TCP over 3G with {size} KB", self.rate(reading, "3g", size), Bound("3G", low=1.8), "Mb/s")
              for size in wide),
        ]  # fmt: skip

    def below(self, reading: str) -> list[Check]:
        return [
            Check(
                f"MPTCP / TCP at {size} KB",
                self.over_wifi(reading, "none", size),
                Bound("of TCP over WiFi", high=1.0, strict=True),
            )
            for size in self.windows
            if WIDE <= size < 400
        ]

    def well(self, reading: str) -> list[Check]:
        return [
            Check(
                f"MPTCP / TCP at {size} KB", self.over_wifi(reading, "none", size), Bound("of TCP over WiFi", low=0.95)
            )
            for size in self.windows
            if size >= WIDE
        ]

    def lower_bound(self, reading: str) -> list[Check]:
        return [
            Check(
                f"MPTCP / TCP at {size} KB", self.over_wifi(reading, "M1+M2", size), Bound("of TCP over WiFi", low=0.95)
            )
            for size in self.windows
        ]

    def _curves(self, reading: str, name: str) -> list[dict[int, float]]:
        """The curve of each seed."""
        rows = zip(*(self.measured.values(goodput, reading, name, size) for size in self.windows), strict=True)
        return [dict(zip(self.windows, row, strict=True)) for row in rows]

    def reach(self, reading: str, name: str) -> list[float]:
        """The smallest window with 95% of the curve's own maximum, of each seed."""
        return [_reaches(curve, 0.95 * max(curve.values())) for curve in self._curves(reading, name)]

    def sooner(self, reading: str) -> list[Check]:
        with_both, without = self.reach(reading, "M1+M2"), self.reach(reading, "none")
        words = f"{fmean(with_both):.0f} KB with M1 and M2 minus {fmean(without):.0f} KB without them"
        return [Check(words, difference(with_both, without, paired=False), Bound("sooner", high=0, strict=True), "KB")]

    def common(self, reading: str) -> str:
        plain, full = (_averaged(self._curves(reading, name)) for name in ("none", "M1+M2"))
        level = 0.95 * max(*plain.values(), *full.values())
        at = [_size(_reaches(curve, level)) for curve in (full, plain)]
        return f"{level:.2f} Mb/s at {at[0]} with M1 and M2, at {at[1]} without them"

    def late(self, reading: str) -> list[Check]:
        curves = self._curves(reading, "none")
        last = interval(curve[500] / max(curve.values()) for curve in curves)
        return [
            Check(
                "window with 95% of the maximum", interval(self.reach(reading, "none")), Bound("window", 300, 500), "KB"
            ),
            Check("goodput at 500 KB / maximum", last, Bound("stays", low=0.95)),
        ]

    def medians(self, reading: str) -> list[Check]:
        found = {
            size: interval(median_over_mean(run) for run in self.measured.runs(reading, "M1+M2", size))
            for size in self.windows
            if size >= WIDE
        }
        return [
            Check(f"median / mean at {size} KB", value, Bound("median over mean", 0.9, 1.1))
            for size, value in found.items()
        ]

    def maximum(self, reading: str) -> list[Check]:
        best = max(self.windows, key=lambda size: self.rate(reading, "M1+M2", size).mean)
        return [Check(f"goodput at {best} KB", self.rate(reading, "M1+M2", best), Bound("maximum", low=9.0), "Mb/s")]

    def _waste(self, reading: str, name: str, size: int) -> list[float]:
        """Throughput minus goodput as a share of throughput, of each run."""
        pairs = zip(
            self.measured.values(goodput, reading, name, size),
            self.measured.values(throughput, reading, name, size),
            strict=True,
        )
        return [1 - arrived / put for arrived, put in pairs]

    def twice(self, reading: str) -> list[Check]:
        rows = {
            name: [fmean(row) for row in zip(
                *(self._waste(reading, name, size) for size in self.windows if size >= WIDE), strict=True
            )]
            for name in ("M1", "none")
        }  # fmt: skip
        found = difference(rows["M1"], rows["none"], paired=False)
        return [Check("wasted share with M1 alone, minus without M1", found, Bound("more", low=0.001))]

    def together(self, reading: str) -> list[Check]:
        return [
            Check(
                f"wasted share at {size} KB", interval(self._waste(reading, "M1+M2", size)), Bound("waste", high=0.05)
            )
            for size in self.windows
            if size >= WIDE
        ]


STATEMENTS: Mapping[str, tuple[str, str, Callable[[_Judged, str], list[Check]], str]] = {
    "C-1.1": (
        "TCP over WiFi gets at most window / RTT, and at most 7.2 Mb/s at the smallest window; from 50 KB on, TCP gets "
        "90% of each link rate",
        "even regular TCP does not perform well under tiny windows", _Judged.single_paths, "",
    ),
    "C-1.2a": (
        "MPTCP without mechanisms stays below TCP over WiFi at each window from 50 KB to below 400 KB",
        "the original (NSDI 2012): below TCP over WiFi for windows below 400 KB", _Judged.below, "",
    ),
    "C-1.2b": (
        "MPTCP without mechanisms gets at least 95% of the goodput of TCP over WiFi at each window from 50 KB on",
        "this study: does very well even without the optimisations", _Judged.well,
        "The original and the study differ here; each claim is judged separately.",
    ),
    "C-1.3": (
        "with M1 and M2, MPTCP gets at least 95% of the goodput of TCP over WiFi at every window",
        "the results establish TCP's performance as a lower bound", _Judged.lower_bound, "",
    ),
    "C-1.4": (
        "with M1 and M2, goodput reaches 95% of its maximum at a smaller window than without them",
        "300 KB against 400 KB", _Judged.sooner, "",
    ),
    "C-1.5": (
        "with M1 and M2, the maximum is near the sum of the path rates: at least 9 of 10 Mb/s",
        "about the sum of both links", _Judged.maximum, "",
    ),
    "C-1.6a": (
        "with M1 alone, throughput exceeds goodput, because data is sent twice",
        "opportunistic retransmission sends duplicates over WiFi", _Judged.twice, "",
    ),
    "C-1.6b": (
        "with M1 and M2, goodput is at least 95% of the throughput at each window from 50 KB on",
        "penalisation removes the duplicates", _Judged.together, "",
    ),
    "C-1.7": (
        "without mechanisms, goodput first reaches 95% of its maximum at a window of 300 to 500 KB, and is still at "
        "least 95% of it at 500 KB",
        "the maximum is reached at 400 KB", _Judged.late, "",
    ),
}  # fmt: skip


def median_over_mean(run: Run) -> float:
    """The median of the first three seconds after the warm-up relative to the mean, for the sender's interfaces."""
    seconds = sum(run.series("interface_throughput", path=path)[1] for path in run.path_names)
    times, _ = run.series("interface_throughput", path=run.path_names[0])
    measured = np.asarray(seconds)[times > run.scenario.warmup + 1e-9]
    return float(np.median(measured[:3]) / measured.mean())


def _shortest(checks: Sequence[Check]) -> str:
    """The checks closest to failing, at most three per bound."""
    rows: dict[str, list[Check]] = {}
    for check in checks:
        rows.setdefault(check.bound.name, []).append(check)
    words = []
    for found in rows.values():
        if len(found) <= 3:
            words.append(listed(found))
            continue
        low = found[0].bound.low > -math.inf
        worst = sorted(found, key=lambda check: check.found.mean if low else -check.found.mean)[:3]
        bad = sum(check.verdict != "holds" for check in found)
        words.append(
            f"{'smallest' if low else 'largest'} values: {listed(worst)}; {bad} of {len(found)} not within the bound"
        )
    return "; ".join(words)


def _scaled(found: Interval, by: float) -> Interval:
    return Interval(found.mean * by, found.low * by, found.high * by, found.n)


def _averaged(curves: Sequence[Mapping[int, float]]) -> dict[int, float]:
    return {size: fmean(curve[size] for curve in curves) for size in curves[0]}


def _windows(effort: Effort) -> tuple[int, ...]:
    coarse = (5, 20, 50, 100, 200, 300, 400, 500)
    usual = (5, 10, 15, 20, 25, 35, 50, 75, 90, 100, 125, 150, 175, 200, 250, 300, 350, 375, 400, 450, 500)
    return effort.pick(coarse, usual, tuple(range(5, 501, 5)))


def _reaches(curve: Mapping[int, float], level: float) -> float:
    """The smallest window that reaches a rate; infinite if none does."""
    return min((size for size, rate in curve.items() if rate >= level), default=math.inf)


def _size(window: float) -> str:
    return f"{window:g} KB" if math.isfinite(window) else "no window"
