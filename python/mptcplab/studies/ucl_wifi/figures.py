"""Figures that several experiments of study E (Barlow-Bignell et al., UCL, 2013) share: distributions, traffic over
time, ratios.

Owns the style of these figures and the samples that they draw. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.stats.statistics import Estimate, distribution
from mptcplab.studies.ucl_wifi.network import BOTH, DUAL, interface, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Curve = tuple[str, figure_style.Look, Floats]

SECOND = figure_style.Look("#5b9bd5", "--", "D")
"""The other subflow of a connection."""
TOTAL = figure_style.Look("#222222", "-", "", "")


def samples(runs: Iterable[Run], flow: str, network: str | None = None) -> Floats:
    """Mb/s in each 500 ms after the warm-up, of a flow: its goodput, or its throughput on one `network`."""
    found = []
    for run in runs:
        path = "*" if network is None else interface(network)
        times, values = run.series("throughput" if network else "goodput", flow=flow, path=path)
        found.append(values[times > run.scenario.warmup + 1e-9] / 1e6)
    return np.concatenate(found) if found else np.zeros(0)


def contest(runs: Sequence[Run], *, total: bool = False) -> list[Curve]:
    """The curves of a test with all flows at once: subflows, single flows, and with `total` MPTCP's goodput."""
    curves = [
        ("MPTCP, network 1", figure_style.LOOKS["mptcp"], samples(runs, DUAL, "1")),
        ("MPTCP, network 2", SECOND, samples(runs, DUAL, "2")),
        ("single flow, network 1", figure_style.LOOKS["wifi"], samples(runs, single("1"))),
        ("single flow, network 2", figure_style.LOOKS["3g"], samples(runs, single("2"))),
    ]
    if total:
        curves.append(("MPTCP, both networks", TOTAL, samples(runs, DUAL)))
    return curves


def draw_distributions(axes: Axes, curves: Sequence[Curve], title: str, *, top: float | None = None) -> None:
    """Distribution functions, with markers that distinguish the curves in greyscale."""
    for label, look, values in curves:
        rates, share = distribution(values)
        figure_style.curve(axes, rates, share, label, look, markers=7)
    figure_style.finish(
        axes,
        x="throughput in steps of 500 ms [Mb/s]",
        y="share of samples up to this value",
        title=title,
        legend=None,
        top=1.02,
    )
    axes.set_xlim(0, top)


def draw_traffic(axes: Axes, run: Run, seconds: float, title: str) -> None:
    """The throughput of the subflows, their total and the single flows over time, as means of `seconds`."""
    for label, look, flow, path in (
        ("MPTCP, network 1", figure_style.LOOKS["mptcp"], DUAL, interface("1")),
        ("MPTCP, network 2", SECOND, DUAL, interface("2")),
        ("single flow, network 1", figure_style.LOOKS["wifi"], single("1"), f"if-{single('1')}"),
        ("single flow, network 2", figure_style.LOOKS["3g"], single("2"), f"if-{single('2')}"),
    ):
        times, values = coarse(*run.series("throughput", flow=flow, path=path), seconds)
        figure_style.curve(axes, times, values / 1e6, label, look, markers=8)
    times, values = coarse(*run.series("goodput", flow=DUAL), seconds)
    figure_style.curve(axes, times, values / 1e6, "MPTCP, both networks", TOTAL, markers=1)
    figure_style.finish(axes, x="time [s]", y=f"throughput, means over {seconds:g} s [Mb/s]", title=title, legend=None)


def draw_ratios(
    axes: Axes,
    groups: Sequence[str],
    series: Mapping[str, Sequence[Estimate]],
    *,
    y: str,
    accepted: tuple[float, float],
    says: str,
    top: float,
) -> None:
    """Bars with intervals, and the `accepted` range of a claim with the legend label `says`."""
    looks = (figure_style.LOOKS["mptcp"], figure_style.LOOKS["wifi"], figure_style.LOOKS["3g"])
    bars = {
        name: (look, [(value.mean, value.half_width) for value in values])
        for look, (name, values) in zip(looks, series.items(), strict=False)
    }
    figure_style.accepted_range(axes, *accepted, says)
    figure_style.grouped_bars(axes, groups, bars)
    figure_style.finish(axes, x="", y=y, legend="upper right", top=top)


def coarse(times: Floats, values: Floats, seconds: float) -> tuple[Floats, Floats]:
    """Means over steps of `seconds`, each at the end of its step; omits an incomplete last step."""
    if not len(times):
        return times, values
    each = max(1, round(seconds / float(np.median(np.diff(times)))))
    whole = len(times) // each * each
    return times[:whole].reshape(-1, each)[:, -1], values[:whole].reshape(-1, each).mean(axis=1)


def split(run: Run, seconds: float) -> Floats:
    """The larger subflow's share of the traffic, 0.5 to 1, in each step after the warm-up."""
    series = [run.series("throughput", flow=DUAL, path=interface(at)) for at in BOTH]
    steps = min(len(times) for times, _ in series)
    times = series[0][0][:steps]
    late = times > run.scenario.warmup + 1e-9
    parts = [coarse(times[late], values[:steps][late], seconds)[1] for _, values in series]
    total = np.maximum(parts[0] + parts[1], 1)
    found: Floats = np.maximum(parts[0], parts[1]) / total
    return found
