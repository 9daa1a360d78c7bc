"""A scenario as a network on this machine: a network namespace per host, joined by emulated links.

Programs (`mptcplab emulate`) and flows (`--backend kernel`) use it through Linux's own stacks. Owns addresses, routes
and MPTCP endpoints, and applies host events. The core (`_core.Emulator`) carries packets between the devices.
Everything is removed when the `with` block ends. The next run removes leftovers of a killed process (`namespaces`).
"""

from __future__ import annotations

import errno
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab import _core
from mptcplab.emulation.namespaces import FILES, CannotMake, Namespace, namespace, why_not

if TYPE_CHECKING:
    from mptcplab._core import EmulatedDevice, EmulatedHost, EmulationRow
    from mptcplab.scenario.definition import Scenario

TUN = Path("/dev/net/tun")
IPPROTO_MPTCP = 262
_SOL_MPTCP, _FULL_INFO = 284, 4
"""include/uapi/linux/mptcp.h"""
QUEUE = 10_000
"""Packets that a device buffers while the emulator is busy: 150 ms at 1 Gb/s."""
SUBFLOWS = 8
"""Further subflows per connection that the kernel allows (net/mptcp/protocol.h, MPTCP_SUBFLOWS_MAX)."""
ENDPOINTS = 8
"""Endpoints per host that the kernel allows (net/mptcp/protocol.h, MPTCP_PM_ADDR_MAX)."""
_TABLES = 1000
"""The first routing table; the kernel's own tables are 253 to 255 (rtnetlink.h)."""


class CannotEmulate(RuntimeError):
    """This machine cannot emulate the network; the message names a solution."""


def why_no_mptcp() -> str | None:
    """Why the kernel has no MPTCP sockets; None if it has."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
    except OSError as error:
        return f"the kernel has no MPTCP sockets ({error.strerror}): Linux 5.6 and net.mptcp.enabled=1 are required"
    return None


def why_no_paths() -> str | None:
    """Why the kernel does not report each path of a connection; None if it does."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as probe:
        try:
            # A kernel that supports the option rejects the short buffer (mptcp_getsockopt_full_info).
            probe.getsockopt(_SOL_MPTCP, _FULL_INFO, 4)
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:
                return "the kernel does not report paths separately (MPTCP_FULL_INFO): Linux 6.6 is required"
    return None


@dataclass
class Host:
    """A host of the network: a namespace with its devices."""

    namespace: Namespace
    plan: EmulatedHost
    multipath: bool
    drops: int = field(default=0)
    """Packets that the host's devices lost because the emulator was too slow; 0 until the network stops."""

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.plan["name"]

    @property
    def address(self) -> str:
        """The address of the first device."""
        return self.plan["devices"][0]["address"]

    def prepare(self, known: str) -> None:
        """Sets up addresses, routes, endpoints and host names; `known` is the text of the hosts(5) file."""
        for key, value in (
            ("net.ipv4.conf.all.rp_filter", "0"),
            ("net.ipv4.conf.default.rp_filter", "0"),
            ("net.ipv6.conf.all.disable_ipv6", "1"),
            ("net.ipv6.conf.default.disable_ipv6", "1"),
        ):
            if Path(f"/proc/sys/{key.replace('.', '/')}").exists():
                self.namespace.sysctl(key, value)
        lines = []
        for number, device in enumerate(self.plan["devices"]):
            name, address = device["name"], device["address"]
            lines.append(f"link set dev {name} mtu {device['mtu']} txqueuelen {QUEUE}")
            lines.append(f"addr add {address}/24 dev {name}")
            if self.plan["opens"]:
                lines.append(f"rule add from {address} lookup {_TABLES + number}")
            lines += self._up(number)
        if self.multipath:
            lines.append(f"mptcp limits set subflows {SUBFLOWS} add_addr_accepted {SUBFLOWS}")
            lines += [self._endpoint(device) for device in self.joining()]
        self.namespace.batch(lines)
        files = FILES / self.namespace.name
        try:
            files.mkdir(parents=True, exist_ok=True)
            (files / "hosts").write_text(known)
        except OSError as error:
            raise CannotMake(f"{files}/hosts: {error.strerror}; runs store host names in this directory") from error

    def change(self, number: int, how: str, *, up: bool) -> None:
        """Applies an event to a device, its routes or its endpoint.

        Args:
            number: the device
            how: `admin` (the device), `endpoint` (its MPTCP endpoint) or `route` (all routes from its address)
            up: whether it comes back
        """
        device = self.plan["devices"][number]
        if how == "route":
            self.namespace.batch(self._routes(number) if up else self._no_routes(number))
            return
        if up and how == "admin":
            self.namespace.batch(self._up(number))
        if self.multipath and device in self.joining():
            self._change_endpoint(device, up=up)
        if not up and how == "admin":
            self.namespace.ip(f"link set dev {device['name']} down")

    def _change_endpoint(self, device: EmulatedDevice, *, up: bool) -> None:
        if up:
            self.namespace.batch([self._endpoint(device)])
        else:
            shown = json.loads(self.namespace.ip("-j mptcp endpoint show") or "[]")
            lines = [f"mptcp endpoint del id {one['id']}" for one in shown if one["address"] == device["address"]]
            # The endpoint of the initial subflow always has number 0.
            lines.append(f"mptcp endpoint del id 0 {device['address']}")
            self.namespace.batch(lines)

    def count_drops(self) -> None:
        """Reads how many packets the devices dropped."""
        shown = json.loads(self.namespace.ip("-j -s link show"))
        names = {device["name"] for device in self.plan["devices"]}
        self.drops = sum(one["stats64"]["tx"]["dropped"] for one in shown if one["ifname"] in names)

    def _up(self, number: int) -> list[str]:
        """Sets a device up and restores its routes, which it loses when it goes down."""
        return [f"link set dev {self.plan['devices'][number]['name']} up", *self._routes(number)]

    def _routes(self, number: int) -> list[str]:
        name = self.plan["devices"][number]["name"]
        lines = [f"route replace {to} dev {name}" for to, device in self.plan["routes"] if device == number]
        if self.plan["opens"]:
            lines.append(f"route replace default dev {name} table {_TABLES + number}")
        return lines

    def _no_routes(self, number: int) -> list[str]:
        """Makes all destinations unreachable from the address of a device."""
        lines = [f"route del {to}" for to, device in self.plan["routes"] if device == number]
        return [*lines, f"route replace unreachable default table {_TABLES + number}"]

    def joining(self) -> list[EmulatedDevice]:
        """The devices with an MPTCP endpoint, on which this host opens subflows."""
        return self._candidates()[:ENDPOINTS]

    def left_out(self) -> str | None:
        """A note on devices beyond the kernel's maximum number of endpoints; None if there are none."""
        if not self.multipath or not (rest := self._candidates()[ENDPOINTS:]):
            return None
        names = ", ".join(device["name"] for device in rest)
        return f"host {self.name}: the kernel allows {ENDPOINTS} endpoints, so MPTCP does not use {names}"

    def _candidates(self) -> list[EmulatedDevice]:
        return [device for device in self.plan["devices"] if self.plan["opens"] and device["joins"]]

    @staticmethod
    def _endpoint(device: EmulatedDevice) -> str:
        backup = " backup" if device["backup"] else ""
        return f"mptcp endpoint add {device['address']} dev {device['name']} subflow{backup}"


class Network:
    """A running network."""

    def __init__(self, scenario: _core.Scenario, emulator: _core.Emulator, hosts: list[Host]) -> None:
        """Takes a scenario, its emulator with open devices, and its prepared hosts."""
        self.scenario, self.emulator, self.hosts = scenario, emulator, hosts
        self._over = threading.Event()
        self._event_thread = threading.Thread(target=self._apply_events, daemon=True)
        self._problem: str | None = None
        self.last: EmulationRow | None = None
        self.began = 0.0

    def host(self, name: str) -> Host:
        """The host with this name."""
        found = [host for host in self.hosts if host.name == name]
        if not found:
            raise CannotEmulate(f"no host {name!r}; choose from: {', '.join(host.name for host in self.hosts)}")
        return found[0]

    def start(self, pcap: str | PathLike[str] | None = None) -> None:
        """Starts forwarding packets, and writes them to `pcap` if given. Times of scenario events count from here."""
        self.emulator.start(pcap)
        self.began = time.monotonic()
        self._event_thread.start()

    def check(self) -> None:
        """Raises an error if packets are no longer forwarded."""
        if self._problem is not None:
            raise CannotEmulate(self._problem)
        if not self.emulator.is_running():
            self.stop()
            raise CannotEmulate("the emulator has stopped")

    def stop(self) -> EmulationRow | None:
        """Stops the network; returns its statistics, None if it never started."""
        self._over.set()
        if self._event_thread.ident is not None:
            self._event_thread.join()
        if self.emulator.is_running():
            for host in self.hosts:
                host.count_drops()
        self.last = self.emulator.stop() or self.last
        return self.last

    def doubts(self) -> str | None:
        """Why the results may be wrong; None without doubts."""
        drops = sum(host.drops for host in self.hosts)
        if drops:
            return f"{drops} packets were lost because the emulator was too slow"
        return self.last["doubts"] if self.last else None

    def _apply_events(self) -> None:
        """Applies host events at their times."""
        for at, host, device, up, how in self.emulator.notices():
            if self._over.wait(max(0.0, self.began + at - time.monotonic())):
                return
            try:
                self.hosts[host].change(device, how, up=up)
            except Exception as error:  # noqa: BLE001
                # Report the error: without the event, the results of the run would be wrong.
                self._problem = str(error) or type(error).__name__
                return


def why_not_emulate() -> str | None:
    """Why this process cannot emulate a network; None if it can."""
    if sys.platform == "linux" and not TUN.exists():
        return f"{TUN} is missing; load the module (modprobe tun), or pass the device to the container"
    return why_not()


@contextmanager
def emulated(scenario: Scenario, seed: int = 1) -> Iterator[Network]:
    """The network of a scenario, not yet started; it is removed after the block."""
    if (why := why_not_emulate()) is not None:
        raise CannotEmulate(why)
    emulator = _core.Emulator(scenario.core, seed)
    plans = emulator.hosts()
    multipath = why_no_mptcp() is None
    with ExitStack() as stack:
        hosts = []
        for number, plan in enumerate(plans):
            made = stack.enter_context(namespace(f"host{number}"))
            hosts.append(Host(made, plan, multipath))
        network = Network(scenario.core, emulator, hosts)
        # The devices must be removed before the namespaces.
        stack.callback(network.stop)
        emulator.open([host.namespace.name for host in hosts])
        known = _names(plans)
        for host in hosts:
            host.prepare(known)
        yield network


def _names(plans: list[EmulatedHost]) -> str:
    """A hosts(5) file: `server`, and `server.wifi` for its address on a link."""
    lines = ["127.0.0.1 localhost"]
    for host in plans:
        for number, device in enumerate(host["devices"]):
            names = [f"{host['name']}.{device['link']}", *([host["name"]] if number == 0 else [])]
            lines.append(f"{device['address']} {' '.join(names)}")
    return "\n".join(lines) + "\n"
