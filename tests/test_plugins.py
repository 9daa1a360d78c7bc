"""Studies and commands of other packages: a small one, installed into a directory of the path."""

from __future__ import annotations

import json
import os
from pathlib import Path
from textwrap import dedent

import pytest

from conftest import Cli
from mptcplab import plugins
from mptcplab.studies import LITERATURE, STUDIES

STUDY = '''
"""A study of one experiment and one fact."""

from collections.abc import Iterator

from mptcplab import Flow, Path, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Point, Study
from mptcplab.studies.verdicts import Bound, Check


class Twice(Experiment):
    study = "pair-of-paths"
    name = "Z-1"
    title = "Two paths carry twice as much"
    setup = "Two paths of 2 Mb/s."

    def points(self, effort: Effort) -> Iterator[Point]:
        for count in (1, 2):
            paths = {f"p{at}": Path(rate="2Mbit", delay="10ms", jitter="1ms") for at in range(count)}
            scenario = Scenario(duration="5s", warmup="1s", paths=paths, flows={"f": Flow()})
            yield from (Point((count,), scenario, seed) for seed in effort.seeds(2, 5, 20))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        found = measured.ratio(goodput, (2,), goodput, (1,))
        check = Check("two over one", found, Bound("gain", low=1))
        return Outcome([self.fact("Z-1.1", "Twice as much", published="2.0", checks=[check])])


def goodput(run):
    return run.flow("f")["goodput"]


STUDY = Study("pair-of-paths", "Z", "A pair of paths", "Nobody, nowhere, never.", "Of two paths.", (Twice(),))
'''

COMMAND = '''
"""A command that greets."""

NAME = "greet"
HELP = "greet somebody"
EXAMPLE = "mptcplab greet Ada"


def arguments(parser):
    parser.add_argument("who")


def execute(given):
    print(f"hello {given.who}")
    return 0
'''


def install(folder: Path, entry_points: str, modules: dict[str, str]) -> None:
    """The files that pip installs for a package `neighbour`."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    information = folder / "neighbour-1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: neighbour\nVersion: 1.2\n")
    (information / "entry_points.txt").write_text(dedent(entry_points))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    return folder


WHOLE = """
    [mptcplab.studies]
    pair-of-paths = neighbour_study:STUDY
    [mptcplab.commands]
    greet = neighbour_greet
"""


def test_a_study_from_elsewhere_is_listed_run_and_reported(process: Cli, site: Path, tmp_path: Path) -> None:
    install(site, WHOLE, {"neighbour_study": STUDY, "neighbour_greet": COMMAND})
    listed = json.loads(process("list", "--json").stdout)
    assert [study["study"] for study in listed] == [*STUDIES, *LITERATURE, "pair-of-paths"]
    done = process("reproduce", "pair-of-paths", "--quick", "--output", "page")
    assert "pair-of-paths: 1 published: 1 hold" in done.stdout
    assert done.stderr.count("cannot be used") == 0
    page = (tmp_path / "page" / "index.html").read_text()
    assert "A pair of paths" in page
    assert "Twice as much" in page
    facts = json.loads((tmp_path / "page" / "facts.json").read_text())
    assert [fact["verdict"] for fact in facts] == ["holds"]


def test_a_command_from_elsewhere_is_a_command(process: Cli, site: Path) -> None:
    install(site, WHOLE, {"neighbour_study": STUDY, "neighbour_greet": COMMAND})
    assert process("greet", "Ada").stdout == "hello Ada\n"
    assert "greet somebody" in process("--help").stdout
    assert "example: mptcplab greet Ada" in process("greet", "--help").stdout


BROKEN = {
    "no module": ("no_such_module:STUDY", "ModuleNotFoundError: No module named 'no_such_module'"),
    "no object": ("neighbour:NOTHING", "AttributeError: module 'neighbour' has no attribute 'NOTHING'"),
    "no study": ("neighbour:NAME", "TypeError: the object is a str, not a mptcplab.studies.Study"),
    "no experiment": ("neighbour:EMPTY", "TypeError: one of its experiments is a int, not a "),
    "fault": ("neighbour_fault", "ZeroDivisionError: division by zero"),
    "taken": ("neighbour:TAKEN", "ValueError: a study named 'ucl-wifi' already exists"),
}
NEIGHBOUR = """
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Study
NAME = "some text"
EMPTY = Study("empty", "Y", "title", "source", "summary", (1,))
TAKEN = STUDIES["ucl-wifi"]
"""


@pytest.mark.parametrize(("value", "wanted"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_study_gives_one_line_with_its_package(process: Cli, site: Path, value: str, wanted: str) -> None:
    install(site, f"[mptcplab.studies]\nbroken = {value}\n", {"neighbour": NEIGHBOUR, "neighbour_fault": "1 / 0\n"})
    listed = process("list")
    assert "cs244-wireless" in listed.stdout
    line = f"mptcplab: the study 'broken' of the package neighbour 1.2 cannot be used: {wanted}"
    assert listed.stderr.startswith(line)
    assert listed.stderr.count("\n") == 1
    named = process("reproduce", "broken", expect=2)
    assert named.stderr.startswith(line)
    assert "unknown study 'brokn'" in process("reproduce", "brokn", expect=2).stderr


def test_a_broken_command_leaves_the_others_alone(process: Cli, site: Path) -> None:
    install(site, "[mptcplab.commands]\ngreet = neighbour_greet\n", {"neighbour_greet": 'NAME = "greet"\n'})
    done = process("schema")
    assert json.loads(done.stdout)["properties"]
    assert done.stderr == ""
    line = (
        "mptcplab: the command 'greet' of the package neighbour 1.2 cannot be used: "
        "TypeError: the module has no HELP, EXAMPLE, arguments, execute\n"
    )
    assert process("--help").stderr == line
    assert process("greet", "Ada", expect=2).stderr.startswith(line)


def test_nothing_is_added_where_nobody_adds_anything() -> None:
    found, problems = plugins.studies(STUDIES)
    assert (found, problems) == ({}, {})
    assert plugins.commands([]) == ({}, {})
