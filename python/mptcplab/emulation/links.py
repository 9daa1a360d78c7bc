"""The links of an emulated network, as the prompt changes and looks at them.

Owns which devices hang on a link, and whether a command spoke Multipath TCP. Takes no words apart.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from mptcplab.emulation.emulated_network import Host, Network
from mptcplab.host.netstat import counters


class EmulatedWires:
    """The links of a network that runs."""

    def __init__(self, network: Network) -> None:
        """All of them."""
        self._network = network
        self.links = list(dict.fromkeys(device["link"] for host in network.hosts for device in host.plan["devices"]))

    def set_link(self, link: str, key: str, value: str) -> None:
        """Changes a link; raises `ScenarioError` for what it cannot be."""
        self._network.emulator.change(link, key, value)

    def plug(self, link: str, *, up: bool) -> None:
        """Lets the hosts at a link see it go or come."""
        for host in self._network.hosts:
            for number, device in enumerate(host.plan["devices"]):
                if device["link"] == link:
                    host.change(number, "admin", up=up)

    def carried(self) -> Mapping[str, tuple[int, int]]:
        """Bytes that each link has delivered so far, in both directions."""
        now = self._network.emulator.snapshot()
        rows = [] if now is None else now["links"]
        found = {(row["link"], row["direction"]): row["delivered_bytes"] for row in rows}
        return {link: (found.get((link, "forward"), 0), found.get((link, "backward"), 0)) for link in self.links}


def spoke_plain_tcp(host: Host) -> str | None:
    """What to say where commands on a host of several paths opened connections, and none became Multipath TCP."""
    if not host.multipath or len(host.joining()) < 2:
        return None
    command = host.namespace.command("cat", "/proc/net/snmp", "/proc/net/netstat")
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return plain_tcp_in_words(host.name, counters(shown.stdout))


def plain_tcp_in_words(name: str, found: Mapping[str, Mapping[str, int]]) -> str | None:
    """The same by the counters of a host."""
    opened = found.get("Tcp", {}).get("ActiveOpens", 0)
    multipath = found.get("MPTcpExt", {})
    if not opened or not multipath:
        return None
    asked = multipath.get("MPCapableSYNTX", 0)
    if asked and not multipath.get("MPCapableSYNACKRX", 0):
        return (
            f"{name} offered Multipath TCP in {asked} connections, and each fell back to TCP, for no answer had the "
            "option: the program of the peer uses plain TCP; try --peer 'mptcpize run COMMAND'"
        )
    if asked:
        return None
    return (
        f"{name} opened {opened} connections of plain TCP and none of Multipath TCP, so one path carried each; "
        "mptcpize run COMMAND lets most programs use it, and iperf3 from 3.19 on has --mptcp"
    )
