"""Experiment H1 of study H (BLEST, IFIP Networking 2016): transfers of 16 MiB.

Owns the runs, the verdicts on goodput, retransmissions and the out-of-order queue, and the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.ifip16_blest.network import DELAYS, KERNELS, NAME, OFF, WHY, scenario, share_of_3g
from mptcplab.studies.literature.measures import near
from mptcplab.studies.verdicts import Bound, Check

SIZE = 16 * 2**20
SEGMENT = 1428
"""Payload of a segment with the options of MPTCP, bytes."""
LIMIT = 120
"""Seconds after which a run ends; slower transfers count as if they had ended then."""
CURVES = {"tcp-wlan": "TCP over WLAN", "tcp-3g": "TCP over 3G", "minrtt": "lowest RTT first", "blest": "BLEST"}
READINGS = {f"{words}, {kernel}": (delays, kernel) for delays, words in DELAYS.items() for kernel in KERNELS}
"""By interpretation: the delays and the kernel."""


def rate(run: Run) -> float:
    """Goodput of the transfer until its last byte, Mb/s."""
    row = run.flow()
    done = row["completion_s"]
    return SIZE * 8 / done / 1e6 if done else row["bytes_received_total"] * 8 / LIMIT / 1e6


def retransmissions(run: Run) -> float:
    """Segments that were retransmitted on their subflow or reinjected on another."""
    row = run.flow()
    return sum(path["retransmits"] for path in row["paths"]) + row["reinjected"] / SEGMENT


def out_of_order(run: Run) -> float:
    """Mean size of the out-of-order queue, KiB."""
    _, values = run.series("out_of_order")
    return float(values.mean()) / 1024


def rtt_of_3g(run: Run) -> float:
    """Mean smoothed RTT of 3G, ms."""
    row = run.path("3g")
    return 1e3 * row["mean_srtt_s"] if row else 0.0


class Bulk(Experiment):
    """Bulk transfers over WLAN and 3G."""

    study = NAME
    name = "H1"
    title = "Transfers of 16 MiB over WLAN and 3G"
    setup = (
        "WLAN has 25 Mb/s, 1% loss and a queue of 100 packets. 3G has 5 Mb/s and a queue of 3750 packets. Delays are "
        "25 and 65 ms. Files of 16 MiB are sent with OLIA and buffers of 1 MiB, with the lowest RTT first and with "
        "BLEST. TCP over each path is the baseline."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Delays × kernels × curves × seeds."""
        tcp = {"transport": "tcp", "congestion": "reno"}
        curves: dict[str, dict[str, Any]] = {
            "tcp-wlan": tcp | {"paths": ["wlan"]},
            "tcp-3g": tcp | {"paths": ["3g"]},
            "minrtt": {"scheduler": "minrtt"},
            "blest": {"scheduler": "blest", **OFF},
        }
        for delays, kernel in READINGS.values():
            for curve, keys in curves.items():
                each = scenario(CURVES[curve], delays, kernel, LIMIT, bytes=f"{SIZE}B", **keys)
                for seed in effort.seeds(6, 20, 50):
                    yield Point((delays, kernel, curve), each, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims H-1.1 to H-1.6."""

        def over(
            value: Callable[[Run], float], *bounds: Bound, others: Sequence[str] = ("minrtt",)
        ) -> dict[str, list[Check]]:
            return {
                words: [
                    Check(
                        f"BLEST / {CURVES[other]}",
                        measured.ratio(value, (*reading, "blest"), value, (*reading, other)),
                        bound,
                    )
                    for bound in bounds
                    for other in others
                ]
                for words, reading in READINGS.items()
            }

        def number(reading: tuple[str, str], curve: str, wanted: float) -> Check:
            found = measured.interval(retransmissions, *reading, curve)
            return Check(f"{CURVES[curve]}", found, near(f"{wanted:g} segments", wanted), "segments")

        used = [
            f"{measured.mean(share_of_3g, delays, '3.x', curve):.0%} with {CURVES[curve]}"
            for delays in DELAYS
            for curve in ("minrtt", "blest")
        ]
        rtts = [measured.mean(rtt_of_3g, delays, "3.x", "blest") for delays in DELAYS]
        slow = (
            f"With Linux 3.x and one-way delays, 3G carries {used[0]} and {used[1]}. With RTTs, it carries {used[2]} "
            f"and {used[3]}. With BLEST, the queue of 3G raises its mean RTT to {rtts[0]:.0f} and {rtts[1]:.0f} ms. "
            "BLEST multiplies the ratio of both RTTs with the window of WLAN. If the send window is smaller, it skips "
            "3G."
        )
        facts = [
            self.fact(
                "H-1.1",
                "BLEST has more goodput than the lowest RTT first, and the ratio is 1.12 within 20%",
                published="+12%",
                checks=over(rate, Bound("more", low=1.0, strict=True), near("goodput", 1.12)),
                measured=_ratios(over(rate, Bound("more"))),
                why=WHY,
                reason=slow,
            ),
            self.fact(
                "H-1.2",
                "BLEST retransmits less than the lowest RTT first",
                published="fewer retransmissions",
                checks=over(retransmissions, Bound("less", high=1.0, strict=True)),
                why=WHY,
            ),
            self.fact(
                "H-1.3",
                "BLEST retransmits a fifth of the segments, within 20%",
                published="-80%",
                checks=over(retransmissions, near("retransmissions", 0.2)),
                why=WHY,
            ),
            self.fact(
                "H-1.4",
                "the number of retransmissions is 366 with the lowest RTT first and 70 with BLEST, within 20%",
                published="366 and 70 packets",
                checks={
                    words: [number(reading, "minrtt", 366), number(reading, "blest", 70)]
                    for words, reading in READINGS.items()
                },
                why=WHY,
            ),
            self.fact(
                "H-1.5",
                "the out-of-order queue with BLEST is 81% of that with the lowest RTT first, within 20%",
                published="-19%",
                checks=over(out_of_order, near("queue", 0.81)),
                why=WHY,
            ),
            self.fact(
                "H-1.6",
                "BLEST has more goodput than TCP over WLAN and than TCP over 3G",
                published="no statement; the baselines of one path",
                origin="ours",
                checks=over(rate, Bound("gain over one path", low=1.0, strict=True), others=("tcp-wlan", "tcp-3g")),
                why=WHY,
                reason=slow,
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, panels = figure_style.new_figure(columns=3, width=4.4, height=3.4)
        looks = figure_style.looks(["wifi", "3g", "mptcp", "balia"])
        parts: dict[str, Callable[[Run], float]] = {
            "goodput [Mb/s]": rate,
            "retransmissions [segments]": retransmissions,
            "out-of-order queue [KiB]": out_of_order,
        }
        short = [
            "\n".join(["RTT" if delays == "rtt" else delays, *kernel.split(", ")])
            for delays, kernel in READINGS.values()
        ]
        for axes, (label, value) in zip(panels, parts.items(), strict=True):
            series = {}
            for look, (curve, words) in zip(looks.values(), CURVES.items(), strict=True):
                found = [measured.estimate(value, *reading, curve) for reading in READINGS.values()]
                series[words] = (look, [(one.mean, one.half_width) for one in found])
            figure_style.grouped_bars(axes, short, series)
            axes.tick_params(axis="x", labelsize=7)
            figure_style.finish(axes, x="delays and kernel", y=label, legend=None)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        caption = (
            "Goodput, retransmissions and out-of-order queue of transfers of 16 MiB over WLAN and 3G, by the meaning "
            "of the delays and the kernel. Bars are means, whiskers are 95% intervals over the seeds."
        )
        return Picture("h1-bulk", caption, figure)


def _ratios(checks: Mapping[str, Sequence[Check]]) -> dict[str, str]:
    """The first check of each interpretation, as text."""
    return {words: str(some[0]) for words, some in checks.items()}
