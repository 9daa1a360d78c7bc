"""Finds problems of Multipath TCP on this machine, and the commands that fix them, for `mptcplab host check`.

Owns the checks of kernel settings, endpoints and limits; `routing` checks routes. A problem prevents the use of a path.
A note is a state that may do so, or that explains surprising behaviour.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from mptcplab.host import fixes
from mptcplab.host.machine import Address, Endpoint, Machine, sysctl

IPPROTO_MPTCP = 262
"""linux/in.h"""
_SMALL = 256 * 1024
"""A smaller maximum of the socket buffers, in bytes, gives a note."""
_LEAST_MTU = 1280
"""The minimum MTU of IPv6 (RFC 8200 section 5)."""
_DAEMONS = ("mptcpd",)
_OPENS = frozenset({"subflow", "fullmesh"})
"""Flags of endpoints from which this host opens subflows."""
_OF_USE = _OPENS | {"signal", "implicit", "laminar", "rawflags"}


@dataclass(frozen=True)
class Finding:
    """A problem or a note."""

    name: str
    what: str
    """A sentence: the state and its consequence."""
    fix: tuple[str, ...] = ()
    """Commands that fix it, quoted for a shell, because interface names may contain special characters."""
    problem: bool = True


def note(name: str, what: str, *fix: str) -> Finding:
    """A finding that is no problem by itself."""
    return Finding(name, what, fix, problem=False)


def of_kernel(machine: Machine) -> Iterator[Finding]:
    """Checks the kernel and its settings."""
    if not machine.speaks:
        what = (
            "this kernel has no Multipath TCP: /proc/sys/net/mptcp is missing (needs CONFIG_MPTCP and Linux 5.6 or "
            "later)"
        )
        yield Finding("kernel", what)
        return
    if sysctl("net.mptcp.enabled") == "0":
        what = "Multipath TCP is disabled: MPTCP sockets cannot be opened"
        yield Finding("disabled", what, (fixes.setting("net.mptcp.enabled", "1"),))
    yield from _path_manager()
    yield from _blackhole(machine)
    if sysctl("net.ipv4.tcp_window_scaling") == "0":
        what = "TCP window scaling is off: a connection has at most 64 kB in flight over all its paths"
        yield Finding("window-scaling", what, ("sysctl -w net.ipv4.tcp_window_scaling=1",))
    if sysctl("net.ipv4.tcp_sack") == "0":
        what = "selective acknowledgements are off: recovery from losses is slower"
        yield note("sack", what, "sysctl -w net.ipv4.tcp_sack=1")
    for key in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        most = (sysctl(key) or "").split()
        if len(most) == 3 and int(most[2]) < _SMALL:
            what = (
                f"{key} has a maximum of {most[2]} bytes: all paths share one buffer, so this is too small for most "
                "networks"
            )
            yield note("buffer", what, f'sysctl -w {key}="{most[0]} {most[1]} 6291456"')


def _path_manager() -> Iterator[Finding]:
    userspace = sysctl("net.mptcp.path_manager") == "userspace" or sysctl("net.mptcp.pm_type") == "1"
    if not userspace:
        return
    running = [one for one in _commands() if one in _DAEMONS]
    what = (
        "a userspace path manager is configured (net.mptcp.pm_type = 1); the kernel's endpoints and limits are ignored"
    )
    if running:
        yield note("path-manager", f"{what}; the path manager {running[0]} runs")
    else:
        what += "; no path manager (mptcpd) runs, so no subflow is opened"
        yield Finding("path-manager", what, (fixes.setting("net.mptcp.pm_type", "0"),))


def _commands() -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/comm"):
        try:
            yield file.read_text().strip()
        except OSError:
            continue


def _blackhole(machine: Machine) -> Iterator[Finding]:
    """Linux 6.12 and later: connections fall back to TCP for a while after MPTCP SYNs stayed unanswered and TCP SYNs
    did not.
    """
    if not machine.counters.get("Blackhole"):
        return
    timeout = sysctl("net.mptcp.blackhole_timeout") or "3600"
    times = machine.counters["Blackhole"]
    what = f"MPTCP SYNs stayed unanswered {times} times since boot, while TCP SYNs were answered"
    if _opens_as_tcp(machine):
        what += f": connections use TCP for now (net.mptcp.blackhole_timeout = {timeout} s, doubled each time)"
        yield Finding("blackhole", what, (f"sysctl -w net.mptcp.blackhole_timeout={timeout}",))
    else:
        yield note("blackhole", what + "; connections use MPTCP again")


def _opens_as_tcp(machine: Machine) -> bool:
    """Whether a connection would use TCP now; tested on a closed port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as closed:
        closed.bind(("127.0.0.1", 0))
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as tried:
                tried.settimeout(1)
                tried.connect_ex(closed.getsockname())
        except OSError:
            return False
    before = machine.counters.get("MPCapableSYNTXDisabled", 0)
    return Machine.read().counters.get("MPCapableSYNTXDisabled", 0) > before


def of_interfaces(machine: Machine) -> Iterator[Finding]:
    """Checks the interfaces."""
    usable = machine.usable()
    if not usable:
        yield Finding("no-interface", "no interface is up with an address, so this host has no path")
    elif len(usable) == 1:
        yield note("one-interface", f"only {usable[0].name} is up with an address, so this host has only one path")
    for one in usable:
        if one.mtu < _LEAST_MTU:
            what = f"the MTU of {one.name} is {one.mtu} bytes, below the IPv6 minimum of {_LEAST_MTU}"
            yield Finding("mtu", what, (f"ip link set dev {quote(one.name)} mtu 1500",))


def of_endpoints(
    machine: Machine, judged: frozenset[str], begins: dict[int, str], *, opens: bool = False
) -> Iterator[Finding]:
    """Checks endpoints and limits.

    `judged` are the usable interfaces, `begins` the interface of the initial subflow by IP version. With `opens`, this
    host opens connections instead of only accepting them.
    """
    if not machine.speaks or sysctl("net.mptcp.path_manager") == "userspace" or sysctl("net.mptcp.pm_type") == "1":
        return
    for endpoint in machine.endpoints:
        yield from _endpoint(machine, endpoint)
    yield from _missing(machine, judged, begins)
    yield from _roles(machine, judged, opens=opens)
    yield from _limit(machine, begins)
    if machine.accepted == 0 and not any(one.flags & _OPENS for one in machine.endpoints):
        # If this host opens subflows from its own endpoints, it does not need addresses that peers announce.
        what = "this host does not use addresses that peers announce (add_addr_accepted 0, Linux's default)"
        yield note("limit-add-addr", what, fixes.limits())
    if sysctl("net.mptcp.allow_join_initial_addr_port") == "0":
        announces = any("signal" in one.flags for one in machine.endpoints)
        what = "peers may not join at the address of the initial subflow (net.mptcp.allow_join_initial_addr_port = 0)"
        found = Finding("joins", what, ("sysctl -w net.mptcp.allow_join_initial_addr_port=1",))
        yield replace(found, problem=not announces)


def _missing(machine: Machine, judged: frozenset[str], begins: dict[int, str]) -> Iterator[Finding]:
    lines = {holder.name for one in machine.endpoints if (holder := machine.holder(one.address, one.device))}
    first = next((begins[family] for family in (4, 6) if family in begins), None)
    # The interface of the initial subflow needs no endpoint.
    missing = sorted(judged - lines - {first})
    if not missing or (first is None and len(missing) == 1 and (lines or len(judged) == 1)):
        return
    names = " and ".join(missing)
    what = f"the path manager has no endpoint for {names}: connections use only their first path"
    adds = fixes.endpoints(machine, judged)
    fix = (fixes.endpoint(address, quote(one.name), number, "subflow") for one, address, number in adds if number)
    yield Finding("no-endpoint", what, tuple(fix))


def _roles(machine: Machine, judged: frozenset[str], *, opens: bool) -> Iterator[Finding]:
    """Checks for endpoints that only announce their address: right for a server, but they open no subflows."""
    held = [(one, machine.holder(one.address, one.device)) for one in machine.endpoints]
    good = [(one, holder) for one, holder in held if holder is not None and holder.name in judged]
    announcing = [(one, holder) for one, holder in good if "signal" in one.flags]
    if len(judged) < 2 or not announcing or any(one.flags & _OPENS for one, _ in good):
        return
    what = (
        "all endpoints only announce their address (signal), as on a server: this host opens no subflows from them "
        "for its own connections"
    )
    fix = [
        command
        for one, holder in announcing
        for command in (
            f"ip mptcp endpoint delete id {one.number}",
            f"ip mptcp endpoint add {one.address} dev {quote(holder.name)} subflow",
        )
    ]
    found = Finding("endpoint-role", what, tuple(fix))
    yield found if opens else replace(found, problem=False)


def _full_mesh(machine: Machine) -> Iterator[Finding]:
    """Checks the limit for `fullmesh` endpoints, which open a subflow to each known address of the peer."""
    wanted = 0
    for family in (4, 6):
        own = sum("fullmesh" in one.flags and one.address.version == family for one in machine.endpoints)
        wanted = max(wanted, own * (1 + machine.accepted) - 1)
    wanted = min(fixes.MOST_SUBFLOWS, wanted)
    if machine.accepted and 0 < machine.subflows < wanted:
        what = (
            f"endpoints with fullmesh open up to {wanted} further subflows, to the peer's address and up to "
            f"{machine.accepted} announced ones, but the limit is {machine.subflows}"
        )
        yield Finding("limit-fullmesh", what, (fixes.limits(),))


def _limit(machine: Machine, begins: dict[int, str]) -> Iterator[Finding]:
    """Checks the limit of subflows. A connection opens subflows of its own IP version, besides the initial one."""
    wanted = 0
    for family in (4, 6):
        opens = [one for one in machine.endpoints if one.flags & _OPENS and one.address.version == family]
        holders = [machine.holder(one.address, one.device) for one in opens]
        names = [None if holder is None else holder.name for holder in holders]
        beside = family not in begins or begins[family] in names
        wanted = max(wanted, len(opens) - beside)
    wanted = min(fixes.MOST_SUBFLOWS, wanted)
    if machine.subflows == 0:
        what = "the path manager may not open or accept further subflows (ip mptcp limits: subflows 0)"
        yield Finding("limit-subflows", what, (fixes.limits(),))
    elif wanted > machine.subflows:
        what = f"endpoints exist for {wanted} subflows besides the initial one, but the limit is {machine.subflows}"
        yield Finding("limit-subflows", what, (fixes.limits(),))
    else:
        yield from _full_mesh(machine)


def _endpoint(machine: Machine, endpoint: Endpoint) -> Iterator[Finding]:
    number = endpoint.number
    holder = machine.holder(endpoint.address, endpoint.device)
    named = f"endpoint {number} ({endpoint.address})"
    gone = (f"ip mptcp endpoint delete id {number}",)
    if holder is None:
        yield Finding("address", f"{named}: no interface has this address, so no subflow can start there", gone)
    elif not holder.up:
        up = (f"ip link set dev {quote(holder.name)} up",)
        yield Finding("device-down", f"{named}: {holder.name} is down or has no carrier", up)
    elif endpoint.device is not None and endpoint.device != holder.name:
        flags = " ".join(sorted(endpoint.flags))
        again = f"ip mptcp endpoint add {endpoint.address} dev {quote(holder.name)} {flags}"
        what = f"{named} is bound to {endpoint.device}, but the address is on {holder.name}"
        yield Finding("device", what, (*gone, again))
    if not endpoint.flags & _OF_USE:
        bound = "" if endpoint.device is None else f"dev {quote(endpoint.device)} "
        words = " ".join(("subflow", *sorted(endpoint.flags)))
        what = f"{named} has no flag (subflow, signal, fullmesh), so it is not used"
        yield Finding("endpoint-flags", what, (*gone, f"ip mptcp endpoint add {endpoint.address} {bound}{words}"))
    if "backup" in endpoint.flags:
        yield note("backup", f"{named} is a backup: it carries data only if no other path works")


def of_families(machine: Machine, peers: list[Address]) -> Iterator[Finding]:
    """Addresses of the peer whose IP version this host lacks; a problem if it lacks each version of the peer."""
    own = {address.version for one in machine.usable() for address in one.addresses}
    for peer in peers:
        if peer.version not in own:
            what = f"this host has no IPv{peer.version} address, which {peer} requires"
            yield Finding("peer-family", what, problem=not own & {one.version for one in peers})
