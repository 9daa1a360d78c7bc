"""Converts the values of a sweep, such as `10ms`, to typed columns of the result tables.

Owns the base unit of each quantity. A key whose values are all of one quantity becomes a column of numbers. The core
decides which values are valid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

Value = bool | int | float | str

_NUMBER = re.compile(r"([-+]?[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?) *(.*)")
_RATES = {
    f"{prefix}{unit}": ("bit/s", scale)
    for prefix, scale in (("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12))
    for unit in ("bit", "b/s")
}
_UNITS: Mapping[str, tuple[str, float]] = {
    "ns": ("s", 1e-9), "us": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0), "min": ("s", 60.0), "h": ("s", 3600.0),
    "B": ("B", 1.0), "kB": ("B", 1e3), "KB": ("B", 1024.0), "KiB": ("B", 1024.0), "MB": ("B", 1e6),
    "MiB": ("B", 2.0**20), "GB": ("B", 1e9), "GiB": ("B", 2.0**30),
    "%": ("share", 1e-2), "p": ("packets", 1.0), "m": ("m", 1.0), "cm": ("m", 1e-2),
}  # fmt: skip
"""By unit: the base unit, and the factor. Rates ignore case."""
_WITHOUT_BOUND = "unlimited"


def typed(vary: Mapping[str, Sequence[Value]]) -> dict[str, list[Value]]:
    """The values of each key in order, as numbers in base units, as flags, or otherwise as text."""
    return {key: _column(values) for key, values in vary.items()}


def _column(values: Sequence[Value]) -> list[Value]:
    flags = {"true": True, "false": False}
    texts = [str(value).lower() if isinstance(value, bool) else str(value).strip() for value in values]
    if all(text in flags for text in texts):
        return [flags[text] for text in texts]
    read = [_quantity(text) for text in texts if text != _WITHOUT_BOUND]
    found = [one for one in read if one is not None]
    if not found or len(found) < len(read) or len({unit for unit, _ in found}) > 1:
        return [*texts]
    if found[0][0] == "" and len(found) == len(texts) and all(number.is_integer() for _, number in found):
        return [int(text.replace("_", "")) if text.lstrip("+-").isdecimal() else float(text) for text in texts]
    numbers = iter(found)
    return [math.inf if text == _WITHOUT_BOUND else next(numbers)[1] for text in texts]


def _quantity(text: str) -> tuple[str, float] | None:
    """The base unit, "" for a plain number, and the value in this unit; None for text."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    number, unit = match[1].replace("_", ""), match[2]
    if not unit:
        return "", float(number)
    known = _UNITS.get(unit) or _RATES.get(unit.lower() if unit.endswith("it") else unit[:1].lower() + unit[1:])
    # Division is exact where multiplication is not: 10 ms is 0.01 s.
    return None if known is None else (known[0], _scaled(float(number), known[1]))


def _scaled(number: float, scale: float) -> float:
    return number / round(1 / scale) if scale < 1 else number * scale
