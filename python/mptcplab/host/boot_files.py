"""The files of `host setup --persist`, which restore the set-up at each boot.

Owns their text. The program that manages an interface sets up its routes and endpoints:

- NetworkManager configures endpoints itself (`connection.mptcp-flags`, nm-settings(5)). A script sets up the routes
  (NetworkManager-dispatcher(8)).
- systemd-networkd configures routes and rules (systemd.network(5)). It has no setting for MPTCP, so a unit of systemd
  adds the endpoints (ip-mptcp(8)).
- The unit also sets up interfaces that neither program manages.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mptcplab.host.fixes import MOST_SUBFLOWS, first_addresses
from mptcplab.host.machine import Address, Interface, Interfaced, Machine, sysctl
from mptcplab.host.setup_plan import CannotPrepare, Wishes, check_gateway, chosen, endpoint_flags

TABLES = 86_841
"""The first routing table. Unlike those of `host setup --apply`, the tables do not depend on the index of an interface,
which may change at a boot.
"""
PRIORITY = 8_684
"""The priority of the rules, before that of the table `main` (32766)."""
HEADER = "# Written by mptcplab host setup --persist; mptcplab host setup --undo removes this file.\n"
SYSCTLS = "/etc/sysctl.d/90-mptcplab.conf"
UNIT = "/etc/systemd/system/mptcplab-host.service"
ENABLED = "/etc/systemd/system/multi-user.target.wants/mptcplab-host.service"
SCRIPT = "/etc/mptcplab/host-up"
NM_FLAGS = "/etc/NetworkManager/conf.d/90-mptcplab.conf"
NM_SCRIPT = "/etc/NetworkManager/dispatcher.d/90-mptcplab"
_NM_ENABLED, _NM_ANY_ROUTE = 0x2, 0x8
_NM_BITS = {"signal": 0x10, "subflow": 0x20, "backup": 0x40}
"""NM_MPTCP_FLAGS_* (libnm-core-public/nm-dbus-interface.h)."""
_LOOSE = "2"
_NAME = re.compile(r"[A-Za-z0-9_.@:-]+")
"""Names that have the same meaning in all files."""

_UNIT_TEXT = f"""{HEADER}[Unit]
Description=MPTCP limits, endpoints and routes of mptcplab host setup
Documentation=man:ip-mptcp(8)
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh {SCRIPT}

[Install]
WantedBy=multi-user.target
"""

_SHELL = """PATH=/usr/sbin:/usr/bin:/sbin:/bin

# own DEVICE VERSION: the first address.
own() {
    ip -o "-$2" address show dev "$1" scope global 2>/dev/null | while read -r _ _ _ address _; do
        echo "${address%/*}"
        break
    done
}

# clear TABLE: removes the routes and rules of a table.
clear_table() {
    for version in 4 6; do
        while ip "-$version" rule del lookup "$1" 2>/dev/null; do :; done
        ip "-$version" route flush table "$1" 2>/dev/null
    done
}

# routes DEVICE TABLE VERSION [ROUTER]: packets of the address use the device.
routes() {
    address=$(own "$1" "$3")
    [ -n "$address" ] || return 0
    ip "-$3" route show dev "$1" proto kernel | while read -r network _; do
        case "$network" in fe80* | multicast | local) continue ;; esac
        ip "-$3" route replace "$network" dev "$1" table "$2"
    done
    if [ -n "$4" ]; then
        ip "-$3" route replace default via "$4" dev "$1" onlink table "$2"
    else
        ip "-$3" route show default dev "$1" | while read -r _ word router _; do
            if [ "$word" = via ]; then
                ip "-$3" route replace default via "$router" dev "$1" onlink table "$2"
            else
                ip "-$3" route replace default dev "$1" table "$2"
            fi
            break
        done
    fi
    ip "-$3" rule add from "$address" lookup "$2" priority PRIORITY
}
""".replace("PRIORITY", str(PRIORITY))

_WAIT = """
# endpoint DEVICE VERSION FLAGS: waits for the address, at most 30 s.
endpoint() {
    tries=0
    while [ -z "$(own "$1" "$2")" ] && [ "$tries" -lt 30 ]; do
        sleep 1
        tries=$((tries + 1))
    done
    address=$(own "$1" "$2")
    # $3 has several words.
    [ -z "$address" ] || ip mptcp endpoint add "$address" dev "$1" $3
}
"""


@dataclass(frozen=True)
class BootFile:
    """A file below the root directory."""

    path: str
    text: str
    executable: bool = False
    link: bool = False
    """Whether it is a symbolic link to the path `text`."""


@dataclass(frozen=True)
class Managed:
    """An interface, and the program that manages it."""

    interface: Interface
    table: int
    manager: str | None
    """`networkd`, `NetworkManager` or None."""
    network_file: str = ""
    """The name of its .network file, with `networkd`."""


def boot_files(machine: Machine, wishes: Wishes, root: Path, *, needs_systemd: bool = True) -> list[BootFile]:
    """The files for a machine. `root` is the root directory, from which the managers are read.

    With `needs_systemd`, a machine that systemd did not boot is an error; an image of another one may use it.
    """
    is_here = root.resolve() == Path("/")
    if is_here and needs_systemd and not (root / "run/systemd/system").is_dir():
        raise CannotPrepare("--persist writes a unit of systemd, but this machine was not booted by systemd")
    names = sorted(chosen(machine, wishes))
    for name in names:
        if not _NAME.fullmatch(name):
            raise CannotPrepare(
                f"{ascii(name)[1:-1]}: --persist supports letters, digits and _.@:- in names of interfaces; rename it "
                "(ip link set dev NAME name NEW)"
            )
    usable = {one.name: one for one in machine.usable()}
    every = [managed(usable[name], TABLES + number, root) for number, name in enumerate(names)]
    files = [BootFile(SYSCTLS, HEADER + "".join(f"{line}\n" for line in _sysctls(names)))]
    files += [
        BootFile(
            f"/etc/systemd/network/{one.network_file}.d/90-mptcplab.conf",
            HEADER + "\n".join(_networkd(machine, one, wishes)),
        )
        for one in every
        if one.manager == "networkd"
    ]
    ours = [one for one in every if one.manager == "NetworkManager"]
    if ours:
        files.append(BootFile(NM_FLAGS, HEADER + "\n".join(_nm_flags(machine, ours, wishes))))
        files.append(BootFile(NM_SCRIPT, _nm_script(ours, wishes), executable=True))
    files.append(BootFile(SCRIPT, _script(every, wishes), executable=True))
    return [*files, BootFile(UNIT, _UNIT_TEXT), BootFile(ENABLED, UNIT, link=True)]


def managed(interface: Interface, table: int, root: Path) -> Managed:
    """The program that manages an interface, from the state that NetworkManager and systemd-networkd keep in /run."""
    number = socket.if_nametoindex(interface.name)
    found = _values(root / f"run/NetworkManager/devices/{number}")
    if found.get("managed") == "true" and "connection-uuid" in found:
        return Managed(interface, table, "NetworkManager")
    state = _values(root / f"run/systemd/netif/links/{number}")
    file = Path(state.get("NETWORK_FILE", "")).name
    if state.get("ADMIN_STATE", "unmanaged") != "unmanaged" and file.endswith(".network"):
        return Managed(interface, table, "networkd", file)
    return Managed(interface, table, None)


def _values(file: Path) -> dict[str, str]:
    """The lines KEY=VALUE of a file; none without the file."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {key.strip(): value.strip() for key, equals, value in (line.partition("=") for line in lines) if equals}


def _sysctls(names: list[str]) -> Iterator[str]:
    yield "net/mptcp/enabled = 1"
    if sysctl("net.mptcp.pm_type") is not None:
        yield "-net/mptcp/pm_type = 0"
    for name in names:
        values = [sysctl(f"net.ipv4.conf.{one}.rp_filter") for one in ("all", name.replace(".", "/"))]
        if {"1", _LOOSE} & set(values):
            # With a slash as the first separator, dots in a name stay dots (sysctl.d(5)).
            yield f"net/ipv4/conf/{name}/rp_filter = {_LOOSE}"


def _networkd(machine: Machine, one: Managed, wishes: Wishes) -> Iterator[str]:
    """A drop-in with a table of routes for each address, and a rule."""
    for own in _firsts(one.interface):
        router = _router(machine, one.interface, own, wishes)
        dynamic = _protocol(machine, one.interface.name, own.version) in ("dhcp", "ra")
        yield from ("[Route]", f"Destination={own.network}")
        if own.version == 4:
            yield "Scope=link"
        yield from (f"Table={one.table}", "")
        yield "[Route]"
        asked = (wishes.gateways or {}).get(one.interface.name)
        if dynamic and asked is None:
            yield f"Gateway={'_dhcp4' if own.version == 4 else '_ipv6ra'}"
        elif router is not None:
            yield f"Gateway={router}"
            if router not in own.network and not router.is_link_local:
                yield "GatewayOnLink=yes"
        else:
            yield f"Destination={'0.0.0.0/0' if own.version == 4 else '::/0'}"
            yield from (["Scope=link"] if own.version == 4 else [])
        # A dynamic address may change within its network.
        source = own.network if dynamic and not _shared(machine, own) else own.ip
        yield from (f"Table={one.table}", "", "[RoutingPolicyRule]", f"From={source}", f"Table={one.table}")
        yield from (f"Priority={PRIORITY}", "")


def _firsts(interface: Interface) -> list[Interfaced]:
    """The first address of each IP version, with its network."""
    firsts = first_addresses(interface)
    return [one for one in interface.addresses if one.ip in firsts]


def _router(machine: Machine, interface: Interface, own: Interfaced, wishes: Wishes) -> Address | None:
    """The router of an interface; None for a point-to-point link. Raises `CannotPrepare` if it is unknown."""
    known = machine.gateways(interface.name, own.version)
    asked = (wishes.gateways or {}).get(interface.name)
    if asked is not None and asked.version == own.version:
        check_gateway(asked, interface, own, known)
        return asked
    if known and known[0]:
        return ipaddress.ip_address(known[0])
    if interface.direct or known:
        return None
    raise CannotPrepare(
        f"{interface.name}: no default route names the router for {own.ip}; add --gateway {interface.name}=ADDRESS"
    )


def _protocol(machine: Machine, device: str, version: int) -> str:
    """The source of the default route through a device, such as `dhcp` or `static`."""
    found = [
        one
        for one in machine.routes
        if one.get("dst") == "default" and one.get("dev") == device and one["family"] == version
    ]
    main = [one for one in found if one.get("table", "main") == "main"] or found
    return str(main[0].get("protocol", "")) if main else ""


def _shared(machine: Machine, own: Interfaced) -> bool:
    """Whether several interfaces are in the network of an address."""
    return (
        sum(
            any(own.network.overlaps(each.network) for each in one.addresses if each.version == own.version)
            for one in machine.usable()
        )
        > 1
    )


def _flags(one: Managed, wishes: Wishes) -> str:
    return " ".join(sorted(endpoint_flags(one.interface, wishes), reverse=True))


def _nm_flags(machine: Machine, ours: list[Managed], wishes: Wishes) -> Iterator[str]:
    """Defaults for connections without a value of their own (NetworkManager.conf(5))."""
    for one in ours:
        value = _NM_ENABLED | sum(_NM_BITS[flag] for flag in endpoint_flags(one.interface, wishes))
        if not all(machine.gateways(one.interface.name, own.version) for own in _firsts(one.interface)):
            value |= _NM_ANY_ROUTE
        yield f"[connection-mptcplab-{one.interface.name}]"
        yield f"match-device=interface-name:{one.interface.name}"
        yield from (f"connection.mptcp-flags={value}", "")


def _nm_script(ours: list[Managed], wishes: Wishes) -> str:
    lines = [f"#!/bin/sh\n{HEADER}{_SHELL}", 'case "$1" in']
    for one in ours:
        routers = " ".join(f"router{version}={shlex.quote(_asked(one, version, wishes))}" for version in (4, 6))
        lines.append(f"{shlex.quote(one.interface.name)}) table={one.table} {routers} ;;")
    lines += [
        "*) exit 0 ;;",
        "esac",
        'case "$2" in',
        "up | dhcp4-change | dhcp6-change | reapply) ;;",
        'down) clear_table "$table"; exit 0 ;;',
        "*) exit 0 ;;",
        "esac",
        'clear_table "$table"',
        'routes "$1" "$table" 4 "$router4"',
        'routes "$1" "$table" 6 "$router6"',
        "exit 0",
    ]
    return "\n".join(lines) + "\n"


def _asked(one: Managed, version: int, wishes: Wishes) -> str:
    """The router that the user named for an interface; empty without one."""
    asked = (wishes.gateways or {}).get(one.interface.name)
    return str(asked) if asked is not None and asked.version == version else ""


def _script(every: list[Managed], wishes: Wishes) -> str:
    """The script of the unit: limits, endpoints, and routes of interfaces that no program manages."""
    lines = [f"#!/bin/sh\n{HEADER}{_SHELL}{_WAIT}"]
    lines.append(f"ip mptcp limits set subflow {MOST_SUBFLOWS} add_addr_accepted {MOST_SUBFLOWS}")
    for one in every:
        name, versions = shlex.quote(one.interface.name), [own.version for own in _firsts(one.interface)]
        if one.manager != "NetworkManager":
            lines += [f"endpoint {name} {version} {shlex.quote(_flags(one, wishes))}" for version in versions]
        if one.manager is None:
            lines.append(f"clear_table {one.table}")
            for version in versions:
                router = _asked(one, version, wishes)
                lines.append(f"routes {name} {one.table} {version} {shlex.quote(router)}")
    return "\n".join([*lines, "exit 0"]) + "\n"
