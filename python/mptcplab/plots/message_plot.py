"""The figure `messages` of `mptcplab events`: a sequence diagram of the first MPTCP options between two hosts.

Owns the matching of transmissions and arrivals. Equal options on one path arrive in the order of transmission. A
transmission without an arrival was lost, or its arrival was not traced.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mptcplab.plots import figure_style
from mptcplab.plots.event_rows import one_flow, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.results.read.event_log import Selection, TracedRun

MOST = 22
"""Maximum arrows in one diagram."""
PARTS = (0.3, 0.5, 0.66, 0.4, 0.58, 0.74, 0.22, 0.82, 0.9)
"""Positions of a label along an arrow, as shares of its length; the best first."""
LETTER, LINE = 0.094, 0.5
"""Width of a letter in inches; height of a label in time steps."""
WIDE, STEP, ROOM = 6.6, 0.29, 1.0
"""Inches: width of the figure, height of a time step, sum of the margins above and below."""

Spot = tuple[float, float, float]
"""Position of the middle of a label, and its width."""


@dataclass
class Message:
    """Options sent from host to host: one segment, or several equal ones."""

    sender: str
    path: str
    text: str
    left: float
    came: float | None = None
    """Times of transmission and arrival, s; no arrival if the segment was lost."""
    count: int = 1
    payload: int = 0

    @property
    def label(self) -> str:
        """The label of the arrow."""
        times = f"{self.count} × " if self.count > 1 else ""
        return f"{times}{self.text}{f', {self.payload} B' if self.payload else ''}"


def messages(run: TracedRun, chosen: Selection, size: tuple[float, float] | None = None) -> Figure:
    """Arrows from host to host in the order of time; each path has its own look.

    With a `size` in inches, the figure shows as many arrows as fit.
    """
    chosen, title = one_flow(run, chosen)
    width = size[0] if size else WIDE
    rows = rows_of(run, chosen, "option_out,option_in,dss_out,dss_in").to_pylist()
    hosts = list(dict.fromkeys(row["host"] for row in rows))[:2]
    found = grouped(pair(rows[: 400 * MOST]))[:MOST]
    while size and len(found) > 1 and STEP * len(_moments(found)) + ROOM > size[1]:
        found.pop()
    drawn = figure_style.looks(list(dict.fromkeys(one.path for one in found)))
    place = {moment: float(at) for at, moment in enumerate(_moments(found))}
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(
            width=width, height=size[1] if size else max(2.6, STEP * len(place) + ROOM)
        )
        axes.axis("off")
        for at, host in enumerate(hosts):
            axes.plot([at, at], [-0.6, len(place) - 0.4], color="#222222", linewidth=1.2)
            axes.text(at, -1.1, host, ha="center", va="bottom", fontweight="bold", fontsize=11)
        taken: list[Spot] = []
        # Lost arrows are short, so their labels are placed first.
        for one in sorted(found, key=lambda one: one.came is not None):
            _arrow(axes, one, hosts, place, drawn[one.path], taken, LETTER / width)
        for path, look in drawn.items():
            axes.plot([], [], color=look.color, linestyle=look.line, label=path)
        offset = 0.22 * WIDE / width
        axes.set_xlim(-offset, 1 + offset)
        axes.set_ylim(len(place) + 0.2, -2.0)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.06), ncols=4)
        axes.set_title(textwrap.fill(title, max(12, int(width / 0.092))))
    return figure


def _moments(found: list[Message]) -> list[float]:
    return sorted({one.left for one in found} | {one.came for one in found if one.came is not None})


def _arrow(  # noqa: PLR0913, RUF100 - the parts of an arrow
    axes: Axes,
    one: Message,
    hosts: list[str],
    place: dict[float, float],
    look: figure_style.Look,
    taken: list[Spot],
    letter: float,
) -> None:
    start = hosts.index(one.sender) if one.sender in hosts else 0
    begin = place[one.left]
    x, end = (1.0 - start, place[one.came]) if one.came is not None else (0.5, begin + 0.6)
    style = {"arrowstyle": "-|>", "color": look.color, "linestyle": look.line, "linewidth": 1.4}
    axes.annotate("", (x, end), (start, begin), arrowprops=style)
    if one.came is None:
        axes.plot([x], [end], marker="X", color=look.color, markersize=9)
        taken.append((x, end, 2 * letter))
    # A label is no longer than its arrow.
    label = textwrap.fill(one.label.replace(" B", "\u00a0B"), max(12, int(1 / letter)))
    there, at = _spot(letter * max(map(len, label.split("\n"))), (start, begin), (x, end), taken)
    axes.text(there, at, label, ha="center", va="center",
              fontsize=8.5, color="#111111", bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    side, offset = ("right", -0.02) if start == 0 else ("left", 1.02)
    axes.text(offset, begin, f"{one.left * 1e3:.2f} ms", ha=side, va="center", fontsize=8)


def _spot(wide: float, begin: tuple[float, float], end: tuple[float, float], taken: list[Spot]) -> tuple[float, float]:
    """The position of a label along an arrow that hides the fewest labels and hosts."""

    def hidden(part: float) -> float:
        x, y = (begin[axis] + (end[axis] - begin[axis]) * part for axis in (0, 1))
        outside = max(0.0, wide / 2 - x, x + wide / 2 - 1) * LINE
        return outside + sum(
            max(0.0, (wide + width) / 2 - abs(x - there)) * max(0.0, LINE - abs(y - at)) for there, at, width in taken
        )

    part = min(PARTS, key=lambda one: (round(hidden(one), 6), PARTS.index(one)))
    x, y = (begin[axis] + (end[axis] - begin[axis]) * part for axis in (0, 1))
    taken.append((x, y, wide))
    return x, y


def pair(rows: list[dict[str, Any]]) -> list[Message]:
    """The transmitted options, each with its arrival."""
    sent: list[Message] = []
    waiting: dict[tuple[str, str], dict[str, deque[Message]]] = defaultdict(lambda: defaultdict(deque))
    for row in rows:
        key = (row["path"], f"{_word(row)} {row['bytes']} {row['data_ack']} {row['data_seq']}")
        if row["kind"].endswith("_out"):
            payload = row["bytes"] if row["kind"] == "dss_out" and row["bytes"] else 0
            sent.append(Message(row["host"], row["path"], _word(row), row["time_s"], payload=payload))
            waiting[key][row["host"]].append(sent[-1])
            continue
        for sender, queue in waiting[key].items():
            if sender != row["host"] and queue:
                queue.popleft().came = row["time_s"]
                break
    return sent


def grouped(sent: list[Message]) -> list[Message]:
    """Merges consecutive equal DSS options of a host on one path into one arrow."""
    rows: list[Message] = []
    open_: dict[tuple[str, str], Message] = {}
    for one in sent:
        key = (one.sender, one.path)
        last = open_.get(key)
        if (
            last is not None
            and last.text == one.text
            and one.text.startswith("DSS")
            and (one.came is None) == (last.came is None)
        ):
            last.count += 1
            last.payload += one.payload
            continue
        rows.append(one)
        open_[key] = one
    return rows


def _word(row: dict[str, Any]) -> str:
    if row["kind"].startswith("dss"):
        return {"data_fin": "DSS with DATA_FIN", "mapping": "DSS with data"}.get(row["what"], "DSS with DATA_ACK")
    number = row["number"]
    if number is None:
        return str(row["what"].upper())
    label = {"mp_capable": f" v{number}", "mp_prio": " backup" if number else " regular"}
    return f"{row['what'].upper()}{label.get(row['what'], f' id {number}')}"
