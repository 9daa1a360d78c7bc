"""Tables as data frames of pandas and polars."""

from __future__ import annotations

import pytest

from mptcplab import Flow, Path, Run, Runs, Scenario


@pytest.fixture(scope="module")
def runs() -> Runs:
    scenario = Scenario(duration="2s", paths={"one": Path(rate="2Mbit", rtt="20ms")}, flows={"bulk": Flow()})
    return scenario.sweep({"paths.one.rate": ["1Mbit", "2Mbit"]}, seeds=[1, 2])


def test_flows_are_rows_with_the_varied_key(runs: Runs) -> None:
    pandas, polars = runs.to_pandas(), runs.to_polars()
    assert len(pandas) == len(polars) == 4
    assert list(pandas["paths.one.rate"]) == polars["paths.one.rate"].to_list() == [1e6, 1e6, 2e6, 2e6]
    assert pandas["goodput"].tolist() == polars["goodput"].to_list()
    assert pandas.groupby("paths.one.rate")["goodput"].mean().is_monotonic_increasing


@pytest.mark.parametrize("table", ["flows", "paths", "links", "blocks", "samples"])
def test_all_tables_convert(runs: Runs, table: str) -> None:
    run: Run = runs[0]
    expected = getattr(run, table).num_rows
    assert len(run.to_pandas(table)) == len(run.to_polars(table)) == expected


def test_unknown_table_names_the_nearest(runs: Runs) -> None:
    with pytest.raises(ValueError, match="did you mean flows"):
        runs.to_pandas("flow")
