"""Panels below a study's figure that show the limiting factors of its multipath flows on the same axis.

A limiting factor is the reason why a flow does not send faster. The panels show stacked shares of time over settings, a
lane per path over time, or a bar per curve below a distribution. Owns the position and style of the panels. The
shares come from `limiting_factors` and from the events of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mptcplab.plots.event_plots import LIMIT_LOOKS, bars, patch
from mptcplab.results.text.reasons import WORDS
from mptcplab.studies.limiting_factors import Curve, mean, multipath, sentences, whole

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec
    from matplotlib.patches import Patch

    from mptcplab._core import FlowRow
    from mptcplab.results.run import Run

NAMES: Mapping[str, str] = {
    "application": "application",
    "send_buffer": "send buffer",
    "receive_window": "receive window",
    "head_of_line": "head of line: older data on a slower path",
    "scheduler": "scheduler",
    "local_queue": "pacing or local queue",
    "congestion_window": "congestion windows",
}
"""Labels in stacking order; a path's causes `bottleneck` and `window` are the connection's `congestion_window`."""

LOOKS: Mapping[str, tuple[str, str]] = {
    **{name: (LIMIT_LOOKS[name][0], hatch) for name, hatch in (
        ("application", ""), ("send_buffer", "--"), ("receive_window", "\\\\"), ("head_of_line", "xx"),
        ("scheduler", "++"), ("local_queue", ""),
    )},
    "congestion_window": (LIMIT_LOOKS["window"][0], ""),
}  # fmt: skip
"""The colours of the figure of events, with hatches that need little space in a file."""
LANE_LOOKS: Mapping[str, tuple[str, str]] = {
    **LIMIT_LOOKS,
    "window": ("#9dbfe3", ""),
    "penalty": (LIMIT_LOOKS["penalty"][0], "--"),
    "closed": (LIMIT_LOOKS["closed"][0], ""),
    "joining": ("#bbbbbb", "xx"),
    "local_queue": (LIMIT_LOOKS["local_queue"][0], ""),
}
"""Colour and hatch of each cause of one path; no dots, circles and stars, which add 100 kB each to a file."""
PLAIN = 0.9
"""If one cause has at least this share everywhere, a sentence replaces the panel."""

PANEL, KEY = 1.15, 0.28
"""Inches: height of a panel, and of a line of the legend above it."""
ENTRY, LONG_ENTRY = 2.1, 3.3
"""Width in inches of a legend entry, and of a cause of a path."""
LANE, BAR, COLUMNS = 0.3, 0.24, 160
"""Inches of a lane over time, and of a bar below a distribution; columns of a lane."""
ALONE = 0.8
"""Width of a bar for a curve with one value."""


_DRAWN = ContextVar("whether there are panels", default=True)


@contextmanager
def panels(*, drawn: bool) -> Iterator[None]:
    """Enables or disables the panels for everything drawn inside; they take a third of the drawing time."""
    token = _DRAWN.set(drawn)
    try:
        yield
    finally:
        _DRAWN.reset(token)


def explain(figure: Figure, under: Mapping[Axes, Sequence[Curve | None]], *, bars: float = 0.0) -> tuple[str, ...]:
    """Adds a panel below the axes of a figure for each curve; returns the sentences.

    Several curves of the same axes get stacked panels, or bars of the width `bars` in one panel. A curve without
    measurements gets no panel. If one cause dominates everywhere, there are only sentences.
    """
    measured = {axes: [one for one in curves if one is not None] for axes, curves in under.items()}
    known = {axes: curves for axes, curves in measured.items() if curves}
    message = sentences(one for some in known.values() for one in some)
    if not _DRAWN.get() or _plain([one for some in known.values() for one in some]):
        return message
    columns: dict[int, list[tuple[Axes, list[Curve]]]] = {}
    for axes, curves in known.items():
        panels = [curves] if bars else [[one] for one in curves]
        columns.setdefault(_column(axes), []).extend((axes, drawn) for drawn in panels)
    reasons = [name for name in NAMES if any(name in one.reasons for some in known.values() for one in some)]
    handles = [_patch(name) for name in reasons]
    grid, first = _room(figure, handles, [PANEL] * max(map(len, columns.values())))
    for column, rows in columns.items():
        for at, (axes, drawn) in enumerate(rows):
            panel = figure.add_subplot(grid[first + at, column], sharex=axes)
            _draw(panel, drawn, bars)
            known_above = bars or (len(rows) == 1 and drawn[0].label in axes.get_title(loc="left"))
            panel.set_title("" if known_above else drawn[0].label, fontsize=9)
            panel.tick_params(labelbottom=at == len(rows) - 1, labelleft=column == min(columns))
            panel.set_ylabel("share of\ntime [%]" if column == min(columns) else "")
    return message


def under_time(figure: Figure, axes: Axes, lanes: Mapping[str, tuple[Run, str, str]]) -> tuple[str, ...]:
    """Adds a lane over time for each run, flow and path below these axes; returns the sentences.

    The runs must be observed (`Point.watched`). Without observation, or with one cause only, there is no panel.
    """
    flows = {id(run): (run, flow) for run, flow, _ in lanes.values()}
    labels = [""] if len(flows) == 1 else list(lanes)
    message = whole({label: multipath([run], flow) for label, (run, flow) in zip(labels, flows.values(), strict=True)})
    events = {at: run.events for at, (run, _) in flows.items()}
    shares = [_shares(events[id(run)], flow, path, run.scenario.duration) for run, flow, path in lanes.values()]
    if not all(shares) or any(all(one.get(limit, 0.0) >= PLAIN for one in shares) for limit in WORDS):
        return message
    words = f"{'; '.join(f'{label}: {_as_text(one)}' for label, one in zip(lanes, shares, strict=True))}."
    if not _DRAWN.get():
        return (*message, words)
    shown = [patch(limit, LANE_LOOKS) for limit in WORDS if any(one.get(limit, 0.0) >= 0.01 for one in shares)]
    grid, at = _room(figure, shown, [LANE * len(lanes) + 0.4], LONG_ENTRY)
    panel = figure.add_subplot(grid[at, _column(axes)], sharex=axes)
    for place, (run, flow, path) in enumerate(lanes.values()):
        bars(panel, place, events[id(run)], (flow, path), run.scenario.duration, COLUMNS, LANE_LOOKS)
    panel.set_yticks(range(len(lanes)), list(lanes))
    panel.set_ylim(len(lanes) - 0.5, -0.5)
    panel.grid(visible=False)
    return (*message, words)


def _as_text(shares: Mapping[str, float]) -> str:
    """The causes with at least 5% of the time of a path, the largest first."""
    longest = sorted(((share, name) for name, share in shares.items() if share >= 0.05), reverse=True)
    return ", ".join(f"{WORDS.get(name, 'another cause')} {100 * share:.0f} %" for share, name in longest)


def _shares(events: pa.Table, flow: str, path: str, end: float) -> dict[str, float]:
    """The limiting factors of a flow on a path, as shares of the time since the first event; empty without
    observation.
    """
    import pyarrow.compute as pc

    rows = events.filter(
        (pc.field("kind") == "subflow_blocked") & (pc.field("flow") == flow) & (pc.field("path") == path)
    )
    starts = rows["time_s"].to_pylist()
    shares: dict[str, float] = {}
    for what, start, stop in zip(rows["what"].to_pylist(), starts, [*starts[1:], end], strict=False):
        shares[what] = shares.get(what, 0.0) + (stop - start) / (end - starts[0])
    return shares


def under_distribution(figure: Figure, flows: Mapping[str, Sequence[FlowRow]]) -> tuple[str, ...]:
    """Adds a bar below a figure for each curve, with the limiting factors over the whole time; returns the sentences.

    There is no panel if one cause dominates.
    """
    message = whole(flows)
    shares = {label: mean(rows) for label, rows in flows.items() if rows}
    plain = any(all(one.get(name, 0.0) >= PLAIN for one in shares.values()) for name in NAMES)
    if not _DRAWN.get() or not shares or plain:
        return message
    reasons = [name for name in NAMES if any(one.get(name, 0.0) >= 0.01 for one in shares.values())]
    grid, at = _room(figure, [_patch(name) for name in reasons], [BAR * len(shares) + 0.4])
    panel = figure.add_subplot(grid[at, :])
    for place, one in enumerate(shares.values()):
        left = 0.0
        for name in reasons:
            panel.barh(place, 100 * one.get(name, 0.0), 0.7, left=left, **_look(name))
            left += 100 * one.get(name, 0.0)
    panel.set_yticks(range(len(shares)), [label.replace("\n", " ") for label in shares])
    panel.set_ylim(len(shares) - 0.5, -0.5)
    panel.set_xlim(0, 100)
    panel.set_xlabel("share of time [%]")
    panel.grid(visible=False)
    return message


def _plain(curves: Sequence[Curve]) -> bool:
    """Whether one cause dominates at every value of every curve, or nothing is known."""
    return not curves or any(
        all(shares.get(name, 0.0) >= PLAIN for one in curves for shares in one.shares) for name in NAMES
    )


def _column(axes: Axes) -> int:
    spec = axes.get_subplotspec()
    return spec.colspan.start if spec else 0


def _room(
    figure: Figure, handles: Sequence[Patch], more: Sequence[float], entry: float = ENTRY
) -> tuple[GridSpec, int]:
    """Adds rows to the grid of a figure, for a legend and panels of this height; returns the number of the first
    row.
    """
    old = figure.axes[0].get_gridspec()
    if old is None:
        raise ValueError("panels need axes in a grid")
    height = figure.get_figheight()
    each = max(1, int(figure.get_figwidth() / entry))
    ratios = [height / old.nrows] * old.nrows + [KEY * -(-len(handles) // each), *more]
    grid = figure.add_gridspec(old.nrows + 1 + len(more), old.ncols, height_ratios=ratios)
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec:
            axes.set_subplotspec(grid[spec.rowspan.start : spec.rowspan.stop, spec.colspan.start : spec.colspan.stop])
    figure.set_figheight(sum(ratios))
    key = figure.add_subplot(grid[old.nrows, :])
    key.set_axis_off()
    key.legend(handles=handles, loc="center", ncols=each, title="limiting factors", borderaxespad=0)
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
