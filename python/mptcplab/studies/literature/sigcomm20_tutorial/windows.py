"""Experiment F2-http of study F (hands-on lab of the SIGCOMM 2020 tutorial): a download by window size.

Owns the runs, the verdicts on case 2 of the lab's second section, and the figure. The lab asks about this download, and
states no result.
"""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Flow, Path, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point
from mptcplab.studies.literature.sigcomm20_tutorial.network import CONTROLLER, NAME, STACK
from mptcplab.studies.verdicts import Bound, Check

PATHS = {
    "fast": Path(rate="20Mbit", rtt="30ms", queue="60p"),
    "slow": Path(rate="20Mbit", rtt="100ms", queue="200p"),
}
WINDOWS = (300_000, 1_000_000, 8_000_000)
"""The sizes of both buffers that the lab mentions, bytes."""
SIZE = 10_240 * 1024
VARIANTS = {
    "tcp": "TCP over the fast path",
    "minrtt": "lowest RTT first",
    "roundrobin": "round robin",
    "blest": "BLEST",
    "ecf": "ECF",
}


def completion(run: Run) -> float:
    """Time until the last byte, s; the duration of the run for an incomplete download."""
    done = run.flow()["completion_s"]
    return run.scenario.duration if done is None else done


class Windows(Experiment):
    """Case 2 of section 2 of the lab."""

    study = NAME
    name = "F2-http"
    title = "A download by window size"
    setup = (
        "Two paths of 20 Mb/s have RTTs of 30 and 100 ms. A client downloads 10 MB. Both buffers have a fixed size of "
        "300 kB, 1 MB or 8 MB, as in the lab. The lab asks for the reasons of the results without stating them."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Windows × schedulers × seeds."""
        for variant, words in VARIANTS.items():
            tcp = variant == "tcp"
            for window in WINDOWS:
                keys = STACK | {
                    "transport": "tcp" if tcp else "mptcp",
                    "congestion": "reno" if tcp else CONTROLLER,
                    "scheduler": "minrtt" if tcp else variant,
                    "autotuning": False,
                    "rcvbuf": f"{window}B",
                    "sndbuf": f"{window}B",
                }
                scenario = Scenario(
                    name=f"download, {words}, {window} bytes",
                    duration="30s",
                    until_done=True,
                    paths=PATHS,
                    flows={"http": Flow(direction="download", bytes=f"{SIZE}B", more=keys)},
                )
                for seed in effort.seeds(2, 6, 20):
                    yield Point((variant, window), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims F-2.5 and F-2.6."""
        small, middle, large = WINDOWS
        speedups = [
            Check(
                f"minRTT / TCP at {window // 1000} kB",
                measured.ratio(completion, ("minrtt", window), completion, ("tcp", window)),
                Bound("time", high=1.0, strict=True),
            )
            for window in (middle, large)
        ]
        larger = [
            Check(
                f"minRTT at {more // 1000} kB / at {less // 1000} kB",
                measured.ratio(completion, ("minrtt", more), completion, ("minrtt", less)),
                Bound("larger window", high=1.0, strict=True),
            )
            for less, more in ((small, middle), (middle, large))
        ]
        facts = [
            self.fact(
                "F-2.5",
                "with windows of 1 and 8 MB, MPTCP with the lowest RTT first completes before TCP over the fast path",
                published="no statement; the lab asks whether the speed-up meets the expectation",
                origin="ours",
                checks=speedups,
            ),
            self.fact(
                "F-2.6",
                "with the lowest RTT first, each larger window shortens the download",
                published="no statement; the lab asks for the effect of other windows",
                origin="ours",
                checks=larger,
            ),
        ]
        return Outcome(facts, [self._picture(measured)])

    def _picture(self, measured: Measured) -> Picture:
        figure, (axes,) = figure_style.new_figure(width=7.0, height=3.6)
        looks = figure_style.looks(["reno", "mptcp", "olia", "balia", "wvegas"])
        series = {}
        for look, (variant, words) in zip(looks.values(), VARIANTS.items(), strict=True):
            values = [measured.estimate(completion, variant, window) for window in WINDOWS]
            series[words] = (look, [(value.mean, value.half_width) for value in values])
        figure_style.grouped_bars(axes, [f"{window // 1000} kB" for window in WINDOWS], series)
        figure_style.finish(axes, x="send and receive buffer", y="completion time [s]", legend=None)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=3)
        caption = (
            "Completion time of a download of 10 MB by buffer size and scheduler. Bars are means, whiskers are 95% "
            "intervals over the seeds."
        )
        return Picture("f2-windows", caption, figure)
