"""Networks defined by one line: run, link loads by layer, figures."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.plots.figure_style import svg
from mptcplab.plots.topology_plot import topology
from mptcplab.results.read.link_utilisation import kind, layers, loads

LAYERS = ["h -> edge", "edge -> h", "edge -> agg", "agg -> edge", "agg -> core", "core -> agg"]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of the example, shortened."""
    target = tmp_path_factory.mktemp("fabric") / "results"
    example = Scenario.load(ROOT / "docs/examples/fat-tree.toml")
    example.vary({"duration": "1500ms", "topology.rate": "20Mbit"}).runs([1, 2]).save(target)
    return target


def test_links_of_a_fat_tree_by_layer(cli: Cli, fabric: Path) -> None:
    found = json.loads(cli("link-stats", str(fabric), "--by-layer", "--json").stdout)
    assert [row["layer"] for row in found] == LAYERS
    assert all(row["directions"] == 16 and row["unused"] == 0 and row["least"] > 0.2 for row in found)
    assert all(0.7 < row["mean"] <= row["most"] < 1.01 for row in found)
    text = cli("link-stats", str(fabric), "--by-layer").stdout
    assert text.splitlines()[0].split() == ["layer", "links", "unused", "MB", "min", "mean", "max", "drops"]
    assert len(text.splitlines()) == 7


def test_links_one_by_one_and_by_seed(cli: Cli, fabric: Path) -> None:
    first, second = loads(fabric), loads(fabric, 2)
    assert len(first) == 96
    assert first != second
    by_layer = {one.layer: one for one in layers(first)}
    assert sum(one.sent_bytes for one in by_layer.values()) == sum(one.sent_bytes for one in first)
    text = cli("link-stats", str(fabric)).stdout
    assert "agg-1-1-core-1" in text
    assert len(text.splitlines()) == 97
    assert (
        "no run with seed 9 (available seeds: 1, 2)" in cli("link-stats", str(fabric), "--seed", "9", expect=2).stderr
    )


def test_kinds_of_nodes() -> None:
    assert [kind(name) for name in ("h16", "edge-1-2", "core-3", "s0-3", "client", "42")] == [
        "h", "edge", "core", "s0", "client", "42",
    ]  # fmt: skip


def test_counts_of_impaired_links_are_columns_of_their_own() -> None:
    plain = Scenario.parse('duration = "1s"\n[paths.a]\nrate = "5Mbit"\n[flows.bulk]\n')
    assert "corrupted" not in plain.run(1).links.column_names
    run = plain.vary({"paths.a.corrupt": "1%", "paths.a.duplicate": "2%"}).run(1)
    assert run.links["corrupted"].to_pylist()[0] > 0
    assert run.links["duplicated"].to_pylist()[0] > 0
    assert run.flow()["intact"]


@pytest.mark.parametrize(
    ("network", "rows"),
    [
        ('kind = "fat_tree", k = 4', ["core-4", "agg-4-2", "edge-4-2", "h16"]),
        ('kind = "fat_tree", k = 8', ["16 core", "32 agg", "32 edge", "128 h"]),
        ('kind = "bcube", n = 4, k = 1', ["s1-4", "s0-4", "h16"]),
    ],
)
def test_the_picture_of_a_fabric_has_its_layers(network: str, rows: list[str]) -> None:
    text = f'duration = "1s"\ntopology = {{ {network}, rate = "100Mbit" }}\n[flows.bulk]\npermutation = 1\n'
    run = SimpleNamespace(scenario=tomllib.loads(Scenario.parse(text).to_toml()))
    figure = topology(run, None)  # type: ignore[arg-type]
    texts = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    heights = [texts[row] for row in rows]
    assert heights == sorted(heights, reverse=True)
    assert "100Mbit" in texts
    assert svg(figure) == svg(topology(run, None))  # type: ignore[arg-type]


def test_the_page_of_fabrics_says_what_the_example_gives(cli: Cli, tmp_path: Path) -> None:
    page = (ROOT / "docs/fabrics.md").read_text(encoding="utf-8")
    example = ROOT / "docs/examples/fat-tree.toml"
    lines = [line for line in example.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    shown = page.split("```toml", 2)[1].split("```")[0]
    own = [line for line in lines if not line.startswith(("name", "description", "warmup", "sample"))]
    assert [line for line in shown.splitlines() if line] == own
    target = tmp_path / "results"
    Scenario.load(example).runs([1]).save(target)
    table = cli("link-stats", str(target), "--by-layer").stdout.strip()
    assert table in page, f"the page has other figures than\n{table}"


def test_damaged_tables_of_links_are_refused(cli: Cli, fabric: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(fabric, tmp_path / "bad")
    whole = (tmp_path / "bad" / "links.parquet").read_bytes()
    for part in (0, 10, len(whole) // 2, len(whole) - 3):
        (tmp_path / "bad" / "links.parquet").write_bytes(whole[:part])
        output = cli("link-stats", "bad", expect=2).stderr
        assert "bad/links.parquet: damaged" in output, part
        assert len(output.splitlines()) == 1
