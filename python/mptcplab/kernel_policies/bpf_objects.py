"""Congestion controllers for the kernel: from C to what the kernel loads.

Owns `clang`, what it needs, and what is said when it cannot. What is compiled is in `bpf/` beside this file; nothing is
written to a disk. Loads nothing.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "bpf"
"""The C of the controllers, under a licence of its own."""
PATIENCE = 120.0
"""Seconds that clang may take."""
_HEADERS = {
    "bpf/bpf_helpers.h": "the headers of libbpf are missing: install libbpf-dev",
    "asm/types.h": "the headers of Linux are missing: install linux-libc-dev",
    "linux/bpf.h": "the headers of Linux are missing: install linux-libc-dev",
}
"""What a header that is not there belongs to."""


class CannotBuild(RuntimeError):
    """A controller cannot be compiled here; the message says what is missing."""


def build(rule: str, prefix: str) -> bytes:
    """The object of a controller, such as `lia`; its name in the kernel begins with `prefix`."""
    clang = shutil.which("clang")
    if clang is None:
        raise CannotBuild("clang is not installed, which compiles for the kernel: install clang and libbpf-dev")
    source = SOURCES / f"{rule}.bpf.c"
    if not source.is_file():
        raise CannotBuild(f"{source} is missing: this mptcplab was installed without its controllers")
    # Where Debian and those after it keep asm/types.h, which the target bpf does not look for.
    multiarch = [f"-I{path}" for path in Path("/usr/include").glob(f"{platform.machine()}-linux-gnu*")]
    command = [clang, "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", f"-DPREFIX={prefix}"]
    command += [*multiarch, "-c", str(source), "-o", "-"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"clang: {error}") from error
    if done.returncode:
        raise CannotBuild(_why(rule, done.stderr.decode(errors="replace")))
    return done.stdout


def _why(rule: str, said: str) -> str:
    """What clang said, in a line."""
    errors = [line for line in said.splitlines() if "error:" in line] or said.splitlines() or ["it does not say why"]
    missing = next((why for header, why in _HEADERS.items() if f"'{header}' file not found" in errors[0]), None)
    return missing or f"clang cannot compile {rule}: {errors[0]}"
