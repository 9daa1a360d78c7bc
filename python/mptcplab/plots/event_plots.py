"""Figures of `mptcplab events` from traced protocol events: sequence numbers, scheduler decisions, limiting factors.

Owns how each event is drawn, in the style of `figure_style`. `message_plot` and `topology_plot` draw the other figures.
All figures are readable in grey.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.plots import figure_style
from mptcplab.plots.event_rows import one_flow, rows_of
from mptcplab.results.text.reasons import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from mptcplab.results.read.event_log import Selection, TracedRun

COLUMNS, LOOKS = 700, 10
"""Columns of a lane (the bar of a path over time), and samples of the path's state in each column."""
MOST_LANES = 12
"""Maximum lanes in one figure; further lanes are omitted."""

LIMIT_LOOKS: dict[str, tuple[str, str]] = {
    "bottleneck": ("#f2f2f2", ""),
    "window": ("#d5e4f3", "..."),
    "loss": ("#d55e00", "///"),
    "head_of_line": ("#8a3ffc", "xxx"),
    "receive_window": ("#cc79a7", "\\\\\\"),
    "send_buffer": ("#b8860b", "---"),
    "both_buffers": ("#8b5a2b", "\\\\---"),
    "application": ("#ffffff", "   "),
    "scheduler": ("#009e73", "++"),
    "copies": ("#009e73", "xx"),
    "penalty": ("#444444", "oo"),
    "pacing": ("#56b4e9", "||"),
    "local_queue": ("#999999", "**"),
    "cross_traffic": ("#e69f00", "//"),
    "lower_rate": ("#c9b26b", ".."),
    "down": ("#5a5a5a", "x"),
    "queue_overflow": ("#f0a3a3", "**"),
    "policer": ("#f0a3a3", "oo"),
    "path_mtu": ("#7f1d1d", "++"),
    "middlebox": ("#7f1d1d", "oo"),
    "ack_loss": ("#d55e00", ".."),
    "reordering": ("#a6d8c9", "||"),
    "delay_change": ("#a6d8c9", "--"),
    "spurious": ("#a6d8c9", "OO"),
    "ack_queue": ("#6b8e23", "oo"),
    "joining": ("#222222", ""),
    "closed": ("#111111", "OO"),
    "idle": ("#ffffff", ""),
}
"""Colour and hatch of each limiting factor."""

SHADES = ("#e69f00", "#0b3d70", "#56b4e9", "#7a1fa2", "#a6a6a6", "#222222")
"""Path colours for figures with thousands of points; neighbours differ in grey too."""

REASONS = ("fastest", "only", "faster_full", "passed_over", "out_of_turn")
"""Why data was sent on a path (docs/events.md), in the order of the lanes."""


def draw(name: str, run: TracedRun, chosen: Selection, size: tuple[float, float] | None = None) -> Figure:
    """Draws a figure by its name, in its default size or in `size` (width and height in inches)."""
    from mptcplab.plots.message_plot import messages
    from mptcplab.plots.responsive_layout import fit
    from mptcplab.plots.topology_plot import topology

    if name == "messages":
        return messages(run, chosen, size)

    known: dict[str, Callable[[TracedRun, Selection], Figure]] = {
        "sequence": sequence,
        "decisions": decisions,
        "limits": limits,
        "topology": topology,
    }
    figure = known[name](run, chosen)
    if size is not None:
        fit(figure, *size)
    return figure


def _column(rows: pa.Table, name: str) -> NDArray[Any]:
    return np.asarray(rows[name].to_pylist())


def sequence(run: TracedRun, chosen: Selection) -> Figure:
    """Data sequence numbers over time: first transmissions on each path, retransmissions and reinjections."""
    chosen, title = one_flow(run, chosen)
    rows = rows_of(run, chosen, "schedule,retransmission,reinjection")
    time, path, kind = _column(rows, "time_s"), _column(rows, "path"), _column(rows, "kind")
    offset = _column(rows, "offset").astype(float) / 1e6
    paths = [str(name) for name in dict.fromkeys(path.tolist())]
    drawn = {
        name: replace(look, color=SHADES[at % len(SHADES)])
        for at, (name, look) in enumerate(figure_style.looks(paths).items())
    }
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.2, height=4.4)
        small: dict[str, Any] = {"linestyle": "none", "rasterized": len(time) > 20_000}
        for name in paths:
            look, mine = drawn[name], path == name
            sent = mine & (kind == "schedule")
            size = 2.0 if sent.sum() > 400 else 3.5
            axes.plot(time[sent], offset[sent], marker=look.marker, markersize=size, color=look.color,
                      markeredgewidth=0, label=f"{name}: sent (n = {sent.sum()})", **small)  # fmt: skip
            for which, marker, word in (
                ("retransmission", "x", "retransmitted"),
                ("reinjection", "^", "reinjected"),
            ):
                again = mine & (kind == which)
                if again.any():
                    face = "none" if marker == "^" else look.color
                    axes.plot(time[again], offset[again], marker=marker, markersize=6.5, color=look.color,
                              markerfacecolor=face, markeredgewidth=1.3,
                              label=f"{name}: {word} (n = {again.sum()})", **small)  # fmt: skip
        figure_style.finish(axes, x="time [s]", y="data sequence number [MB]", title=title, legend=None)
        axes.set_ylim(float(offset.min()), None)
        axes.legend(loc="upper left", markerscale=1.8)
    return figure


def decisions(run: TracedRun, chosen: Selection) -> Figure:
    """Scheduler decisions: one lane per path and reason, darker at times with more decisions."""
    chosen, title = one_flow(run, chosen)
    rows = rows_of(run, chosen, "schedule")
    time, path, what = _column(rows, "time_s"), _column(rows, "path"), _column(rows, "what")
    lanes = [(str(name), why) for name in sorted(set(path.tolist())) for why in REASONS
             if ((path == name) & (what == why)).any()][:MOST_LANES]  # fmt: skip
    edges = np.linspace(time.min(), max(time.max(), time.min() + 1e-6), 241)
    counts = np.array([np.histogram(time[(path == name) & (what == why)], edges)[0] for name, why in lanes])
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.6, height=max(1.9, 0.42 * len(lanes) + 1.2))
        axes.grid(visible=False)
        shown = np.where(counts > 0, np.log1p(counts), np.nan)
        grid = np.arange(len(lanes) + 1) - 0.5
        mesh = axes.pcolormesh(
            edges, grid, shown, cmap="Greys", vmin=-0.6, vmax=float(np.nanmax(shown)), rasterized=True
        )
        mesh.set_edgecolor("face")
        labels = [
            f"{name}: {_as_text(why)} (n = {int(total)})"
            for (name, why), total in zip(lanes, counts.sum(1), strict=True)
        ]
        axes.set_yticks(range(len(lanes)), labels)
        axes.invert_yaxis()
        axes.set_xlabel("time [s]")
        axes.set_title(f"{title}: scheduler decisions by path")
    return figure


def _as_text(why: str) -> str:
    return {
        "fastest": "lowest RTT",
        "only": "only path",
        "faster_full": "faster paths were full",
        "passed_over": "faster path was skipped",
        "out_of_turn": "not chosen by the scheduler",
    }[why]


def limits(run: TracedRun, chosen: Selection) -> Figure:
    """The limiting factor of each path over time."""
    rows = rows_of(run, chosen, "subflow_blocked")
    lanes = list(dict.fromkeys(zip(rows["flow"].to_pylist(), rows["path"].to_pylist(), strict=True)))
    flows = list(dict.fromkeys(flow for flow, _ in lanes))
    lanes.sort(key=lambda lane: flows.index(lane[0]))
    several = len(flows) > 1
    more, lanes = len(lanes) - MOST_LANES, lanes[:MOST_LANES]
    end = float(rows["time_s"].to_numpy().max())
    if chosen.until is None and run.duration:
        end = max(end, run.duration)
    used: dict[str, None] = {}
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.6, height=0.5 * len(lanes) + 1.7)
        axes.grid(visible=False)
        for at, lane in enumerate(lanes):
            used |= dict.fromkeys(bars(axes, at, rows, lane, end))
        names = [f"{flow} {path}" if several else str(path) for flow, path in lanes]
        axes.set_yticks(range(len(lanes)), names)
        axes.set_ylim(len(lanes) - 0.5, -0.5)
        axes.set_xlabel("time [s]")
        note = f" (the first {MOST_LANES} of {MOST_LANES + more} rows)" if more > 0 else ""
        axes.set_title(f"limiting factors of each path{note}")
        handles = [patch(limit) for limit in WORDS if limit in used]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def bars(  # noqa: PLR0913, RUF100 - the parts of a lane
    axes: Axes,
    at: int,
    rows: pa.Table,
    lane: tuple[str, str],
    end: float,
    columns: int = COLUMNS,
    looks: Mapping[str, tuple[str, str]] = LIMIT_LOOKS,
) -> list[str]:
    """Draws the lane of a flow on a path; returns the causes drawn. A column shows its longest cause."""
    mine = [row for row in rows.to_pylist() if (row["flow"], row["path"]) == lane]
    starts = np.array([row["time_s"] for row in mine])
    names = list(dict.fromkeys(row["what"] for row in mine))
    states = np.array([names.index(row["what"]) for row in mine])
    edges = np.linspace(starts[0], max(end, starts[0] + 1e-9), columns + 1)
    looked = np.linspace(edges[0], edges[-1], columns * LOOKS, endpoint=False)
    found = states[np.searchsorted(starts, looked, side="right") - 1].reshape(columns, LOOKS)
    longest = np.array([np.bincount(column, minlength=len(names)).argmax() for column in found])
    changes = [0, *(np.flatnonzero(np.diff(longest)) + 1).tolist(), columns]
    for first, last in itertools.pairwise(changes):
        color, hatch = looks.get(names[longest[first]], ("#ffffff", ""))
        axes.barh(at, edges[last] - edges[first], 0.62, left=edges[first], color=color, hatch=hatch,
                  edgecolor="#333333", linewidth=0.0 if last - first < 4 else 0.3)  # fmt: skip
    return [names[state] for state in dict.fromkeys(longest.tolist())]


def patch(limit: str, looks: Mapping[str, tuple[str, str]] = LIMIT_LOOKS) -> Any:
    """The legend entry of a cause."""
    from matplotlib.patches import Patch

    color, hatch = looks[limit]
    return Patch(facecolor=color, hatch=hatch, edgecolor="#333333", linewidth=0.4, label=WORDS[limit])
