"""Emulated networks of tests: required capabilities, programs in them, and checks for leftovers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mptcplab.emulation import emulated_network, namespaces

TWO_PATHS = """
name = "two"
duration = "4s"
warmup = "1s"
sample = "500ms"
[paths.wifi]
rate = "8Mbit"
delay = "5ms"
queue = "50p"
[paths.lte]
rate = "4Mbit"
delay = "20ms"
queue = "50p"
"""
"""Two unequal paths, for a flow of the test's own in a run of four seconds."""

# A server that echoes datagrams, and one that counts a stream.
ECHO = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
    own.bind(("0.0.0.0", 5001))
    while True:
        own.sendto(*own.recvfrom(2048))
"""
SINK = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1])) as own:
    own.bind(("0.0.0.0", 5001))
    own.listen()
    while True:
        with own.accept()[0] as stream:
            while stream.recv(65536):
                pass
            stream.sendall(b"!")
"""
# Clients: round trips of datagrams in seconds, and a stream of so many bytes.
PING = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
    own.settimeout(20)
    own.connect((sys.argv[1], 5001))
    for number in range(int(sys.argv[2])):
        began = time.monotonic()
        own.send(b"x" * 100)
        own.recv(2048)
        print(time.monotonic() - began)
"""
SEND = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1])) as own:
    own.connect(("server", 5001))
    own.sendall(bytes(int(sys.argv[2])))
    own.shutdown(socket.SHUT_WR)
    assert own.recv(1) == b"!"
"""


def python(script: str, *arguments: object) -> list[str]:
    """A command that runs a script."""
    return [sys.executable, "-c", script, *map(str, arguments)]


def cannot(why: str) -> None:
    """Skips with the reason; where everything has to be there, fails."""
    if os.environ.get("CI"):
        pytest.fail(f"in CI this must run, but {why}")
    pytest.skip(why)


def made_by(process: int) -> set[str]:
    """The namespaces of the hosts that a process has made."""
    names = namespaces.ip("netns", "list").split()
    return {name for name in names if name.startswith("mptcplab-host") and f"-{process}-" in name}


class Machine:
    """Where networks are emulated."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.report = directory / "report.json"
        self.started: list[int] = []

    def start(self, toml: str, *arguments: str) -> subprocess.Popen[str]:
        """Starts `mptcplab emulate`."""
        (self.directory / "network.toml").write_text(toml)
        command = [sys.executable, "-m", "mptcplab", "emulate", "network.toml", "--report", "report.json", *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=self.directory, stdout=pipe, stderr=pipe, text=True)
        self.started.append(process.pid)
        return process

    def run(self, toml: str, *arguments: str, expect: int = 0) -> tuple[str, str]:
        """Runs it to its end; returns both outputs."""
        with self.start(toml, *arguments) as process:
            out, err = process.communicate(timeout=120)
        assert process.returncode == expect, out + err
        assert "Traceback" not in err
        return out, err

    def links(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The links in the last report."""
        rows = json.loads(self.report.read_text())["links"]
        return {(row["link"], row["direction"]): row for row in rows}

    def left(self) -> set[str]:
        """Namespaces of the started processes and of this one, which has none at the end of a test."""
        return set().union(*(made_by(process) for process in [os.getpid(), *self.started]))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine that can emulate; checks for leftovers afterwards."""
    if (why := emulated_network.why_not_emulate()) is not None:
        cannot(why)
    try:
        with namespaces.namespace("probe"):
            pass
    except namespaces.CannotMake as error:
        cannot(str(error))
    made = Machine(tmp_path)
    yield made
    assert not made.left()
