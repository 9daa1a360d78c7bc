"""The git commit of this checkout, which reports of `mptcplab reproduce` name.

Never fails; an installed package has no commit.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def commit() -> str:
    """The short hash of the checkout, with `+` for uncommitted changes; empty without a checkout."""
    git = shutil.which("git")
    if git is None:
        return ""
    here = str(Path(__file__).parents[1])
    questions = (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "--", "."))
    try:
        lines = [
            subprocess.run([git, "-C", here, *words], capture_output=True, text=True, timeout=10, check=True).stdout
            for words in questions
        ]
    except (OSError, subprocess.SubprocessError):
        return ""
    return lines[0].strip() + ("+" if lines[1].strip() else "")
