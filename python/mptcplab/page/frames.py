"""Collects the samples of a live run, and builds the frames of each page from them.

Owns the stored samples, which are bounded: the oldest ones are dropped. A page that missed samples gets all stored
ones, with `restarted`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any

from mptcplab.page.live_source import Moment, Row

MAX_ROWS = 20_000
"""Maximum stored samples; about 1 MB as JSON."""


class History:
    """The latest samples."""

    def __init__(self, most: int = MAX_ROWS) -> None:
        """Keeps at most `most` samples."""
        self._rows: deque[Row] = deque(maxlen=most)
        self._count = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Stores samples."""
        self._rows.extend(rows)
        self._count += len(rows)

    def since(self, position: int | None) -> tuple[list[Row], int, bool]:
        """The samples after a position, the new position, and whether older samples must be forgotten.

        None is the position of a page that has no samples yet.
        """
        first = self._count - len(self._rows)
        restarted = position is None or position < first
        start = first if position is None or restarted else position
        return list(islice(self._rows, start - first, None)), self._count, restarted


def frame(moment: Moment, rows: Sequence[Row], *, restarted: bool) -> dict[str, Any]:
    """The message for a page."""
    columns: list[list[float]] = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]
    names = ("time", "flow", "path", "metric", "value")
    return {
        "type": "frame",
        "time": moment.time,
        "finished": moment.finished,
        "speed": 0 if moment.finished else 1,
        "directions": list(moment.directions),
        "packets": [],
        "flows": list(moment.flows),
        "samples": dict(zip(names, columns, strict=True)),
        "events": {
            **{name: [] for name in ("time", "host", "flow", "path", "subflow", "other", "kind", "what")},
            "numbers": [[], [], []],
            "words": [],
        },
        "restarted": restarted,
        "reasons": [[] for _ in moment.flows],
    }
