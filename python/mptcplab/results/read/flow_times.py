"""Looks up latencies of blocks and completion times of files, in a saved result or a run in memory.

A block is a unit of data of an application-limited flow. Samples over time have neither. Never resamples or draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mptcplab.results.read.result_files import WHO, damaged, read_table

if TYPE_CHECKING:
    from mptcplab.results.run import Run

Floats = NDArray[np.float64]
Who = tuple[str, int, str]
"""Run, seed and variant."""
LATENCY = "latency"
COMPLETION = "completion_s"
"""Names of these metrics for users."""
_BLOCKS = {"flow": pa.string(), "written_s": pa.float64(), "latency_s": pa.float64()}


class FlowTimes:
    """Latencies and completion times of a result."""

    def __init__(self, blocks: Callable[[], pa.Table | None], flows: Callable[[], pa.Table]) -> None:
        """Reads each table once, when it is needed; `blocks` returns None if the result has no blocks."""
        self._blocks, self._flows = cache(blocks), cache(flows)

    @classmethod
    def of_run(cls, run: Run) -> FlowTimes:
        """The times of a run in memory."""
        return cls(lambda: run.blocks, lambda: run.flows)

    @classmethod
    def of_directory(cls, directory: Path) -> FlowTimes:
        """The times of all runs of a result."""
        blocks, flows = directory / "blocks.parquet", directory / "flows.parquet"
        return cls(
            lambda: read_table(blocks, WHO | _BLOCKS) if blocks.is_file() else None,
            lambda: _with_completion(flows),
        )

    def latency(self, who: Who, flow: str) -> tuple[Floats, Floats]:
        """The times at which blocks of a flow were written, and their latencies, s; in the order of the table."""
        table = self._blocks()
        if table is None:
            return np.zeros(0), np.zeros(0)
        own = _of(table, who, flow)
        return own["written_s"].to_numpy(), own["latency_s"].to_numpy()

    def completion(self, who: Who, flow: str) -> Floats:
        """The completion time of the file of a flow, s; empty if the transfer did not end."""
        found: Floats = _of(self._flows(), who, flow)[COMPLETION].drop_null().to_numpy()
        return found


def _with_completion(file: Path) -> pa.Table:
    table = read_table(file, WHO | {"flow": pa.string()})
    if COMPLETION not in table.column_names or not pa.types.is_floating(table.schema.field(COMPLETION).type):
        raise damaged(file, f"it has no column {COMPLETION!r} of numbers")
    return table


def _of(table: pa.Table, who: Who, flow: str) -> pa.Table:
    wanted = pc.and_(pc.equal(table["seed"], who[1]), pc.equal(table["flow"], flow))
    for name, value in (("run", who[0]), ("variant", who[2])):
        wanted = pc.and_(wanted, pc.equal(table[name], value))
    return table.filter(wanted)
