"""Experiment C2: random loss on WiFi moves the traffic to 3G."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mptcplab import plots
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput, on_path, throughput
from mptcplab.studies.cs244_rcvbuf.network import NAME, READINGS, judge, mptcp, paths, tcp

BUFFER = 500
HEAVY = 10
"""Per cent of loss from which all traffic should have moved; the study gives no number."""
LOSSES = (0, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 15, 20)


class Loss(Experiment):
    """The study's loss rate sensitivity."""

    study = NAME
    name = "C2"
    title = "Loss rate sensitivity"
    setup = (
        "As C1 with buffers of 500 KB, M1 and M2 on, and random loss of 0 to 20 % on WiFi alone, in both "
        "directions. The study states neither the loss rates nor the buffer. Without RACK-TLP: in the small windows of "
        "heavy loss, the kernels of 2014 found a lost retransmission only by timeout. C-2.2 is measured with it, too."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Readings × losses × curves × seeds."""
        for reading in READINGS:
            for loss in _losses(effort):
                both = paths(reading, loss=f"{loss:g}%")
                seeds = range(1, effort.pick(2, 10, 40) + 1 if loss else 2)
                single = tcp(both, "wifi", BUFFER, rack=False)
                multi = mptcp(both, "M1+M2", BUFFER, rack=False)
                today = mptcp(both, "M1+M2", BUFFER, rack=True)
                for seed in seeds:
                    yield Point((reading, "wifi", loss), single, seed)
                    yield Point((reading, "mptcp", loss), multi, seed)
                    if loss >= HEAVY:
                        yield Point((reading, "mptcp, RACK-TLP", loss), today, seed)
            yield Point((reading, "3g"), tcp(paths(reading), "3g", BUFFER))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Facts C-2.1 to C-2.3."""
        losses = _losses(effort)
        falling, moved, best, words = {}, {}, {}, {}
        for reading in READINGS:
            total = {loss: measured.mean(goodput, reading, "mptcp", loss) for loss in losses}
            single = {loss: measured.mean(goodput, reading, "wifi", loss) for loss in losses}
            cellular = measured.mean(goodput, reading, "3g")
            pairs = list(pairwise(losses))
            rises = {high: total[high] / total[low] - 1 for low, high in pairs}
            falling[reading] = all(rise <= 0.05 for rise in rises.values())
            heavy = [loss for loss in losses if loss >= HEAVY]
            shares = [_wifi_share(measured, reading, "mptcp", loss) for loss in heavy]
            today = [_wifi_share(measured, reading, "mptcp, RACK-TLP", loss) for loss in heavy]
            moved[reading] = all(share <= 0.15 for share in shares) and all(1.7 <= total[loss] <= 2.3 for loss in heavy)
            ratios = {loss: total[loss] / max(single[loss], cellular) for loss in losses}
            best[reading] = min(ratios.values()) >= 0.9
            worst = min(ratios, key=lambda loss: ratios[loss])
            words[reading] = (
                ", ".join(f"{loss:g} %: {total[loss]:.2f}" for loss in losses)
                + f" Mb/s; largest rise {max(rises.values()):+.1%}",
                ", ".join(
                    f"{loss:g} %: WiFi {share:.0%} of {total[loss]:.2f} Mb/s"
                    for loss, share in zip(heavy, shares, strict=True)
                )
                + f" (with RACK-TLP {', '.join(f'{share:.0%}' for share in today)})",
                f"least {ratios[worst]:.2f} of the better TCP, at {worst:g} %",
            )
        statements = [
            ("C-2.1", "throughput never rises with the loss on WiFi (5 % allowed)",
             "performs well, shifting traffic away as the loss rate grows", falling),
            ("C-2.2", "from 10 % loss on, WiFi carries at most 15 %, and the total is that of 3G (1.7 to 2.3 Mb/s)",
             "all traffic is shifted to the 3G link as the loss rate becomes significant", moved),
            ("C-2.3", "at every loss at least 0.9 of the better single path",
             "MPTCP performs well even when traversing lossy paths", best),
        ]  # fmt: skip
        outcome = Outcome()
        for at, (fact, statement, published, held) in enumerate(statements):
            verdict, reason = judge(held)
            text = "; ".join(f"[{reading}] {words[reading][at]}" for reading in READINGS)
            outcome.facts.append(
                self.fact(
                    fact,
                    statement,
                    published=published,
                    measured=text,
                    verdict=verdict,
                    reason=reason,
                )
            )
        outcome.pictures.append(_picture(measured, losses))
        return outcome


def _wifi_share(measured: Measured, reading: str, curve: str, loss: float) -> float:
    total = measured.mean(throughput, reading, curve, loss)
    return measured.mean(on_path("wifi"), reading, curve, loss) / total if total else 0.0


def _losses(effort: Effort) -> tuple[float, ...]:
    return effort.pick((0, 0.5, 1, 2, 5, 10, 20), LOSSES, LOSSES)


def _picture(measured: Measured, losses: tuple[float, ...]) -> Picture:
    figure, both = plots.new_figure(2, width=5.0, height=3.9, share_y=True)
    for axes, reading in zip(both, READINGS, strict=True):
        curves = {
            "MPTCP": (plots.LOOKS["mptcp"], [measured.estimate(goodput, reading, "mptcp", loss) for loss in losses]),
            "its part over WiFi": (
                plots.LOOKS["reno"], [measured.estimate(on_path("wifi"), reading, "mptcp", loss) for loss in losses]
            ),
            "TCP over WiFi": (
                plots.LOOKS["wifi"], [measured.estimate(goodput, reading, "wifi", loss) for loss in losses]
            ),
        }  # fmt: skip
        for label, (look, values) in curves.items():
            rates, spread = [value.mean for value in values], [value.half_width for value in values]
            plots.curve(axes, losses, rates, label, look, spread=spread, markers=20)
        cellular = measured.mean(goodput, reading, "3g")
        axes.axhline(cellular, color=plots.LOOKS["3g"].color, linestyle=":", label="TCP over 3G")
        plots.finish(
            axes,
            x="random loss on WiFi [%]",
            y="goodput [Mb/s]" if reading == next(iter(READINGS)) else "",
            title=f"queues of {reading}",
            top=10.5,
        )
        axes.set_xscale("symlog", linthresh=0.1, linscale=0.4)
        axes.set_xticks([0, 0.1, 0.5, 1, 2, 5, 10, 20], ["0", "0.1", "0.5", "1", "2", "5", "10", "20"])
        axes.minorticks_off()
    caption = "Goodput against random loss on WiFi; means and 95 % intervals. The study: all traffic ends up on 3G."
    return Picture("c2-loss", caption, figure)
