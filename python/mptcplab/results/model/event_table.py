"""The traced protocol events of a run as an Arrow table (docs/events.md).

Owns the columns, for simulated and live runs; `export` and `live.event_writer` write the files.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mptcplab.results.model import events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mptcplab._core import EventColumns


@functools.cache
def schema() -> pa.Schema:
    """The columns of the table."""
    words = pa.dictionary(pa.uint16(), pa.string())
    who: list[tuple[str, pa.DataType]] = [
        ("run", pa.dictionary(pa.uint8(), pa.string())),
        ("seed", pa.uint64()),
        ("variant", pa.dictionary(pa.uint8(), pa.string())),
        ("time_s", pa.float64()),
        ("host", words),
        ("flow", words),
        ("path", words),
        ("subflow", pa.uint16()),
        ("kind", pa.dictionary(pa.uint8(), pa.string())),
        ("what", pa.dictionary(pa.uint8(), pa.string())),
        ("other", words),
    ]
    return pa.schema(
        [*who, *((name, pa.float64() if name.endswith("_s") else pa.uint64()) for name in events.fields())]
    )


@functools.cache
def plain_schema() -> pa.Schema:
    """The same columns with plain text, for files that are written in pieces."""
    return pa.schema([pa.field(one.name, pa.string()) if pa.types.is_dictionary(one.type) else one for one in schema()])


def table(columns: EventColumns, flows: Sequence[str], paths: Sequence[str], who: dict[str, Any]) -> pa.Table:
    """The events of the run `who` as a table, one per row, in the order of time."""
    count = len(columns["at"])
    once = np.zeros(count, dtype=np.uint8)
    words = columns["words"]
    arrays: dict[str, Any] = {
        "run": _words(once, [who["run"]]),
        "seed": pa.array(np.full(count, who["seed"], dtype=np.uint64)),
        "variant": _words(once, [who["variant"]]),
        "time_s": pa.array(columns["at"] / 1e9),
        "host": _places(columns["host"], columns["hosts"]),
        "flow": _places(columns["flow"], flows),
        "path": _places(columns["path"], paths),
        "subflow": pa.array(columns["subflow"], mask=columns["subflow"] == events.NOWHERE),
        "kind": _words(columns["kind"], words),
        "what": _words(columns["what"], words),
        "other": _places(columns["other"], paths),
    }
    for name in events.fields():
        arrays[name] = _numbers(name, columns, words)
    return pa.table(arrays, schema=schema())


def of_driver(columns: EventColumns, devices: Sequence[str]) -> pa.Table:
    """The events of a live endpoint: `flow` is a connection, `path` a device."""
    flows = columns["flow"]
    most = int(flows[flows != events.NOWHERE].max(initial=-1)) + 1
    names = [f"connection {number}" for number in range(most)]
    return table({**columns, "hosts": ["here"]}, names, devices, {"run": "live", "seed": 0, "variant": ""})


def _numbers(name: str, columns: EventColumns, words: Sequence[str]) -> pa.Array:
    values = np.full(len(columns["at"]), events.NOTHING, dtype=np.uint64)
    for number, word in enumerate(words):
        _, own = events.kinds().get(word, ("", []))
        if name in own:
            rows = columns["kind"] == number
            values[rows] = columns["numbers"][own.index(name)][rows]
    missing = values == events.NOTHING
    return pa.array(values / 1e9 if name.endswith("_s") else values, mask=missing)


def _words(indices: NDArray[Any], names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(names), pa.string()))


def _places(indices: NDArray[np.uint16], names: Sequence[str]) -> pa.DictionaryArray:
    known = pa.array(indices, mask=indices >= len(names))
    return pa.DictionaryArray.from_arrays(known, pa.array(list(names), pa.string()))
