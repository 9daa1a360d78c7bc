"""Steps that are taken, each written down before, so that whoever comes after a kill can take them back.

Owns the file: one for each network namespace, under /run, gone when the machine starts anew, as what it lists; and the
lock, for one process at a time plans, does and takes back.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mptcplab.host.setup_steps import CannotChange, Step, read, run, typed
from mptcplab.util.files import write_text

FOLDER = Path("/run/mptcplab")
_SO_NETNS_COOKIE = 71
"""asm-generic/socket.h, Linux 5.14: a number that no other network namespace ever has, unlike its inode."""


def place() -> Path:
    """Where the steps of this network namespace are written down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            cookie = struct.unpack("=Q", any_socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8))[0]
        except OSError:
            raise CannotChange("Linux 5.14 or later is needed to know a network namespace again") from None
    return FOLDER / f"host-{cookie}.json"


@contextmanager
def alone() -> Iterator[None]:
    """Nobody else sets up or takes back meanwhile, in any namespace."""
    import fcntl

    FOLDER.mkdir(mode=0o755, exist_ok=True)
    lock = os.open(FOLDER / "host.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # What a process that was killed had begun to write.
        for part in FOLDER.glob(".host-*.part"):
            part.unlink(missing_ok=True)
        yield
    finally:
        os.close(lock)


def written() -> list[Step]:
    """What was begun and not taken back."""
    file = place()
    try:
        rows = json.loads(file.read_text())
    except FileNotFoundError:
        return []
    except ValueError:
        rows = None
    try:
        if isinstance(rows, list):
            return [read(row) for row in rows]
    except CannotChange as error:
        raise CannotChange(f"{file}: {error}; remove it when nothing is left to undo") from None
    raise CannotChange(f"{file}: this is not a list of steps; remove it when nothing is left to undo")


def apply(steps: Sequence[Step]) -> None:
    """Does all of them, after those that are written down, or none: what was done is taken back when one fails."""
    before = written()
    done: list[Step] = []
    for step in steps:
        _write([*before, *done, step])
        problem = run(step.do)
        if problem is not None:
            # What was refused was not done, and what is there of it is somebody else's.
            unknown = [step] if problem.startswith("outcome unknown") else []
            left = _undo([*done, *unknown])
            _write(before)
            end = f"not taken back: {'; '.join(left)}" if left else "all is as it was"
            raise CannotChange(f"{typed(step.do)}: {problem}; {end}")
        done.append(step)


def undo() -> tuple[list[Step], list[Step]]:
    """Takes back what is written down, the last first; what was, and what was left since somebody changed it."""
    steps = written()
    theirs = [step for step in steps if not step.stands()]
    problems = _undo([step for step in steps if step not in theirs])
    if problems:
        raise CannotChange("; ".join(problems))
    _write([])
    return [step for step in steps if step not in theirs], theirs


def _undo(steps: Sequence[Step]) -> list[str]:
    """What could not be taken back, and why."""
    tried = [(step, step.take_back()) for step in reversed(steps)]
    return [f"{typed(step.undo)}: {problem}" for step, problem in tried if problem is not None]


def _write(steps: Sequence[Step]) -> None:
    """The list as it is from now on; on the disk before anything else happens."""
    file = place()
    if steps:
        write_text(file, json.dumps([{"do": step.do, "undo": step.undo} for step in steps], indent=1))
    else:
        file.unlink(missing_ok=True)
