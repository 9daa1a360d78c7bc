"""Runs the command `mptcplab` in this process, isolated like a process of its own.

Owns the state around a command: directory, arguments, standard streams, warnings, logging, signals, environment. A
process of its own costs a third of a second for imports, and two with figures. Tests of the process itself (exit,
installed packages, permissions) use `processed`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from mptcplab.cli import main as command_line

Done = subprocess.CompletedProcess[str]
SIGNALS = [number for number in signal.Signals if number not in (signal.SIGKILL, signal.SIGSTOP)]


def processed(arguments: Sequence[str], directory: Path) -> Done:
    """Runs it in a process of its own, with the environment that Python knows: readline changes COLUMNS behind it."""
    return subprocess.run(
        [sys.executable, "-m", "mptcplab", *arguments],
        cwd=directory,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def here(arguments: Sequence[str], directory: Path) -> Done:
    """Runs the command in this process, with the present environment."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with contextlib.ExitStack() as kept:
            kept.enter_context(_state(arguments, directory))
            kept.enter_context(_stream(0, "stdin", os.open(os.devnull, os.O_RDONLY), own=True))
            kept.enter_context(_stream(1, "stdout", out.fileno()))
            kept.enter_context(_stream(2, "stderr", err.fileno()))
            kept.enter_context(_warnings())
            code = _code()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8").replace("\r\n", "\n"))
    return Done(["mptcplab", *arguments], code, *texts)


def _code() -> int:
    """The exit code, as the interpreter makes it."""
    try:
        return command_line.main()
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - what nobody caught ends a process with a traceback
        traceback.print_exc()
        return 1


@contextlib.contextmanager
def _stream(number: int, name: str, source: int, *, own: bool = False) -> Iterator[None]:
    """Replaces a standard stream by a file: the descriptor, for child processes, and Python's stream."""
    before, kept = getattr(sys, name), os.dup(number)
    before_it_flushed = getattr(before, "flush", None)
    if number and before_it_flushed:
        before_it_flushed()
    os.dup2(source, number)
    mode, errors = ("r", "strict") if number == 0 else ("w", "backslashreplace" if number == 2 else "strict")
    stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    setattr(sys, name, stream)
    try:
        yield
    finally:
        setattr(sys, name, before)
        with contextlib.suppress(ValueError):
            stream.close()
        os.dup2(kept, number)
        os.close(kept)
        if own:
            os.close(source)


@contextlib.contextmanager
def _state(arguments: Sequence[str], directory: Path) -> Iterator[None]:
    """Sets arguments and directory; afterwards restores the state, and reports leftovers of the command as errors."""
    words, where, environment = sys.argv, Path.cwd(), dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    root = logging.getLogger()
    loggers, level = root.handlers[:], root.level
    # A process has no handlers: warnings go to the standard error output.
    root.handlers[:] = []
    root.setLevel(logging.WARNING)
    # The parent of the tests may ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    during = signal.getsignal(signal.SIGINT)
    sys.argv = ["mptcplab", *arguments]
    os.chdir(directory)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) is during, "a command gives signals back"
        assert all(signal.getsignal(number) is handlers[number] for number in SIGNALS if number != signal.SIGINT)
        assert dict(os.environ) == environment, "a command leaves the environment alone"
        assert not root.handlers, "a command sets up no logging"
    finally:
        os.chdir(where)
        sys.argv = words
        os.environ.clear()
        os.environ.update(environment)
        root.handlers[:] = loggers
        root.setLevel(level)
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)


@contextlib.contextmanager
def _warnings() -> Iterator[None]:
    """Warnings as the interpreter has them by default: to the standard error output."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = _show
        yield


def _show(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)
