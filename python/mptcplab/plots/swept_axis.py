"""The horizontal axis of a figure over the values of a key: numbers of one unit to scale, or names side by side.

Owns units and ticks. Ticks are at the values, and those whose labels would overlap are omitted or rotated.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUMBER = re.compile(r"([0-9.]+(?:e-?[0-9]+)?)([a-zA-Z%]*)")
_BASE = {
    "ns": ("ms", 1e-6), "us": ("ms", 1e-3), "ms": ("ms", 1.0), "s": ("ms", 1e3),
    "bit": ("Mb/s", 1e-6), "kbit": ("Mb/s", 1e-3), "mbit": ("Mb/s", 1.0), "gbit": ("Mb/s", 1e3),
    "b": ("kB", 1e-3), "kb": ("kB", 1.024), "kib": ("kB", 1.024), "mb": ("kB", 1e3), "mib": ("kB", 1048.576),
    "%": ("%", 1.0), "p": ("packets", 1.0), "m": ("m", 1.0), "": ("", 1.0),
}  # fmt: skip
"""By lower-case unit of scenario files: unit of the axis, and factor. KB is 1024 bytes, kB 1000."""


AS_WRITTEN = {"KB": "KB = 1024 B", "KiB": "KiB", "MiB": "MiB", "MB": "MB"}
"""Units that an axis keeps if all values have the same one of them, and their labels."""


def number(value: str) -> tuple[float, str] | None:
    """A value as a number in the unit of its axis; None if it is not a number."""
    matched = _NUMBER.fullmatch(value)
    base = matched and (("kB", 1.0) if matched[2] == "kB" else _BASE.get(matched[2].lower()))
    return (float(matched[1]) * base[1], base[0]) if matched and base else None


def scale(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Values as numbers, and their unit; None if a value is not a number, units differ in type, or values repeat.

    A unit of `AS_WRITTEN` that all values have is kept: 50KB is drawn at 50.
    """
    written = [_NUMBER.fullmatch(value) for value in values]
    as_written = {one[2] for one in written if one}
    if all(written) and as_written in ({"KB"}, {"KiB"}, {"MiB"}, {"MB"}):
        own = [float(one[1]) for one in written if one]
        return (own, AS_WRITTEN[as_written.pop()]) if len(set(own)) == len(own) else None
    numbers, units = list[float](), set[str]()
    for value in values:
        found = number(value)
        if found is None:
            return None
        units.add(found[1])
        numbers.append(found[0])
    return (numbers, units.pop()) if len(units) == 1 and len(set(numbers)) == len(numbers) else None


LOGARITHMIC = 50
"""Positive values are on a logarithmic axis if the largest is at least this multiple of the smallest."""
LETTER = 0.62
"""Mean width of a letter, as a share of the font size."""
INCH = 72.0
"""Points."""
ROTATION = 35
"""Of labels that are too wide, in degrees."""


@dataclass(frozen=True)
class SweptAxis:
    """The axis of a key."""

    values: tuple[str, ...]
    """As written."""
    places: tuple[float, ...]
    """The place of each value: the number in `unit`, or the rank of a name."""
    unit: str
    """Empty without a unit."""
    is_to_scale: bool
    is_logarithmic: bool

    @classmethod
    def of(cls, values: Sequence[str], *, names: bool = False) -> SweptAxis:
        """The axis of these values; with `names`, side by side even if they are numbers."""
        found = None if names or len(values) < 2 else scale(values)
        if found is None:
            return cls(tuple(values), tuple(map(float, range(len(values)))), "", False, False)
        places, units = found
        wide = min(places) > 0 and max(places) / min(places) >= LOGARITHMIC
        return cls(tuple(values), tuple(places), units, True, wide)

    @property
    def order(self) -> list[int]:
        """The numbers of the values from left to right."""
        return sorted(range(len(self.places)), key=self.places.__getitem__)

    def shifted(self, at: int, series: int, series_count: int) -> float:
        """The place of value `at` for one of several series. Shifts keep points with equal values visible.

        Shifts of names fill their places; those of numbers are at most a tenth of the smallest distance.
        """
        rank = series - (series_count - 1) / 2
        if not self.is_to_scale:
            return self.places[at] + 0.7 / series_count * rank
        own = [self._scaled(place) for place in sorted(self.places)]
        least = min(after - before for before, after in itertools.pairwise(own))
        step = min(0.008 * (own[-1] - own[0]), least / 5 / max(1, series_count - 1))
        place = self._scaled(self.places[at]) + step * rank
        return 10**place if self.is_logarithmic else place

    def finish(self, axes: Axes, width: float, size: float) -> None:
        """Sets limits and ticks of axes of this width, inches, with labels of this size, points."""
        if self.is_logarithmic:
            axes.set_xscale("log")
        own = [self._scaled(place) for place in self.places]
        beyond = 0.06 * (max(own) - min(own)) if self.is_to_scale else 0.6
        low, high = min(own) - beyond, max(own) + beyond
        axes.set_xlim(*((10**low, 10**high) if self.is_logarithmic else (low, high)))
        inch = width / (high - low)
        labels = [f"{place:g}" for place in self.places] if self.is_to_scale else list(self.values)
        letter = LETTER * size / INCH
        if self.is_to_scale:
            kept, end = [], -math.inf
            for at in self.order:
                place, half = own[at] * inch, letter * (len(labels[at]) + 1) / 2
                if place - half >= end:
                    kept.append(at)
                    end = place + half
            axes.set_xticks([self.places[at] for at in kept], [labels[at] for at in kept])
            axes.set_xticks([], minor=True)
            return
        if letter * (max(map(len, labels)) + 1) <= inch:
            axes.set_xticks(self.places, labels)
        else:
            axes.set_xticks(self.places, labels, rotation=ROTATION, ha="right", rotation_mode="anchor")

    def _scaled(self, place: float) -> float:
        return math.log10(place) if self.is_logarithmic else place
