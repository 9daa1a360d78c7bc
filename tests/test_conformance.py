"""Tests of tools/conformance, except for running packetdrill."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import explanations
import summary
import variants
from execution import Outcome

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "conformance"


def checkout(directory: Path, *scripts: str) -> Path:
    for script in scripts:
        path = directory / variants.SUITES["mptcp"] / script
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return directory


def refusal(*arguments: str) -> str:
    done = subprocess.run([sys.executable, str(TOOL), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


def test_each_script_has_the_modes_that_its_name_allows(tmp_path: Path) -> None:
    found = variants.find(checkout(tmp_path, "dss/any.pkt", "dss/narrow_v4.pkt", "fastopen/wide_v6.pkt"), "*", "mptcp")
    assert [str(variant) for variant in found] == [
        "dss/any.pkt (ipv4)",
        "dss/any.pkt (ipv4-mapped-v6)",
        "dss/any.pkt (ipv6)",
        "dss/narrow_v4.pkt (ipv4)",
        "dss/narrow_v4.pkt (ipv4-mapped-v6)",
        "fastopen/wide_v6.pkt (ipv6)",
    ]


@pytest.mark.parametrize("pattern", ["dss/*", "an*", "any.pkt", "any"])
def test_scripts_are_chosen_by_path_name_or_stem(tmp_path: Path, pattern: str) -> None:
    found = variants.find(checkout(tmp_path, "dss/any.pkt", "fastopen/other.pkt"), pattern, "mptcp")
    assert {variant.script for variant in found} == {"dss/any.pkt"}


def test_an_explanation_covers_a_script_or_one_of_its_modes() -> None:
    narrow = variants.Variant("dss/any.pkt", "ipv4")
    wide = variants.Variant("dss/any.pkt", "ipv6")
    for pattern, covered in [("dss/any.pkt", [narrow, wide]), ("dss/* (ipv6)", [wide]), ("*other*", [])]:
        explanation = explanations.Explanation(pattern, "design choice", "because")
        assert [variant for variant in (narrow, wide) if explanation.covers(variant)] == covered


def test_the_explanations_that_there_are_can_be_read() -> None:
    for suite in variants.SUITES:
        assert all(explanation.reason for explanation in explanations.read(TOOL / f"{suite}.toml"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[[explanation]]\nscript = "a"\nclass = "bug"\n', "explanation 1 lacks reason"),
        ('[[explanation]]\nscript = "a"\nclass = "bad luck"\nreason = "b"\n', "class = 'bad luck': it must be one of"),
    ],
)
def test_a_wrong_explanation_is_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "explanations.toml"
    path.write_text(text)
    with pytest.raises(explanations.WrongFileError, match=named):
        explanations.read(path)


@pytest.mark.parametrize(
    ("passed", "explained", "surprises"), [(True, False, 0), (False, True, 0), (False, False, 1), (True, True, 1)]
)
def test_only_explained_failures_are_no_surprise(
    capsys: pytest.CaptureFixture[str], *, passed: bool, explained: bool, surprises: int
) -> None:
    outcome = Outcome(variants.Variant("dss/any.pkt", "ipv4"), passed=passed, message="any.pkt:7: wrong\nand more")
    known = [explanations.Explanation("dss/*", "design choice", "it is better so")] if explained else []
    assert summary.judge([outcome], known, verbose=False) == surprises
    output = capsys.readouterr().out
    assert ("it is better so" in output) == (explained and not passed)
    assert ("NOT EXPLAINED" in output) == (not explained and not passed)
    assert "and more" not in output


def test_the_table_counts_by_directory() -> None:
    ran = [("dss/a.pkt", True), ("dss/b.pkt", False), ("mp_join/c.pkt", True)]
    outcomes = [Outcome(variants.Variant(script, "ipv4"), passed=passed, message="") for script, passed in ran]
    rows = [row.split() for row in summary.table(outcomes, [variants.Variant("fastopen/d.pkt", "ipv6")]).splitlines()]
    assert rows[1:] == [
        ["dss", "2", "1", "1", "0"],
        ["fastopen", "1", "0", "0", "1"],
        ["mp_join", "1", "1", "0", "0"],
        ["all", "4", "2", "1", "1"],
    ]


def test_what_is_missing_is_said_with_the_way_to_get_it(tmp_path: Path) -> None:
    assert "git clone" in refusal()
    assert "it must be a packetdrill checkout with MPTCP" in refusal(str(tmp_path))
    assert "is not built: cd CHECKOUT" in refusal(str(checkout(tmp_path, "dss/any.pkt")))


def test_the_stand_ins_record_words_between_tabs(tmp_path: Path) -> None:
    record = tmp_path / "settings"
    environment = os.environ | {"MPTCPLAB_SETTINGS": str(record), "PATH": f"{TOOL / 'stand-ins'}:{os.environ['PATH']}"}
    for command in (["sysctl", "-q", "net.ipv4.tcp_rmem=1 2 3"], ["ip", "mptcp", "endpoint", "flush"], ["tc", "qdisc"]):
        subprocess.run(command, env=environment, check=True)
    assert record.read_text() == "sysctl\t-q\tnet.ipv4.tcp_rmem=1 2 3\nip\tmptcp\tendpoint\tflush\n"


def test_the_stand_in_for_nstat_shows_the_stacks_counters(tmp_path: Path) -> None:
    counters = tmp_path / "counters"
    environment = os.environ | {"MPTCPLAB_COUNTERS": str(counters)}
    nstat = [str(TOOL / "stand-ins" / "nstat"), "-zjs"]
    nothing = subprocess.run(nstat, env=environment, capture_output=True, text=True, check=True)
    assert '"MPTcpExtMPCapableSYNRX":0' in nothing.stdout
    counters.write_text("what the stack wrote\n")
    something = subprocess.run(nstat, env=environment, capture_output=True, text=True, check=True)
    assert something.stdout == "what the stack wrote\n"


def totals(page: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """The row of all tests in each table of directories, and the numbers of variants and of passed ones."""
    found, rows = list[tuple[str, list[tuple[int, int]]]](), list[tuple[int, int]]()
    for line in page.splitlines():
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1].isdigit() and cells[2].isdigit():
            if cells[0] == "all":
                found.append((line, rows))
                rows = []
            else:
                rows.append((int(cells[1]), int(cells[2])))
    return found


def test_the_page_adds_up_and_says_how_often_each_was_tried() -> None:
    page = (ROOT / "docs" / "contributing" / "conformance.md").read_text(encoding="utf-8")
    tables = totals(page)
    assert len(tables) == 2
    for line, rows in tables:
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        assert [int(cells[1]), int(cells[2])] == [sum(row[at] for row in rows) for at in (0, 1)]
    tcp = page.split("## Plain TCP")[1]
    assert "attempts at each variant" in tcp
    assert "Linux passes 326 variants and this endpoint 283" in " ".join(tcp.split())
