"""Results read back, resampled and put together."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab import Run, Scenario, _core
from mptcplab.plots import result_plots
from mptcplab.results.read import result_reader
from mptcplab.results.write import merging
from mptcplab.stats import analysis, statistics
from mptcplab.stats.analysis import TOTAL
from mptcplab.stats.resampling import resample
from mptcplab.util.files import slug
from mptcplab.util.user_input import BadResult, choose, seconds

AMOUNTS = st.lists(st.floats(min_value=0, max_value=1e9), min_size=1, max_size=20)
VALUES = st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=1, max_size=50)


@pytest.fixture(scope="module")
def run(two_paths: Scenario) -> Run:
    return two_paths.run(seed=3)


@pytest.fixture(scope="module")
def result(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("saved") / "result"
    run.save(directory)
    return directory


@given(VALUES)
def test_a_distribution_rises_to_one(values: list[float]) -> None:
    ordered, below = statistics.distribution(values)
    assert (np.diff(ordered) >= 0).all()
    assert (np.diff(below) > 0).all()
    assert below[-1] == 1.0


@given(VALUES, st.floats(min_value=0, max_value=1))
def test_a_quantile_has_its_share_below_it(values: list[float], share: float) -> None:
    found = statistics.quantile(values, share)
    assert found in values
    assert np.mean(np.array(values) <= found) >= share - 1e-9


def test_a_quantile_of_nothing_is_nothing() -> None:
    assert math.isnan(statistics.quantile([], 0.5))
    with pytest.raises(ValueError, match="share"):
        statistics.quantile([1.0], 1.5)


@given(AMOUNTS)
def test_shares_are_together_one(amounts: list[float]) -> None:
    found = statistics.shares(amounts)
    if sum(amounts) > 0:
        assert found.sum() == pytest.approx(1)
        assert ((found >= 0) & (found <= 1)).all()
    else:
        assert np.isnan(found).all()


@given(AMOUNTS, st.integers(min_value=1, max_value=7))
def test_resampling_keeps_the_bytes(rates: list[float], together: int) -> None:
    times = np.arange(1, len(rates) + 1) * 0.1
    interval = 0.1 * together
    count = math.ceil(len(rates) / together)
    steps = np.arange(1, count + 1) * interval
    found = resample(times, np.array(rates), steps, interval, "rate")
    lengths = np.full(count, interval)
    lengths[-1] = times[-1] - interval * (count - 1)
    assert (found * lengths).sum() == pytest.approx(sum(rates) * 0.1, rel=1e-6, abs=1e-6)


@given(st.lists(st.integers(min_value=0, max_value=100), min_size=1, max_size=40))
def test_resampling_keeps_counts(growth: list[int]) -> None:
    times = np.arange(1, len(growth) + 1) * 0.1
    steps = np.arange(1, math.ceil(len(growth) / 5) + 1) * 0.5
    found = resample(times, np.cumsum(growth).astype(float), steps, 0.5, "count")
    assert found.sum() == sum(growth)


def test_what_is_saved_is_what_is_read(run: Run, result: Path) -> None:
    (read,) = result_reader.load(result)
    assert (read.name, read.seed, read.paths, read.flows) == ("two paths", 3, ["wifi", "3g"], ["bulk"])
    assert (read.duration, read.warmup) == (6.0, 1.0)
    assert read.bit_rate("wifi") == 8e6
    assert read.bit_rate(TOTAL) is None
    assert read.channel("wifi") is None
    for metric, path in (("cwnd", "wifi"), ("throughput", "3g")):
        times, values = run.series(metric, flow="bulk", path=path)
        found = read.series(metric, flow="bulk", path=path)
        assert np.array_equal(found[0], times)
        assert np.array_equal(found[1], values)
    assert analysis.tables(read).keys() == analysis.tables(result_reader.SavedRun.of(run)).keys()


def test_tables_add_up(run: Run) -> None:
    tables = analysis.tables(result_reader.SavedRun.of(run), 1.0)
    wifi, cellular, total = (tables[name] for name in ("wifi", "3g", TOTAL))
    assert total["time_s"].to_pylist() == [1, 2, 3, 4, 5, 6]
    for name in ("throughput", "utilisation"):
        parts = wifi[name].to_numpy() + cellular[name].to_numpy()
        assert np.allclose(parts, total[name].to_numpy())
    assert np.allclose(total["utilisation"].to_numpy(), 100)
    sent = sum(path["retransmits"] for path in run.flow()["paths"])
    late = total["time_s"].to_numpy() > run.scenario.warmup
    assert total["retransmits"].to_numpy()[late].sum() == sent
    assert np.isfinite(total["send_queue"].to_numpy()).all()
    assert np.isnan(wifi["send_queue"].to_numpy()).all()


def test_a_closed_subflow_carries_nothing_and_has_no_window(two_paths: Scenario) -> None:
    text = two_paths.to_toml() + '\n[[events]]\nat = "3s"\npath = "3g"\nset = { up = false }\n'
    table = analysis.tables(result_reader.SavedRun.of(Scenario.parse(text).run()))["3g"]
    late = table["time_s"].to_numpy() > 4
    assert (table["throughput"].to_numpy()[late] == 0).all()
    assert np.isnan(table["cwnd"].to_numpy()[late]).all()


def test_an_interval_below_the_samples_is_refused(run: Run) -> None:
    with pytest.raises(BadResult, match="shorter than"):
        analysis.tables(result_reader.SavedRun.of(run), 0.1)


def test_merging_keeps_every_row_and_tells_runs_apart(two_paths: Scenario, tmp_path: Path) -> None:
    short = two_paths.vary({"duration": "3s"})
    other = short.vary({"flows.bulk.transport": "tcp", "duration": "2s"})
    two_paths.run(1).save(tmp_path / "a")
    short.run(1).save(tmp_path / "b")
    other.runs([1, 2]).save(tmp_path / "c")
    names = merging.merge([tmp_path / name for name in "abc"], tmp_path / "all")
    assert len(set(names)) == 4
    assert names[0] == ("two paths", 1, "")
    for table in ("samples", "flows", "paths", "links"):
        rows = [pq.read_table(tmp_path / name / f"{table}.parquet").num_rows for name in "abc"]
        assert pq.read_table(tmp_path / "all" / f"{table}.parquet").num_rows == sum(rows)
    again = result_reader.load(tmp_path / "all")
    assert [read.duration for read in again] == [6.0, 3.0, 2.0, 2.0]
    tables = {name: pq.read_table(tmp_path / name / "samples.parquet") for name in ("a", "b", "c", "all")}
    values = np.concatenate([tables[name]["value"].to_numpy() for name in "abc"])
    merged = tables["all"]["value"].to_numpy()
    assert np.array_equal(merged, values)
    with pytest.raises(BadResult, match="already contains a result"):
        merging.merge([tmp_path / "a"], tmp_path / "all")


def test_grouping_by_something_long(two_paths: Scenario, tmp_path: Path) -> None:
    """File systems take names of 255 bytes; those that differ late stay apart."""
    for end in ("one", "two"):
        two_paths.vary({"duration": "2s", "description": "ü" * 240 + " " + end}).run().save(tmp_path / end)
    groups = merging.group([tmp_path / "one", tmp_path / "two"], ["description"], tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(groups) == len(names) == 2
    assert sorted(merging.group_directories(groups).values()) == names
    assert all(len(name.encode()) <= 210 and (tmp_path / "out" / name / "run.json").is_file() for name in names)
    assert len({name[:90] for name in names}) == 1
    assert slug("x" * 100) == "x" * 100
    assert len(slug("x" * 101)) == 107


def test_grouping_by_scenario_and_controller(two_paths: Scenario, tmp_path: Path) -> None:
    two_paths.run(1).save(tmp_path / "a")
    two_paths.run(2).save(tmp_path / "b")
    two_paths.vary({"flows.bulk.congestion": "reno"}).run(1).save(tmp_path / "c")
    everything = [tmp_path / name for name in "abc"]
    by_scenario = merging.group(everything, ["scenario"], tmp_path / "scenarios")
    assert [len(members) for members in by_scenario.values()] == [2, 1]
    by_controller = merging.group(everything, ["congestion"], tmp_path / "controllers")
    assert by_controller == {"lia": [str(everything[0]), str(everything[1])], "reno": [str(everything[2])]}
    assert len(result_reader.load(tmp_path / "controllers" / "lia")) == 2
    with pytest.raises(BadResult, match="no radio cells"):
        merging.group(everything, ["channel"], tmp_path / "channels")


@pytest.mark.parametrize(
    ("channels", "relation"),
    [
        ((1, 1), "same channel"),
        ((1, 11), "non-overlapping"),
        ((1, 3), "overlapping"),
        ((11, 36), "cross band"),
        ((36, 48), "non-overlapping"),
    ],
)
def test_how_channels_lie_to_each_other(run: Run, channels: tuple[int, int], relation: str) -> None:
    read = result_reader.SavedRun.of(run)
    read.scenario["cells"] = {"one": {"channel": channels[0]}}
    read.scenario["paths"]["wifi"]["cell"] = "one"
    read.scenario["paths"]["3g"]["channel"] = channels[1]
    assert [read.channel(path) for path in read.paths] == list(channels)
    assert merging.channel_relation(read) == relation


def test_scaling_to_a_hundred() -> None:
    drawn, _ = result_plots.scaled("utilisation", np.array([0.0, 50.0, 100.0]), "")
    assert drawn.tolist() == [80, 90, 100]
    drawn, label = result_plots.scaled("cwnd", np.array([math.nan, 2500.0]), "cwnd [kB]")
    assert drawn[1] == 25
    assert label == "cwnd [kB] / 100"
    assert result_plots.scaled("srtt", np.array([100.0]), "srtt")[0].tolist() == [100]


def test_names_and_times() -> None:
    assert [seconds(text) for text in ("500ms", "2s", "1min", "10us")] == pytest.approx([0.5, 2, 60, 1e-5])
    with pytest.raises(BadResult, match="is not a duration"):
        seconds("3")
    with pytest.raises(BadResult, match="did you mean cwnd"):
        choose("cwd", ["cwnd", "srtt"], "metric")


def test_every_metric_has_a_column() -> None:
    assert {name for name, _ in _core.metrics()} | {"latency"} == {quantity.metric for quantity in analysis.QUANTITIES}


def test_a_run_is_read_without_the_others(two_paths: Scenario, tmp_path: Path) -> None:
    """Runs that share groups of rows, and one that goes over two: each its own series, as in memory."""
    from mptcplab.results.read.sample_file import SampleFile

    runs = two_paths.vary({"duration": "2s"}).sweep({"paths.wifi.loss": ["0%", "1%"]}, seeds=range(1, 6))
    runs.save(tmp_path / "many")
    table = pq.read_table(tmp_path / "many" / "samples.parquet")
    pq.write_table(table, tmp_path / "many" / "samples.parquet", row_group_size=1000)
    loaded = result_reader.load(tmp_path / "many")
    assert len(loaded) == 10
    for own, read in zip(runs, loaded, strict=True):
        assert (read.seed, read.variant) == (own.seed, own.variant)
        for metric, path in (("throughput", "wifi"), ("cwnd", "3g"), ("goodput", "*")):
            for mine, theirs in zip(
                own.series(metric, path=path), read.series(metric, flow="bulk", path=path), strict=True
            ):
                assert np.array_equal(mine, theirs, equal_nan=True)
    assert loaded[0].series("no such", flow="bulk", path="wifi")[0].size == 0
    file = SampleFile(tmp_path / "many" / "samples.parquet")
    assert not file.of(("nobody", 1, "")).flows


def test_groups_of_other_variants_are_not_even_looked_at(
    two_paths: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mptcplab.results.read.sample_file import SampleFile

    two_paths.vary({"duration": "2s"}).sweep({"paths.wifi.loss": ["0%", "1%"]}, seeds=range(1, 4)).save(tmp_path)
    table = pq.read_table(tmp_path / "samples.parquet")
    pq.write_table(table, tmp_path / "samples.parquet", row_group_size=50)
    looked: list[int] = []
    read = SampleFile._group

    def look(self: SampleFile, number: int) -> pa.Table:
        looked.append(number)
        return read(self, number)

    monkeypatch.setattr(SampleFile, "_group", look)
    last = result_reader.load(tmp_path)[-1]
    assert last.flows == ["bulk"]
    groups = pq.read_metadata(tmp_path / "samples.parquet").num_row_groups
    assert min(looked) >= groups / 2 - 1
    assert len(set(looked)) < groups / 2
