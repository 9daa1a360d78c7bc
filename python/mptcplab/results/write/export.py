"""Writes the files of a result directory: Parquet tables, JSON and the scenario, for `--output` and `Run.save`.

Owns the file formats. The same runs give the same bytes: writer settings are fixed, and rows are in the order of the
jobs. Files contain no times or paths of this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from mptcplab import _core
from mptcplab.results.model import arrow_tables
from mptcplab.results.write.iperf3 import iperf3
from mptcplab.util.files import only_writer, replacing, write_text
from mptcplab.util.json_files import write_json

if TYPE_CHECKING:
    from mptcplab.results.model.measured_run import MeasuredRun


TABLES = ("samples", "flows", "paths", "links", "blocks", "events")
"""The tables of a result, each in a file of its name."""
ALWAYS = ("samples", "flows", "paths", "links")
"""The tables of every result; other tables exist only if they have rows."""


def write_parquet(table: pa.Table, path: Path) -> None:
    """Writes a table; equal tables give equal bytes."""
    with replacing(path) as file:
        _write(table, file)


def _write(table: pa.Table, file: Any, dictionaries: bool | list[str] = True) -> None:  # noqa: FBT001, FBT002, RUF100
    pq.write_table(
        table,
        file,
        use_dictionary=dictionaries,
        version="2.6",
        compression="zstd",
        compression_level=3,
        data_page_version="2.0",
        row_group_size=1 << 20,
        write_statistics=True,
    )


def samples_file(runs: Sequence[MeasuredRun]) -> bytes:
    """The samples of consecutive runs as a Parquet file, for `parquet_append`. All such files have one schema."""
    table = arrow_tables.all_samples(runs)
    text = pa.dictionary(pa.int32(), pa.string())
    fields = [field.with_type(text) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    sink = pa.BufferOutputStream()
    # Values rarely repeat. In so few rows, a dictionary of values takes 10% more space.
    _write(table.cast(pa.schema(fields)), sink, [name for name in table.column_names if name != "value"])
    return bytes(sink.getvalue())


def save_run(run: MeasuredRun, directory: str | PathLike[str]) -> None:
    """Writes one run: `scenario.toml run.json iperf3.json` and the tables."""
    with only_writer(directory) as target:
        save_runs([run], target)
        write_json(iperf3(run), target / "iperf3.json")


def save_runs(runs: Sequence[MeasuredRun], directory: str | PathLike[str]) -> None:
    """Writes several runs into joint tables, and each distinct scenario.

    Replaces a previous result. Raises `BadFile` while another process writes to the directory.
    """
    with only_writer(directory) as target:
        _save_runs(runs, target)


def _save_runs(runs: Sequence[MeasuredRun], target: Path) -> None:
    # First remove run.json: a partly replaced result must not look complete.
    (target / "run.json").unlink(missing_ok=True)
    _remove(target / "baselines")
    files: dict[str, str] = {}
    for run in runs:
        text = run.scenario.to_toml()
        if text not in files:
            files[text] = "scenario.toml" if not files else f"scenario-{len(files) + 1}.toml"
            write_text(target / files[text], text)
    rows = [described(run, files[run.scenario.to_toml()]) for run in runs]
    tables = tables_of(runs)
    for table in TABLES:
        if table in tables:
            write_parquet(tables[table], target / f"{table}.parquet")
        else:
            (target / f"{table}.parquet").unlink(missing_ok=True)
    # Last: run.json marks the result as complete.
    backend = runs[0].backend if len(runs) else "sim"
    write_json({"mptcplab": _core.__version__, "backend": backend, "runs": rows}, target / "run.json")


def _remove(directory: Path) -> None:
    """Removes the result in a subdirectory of the replaced result; keeps all other files."""
    if directory.is_symlink() or not (directory / "run.json").is_file():
        return
    names = ["run.json", "iperf3.json", *(f"{table}.parquet" for table in TABLES)]
    for file in (*(directory / name for name in names), *directory.glob("scenario*.toml")):
        file.unlink(missing_ok=True)
    with suppress(OSError):
        directory.rmdir()


def described(run: MeasuredRun, scenario: str) -> dict[str, Any]:
    """The entry of a run in `run.json`; `scenario` is the name of its file."""
    return {
        "run": run.name,
        "seed": run.seed,
        "variant": run.variant,
        "scenario": scenario,
        "data_packets": run.data_packets,
    }


def tables_of(runs: Sequence[MeasuredRun]) -> dict[str, pa.Table]:
    """The tables of runs by name, without blocks and events if they have no rows. Empty without runs."""
    if not len(runs):
        return {}
    return {"samples": arrow_tables.all_samples(runs)} | tables_without_samples(runs)


def tables_without_samples(runs: Sequence[MeasuredRun]) -> dict[str, pa.Table]:
    """As `tables_of`, without samples."""
    found = {"flows": arrow_tables.flows(runs), "paths": arrow_tables.paths(runs), "links": arrow_tables.links(runs)}
    some = {"blocks": arrow_tables.blocks(runs), "events": arrow_tables.events(runs)}
    return found | {name: table for name, table in some.items() if table.num_rows}
