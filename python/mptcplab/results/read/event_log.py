"""Reads, selects and prints the traced events of a saved run, for `mptcplab events`.

Owns the selection and the format of a row. Draws nothing.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from mptcplab.results.model import events
from mptcplab.results.read.result_files import EVENTS, read_scenario, read_table
from mptcplab.results.read.result_reader import describe
from mptcplab.util.user_input import BadResult, choose, seconds

if TYPE_CHECKING:
    from os import PathLike

    from mptcplab.results.run import Run


@dataclass(frozen=True)
class Selection:
    """Which events to select; None selects all. Times are in seconds."""

    kinds: str | None = None
    flow: str | None = None
    path: str | None = None
    host: str | None = None
    since: float = 0.0
    until: float | None = None


@dataclass(frozen=True)
class TracedRun:
    """A run with its events; text columns are plain text."""

    source: str
    seed: int
    scenario: dict[str, Any]
    events: pa.Table

    @classmethod
    def of(cls, run: Run) -> TracedRun:
        """The events of an unsaved run, for notebooks."""
        import tomllib

        from mptcplab.results.read.result_reader import plain_text

        return cls("", run.seed, tomllib.loads(run.scenario.to_toml()), plain_text(run.events))

    @property
    def duration(self) -> float:
        """The duration of the scenario in seconds; 0 if it has none."""
        return seconds(str(self.scenario.get("duration", "0s")))

    def names(self, column: str) -> list[str]:
        """The names in a column, in the order of their first row."""
        return [name for name in pc.unique(self.events[column]).to_pylist() if name is not None]

    def select(self, chosen: Selection) -> pa.Table:
        """The selected rows. Raises `BadResult` for names that this run does not have."""
        where = self.source or "this run"
        mask = pc.greater_equal(self.events["time_s"], chosen.since)
        if chosen.until is not None:
            mask = pc.and_(mask, pc.less(self.events["time_s"], chosen.until))
        if chosen.kinds is not None:
            kinds = [
                choose(events.current_kind(name.strip(), "--kind"), events.kinds(), "kind of events", "--kind")
                for name in chosen.kinds.split(",")
            ]
            mask = pc.and_(mask, pc.is_in(self.events["kind"], pa.array(kinds)))
        for column, name in (("flow", chosen.flow), ("path", chosen.path), ("host", chosen.host)):
            if name is not None:
                known = choose(name, self.names(column), column, where)
                mask = pc.and_(mask, pc.fill_null(pc.equal(self.events[column], known), fill_value=False))
        return self.events.filter(mask)


def load(directory: str | PathLike[str], seed: int | None = None) -> TracedRun:
    """The first run of a result, or its run with a seed. Raises `BadResult` if the result has no events."""
    target = Path(directory)
    described = describe(directory)
    file = target / "events.parquet"
    if not file.is_file():
        raise BadResult(
            f"{target}: contains no events; repeat the run with --trace all, or --trace with the kinds that you need"
        )
    seeds = [row["seed"] for row in described["runs"]]
    wanted = seeds[0] if seed is None and seeds else seed
    rows = [row for row in described["runs"] if row["seed"] == wanted]
    if not rows:
        raise BadResult(f"{target}: no run with seed {wanted}; available seeds: {', '.join(map(str, seeds)) or 'none'}")
    mine = read_table(file, EVENTS, seed=rows[0]["seed"])
    return TracedRun(str(directory), rows[0]["seed"], read_scenario(target / rows[0]["scenario"]), mine)


def rows_text(rows: pa.Table, *, most: int = 40, count: bool = False, csv: bool = False) -> str:
    """The first `most` rows as text; with `count` the number of events of each kind, with `csv` all rows as CSV."""
    if csv:
        out = io.BytesIO()
        pa_csv.write_csv(rows, out)
        return out.getvalue().decode()
    if not rows.num_rows:
        return "no matching events\n"
    if count:
        return _counted(rows)
    lines = [_line(row) for row in rows.slice(0, most).to_pylist()]
    if rows.num_rows > most:
        lines.append(
            f"… and {rows.num_rows - most} more events (--most N prints more, --csv prints all, --count counts them)"
        )
    return "\n".join(lines) + "\n"


def _counted(rows: pa.Table) -> str:
    from mptcplab.cli.common import table

    grouped = rows.group_by(["kind", "path", "what"], use_threads=False).aggregate([("time_s", "count")])
    lines = [["kind", "path", "what", "events"]]
    ordered = sorted(grouped.to_pylist(), key=lambda row: (row["kind"], row["path"] or "", row["what"]))
    lines += [[row["kind"], row["path"] or "-", row["what"], str(row["time_s_count"])] for row in ordered]
    return table(lines) + "\n"


def _line(row: dict[str, Any]) -> str:
    """A row as text: time, place, event, and its named numbers."""
    place = " ".join(
        part for part in (row["host"], row["flow"], row["path"], _number(row["subflow"], row["path"])) if part
    )
    numbers = [
        f"{name.removesuffix('_s')} {_value(name, row[name])}" for name in events.fields() if row.get(name) is not None
    ]
    about = f" ({row['other']})" if row["other"] else ""
    text = f"{row['time_s']:12.6f}  {place:<28}  {row['kind']} {row['what']}{about}"
    return f"{text}  {', '.join(numbers)}" if numbers else text


def _number(subflow: int | None, path: str | None) -> str:
    return "" if subflow is None or path is None else f"#{subflow}"


def _value(name: str, value: float) -> str:
    return f"{value * 1e3:.3f} ms" if name.endswith("_s") else str(value)
