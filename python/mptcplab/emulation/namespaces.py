"""Network namespaces with Linux in them: hosts on this machine, made and removed by whoever needs them.

Owns `ip` and the names, which say who made a namespace: what a killed process left is found by them, and removed by the
next that makes one. Never touches a device or a route outside the namespaces that it made.
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
"""Where `ip netns` keeps them."""
FILES = Path("/etc/netns")
"""Files that `ip netns exec` shows a command in place of those of /etc, by the name of the namespace."""
_LOCK = Path("/run/mptcplab-namespaces.lock")
"""Whoever sweeps has it."""
_NAME = re.compile(r"mptcplab-[^/]+-(?P<pid>\d+)-(?P<start>\d+)-\d+-(?P<room>\d+\.[0-9a-f]+)")
_PATIENCE = 2.0
"""Seconds that processes have to end when they are asked to."""
ENDING = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""Signals that end a run."""


class CannotMake(RuntimeError):
    """This machine has no namespaces for us; the message says what would be right."""


def why_not() -> str | None:
    """What keeps this process from making namespaces, and what would help; None when nothing does."""
    if sys.platform != "linux":
        return f"network namespaces take Linux; this is {sys.platform}"
    if shutil.which("ip") is None:
        return "ip is not installed: install iproute2"
    if os.geteuid() != 0:
        return "network namespaces take root: run it with sudo, or in a container that has CAP_SYS_ADMIN"
    return None


def _run(command: list[str], text: str | None = None, limit: float = 30) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=limit, check=False, process_group=0
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotMake(f"{' '.join(command)}: {error}") from error


def ip(*words: str) -> str:
    """Runs `ip`, and returns what it said. Ctrl-C does not reach it: what it does is done whole."""
    done = _run([_IP, *words])
    if done.returncode:
        raise CannotMake(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Namespace:
    """A namespace that exists."""

    def __init__(self, name: str) -> None:
        """The namespace of that name, which exists."""
        self.name = name

    def ip(self, arguments: str) -> str:
        """Runs `ip` in it."""
        return ip("-n", self.name, *arguments.split())

    def batch(self, lines: Iterable[str]) -> None:
        """Runs many commands of `ip` in it, up to the first that fails."""
        text = "\n".join(lines)
        done = _run([_IP, "-n", self.name, "-batch", "-"], text, 60)
        if done.returncode:
            # `ip` says what is wrong, then which command of the batch it was.
            said = done.stderr.strip().splitlines()
            number = re.search(r"-:(\d+)$", said[-1]) if said else None
            line = text.splitlines()[int(number[1]) - 1] if number else lines
            raise CannotMake(f"ip -n {self.name} {line}: {said[0] if said else done.returncode}")

    def processes(self) -> list[int]:
        """Those that are in it."""
        return [int(word) for word in ip("netns", "pids", self.name).split()]

    def clear(self, patience: float = _PATIENCE) -> None:
        """Ends the processes in it: asks them to, and kills those that are still there after `patience` seconds."""
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
        """A file as it is in there, such as /proc/net/netstat; empty where there is none."""
        return _run(self.command("cat", path)).stdout

    def sysctl(self, key: str, value: str) -> None:
        """Sets a sysctl of it, such as `net.ipv4.ip_forward`, and looks whether it has what was asked for."""
        path = f"/proc/sys/{key.replace('.', '/')}"
        set_to = _run(self.command("tee", path), value)
        if set_to.returncode:
            raise CannotMake(f"{key} = {value}: the kernel refuses it ({set_to.stderr.strip()})")
        has = _run(self.command("cat", path)).stdout.split()
        if has != value.split():
            raise CannotMake(f"{key} = {value}: the kernel made it {' '.join(has)}")


def _start(process: int) -> int | None:
    """When a process started, in ticks since the machine did; None when there is none (proc(5), field 22 of stat)."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    # The name in the second field may have blanks and brackets.
    return int(text.rpartition(")")[2].split()[19])


def _room() -> str:
    """Where numbers of processes mean what they mean here: this namespace of them, since this start of the machine."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    return f"{Path('/proc/self/ns/pid').stat().st_ino}.{boot[:8]}"


def left() -> list[str]:
    """The namespaces whose maker is no more. Whose maker cannot be seen from here is not among them."""
    names = set()
    room = _room()
    for folder in (_NAMED, FILES):
        with suppress(OSError):
            names |= {found.name for found in folder.iterdir()}
    matches = (_NAME.fullmatch(name) for name in sorted(names))
    ours = (named for named in matches if named is not None and named["room"] == room)
    return [named[0] for named in ours if _start(int(named["pid"])) != int(named["start"])]


def sweep() -> list[str]:
    """Removes the namespaces whose maker is no more, with all that is in them; returns their names."""
    import fcntl

    gone = []
    try:
        lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotMake(f"{_LOCK}: {error.strerror}; runs take turns by it, and it has to be a file") from error
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
def undisturbed() -> Iterator[None]:
    """What is in the block is done whole: signals that end a run come after it.

    A mask would not do: a signal reaches any thread that has none, and its handler runs on the main one all the same.
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
    """A new namespace with its loopback up; it goes with the block, and with it the processes in it."""
    if (why := why_not()) is not None:
        raise CannotMake(why)
    sweep()
    made = Namespace(f"mptcplab-{label}-{os.getpid()}-{_start(os.getpid())}-{next(_NUMBERS)}-{_room()}")
    ours = False
    try:
        with undisturbed():
            # One of that name that is there is not ours to remove.
            ip("netns", "add", made.name)
            ours = True
        made.ip("link set lo up")
        yield made
    finally:
        if ours:
            with undisturbed():
                _remove(made, _PATIENCE)
