"""Experiment A3 of study A (Lim and Valdez, CS244 at Stanford, 2013): TCP at 2% loss against the model of Padhye et al.
(figure 4).

Owns the runs, the verdicts on the report's claims, and the figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.scenario.definition import Path
from mptcplab.stats import formulas
from mptcplab.stats.statistics import Estimate, Interval, correlation, interval
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, on_interfaces
from mptcplab.studies.cs244_wireless.network import CONTROLLER, NAME, bulk
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

LOSS = 0.02
CAP = 2.0
"""Link rate, Mb/s."""

PUBLISHED = Published(
    "published: flattens near 60 ms at about 0.5 Mb/s", "interface_throughput", "paths.*.delay", points=(("60ms", 0.5),)
)


class Model(Experiment):
    """Figure 4."""

    study = NAME
    name = "A3"
    title = "TCP at 2% loss against the model of Padhye et al."
    published = (PUBLISHED,)
    setup = (
        "Plain TCP runs over a link of 2 Mb/s with 2% loss in both directions, buffers of 500 KB, and one-way delays "
        "of 5 to 100 ms. The model (PFTK) assumes one or two segments per acknowledgement (b), and a first timeout of "
        "the RTT plus 200 ms. The study specifies neither of these values. Congestion control: CUBIC, the default of "
        "the study's Ubuntu, which behaves like Reno at such windows."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Delays × seeds."""
        for delay in _delays(effort):
            path = Path(rate="2Mbit", delay=f"{delay}ms", loss="2%", queue="1000p")
            scenario = bulk(f"tcp, {delay} ms", {"3g": path}, rcvbuf="500KB", transport="tcp", congestion=CONTROLLER)
            for seed in effort.seeds(2, 20, 40):
                yield Point((delay,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims A-3.1 to A-3.4."""
        delays = _delays(effort)
        rates = {delay: measured.estimate(on_interfaces, delay) for delay in delays}
        single, double = ({delay: _model(delay, acked) for delay in delays} for acked in (1, 2))
        found = {delay: measured.interval(on_interfaces, delay) for delay in delays}
        far = [delay for delay in delays if delay > 20]
        facts = [
            self.fact(
                "A-3.1",
                "up to a one-way delay of 10 ms, TCP's throughput is near the link rate (1.8 Mb/s or more)",
                published="the beginning is flat, capped at 2 Mb/s",
                checks=[
                    Check(f"throughput at {delay} ms", found[delay], Bound("rate", low=1.8), "Mb/s")
                    for delay in delays
                    if delay <= 10
                ],
            ),
            self.fact(
                "A-3.2",
                "at every delay, TCP gets at most 105% of the model (b = 1), or of the link rate if that is lower",
                published="slightly below the model",
                checks=[
                    Check(
                        f"TCP / model at {delay} ms",
                        _over(found[delay], min(CAP, single[delay])),
                        Bound("of the model", high=1.05),
                    )
                    for delay in delays
                ],
            ),
            self.fact(
                "A-3.3",
                "beyond 20 ms, the curve has the shape of the model: the correlation of logarithms is at least 0.97",
                published="a near match in shape",
                checks=[Check("correlation", _shape(measured, far, single), Bound("correlation", low=0.97))],
                reason="The correlation is computed over the delays, once per seed.",
            ),
            self.fact(
                "A-3.4",
                "at a one-way delay of 75 ms, TCP gets 0.4 to 0.65 Mb/s",
                published="about 0.5 Mb/s, as over 3G in A2",
                checks=[Check("throughput at 75 ms", found[75], Bound("rate", 0.4, 0.65), "Mb/s")],
                reason=f"The model predicts {double[75]:.2f} Mb/s (b = 2) to {single[75]:.2f} Mb/s (b = 1).",
            ),
        ]
        return Outcome(facts, [_picture(delays, rates)])


def _over(found: Interval, value: float) -> Interval:
    return Interval(found.mean / value, found.low / value, found.high / value, found.n)


def _shape(measured: Measured, delays: list[int], model: dict[int, float]) -> Interval:
    rows = zip(*(measured.values(on_interfaces, delay) for delay in delays), strict=True)
    theory = [math.log(model[delay]) for delay in delays]
    return interval(correlation([math.log(rate) for rate in row], theory) for row in rows)


def _delays(effort: Effort) -> tuple[int, ...]:
    return effort.pick((5, 10, 20, 30, 50, 75, 100), tuple(range(5, 101, 5)), tuple(range(5, 101, 5)))


def _model(delay: float, acked: int) -> float:
    """Mb/s of the model at a one-way delay in ms."""
    return formulas.pftk(LOSS, 2 * delay / 1e3, acked=acked, window=500 * 1024) / 1e6


def _picture(delays: tuple[int, ...], rates: dict[int, Estimate]) -> Picture:
    figure, (axes,) = figure_style.new_figure(height=4.0)
    fine = [5 + step * 0.5 for step in range(191)]
    axes.plot(fine, [_model(delay, 1) for delay in fine], color="#222222", linestyle="--", label="model, b = 1")
    axes.plot(fine, [_model(delay, 2) for delay in fine], color="#777777", linestyle=":", label="model, b = 2")
    figure_style.curve(
        axes, delays, [rates[delay].mean for delay in delays], "measured", figure_style.LOOKS["3g"],
        spread=[rates[delay].half_width for delay in delays], markers=30,
    )  # fmt: skip
    axes.axhline(CAP, color="#555555", linestyle=":", linewidth=1, label="link rate 2 Mb/s")
    PUBLISHED.draw(axes, lambda delay: float(delay.removesuffix("ms")))
    figure_style.finish(axes, x="one-way delay [ms]", y="throughput [Mb/s]", legend="upper right", top=3.0)
    caption = "TCP over a lossy link of 2 Mb/s against the model of Padhye et al. (SIGCOMM 1998)."
    return Picture("a3-model", caption, figure)
