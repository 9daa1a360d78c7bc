"""Creates and removes network namespaces, the hosts of emulated networks and of `bench wire`.

Owns the calls of `ip` and the names. A name contains the process that created the namespace, so that the next run can
remove leftovers of killed processes. Devices and routes outside these namespaces are never changed.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_NUMBERS = itertools.count()
_IP = shutil.which("ip") or "ip"
_NAMED = Path("/run/netns")
"""The directory of `ip netns`."""
FILES = Path("/etc/netns")
"""For each namespace, a directory of files that `ip netns exec` shows instead of those in /etc."""
_LOCK = Path("/run/mptcplab-namespaces.lock")
"""The lock for removing leftovers."""
_NAME = re.compile(r"mptcplab-[^/]+-(?P<pid>\d+)-(?P<start>\d+)-\d+-(?P<room>\d+\.[0-9a-f]+)")
_PATIENCE = 2.0
"""Seconds that processes have to end after a signal."""
ENDING = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""Signals that end a run."""


class CannotMake(RuntimeError):
    """Namespaces cannot be created; the message names a solution."""


def why_not() -> str | None:
    """Why this process cannot create namespaces, with a solution; None if it can."""
    if sys.platform != "linux":
        return f"network namespaces need Linux; this is {sys.platform}"
    if shutil.which("ip") is None:
        return "ip is not installed: install iproute2"
    if os.geteuid() != 0:
        return "network namespaces require root: use sudo, or a container with CAP_SYS_ADMIN"
    return None


def _run(command: list[str], text: str | None = None, limit: float = 30) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=limit, check=False, process_group=0
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotMake(f"{' '.join(command)}: {error}") from error


def ip(*words: str) -> str:
    """Runs `ip`, and returns its output. Ctrl-C does not interrupt it."""
    done = _run([_IP, *words])
    if done.returncode:
        raise CannotMake(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Namespace:
    """An existing namespace."""

    def __init__(self, name: str) -> None:
        """Refers to the namespace of this name."""
        self.name = name

    def ip(self, arguments: str) -> str:
        """Runs `ip` in it."""
        return ip("-n", self.name, *arguments.split())

    def batch(self, lines: Iterable[str]) -> None:
        """Runs several commands of `ip` in it, up to the first failure."""
        text = "\n".join(lines)
        done = _run([_IP, "-n", self.name, "-batch", "-"], text, 60)
        if done.returncode:
            # `ip` prints the error first, then the failed line of the batch.
            message = done.stderr.strip().splitlines()
            number = re.search(r"-:(\d+)$", message[-1]) if message else None
            line = text.splitlines()[int(number[1]) - 1] if number else lines
            raise CannotMake(f"ip -n {self.name} {line}: {message[0] if message else done.returncode}")

    def processes(self) -> list[int]:
        """The processes in it."""
        return [int(word) for word in ip("netns", "pids", self.name).split()]

    def clear(self, patience: float = _PATIENCE) -> None:
        """Ends the processes in it: SIGTERM, and SIGKILL after `patience` seconds."""
        began = time.monotonic()
        asked: set[int] = set()
        while left := self.processes():
            kill = time.monotonic() >= began + patience
            for process in left:
                if kill or process not in asked:
                    asked.add(process)
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL if kill else signal.SIGTERM)
            if time.monotonic() > began + patience + _PATIENCE:
                raise CannotMake(f"processes in {self.name} do not end: {', '.join(map(str, left))}")
            time.sleep(0.01)

    def command(self, *arguments: str | Path) -> list[str]:
        """A command line that runs a command in it."""
        return ["ip", "netns", "exec", self.name, *map(str, arguments)]

    def read(self, path: str) -> str:
        """The content of a file in it, such as /proc/net/netstat; empty without the file."""
        return _run(self.command("cat", path)).stdout

    def sysctl(self, key: str, value: str) -> None:
        """Sets a sysctl in it, such as `net.ipv4.ip_forward`, and checks the value."""
        path = f"/proc/sys/{key.replace('.', '/')}"
        set_to = _run(self.command("tee", path), value)
        if set_to.returncode:
            raise CannotMake(f"{key} = {value}: the kernel rejects it ({set_to.stderr.strip()})")
        has = _run(self.command("cat", path)).stdout.split()
        if has != value.split():
            raise CannotMake(f"{key} = {value}: the kernel changed it to {' '.join(has)}")


def _start(process: int) -> int | None:
    """The start time of a process in clock ticks since boot; None without the process (proc(5), field 22 of stat)."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    # The name in the second field may contain spaces and parentheses.
    return int(text.rpartition(")")[2].split()[19])


def _room() -> str:
    """Identifies the PID namespace and the boot, without which a process number is ambiguous."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    return f"{Path('/proc/self/ns/pid').stat().st_ino}.{boot[:8]}"


def left() -> list[str]:
    """The names of namespaces whose creator has ended; excludes creators in other PID namespaces."""
    names = set()
    room = _room()
    for folder in (_NAMED, FILES):
        with suppress(OSError):
            names |= {found.name for found in folder.iterdir()}
    matches = (_NAME.fullmatch(name) for name in sorted(names))
    ours = (named for named in matches if named is not None and named["room"] == room)
    return [named[0] for named in ours if _start(int(named["pid"])) != int(named["start"])]


def sweep() -> list[str]:
    """Removes namespaces whose creator has ended, with the processes in them; returns their names."""
    import fcntl

    gone = []
    try:
        lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotMake(f"{_LOCK}: {error.strerror}; runs need it as a lock file") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in left():
            with suppress(CannotMake, OSError):
                _remove(Namespace(name), 0)
                gone.append(name)
    finally:
        os.close(lock)
    return gone


def _remove(made: Namespace, patience: float) -> None:
    files = FILES / made.name
    if files.is_dir():
        for file in files.iterdir():
            file.unlink(missing_ok=True)
        files.rmdir()
    if (_NAMED / made.name).exists():
        made.clear(patience)
        ip("netns", "del", made.name)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delays signals that end a run until the block is complete.

    Blocking signals is not enough: a signal may reach another thread, and its handler runs on the main thread all the
    same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    ours = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    try:
        for number in ours:
            signal.signal(number, note)
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
        for late in came[:1]:
            signal.raise_signal(late)


@contextmanager
def namespace(label: str) -> Iterator[Namespace]:
    """A new namespace with its loopback up; it and its processes are removed after the block."""
    if (why := why_not()) is not None:
        raise CannotMake(why)
    sweep()
    made = Namespace(f"mptcplab-{label}-{os.getpid()}-{_start(os.getpid())}-{next(_NUMBERS)}-{_room()}")
    ours = False
    try:
        with uninterrupted():
            # If the name exists, this fails, and the namespace of the other program is not removed.
            ip("netns", "add", made.name)
            ours = True
        made.ip("link set lo up")
        yield made
    finally:
        if ours:
            with uninterrupted():
                _remove(made, _PATIENCE)
