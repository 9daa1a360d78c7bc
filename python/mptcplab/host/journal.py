"""Applies the steps of `host setup`, and records each one first, so that `--undo` works even after a crash.

Owns the file of steps, one per network namespace. The file is under /run, so a reboot removes it, like the settings.
Owns the lock, so that one process at a time plans, applies and undoes.
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
"""asm-generic/socket.h, Linux 5.14: a unique number of a network namespace, unlike its inode."""


def place() -> Path:
    """The journal file of this network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            cookie = struct.unpack("=Q", any_socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8))[0]
        except OSError:
            raise CannotChange("Linux 5.14 or later is needed to identify a network namespace") from None
    return FOLDER / f"host-{cookie}.json"


@contextmanager
def alone() -> Iterator[None]:
    """Locks set-up and undo in all namespaces."""
    import fcntl

    FOLDER.mkdir(mode=0o755, exist_ok=True)
    lock = os.open(FOLDER / "host.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The partial file of a process that was killed.
        for part in FOLDER.glob(".host-*.part"):
            part.unlink(missing_ok=True)
        yield
    finally:
        os.close(lock)


def written() -> list[Step]:
    """Steps that were started and not undone."""
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
        raise CannotChange(f"{file}: {error}; remove the file if nothing is left to undo") from None
    raise CannotChange(f"{file}: is not a list of steps; remove the file if nothing is left to undo")


def apply(steps: Sequence[Step]) -> None:
    """Applies all steps after the recorded ones, or none: undoes the applied ones if one fails."""
    before = written()
    done: list[Step] = []
    for step in steps:
        _write([*before, *done, step])
        problem = run(step.do)
        if problem is not None:
            # A rejected step changed nothing. Its undo would remove the setting of another program.
            unknown = [step] if problem.startswith("outcome unknown") else []
            left = _undo([*done, *unknown])
            _write(before)
            end = f"could not undo: {'; '.join(left)}" if left else "all changes were undone"
            raise CannotChange(f"{typed(step.do)}: {problem}; {end}")
        done.append(step)


def undo() -> tuple[list[Step], list[Step]]:
    """Undoes the recorded steps, the last first; returns the undone steps, and those kept because they were changed."""
    steps = written()
    theirs = [step for step in steps if not step.stands()]
    problems = _undo([step for step in steps if step not in theirs])
    if problems:
        raise CannotChange("; ".join(problems))
    _write([])
    return [step for step in steps if step not in theirs], theirs


def _undo(steps: Sequence[Step]) -> list[str]:
    """The steps that could not be undone, and why."""
    tried = [(step, step.undo_step()) for step in reversed(steps)]
    return [f"{typed(step.undo)}: {problem}" for step, problem in tried if problem is not None]


def _write(steps: Sequence[Step]) -> None:
    """Writes the list to disk before the next step."""
    file = place()
    if steps:
        write_text(file, json.dumps([{"do": step.do, "undo": step.undo} for step in steps], indent=1))
    else:
        file.unlink(missing_ok=True)
