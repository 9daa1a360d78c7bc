"""The charts of one connection: rates, time-sequence, data in flight, RTTs, and the time per limit.

Owns the choice of series and their order. `charts` draws them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mptcplab.doctor import words
from mptcplab.doctor.charts import Chart, Series, Shape, binned, draw, mean, resampled

Json = Mapping[str, Any]

SUBFLOWS = 8
"""Subflows with a colour, at most; those with most data."""
_DENSE = 0.7
"""Share of steps with an RTT, above which a line shows them."""
POINTS = 130
"""Steps of a chart, at most; more of them show the bursts of each RTT, and hide the course."""

LIMIT_COLOURS = {
    "growth": "l-growth",
    "loss": "l-loss",
    "application": "l-application",
    "window": "l-window",
    "head-of-line": "l-blocking",
    "unused": "l-unused",
    "backup": "l-backup",
    "dead": "l-dead",
}
"""Classes of the style sheet, in the order of the bar."""


def charted(connection: Json) -> list[int]:
    """The subflows with charts: those with most data, in their order."""
    side = words.sending(connection)
    sizes = [(one["data"][side]["bytes"], -number) for number, one in enumerate(connection["subflows"])]
    largest = sorted((size for size in sizes if size[0]), reverse=True)[:SUBFLOWS]
    return sorted(-number for _, number in largest)


def colour(connection: Json, number: int) -> str:
    """The class of a subflow; grey if it has no chart."""
    order = charted(connection)
    return f"s{order.index(number) + 1}" if number in order else "s0"


def charts(connection: Json) -> str:
    """The charts as HTML; empty without data."""
    side = words.sending(connection)
    data = connection["data"][side]
    if not data["series"]["goodput"] or not data["bytes"]:
        return ""
    grid = _grid(data)
    marks = [
        (proof["time"], str(number))
        for number, one in enumerate(connection["verdicts"][:9], 1)
        for proof in one["evidence"][:3]
    ]
    subflows = [(number, connection["subflows"][number]["data"][side]) for number in charted(connection)]
    drawn = [
        draw(_rates(connection, data, subflows, grid, marks)),
        draw(_sequence(connection, subflows, grid)),
        draw(_flight(data, grid)),
        draw(_round_trips(connection, subflows, grid)),
    ]
    return "".join(drawn)


Grid = tuple[float, float, int]


def _grid(data: Json) -> Grid:
    """The time steps of all charts: those of the data, from its first to its last byte."""
    series = data["series"]
    factor = max(1, math.ceil(len(series["goodput"]) / POINTS))
    return series["start"], series["step"] * factor, math.ceil(len(series["goodput"]) / factor)


def _name(connection: Json, number: int) -> str:
    one = connection["subflows"][number]
    return f"subflow {number + 1} ({_address(one['ends'][0])})"


def _address(end: str) -> str:
    return end.rpartition(":")[0].strip("[]") or end


def _rates(connection: Json, data: Json, subflows: Sequence[tuple[int, Json]], grid: Grid, marks: Any) -> Chart:
    series = [
        Series(
            _name(connection, number),
            colour(connection, number),
            "area",
            resampled(one["series"]["rate"], one["series"]["start"], one["series"]["step"], grid),
        )
        for number, one in subflows
    ]
    own = {name: resampled(data["series"][name], *_steps(data), grid) for name in ("goodput", "reinjected")}
    series.append(Series("goodput", "ink", "line", own["goodput"]))
    if any(own["reinjected"]):
        series.append(Series("reinjected", "accent", "dashed", own["reinjected"]))
    stack = [sum(values) for values in zip(*(one.values for one in series if one.shape == "area"), strict=True)]
    most, peak = 1.3 * max(stack, default=0.0), max(own["goodput"])
    notes = ["Acknowledged data."]
    if peak > most > 0:
        notes.append(f"Goodput peaks at {words.rate(peak)}, above this chart, when missing data arrives.")
    if marks:
        notes.append("Numbers at the top mark the packets that prove a verdict.")
    shares = ", ".join(f"subflow {number + 1} {words.percent(one['share'])}" for number, one in subflows)
    return Chart(
        "Rate by subflow",
        "Mb/s",
        *grid[:2],
        series,
        words.rate,
        note=" ".join(notes),
        marks=marks,
        most=most or None,
        summary=f"Goodput {words.rate(data['goodput'])}. Shares: {shares}.",
    )


def _sequence(connection: Json, subflows: Sequence[tuple[int, Json]], grid: Grid) -> Chart:
    series: list[Series] = []
    lost = retransmitted = 0
    for number, one in subflows:
        values = _sent(connection["subflows"][number], one)
        steps = one["series"]["start"], one["series"]["step"]
        line = binned(values, *steps, grid, max)
        series.append(Series(_name(connection, number), colour(connection, number), "line", line))
        losses = binned(one["series"]["lost"], *steps, grid, sum)
        lost += one["lost"]
        retransmitted += one["retransmissions"]
        if any(losses):
            name = f"lost on subflow {number + 1}"
            series.append(Series(name, "loss", "dots", losses, line, _count))
    again = [resampled(one["series"]["retransmitted"], *_steps(one), grid) for _, one in subflows]
    total = [sum(values) for values in zip(*again, strict=True)]
    if any(total):
        series.append(Series("retransmitted", "retransmitted", "rug", total, text=words.rate))
    return Chart(
        "Time-sequence",
        "MB sent",
        *grid[:2],
        series,
        lambda value: words.size(value * 1e6),
        note="Dots are losses. Ticks at the bottom are retransmissions.",
        summary=f"{lost} segments were lost, and {retransmitted} retransmitted.",
    )


def _sent(subflow: Json, data: Json) -> list[float | None]:
    """The highest number sent until each step, MB; relative to the first one if the SYN was not captured."""
    sent = data["series"]["sent"]
    base = next((one for one in sent if one), 0) if subflow["handshake"] == "not seen" else 0
    values: list[float | None] = []
    highest = 0
    for position in sent:
        highest = max(highest, position)
        values.append((highest - base) / 1e6 if highest else None)
    return values


def _steps(data: Json) -> tuple[float, float]:
    return data["series"]["start"], data["series"]["step"]


def _count(value: float) -> str:
    return words.plural(round(value), "segment")


def _flight(data: Json, grid: Grid) -> Chart:
    names = ("flight", "window", "out_of_order")
    own = {name: binned(values, *_steps(data), grid, max) for name, values in _held(data["series"], names).items()}
    flight, left, waiting = ([(value or 0.0) / 1e3 for value in own[name]] for name in names)
    largest = data["largest_window"] / 1e3
    # A window that is much larger than the data in flight would flatten everything else.
    is_far = largest > 6 * max(max(flight, default=0.0), 1.0)
    series = [Series("in flight", "s1", "line", flight)]
    if any(waiting):
        series.append(Series("out of order at the receiver", "accent", "line", waiting))
    if not is_far and largest:
        series.append(Series("window left", "faint", "line", left))
        series.append(Series("largest receive window", "loss", "dashed", [largest] * len(flight)))
    far = f"The receive window, up to {words.size(data['largest_window'])}, is above this chart." if is_far else ""
    return Chart(
        "Data in flight and receive window",
        "kB",
        *grid[:2],
        series,
        lambda value: words.size(value * 1e3),
        note=far,
        summary=f"At most {words.size(data['largest_flight'])} in flight, {words.size(data['largest_out_of_order'])} "
        f"out of order; receive window at most {words.size(data['largest_window'])}.",
    )


def _held(series: Json, names: Sequence[str]) -> dict[str, list[float]]:
    """Series without the steps in which nothing was captured; there, the values of the step before hold."""
    held: list[tuple[float, ...]] = []
    for values in zip(*(series[name] for name in names), strict=True):
        held.append(held[-1] if held and not any(values) else values)
    return {name: [float(values[place]) for values in held] for place, name in enumerate(names)}


def _round_trips(connection: Json, subflows: Sequence[tuple[int, Json]], grid: Grid) -> Chart:
    series = []
    for number, one in subflows:
        values = binned(one["series"]["rtt"], *_steps(one), grid, mean)
        if any(value is not None for value in values):
            series.append(Series(_name(connection, number), colour(connection, number), _form(values), values))
    medians = ", ".join(
        f"subflow {number + 1} {words.milliseconds(one['median_rtt'])} ms"
        for number, one in subflows
        if one["median_rtt"] is not None
    )
    return Chart(
        "RTT",
        "ms",
        *grid[:2],
        series,
        lambda value: f"{words.milliseconds(value)} ms",
        note="Mean of each time step; from data to its acknowledgement, where the capture was made.",
        summary=f"Medians: {medians or 'none'}.",
    )


def _form(values: Sequence[float | None]) -> Shape:
    """A line; points, if many steps have no value."""
    known = [number for number, value in enumerate(values) if value is not None]
    return "line" if len(known) > _DENSE * (known[-1] - known[0] + 1) else "points"


def limits(connection: Json) -> str:
    """A bar for each subflow: the share of its time in each limit."""
    side = words.sending(connection)
    rows = "".join(_limit_rows(connection, side))
    if not rows:
        return ""
    used = {one["limit"] for flow in connection["subflows"] for one in flow["data"][side]["missing"]}
    legend = "".join(
        f'<li><i class="area {of}"></i>{words.escaped(words.LIMITS[name][0])}'
        f"<small>: {words.escaped(words.LIMITS[name][1])}</small></li>"
        for name, of in LIMIT_COLOURS.items()
        if name in used
    )
    return f"""<figure class="limits"><figcaption><h4>Time per limit <small>[% of the time]</small></h4></figcaption>
{rows}<ul class="legend tall">{legend}</ul></figure>"""


def _limit_rows(connection: Json, side: int) -> Iterator[str]:
    for number, one in enumerate(connection["subflows"][:SUBFLOWS]):
        shares = dict(words.limits(one, side, 0.0))
        if not shares:
            continue
        parts = [(name, of, shares[name]) for name, of in LIMIT_COLOURS.items() if shares.get(name, 0.0) > 0.002]
        label = ", ".join(f"{words.LIMITS[name][0]} {words.percent(share)}" for name, _, share in parts)
        bars = "".join(
            f'<span class="{of}" style="width:{share:.2%}" title="{words.escaped(words.LIMITS[name][0])} '
            f'{words.percent(share)}">{words.percent(share) if share >= 0.09 else ""}</span>'
            for name, of, share in parts
        )
        yield (
            f'<div class="limit"><span><i class="area {colour(connection, number)}"></i>subflow {number + 1}</span>'
            f'<div class="bar" role="img" aria-label="subflow {number + 1}: {words.escaped(label)}">{bars}</div></div>'
        )
