"""The panel under a figure that shows what held its multipath flows back: shares of time, stacked, on the same axis.

Owns where these panels stand and how they look. What is in them is `held_back`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mptcplab.event_plots import LIMIT_LOOKS
from mptcplab.studies.held_back import Curve, sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec
    from matplotlib.patches import Patch

NAMES: Mapping[str, str] = {
    "application": "application",
    "send_buffer": "send buffer",
    "receive_window": "receive window",
    "head_of_line": "head of line: older data on a slower path",
    "scheduler": "scheduler",
    "local_queue": "pacing or local queue",
    "congestion_window": "congestion windows",
}
"""As the key has them, in the order in which they are stacked; what `capacity` and `window` are of one path are the
congestion windows of all."""

LOOKS: Mapping[str, tuple[str, str]] = {
    **{name: (LIMIT_LOOKS[name][0], hatch) for name, hatch in (
        ("application", ""), ("send_buffer", "--"), ("receive_window", "\\\\"), ("head_of_line", "xx"),
        ("scheduler", "++"), ("local_queue", ""),
    )},
    "congestion_window": (LIMIT_LOOKS["window"][0], ""),
}  # fmt: skip
"""The colours of the picture of events, with hatches that take little room in a file."""
PLAIN = 0.9
"""Where one reason has at least this part everywhere, a sentence says it all, and there is no panel."""

PANEL, KEY = 1.15, 0.28
"""Inches: height of a panel, and of a line of the key above them."""
ENTRY = 2.1
"""Inches that an entry of the key takes."""
ALONE = 0.8
"""Width of a bar for a curve of one value."""


def explain(figure: Figure, under: Mapping[Axes, Sequence[Curve | None]], *, bars: float = 0.0) -> tuple[str, ...]:
    """Adds to a figure, below its axes, a panel for each of these curves; returns what there is to say.

    Several curves of the same axes have panels one below the other; with `bars`, which is their width, they are bars
    in one panel, below those of the figure. Curves that were not measured have none, and there are none at all where
    they would show a single colour.
    """
    measured = {axes: [one for one in curves if one is not None] for axes, curves in under.items()}
    known = {axes: curves for axes, curves in measured.items() if curves}
    said = sentences(one for some in known.values() for one in some)
    if _plain([one for some in known.values() for one in some]):
        return said
    columns: dict[int, list[tuple[Axes, list[Curve]]]] = {}
    for axes, curves in known.items():
        panels = [curves] if bars else [[one] for one in curves]
        columns.setdefault(_column(axes), []).extend((axes, drawn) for drawn in panels)
    reasons = [name for name in NAMES if any(name in one.reasons for some in known.values() for one in some)]
    grid, first = _room(figure, reasons, max(map(len, columns.values())))
    for column, rows in columns.items():
        for at, (axes, drawn) in enumerate(rows):
            panel = figure.add_subplot(grid[first + at, column], sharex=axes)
            _draw(panel, drawn, bars)
            known_above = bars or (len(rows) == 1 and drawn[0].label in axes.get_title(loc="left"))
            panel.set_title("" if known_above else drawn[0].label, fontsize=9)
            panel.tick_params(labelbottom=at == len(rows) - 1, labelleft=column == min(columns))
            panel.set_ylabel("share of\ntime [%]" if column == min(columns) else "")
    return said


def _plain(curves: Sequence[Curve]) -> bool:
    """Whether one reason is nearly all there is, at every value of every curve, or nothing is known."""
    return not curves or any(
        all(shares.get(name, 0.0) >= PLAIN for one in curves for shares in one.shares) for name in NAMES
    )


def _column(axes: Axes) -> int:
    spec = axes.get_subplotspec()
    return spec.colspan.start if spec else 0


def _room(figure: Figure, reasons: Sequence[str], more: int) -> tuple[GridSpec, int]:
    """A grid with room for a key and for further rows below what there is; the number of the first of these."""
    old = figure.axes[0].get_gridspec()
    if old is None:
        raise ValueError("panels go below axes that stand in a grid")
    height = figure.get_figheight()
    each = max(1, int(figure.get_figwidth() / ENTRY))
    ratios = [height / old.nrows] * old.nrows + [KEY * -(-len(reasons) // each)] + [PANEL] * more
    grid = figure.add_gridspec(old.nrows + 1 + more, old.ncols, height_ratios=ratios)
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec:
            axes.set_subplotspec(grid[spec.rowspan.start : spec.rowspan.stop, spec.colspan.start : spec.colspan.stop])
    figure.set_figheight(sum(ratios))
    key = figure.add_subplot(grid[old.nrows, :])
    key.set_axis_off()
    handles = [_patch(name) for name in reasons]
    key.legend(handles=handles, loc="center", ncols=each, title="what held the flow back", borderaxespad=0)
    return grid, old.nrows + 1


def _look(name: str) -> dict[str, Any]:
    color, hatch = LOOKS[name]
    return {"facecolor": color, "hatch": hatch, "edgecolor": "#333333", "linewidth": 0.4}


def _patch(name: str) -> Patch:
    from matplotlib.patches import Patch

    return Patch(label=NAMES[name], **_look(name))


def _draw(panel: Axes, curves: Sequence[Curve], bars: float) -> None:
    for one in curves:
        below = [0.0] * len(one.places)
        for name in NAMES:
            if name not in one.reasons:
                continue
            above = [low + 100 * shares.get(name, 0.0) for low, shares in zip(below, one.shares, strict=True)]
            if bars or len(one.places) == 1:
                heights = [high - low for low, high in zip(below, above, strict=True)]
                panel.bar(one.places, heights, 0.92 * (bars or ALONE), bottom=below, **_look(name))
            else:
                panel.fill_between(one.places, below, above, **_look(name))
            below = above
    panel.set_ylim(0, 100)
    panel.set_yticks([0, 50, 100])
    panel.grid(visible=False)
