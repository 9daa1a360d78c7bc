"""The TCP sockets of this machine, as `ss` lists them: a line each, while they come.

Owns the question. Keeps nothing of the answer, which is long where there are many connections.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator

from mptcplab.host.machine import CannotLook

_PATIENCE = 60.0


def rows() -> Iterator[str]:
    """What `ss -OtinH` says of each socket. Raises `CannotLook`."""
    ss = shutil.which("ss")
    if ss is None:
        raise CannotLook("ss is not installed: install iproute2")
    with (
        tempfile.TemporaryFile(mode="w+", encoding="utf-8") as errors,
        subprocess.Popen([ss, "-OtinH"], stdout=subprocess.PIPE, stderr=errors, text=True) as asked,
    ):
        late = threading.Timer(_PATIENCE, asked.kill)
        late.start()
        try:
            yield from asked.stdout or ()
            if asked.wait():
                errors.seek(0)
                raise CannotLook(f"ss -OtinH: {errors.readline().strip() or 'no answer'}")
        finally:
            late.cancel()
            asked.kill()
