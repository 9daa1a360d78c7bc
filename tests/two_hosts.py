"""A client and a server in namespaces, joined by two links: hosts for the tests of `mptcplab host`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pytest

from emulated import cannot
from mptcplab.emulation import namespaces
from mptcplab.emulation.namespaces import Namespace, namespace

PEER = "10.99.0.1"


class Hosts(NamedTuple):
    """A client and a server, joined by eth1 and eth2."""

    client: Namespace
    server: Namespace

    def host(self, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs `mptcplab host` on the client."""
        command = self.client.command(sys.executable, "-m", "mptcplab", "host", *words)
        env = os.environ | ({"PATH": f"{path}:{os.environ['PATH']}"} if path else {})
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def check(self, *words: str) -> dict[str, Any]:
        """Findings by name, and whether each is a problem."""
        done = self.host("check", "--json", *words)
        found = json.loads(done.stdout)
        assert done.returncode == int(any(one["problem"] for one in found)), done.stderr
        return {one["name"]: one for one in found}

    def state(self) -> str:
        """All that setting up could have changed."""
        shown = ("rule", "route show table all", "-6 rule", "-6 route show table all", "mptcp endpoint", "mptcp limits")
        output = [self.client.ip(one) for one in shown]
        settings = self.client.command("sysctl", "-ar", r"^net\.(mptcp|ipv[46]\.conf)\.")
        output.append(subprocess.run(settings, capture_output=True, text=True, check=True).stdout)
        return "\n".join(output)


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    """Two hosts on two links; nothing of Multipath TCP is set up."""
    if (why := namespaces.why_not()) is not None:
        cannot(why)
    with joined() as both:
        yield both


@contextmanager
def joined() -> Iterator[Hosts]:
    """The same hosts, for tests that need a second pair."""
    with ExitStack() as stack:
        both = Hosts(stack.enter_context(namespace("client")), stack.enter_context(namespace("server")))
        for at in (1, 2):
            both.client.ip(f"link add eth{at} type veth peer name eth{at} netns {both.server.name}")
            both.client.batch(
                [f"link set eth{at} addrgenmode none", f"addr add 10.0.{at}.1/24 dev eth{at}", f"link set eth{at} up"]
            )
            both.server.batch([f"addr add 10.0.{at}.2/24 dev eth{at}", f"link set eth{at} up"])
        both.server.ip(f"addr add {PEER}/32 dev lo")
        both.client.ip("route add default via 10.0.1.2 dev eth1")
        yield both


@pytest.fixture
def healthy(hosts: Hosts) -> Hosts:
    """The same, set up by hand."""
    hosts.client.batch(
        [
            "route add 10.0.2.0/24 dev eth2 table 102",
            "route add default via 10.0.2.2 dev eth2 table 102",
            "rule add from 10.0.2.1 lookup 102",
            "mptcp endpoint add 10.0.1.1 dev eth1 subflow",
            "mptcp endpoint add 10.0.2.1 dev eth2 subflow",
            "mptcp limits set subflow 2 add_addr_accepted 2",
        ]
    )
    return hosts


SERVER = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1])) as one:
    one.bind(("", 5000))
    one.listen()
    print("ready", flush=True)
    while True:
        peer, _ = one.accept()
        while len(peer.recv(1 << 16)):
            pass
        peer.close()
"""


@pytest.fixture
def serving(hosts: Hosts) -> Iterator[Any]:
    """Starts a server of TCP (0) or Multipath TCP on the server."""
    running = []

    def start(protocol: int) -> None:
        command = hosts.server.command(sys.executable, "-c", SERVER, str(protocol))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    yield start
    for process in running:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
