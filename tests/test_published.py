"""Your own runs of a study's experiment, with the published values."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import TWO_PATHS, Cli
from mptcplab import Scenario
from mptcplab.plots.figure_style import PUBLISHED
from mptcplab.reproduce.published_plot import experiment_of, plot_published
from mptcplab.reproduce.published_values import measured
from mptcplab.results.read.result_reader import SavedRun, load
from mptcplab.results.write.merging import merge
from mptcplab.stats.statistics import Estimate, estimate
from mptcplab.studies import STUDIES
from mptcplab.studies.published import mark
from mptcplab.util.user_input import BadResult

KNOWN = {f"{study.name}/{one.name}": one for study in STUDIES.values() for one in study.experiments}
C1 = KNOWN["cs244-rcvbuf/C1"]


def test_a_sweep_of_what_study_wrote(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c1.toml").write_text(cli("study", "cs244-rcvbuf/C1", "--toml", "--set", "duration=11s").stdout)
    cli("sweep", "c1.toml", "--vary", "flows.*.{rcvbuf,sndbuf}=50KB,200KB", "--seeds", "2", "--output", "mine")
    output = cli("plot", "mine", "--published", "--output", "mine.svg").stdout
    assert "cs244-rcvbuf/C1" in output
    assert "published: maximum at 400 KB" in output
    assert (tmp_path / "mine.svg").read_bytes().startswith(b"<?xml")
    (axes,) = plot_published(load(tmp_path / "mine"), C1).axes
    drawn = {str(line.get_label()): line for line in axes.lines}
    own = [line for label, line in drawn.items() if label.startswith("your runs")]
    assert [np.asarray(line.get_xdata()).tolist() for line in own] == [[50, 200]]
    assert "[KB = 1024 B]" in axes.get_xlabel()
    gold = {
        label: float(np.asarray(line.get_xdata())[0]) for label, line in drawn.items() if line.get_color() == PUBLISHED
    }
    assert gold == dict(zip(gold, (400, 300), strict=True))


def test_who_names_no_experiment_is_told_how(cli: Cli, tmp_path: Path) -> None:
    scenario = Scenario.parse(TWO_PATHS)
    scenario.vary({"duration": "2s"}).run().save(tmp_path / "mine")
    error = cli("plot", "mine", "--published", expect=2).stderr
    assert "--published STUDY/EXPERIMENT" in error
    assert "cs244-rcvbuf/C1" in error
    cli("plot", "mine", "--published", "cs244-rcvbuf/C1", "--output", "a.png")
    assert "did you mean" in cli("plot", "mine", "--published", "cs244-rcvbuff/C1", expect=2).stderr
    assert "no numbers to draw" in cli("plot", "mine", "--published", "cs244-rcvbuf/C2", expect=2).stderr


def small(**keys: str) -> Scenario:
    """Two seconds over which C1's buffers can be varied."""
    return Scenario.parse(TWO_PATHS).vary({"duration": "2s", **{f"flows.bulk.{key}": keys[key] for key in keys}})


def test_runs_of_other_send_buffers_are_another_curve(tmp_path: Path) -> None:
    for at, (rcvbuf, sndbuf) in enumerate((("50KB", "50KB"), ("200KB", "200KB"), ("50KB", "1MB"), ("200KB", "1MB"))):
        small(rcvbuf=rcvbuf, sndbuf=sndbuf).run().save(tmp_path / str(at))
    merge([tmp_path / str(at) for at in range(4)], tmp_path / "all")
    (axes,) = plot_published(load(tmp_path / "all"), C1).axes
    own = [line for line in axes.lines if str(line.get_label()).startswith("your runs")]
    # Send buffers equal to the receive buffer form one curve, those of 1 MB another.
    assert [np.asarray(line.get_xdata()).tolist() for line in own] == [[50, 200], [50, 200]]


def test_a_run_that_is_there_twice_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(rcvbuf="50KB", sndbuf="50KB").runs([1, 2]).save(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert len(load(tmp_path / "all")) == 4
    seen: list[list[float]] = []

    def count(values: Iterable[float]) -> Estimate:
        seen.append(list(values))
        return estimate(seen[-1])

    monkeypatch.setattr("mptcplab.reproduce.published_plot.estimate", count)
    plot_published(load(tmp_path / "all"), C1)
    assert [len(values) for values in seen] == [2]


def test_the_course_of_a_run_says_whose_it_is(tmp_path: Path) -> None:
    small().runs([5, 6]).save(tmp_path / "two")
    runs = load(tmp_path / "two")
    course = KNOWN["ucl-wifi/E8"]
    assert plot_published(runs, course).axes[0].get_xlabel() == "time [s] (seed 5, the first of 2 runs)"
    assert plot_published(runs[1:], course).axes[0].get_xlabel() == "time [s] (seed 6)"


def transfers(size: str) -> Scenario:
    """A file of that size, and one that ends in any case."""
    text = TWO_PATHS.replace("baselines = true", f'bytes = "{size}"') + '[flows.b]\nbytes = "10kB"\n'
    return Scenario.parse(text).vary({"duration": "3s"})


def test_what_did_not_end_is_left_out_and_said(tmp_path: Path) -> None:
    single = KNOWN["abdrabou-heterogeneous/B1"]
    transfers("50kB").run().save(tmp_path / "done")
    transfers("50MB").run().save(tmp_path / "cut")
    done, cut = (plot_published(load(tmp_path / name), single).axes[0] for name in ("done", "cut"))
    assert "excluded: 1 of 2 transfers, which did not end" in [str(line.get_label()) for line in cut.lines]
    assert not any("left out" in str(line.get_label()) for line in done.lines)
    (took,) = measured(load(tmp_path / "cut"))
    short = next(row["completion_s"] for row in took.flows if row["flow"] == "b")
    drawn = next(line for line in cut.lines if str(line.get_label()).startswith("your runs"))
    assert np.asarray(drawn.get_ydata()).tolist() == [pytest.approx(short)]
    small().run().save(tmp_path / "bulk")
    with pytest.raises(BadResult, match="no transfer ended, so there is no completion time of a transfer"):
        plot_published(load(tmp_path / "bulk"), single)


Change = Callable[[pa.Table], pa.Table]


def filled(name: str, value: object) -> Change:
    """A column with one value in all its rows."""

    def change(table: pa.Table) -> pa.Table:
        at = table.column_names.index(name)
        return table.set_column(at, name, pa.array([value] * table.num_rows, table.schema.field(name).type))

    return change


def without(name: str) -> Change:
    return lambda table: table.drop_columns(name)


@pytest.fixture(scope="module")
def one_transfer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved result of a transfer by Multipath TCP and one by TCP; who changes it copies it."""
    text = TWO_PATHS.replace("baselines = true", 'bytes = "50kB"') + '[flows.b]\ntransport = "tcp"\nbytes = "50kB"\n'
    directory = tmp_path_factory.mktemp("transfer") / "mine"
    Scenario.parse(text).vary({"duration": "2s", "warmup": "0s", "flows.*.rcvbuf": "50KB"}).run().save(directory)
    return directory


@pytest.mark.parametrize(
    ("experiment", "table", "change", "says"),
    [
        (
            "cs244-rcvbuf/C1",
            "flows",
            filled("goodput", None),
            "flows.parquet has no goodput of the flow bulk with seed 1",
        ),
        ("cs244-rcvbuf/C1", "flows", without("goodput"), "has no column 'goodput'"),
        ("cs244-rcvbuf/C1", "flows", without("flow"), "has no column 'flow'"),
        ("cs244-rcvbuf/C1", "paths", without("path"), "has no column 'path'"),
        ("abdrabou-heterogeneous/B1", "flows", without("completion_s"), "has no column 'completion_s'"),
        ("abdrabou-heterogeneous/B3", "flows", filled("completion_s", 0.0), "took 0 s, so it has no rate"),
        ("abdrabou-heterogeneous/B3", "flows", filled("bytes_received_total", 0), "seed 1 delivered nothing"),
        ("abdrabou-heterogeneous/B3", "paths", filled("bytes_acked", None), "paths.parquet has no bytes_acked of"),
        ("abdrabou-heterogeneous/B3", "paths", filled("bytes_acked", 0), "no byte of bulk was delivered"),
        (
            "abdrabou-heterogeneous/B3",
            "paths",
            lambda table: table.slice(0, 0),
            "no byte of bulk was delivered",
        ),
        ("ucl-wifi/E6", "flows", filled("multipath", None), "flows.parquet has no multipath of"),
        ("ucl-wifi/E6", "flows", without("multipath"), "has no column 'multipath'"),
        ("ucl-wifi/E6", "flows", filled("throughput", None), "flows.parquet has no throughput of"),
        ("ucl-wifi/E6", "flows", filled("multipath", False), "only one of them ran"),
    ],
)
def test_what_a_file_lacks_is_said(
    cli: Cli, one_transfer: Path, tmp_path: Path, experiment: str, table: str, change: Change, says: str
) -> None:
    shutil.copytree(one_transfer, tmp_path / "mine")
    file = tmp_path / "mine" / f"{table}.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    error = cli("plot", "mine", "--published", experiment, expect=2).stderr
    assert says in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    "more",
    [["--metric", "cwnd"], ["--flow", "bulk"], ["--path", "wifi"], ["--interval", "1s"], ["--scale"], ["--x", "a"]],
)
def test_what_published_has_no_use_for_is_refused(cli: Cli, more: list[str]) -> None:
    assert f"{more[0]} does not apply to --published" in cli("plot", "mine", "--published", *more, expect=2).stderr


def test_a_run_s_scenario_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flows = "".join(f"[flows.f{at}]\n" for at in range(40))
    text = TWO_PATHS.partition("[flows.bulk]")[0] + flows
    Scenario.parse(text).vary({"duration": "1s", "warmup": "0s"}).runs([1, 2]).save(tmp_path / "many")
    runs = load(tmp_path / "many")
    asked: list[int] = []
    settings = SavedRun.settings

    def counting(run: SavedRun) -> list[tuple[str, Any]]:
        asked.append(run.seed)
        return settings(run)

    monkeypatch.setattr(SavedRun, "settings", counting)
    plot_published(runs, C1)
    assert asked == [1, 2], "however many flows they have"


def test_the_mark_goes_and_comes_back(tmp_path: Path) -> None:
    for experiment in KNOWN.values():
        assert mark(f"{experiment.study}/{experiment.name}: {experiment.title}") in KNOWN
    C1.mark(Scenario.parse(TWO_PATHS).vary({"duration": "2s"})).run().save(tmp_path / "one")
    assert experiment_of(load(tmp_path / "one"), KNOWN, "") is C1
    assert mark("my own: scenario") is None
