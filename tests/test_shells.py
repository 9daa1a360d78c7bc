"""Command lines of the documentation reach the command unchanged, in bash and in zsh."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, need
from mptcplab.cli.commands import commands

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def typed() -> list[str]:
    """Every mptcplab command line in the documentation and in the help."""
    found = [command.EXAMPLE.replace("%%", "%") for command in commands()]
    for page in PAGES:
        for block in re.findall(r"```[a-z]*\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            lines = block.replace("\\\n", " ").splitlines()
            found += [line.strip().removeprefix("$ ") for line in lines]
        found += re.findall(r"^    (mptcplab .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [line for line in found if line.startswith("mptcplab ")]


def test_there_is_something_to_type() -> None:
    lines = typed()
    assert len(lines) > 60
    assert any("{" in line for line in lines), "one of them has braces"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_passes_what_is_written(shell: str, tmp_path: Path) -> None:
    """Unquoted braces would be two words, and in zsh an unquoted * no match."""
    if shell == "zsh" and shutil.which(shell) is None:
        pytest.skip("zsh is not installed")
    need(shell)
    for line in typed():
        first = re.split(r" (?:&&|\|\||[|>;#]|2>&1)", line)[0]
        # Placeholders, and directory names that the shell expands.
        if any(letter in first for letter in "<$`…") or "*/" in first:
            continue
        words = shlex.split(first)[1:]
        script = f"mptcplab() {{ printf '%s\\n' \"$@\"; }}; {first}"
        done = subprocess.run([shell, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{shell}: {line}: {done.stderr}"
        assert done.stdout.splitlines() == words, f"{shell}: {line}"
