"""The parts of a sweep on disk (the tables of consecutive runs), and the result that joins them.

Owns the file that identifies an unfinished sweep, and the reuse of finished parts by `--resume`. Runs nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from mptcplab import _core
from mptcplab.results.read.result_files import MOST_TABLE, MOST_TEXT, read_json, read_pieces, read_table
from mptcplab.results.write.export import ALWAYS, TABLES, described, tables_without_samples, write_parquet
from mptcplab.results.write.parquet_append import append
from mptcplab.results.write.parquet_join import join
from mptcplab.util.files import BadFile, folder, read_bytes, write_text
from mptcplab.util.json_files import write_json, write_long
from mptcplab.util.user_input import BadResult

if TYPE_CHECKING:
    from mptcplab.results.run import Runs
    from mptcplab.run.sweep_plan import SweepPlan

PLAN, PARTS, SWEEP = "sweep.json", "parts", "sweep"
PICTURES = ("sweep.png", "sweep.svg", "sweep.pdf", "throughput.png", "throughput.svg", "iperf3.json")
"""Further files that a sweep or a run may write."""
UNFINISHED = 10**6
"""Added to the number of a part that was interrupted; no complete part has such a number."""


def _schema(file: Path) -> pa.Schema:
    with pa.OSFile(str(file)) as opened:
        return pq.read_schema(opened)


def _table(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as opened, pq.ParquetFile(opened) as parquet:
        return parquet.read()


class Store:
    """The parts of a sweep on disk."""

    def __init__(self, sweep: SweepPlan, output: Path, *, resume: bool) -> None:
        """Starts a sweep in `output`, or continues it. Raises `BadResult` if that is impossible."""
        self._sweep, self._output = sweep, folder(output)
        plan, known = sweep.plan(), self._known()
        if known is None and any((output / PARTS).glob("*")):
            raise BadResult(f"{output / PARTS}: contains files of another program; choose another --output")
        if known and not resume:
            raise BadResult(
                f"{output}: contains an unfinished sweep; continue it with --resume, or choose another --output"
            )
        self.is_complete = resume and known is None and (output / "run.json").is_file()
        if self.is_complete:
            known = read_json(output / "run.json").get(SWEEP)
            # A complete sweep does not depend on its division into parts.
            del plan["runs_of_part"]
        if resume and not isinstance(known, dict):
            raise BadResult(f"{output}: contains no sweep to continue; remove --resume")
        differs = [key for key in plan if known and known.get(key) != plan[key]]
        if differs:
            raise BadResult(
                f"{output}: contains {'a' if self.is_complete else 'an unfinished'} sweep with other arguments "
                f"({', '.join(differs)}); use the arguments of that sweep, or choose another --output"
            )
        if self.is_complete:
            return
        self._parts = folder(output, PARTS)
        if not known:
            self._forget()
            write_json(plan, self._output / PLAN)

    def _forget(self) -> None:
        """Removes the previous result, by the files that its list names."""
        if not (self._output / "run.json").is_file():
            return
        scenarios = {Path(row["scenario"]).name for row in read_json(self._output / "run.json")["runs"]}
        for name in (*scenarios, *(f"{table}.parquet" for table in TABLES), *PICTURES, "run.json"):
            (self._output / name).unlink(missing_ok=True)

    def _known(self) -> dict[str, Any] | None:
        file = self._output / PLAN
        if not file.is_file():
            return None
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadResult(f"{file}: damaged: {error}; choose another --output") from error
        return found if isinstance(found, dict) else {}

    def _file(self, number: int, table: str) -> Path:
        return self._parts / f"{number:06}-{table}.parquet"

    def _list(self, number: int) -> Path:
        return self._parts / f"{number:06}.json"

    def is_written(self, number: int) -> bool:
        """Whether a part is complete on disk."""
        return self._list(number).is_file()

    def all_rows(self) -> Iterator[list[dict[str, Any]]]:
        """The table of flows of a complete sweep, in pieces."""
        for piece in read_pieces(self._output / "flows.parquet"):
            yield piece.to_pylist()

    def rows(self, number: int) -> list[dict[str, Any]] | None:
        """The table of flows of a part; None if it is missing or damaged. Removes a damaged part."""
        if not self.is_written(number):
            return None
        try:
            rows: list[dict[str, Any]] = self._whole(number).to_pylist()
        except (BadResult, BadFile, OSError):
            for table in TABLES:
                self._file(number, table).unlink(missing_ok=True)
            self._list(number).unlink(missing_ok=True)
            return None
        return rows

    def _whole(self, number: int) -> pa.Table:
        """The table of flows of a readable part. Raises `BadResult`."""
        jobs = [self._sweep.job(at) for at in self._sweep.part(number)]
        try:
            listed = [(row["variant"], row["seed"]) for row in json.loads(read_bytes(self._list(number), MOST_TEXT))]
        except (ValueError, TypeError, KeyError) as error:
            raise BadResult(f"{self._list(number)}: damaged: {error}") from error
        if listed != [(job.variant, job.seed) for job in jobs]:
            raise BadResult(f"{self._list(number)}: damaged: it lists other runs than the plan")
        found = {table: self._file(number, table) for table in TABLES}
        tables = {table: read_table(file) for table, file in found.items() if file.is_file() or table in ALWAYS}
        return tables["flows"]

    def write(self, number: int, runs: Runs, samples: Sequence[bytes]) -> None:
        """Writes a part; its list of runs comes last, as the sign of completeness.

        `samples` has the files of its groups.
        """
        append(samples, self._file(number, "samples"))
        for table, rows in tables_without_samples(runs).items():
            write_parquet(rows, self._file(number, table))
        write_json([described(run, "") for run in runs], self._list(number))

    def join(self, more: Mapping[int, tuple[Runs, Sequence[bytes]]] | None = None) -> int:
        """Joins all parts on disk, and `more` runs of unfinished parts, into one result; returns the number of runs."""
        numbers = []
        more = more or {}
        for number in range(len(list(self._sweep.parts()))):
            if self.is_written(number):
                numbers.append(number)
            elif number in more:
                numbers.append(UNFINISHED + number)
                self.write(numbers[-1], *more[number])
        for table in TABLES:
            files = [self._file(number, table) for number in numbers]
            files = [file for file in files if file.is_file()]
            if files and table == "samples":
                append((read_bytes(file, MOST_TABLE) for file in files), self._output / "samples.parquet")
            elif files:
                schemas = [_schema(file) for file in files]
                join((_table(file) for file in files), schemas, self._output / f"{table}.parquet")
        done = sum(len(self._sweep.part(number)) for number in numbers if number < UNFINISHED)
        done += sum(len(runs) for number, (runs, _) in more.items() if UNFINISHED + number in numbers)
        names = self._scenarios()
        if numbers:
            rows = (
                row | {"scenario": names[row["variant"]]}
                for number in numbers
                for row in json.loads(self._list(number).read_text(encoding="utf-8"))
            )
            # Only a complete sweep stores its plan. The same sweep, started again, then reads the stored table.
            plan = {key: value for key, value in self._sweep.plan().items() if key != "runs_of_part"}
            whole = {SWEEP: plan} if done == self._sweep.runs else {}
            header = {"mptcplab": _core.__version__, "backend": "sim"} | whole
            write_long(header, "runs", rows, self._output / "run.json")
        return done

    def _scenarios(self) -> dict[str, str]:
        """Writes each scenario once; returns the file of each variant."""
        files, names = dict[str, str](), dict[str, str]()
        for point in self._sweep.points:
            text = point.scenario.to_toml()
            if text not in files:
                files[text] = "scenario.toml" if not files else f"scenario-{len(files) + 1}.toml"
                write_text(self._output / files[text], text)
            names[point.variant] = files[text]
        return names

    def clear(self) -> None:
        """Removes the parts, and the plan last, because parts without a plan cannot be identified."""
        shutil.rmtree(self._parts)
        (self._output / PLAN).unlink()
