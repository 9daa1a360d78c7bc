"""Experiments B2 and B5 of study B (Abdrabou and Prakash, UAE University): the rate of the dedicated link (figure 4),
and conditions for a larger WiFi share.

Owns the runs, the verdicts on the paper's claims, and the figures. A *reading* is an interpretation of a setting that
the study does not specify.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from mptcplab.plots import figure_style
from mptcplab.stats.statistics import Estimate
from mptcplab.studies.abdrabou_heterogeneous.network import (
    MAIN,
    NAME,
    RATES,
    READINGS,
    STANDARDS,
    WHY,
    Reading,
    Setup,
    Standard,
    dedicated,
    seeds,
    share,
    shorter,
    total,
    wifi,
)
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys, sentences
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

Shares = Mapping[Reading, Mapping[int, Estimate]]

CAPACITY_RATIO = 2.0
"""The accepted meaning of "much higher"."""

RATE = "*.own*.rate"
WIFI = Published("published: WiFi below 3 Mb/s (figure 5)", "wifi_rate", RATE, level=3)
SHARE = Published("published: 39% at 6 Mb/s", "wifi_share", RATE, points=(("6Mbit", 39),))


class Rate(Experiment):
    """Figure 4."""

    study = NAME
    name = "B2"
    title = "The rate of the dedicated link"
    published = (WIFI, SHARE)
    setup = (
        "Four pairs transfer 15 MB each over 802.11g and a dedicated link of 6 to 54 Mb/s. The rate of that link is a "
        "PHY rate or the rate of a token bucket. The study specifies only 6 and 54 Mb/s; the rates between them are "
        "those of 802.11a and g."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Interpretations × rates × seeds."""
        for reading in READINGS:
            for rate in _rates(effort):
                scenario = shorter(Setup("802.11g", dedicated=reading, rate=rate), effort).scenario()
                for seed in seeds(effort, comparison=reading != MAIN):
                    yield Point((reading, rate), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims B-2.1 to B-2.3."""
        rates = _rates(effort)
        shares = {reading: {rate: measured.estimate(share, reading, rate) for rate in rates} for reading in READINGS}
        words: dict[str, str] = {
            reading: "share of WiFi at " + ", ".join(f"{rate} Mb/s: {one} %" for rate, one in row.items())
            for reading, row in shares.items()
        }
        first, last = rates[0], rates[-1]

        def steps(reading: Reading) -> list[Check]:
            return [
                Check(f"share at {after} Mb/s minus share at {before} Mb/s",
                      measured.difference(share, (reading, after), (reading, before)),
                      Bound("step", high=0, strict=True), "percentage points")
                for before, after in pairwise(rates)
            ]  # fmt: skip

        def at(reading: Reading, rate: int, bound: Bound) -> Check:
            return Check(f"share at {rate} Mb/s", measured.interval(share, reading, rate), bound, "%")

        statements: tuple[tuple[str, str, str, Callable[[Reading], list[Check]]], ...] = (
            ("B-2.1", "next to a link of 6 Mb/s, WiFi carries 30 to 45% of the data, its largest share",
             "39%, the highest percentage",
             lambda reading: [at(reading, first, Bound("share", 30, 45)), *steps(reading)]),
            ("B-2.2", "the share of WiFi falls with each step to a faster dedicated link",
             "decreases dramatically", steps),
            ("B-2.3", "next to a link of 54 Mb/s, WiFi carries less than 20% of the data",
             "most of the traffic over the dedicated link",
             lambda reading: [at(reading, last, Bound("share", high=20, strict=True))]),
        )  # fmt: skip
        facts = [
            self.fact(
                fact,
                statement,
                published=published,
                checks={reading: check(reading) for reading in READINGS},
                main=MAIN,
                why=WHY,
                measured=words,
            )
            for fact, statement, published, check in statements
        ]
        return Outcome(facts, [_rate_picture(measured, rates)])


def _rates(effort: Effort) -> tuple[int, ...]:
    return effort.pick((6, 54), (6, 9, 18, 54), RATES)


def _rate_picture(measured: Measured, rates: tuple[int, ...]) -> Picture:
    figure, (left, right) = figure_style.new_figure(2, width=4.9)
    places = range(len(rates))
    for reading, line in zip(READINGS, ("-", "--"), strict=True):
        for value, label, look in (
            (wifi, "WiFi", "wifi"),
            (dedicated, "dedicated link", "3g"),
            (share, "WiFi", "mptcp"),
        ):
            row = [measured.estimate(value, reading, rate) for rate in rates]
            style = figure_style.Look(figure_style.LOOKS[look].color, line, figure_style.LOOKS[look].marker)
            spread = [one.half_width for one in row]
            panel = right if value is share else left
            figure_style.curve(panel, places, [one.mean for one in row], f"{label}, {reading}", style, spread=spread)
    WIFI.draw(left)
    figure_style.accepted_range(right, 30, 45, "accepted at 6 Mb/s", over=(-0.2, 0.2))
    SHARE.draw(right, lambda rate: rates.index(int(rate.removesuffix("Mbit"))))
    figure_style.accepted_range(
        right, 0, 20, "accepted as `most on the dedicated link`", over=(len(rates) - 1.2, len(rates) - 0.8)
    )
    for panel in (left, right):
        panel.set_xticks(list(places), [str(rate) for rate in rates])
    figure_style.finish(
        left, x="rate of the dedicated link [Mb/s]", y="throughput of a pair [Mb/s]", legend="upper left", top=66
    )
    figure_style.finish(
        right, x="rate of the dedicated link [Mb/s]", y="share of WiFi [%]", legend="upper right", top=60
    )
    caption = (
        "Figure 4: throughput of a pair over 802.11g and over its dedicated link, and the share of WiFi, by the rate "
        "of that link."
    )
    held = {
        panel: [
            of_keys(
                measured,
                f"dedicated link: {reading}",
                {rate: (reading, rate) for rate in rates},
                say="Mb/s",
                places=places,
            )
        ]
        for panel, reading in zip((left, right), READINGS, strict=True)
    }
    return Picture("abdrabou-heterogeneous-b2", caption, figure, explain(figure, held))


class Preference(Experiment):
    """Section V.E: conditions for WiFi to carry more than half."""

    study = NAME
    name = "B5"
    title = "Conditions for WiFi to carry more than the dedicated link"
    setup = (
        "Four pairs use WiFi of each standard with dedicated links of several rates, and each network alone. The "
        "capacity of WiFi is the total of all four pairs over WiFi alone. The capacity of the dedicated link is the "
        "throughput of one pair over this link alone."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Standards × rates × seeds; each network alone."""
        for standard in STANDARDS:
            alone = shorter(Setup(standard, dedicated=None, seconds=80), effort).scenario()
            yield from (Point(("alone", standard), alone, seed) for seed in seeds(effort))
        for reading in READINGS:
            its = seeds(effort, comparison=reading != MAIN)
            for rate in self._rates(effort):
                one = shorter(Setup(wifi=False, dedicated=reading, rate=rate), effort).scenario()
                yield from (Point(("alone", reading, rate), one, seed) for seed in its)
                for standard in STANDARDS:
                    both = shorter(Setup(standard, dedicated=reading, rate=rate), effort).scenario()
                    yield from (Point((standard, reading, rate), both, seed) for seed in its)

    @staticmethod
    def _rates(effort: Effort) -> tuple[int, ...]:
        return effort.pick((6, 54), (6, 54), (6, 9, 18, 54))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claim B-5."""
        rates = self._rates(effort)
        keys = [(standard, reading, rate) for standard in STANDARDS for reading in READINGS for rate in rates]
        found = {
            key: measured.ratio(total, ("alone", key[0]), total, ("alone", key[1], key[2])) for key in keys
        }  # fmt: skip
        ratios = {key: 4 * one.mean for key, one in found.items()}
        shares = {key: measured.estimate(share, *key) for key in keys}

        def checks(reading: Reading) -> list[Check]:
            its = [key for key in keys if key[1] == reading]
            most = max(its, key=lambda key: shares[key].mean)
            inside = Bound("above half", low=50)
            small = [key for key in its if ratios[key] < CAPACITY_RATIO]
            return [
                Check(
                    f"largest share of WiFi, at capacity ratio {ratios[most]:.1f}",
                    measured.interval(share, *most),
                    inside,
                    "%",
                ),
                *(
                    Check(
                        f"at capacity ratio {ratios[key]:.1f}",
                        measured.interval(share, *key),
                        Bound("half", high=50),
                        "%",
                    )
                    for key in small
                ),
            ]

        fact = self.fact(
            "B-5",
            "WiFi carries more than half with some rate of the dedicated link, and only if the capacity of WiFi is at "
            "least twice that of the dedicated link",
            published="only when the available WiFi rate is much higher than the available dedicated rate",
            checks={reading: checks(reading) for reading in READINGS},
            main=MAIN,
            why=WHY,
            origin="by construction",
            reason=(
                "Both networks are saturated, so WiFi carries r / (r + 4) of the total if its capacity is r times "
                "that of one dedicated link. This is more than half if r exceeds 4, for any protocol."
            ),
        )
        return Outcome([fact], [_preference_picture(measured, ratios, shares)])


def _preference_picture(
    measured: Measured,
    ratios: Mapping[tuple[Standard, Reading, int], float],
    shares: Mapping[tuple[Standard, Reading, int], Estimate],
) -> Picture:
    figure, (axes,) = figure_style.new_figure(height=4.4)
    for reading, line in zip(READINGS, ("-", ":"), strict=True):
        for standard, look in zip(STANDARDS, ("wifi", "3g", "mptcp"), strict=True):
            keys = [key for key in ratios if key[:2] == (standard, reading)]
            style = figure_style.Look(figure_style.LOOKS[look].color, line, figure_style.LOOKS[look].marker)
            spread = [shares[key].half_width for key in keys]
            means = [shares[key].mean for key in keys]
            figure_style.curve(
                axes, [ratios[key] for key in keys], means, f"{standard}, {reading}", style, spread=spread
            )
    ends = [at / 10 for at in range(61)]
    figure_style.curve(
        axes, ends, [100 * at / (at + 4) for at in ends], "both saturated: r / (r + 4)", figure_style.LOOKS["model"]
    )
    figure_style.accepted_range(axes, 50, 100, "accepted as `only if much higher`", over=(CAPACITY_RATIO, 6))
    label = "capacity of WiFi / capacity of one dedicated link"
    figure_style.finish(axes, x=label, y="share of WiFi [%]", legend=None, top=100)
    figure.legend(loc="outside lower center", ncols=3)
    caption = (
        "Section V.E: the share of WiFi by the capacity of WiFi relative to that of one dedicated link. Four pairs "
        "share WiFi, so each pair gets a quarter of its capacity."
    )
    held = sentences(
        of_keys(measured, f"{standard}, {reading}", {key[2]: key for key in ratios if key[:2] == (standard, reading)},
                say="Mb/s of the dedicated link")
        for reading in READINGS
        for standard in STANDARDS
    )  # fmt: skip
    return Picture("abdrabou-heterogeneous-b5", caption, figure, held)
