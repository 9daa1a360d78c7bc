"""The completion scripts for shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Cli


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_it_knows_the_commands(cli: Cli, shell: str) -> None:
    text = cli("completion", shell).stdout
    assert "reproduce" in text
    assert "--seeds" in text


def test_bash_completes(cli: Cli, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    (tmp_path / "done.sh").write_text(cli("completion", "bash").stdout)
    script = (
        "source done.sh; COMP_WORDS=(mptcplab sur); COMP_CWORD=1; _shtab_mptcplab mptcplab sur mptcplab; "
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run([bash, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert "survey" in done.stdout, done.stderr


def test_the_shell_has_to_be_known(cli: Cli) -> None:
    assert "invalid value 'fishh'" in cli("completion", "fishh", expect=2).stderr
