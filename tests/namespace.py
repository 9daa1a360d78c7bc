"""A network namespace with TUN devices, made and removed by a test.

Path n of side `a` is 10.88.n.0/24, of side `b` 10.88.(10 + n).0/24: the kernel is .1 on each, an endpoint gets .2. The
kernel forwards between them.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mptcplab.emulation import namespaces

Done = subprocess.CompletedProcess[bytes]


class Namespace(namespaces.Namespace):
    """Where commands run."""

    def __init__(self, name: str, directory: Path) -> None:
        super().__init__(name)
        self.directory = directory

    def run(self, *arguments: str | Path, given: bytes = b"", expect: int | None = 0) -> Done:
        """Runs a command to its end; `expect` is the exit code, None for any."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.directory, input=given, capture_output=True, timeout=60, check=False
        )
        assert expect in (None, done.returncode), f"exit code {done.returncode}: {done.stdout!r} {done.stderr!r}"
        assert b"Traceback" not in done.stderr or expect is None, done.stderr.decode()
        return done

    def mptcplab(self, *arguments: str | Path, given: bytes = b"", expect: int = 0) -> Done:
        """Runs `mptcplab`."""
        return self.run(sys.executable, "-m", "mptcplab", *arguments, given=given, expect=expect)

    @contextmanager
    def background(self, *arguments: str | Path, says: str) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a command and waits until it has said something on stderr."""
        process = subprocess.Popen(
            self.command(*arguments), cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        with process:
            try:
                assert process.stderr is not None
                line = process.stderr.readline()
                assert says.encode() in line, line + process.stderr.read()
                yield process
            finally:
                process.kill()


def _cannot(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"in CI this must run, but {why}")
    pytest.skip(why)


def ends(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """The output of a process until its regular end."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out, err


@pytest.fixture
def namespace(tmp_path: Path) -> Iterator[Namespace]:
    """Two devices for each of two endpoints; skips where the machine lacks something."""
    if (why := namespaces.why_not()) is not None:
        _cannot(why)
    if not Path("/dev/net/tun").exists():
        _cannot("/dev/net/tun is missing")
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close()
    except OSError as error:
        _cannot(f"the kernel has no MPTCP sockets: {error}")
    try:
        with namespaces.namespace("test") as bare:
            made = Namespace(bare.name, tmp_path)
            for device, subnet in (("a1", 1), ("a2", 2), ("b1", 11), ("b2", 12)):
                made.ip(f"tuntap add {device} mode tun")
                made.ip(f"addr add 10.88.{subnet}.1/24 dev {device}")
                made.ip(f"link set {device} up txqueuelen 2000")
            made.ip("mptcp limits set subflows 8 add_addr_accepted 8")
            made.sysctl("net.ipv4.ip_forward", "1")
            yield made
    except namespaces.CannotMake as error:
        _cannot(str(error))
