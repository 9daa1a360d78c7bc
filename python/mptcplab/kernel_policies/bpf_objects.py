"""Compiles mptcplab's congestion controllers from C to BPF, which `controllers` loads into the kernel.

Owns the call of `clang`, its requirements and its errors. The sources are in `bpf/`. Writes nothing to disk.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "bpf"
"""The C sources of the controllers, under their own licence."""
PATIENCE = 120.0
"""Timeout of clang in seconds."""
_HEADERS = {
    "bpf/bpf_helpers.h": "the headers of libbpf are missing: install libbpf-dev",
    "asm/types.h": "the headers of Linux are missing: install linux-libc-dev",
    "linux/bpf.h": "the headers of Linux are missing: install linux-libc-dev",
}
"""The error for each missing header."""


class CannotBuild(RuntimeError):
    """A controller cannot be compiled; the message names the missing part."""


def build(rule: str, prefix: str) -> bytes:
    """The BPF object file of a controller such as `lia`; its kernel name starts with `prefix`."""
    clang = shutil.which("clang")
    if clang is None:
        raise CannotBuild("clang, which compiles the controllers, is not installed: install clang and libbpf-dev")
    source = SOURCES / f"{rule}.bpf.c"
    if not source.is_file():
        raise CannotBuild(f"{source} is missing: this mptcplab was installed without the controllers")
    # Debian keeps asm/types.h in this directory, in which clang does not look for the target bpf.
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


def _why(rule: str, message: str) -> str:
    """The first error of clang as one line, or the missing package."""
    errors = [line for line in message.splitlines() if "error:" in line] or message.splitlines() or ["no error message"]
    missing = next((why for header, why in _HEADERS.items() if f"'{header}' file not found" in errors[0]), None)
    return missing or f"clang cannot compile {rule}: {errors[0]}"
