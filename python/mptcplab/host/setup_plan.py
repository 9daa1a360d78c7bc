"""Plans `host setup`: the missing settings for MPTCP over several interfaces, as steps that can be undone.

Owns the order of the steps and their undo. Reads a `Machine` and changes nothing; `journal` applies the steps.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mptcplab.host import fixes
from mptcplab.host.fixes import MOST_SUBFLOWS, table_of
from mptcplab.host.machine import Address, Interface, Interfaced, Machine, sysctl
from mptcplab.host.routing import LOOSE, Source, destinations, judged, leaves, sources, strict
from mptcplab.host.setup_steps import Step


class CannotPrepare(ValueError):
    """A value that only the user knows is missing; the message names it."""


@dataclass(frozen=True)
class Wishes:
    """The options of `host setup`."""

    devices: Sequence[str] = ()
    """The interfaces to set up; if empty, those of `routing.judged` and of `gateways`."""
    backup: frozenset[str] = frozenset()
    gateways: Mapping[str, Address] | None = None
    """Routers by interface; other routers come from the default routes."""
    server: bool = False
    """Announce the addresses, so that clients open subflows to them; otherwise, open subflows from them."""
    peers: Sequence[Address] = ()


def steps(machine: Machine, wishes: Wishes) -> list[Step]:
    """The steps in order; empty if nothing is missing."""
    if not machine.speaks:
        raise CannotPrepare("this kernel has no Multipath TCP (needs CONFIG_MPTCP and Linux 5.6 or later)")
    names = chosen(machine, wishes)
    found = [step for key, value in _settings(names, machine) if (step := _sysctl(key, value))]
    found += _limits(machine)
    planned = set[str]()
    for source in sources(machine, names):
        found += _routes(machine, source, wishes, planned)
    found += _endpoints(machine, names, wishes)
    return found


def chosen(machine: Machine, wishes: Wishes) -> frozenset[str]:
    """The interfaces to set up. Raises `CannotPrepare`."""
    usable = {one.name: one for one in machine.usable()}
    given = [*wishes.devices, *sorted(wishes.backup), *(wishes.gateways or {})]
    wrong = next((name for name in given if name not in usable), None)
    if wrong is not None:
        there = ", ".join(usable) or "none"
        raise CannotPrepare(f"{wrong}: no interface with this name is up and has an address (available: {there})")
    names = frozenset(wishes.devices) or judged(machine, list(wishes.peers)) | frozenset(wishes.gateways or {})
    if len(names) < 2:
        there = ", ".join(sorted(names)) or "none"
        raise CannotPrepare(
            "several paths need two interfaces that are up, with an address and a route to the internet; available: "
            f"{there}. To use other interfaces, name them: mptcplab host setup eth0 wlan0"
        )
    return names


def _settings(names: frozenset[str], machine: Machine) -> Iterator[tuple[str, str]]:
    yield "net.mptcp.enabled", "1"
    yield "net.mptcp.pm_type", "0"
    if len([one for one in machine.usable() if one.name in names]) > 1:
        for name in sorted(names):
            if strict(name):
                yield f"net.ipv4.conf.{name.replace('.', '/')}.rp_filter", str(LOOSE)


def _sysctl(key: str, value: str) -> Step | None:
    now = sysctl(key)
    return None if now in (None, value) else Step(("sysctl", "-w", f"{key}={value}"), ("sysctl", "-w", f"{key}={now}"))


def _limits(machine: Machine) -> list[Step]:
    if machine.subflows >= MOST_SUBFLOWS and machine.accepted >= MOST_SUBFLOWS:
        return []
    return [Step.of(fixes.limits(), fixes.limits(machine.subflows, machine.accepted))]


def _routes(machine: Machine, source: Source, wishes: Wishes, planned: set[str]) -> list[Step]:
    """A routing table for the interface and a rule for the source address, if packets from that address would use
    another interface.
    """
    own, name = source.own, source.interface.name
    towards = destinations(machine, own, list(wishes.peers))
    asked = source.interface.name in (wishes.gateways or {})
    if not asked and (not towards or all(leaves(source, to) for to in towards)):
        return []
    table = table_of(name)
    there = [one for one in machine.routes if one["family"] == own.version and one.get("table") == str(table)]
    if any(one.get("dev") != name for one in there):
        raise CannotPrepare(f"routing table {table} is already in use for interfaces other than {name}")
    commands = fixes.own_table(machine, own, name, _gateway(machine, source, wishes), planned)
    return [Step.of(command, command.replace(" add ", " del ", 1)) for command in commands]


def _gateway(machine: Machine, source: Source, wishes: Wishes) -> str:
    own, name = source.own, source.interface.name
    lines = (wishes.gateways or {}).get(name)
    known = machine.gateways(name, own.version)
    if lines is not None and lines.version == own.version:
        check_gateway(lines, source.interface, own, known)
        return fixes.via(lines, own)
    if known and known[0]:
        return fixes.via(ipaddress.ip_address(known[0]), own)
    if source.interface.direct or known:
        return ""
    raise CannotPrepare(f"{name}: no default route names the router for {own.ip}; add --gateway {name}=ADDRESS")


def check_gateway(lines: Address, interface: Interface, own: Interfaced, known: Sequence[str | None]) -> None:
    """Rejects a router that cannot be on the link of an interface."""
    networks = [each.network for each in interface.addresses if each.version == lines.version]
    place = f"--gateway {interface.name}={lines}"
    if lines in {each.ip for each in interface.addresses}:
        raise CannotPrepare(f"{place}: must be the address of the router, but this is the address of the interface")
    # A host in a network of one address has its router outside, as in many clouds.
    alone = any(network.num_addresses == 1 for network in networks)
    if alone or lines.is_link_local or str(lines) in known or any(lines in network for network in networks):
        return
    listed = ", ".join(str(network) for network in networks)
    first = next((address for address in own.network.hosts() if address != own.ip), None)
    likely = next(filter(None, known), None) or first
    raise CannotPrepare(f"{place}: must be in the subnet of {interface.name}, {listed} (try {interface.name}={likely})")


def _endpoints(machine: Machine, names: frozenset[str], wishes: Wishes) -> list[Step]:
    _check_endpoints(machine, names, wishes)
    found = []
    for one, address, number in fixes.endpoints(machine, names):
        if not number:
            raise CannotPrepare("the path manager already has 255 endpoints, its maximum")
        do = fixes.endpoint(address, one.name, number, " ".join(sorted(endpoint_flags(one, wishes), reverse=True)))
        found.append(Step.of(do, f"ip mptcp endpoint delete id {number}"))
    return found


def _check_endpoints(machine: Machine, names: frozenset[str], wishes: Wishes) -> None:
    """Rejects an existing endpoint that lacks the required flags."""
    lines = {one.address: one for one in machine.endpoints}
    for one in (interface for interface in machine.usable() if interface.name in names):
        flags = endpoint_flags(one, wishes)
        for address in fixes.first_addresses(one):
            known = lines.get(address)
            if known and (wishes.server or one.name in wishes.backup) and not flags <= known.flags:
                raise CannotPrepare(
                    f"endpoint {known.number} ({address}) exists without the flags {' '.join(sorted(flags))}; remove "
                    f"it first: ip mptcp endpoint delete id {known.number}"
                )


def endpoint_flags(interface: Interface, wishes: Wishes) -> frozenset[str]:
    """The flags of the endpoints of an interface."""
    kind = {"signal" if wishes.server else "subflow"}
    return frozenset(kind | ({"backup"} if interface.name in wishes.backup else set()))
