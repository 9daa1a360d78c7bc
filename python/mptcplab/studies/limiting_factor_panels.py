"""The panel under a figure that shows what held its multipath flows back, on the same axis.

Shares of time, stacked, where the axis is one of settings; under a time course a lane for each path; under a
distribution, whose axis is neither, a bar for each curve. Owns where these panels stand and how they look. What is in
them is `held_back`'s and the events'.
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
"""As the key has them, in the order in which they are stacked; what `bottleneck` and `window` are of one path are the
congestion windows of all."""

LOOKS: Mapping[str, tuple[str, str]] = {
    **{name: (LIMIT_LOOKS[name][0], hatch) for name, hatch in (
        ("application", ""), ("send_buffer", "--"), ("receive_window", "\\\\"), ("head_of_line", "xx"),
        ("scheduler", "++"), ("local_queue", ""),
    )},
    "congestion_window": (LIMIT_LOOKS["window"][0], ""),
}  # fmt: skip
"""The colours of the picture of events, with hatches that take little room in a file."""
LANE_LOOKS: Mapping[str, tuple[str, str]] = {
    **LIMIT_LOOKS,
    "window": ("#9dbfe3", ""),
    "penalty": (LIMIT_LOOKS["penalty"][0], "--"),
    "closed": (LIMIT_LOOKS["closed"][0], ""),
    "joining": ("#bbbbbb", "xx"),
    "local_queue": (LIMIT_LOOKS["local_queue"][0], ""),
}
"""The same of one path, without dots, circles and stars, which take a hundred kilobytes each."""
PLAIN = 0.9
"""Where one reason has at least this part everywhere, a sentence says it all, and there is no panel."""

PANEL, KEY = 1.15, 0.28
"""Inches: height of a panel, and of a line of the key above them."""
ENTRY, LONG_ENTRY = 2.1, 3.3
"""Inches that an entry of the key takes, and one of a path's reasons."""
LANE, BAR, COLUMNS = 0.3, 0.24, 160
"""Inches of a lane under a time course, and of a bar under a distribution; columns of a lane in time."""
ALONE = 0.8
"""Width of a bar for a curve of one value."""


_DRAWN = ContextVar("whether there are panels", default=True)


@contextmanager
def panels(*, drawn: bool) -> Iterator[None]:
    """Inside, what held flows back is said, and is drawn, too, or not: a third of the time of all drawing."""
    token = _DRAWN.set(drawn)
    try:
        yield
    finally:
        _DRAWN.reset(token)


def explain(figure: Figure, under: Mapping[Axes, Sequence[Curve | None]], *, bars: float = 0.0) -> tuple[str, ...]:
    """Adds to a figure, below its axes, a panel for each of these curves; returns what there is to say.

    Several curves of the same axes have panels one below the other; with `bars`, which is their width, they are bars
    in one panel, below those of the figure. Curves that were not measured have none, and there are none at all where
    they would show a single colour.
    """
    measured = {axes: [one for one in curves if one is not None] for axes, curves in under.items()}
    known = {axes: curves for axes, curves in measured.items() if curves}
    said = sentences(one for some in known.values() for one in some)
    if not _DRAWN.get() or _plain([one for some in known.values() for one in some]):
        return said
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
    return said


def under_time(figure: Figure, axes: Axes, lanes: Mapping[str, tuple[Run, str, str]]) -> tuple[str, ...]:
    """Adds to a time course, below these axes, a lane for each run, flow and path; returns what there is to say.

    The runs were watched (`Point.watched`). Where one was not, or one reason is all there is, there is no panel.
    """
    flows = {id(run): (run, flow) for run, flow, _ in lanes.values()}
    labels = [""] if len(flows) == 1 else list(lanes)
    said = whole({label: multipath([run], flow) for label, (run, flow) in zip(labels, flows.values(), strict=True)})
    events = {at: run.events for at, (run, _) in flows.items()}
    shares = [_shares(events[id(run)], flow, path, run.scenario.duration) for run, flow, path in lanes.values()]
    if not all(shares) or any(all(one.get(limit, 0.0) >= PLAIN for one in shares) for limit in WORDS):
        return said
    words = f"{'; '.join(f'{label}: {_said(one)}' for label, one in zip(lanes, shares, strict=True))}."
    if not _DRAWN.get():
        return (*said, words)
    shown = [patch(limit, LANE_LOOKS) for limit in WORDS if any(one.get(limit, 0.0) >= 0.01 for one in shares)]
    grid, at = _room(figure, shown, [LANE * len(lanes) + 0.4], LONG_ENTRY)
    panel = figure.add_subplot(grid[at, _column(axes)], sharex=axes)
    for place, (run, flow, path) in enumerate(lanes.values()):
        bars(panel, place, events[id(run)], (flow, path), run.scenario.duration, COLUMNS, LANE_LOOKS)
    panel.set_yticks(range(len(lanes)), list(lanes))
    panel.set_ylim(len(lanes) - 0.5, -0.5)
    panel.grid(visible=False)
    return (*said, words)


def _said(shares: Mapping[str, float]) -> str:
    """What held a path back for a twentieth of the time and more, the longest first."""
    longest = sorted(((share, name) for name, share in shares.items() if share >= 0.05), reverse=True)
    return ", ".join(f"{WORDS.get(name, 'its end')} {100 * share:.0f} %" for share, name in longest)


def _shares(events: pa.Table, flow: str, path: str, end: float) -> dict[str, float]:
    """What held a flow back on a path, as shares of the time from the first event on; empty where nobody watched."""
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
    """Adds below a figure a bar for each of its curves: what held the flows back over their whole time; says it, too.

    There is none where one reason is nearly all there is.
    """
    said = whole(flows)
    shares = {label: mean(rows) for label, rows in flows.items() if rows}
    plain = any(all(one.get(name, 0.0) >= PLAIN for one in shares.values()) for name in NAMES)
    if not _DRAWN.get() or not shares or plain:
        return said
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
    return said


def _plain(curves: Sequence[Curve]) -> bool:
    """Whether one reason is nearly all there is, at every value of every curve, or nothing is known."""
    return not curves or any(
        all(shares.get(name, 0.0) >= PLAIN for one in curves for shares in one.shares) for name in NAMES
    )


def _column(axes: Axes) -> int:
    spec = axes.get_subplotspec()
    return spec.colspan.start if spec else 0


def _room(
    figure: Figure, handles: Sequence[Patch], more: Sequence[float], entry: float = ENTRY
) -> tuple[GridSpec, int]:
    """A grid with room for a key and further rows, so high, below what there is; the number of the first of these."""
    old = figure.axes[0].get_gridspec()
    if old is None:
        raise ValueError("panels go below axes that stand in a grid")
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
