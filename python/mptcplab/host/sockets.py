"""The TCP sockets of this machine, read line by line from `ss` of iproute2.

`host connections` and `kernel congestion` need them. Owns the query. Stores nothing, because the list can be long.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator

from mptcplab.host.machine import CannotLook

_PATIENCE = 60.0
"""Seconds after which `ss` is killed."""


def rows() -> Iterator[str]:
    """The lines of `ss -OtinH`. Raises `CannotLook`."""
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
