"""Rows of samples: series come out whole, however the rows lie and however many names there are."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from mptcplab.results.read.sample_file import RunSamples
from mptcplab.results.read.sample_rows import Rows
from mptcplab.stats.resampling import resample


def _table(flows: list[str], paths: list[str]) -> pa.Table:
    count = len(flows)
    return pa.table(
        {
            "time_s": np.arange(1, count + 1) * 0.1,
            "flow": flows,
            "path": paths,
            "metric": ["cwnd", "srtt"] * (count // 2),
            "value": np.arange(count, dtype=np.float64),
        }
    )


@pytest.mark.parametrize("names", [3, 300])
def test_every_series_has_its_own_rows(names: int) -> None:
    """With 300 names of flows and of paths, more series are possible than two bytes count."""
    flows = [f"f{at % names}" for at in range(1200)]
    paths = ["*" if at % 7 == 0 else f"p{at * 3 % names}" for at in range(1200)]
    table = _table(flows, paths)
    found = RunSamples.of(table)
    assert found.flows == list(dict.fromkeys(flows))
    assert found.paths == [path for path in dict.fromkeys(paths) if path != "*"]
    for at in (0, 1, 599, 1198):
        metric = ("cwnd", "srtt")[at % 2]
        mine = [row for row in range(1200) if (flows[row], paths[row], row % 2) == (flows[at], paths[at], at % 2)]
        times, values = found.series(metric, flows[at], paths[at])
        assert values.tolist() == mine
        assert np.array_equal(times, table["time_s"].to_numpy()[mine])


def test_parts_with_names_in_another_order_go_together() -> None:
    first, second = Rows.of(_table(["a", "b"], ["x", "y"])), Rows.of(_table(["b", "a", "b", "c"], ["x", "x", "y", "y"]))
    found = RunSamples(Rows.joined([first, second.part([slice(1, 2), slice(3, 4)])]))
    assert (found.flows, found.paths, found.metrics) == (["a", "b", "c"], ["x", "y"], ["cwnd", "srtt"])
    assert found.series("srtt", "a", "x")[1].tolist() == [1]
    assert found.series("cwnd", "a", "x")[1].tolist() == [0]
    assert found.series("srtt", "c", "y")[1].tolist() == [3]
    assert not RunSamples(Rows.joined([])).flows


def test_times_that_were_seen_before_change_nothing() -> None:
    """Series of the same times share where they go; one with holes, or of other times, has its own."""
    times, steps = np.array([0.1, 0.2, 0.3, 0.9]), np.array([0.5, 1.0])
    whole, holes = np.array([1.0, 2.0, 3.0, 5.0]), np.array([1.0, math.nan, 3.0, math.nan])
    for _ in range(2):
        assert resample(times, whole, steps, 0.5, "state").tolist() == [2, 5]
        assert np.array_equal(resample(times, holes, steps, 0.5, "state"), [2, math.nan], equal_nan=True)
        assert resample(times + 0.5, whole, steps, 0.5, "count").tolist() == [0, 3]
        assert resample(times, whole, steps, 0.5, "count").tolist() == [3, 2]
        assert resample(times, whole, steps, 1.0, "state").tolist()[0] == 2.75
