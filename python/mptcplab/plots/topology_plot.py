"""The figure `topology` of `mptcplab events`: hosts, routers and labelled links of a scenario.

Owns the layout: nodes in columns by their distance from the first host, parallel links side by side. A network that
links more than `MOST_LABELS` pairs of nodes, a fabric, has rows by distance from the hosts and type of node.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from mptcplab.plots import figure_style
from mptcplab.results.read.link_utilisation import kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.results.read.event_log import Selection, TracedRun

MOST_LABELS = 24
"""Maximum links with labels; with more links, labels are omitted."""
MOST_LETTERS = 84
"""Maximum letters of the names in a row, including the boxes; a longer row gets one name."""


def topology(run: TracedRun, chosen: Selection) -> Figure:
    """Draws nodes as boxes and links as lines; the selection of events is ignored."""
    del chosen
    links = _links(run.scenario)
    if len({frozenset(link[:2]) for link in links}) > MOST_LABELS:
        return _fabric(run.scenario, links)
    places = _layout(links)
    between: dict[frozenset[str], list[tuple[str, str, str, dict[str, Any]]]] = defaultdict(list)
    for link in links:
        between[frozenset(link[:2])].append(link)
    rows = max((len(group) for group in between.values()), default=1)
    height = max(2.4, 0.62 * max(rows, max((y for _, y in places.values()), default=0) + 1.0) + 1.2)
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.2, height=min(height, 14))
        axes.axis("off")
        drawn = figure_style.looks([link[2] for link in links])
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


def _fabric(scenario: dict[str, Any], links: list[tuple[str, str, str, dict[str, Any]]]) -> Figure:
    """Draws rows of nodes, hosts at the bottom; labels at the right describe the links between two rows."""
    rows = _rows(scenario, links)
    places = {
        name: ((at + 0.5) / len(names), float(row)) for row, names in enumerate(rows) for at, name in enumerate(names)
    }
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.2, height=1.25 * len(rows) + 0.7)
        axes.axis("off")
        message: dict[frozenset[float], dict[str, None]] = defaultdict(dict)
        for a, b, _, table in links:
            (xa, ya), (xb, yb) = places[a], places[b]
            axes.plot([xa, xb], [ya, yb], color="#555555", linewidth=0.9 if len(links) < 100 else 0.35, zorder=1)
            message[frozenset((ya, yb))][_label(table)] = None
        for between, labels in message.items():
            text = next(iter(labels)) if len(labels) == 1 else f"{len(labels)} types of links"
            axes.text(1.02, sum(between) / len(between), text, ha="left", va="center", fontsize=9)
        for row, names in enumerate(rows):
            letters = sum(len(name) + 2 for name in names)
            named = letters <= MOST_LETTERS
            size = 11 if letters <= MOST_LETTERS / 2 else 8.5
            for name in names:
                box = {"boxstyle": "round,pad=0.3", "facecolor": "#eeeeee", "edgecolor": "#222222", "linewidth": 0.8}
                if named:
                    axes.text(*places[name], name, ha="center", va="center", fontsize=size, zorder=5, bbox=box)
                else:
                    axes.plot(*places[name], marker="s", markersize=3.2, color="#222222", zorder=5)
            if not named:
                axes.text(-0.02, row, f"{len(names)} {kind(names[0])}", ha="right", va="center", fontsize=10)
        axes.margins(0.02, 0.12)
        axes.set_title(f"{scenario.get('name', 'scenario')}: {len(links)} links")
    return figure


def _rows(scenario: dict[str, Any], links: list[tuple[str, str, str, dict[str, Any]]]) -> list[list[str]]:
    """Nodes in rows by distance from the nearest host and by type, sorted by their numbers."""
    near: dict[str, list[str]] = defaultdict(list)
    for a, b, *_ in links:
        near[a].append(b)
        near[b].append(a)
    flows = scenario.get("flows", {}).values()
    hosts = {str(flow.get(end, usual)) for flow in flows for end, usual in (("from", "client"), ("to", "server"))}
    depth = {name: 0 for name in near if name in hosts} or dict.fromkeys(list(near)[:1], 0)
    ring = deque(depth)
    while ring:
        name = ring.popleft()
        for other in near[name]:
            if other not in depth:
                depth[other] = depth[name] + 1
                ring.append(other)
    rows: dict[tuple[int, str], list[str]] = defaultdict(list)
    for name in near:
        rows[depth.get(name, 0), kind(name)].append(name)
    numbers = lambda name: [int(part) for part in re.findall(r"\d+", name)]  # noqa: E731
    return [sorted(rows[key], key=numbers) for key in sorted(rows)]


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
