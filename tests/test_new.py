"""`mptcplab new`: crates of one's own that build."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, Cli


@pytest.mark.parametrize("kind", ["scheduler", "congestion"])
def test_what_it_writes_compiles(cli: Cli, tmp_path: Path, kind: str) -> None:
    cli("new", kind, "my-own")
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
    assert "--checkout DIR" in cli("new", "scheduler", "mine", "--checkout", str(tmp_path), expect=2).stderr
    assert not (tmp_path / "mine").exists()
