"""Runs `mptcplab host top`: samples the sockets, and refreshes the terminal or prints intervals.

Owns the clock, the terminal and its keys; `top_view` computes and formats.
"""

from __future__ import annotations

import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socket import AF_INET, AF_INET6

from mptcplab.host.machine import CannotLook, Machine
from mptcplab.host.socket_diag import SocketDiag, TooMany
from mptcplab.host.top_view import ConnectionRow, Interval, Sample, text

_SAMPLES = 10
"""Samples of an interval."""
_MANY, _FEW_SAMPLES = 200, 2
"""With more subflows than this, fewer samples are taken."""
_RENEW = 5.0
"""Seconds after which the addresses of interfaces are read again for an unknown address."""
_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""The alternate screen without a cursor."""


class Devices:
    """The interfaces by address."""

    def __init__(self) -> None:
        """Reads nothing yet."""
        self._known: dict[str, str] = {}
        self._read = -_RENEW

    def name(self, address: str) -> str | None:
        """The interface with an address; None if there is none."""
        if address not in self._known and time.monotonic() > self._read + _RENEW:
            self._read = time.monotonic()
            with suppress(CannotLook):
                self._known = {str(own): one.name for one in Machine.read().interfaces for own in one.every}
        return self._known.get(address)


def intervals(seconds: float, pause: Callable[[float], bool] | None = None) -> Iterator[list[ConnectionRow]]:
    """The connections in each interval. `pause` sleeps, and returns true to end. Raises `CannotLook`."""
    sleep = _sleep if pause is None else pause
    devices = Devices()
    try:
        diag = SocketDiag(families=(AF_INET, AF_INET6))
    except OSError as error:
        raise CannotLook(f"the kernel's sockets cannot be read: {error.strerror or error}") from error
    try:
        before = _look(diag)
        while True:
            interval = Interval(before)
            count = _FEW_SAMPLES if len(before.subflows) > _MANY else _SAMPLES
            for _ in range(count):
                if sleep(seconds / count):
                    return
                before = _look(diag)
                interval.add(before)
            yield interval.rows(devices.name)
    finally:
        diag.close()


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _look(diag: SocketDiag) -> Sample:
    try:
        return Sample.of(time.monotonic(), diag.tcp(), diag.mptcp())
    except TooMany as error:
        raise CannotLook(f"{error} are open on this host; host top shows at most that many") from error
    except OSError as error:
        raise CannotLook(f"the kernel does not list MPTCP sockets: {error.strerror or error}") from error


def live(seconds: float) -> None:
    """Refreshes the terminal until the key q, or Ctrl-C."""
    with _keys() as pressed, _screen():
        print(f"{_HOME}mptcplab host top: the first values appear after {seconds:g} s{_CLEAR_BELOW}", flush=True)
        for rows in intervals(seconds, pressed):
            size = shutil.get_terminal_size()
            count = sum(len(one.subflows) for one in rows)
            head = (
                f"mptcplab host top, {time.strftime('%H:%M:%S')}: {len(rows)} connections, {count} subflows (q quits)"
            )
            lines = [head[: size.columns], "", *text(rows, size.columns, size.lines - 3)]
            print(_HOME + "".join(f"{line}{_CLEAR_LINE}\n" for line in lines) + _CLEAR_BELOW, end="", flush=True)


@contextmanager
def _screen() -> Iterator[None]:
    print(_ENTER, end="", flush=True)
    try:
        yield
    finally:
        print(_LEAVE, end="", flush=True)


@contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """Yields a function that waits, and returns true once q is pressed; without a keyboard, it only waits."""
    if not sys.stdin.isatty():
        yield _sleep
        return
    import termios
    import tty

    own = sys.stdin.fileno()
    before = termios.tcgetattr(own)

    def pressed(wait: float) -> bool:
        until = time.monotonic() + wait
        while (left := until - time.monotonic()) > 0:
            if select.select([own], [], [], left)[0] and sys.stdin.read(1) in ("q", "Q", ""):
                return True
        return False

    try:
        tty.setcbreak(own)
        yield pressed
    finally:
        termios.tcsetattr(own, termios.TCSADRAIN, before)
