"""The first segments between two hosts with their options, as a sequence diagram.

Owns which sending belongs to which arrival: on one path, segments with the same options arrive in the order in which
they left, and what has no arrival was lost.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mptcplab import plots
from mptcplab.event_plots import one_flow, rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.traced import Selection, TracedRun

MOST = 24
"""Segments in one diagram."""


@dataclass
class Message:
    """A segment with its options."""

    sender: str
    path: str
    text: str
    left: float
    came: float | None = None


def messages(run: TracedRun, chosen: Selection) -> Figure:
    """Arrows from host to host, in the order of time; the paths by their looks."""
    chosen, title = one_flow(run, chosen)
    rows = rows_of(run, chosen, "option_out,option_in,dss_out,dss_in").to_pylist()
    hosts = list(dict.fromkeys(row["host"] for row in rows))[:2]
    found = pair(rows)[:MOST]
    drawn = plots.looks(list(dict.fromkeys(one.path for one in found)))
    moments = sorted({one.left for one in found} | {one.came for one in found if one.came is not None})
    place = {moment: float(at) for at, moment in enumerate(moments)}
    with plots.house_style():
        figure, (axes,) = plots.new_figure(width=6.6, height=max(2.6, 0.26 * len(moments) + 0.9))
        axes.grid(visible=False)
        axes.axis("off")
        for at, host in enumerate(hosts):
            axes.plot([at, at], [-0.6, len(moments) - 0.4], color="#222222", linewidth=1.2)
            axes.text(at, -1.1, host, ha="center", va="bottom", fontweight="bold", fontsize=11)
        for one in found:
            look = drawn[one.path]
            start = hosts.index(one.sender) if one.sender in hosts else 0
            stop = 1 - start
            arrived = one.came is not None
            low = place[one.came] if one.came is not None else place[one.left] + 0.6
            x = stop if arrived else (start + stop) / 2
            style = {"arrowstyle": "-|>", "color": look.color, "linestyle": look.line, "linewidth": 1.4}
            axes.annotate("", (x, low), (start, place[one.left]), arrowprops=style)
            if not arrived:
                axes.plot([x], [low], marker="X", color=look.color, markersize=9)
            middle, height = (start + x) / 2, (place[one.left] + low) / 2
            axes.text(middle, height, one.text, ha="center", va="center", fontsize=8.5, color="#111111",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.92})  # fmt: skip
            side = ("right", -0.02) if start == 0 else ("left", 1.02)
            axes.text(side[1], place[one.left], f"{one.left * 1e3:.2f} ms", ha=side[0], va="center", fontsize=8)
        for path, look in drawn.items():
            axes.plot([], [], color=look.color, linestyle=look.line, label=path)
        axes.set_xlim(-0.22, 1.22)
        axes.set_ylim(len(moments) + 0.2, -2.0)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.06), ncols=4)
        axes.set_title(title)
    return figure


def pair(rows: list[dict[str, Any]]) -> list[Message]:
    """The segments that left, each with its arrival."""
    sent = _segments([row for row in rows if row["kind"].endswith("_out")])
    waiting: dict[tuple[str, str, str], deque[Message]] = defaultdict(deque)
    for one in sent:
        waiting[one.sender, one.path, one.text].append(one)
    for came in _segments([row for row in rows if row["kind"].endswith("_in")]):
        for (sender, path, text), queue in waiting.items():
            if (
                sender != came.sender
                and (path, text) == (came.path, came.text)
                and queue
                and queue[0].left <= came.left
            ):
                queue.popleft().came = came.left
                break
    return sent


def _segments(rows: list[dict[str, Any]]) -> list[Message]:
    """Options of one host, path and moment are those of one segment."""
    segments: list[Message] = []
    for row in rows:
        text = _word(row)
        last = segments[-1] if segments else None
        fresh = last is None or (last.sender, last.path, last.left) != (row["host"], row["path"], row["time_s"])
        if fresh or (row["kind"].startswith("dss") and "DSS" in segments[-1].text) or row["kind"].startswith("option"):
            segments.append(Message(row["host"], row["path"], text, row["time_s"]))
        else:
            segments[-1].text += f", {text}"
    return segments


def _word(row: dict[str, Any]) -> str:
    if row["kind"].startswith("dss"):
        parts = []
        if row["what"] == "data_fin":
            parts.append("DATA_FIN")
        elif row["bytes"]:
            parts.append(f"{row['bytes']} B")
        if row["data_ack"] is not None and not row["bytes"]:
            parts.append("data ack")
        return f"DSS ({', '.join(parts)})" if parts else "DSS"
    number = "" if row["number"] is None else f" {row['number']}"
    label = {"mp_capable": " v", "mp_join": " id", "add_addr": " id", "remove_addr": " id"}.get(row["what"], "")
    return f"{row['what'].upper()}{label}{number.strip() and number}" if number else row["what"].upper()
