"""Reads the values of a saved sweep or of several runs, by the keys that vary, for figures.

Keys are those of `--vary` with their values as written, and `flow` if there are several flows. In other results, `run`
and `variant` are keys if they vary. Never computes statistics and never draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mptcplab.results.model.swept_values import FLOW, Cell, SweptValues
from mptcplab.results.read.result_files import damaged, read_columns, read_pieces, read_scenario_text
from mptcplab.results.read.result_reader import describe
from mptcplab.results.text.flow_metrics import metrics as known_metrics
from mptcplab.results.text.flow_metrics import unit
from mptcplab.results.text.reasons import ended_early
from mptcplab.util.user_input import BadResult, choose

_RATES = ("goodput", "throughput")


def read_swept(directory: Path, metric: str, flow: str | None = None) -> SweptValues:
    """The values of the metrics, separated by commas, in a result; with `flow`, only of this flow.

    Raises `BadResult` for an unknown metric or flow, or if no run has the metric.
    """
    described, names, file = describe(directory), known_metrics(metric), directory / "flows.parquet"
    if not file.is_file():
        raise BadResult(f"{directory}: flows.parquet is missing; run mptcplab sweep or run with --output again")
    absent = [name for name in names if name not in read_columns(file).names]
    if absent:
        raise BadResult(f"{directory}: {absent[0]} was not measured here")
    vary = _vary(described)
    keys, place = _places(described["runs"], vary) if vary else _typed_places(file)
    rows = list(_rows(file, [*names, "measured_s", "bytes_received_total", *(vary or keys)]))
    flows = list(dict.fromkeys(row[FLOW] for row in rows))
    if flow is not None:
        flows = [choose(flow, flows, FLOW, str(directory))]
    if len(flows) > 1:
        keys = {**keys, FLOW: flows}
    runs = list(dict.fromkeys(row["run"] for row in rows))
    found = SweptValues(runs[0] if len(runs) == 1 else "", keys, names)
    for row in rows:
        if row[FLOW] not in flows:
            continue
        cell = place(row)
        if cell is None:
            raise damaged(file, f"has a run {row['variant']!r} that run.json does not name")
        cell = (*cell, row[FLOW]) if len(flows) > 1 else cell
        for name in names:
            value = row[name]
            if value is not None and not math.isnan(value) and not (name in _RATES and ended_early(row)):
                found.add(cell, name, (row["run"] if "run" not in keys else "", row["seed"]), value / unit(name)[1])
    found.fixed_networks = _fixed_networks(directory, described["runs"])
    return found


def _vary(described: Mapping[str, Any]) -> dict[str, list[str]]:
    """The keys and values of a sweep, as written; empty for other results."""
    sweep = described.get("sweep")
    vary = sweep.get("vary") if isinstance(sweep, dict) else None
    if not isinstance(vary, dict):
        return {}
    return {str(key): [str(value) for value in values] for key, values in vary.items() if isinstance(values, list)}


def _places(
    runs: Sequence[Mapping[str, Any]], vary: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Sequence[str]], Callable[[Mapping[str, Any]], Cell | None]]:
    """The keys of a sweep, and a function that returns the cell of a row."""
    cells = itertools.islice(itertools.product(*vary.values()), len(runs))
    known = {", ".join(f"{key}={value}" for key, value in zip(vary, cell, strict=True)): cell for cell in cells}
    return dict(vary), lambda row: known.get(row["variant"])


def _typed_places(file: Path) -> tuple[dict[str, Sequence[str]], Callable[[Mapping[str, Any]], Cell | None]]:
    """The keys of a result that is no sweep: names of runs, the columns of merged sweeps, or variants."""
    swept = [name for name in read_columns(file).names if "." in name]
    columns = ["run", *(swept or ["variant"])]
    found: dict[str, dict[str, None]] = {column: {} for column in columns}
    for row in _rows(file, columns):
        for column in columns:
            found[column][_text(row[column])] = None
    keys = {column: list(values) for column, values in found.items() if len(values) > 1}
    return dict(keys), lambda row: tuple(_text(row[key]) for key in keys)


def _text(value: object) -> str:
    return "unset" if value is None or value == "" else f"{value:g}" if isinstance(value, float) else str(value)


def _rows(file: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for piece in read_pieces(file):
        wanted = dict.fromkeys(("run", "seed", "variant", FLOW, *columns))
        yield from piece.select([name for name in wanted if name in piece.column_names]).to_pylist()


def _fixed_networks(directory: Path, runs: Sequence[Mapping[str, Any]]) -> float:
    """The share of scenarios, 0 to 1, whose seeds change only the delays of hosts; 0 if a file is unreadable."""
    from mptcplab import ScenarioError, _core

    with suppress(ScenarioError, BadResult, OSError):
        names = dict.fromkeys(row["scenario"] for row in runs)
        fixed = [not _core.Scenario.parse(read_scenario_text(directory / name), "").draws_its_network for name in names]
        return sum(fixed) / max(1, len(fixed))
    return 0.0
