"""Figures 5 to 12 of study D (Ro and Nguyen Van, IJCCE 2016), as experiments D1 to D4 draw them.

Throughput is above and Jain's index below, with one column per variant: MPTCP's controller and the queueing at the
bottleneck. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.stats.statistics import Estimate
from mptcplab.studies.base import Picture
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import multipath, of_flows
from mptcplab.studies.ro_bottleneck.contest import Contests

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def contest_picture(  # noqa: PLR0913, RUF100 - what differs between the figures
    name: str,
    caption: str,
    contests: Contests,
    *,
    x: str,
    ticks: Sequence[tuple[float, str]],
    model: Mapping[float, float] | None = None,
    doubled: Collection[float] = (),
) -> Picture:
    """Draws values at equal distances, and the throughput of TCP alone by a `model`, Mb/s.

    The study's own figures are not available. Its one number is that MPTCP had about twice the throughput of TCP. Stars
    show twice the measured throughput of TCP, at the values `doubled`.
    """
    columns = len(contests)
    figure, axes = figure_style.new_figure(columns, 2, width=3.9, height=3.3, share_y=False)
    values = [value for value, _ in ticks]
    places = list(range(len(values)))
    for column, (variant, one) in enumerate(contests.items()):
        above, below = axes[column], axes[columns + column]
        first = column == 0
        for label, look, curve in (
            ("MPTCP", figure_style.LOOKS["mptcp"], one.mptcp),
            ("TCP", figure_style.LOOKS["wifi"], one.tcp),
        ):
            _draw(above, places, [curve[value] for value in values], label, look)
        if model is not None:
            figure_style.curve(
                above, places, [model[value] for value in values], "model of TCP alone", figure_style.LOOKS["model"]
            )
        if doubled:
            at = [place for place, value in zip(places, values, strict=True) if value in doubled]
            twice = [2 * one.tcp[values[place]].mean for place in at]
            figure_style.published_points(above, at, twice, "published for MPTCP: twice TCP")
        means = [one.fairness[value] for value in values]
        _draw(below, places, means, "Jain's index of the means", figure_style.LOOKS["3g"])
        seconds = [one.by_second[value] for value in values]
        _draw(below, places, seconds, "Jain's index per second, mean", figure_style.LOOKS["ethernet"])
        for one_axes in (above, below):
            one_axes.set_xticks(places, [text for _, text in ticks])
        top = 100 if model is None else 110
        figure_style.finish(above, x="", y="throughput [Mb/s]" if first else "", title=variant, legend=None, top=top)
        figure_style.finish(below, x=x, y="Jain's fairness index" if first else "", legend=None, top=1.0)
        below.set_ylim(0.45, 1.04)
    drawn = [axes[at].get_legend_handles_labels() for at in (0, columns)]
    handles = [handle for found, _ in drawn for handle in found]
    labels = [label for _, found in drawn for label in found]
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    unit = x.partition("[")[2].rstrip("]")
    message = {value: f"{text} {unit}".rstrip() for value, text in ticks}
    held = {
        axes[columns + column]: [
            of_flows(
                variant,
                {at: multipath(one.runs[at], "mptcp") for at in values},
                say=lambda at: message[at],
                places=places,
            )
        ]
        for column, (variant, one) in enumerate(contests.items())
    }
    return Picture(name, caption, figure, explain(figure, held))


def _draw(axes: Axes, places: Sequence[float], values: Sequence[Estimate], label: str, look: figure_style.Look) -> None:
    figure_style.curve(
        axes, places, [value.mean for value in values], label, look, spread=[value.half_width for value in values]
    )
