"""Traffic and utilisation of each link direction of a saved result, also by layer of a fabric (`link-stats`).

Owns the layers, which are given by the types of the nodes at both ends. Utilisation refers to the whole run including
the warm-up, and to the mean capacity, or the rate in the scenario if the capacity is unknown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from mptcplab.results.read.result_files import REAL, TEXT, WHO, read_table
from mptcplab.results.read.result_reader import load
from mptcplab.util.user_input import BadResult, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from mptcplab.results.read.result_reader import SavedRun

COLUMNS = {"link": TEXT, "direction": TEXT, "sent_bytes": REAL, "queue_drops": REAL}
"""The columns to read."""


CAPACITY = "capacity"


@dataclass(frozen=True)
class Load:
    """The use of one direction of a link."""

    link: str
    direction: str
    layer: str
    """The types of both nodes, such as `edge -> agg`."""
    sent_bytes: int
    utilisation: float | None
    """The share of the capacity; None if the capacity is unknown."""
    queue_drops: int


@dataclass(frozen=True)
class Layer:
    """All link directions from one type of node to another."""

    layer: str
    directions: int
    unused: int
    """Directions without traffic."""
    sent_bytes: int
    least: float | None
    mean: float | None
    most: float | None
    """Minimum, mean and maximum utilisation; None if no capacity is known."""
    queue_drops: int


def loads(directory: str | PathLike[str], seed: int | None = None) -> list[Load]:
    """All link directions of the run with this seed, by default the first run."""
    runs = load(directory)
    seeds = [run.seed for run in runs]
    if not runs or (seed is not None and seed not in seeds):
        raise BadResult(f"{directory}: no run with seed {seed} (available seeds: {', '.join(map(str, seeds))})")
    run = runs[0 if seed is None else seeds.index(seed)]
    table = read_table(Path(directory) / "links.parquet", WHO | COLUMNS)
    mine = (
        (pc.field("run") == run.name) & (pc.field("seed") == pc.scalar(run.seed)) & (pc.field("variant") == run.variant)
    )
    # Results of older versions have no capacity.
    wanted = [name for name in (*COLUMNS, CAPACITY) if name in table.column_names]
    return [_load(run, **row) for row in table.filter(mine).select(wanted).to_pylist()]


def layers(found: Sequence[Load]) -> list[Layer]:
    """The link directions grouped by layer, in the order of their first link."""
    by_layer: dict[str, list[Load]] = defaultdict(list)
    for one in found:
        by_layer[one.layer].append(one)
    together = []
    for name, members in by_layer.items():
        used = [one.utilisation for one in members if one.utilisation is not None]
        together.append(
            Layer(
                name,
                len(members),
                sum(one.sent_bytes == 0 for one in members),
                sum(one.sent_bytes for one in members),
                min(used, default=None),
                sum(used) / len(used) if used else None,
                max(used, default=None),
                sum(one.queue_drops for one in members),
            )
        )
    return together


def _load(  # noqa: PLR0913, RUF100 - the columns of a row
    run: SavedRun,
    link: str,
    direction: str,
    sent_bytes: float,
    queue_drops: float,
    capacity: float | None = None,
) -> Load:
    message = run.line(link).get("ends")
    # Paths have no ends, and an edited scenario may be invalid.
    ends = [str(end) for end in message] if isinstance(message, list) and len(message) == 2 else ["client", "server"]
    if direction == "backward":
        ends.reverse()
    # The capacity includes changes by recordings and events.
    rate = capacity or run.bit_rate(link, direction)
    duration = seconds(str(run.scenario.get("duration", "0s")))
    share = sent_bytes * 8 / (rate * duration) if rate and duration > 0 else None
    return Load(link, direction, " -> ".join(map(kind, ends)), int(sent_bytes), share, int(queue_drops))


def kind(node: str) -> str:
    """The type of a node, from its name: `edge` of edge-1-2, `h` of h16, `s0` of s0-3."""
    return re.sub(r"(-\d+)+$", "", node) if re.search(r"-\d+$", node) else node.rstrip("0123456789") or node
