"""Results that were cut off, changed, or made by somebody else: one line, never a traceback, work within bounds."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import TWO_PATHS, Cli
from mptcplab import Scenario
from mptcplab.results.read import result_files
from mptcplab.results.read.result_reader import load
from mptcplab.results.write.merging import group, merge
from mptcplab.stats import analysis
from mptcplab.util.user_input import BadResult

FILES = ("run.json", "scenario.toml", "samples.parquet", "flows.parquet", "links.parquet")
SLOW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small result."""
    where = tmp_path_factory.mktemp("results") / "good"
    Scenario.parse(TWO_PATHS).vary({"duration": "2s"}).run(1).save(where)
    return where


@pytest.fixture
def damaged(result: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(result, tmp_path / "bad")
    return tmp_path / "bad"


def use(where: Path) -> str:
    """Every reader of a result, and its error for a damaged one."""
    shutil.rmtree(where.parent / "merged", ignore_errors=True)
    shutil.rmtree(where.parent / "groups", ignore_errors=True)
    output = []
    for read in (
        lambda: [analysis.tables(run, 0.5) for run in load(where)],
        lambda: [(run.controllers(), run.warmup, [run.bit_rate(path) for path in run.paths]) for run in load(where)],
        lambda: [run.channel(path) for run in load(where) for path in run.paths],
        lambda: merge([where], where.parent / "merged"),
        lambda: group([where], ["scenario", "congestion", "direction"], where.parent / "groups"),
    ):
        try:
            read()
        except BadResult as error:
            output.append(str(error))
    assert all("\n" not in one for one in output), output
    return output[0] if output else ""


def test_a_good_one_is_read(result: Path) -> None:
    assert use(result) == ""


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("run.json", b'{"mptcplab": "0.1.0", "runs": [{"run"', "is not JSON"),
        ("run.json", b"[" * 100_000, "is not JSON"),
        ("run.json", b"\xff\xfe", "not UTF-8 (byte 0)"),
        ("run.json", b"[]", "no list of runs"),
        ("run.json", b'{"mptcplab": "1", "runs": [3]}', "run 0 is not a table"),
        ("run.json", b'{"mptcplab": 1, "runs": []}', "has no version"),
        ("scenario.toml", b"x = ", "is not TOML"),
        ("scenario.toml", b"x = " + b"[" * 100_000, "is not TOML"),
        ("scenario.toml", b"paths = 3", "paths does not contain named tables"),
        ("scenario.toml", b"\xff", "not UTF-8"),
        ("samples.parquet", b"", "is not a readable Parquet file"),
        ("samples.parquet", b"PAR1" + b"\xff" * 60 + b"PAR1", "is not a readable Parquet file"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, damaged: Path, file: str, content: bytes, says: str) -> None:
    (damaged / file).write_bytes(content)
    assert says in use(damaged)
    commands = (
        ["analyse", "bad"],
        ["plot", "bad"],
        ["cdf", "bad:wifi"],
        ["link-stats", "bad"],
        ["merge", "bad", "--output", "all"],
    )
    for arguments in commands:
        done = cli(*arguments, expect=None)
        assert done.returncode == 2 or (arguments[0] == "merge" and file == "scenario.toml"), (arguments, done.stdout)
        assert len(done.stderr.splitlines()) <= 1
        assert done.returncode == 0 or f"bad/{file}" in done.stderr


def test_every_cut_is_found(damaged: Path) -> None:
    for file in ("run.json", "samples.parquet"):
        whole = (damaged / file).read_bytes()
        for share in range(20):
            (damaged / file).write_bytes(whole[: len(whole) * share // 20])
            assert f"bad/{file}: damaged" in use(damaged), (file, share)
        (damaged / file).write_bytes(whole)


def test_a_result_reads_nothing_outside(damaged: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("secret = 1")
    for name in ("../secret.toml", str(tmp_path / "secret.toml"), "..", "", "a\0b"):
        described = json.loads((damaged / "run.json").read_text())
        described["runs"][0]["scenario"] = name
        (damaged / "run.json").write_text(json.dumps(described))
        assert "outside this directory" in use(damaged)


@pytest.mark.parametrize("file", FILES)
def test_pipes_and_devices_are_no_results(damaged: Path, file: str) -> None:
    for place in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (damaged / file).unlink()
        make: Callable[[Path], Any] = place
        make(damaged / file)
        output = use(damaged)
        # A table that merge alone would copy may lack; a pipe counts as lacking.
        assert output or file in ("flows.parquet", "links.parquet"), file


def test_a_small_file_of_endless_rows(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "MOST_ROWS", 100)
    assert "rows exceed the maximum of 100" in use(damaged)


@pytest.mark.parametrize("table", ["samples", "flows"])
def test_a_long_text_that_every_row_repeats(damaged: Path, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    """A dictionary has the text once, and plain text would have it in each row."""
    monkeypatch.setattr(result_files, "BYTES_OF_TEXT", 100_000)
    file = damaged / f"{table}.parquet"
    rows = pq.read_table(file)
    text = pa.DictionaryArray.from_arrays(pa.array([0] * len(rows), pa.int32()), ["x" * 90_000])
    pq.write_table(rows.set_column(rows.column_names.index("variant"), "variant", text), file, compression="zstd")
    assert file.stat().st_size < 40_000
    size = sum(entry.stat().st_size for entry in damaged.iterdir())
    for _ in range(2):
        with pytest.raises(BadResult, match=r"bytes of text in the \d+ rows of 'variant' exceed the maximum"):
            merge([damaged], damaged.parent / "merged")
        assert not (damaged.parent / "merged").exists()
    assert size == sum(entry.stat().st_size for entry in damaged.iterdir())


def test_rows_that_are_too_large_are_not_read(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "BYTES_OF_TEXT", 1000)
    monkeypatch.setattr(result_files, "BYTES_OF_ROW", 1)
    assert "rows exceed the maximum" in use(damaged)


def test_a_merge_that_fails_leaves_what_was_there(damaged: Path, result: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "notes").write_text("mine")
    (damaged / "links.parquet").write_bytes(b"PAR1" + bytes(40))
    with pytest.raises(BadResult, match="links"):
        merge([result, damaged], tmp_path / "all")
    assert [entry.name for entry in (tmp_path / "all").iterdir()] == ["notes"]


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("time_s", pa.array([float("nan")]), "has times from"),
        ("time_s", pa.array([1e300]), "has times from"),
        ("time_s", pa.array([-1.0]), "has times from"),
        ("time_s", pa.array(["soon"]), "damaged"),
        ("seed", pa.array([-1]), "damaged"),
        ("flow", pa.array([None], pa.string()), "has missing values"),
        ("value", None, "no column 'value'"),
    ],
)
def test_columns_of_another_make(damaged: Path, column: str, value: pa.Array | None, says: str) -> None:
    table = pq.read_table(damaged / "samples.parquet").slice(0, 1)
    at = table.column_names.index(column)
    table = table.remove_column(at) if value is None else table.set_column(at, column, value)
    pq.write_table(table, damaged / "samples.parquet")
    assert says in use(damaged)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Positions of values in JSON or TOML."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*at, key))


OTHER = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from([[], {}, [[]], {"a": 1}, ["wifi"], 10**400]),
)


@SLOW
@given(data=st.data())
def test_any_other_value_in_its_description(result: Path, data: st.DataObject) -> None:
    where = result.parent / "changed"
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(result, where)
    described = copy.deepcopy(json.loads((result / "run.json").read_text()))
    at = data.draw(st.sampled_from([place for place in places(described) if place]))
    inner = described
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = data.draw(OTHER)
    try:
        text = json.dumps(described)
    except ValueError:
        return
    (where / "run.json").write_text(text)
    use(where)


@SLOW
@given(data=st.data())
def test_any_change_of_bytes(result: Path, data: st.DataObject) -> None:
    where = result.parent / "changed"
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(result, where)
    file = data.draw(st.sampled_from(FILES))
    content = bytearray((result / file).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        how = data.draw(st.sampled_from(("cut", "flip", "insert", "drop")))
        if how == "cut":
            del content[at:]
        elif how == "drop":
            del content[at : at + data.draw(st.integers(1, 20))]
        elif how == "insert":
            content[at:at] = data.draw(st.binary(min_size=1, max_size=8))
        elif at < len(content):
            content[at] ^= 1 << data.draw(st.integers(0, 7))
    (where / file).write_bytes(content)
    use(where)


def test_a_file_name_with_a_line_break_is_told_in_one_line(result: Path) -> None:
    where = result.parent / "changed"
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(result, where)
    described = json.loads((result / "run.json").read_text())
    described["runs"][0]["scenario"] = "\n"
    (where / "run.json").write_text(json.dumps(described))
    assert "not written by mptcplab" in use(where)
