"""Network namespaces with Linux in them: hosts on this machine, made and removed by whoever needs them.

Owns `ip` and the names. Never touches a device or a route outside the namespaces that it made.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NUMBERS = itertools.count()
_IP = shutil.which("ip") or "ip"


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


def ip(*words: str) -> str:
    """Runs `ip`, and returns what it said."""
    done = subprocess.run([_IP, *words], capture_output=True, text=True, timeout=30, check=False)
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

    def command(self, *arguments: str | Path) -> list[str]:
        """A command line that runs a command in it."""
        return ["ip", "netns", "exec", self.name, *map(str, arguments)]

    def sysctl(self, key: str, value: str) -> None:
        """Sets a sysctl of it, such as `net.ipv4.ip_forward`."""
        path = f"/proc/sys/{key.replace('.', '/')}"
        subprocess.run(self.command("tee", path), input=value.encode(), capture_output=True, timeout=30, check=True)


@contextmanager
def namespace(label: str) -> Iterator[Namespace]:
    """A new namespace with its loopback up; it goes with the block."""
    if (why := why_not()) is not None:
        raise CannotMake(why)
    name = f"mptcplab-{label}-{os.getpid()}-{next(_NUMBERS)}"
    ip("netns", "add", name)
    made = Namespace(name)
    try:
        made.ip("link set lo up")
        yield made
    finally:
        ip("netns", "del", name)
