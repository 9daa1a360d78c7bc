"""The examples in the documentation do what they say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Cli
from mptcplab import Run, Runs, Scenario


def code(file: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)


def test_the_readme_in_python() -> None:
    (example,) = code("README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 11
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - it is our own
    assert names["run"].flow()["goodput"] > 5e6


def test_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in code("docs/notebook.md", "python"):
        exec(example, names)  # noqa: S102 - it is our own
    assert isinstance(names["run"], Run)
    assert isinstance(names["runs"], Runs)
    assert len(names["runs"]) == 8
    assert set(names["tables"]) == {"wifi", "3g", "total"}


@pytest.mark.parametrize("backticks", [True, False], ids=["docs/guide.md", "docs/examples"])
def test_the_scenario_of_the_readme(cli: Cli, tmp_path: Path, backticks: bool) -> None:
    text = code("docs/guide.md", "toml")[0] if backticks else (ROOT / "docs/examples/handoff.toml").read_text()
    (tmp_path / "handoff.toml").write_text(text)
    output = cli("run", "handoff.toml").stdout
    if backticks:
        assert output in (ROOT / "docs/guide.md").read_text(encoding="utf-8"), "the page shows what one gets"


def test_the_first_minutes(cli: Cli, tmp_path: Path) -> None:
    """The outputs in the README are exactly those of its commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "two.toml").write_text(cli("example").stdout)
    assert f"```\n{cli('run', 'two.toml').stdout}```" in text
    [line] = [line for line in text.splitlines() if line.startswith("$ mptcplab why")]
    assert f"{line}\n{cli(*line.split()[2:]).stdout}```" in text
    shown = [line for line in text.splitlines() if line.strip()]
    assert len(shown) < 100, "a screen, then links"


def test_the_example_with_a_middlebox() -> None:
    example = ROOT / "docs/examples/middlebox.toml"
    snippet = tomllib.loads(code("docs/guide.md", "toml")[1])
    whole = tomllib.loads(example.read_text(encoding="utf-8"))
    assert snippet["middleboxes"]["hotspot"] == whole["middleboxes"]["hotspot"]
    assert snippet["events"] == whole["events"]
    run = Scenario.load(example).run(seed=1)
    moving, late = run.flow("moving"), run.flow("late")
    # An existing connection loses a subflow; a new one finds no MPTCP.
    assert moving["multipath"]
    assert moving["intact"]
    assert moving["bytes_received_total"] == 5_000_000
    assert not late["multipath"]
    assert late["intact"]
    output = f"fell back to TCP at {late['fell_back_at_s']:.2f} s on path wifi: options were removed from the SYN"
    assert output in run.summary()
    assert output in (ROOT / "docs/guide.md").read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    counts: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        counts[name] = counts.get(name, -1) + 1
    return {f"{name}-{n}" if n else name for name, most in counts.items() for n in range(most + 1)}


def test_links_in_the_documentation_lead_somewhere() -> None:
    """Every relative link leads to a file, and every anchor to a heading."""
    folders = ("docs", "crates", "python", "examples", "fuzz", "bpf", "tools")
    pages = [*ROOT.glob("*.md"), *(page for folder in folders for page in (ROOT / folder).rglob("*.md"))]
    wrong = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
        for target, anchor in re.findall(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)", text):
            file = page.parent / target if target else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                wrong.append(f"{page.relative_to(ROOT)}: {target}#{anchor}".rstrip("#"))
    assert wrong == []
