"""Commands of `ip` and `sysctl` that configure Multipath TCP: one source for `host check` and `host setup`.

Owns the form of each command, and the problems that `host setup` fixes. Reads and changes nothing.
"""

from __future__ import annotations

import shlex
import socket
from collections.abc import Iterable, Iterator

from mptcplab.host.machine import Address, Interface, Interfaced, Machine

MOST_SUBFLOWS = 8
"""Linux's maximum of both limits: linux/net/mptcp/protocol.h, MPTCP_SUBFLOWS_MAX and pm_netlink.c."""
SETUP_FIXES = frozenset(
    {
        "disabled",
        "limit-fullmesh",
        "limit-subflows",
        "no-endpoint",
        "no-second-path",
        "path-manager",
        "route-connected",
        "route-missing",
        "route-source",
        "rp-filter",
    }
)
"""Problems that `host setup` fixes; a test causes each of them."""


def setting(key: str, value: str) -> str:
    """Sets a kernel setting."""
    return f"sysctl -w {key}={value}"


def limits(subflows: int = MOST_SUBFLOWS, accepted: int = MOST_SUBFLOWS) -> str:
    """Sets the number of further subflows per connection, and of accepted announced addresses."""
    return f"ip mptcp limits set subflow {subflows} add_addr_accepted {accepted}"


def endpoint(address: Address, device: str, number: int, flags: str) -> str:
    """Adds an endpoint; the device is quoted for a shell."""
    return f"ip mptcp endpoint add {address} dev {device} id {number} {flags}"


def endpoints(machine: Machine, names: Iterable[str]) -> Iterator[tuple[Interface, Address, int]]:
    """The first address of each IP version on these interfaces, if it has no endpoint, with a free number for one.

    The number is 0 if all are taken.
    """
    lines = {one.address for one in machine.endpoints}
    taken = {one.number for one in machine.endpoints}
    free = (number for number in range(1, 256) if number not in taken)
    wanted = frozenset(names)
    for one in machine.usable():
        if one.name in wanted:
            yield from ((one, address, next(free, 0)) for address in first_addresses(one) if address not in lines)


def first_addresses(interface: Interface) -> list[Address]:
    """The first address of each IP version."""
    firsts = {own.version: own.ip for own in reversed(interface.addresses)}
    return [firsts[family] for family in sorted(firsts)]


def own_table(machine: Machine, own: Interfaced, device: str, via: str | None, planned: set[str]) -> list[str]:
    """Commands for a routing table of this address, except for existing and `planned` entries; adds to `planned`.

    `via` is the router as words, "" for a default route without one, and None for no default route. `device` is quoted
    for a shell.
    """
    [name] = shlex.split(device)
    table, version = table_of(name), own.version
    six = "-6 " if version == 6 else ""
    ready = {one.get("dst") for one in machine.routes if one["family"] == version and one.get("table") == str(table)}
    found = {str(own.network): ""} if via is None else {str(own.network): "", "default": via}
    commands = [
        f"ip {six}route add {destination} {words}dev {device} src {own.ip} table {table}"
        for destination, words in found.items()
        if destination not in ready and f"{destination} {table}" not in planned
    ]
    planned |= {f"{destination} {table}" for destination in found}
    known = {(one.get("src"), one.get("table")) for one in machine.rules if one["family"] == version}
    if (str(own.ip), str(table)) not in known:
        # The rule follows the routes, because with an empty table, packets would take another route.
        commands.append(f"ip {six}rule add from {own.ip} lookup {table} priority {table}")
    return commands


def via(gateway: Address, own: Interfaced) -> str:
    """The words for a router. A router outside the subnet is reached on the link (`onlink`), as in many clouds."""
    onlink = gateway not in own.network and not gateway.is_link_local
    return f"via {gateway} onlink " if onlink else f"via {gateway} "


def table_of(device: str) -> int:
    """The routing table of an interface: a number that is unlikely to be in use."""
    return 8684 + socket.if_nametoindex(device)
