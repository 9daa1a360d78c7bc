"""Streams the segments of captures, with the connection and subflow of the report that each one belongs to.

Owns the lookup from addresses to subflows. `tables` and `xplot` read the segments in batches, so that their memory does
not depend on the size of the captures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 65_536
"""Segments in a batch, at least."""


@dataclass(frozen=True)
class Flow:
    """The segments from one address to another."""

    sender: str
    receiver: str
    connection: int | None
    """The index in the report; None for connections that it omits."""
    subflow: int | None
    side: int | None
    """0 if the client sends."""


@dataclass(frozen=True)
class Batch:
    """Consecutive segments; `flows` has an entry for each number in the column `flow`."""

    columns: dict[str, NDArray[np.uint64]]
    flows: Sequence[Flow]


def batches(captures: Sequence[Path], report: Mapping[str, Any]) -> Iterator[Batch]:
    """The segments of captures in the order of time."""
    source = _core.CapturedSegments(captures)
    known = _subflows(report)
    flows: list[Flow] = []
    # The core returns all flows at once, so batches grow with their number.
    while (columns := source.next_batch(max(ROWS, len(flows)))) is not None:
        if int(columns["flow"].max()) >= len(flows):
            flows += [_flow(ends, known) for ends in source.flows[len(flows) :]]
        yield Batch(columns, flows)


Place = tuple[int, int, int]


def _subflows(report: Mapping[str, Any]) -> dict[tuple[str, str], Place]:
    """Connection, subflow and side for each pair of sender and receiver. Pairs that were reused mean the larger one."""
    found: dict[tuple[str, str], Place] = {}
    for number, connection in enumerate(report["connections"]):
        for subflow, one in enumerate(connection["subflows"]):
            opener, other = one["ends"]
            side = 0 if one["opener"] == "client" else 1
            found.setdefault((opener, other), (number, subflow, side))
            found.setdefault((other, opener), (number, subflow, 1 - side))
    return found


def _flow(ends: tuple[str, str], known: Mapping[tuple[str, str], Place]) -> Flow:
    connection, subflow, side = known.get(ends, (None, None, None))
    return Flow(*ends, connection, subflow, side)


def files_of(connection: Mapping[str, Any]) -> set[int]:
    """The files of the view that the report describes. Captures of the other end have the same segments."""
    return {one["packet"]["file"] for one in connection["ladder"]}
