"""Changes the links of an emulated network for the console, and warns of programs that did not use MPTCP.

A program on plain TCP sockets uses only one path, and prints no error about this. Owns the devices of each link;
`console` parses the commands.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mptcplab.emulation.emulated_network import Host, Network
from mptcplab.host.netstat import counters

if TYPE_CHECKING:
    from mptcplab._core import EmulationRow


class EmulatedLinks:
    """The links of a running network."""

    def __init__(self, network: Network) -> None:
        """Collects the names of the links."""
        self._network = network
        self.links = list(dict.fromkeys(device["link"] for host in network.hosts for device in host.plan["devices"]))

    def set_link(self, link: str, key: str, value: str) -> None:
        """Changes a link; raises `ScenarioError` for an invalid value."""
        self._network.emulator.change(link, key, value)

    def set_up(self, link: str, *, up: bool) -> None:
        """Sets a link up or down, visibly for its hosts."""
        for host in self._network.hosts:
            for number, device in enumerate(host.plan["devices"]):
                if device["link"] == link:
                    host.change(number, "admin", up=up)

    def delivered_bytes(self) -> Mapping[str, tuple[int, int]]:
        """Bytes that each link has delivered so far, forward and backward."""
        return delivered_bytes(self._network.emulator.snapshot(), self.links)


def delivered_bytes(now: EmulationRow | None, links: Iterable[str]) -> Mapping[str, tuple[int, int]]:
    """Bytes that each link has delivered up to a snapshot, forward and backward."""
    rows = [] if now is None else now["links"]
    found = {(row["link"], row["direction"]): row["delivered_bytes"] for row in rows}
    return {link: (found.get((link, "forward"), 0), found.get((link, "backward"), 0)) for link in links}


def plain_tcp_warnings(host: Host) -> str | None:
    """A warning if commands on a host with several paths opened connections without MPTCP."""
    if not host.multipath or len(host.joining()) < 2:
        return None
    command = host.namespace.command("cat", "/proc/net/snmp", "/proc/net/netstat")
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return plain_tcp_in_words(host.name, counters(shown.stdout))


def plain_tcp_in_words(name: str, found: Mapping[str, Mapping[str, int]]) -> str | None:
    """The warning for one host, from its counters."""
    opened = found.get("Tcp", {}).get("ActiveOpens", 0)
    multipath = found.get("MPTcpExt", {})
    if not opened or not multipath:
        return None
    asked = multipath.get("MPCapableSYNTX", 0)
    if asked and not multipath.get("MPCapableSYNACKRX", 0):
        return (
            f"{name} offered MPTCP in {asked} connections, but all fell back to TCP, because the peer did not answer "
            "with the option. The program of the peer uses plain TCP; try --peer 'mptcpize run COMMAND'"
        )
    if asked:
        return None
    return (
        f"{name} opened {opened} plain TCP connections and none with MPTCP, so each used one path. Use mptcpize run "
        "COMMAND, or --mptcp of iperf3 3.19 or later"
    )
