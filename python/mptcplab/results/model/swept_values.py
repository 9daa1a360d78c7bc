"""The values of a sweep by the keys that vary, for figures.

Owns the cells, which are combinations of values of the keys. Never reads files, computes statistics or draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

Cell = tuple[str, ...]
"""A value of each key, in the order of the keys."""
Run = tuple[str, int]
"""Name and seed of a run; runs of two cells with equal names and seeds are pairs."""
FLOW = "flow"


class SweptValues:
    """Values by cell, metric and run, in the unit of `flow_metrics.unit`."""

    def __init__(self, name: str, keys: Mapping[str, Sequence[str]], metrics: Sequence[str]) -> None:
        """Starts empty; keys with one value are kept, because a figure may be asked for them."""
        self.name, self.metrics = name, list(metrics)
        self.keys = {key: list(values) for key, values in keys.items()}
        self.fixed_networks = 0.0
        """Share of the scenarios, 0 to 1, in which seeds change only the small delays of hosts."""
        self._values: dict[tuple[Cell, str], dict[Run, float]] = {}

    def add(self, cell: Cell, metric: str, run: Run, value: float) -> None:
        """Adds a value; a cell keeps the first value of each run."""
        self._values.setdefault((cell, metric), {}).setdefault(run, value)

    def of(self, cell: Cell, metric: str) -> dict[Run, float]:
        """The values of a cell by run, without runs that lack the metric."""
        return self._values.get((cell, metric), {})

    def cells(self, fixed: Mapping[str, str] | None = None) -> list[Cell]:
        """All combinations of values in order, or those with these values of some keys."""
        wanted = fixed or {}
        return list(itertools.product(*([wanted[key]] if key in wanted else its for key, its in self.keys.items())))

    def replaced(self, cell: Cell, key: str, value: str) -> Cell:
        """The cell with another value of one key."""
        at = list(self.keys).index(key)
        return (*cell[:at], value, *cell[at + 1 :])
