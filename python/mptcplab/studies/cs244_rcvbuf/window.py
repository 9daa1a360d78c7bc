"""Experiment C1: throughput against the receive window (figure 4, panels a, b and c)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from mptcplab import models, plots
from mptcplab.studies.base import (
    Effort,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Picture,
    Point,
    goodput,
    throughput,
)
from mptcplab.studies.cs244_rcvbuf.network import MECHANISMS, NAME, READINGS, judge, mptcp, paths, tcp

PANELS = {"none": "a", "M1": "b", "M1+M2": "c"}


class Window(Experiment):
    """Figure 4."""

    study = NAME
    name = "C1"
    title = "Throughput against the receive window"
    setup = (
        "WiFi 8 Mb/s, round trip 20 ms; 3G 2 Mb/s, 150 ms; no random loss. Receive and send buffer from 5 to "
        "500 KB in steps of 5 KB. TCP (Reno) over each path, MPTCP (LIA, lowest round trip first) without "
        "mechanisms (a), with opportunistic retransmission M1 (b), with M1 and penalisation M2 (c). Both "
        "readings of the queues. Mean over 30 s after 10 s."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Readings × windows × curves; nothing is random."""
        for reading in READINGS:
            both = paths(reading)
            for size in _windows(effort):
                yield Point((reading, "wifi", size), tcp(both, "wifi", size))
                yield Point((reading, "3g", size), tcp(both, "3g", size))
                for mechanisms in MECHANISMS:
                    yield Point((reading, mechanisms, size), mptcp(both, mechanisms, size))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Facts C-1.1 to C-1.6."""
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
        facts = [
            self._single_paths(curves),
            self._dip(curves),
            self._lower_bound(curves),
            self._sooner(curves),
            self._maximum(curves),
            *self._waste(curves, sent),
        ]
        return Outcome(facts, [_picture(reading, curves[reading], sent[reading]) for reading in READINGS])

    def _both(
        self,
        fact: str,
        statement: str,
        published: str,
        check: Callable[[str], tuple[bool, str]],
    ) -> Fact:
        """A fact judged on both readings of the queues."""
        checks = {reading: check(reading) for reading in READINGS}
        verdict, reason = judge({reading: holds for reading, (holds, _) in checks.items()})
        words = "; ".join(f"[{reading}] {text}" for reading, (_, text) in checks.items())
        return self.fact(fact, statement, published=published, measured=words, verdict=verdict, reason=reason)

    def _single_paths(self, curves: Mapping[str, Mapping[str, Mapping[int, float]]]) -> Fact:
        def check(reading: str) -> tuple[bool, str]:
            wifi, cellular = curves[reading]["wifi"], curves[reading]["3g"]
            wide = [size for size in wifi if size >= 50]
            above = [
                size
                for size, rate in wifi.items()
                if rate > 1.05 * min(8.0, models.window_limit(size * 1024, 0.02) / 1e6)
            ]
            low_wifi, low_3g = min(wifi[size] for size in wide), min(cellular[size] for size in wide)
            tiny = min(wifi)
            return not above and wifi[tiny] < 7.2 and low_wifi >= 7.2 and low_3g >= 1.8, (
                f"TCP over WiFi {wifi[tiny]:.2f} Mb/s at {tiny} KB, at least {low_wifi:.2f} from 50 KB on; "
                f"over 3G at least {low_3g:.2f}"
            )

        return self._both(
            "C-1.1",
            "TCP over WiFi gets no more than window / round trip, little at tiny windows, 90 % of 8 Mb/s from "
            "50 KB on; TCP over 3G 90 % of 2 Mb/s from 50 KB on",
            "even regular TCP does not perform well under tiny windows",
            check,
        )

    def _dip(self, curves: Mapping[str, Mapping[str, Mapping[int, float]]]) -> Fact:
        words, dips = [], {}
        for reading in READINGS:
            plain, wifi = curves[reading]["none"], curves[reading]["wifi"]
            inside = [size for size in plain if 50 <= size < 400]
            below = [size for size in inside if plain[size] < 0.95 * wifi[size]]
            worst = min(inside, key=lambda size: plain[size] / wifi[size])
            dips[reading] = len(below) >= len(inside) / 2
            words.append(
                f"[{reading}] below 0.95 of TCP over WiFi at {len(below)} of {len(inside)} windows from 50 to "
                f"400 KB; least {plain[worst] / wifi[worst]:.2f} of it, at {worst} KB"
            )
        original = [reading for reading, dip in dips.items() if dip]
        study = [reading for reading, dip in dips.items() if not dip]
        reason = "Two sources disagree. " + " ".join(
            [
                f"Queues of {' and '.join(original)} show the original's dip."
                if original
                else "No reading shows the original's dip.",
                f"Queues of {' and '.join(study)} show the study's good performance without mechanisms."
                if study
                else "No reading shows the study's good performance.",
            ]
        )
        return self.fact(
            "C-1.2",
            "MPTCP without mechanisms stays below TCP over WiFi for windows below 400 KB",
            published="the original (NSDI 2012): yes; this study: does very well even without the optimisations",
            measured="; ".join(words),
            verdict="contradicted",
            reason=reason,
        )

    def _lower_bound(self, curves: Mapping[str, Mapping[str, Mapping[int, float]]]) -> Fact:
        def check(reading: str) -> tuple[bool, str]:
            full, wifi = curves[reading]["M1+M2"], curves[reading]["wifi"]
            worst = min(full, key=lambda size: full[size] / wifi[size])
            below = sum(full[size] < 0.95 * wifi[size] for size in full)
            return below == 0, (
                f"least {full[worst] / wifi[worst]:.3f} of TCP over WiFi, at {worst} KB; below 0.95 at {below} of "
                f"{len(full)} windows"
            )

        return self._both(
            "C-1.3",
            "with M1 and M2, MPTCP gets at least 0.95 of TCP over WiFi at every window",
            "the results establish TCP's performance as a lower bound",
            check,
        )

    def _sooner(self, curves: Mapping[str, Mapping[str, Mapping[int, float]]]) -> Fact:
        def check(reading: str) -> tuple[bool, str]:
            plain, full = curves[reading]["none"], curves[reading]["M1+M2"]
            level = 0.95 * max(*plain.values(), *full.values())
            first, second = _reaches(full, level), _reaches(plain, level)
            own = {
                name: _reaches(curve, 0.95 * max(curve.values()))
                for name, curve in {"with": full, "without": plain}.items()
            }
            return first < second, (
                f"{level:.2f} Mb/s at {_size(first)} with M1 and M2, {_size(second)} without; 95 % of each curve's own "
                f"maximum at {_size(own['with'])} with, {_size(own['without'])} without "
                f"(maxima {max(full.values()):.2f} and {max(plain.values()):.2f})"
            )

        return self._both(
            "C-1.4",
            "with M1 and M2, 95 % of the highest throughput of either is reached at a smaller window than without",
            "300 KB against 400 KB",
            check,
        )

    def _maximum(self, curves: Mapping[str, Mapping[str, Mapping[int, float]]]) -> Fact:
        def check(reading: str) -> tuple[bool, str]:
            best = max(curves[reading]["M1+M2"].values())
            return best >= 9.0, f"at most {best:.2f} Mb/s"

        return self._both(
            "C-1.5",
            "the maximum with M1 and M2 is near the sum of the paths: at least 9 of 10 Mb/s",
            "about the sum of both links",
            check,
        )

    def _waste(
        self,
        curves: Mapping[str, Mapping[str, Mapping[int, float]]],
        sent: Mapping[str, Mapping[str, Mapping[int, float]]],
    ) -> list[Fact]:
        def waste(reading: str, name: str) -> tuple[float, float]:
            """Largest and mean share of the throughput that was no goodput, from 50 KB on."""
            shares = [
                1 - curves[reading][name][size] / total for size, total in sent[reading][name].items() if size >= 50
            ]
            return max(shares), sum(shares) / len(shares)

        def alone(reading: str) -> tuple[bool, str]:
            (most, mean), (_, plain) = waste(reading, "M1"), waste(reading, "none")
            return (
                mean > plain + 0.001,
                f"M1 alone wastes {mean:.1%} on average, at most {most:.1%}; none {plain:.1%}",
            )

        def together(reading: str) -> tuple[bool, str]:
            most, mean = waste(reading, "M1+M2")
            return most <= 0.05, f"at most {most:.1%}, {mean:.1%} on average"

        return [
            self._both(
                "C-1.6a",
                "with M1 alone throughput exceeds goodput: data go twice",
                "opportunistic retransmission sends duplicates over WiFi",
                alone,
            ),
            self._both(
                "C-1.6b",
                "with M1 and M2 at most 5 % of the throughput is no goodput, from 50 KB on",
                "penalisation removes the duplicates",
                together,
            ),
        ]


def _windows(effort: Effort) -> tuple[int, ...]:
    coarse = (5, 10, 20, 35, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)
    return effort.pick(coarse, tuple(range(5, 501, 5)), tuple(range(5, 1001, 5)))


def _reaches(curve: Mapping[int, float], level: float) -> float:
    """The smallest window that gets a rate; infinity when none does."""
    return min((size for size, rate in curve.items() if rate >= level), default=math.inf)


def _size(window: float) -> str:
    return f"{window:g} KB" if math.isfinite(window) else "no window"


def _picture(
    reading: str, curves: Mapping[str, Mapping[int, float]], sent: Mapping[str, Mapping[int, float]]
) -> Picture:
    figure, panels = plots.new_figure(3, width=4.0, height=3.9, share_y=True)
    for axes, (name, panel) in zip(panels, PANELS.items(), strict=True):
        for curve, label in (("wifi", "TCP over WiFi"), ("3g", "TCP over 3G")):
            plots.curve(axes, list(curves[curve]), list(curves[curve].values()), label, plots.LOOKS[curve], markers=8)
        axes.plot(
            list(sent[name]),
            list(sent[name].values()),
            color="#888888",
            linewidth=0.9,
            label="MPTCP, throughput",
        )
        plots.curve(
            axes,
            list(curves[name]),
            list(curves[name].values()),
            "MPTCP, goodput",
            plots.LOOKS["mptcp"],
            markers=8,
        )
        if name != "M1":
            axes.axvline(400 if name == "none" else 300, color="#b8860b", linestyle=(0, (6, 2)), linewidth=1.1,
                         label="published: maximum reached")  # fmt: skip
        plots.finish(
            axes,
            x="receive window [KB]",
            y="rate [Mb/s]" if panel == "a" else "",
            title=f"{panel}) {'no mechanism' if name == 'none' else name.replace('+', ' and ')}",
            legend=None,
            top=10.5,
        )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    caption = (
        f"Throughput against the receive window, queues of {reading}. In the original, panel a) stays below TCP over "
        "WiFi up to about 400 KB; the study saw the maximum at 400 KB without, at 300 KB with the mechanisms."
    )
    return Picture(f"c1-window-{reading.split(maxsplit=1)[0].replace('/', '-')}", caption, figure)
