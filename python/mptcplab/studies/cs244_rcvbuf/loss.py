"""Experiment C2 of study C (the CS244 report of 2014 on receive buffers): random loss on WiFi moves the traffic to 3G.

Owns the runs, the verdicts on the report's claims, and the figure. MPTCP uses M1 (opportunistic retransmission) and M2
(penalisation). A *reading* is an interpretation of a setting that the study does not specify.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mptcplab.plots import figure_style
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput, on_path, throughput
from mptcplab.studies.cs244_rcvbuf.network import MAIN, NAME, READINGS, WHY, mptcp, paths, seeds, tcp
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.verdicts import Bound, Check

BUFFER = 500
HEAVY = 10
"""Loss rate in percent from which all traffic should have moved to 3G; the study gives no number."""
LOSSES = (0, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 15, 20)


class Loss(Experiment):
    """The study's loss rate sensitivity."""

    study = NAME
    name = "C2"
    title = "Loss rate sensitivity"
    setup = (
        "WiFi of 8 Mb/s and 3G of 2 Mb/s as in experiment C1, with buffers of 500 KB, opportunistic retransmission "
        "(M1) and penalisation (M2). Only WiFi has random loss: 0 to 20%, in both directions. "
        "The study specifies neither the loss rates nor the buffer. C-2.2 is also measured without RACK-TLP, as if "
        "the kernels of 2014 had detected lost retransmissions only by timeouts."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Interpretations × losses × curves × seeds."""
        for reading in READINGS:
            for loss in _losses(effort):
                both = paths(reading, loss=f"{loss:g}%")
                single, multi = tcp(both, "wifi", BUFFER), mptcp(both, "M1+M2", BUFFER)
                by_timeout = mptcp(both, "M1+M2", BUFFER, rack=False)
                for seed in effort.seeds(2, 10, 20):
                    yield Point((reading, "wifi", loss), single, seed)
                    yield Point((reading, "mptcp", loss), multi, seed)
                    if loss >= HEAVY:
                        yield Point((reading, "mptcp, no RACK-TLP", loss), by_timeout, seed)
            for seed in seeds(effort):
                yield Point((reading, "3g"), tcp(paths(reading), "3g", BUFFER), seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims C-2.1 to C-2.3."""
        losses = _losses(effort)
        heavy = [loss for loss in losses if loss >= HEAVY]

        def falls(reading: str) -> list[Check]:
            steps = [
                (f"goodput at {high:g}% loss / at {low:g}%", (reading, "mptcp", high), (reading, "mptcp", low))
                for low, high in pairwise(losses)
            ]
            return [
                Check(what, measured.ratio(goodput, key, goodput, under), Bound("step", high=1.05))
                for what, key, under in steps
            ]

        def moved(reading: str, curve: str = "mptcp") -> list[Check]:
            shares = [
                Check(
                    f"share of WiFi at {loss:g}% loss",
                    measured.ratio(on_path("wifi"), (reading, curve, loss), throughput, (reading, curve, loss)),
                    Bound("share of WiFi", high=0.15),
                )
                for loss in heavy
            ]
            rates = [
                Check(f"goodput at {loss:g}% loss", measured.interval(goodput, reading, curve, loss),
                      Bound("total", 1.7, 2.3), "Mb/s")
                for loss in heavy
            ]  # fmt: skip
            return shares + rates

        def best(reading: str) -> list[Check]:
            return [
                Check(
                    f"{loss:g}% loss, MPTCP / TCP over {name}",
                    measured.ratio(goodput, (reading, "mptcp", loss), goodput, key),
                    Bound("of the better TCP", low=0.9),
                )
                for loss in losses
                for name, key in (("WiFi", (reading, "wifi", loss)), ("3G", (reading, "3g")))
            ]

        older = {f"{reading}, without RACK-TLP": moved(reading, "mptcp, no RACK-TLP") for reading in READINGS}
        outcome = Outcome(
            [
                self.fact(
                    "C-2.1",
                    "throughput never rises by more than 5% with a step to more loss on WiFi",
                    published="performs well, shifting traffic away as the loss rate grows",
                    checks={reading: falls(reading) for reading in READINGS},
                    main=MAIN,
                    why=WHY,
                ),
                self.fact(
                    "C-2.2",
                    "from 10% loss on, WiFi carries at most 15% of the data, and the total is near the rate of 3G (1.7 "
                    "to 2.3 Mb/s)",
                    published="all traffic is shifted to the 3G link as the loss rate becomes significant",
                    checks={reading: moved(reading) for reading in READINGS} | older,
                    main=MAIN,
                    why=WHY,
                ),
                self.fact(
                    "C-2.3",
                    "at every loss rate, MPTCP gets at least 90% of the goodput of TCP on the better path",
                    published="MPTCP performs well even when traversing lossy paths",
                    checks={reading: best(reading) for reading in READINGS},
                    main=MAIN,
                    why=WHY,
                ),
            ]
        )
        outcome.pictures.append(_picture(measured, losses))
        return outcome


def _losses(effort: Effort) -> tuple[float, ...]:
    return effort.pick((0, 0.5, 1, 2, 5, 10, 20), LOSSES, LOSSES)


def _picture(measured: Measured, losses: tuple[float, ...]) -> Picture:
    figure, both = figure_style.new_figure(2, width=5.0, height=3.9, share_y=True)
    for axes, reading in zip(both, READINGS, strict=True):
        curves = {
            "MPTCP": (
                figure_style.LOOKS["mptcp"],
                [measured.estimate(goodput, reading, "mptcp", loss) for loss in losses],
            ),
            "MPTCP, WiFi subflow": (
                figure_style.LOOKS["reno"],
                [measured.estimate(on_path("wifi"), reading, "mptcp", loss) for loss in losses],
            ),
            "TCP over WiFi": (
                figure_style.LOOKS["wifi"], [measured.estimate(goodput, reading, "wifi", loss) for loss in losses]
            ),
        }  # fmt: skip
        for label, (look, values) in curves.items():
            rates, spread = [value.mean for value in values], [value.half_width for value in values]
            figure_style.curve(axes, losses, rates, label, look, spread=spread, markers=20)
        cellular = measured.mean(goodput, reading, "3g")
        axes.axhline(cellular, color=figure_style.LOOKS["3g"].color, linestyle=":", label="TCP over 3G")
        figure_style.finish(
            axes,
            x="random loss on WiFi [%]",
            y="goodput [Mb/s]" if reading == next(iter(READINGS)) else "",
            title=f"queues of {reading}",
            top=10.5,
        )
        axes.set_xscale("symlog", linthresh=0.1, linscale=0.4)
        axes.set_xticks([0, 0.1, 0.5, 1, 2, 5, 10, 20], ["0", "0.1", "0.5", "1", "2", "5", "10", "20"])
        axes.minorticks_off()
    caption = "Goodput against random loss on WiFi; means and 95% intervals. In the study, all traffic moves to 3G."
    held = {
        axes: [of_keys(measured, f"queues of {reading}", {loss: (reading, "mptcp", loss) for loss in losses}, say="%")]
        for axes, reading in zip(both, READINGS, strict=True)
    }
    return Picture("c2-loss", caption, figure, explain(figure, held))
