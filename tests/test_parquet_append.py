"""Parquet files that are appended without decoding their rows: rows, bytes, errors."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mptcplab import Scenario
from mptcplab.results.write.export import samples_file
from mptcplab.results.write.parquet_append import MOST_ORDINAL, append

SHORT = 'name = "short"\nduration = "1s"\n[paths.a]\nrate = "8Mbit"\nrtt = "20ms"\nloss = "1%"\n[flows.f]\n'


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    """Files of one, two and three runs."""
    runs = Scenario.parse(SHORT).runs(range(1, 7))
    return [samples_file(part) for part in (runs[:1], runs[1:3], runs[3:])]


def table(data: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(data))


def test_rows_and_statistics_are_those_of_the_files(files: list[bytes], tmp_path: Path) -> None:
    append(files, tmp_path / "all")
    joint = pq.read_table(tmp_path / "all")
    joint.validate(full=True)
    assert joint.to_pylist() == [row for data in files for row in table(data).to_pylist()]
    assert joint.schema.equals(table(files[0]).schema, check_metadata=True)
    assert joint["seed"].unique().to_pylist() == [1, 2, 3, 4, 5, 6]
    metadata = pq.read_metadata(tmp_path / "all")
    assert metadata.num_rows == joint.num_rows
    seeds = [metadata.row_group(at).column(1).statistics for at in range(metadata.num_row_groups)]
    assert [(one.min, one.max) for one in seeds] == [(1, 1), (2, 3), (4, 6)]


def test_the_division_does_not_matter(files: list[bytes], tmp_path: Path) -> None:
    append(files, tmp_path / "all")
    append(files[:1], tmp_path / "first")
    assert (tmp_path / "first").read_bytes() == files[0]
    append(files[1:], tmp_path / "others")
    append(((tmp_path / name).read_bytes() for name in ("first", "others")), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "all").read_bytes()


def test_a_file_without_rows_can_be_appended(files: list[bytes], tmp_path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table(files[0]).slice(0, 0), sink, version="2.6", compression="zstd", data_page_version="2.0")
    append([bytes(sink.getvalue()), files[1]], tmp_path / "all")
    assert pq.read_table(tmp_path / "all").to_pylist() == table(files[1]).to_pylist()


def test_more_row_groups_than_ordinals(tmp_path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1]}), sink)
    append([bytes(sink.getvalue())] * (MOST_ORDINAL + 3), tmp_path / "all")
    assert pq.read_metadata(tmp_path / "all").num_row_groups == MOST_ORDINAL + 3
    assert pq.ParquetFile(tmp_path / "all").read_row_group(MOST_ORDINAL + 2).to_pylist() == [{"a": 1}]


def test_other_files_are_refused(files: list[bytes], tmp_path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1]}), sink)
    with pytest.raises(ValueError, match="all: files of different schemas"):
        append([files[0], bytes(sink.getvalue())], tmp_path / "all")
    with pytest.raises(ValueError, match="no file to append"):
        append([], tmp_path / "all")
    for damaged in (b"", bytes(100), files[0][:-9], b"PAR1" + bytes(8) + b"PAR1", files[0][:4] + files[0][-8:]):
        with pytest.raises(ValueError, match=r"not a Parquet file|truncated|thrift"):
            append([damaged], tmp_path / "all")
    assert list(tmp_path.iterdir()) == []
