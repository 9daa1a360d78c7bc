"""`mptcplab measure`: measures the links of this machine with the help of a peer, and prints them as a scenario.

Owns arguments and output; the package `measure` sends and evaluates.
"""

from __future__ import annotations

import argparse
import re
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, RunFailed, duration, print_json, size

if TYPE_CHECKING:
    from mptcplab.measure.plan import Measured

NAME = "measure"
HELP = "measure rate, delay, queue and loss of this machine's links, as a scenario"
EXAMPLE = "mptcplab measure dsl=eth0 lte=wwan0 --peer server.example.org > mine.toml"
_PORT = 8684
_NAME = re.compile(r"[A-Za-z0-9_-]+")
"""A name of a path in a scenario."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "links", nargs="*", metavar="LINK", help="interface, NAME=INTERFACE, or NAME=ADDRESS of this host"
    )
    role = parser.add_mutually_exclusive_group(required=True)
    role.add_argument("--peer", metavar="HOST[:PORT]", help=f"host that runs measure --serve (default port: {_PORT})")
    role.add_argument(
        "--serve",
        nargs="?",
        type=_port,
        const=_PORT,
        metavar="PORT",
        help=f"answer the measurements of other hosts until Ctrl-C (default port: {_PORT})",
    )
    parser.add_argument("--time", type=duration, metavar="TIME", help="approximate time for each link (default: 10s)")
    parser.add_argument("--most", type=size, metavar="SIZE", help="most bytes for each link (default: 60MB)")
    parser.add_argument("--json", action="store_true", help="print all estimates as JSON")


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 1 to 65535")
    return int(text)


def execute(given: argparse.Namespace) -> int:
    """Serves, or measures."""
    if given.serve is not None:
        return _serve(given)
    if not given.links:
        raise BadInput("mptcplab measure: name the links to measure, for example: mptcplab measure eth0 wlan0 --peer …")
    return _measure(given)


def _serve(given: argparse.Namespace) -> int:
    from mptcplab.measure.datagrams import CannotSend, server_socket
    from mptcplab.measure.server import Server

    if given.links:
        raise BadInput("mptcplab measure: --serve takes no links")
    try:
        own = server_socket(given.serve, None)
    except CannotSend as error:
        raise BadInput(f"mptcplab measure: {error.strerror}") from None
    print(f"listening on UDP port {given.serve}", file=sys.stderr, flush=True)
    try:
        Server(own, report=lambda line: print(line, file=sys.stderr, flush=True)).serve()
    finally:
        own.close()
    return 0


def _measure(given: argparse.Namespace) -> int:
    from mptcplab.measure.plan import BYTES, LEAST_BYTES, LEAST_SECONDS, SECONDS
    from mptcplab.measure.scenario_text import scenario_text

    seconds = SECONDS if given.time is None else given.time
    most = BYTES if given.most is None else given.most
    if seconds < LEAST_SECONDS:
        raise BadInput(f"mptcplab measure: --time {seconds:g}s: must be at least {LEAST_SECONDS:g}s")
    if most < LEAST_BYTES:
        raise BadInput(f"mptcplab measure: --most {most}B: must be at least {LEAST_BYTES // 1000}kB")
    peers = _peers(given.peer)
    links = [_link(text) for text in given.links]
    names = [name for name, _, _ in links]
    if len(set(names)) < len(names):
        raise BadInput("mptcplab measure: two links have the same name")
    measured: list[Measured] = []
    problems: list[str] = []
    for name, device, address in links:
        print(f"{name}: about {seconds:g} s, at most {most / 1e6:g} MB", file=sys.stderr, flush=True)
        found = _one(name, device, address, peers, seconds, most)
        if isinstance(found, str):
            problems.append(f"{name}: {found}")
            print(f"mptcplab measure: {name}: {found}", file=sys.stderr)
        else:
            measured.append(found)
    if not measured:
        raise RunFailed("measure: no link could be measured")
    if given.json:
        from dataclasses import asdict

        print_json({"links": [asdict(one) for one in measured], "problems": problems})
    else:
        print(scenario_text(measured, problems, time.strftime("%Y-%m-%d %H:%M")), end="")
    return 1 if problems else 0


def _one(
    name: str, device: str | None, address: str | None, peers: list[Any], seconds: float, most: int
) -> Measured | str:
    """Measures a link with the first address of the peer that answers; returns the reason if none does."""
    from mptcplab.measure.client import LONGEST, CannotMeasure, Client
    from mptcplab.measure.datagrams import CannotSend, client_socket
    from mptcplab.measure.plan import measure

    problem = "the peer has no address of this family"
    for family, to in peers:
        own = address or _address(device, family)
        if own is None or (":" in own) != (family == socket.AF_INET6):
            continue
        version = 6 if family == socket.AF_INET6 else 4
        try:
            client = Client(client_socket(to, device, own), version, LONGEST + seconds)
            try:
                client.open()
                return measure(
                    client, version, name, device or own, str(to[0]), seconds=seconds, most_bytes=most, progress=_tell
                )
            finally:
                client.close()
        except (CannotMeasure, CannotSend) as error:
            problem = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return problem


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _link(text: str) -> tuple[str, str | None, str | None]:
    """Name, interface and address of a link: `eth0`, `dsl=eth0` or `dsl=192.0.2.7`."""
    import ipaddress

    name, equals, where = text.partition("=")
    where = where if equals else name
    if not name or not where:
        raise BadInput(f"mptcplab measure: {text}: expected INTERFACE, NAME=INTERFACE or NAME=ADDRESS")
    if not _NAME.fullmatch(name) or not any(map(str.isalpha, name)):
        raise BadInput(
            f"mptcplab measure: {name}: names of paths have letters, digits, - and _; write for example dsl={where}"
        )
    try:
        return name, None, str(ipaddress.ip_address(where))
    except ValueError:
        pass
    known = [one for _, one in socket.if_nameindex()]
    if where not in known:
        raise BadInput(f"mptcplab measure: {where}: no such interface; this host has: {', '.join(known)}")
    return name, where, None


def _address(device: str | None, family: int) -> str | None:
    """The first address of an interface in a family."""
    from mptcplab.host.machine import CannotLook, Machine

    try:
        found = next((one for one in Machine.read().interfaces if one.name == device), None)
    except CannotLook as error:
        raise BadInput(f"mptcplab measure: {error}; write NAME=ADDRESS instead of the interface") from None
    version = 6 if family == socket.AF_INET6 else 4
    own = [str(one.ip) for one in (found.addresses if found else ()) if one.version == version]
    return own[0] if own else None


def _peers(text: str) -> list[tuple[int, Any]]:
    """The addresses of the peer, by family."""
    host, colon, port = text.rpartition(":")
    if not colon or (text.count(":") > 1 and not text.startswith("[")):
        host, port = text, str(_PORT)
    try:
        rows = socket.getaddrinfo(host.strip("[]"), _port(port), type=socket.SOCK_DGRAM)
    except argparse.ArgumentTypeError as error:
        raise BadInput(f"mptcplab measure: --peer {text}: {error}") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "invalid host name"
        raise BadInput(f"mptcplab measure: --peer {text}: {reason}") from None
    return [(row[0], row[4]) for row in rows]
