"""Figures 5 to 12 of the study: throughput above, Jain's index below, a column for each variant.

Owns how they look. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from mptcplab import plots
from mptcplab.statistics import Estimate
from mptcplab.studies.base import Picture
from mptcplab.studies.ro_bottleneck.contest import Contests

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARED = 95.6 / 3
"""Mb/s of payload that a third of the line carries."""


Says = Literal["double", "more and fair", "more"]
"""What the study says in words of good networks: two shares and one; more than TCP, and Jain's index as with two
shares; or just more."""


def contest_picture(  # noqa: PLR0913, RUF100 - what differs between the figures
    name: str,
    caption: str,
    contests: Contests,
    *,
    x: str,
    ticks: Sequence[tuple[float, str]],
    small: float,
    says: Says,
    model: Mapping[float, float] | None = None,
) -> Picture:
    """Values are drawn at equal distances; up to the position `small` the study calls the network good."""
    columns = len(contests)
    figure, axes = plots.new_figure(columns, 2, width=3.9, height=3.3, share_y=False)
    values = [value for value, _ in ticks]
    places = list(range(len(values)))
    good = (-0.2, small + 0.2)
    for column, (variant, one) in enumerate(contests.items()):
        above, below = axes[column], axes[columns + column]
        first = column == 0
        for label, look, curve in (
            ("MPTCP", plots.LOOKS["mptcp"], one.mptcp),
            ("TCP", plots.LOOKS["wifi"], one.tcp),
        ):
            _draw(above, places, [curve[value] for value in values], label, look)
        if model is not None:
            plots.curve(above, places, [model[value] for value in values], "TCP alone, model", plots.LOOKS["model"])
        if says == "double":
            plots.published_range(above, 2 * SHARED - 3, 2 * SHARED + 3, "published: two shares and one", over=good)
            plots.published_range(above, SHARED - 3, SHARED + 3, None, over=good)
        else:
            plots.published_range(above, 1.5 * SHARED, 3 * SHARED, "published: MPTCP above TCP", over=good)
        _draw(below, places, [one.fairness[value] for value in values], "Jain's index", plots.LOOKS["mptcp"])
        if says != "more":
            plots.published_range(below, 0.86, 0.94, "published: as with two shares, then near 1", over=good)
            plots.published_range(below, 0.98, 1.0, None, over=(len(values) - 1.2, len(values) - 0.8))
        for one_axes in (above, below):
            one_axes.set_xticks(places, [text for _, text in ticks])
        top = 100 if model is None else 110
        plots.finish(above, x="", y="throughput [Mb/s]" if first else "", title=variant, legend=None, top=top)
        plots.finish(below, x=x, y="Jain's fairness index" if first else "", legend=None, top=1.0)
        below.set_ylim(0.45, 1.02)
    drawn = [axes[at].get_legend_handles_labels() for at in (0, columns)]
    handles = [handle for found, _ in drawn for handle in found]
    labels = [label for _, found in drawn for label in found]
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    return Picture(name, caption, figure)


def _draw(axes: Axes, places: Sequence[float], values: Sequence[Estimate], label: str, look: plots.Look) -> None:
    plots.curve(
        axes, places, [value.mean for value in values], label, look, spread=[value.half_width for value in values]
    )
