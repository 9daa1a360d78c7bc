"""Draws charts over time as HTML with inline SVG, for the report of `mptcplab doctor`.

Owns scales, axes and shapes; knows nothing of captures. The SVG stretches with the page, and all text is HTML, so that
it keeps its size on a phone. Each chart has its values as JSON, which the script of the page shows under the cursor.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mptcplab.doctor.words import escaped

WIDTH, HEIGHT = 1000, 400
"""Size of the drawing in its own units."""
_NEAR = 0.045
"""Distance of marks that would overlap, as a share of the width."""

Shape = Literal["line", "dashed", "points", "area", "dots", "rug"]
Values = Sequence[float | None]


@dataclass(frozen=True)
class Series:
    """Values in equal time steps, and the shape that shows them.

    An `area` is stacked on the areas before it. `points` are joined across steps without a value. `dots` and `rug` mark
    the steps with a value: dots at the height `at`, and ticks at the bottom.
    """

    name: str
    colour: str
    """A class of the style sheet, such as `s1`."""
    shape: Shape
    values: Values
    at: Values = ()
    text: Callable[[float], str] | None = None
    """Formats a value; None for that of the chart."""


@dataclass(frozen=True)
class Chart:
    """A chart over time."""

    title: str
    unit: str
    start: float
    step: float
    series: Sequence[Series]
    text: Callable[[float], str]
    """Formats a value."""
    note: str = ""
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    """Times with a label at the top."""
    most: float | None = None
    """The top of the axis, if larger values should be cut off."""
    summary: str = ""
    """The content in a sentence, for people who cannot see it."""


def nice(most: float, count: int = 4) -> list[float]:
    """Ticks from 0 at multiples of 1, 2 or 5; the last one is at least `most`."""
    if not math.isfinite(most) or most <= 0:
        return [0.0, 1.0]
    rough = most / count
    scale: float = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * one for one in (1, 2, 5, 10) if scale * one >= rough * 0.999)
    return [step * number for number in range(math.ceil(most / step * 0.999) + 1)]


def resampled(values: Values, start: float, step: float, grid: tuple[float, float, int]) -> list[float]:
    """The mean in each step of a grid (start, step, count); time outside of the values counts as 0."""
    first, width, count = grid
    known = np.array([0.0 if one is None else one for one in values])
    edges = start + step * np.arange(len(known) + 1)
    total = np.concatenate([[0.0], np.cumsum(known * step)])
    at = np.interp(first + width * np.arange(count + 1), edges, total)
    return [float(one) for one in np.diff(at) / width]


def binned(
    values: Values, start: float, step: float, grid: tuple[float, float, int], combine: Callable[[list[float]], float]
) -> list[float | None]:
    """The values in each step of a grid, combined; None where there is none. A longer step counts once."""
    first, width, count = grid
    bins: list[list[float]] = [[] for _ in range(count)]
    for number, value in enumerate(values):
        place = math.floor((start + (number + 0.5) * step - first) / width)
        if value is not None and 0 <= place < count:
            bins[place].append(value)
    return [combine(one) if one else None for one in bins]


def mean(values: list[float]) -> float:
    """The mean."""
    return sum(values) / len(values)


def _short(number: float) -> str:
    """A coordinate with one digit."""
    text = f"{number:.1f}"
    return text.removesuffix(".0")


def draw(chart: Chart) -> str:
    """The chart as an HTML figure."""
    count = max((len(one.values) for one in chart.series), default=0)
    if count == 0:
        return ""
    most = _top(chart.series, count)
    ticks = nice(most if chart.most is None else min(most, chart.most))
    top, length = ticks[-1], chart.step * count
    shapes = "".join(_shapes(chart.series, count, top))
    grid = "".join(f'<path d="M0 {_short(HEIGHT - tick / top * HEIGHT)}H{WIDTH}"/>' for tick in ticks)
    y_labels = "".join(f'<span style="bottom:{tick / top:.2%}">{escaped(_tick(tick, top))}</span>' for tick in ticks)
    marks = "".join(
        f'<span class="mark" style="left:{_part(time, chart.start, length):.2%}">{escaped(label)}</span>'
        for time, label in _merged(chart.marks, chart.start, length)
    )
    legend = "".join(
        f'<li><i class="{one.shape} {one.colour}"></i>{escaped(one.name)} <b></b></li>' for one in chart.series
    )
    note = f'<p class="remark">{escaped(chart.note)}</p>' if chart.note else ""
    label = escaped(f"{chart.title} [{chart.unit}]. {chart.summary}".strip())
    return f"""<figure class="chart" data-start="{chart.start:.6g}" data-step="{chart.step:.6g}" data-count="{count}">
<figcaption><h4>{escaped(chart.title)} <small>[{escaped(chart.unit)}]</small></h4>
<span class="now" aria-hidden="true"></span></figcaption>
<div class="frame"><div class="y" aria-hidden="true">{y_labels}</div>
<div class="plot"><svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">
<g class="grid">{grid}</g>{shapes}</svg>{marks}<span class="cursor" hidden></span></div>
<div class="x" aria-hidden="true">{_x_labels(chart.start, length)}</div></div>
<ul class="legend">{legend}</ul>{note}
<script type="application/json">{_data(chart)}</script></figure>
"""


def _merged(marks: Sequence[tuple[float, str]], start: float, length: float) -> list[tuple[float, str]]:
    """The marks within the chart; those that would overlap share a label."""
    merged: list[tuple[float, list[str]]] = []
    for time, label in sorted(marks):
        if not start <= time <= start + length:
            continue
        if merged and time - merged[-1][0] < _NEAR * length:
            if label not in merged[-1][1]:
                merged[-1][1].append(label)
        else:
            merged.append((time, [label]))
    return [(time, ",".join(sorted(labels))) for time, labels in merged]


def _part(time: float, start: float, length: float) -> float:
    return (time - start) / length if length > 0 else 0.0


def _tick(tick: float, top: float) -> str:
    if tick == 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(top)))
    return f"{tick:,.{min(digits, 6)}f}".rstrip("0").rstrip(".") if digits else f"{tick:,.0f}"


def _x_labels(start: float, length: float) -> str:
    """Labels of times, with the unit at the last one."""
    ticks = nice(length, 5)
    step = ticks[1] if len(ticks) > 1 else length
    # A start of some ms counts as 0.
    first = math.ceil(start / step - 0.03) * step
    times = [first + number * step for number in range(len(ticks) + 1) if first + number * step <= start + length]
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
    return "".join(
        f'<span style="left:{max(0.0, _part(time, start, length)):.2%}">{time:.{min(digits, 6)}f} s</span>'
        for time in times
    )


def _top(series: Sequence[Series], count: int) -> float:
    """The largest value of lines, and of stacked areas."""
    stack = np.zeros(count)
    most = 0.0
    for one in series:
        values = [value for value in one.values if value is not None]
        if one.shape == "area":
            stack[: len(one.values)] += [value or 0.0 for value in one.values]
        elif one.shape in {"line", "dashed", "points"} and values:
            most = max(most, *values)
    return max(most, float(stack.max(initial=0.0)))


def _shapes(series: Sequence[Series], count: int, top: float) -> list[str]:
    base = np.zeros(count)
    middle = [(number + 0.5) / count * WIDTH for number in range(count)]
    found = []
    for one in series:
        if one.shape == "area":
            values = np.array([value or 0.0 for value in one.values])
            values = np.pad(values, (0, count - len(values)))
            found.append(f'<path class="area {one.colour}" d="{_area(middle, base, base + values, top)}"/>')
            base = base + values
        elif one.shape in {"line", "dashed"}:
            found.append(f'<path class="{one.shape} {one.colour}" d="{_line(middle, one.values, top)}"/>')
        elif one.shape == "points":
            known = [(x, value) for x, value in zip(middle, one.values, strict=False) if value is not None]
            joined = "L".join(f"{_short(x)} {_short(HEIGHT - value / top * HEIGHT)}" for x, value in known)
            dots = "".join(f"M{_short(x)} {_short(HEIGHT - value / top * HEIGHT)}h.1" for x, value in known)
            found.append(f'<path class="thin {one.colour}" d="M{joined}"/>' if known else "")
            found.append(f'<path class="points {one.colour}" d="{dots}"/>')
        elif one.shape == "dots":
            points = zip(middle, one.values, one.at, strict=False)
            dots = "".join(
                f"M{_short(x)} {_short(HEIGHT - at / top * HEIGHT)}h.1"
                for x, value, at in points
                if value and at is not None
            )
            found.append(f'<path class="dots {one.colour}" d="{dots}"/>')
        else:
            ticks = "".join(f"M{_short(x)} {HEIGHT}v-14" for x, value in zip(middle, one.values, strict=False) if value)
            found.append(f'<path class="rug {one.colour}" d="{ticks}"/>')
    return found


def _line(middle: Sequence[float], values: Values, top: float) -> str:
    """A line with gaps at steps without a value; a lone value is a short dash."""
    parts = []
    is_open = False
    for number, value in enumerate(values):
        if value is None:
            is_open = False
            continue
        y = _short(HEIGHT - value / top * HEIGHT)
        x = middle[number]
        is_alone = not is_open and (number + 1 == len(values) or values[number + 1] is None)
        parts.append(f"M{_short(x - 1)} {y}h2" if is_alone else f"{'L' if is_open else 'M'}{_short(x)} {y}")
        is_open = True
    return "".join(parts)


def _area(middle: Sequence[float], low: np.ndarray, high: np.ndarray, top: float) -> str:
    upper = [f"{_short(x)} {_short(HEIGHT - y / top * HEIGHT)}" for x, y in zip(middle, high, strict=True)]
    lower = [f"{_short(x)} {_short(HEIGHT - y / top * HEIGHT)}" for x, y in zip(middle, low, strict=True)]
    return f"M{'L'.join(upper)}L{'L'.join(reversed(lower))}Z"


def _data(chart: Chart) -> str:
    """The texts of the values, for the script; `<` cannot end the element."""
    texts = [
        [None if value is None else (one.text or chart.text)(value) for value in one.values] for one in chart.series
    ]
    return json.dumps(texts, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
