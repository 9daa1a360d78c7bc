"""Hosts, routers and links of a scenario, the links labelled with what they are.

Owns the layout: nodes in columns by their distance from the first host, links between the same two side by side.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from mptcplab import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.traced import Selection, TracedRun

MOST_LABELS = 24
"""Links that get a label; of more, only their lines are drawn."""


def topology(run: TracedRun, chosen: Selection) -> Figure:
    """Boxes and lines."""
    del chosen
    links = _links(run.scenario)
    places = _layout(links)
    between: dict[frozenset[str], list[tuple[str, str, str, dict[str, Any]]]] = defaultdict(list)
    for link in links:
        between[frozenset(link[:2])].append(link)
    rows = max((len(group) for group in between.values()), default=1)
    height = max(2.4, 0.62 * max(rows, max((y for _, y in places.values()), default=0) + 1.0) + 1.2)
    with plots.house_style():
        figure, (axes,) = plots.new_figure(width=7.2, height=min(height, 14))
        axes.axis("off")
        drawn = plots.looks([link[2] for link in links])
        for group in between.values():
            for at, (a, b, name, table) in enumerate(group):
                bend = (at - (len(group) - 1) / 2) * (0.62 if len(group) < 12 else 7.0 / len(group))
                (xa, ya), (xb, yb) = places[a], places[b]
                middle = ((xa + xb) / 2, (ya + yb) / 2 + bend)
                look = drawn[name]
                axes.plot([xa, middle[0] - 0.25 * (xb - xa), middle[0] + 0.25 * (xb - xa), xb],
                          [ya, middle[1], middle[1], yb], color=look.color, linestyle=look.line)  # fmt: skip
                if len(links) <= MOST_LABELS:
                    axes.text(*middle, f"{name}: {_label(table)}", ha="center", va="center", fontsize=9,
                              bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2})  # fmt: skip
        for name, (x, y) in places.items():
            axes.text(x, y, name, ha="center", va="center", fontsize=11, fontweight="bold", zorder=5,
                      bbox={"boxstyle": "round,pad=0.45", "facecolor": "#eeeeee", "edgecolor": "#222222"})  # fmt: skip
        axes.margins(0.14, 0.25)
        many = f", {len(links)} links" if len(links) > MOST_LABELS else ""
        axes.set_title(f"{run.scenario.get('name', 'scenario')}{many}")
    return figure


def _links(scenario: dict[str, Any]) -> list[tuple[str, str, str, dict[str, Any]]]:
    found = [("client", "server", name, table) for name, table in scenario.get("paths", {}).items()]
    for name, table in scenario.get("links", {}).items():
        ends = table.get("between", table.get("ends", ["?", "?"]))
        found.append((str(ends[0]), str(ends[1]), name, table))
    for name, table in scenario.get("stations", {}).items():
        cell = scenario.get("cells", {}).get(str(table.get("cell")), {})
        point = str(cell.get("access_point", table.get("cell", "?")))
        found.append((str(table.get("host", "client")), point, name, table))
    return found


def _layout(links: list[tuple[str, str, str, dict[str, Any]]]) -> dict[str, tuple[float, float]]:
    near: dict[str, dict[str, None]] = defaultdict(dict)
    for a, b, *_ in links:
        near[a][b] = None
        near[b][a] = None
    depth: dict[str, int] = {}
    for first in near:
        ring = deque([first] if first not in depth else [])
        depth.setdefault(first, 0)
        while ring:
            name = ring.popleft()
            for other in near[name]:
                if other not in depth:
                    depth[other] = depth[name] + 1
                    ring.append(other)
    columns: dict[int, list[str]] = defaultdict(list)
    for name, at in depth.items():
        columns[at].append(name)
    places = {}
    for at, names in columns.items():
        for row, name in enumerate(names):
            places[name] = (at * 2.0, row - (len(names) - 1) / 2)
    return places


def _label(table: dict[str, Any]) -> str:
    forward = table.get("forward", {}) if isinstance(table.get("forward"), dict) else {}
    parts = []
    for key in ("rate", "trace", "delay", "rtt", "loss", "queue"):
        value = forward.get(key, table.get(key))
        if isinstance(value, dict):
            value = value.get("kind")
        if value is not None and value not in ("0%", "0s", "1000p"):
            parts.append(f"{'loss ' if key == 'loss' else 'queue ' if key == 'queue' else ''}{value}")
    return ", ".join(parts)
