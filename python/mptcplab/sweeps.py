"""A sweep: every combination of some values, run and written part by part.

Owns the plan of a sweep, its parts on the disk, and how an unfinished one goes on. A part is the tables of so many runs
that follow each other in the plan; parts are joined in its order, so that the files are the same however often it was
interrupted. Memory holds one part, however many runs there are.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from mptcplab import _core
from mptcplab.batch import Interrupted, Job, Progress, run_jobs
from mptcplab.export import ALWAYS, TABLES, described, tables_of, write_parquet
from mptcplab.files import BadFile, folder, only_writer, read_bytes, write_text
from mptcplab.inputs import BadResult
from mptcplab.joining import join
from mptcplab.json_files import write_json, write_long
from mptcplab.reading import MOST_TEXT, read_json, read_table
from mptcplab.results import Runs

if TYPE_CHECKING:
    from mptcplab.scenario import Scenario

PART_BYTES = 64e6
"""Results of a part in memory, about."""
MOST_RUNS = 1024
"""Runs of a part."""
PLAN, PARTS = "sweep.json", "parts"
UNFINISHED = 10**6
"""In place of a part's number."""


@dataclass(frozen=True)
class Point:
    """Values, and the scenario with them."""

    values: dict[str, str]
    scenario: _core.Scenario

    @property
    def variant(self) -> str:
        """What its runs are called."""
        return ", ".join(f"{key}={value}" for key, value in self.values.items())


class Sweep:
    """What is to be run, in order: for each point every seed."""

    def __init__(self, scenario: Scenario, vary: Mapping[str, Sequence[str]], seeds: range) -> None:
        """Checks every point. Raises `ScenarioError` where one cannot be."""
        self.vary, self.seeds = dict(vary), seeds
        choices = itertools.product(*vary.values())
        points = (dict(zip(vary, choice, strict=True)) for choice in choices)
        self.points = [Point(values, scenario.vary(values).core) for values in points]

    @property
    def runs(self) -> int:
        """How many."""
        return len(self.points) * len(self.seeds)

    @property
    def runs_of_part(self) -> int:
        """How many runs a part has; the last one has what is left."""
        largest = max(point.scenario.result_bytes for point in self.points)
        return int(min(MOST_RUNS, max(1.0, PART_BYTES // max(largest, 1.0))))

    def parts(self) -> Iterator[range]:
        """The numbers of the runs of each part."""
        size = self.runs_of_part
        return (range(at, min(at + size, self.runs)) for at in range(0, self.runs, size))

    def job(self, at: int) -> Job:
        """The run with this number."""
        point = self.points[at // len(self.seeds)]
        return Job(point.scenario, self.seeds[at % len(self.seeds)], point.variant)

    def plan(self) -> dict[str, Any]:
        """What an unfinished sweep must have in common with one that goes on with it."""
        digest = hashlib.sha256("\0".join(point.scenario.to_toml() for point in self.points).encode()).hexdigest()
        return {
            "mptcplab": _core.__version__,
            "scenarios": digest,
            "vary": self.vary,
            "seed": self.seeds.start,
            "seeds": len(self.seeds),
            "runs_of_part": self.runs_of_part,
        }

    def run(  # noqa: PLR0913, RUF100 - what a person can ask for
        self,
        output: Path | None,
        take: Callable[[pa.Table], None],
        *,
        resume: bool = False,
        workers: int | None = None,
        quiet: bool = False,
    ) -> None:
        """Runs what is missing; gives `take` the table of flows of each part, in order.

        Raises `Interrupted` after Ctrl-C; what was finished is in `output` then, and `resume` goes on there.
        """
        with only_writer(output) if output else nullcontext():
            store = _Store(self, output, resume=resume) if output else None
            self._run(store, take, workers, quiet=quiet)

    def _run(self, store: _Store | None, take: Callable[[pa.Table], None], workers: int | None, *, quiet: bool) -> None:
        progress = Progress(self.runs, "sweep", quiet=quiet)
        done = 0
        try:
            for number, runs in enumerate(self.parts()):
                found = store.rows(number) if store else None
                if found is None:
                    results = self._part(runs, progress, workers)
                    found = results.flows
                    if store:
                        store.write(number, results)
                take(found)
                done += len(runs)
                progress.tick(done)
        except KeyboardInterrupt as interrupt:
            # Anywhere: in the middle of a part, or while one is written.
            some = interrupt.finished if isinstance(interrupt, Interrupted) else Runs([])
            if store:
                # It may have come between the last part's file and `done`: the disk knows.
                done = min(store.finished() * self.runs_of_part, self.runs)
                store.join(done, some)
            raise Interrupted(Runs([]), self.runs, done + len(some)) from None
        finally:
            progress.close()
        if store:
            store.join(done)
            store.clear()

    def _part(self, runs: range, progress: Progress, workers: int | None) -> Runs:
        finished = itertools.count(runs.start + 1)
        return run_jobs(
            [self.job(at) for at in runs],
            workers=workers,
            quiet=True,
            on_result=lambda _at, _run: progress.tick(next(finished)),
        )


def _schema(file: Path) -> pa.Schema:
    with pa.OSFile(str(file)) as opened:
        return pq.read_schema(opened)


def _table(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as opened, pq.ParquetFile(opened) as parquet:
        return parquet.read()


class _Store:
    """The parts of a sweep on the disk."""

    def __init__(self, sweep: Sweep, output: Path, *, resume: bool) -> None:
        self._sweep, self._output = sweep, folder(output)
        plan, known = sweep.plan(), self._known()
        if known is None and any((output / PARTS).glob("*")):
            raise BadResult(f"{output / PARTS}: holds files of something else; give another --output")
        if known and not resume:
            raise BadResult(
                f"{output}: holds an unfinished sweep; --resume goes on with it, another --output begins anew"
            )
        if resume and known is None:
            what = "the sweep is finished" if (output / "run.json").exists() else "there is no sweep to go on with"
            raise BadResult(f"{output}: {what}; leave --resume out")
        differs = [key for key in plan if known and known.get(key) != plan[key]]
        if differs:
            raise BadResult(
                f"{output}: holds an unfinished sweep of another kind ({', '.join(differs)}); give the arguments that "
                "it began with, or another --output"
            )
        self._parts = folder(output, PARTS)
        if not known:
            self._forget()
            write_json(plan, self._output / PLAN)

    def _forget(self) -> None:
        """Removes the result that stood here, by what its list names: nobody else's file."""
        if not (self._output / "run.json").is_file():
            return
        scenarios = {Path(row["scenario"]).name for row in read_json(self._output / "run.json")["runs"]}
        for name in (*scenarios, *(f"{table}.parquet" for table in TABLES), "sweep.png", "sweep.svg", "run.json"):
            (self._output / name).unlink(missing_ok=True)

    def _known(self) -> dict[str, Any] | None:
        file = self._output / PLAN
        if not file.is_file():
            return None
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadResult(f"{file}: damaged: {error}; give another --output") from error
        return found if isinstance(found, dict) else {}

    def _file(self, number: int, table: str) -> Path:
        return self._parts / f"{number:06}-{table}.parquet"

    def _list(self, number: int) -> Path:
        return self._parts / f"{number:06}.json"

    def finished(self) -> int:
        """How many parts are whole, from the first on."""
        return next(number for number in itertools.count() if not self._list(number).is_file())

    def rows(self, number: int) -> pa.Table | None:
        """The table of flows of a part that was finished; of a damaged one, which is run again, None."""
        if not self._list(number).is_file():
            return None
        try:
            return self._whole(number)
        except (BadResult, BadFile, OSError):
            for table in TABLES:
                self._file(number, table).unlink(missing_ok=True)
            self._list(number).unlink(missing_ok=True)
            return None

    def _whole(self, number: int) -> pa.Table:
        """The table of flows of a part of which everything can be read. Raises `BadResult`."""
        runs = next(itertools.islice(self._sweep.parts(), number, None))
        jobs = [self._sweep.job(at) for at in runs]
        try:
            listed = [(row["variant"], row["seed"]) for row in json.loads(read_bytes(self._list(number), MOST_TEXT))]
        except (ValueError, TypeError, KeyError) as error:
            raise BadResult(f"{self._list(number)}: damaged: {error}") from error
        if listed != [(job.variant, job.seed) for job in jobs]:
            raise BadResult(f"{self._list(number)}: damaged: it lists other runs")
        found = {table: self._file(number, table) for table in TABLES}
        tables = {table: read_table(file) for table, file in found.items() if file.is_file() or table in ALWAYS}
        return tables["flows"]

    def write(self, number: int, runs: Runs) -> None:
        """Writes a part; its list of runs comes last, so that who finds that finds all."""
        for table, rows in tables_of(runs).items():
            write_parquet(rows, self._file(number, table))
        write_json([described(run, "") for run in runs], self._list(number))

    def join(self, done: int, more: Runs | None = None) -> None:
        """Makes one result of the first `done` runs, and `more` of the part that was not finished."""
        numbers = list(range(-(-done // self._sweep.runs_of_part)))
        if more:
            # By a number that no part has: nobody shall take it for a whole one.
            numbers.append(UNFINISHED)
            self.write(UNFINISHED, more)
        for table in TABLES:
            files = [self._file(number, table) for number in numbers]
            files = [file for file in files if file.is_file()]
            if files:
                schemas = [_schema(file) for file in files]
                join((_table(file) for file in files), schemas, self._output / f"{table}.parquet")
        names = self._scenarios()
        if numbers:
            rows = (
                row | {"scenario": names[row["variant"]]}
                for number in numbers
                for row in json.loads(self._list(number).read_text(encoding="utf-8"))
            )
            write_long({"mptcplab": _core.__version__, "backend": "sim"}, "runs", rows, self._output / "run.json")

    def _scenarios(self) -> dict[str, str]:
        """Writes each scenario once; the file of each variant."""
        files, names = dict[str, str](), dict[str, str]()
        for point in self._sweep.points:
            text = point.scenario.to_toml()
            if text not in files:
                files[text] = "scenario.toml" if not files else f"scenario-{len(files) + 1}.toml"
                write_text(self._output / files[text], text)
            names[point.variant] = files[text]
        return names

    def clear(self) -> None:
        """Takes the parts away, the plan last: parts without one would be nobody's."""
        shutil.rmtree(self._parts)
        (self._output / PLAN).unlink()
