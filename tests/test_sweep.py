"""Sweeps: values, parts on the disk, going on after an end, points compared."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.cli.common import BadInput
from mptcplab.cli.settings import over, split, variations
from mptcplab.plots.swept_axis import scale
from mptcplab.results.model.varied_values import typed
from mptcplab.results.read.result_files import read_table
from mptcplab.run import sweep_plan, sweep_store
from mptcplab.run.batch import Interrupted
from mptcplab.run.sweeps import Sweep
from mptcplab.stats.statistics import paired
from mptcplab.util.json_files import write_json, write_long

TWO = Path(sweep_plan.__file__).parents[1] / "scenarios" / "two.toml"
SHORT = ("--set", "duration=1s", "--set", "warmup=0s")


def test_values_at_commas() -> None:
    assert split("1%,2%") == ["1%", "2%"]
    assert split('{ kind = "codel", target = "5ms" },50p') == ['{ kind = "codel", target = "5ms" }', "50p"]
    assert split('["a", "b"],["a"]') == ['["a", "b"]', '["a"]']
    assert split('"a,b",c') == ['"a,b"', "c"]


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["a.b=1,2", "a.b=3"], "given twice"),
        (["flows.*.{rcvbuf,sndbuf}=1KB", "flows.x.sndbuf=2KB"], "set the same key"),
        (["a.b=1,1"], "given twice"),
        (["a.b=1,,2"], "empty"),
        (["a.b"], "KEY=VALUE"),
        (["=1"], "KEY=VALUE"),
    ],
)
def test_what_cannot_be_varied(texts: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        variations(texts)


def test_keys_that_have_nothing_in_common_can_be_varied_together() -> None:
    keys = ["flows.*.{rcvbuf,sndbuf}", "paths.*.rcvbuf", "flows.x.mss", "flows.x.rcvbuf.y"]
    assert list(variations([f"{key}=1" for key in keys])) == keys


def test_set_ties_keys() -> None:
    scenario = over(Scenario.load(TWO), ["flows.*.{rcvbuf,sndbuf}=100KB", "paths.{dsl,lte}.loss=1%"])
    text = scenario.to_toml()
    assert text.count('buf = "100KB"') == 2
    assert text.count('loss = "1%"') == 2
    with pytest.raises(BadInput, match="twice"):
        over(scenario, ["duration=1s", "duration=2s"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--vary", "paths.wify.loss=1%"], '--vary: paths.wify.loss = "1%": paths has no "wify"'),
        (["--vary", "cells.*.channel=1"], "--vary: cells.*.channel"),
        (["--vary", "paths.lte.loss=1%", "--set", "paths.lte.loss=1"], "--set: paths.lte.loss"),
        (["--vary", "paths.lte.loss=1%", "--metric", "gootput"], "did you mean goodput?"),
        (["--vary", "paths.lte.loss=1%,2%", "--compare", "paths.lte.loss=3%"], "choose from: 1%, 2%"),
        (["--vary", "paths.lte.loss=1%,2%", "--compare", "paths.dsl.loss=1%"], "key of --vary"),
        (["--vary", "paths.lte.loss=1%", "--resume"], "--output"),
        (["--vary", "paths.lte.loss=1%", "--resume", "--output", "none"], "no sweep to continue"),
        (["--vary", "paths.lte.loss=1%", "--seeds", "10000000"], "limits.runs"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, arguments: list[str], says: str) -> None:
    done = cli("sweep", TWO, *SHORT, *arguments, expect=2)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_each_varied_key_is_a_column_of_its_type(cli: Cli, tmp_path: Path) -> None:
    vary = {
        "paths.lte.loss": "0%,5%",
        "paths.dsl.rate": "8Mbit,unlimited",
        "flows.*.{rcvbuf,sndbuf}": "100KB,1MB",
        "flows.*.congestion": "lia,reno",
    }
    words = [word for key, values in vary.items() for word in ("--vary", f"{key}={values}")]
    cli("sweep", TWO, *SHORT, *words, "--output", "s", "--quiet")
    for name in ("flows", "paths", "links"):
        table = pq.read_table(tmp_path / "s" / f"{name}.parquet")
        kinds = {key: table.schema.field(key).type for key in vary}
        text = kinds.pop("flows.*.congestion")
        assert (text.value_type if pa.types.is_dictionary(text) else text) == pa.string()
        assert set(kinds.values()) == {pa.float64()}
        first, last = table.slice(0, 1).to_pylist()[0], table.slice(table.num_rows - 1).to_pylist()[0]
        assert [first[key] for key in vary] == [0.0, 8e6, 102_400, "lia"]
        assert [last[key] for key in vary] == [0.05, math.inf, 1e6, "reno"]
        assert first["variant"] == ", ".join(f"{key}={values.split(',')[0]}" for key, values in vary.items())
    rows = len(pq.read_table(tmp_path / "s" / "flows.parquet"))
    # A sweep that has the same key as text goes together with it.
    cli("sweep", TWO, *SHORT, "--vary", "paths.dsl.rate=4Mbit,8Mbit", "--output", "t", "--quiet")
    cli("sweep", TWO, *SHORT, "--vary", "paths.lte.queue=50p,80kB", "--output", "u", "--quiet")
    cli("sweep", TWO, *SHORT, "--vary", "paths.lte.queue=50p,60p", "--output", "v", "--quiet")
    cli("merge", "s", "t", "u", "v", "--output", "all")
    merged = pq.read_table(tmp_path / "all" / "flows.parquet").to_pylist()
    assert [row["paths.dsl.rate"] for row in merged[rows : rows + 2]] == [4e6, 8e6]
    assert [row["paths.lte.queue"] for row in merged[rows + 2 :]] == ["50p", "80kB", "50", "60"]
    assert merged[-1]["flows.*.congestion"] is None


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["10ms", "1s"], [0.01, 1.0]),
        (["8Mbit", "1gbit", "unlimited"], [8e6, 1e9, math.inf]),
        (["1Mb/s"], [1e6]),
        (["1.5MiB", "1KB"], [1_572_864.0, 1024.0]),
        (["0.1%", "100%"], [0.001, 1.0]),
        (["53p", "unlimited"], [53.0, math.inf]),
        (["53p", "80kB"], ["53p", "80kB"]),
        (["2", "4"], [2, 4]),
        (["0.5", "4"], [0.5, 4.0]),
        (["true", False], [True, False]),
        (["60cm", "3m"], [0.6, 3.0]),
        (["unlimited"], ["unlimited"]),
        (["lia", "2"], ["lia", "2"]),
    ],
)
def test_values_are_numbers_in_base_units(values: list[Any], wanted: list[Any]) -> None:
    assert typed({"key": values}) == {"key": wanted}
    assert [type(one) for one in typed({"key": values})["key"]] == [type(one) for one in wanted]


def test_runs_of_python_have_the_columns_too() -> None:
    runs = Scenario.load(TWO).sweep({"duration": ["6s", "7s"], "flows.*.mss": [1000, 1400]})
    assert runs.flows["duration"].to_pylist() == [6.0, 6.0, 7.0, 7.0]
    assert runs.flows["flows.*.mss"].to_pylist() == [1000, 1400] * 2
    assert runs[3].values == {"duration": 7.0, "flows.*.mss": 1400}


def test_metrics_and_comparison(cli: Cli) -> None:
    vary = ("--vary", "paths.lte.loss=0%,5%", "--vary", "flows.*.congestion=lia,reno")
    arguments = ("--seeds", "3", "--metric", "goodput,limit_scheduler", "--compare", "paths.lte.loss=0%")
    text = cli("sweep", TWO, "--set", "duration=4s", "--set", "warmup=0s", *vary, *arguments).stdout
    assert "download limit_scheduler [% of the time]" in text
    assert "± half of its 95% interval" in text
    rows = [line for line in text.splitlines() if line.startswith("5%") and "goodput" in line]
    assert len(rows) == 2
    assert all(" -" in row for row in rows), "loss costs something"
    assert "one seed, so no interval" in cli("sweep", TWO, *SHORT, *vary).stdout


def test_paired_values() -> None:
    found = paired([2.0, 3.0, 4.5], [1.0, 2.0, 3.0])
    # t = 7 with two degrees of freedom: 1 - F has the closed form (1 - t / sqrt(2 + t^2)) / 2.
    assert found.p == pytest.approx(1 - 7 / math.sqrt(51), rel=1e-9)
    assert found.effect == pytest.approx(7 / math.sqrt(3))
    assert paired([1.0, 1.0], [1.0, 1.0]).p == 1
    assert paired([2.0, 2.0], [1.0, 1.0]).p == 0
    assert math.isnan(paired([1.0], [2.0]).p)


def test_parts_give_the_same_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario.load(TWO).vary({"duration": "1s", "warmup": "0s"})
    vary = {"paths.lte.loss": ["0%", "2%"]}

    def saved(name: str, most: int) -> Path:
        monkeypatch.setattr(sweep_plan, "MOST_RUNS", most)
        Sweep(scenario, vary, range(1, 6)).run(tmp_path / name, lambda _: None, quiet=True)
        return tmp_path / name

    one, many = saved("one", 100), saved("many", 3)
    assert not (many / "parts").exists()
    for table in ("samples", "flows", "paths", "links"):
        # NaN equals nothing, including itself.
        assert str(read_table(one / f"{table}.parquet").to_pylist()) == str(
            read_table(many / f"{table}.parquet").to_pylist()
        ), table
    assert (one / "run.json").read_bytes() == (many / "run.json").read_bytes()


@pytest.mark.parametrize("rows", [[], [{"run": "a", "none": math.nan}], [{"run": "ä\nb", "more": {"x": [1, 2]}}, 3]])
def test_a_long_list_is_written_as_a_short_one(tmp_path: Path, rows: list[object]) -> None:
    head = {"mptcplab": "1", "backend": "sim"}
    write_json(head | {"runs": rows}, tmp_path / "whole.json")
    write_long(head, "runs", iter(rows), tmp_path / "long.json")
    assert (tmp_path / "long.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_an_interrupt_between_a_part_and_its_count_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario.load(TWO).vary({"duration": "1s", "warmup": "0s"})
    monkeypatch.setattr(sweep_plan, "MOST_RUNS", 2)

    def interrupted(rows: object, target: Path) -> None:
        write_json(rows, target)
        if target.name == "000001.json":
            raise KeyboardInterrupt

    monkeypatch.setattr(sweep_store, "write_json", interrupted)
    with pytest.raises(Interrupted) as caught:
        Sweep(scenario, {"paths.lte.loss": ["1%"]}, range(1, 7)).run(tmp_path, lambda _: None, workers=1, quiet=True)
    assert (caught.value.count, caught.value.total) == (4, 6)
    assert read_table(tmp_path / "flows.parquet").num_rows == 4


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_goes_on_where_it_was_ended(cli: Cli, tmp_path: Path, how: signal.Signals) -> None:
    """Parts of four runs; an interruption changes no byte of the result."""
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from mptcplab.run import sweep_plan; sweep_plan.MOST_RUNS = 4; "
        "from mptcplab.cli.main import main; sys.exit(main())"
    )
    arguments = [
        "sweep",
        str(TWO),
        "--set",
        "duration=8s",
        "--vary",
        "paths.lte.loss=0%,1%",
        "--seeds",
        "20",
        "--quiet",
    ]
    command = [sys.executable, "-c", start, *arguments, "--output"]
    assert subprocess.run([*command, "whole"], cwd=tmp_path, capture_output=True, check=True).stdout
    with subprocess.Popen([*command, "cut"], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (tmp_path / "cut" / "parts" / "000001.json").exists():
            time.sleep(0.01)
        os.kill(process.pid, how)
        output = process.communicate(timeout=60)[1]
    assert process.returncode != 0, "it was not over"
    if how == signal.SIGINT:
        assert "--resume continues" in output
        assert 8 <= pq.read_table(tmp_path / "cut" / "flows.parquet").num_rows < 40
    assert "unfinished" in cli(*arguments, "--output", "cut", expect=2).stderr
    assert "other arguments (seeds" in cli(*arguments, "--seeds", "3", "--output", "cut", "--resume", expect=2).stderr
    subprocess.run([*command, "cut", "--resume"], cwd=tmp_path, capture_output=True, check=True)
    files = sorted(file.name for file in (tmp_path / "whole").iterdir())
    assert files == sorted(file.name for file in (tmp_path / "cut").iterdir())
    assert all((tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes() for name in files)


def test_axes_are_to_scale_where_they_can_be() -> None:
    assert scale(["100KB", "1MB"]) == ([102.4, 1000.0], "kB")
    assert scale(["500us", "2s"]) == ([0.5, 2000.0], "ms")
    assert scale(["lia", "olia"]) is None
    assert scale(["10ms", "10Mbit"]) is None
    assert scale(["1s", "1000ms"]) is None, "one place cannot have two names"


def test_a_smaller_sweep_leaves_nothing_of_a_larger_one(cli: Cli, tmp_path: Path) -> None:
    cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%,1%,2%", "--output", "out")
    cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%", "--output", "out")
    (tmp_path / "out" / "scenario-mine.toml").write_text("mine")
    cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%", "--output", "out")
    assert (tmp_path / "out" / "scenario-mine.toml").read_text() == "mine"
    (tmp_path / "out" / "scenario-mine.toml").unlink()
    again = cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%", "--output", "out", "--resume").stdout
    assert again.replace("written to out/\n", "") == cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%").stdout, (
        "it reads what is there"
    )
    output = cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=1%", "--output", "out", "--resume", expect=2).stderr
    assert "contains a sweep with other arguments (scenarios, vary)" in output
    (tmp_path / "other" / "parts").mkdir(parents=True)
    (tmp_path / "other" / "parts" / "000000.json").write_text("[]")
    output = cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%", "--output", "other", expect=2).stderr
    assert "contains files of another program" in output
    assert (tmp_path / "other" / "parts" / "000000.json").read_text() == "[]"
    names = {file.name for file in (tmp_path / "out").iterdir()}
    tables = {f"{table}.parquet" for table in ("samples", "flows", "paths", "links")}
    assert names == tables | {"run.json", "scenario.toml", "sweep.pdf", "sweep.png", "sweep.svg"}


@pytest.mark.parametrize("draw", ["lines", "box", "cdf", "bars"])
def test_axis_and_panels_are_chosen(cli: Cli, tmp_path: Path, draw: str) -> None:
    """With panels for one key and an axis of another, points of different lines never share a place."""
    vary = (
        "--vary",
        "paths.lte.loss=0%,1%",
        "--vary",
        "flows.*.scheduler=ontime,minrtt",
        "--vary",
        "flows.*.rcvbuf=50KB,100KB",
    )
    arguments = ("sweep", TWO, *vary, "--set", "duration=1s", "--set", "warmup=0s", "--seeds", "2", "--quiet")
    cli(*arguments, "--output", "out", "--x", "flows.*.scheduler", "--facet", "flows.*.rcvbuf", "--draw", draw)
    drawn = (tmp_path / "out" / "sweep.svg").read_text()
    assert (tmp_path / "out" / "sweep.png").is_file()
    assert "<svg" in drawn
    output = cli(*arguments, "--output", "no", "--x", "paths.lte.los", expect=2).stderr
    assert "--x: unknown varied key 'paths.lte.los'; did you mean paths.lte.loss?" in output
    key = "paths.lte.loss"
    assert "they must differ" in cli(*arguments, "--x", key, "--facet", key, expect=2).stderr


def test_values_of_one_unit_are_drawn_as_they_are_written() -> None:
    assert scale(["50KB", "100KB", "400KB"]) == ([50.0, 100.0, 400.0], "KB = 1024 B")
    assert scale(["1MB", "2MB"]) == ([1.0, 2.0], "MB")
    assert scale(["50kB", "100kB"]) == ([50.0, 100.0], "kB")


def test_a_key_that_changes_nothing_is_named(cli: Cli) -> None:
    output = cli("sweep", TWO, *SHORT, "--vary", "flows.*.scheduler=minrtt,roundrobin").stdout
    assert "flows.*.scheduler changed no mean by 0.5% or more: a bulk flow sends on every path" in output
    output = cli("sweep", TWO, *SHORT, "--vary", "paths.dsl.rate=20Mbit,5Mbit").stdout
    assert "changed no mean" not in output


def test_a_distribution_has_a_curve_for_each_point_of_a_sweep(cli: Cli) -> None:
    cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%,1%", "--output", "out")
    curves = json.loads(cli("cdf", "out:lte", "--metric", "throughput", "--json").stdout)
    assert [one["curve"] for one in curves] == ["out lte, loss=0%", "out lte, loss=1%"]
    output = cli("sweep", TWO, *SHORT, "--vary", "paths.lte.loss=0%", "--output", "out").stdout
    assert "written to out/, replacing the previous result" in output
    assert (
        "must be a directory" in cli("sweep", TWO, "--vary", "paths.lte.loss=0%", "--output", "a.pdf", expect=2).stderr
    )
