"""`mptcplab new`: policies in Python that run, crates that build, studies that are found."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import command
from conftest import ROOT, Cli


@pytest.mark.parametrize(("kind", "key"), [("scheduler", "scheduler"), ("controller", "congestion")])
def test_python_policy_runs_in_its_directory(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, key: str
) -> None:
    cli("new", kind, "my-own")
    folder = tmp_path / "my-own"
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "my_own.py", "scenario.toml"]
    for file in folder.iterdir():
        assert "@" not in file.read_text()
    monkeypatch.chdir(folder)
    done = command.here(["run", "scenario.toml", "--set", "duration=4s"], folder)
    assert done.returncode == 0, done.stderr
    words = [
        "compare",
        "scenario.toml",
        f"--{key}",
        "my_own.py:MyOwn,reno" if key == "congestion" else "my_own.py:MyOwn,minrtt",
        "--seeds",
        "2",
        "--set",
        "duration=4s",
    ]
    done = command.here(words, folder)
    assert done.returncode == 0, done.stderr
    assert "my_own.py:MyOwn" in done.stdout


def test_study_is_a_package_whose_claim_gets_a_verdict(
    process: Cli, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("new", "study", "my-study")
    folder = tmp_path / "my-study"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    information = folder / "src" / "my_study-0.1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-study\nVersion: 0.1.0\n")
    points = project["entry-points"]["mptcplab.studies"]
    (information / "entry_points.txt").write_text(
        "[mptcplab.studies]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
    )
    path = [str(folder / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    assert "1 published: 1 hold" in process("reproduce", "my-study", "--quick", "--output", "report").stdout


@pytest.mark.parametrize("kind", ["scheduler", "controller"])
def test_what_it_writes_compiles(cli: Cli, tmp_path: Path, kind: str) -> None:
    cli("new", kind, "my-own", "--rust")
    crate = tmp_path / "my-own"
    assert "@" not in (crate / "src" / "policy.rs").read_text()
    assert 'name = "my-own"' in (crate / "Cargo.toml").read_text()
    if shutil.which("cargo") is None:
        assert "CI" not in os.environ, "CI has cargo"
        pytest.skip("cargo is missing")
    # The dependencies were compiled for the workspace already.
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    done = subprocess.run(
        ["cargo", "check", "--quiet", "--bins"],
        cwd=crate,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path) -> None:
    assert "must be a crate name" in cli("new", "scheduler", "My Own", expect=2).stderr
    (tmp_path / "there").mkdir()
    assert "already exists" in cli("new", "scheduler", "there", expect=2).stderr
    assert "--checkout DIR" in cli("new", "scheduler", "mine", "--rust", "--checkout", str(tmp_path), expect=2).stderr
    assert not (tmp_path / "mine").exists()
