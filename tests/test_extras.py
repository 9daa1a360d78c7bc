"""With NumPy alone, scenarios run; other commands name the missing extra before anything runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mptcplab.cli.commands import MODULES
from mptcplab.cli.commands.example import FOLDER

HIDDEN = (
    "import sys; sys.modules.update({name: None for name in ('pyarrow', 'matplotlib', 'distributed')}); "
    "from mptcplab.cli.main import main; sys.exit(main())"
)


def bare(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDDEN, *arguments]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    text = (FOLDER / "two.toml").read_text().replace('"30s"', '"4s"').replace('"5s"', '"1s"')
    (tmp_path / "two.toml").write_text(text)
    return tmp_path


def test_a_scenario_runs(two: Path) -> None:
    done = bare(two, "run", "two.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "aggregation benefit" in done.stdout
    assert bare(two, "run", "two.toml", "--json").stdout.startswith("{")
    assert len(bare(two, "why", "two.toml", "--seeds", "1").stdout.splitlines()) == 3


def test_studies_are_told(tmp_path: Path) -> None:
    for arguments, says in ((["list"], "cs244-wireless"), (["study", "cs244-wireless/A1", "--toml"], "[flows.bulk]")):
        done = bare(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
        assert says in done.stdout


def test_what_draws_nothing_loads_nothing_that_draws(tmp_path: Path) -> None:
    script = (
        "import sys; from mptcplab.cli.main import main; main(sys.argv[1:]); "
        "sys.exit('matplotlib' in sys.modules or 'pyarrow' in sys.modules)"
    )
    for arguments in (["list"], ["study", "cs244-wireless/A1"], ["run", str(FOLDER / "two.toml"), "--quiet"]):
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stderr) == (0, ""), arguments


@pytest.mark.parametrize("command", MODULES)
def test_every_command_has_its_help(tmp_path: Path, command: str) -> None:
    done = bare(tmp_path, command, "--help")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (["run", "two.toml", "--output", "out"], "pyarrow"),
        (["why", "two.toml", "--output", "why.png"], "matplotlib"),
        (["sweep", "two.toml", "--vary", "paths.lte.loss=1%", "--output", "out"], "pyarrow"),
        (["plot", "out"], "pyarrow"),
        (["reproduce", "--quick"], "matplotlib"),
        (["run", "two.toml", "--executor", "dask://localhost:8786"], "distributed"),
    ],
)
def test_what_is_missing_is_named(two: Path, arguments: list[str], package: str) -> None:
    done = bare(two, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    name = "'mptcplab[cluster]'" if package == "distributed" else package
    assert line == f"mptcplab: the package {package} is required, but not installed; run: pip install {name}"


def test_a_sweep_prints_its_table(two: Path) -> None:
    arguments = ("sweep", "two.toml", "--vary", "paths.lte.loss=0%,1%", "--metric", "goodput,completion_s", "--quiet")
    done = bare(two, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    command = [sys.executable, "-m", "mptcplab", *arguments]
    whole = subprocess.run(command, cwd=two, capture_output=True, text=True, check=True)
    assert done.stdout == whole.stdout


@pytest.mark.parametrize(
    ("use", "package"), [("run.plot()", "matplotlib"), ("run.samples", "pyarrow"), ("run.flows", "pyarrow")]
)
def test_in_python_what_is_missing_is_named(two: Path, use: str, package: str) -> None:
    script = (
        "import sys; sys.modules.update({name: None for name in ('pyarrow', 'matplotlib')}); "
        f"from mptcplab import Scenario; run = Scenario.load('two.toml').run(); {use}"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=two, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: the package {package} is required, but not installed; run: pip install {package}"
    )
