"""Checks for `host check` that packets of each local address use its interface, and that the answers are accepted.

Otherwise, all subflows share one link, or carry nothing. Owns the checks of routes, rules and the reverse-path filter
(linux: Documentation/networking/ip-sysctl.rst, rp_filter).
"""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from mptcplab.host import fixes
from mptcplab.host.findings import Finding, note
from mptcplab.host.machine import Address, Interface, Interfaced, Machine, Route, sysctl, way

STRICT, LOOSE = 1, 2


@dataclass(frozen=True)
class Source:
    """A local address from which subflows start."""

    interface: Interface
    own: Interfaced
    bound: bool
    """Whether subflows are bound to the interface, because the endpoint names it."""


def judged(machine: Machine, peers: list[Address]) -> frozenset[str]:
    """Interfaces with an endpoint, a default route or a route to a peer.

    Without `peers`, all interfaces if none of them has a route.
    """
    usable = machine.usable()
    known = {holder.name for one in machine.endpoints if (holder := machine.holder(one.address, one.device))}
    leads = {one.name for one in usable if any(machine.gateways(one.name, family) for family in (4, 6))}
    for one in usable:
        for own in one.addresses:
            for peer in peers:
                if peer.version == own.version and (
                    peer in own.network or way(peer, own.ip).device == one.name or way(peer, own.ip, one.name).gateway
                ):
                    leads.add(one.name)
    if not leads and not peers:
        leads = {one.name for one in usable}
    return frozenset(leads | {one.name for one in usable if one.name in known})


def sources(machine: Machine, names: frozenset[str]) -> list[Source]:
    """One source per endpoint, and the first address of each family for an interface without an endpoint."""
    found = []
    for one in machine.usable():
        if one.name not in names:
            continue
        lines = {endpoint.address: endpoint for endpoint in machine.endpoints}
        for family in (4, 6):
            own = [address for address in one.addresses if address.version == family]
            chosen = [address for address in own if address.ip in lines] or own[:1]
            for address in chosen:
                endpoint = lines.get(address.ip)
                opens = endpoint is not None and bool(endpoint.flags & {"subflow", "fullmesh"})
                found.append(Source(one, address, opens and endpoint is not None and endpoint.device == one.name))
    return found


def destinations(machine: Machine, own: Interfaced, peers: list[Address]) -> list[Address]:
    """The destinations to test: the peers of this family, or any address behind the default routes."""
    if peers:
        return [peer for peer in peers if peer.version == own.version]
    nobody = machine.nobody(own.version)
    return [nobody] if nobody is not None and machine.has_default(own.version) else []


def begins(machine: Machine, peers: list[Address]) -> dict[int, str]:
    """The interface of initial subflows by IP version, from the route of packets without a source address."""
    found = {}
    for family in (4, 6):
        to = next((peer for peer in peers if peer.version == family), None if peers else machine.nobody(family))
        device = way(to).device if to is not None and (peers or machine.has_default(family)) else None
        if device is not None:
            found[family] = device
    return found


def strict(device: str) -> bool:
    """Whether the reverse-path filter of a device is strict: the larger of its own and the global value applies."""
    values = [int(sysctl(f"net.ipv4.conf.{name}.rp_filter") or 0) for name in ("all", device.replace(".", "/"))]
    return max(values) == STRICT


def leaves(source: Source, to: Address) -> bool:
    """Whether packets from this address use its interface, even for an unbound socket."""
    return way(to, source.own.ip).device == source.interface.name


def of_routes(machine: Machine, peers: list[Address]) -> Iterator[Finding]:
    """Checks the routes of all addresses from which subflows start."""
    names = judged(machine, peers)
    if len(names) == 1:
        yield from _leading_nowhere(machine, names)
    every = sources(machine, names)
    found = [one for source in every for one in _of_source(machine, source, peers)]
    yield from found
    if any(one.name == "rp-filter" for one in found):
        return
    filtered = sorted({one.interface.name for one in every if one.own.version == 4 and strict(one.interface.name)})
    if len({one.interface.name for one in every}) > 1 and filtered:
        what = (
            f"the reverse-path filter of {', '.join(filtered)} is strict (rp_filter = 1): it drops packets whose "
            "answers would use another interface, so each address needs its own routes"
        )
        yield note("rp-filter", what, *(_loosen(name) for name in filtered))


def _of_source(machine: Machine, source: Source, peers: list[Address]) -> Iterator[Finding]:
    yield from _connected(machine, source)
    for to in destinations(machine, source.own, peers):
        yield from _to(machine, source, to, named=bool(peers))


def _leading_nowhere(machine: Machine, names: frozenset[str]) -> Iterator[Finding]:
    """Interfaces that could be a second path but have no route to a peer."""
    for one in machine.usable():
        if one.name not in names:
            what = (
                f"{one.name} is up with the address {one.addresses[0].ip}, but it has no default route and no "
                "endpoint, so MPTCP does not use it"
            )
            source = Source(one, one.addresses[0], bound=False)
            lines = tuple(
                fixes.endpoint(address, quote(each.name), number, "subflow")
                for each, address, number in fixes.endpoints(machine, names | {one.name})
                if number
            )
            yield Finding("no-second-path", what, (*_own_table(machine, source, _gateway(machine, source)), *lines))


def _connected(machine: Machine, source: Source) -> Iterator[Finding]:
    """Checks that packets of an address to its own network use its interface."""
    network = source.own.network
    if network.num_addresses < 4:
        return
    ours = {address for one in machine.interfaces for address in one.every}
    hosts: Iterator[Address] = iter(network.hosts())
    neighbour = next((one for one in itertools.islice(hosts, len(ours) + 1) if one not in ours), None)
    if neighbour is None:
        return
    found = way(neighbour, source.own.ip)
    name = source.interface.name
    if found.device == name:
        return
    where = f"use {found.device}" if found.device else "have no route"
    what = f"packets from {source.own.ip} ({name}) to the network of this address, {network}, {where}"
    yield Finding("route-connected", what, _own_table(machine, source, _gateway(machine, source)))


def _to(machine: Machine, source: Source, to: Address, *, named: bool) -> Iterator[Finding]:
    own, name = source.own, source.interface.name
    peer = str(to) if named else "a peer"
    free = way(to, own.ip)
    if free.device == name:
        if free.mtu is not None and free.mtu < source.interface.mtu:
            what = f"packets from {own.ip} ({name}) to {peer} are limited to {free.mtu} bytes by a route or a router"
            yield note("route-mtu", what)
        return
    if source.bound:
        bound = way(to, own.ip, name)
        if _leads(bound, source, to):
            if own.version == 4 and strict(name):
                what = (
                    f"subflows from {own.ip} use {name}, but the answers of {peer} are dropped there: the reverse-path "
                    f"filter is strict (rp_filter = 1), and the route back uses {free.device or 'no interface'}"
                )
                yield Finding("rp-filter", what, (_loosen(name),))
            return
    if free.device is None:
        what = f"no route from {own.ip} ({name}) to {peer}: no packets can be sent"
        yield Finding("route-missing", what, _own_table(machine, source, _gateway(machine, source)))
    else:
        what = (
            f"packets from {own.ip} ({name}) to {peer} use {free.device}: the second path shares the link of the first"
        )
        yield Finding("route-source", what, _own_table(machine, source, _gateway(machine, source)))


def _leads(bound: Route, source: Source, to: Address) -> bool:
    """Whether a socket bound to the interface reaches the destination. Without a route, Linux assumes that the
    destination is on the link.
    """
    if bound.device != source.interface.name:
        return False
    return bound.gateway is not None or source.interface.direct or to in source.own.network


def _gateway(machine: Machine, source: Source) -> str:
    known = next(iter(machine.gateways(source.interface.name, source.own.version)), None)
    if source.interface.direct:
        return ""
    return fixes.via(ipaddress.ip_address(known), source.own) if known else "via GATEWAY "


def _own_table(machine: Machine, source: Source, via: str | None) -> tuple[str, ...]:
    """Commands for a routing table of this address; without a default route if `via` is None."""
    return tuple(fixes.own_table(machine, source.own, quote(source.interface.name), via, set()))


def _loosen(device: str) -> str:
    return fixes.setting(quote(f"net.ipv4.conf.{device.replace('.', '/')}.rp_filter"), str(LOOSE))
