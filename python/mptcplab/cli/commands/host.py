"""`mptcplab host`: checks, sets up and monitors Linux's MPTCP on this machine.

Most machines lack the endpoints, routes or limits without which MPTCP uses one path only. Owns arguments and output;
the package `host` does the work.
"""

from __future__ import annotations

import argparse
import ipaddress
import itertools
import json
import os
import shlex
import socket
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, RunFailed, duration, positive, print_json

if TYPE_CHECKING:
    from mptcplab.host.boot_files import BootFile
    from mptcplab.host.findings import Finding
    from mptcplab.host.machine import Address
    from mptcplab.host.setup_plan import Wishes

NAME = "host"
HELP = "check, set up and monitor Linux's MPTCP on this machine"
_ROUTED = ("no-second-path", "route-source", "route-missing", "route-connected")
"""Problems whose fix can need the address of a router."""
RATES_OVER = 1.0
"""Seconds between the two samples of a rate."""
_WIDEST = 200
"""Maximum characters of a line that is not shown on a terminal."""
EXAMPLE = "mptcplab host check --peer 192.0.2.7:443"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands and their options."""
    own = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    check = own.add_parser(
        "check",
        help="check this machine for MPTCP problems (exit code 1 for a problem)",
        description="Checks the kernel, interfaces, endpoints, limits, routes and filters for MPTCP problems.",
        epilog="example: mptcplab host check --fix-suggestions",
    )
    _add_peer(check, "also test the paths to this peer with echoes; with a port, also with connections")
    check.add_argument("--fix-suggestions", action="store_true", help="print commands that fix the problems")
    check.add_argument("--json", action="store_true", help="print JSON")
    setup = own.add_parser(
        "setup",
        help="set up endpoints, limits, routes and filters for several paths",
        description="Sets up endpoints, limits, source routes and reverse-path filters for several paths.",
        epilog="example: mptcplab host setup eth0 wlan0 --dry-run",
    )
    setup.add_argument(
        "devices", nargs="*", metavar="DEVICE", help=("interfaces (default: all with a route to the internet)")
    )
    mode = setup.add_mutually_exclusive_group(required=True)
    mode.add_argument("--dry-run", action="store_true", help="print the steps without applying them")
    mode.add_argument("--apply", action="store_true", help="apply all steps, or none if one fails")
    mode.add_argument("--undo", action="store_true", help="undo the applied steps, also after a crash")
    setup.add_argument(
        "--server", action="store_true", help=("announce the addresses to peers (default: open subflows from them)")
    )
    setup.add_argument(
        "--backup", action="append", default=[], metavar="DEVICE", help=("use this interface only as a backup")
    )
    setup.add_argument(
        "--gateway",
        action="append",
        default=[],
        metavar="DEVICE=ADDRESS",
        help="address of the router behind an interface",
    )
    setup.add_argument("--persist", action="store_true", help="also write files that restore the set-up at each boot")
    setup.add_argument(
        "--root", type=Path, default=Path("/"), metavar="DIR", help="directory of the files of --persist (default: /)"
    )
    _add_peer(setup, "set up routes to this peer, for networks without a default route")
    setup.add_argument("--json", action="store_true", help="print JSON")
    monitor = own.add_parser(
        "monitor",
        help="print path manager events, like ip mptcp monitor",
        description="Prints connections and subflows as they open and close, until Ctrl-C.",
        epilog="example: mptcplab host monitor --json",
    )
    monitor.add_argument(
        "--states", action="store_true", help="first print the existing subflows, with their rates over one second"
    )
    monitor.add_argument("--count", type=positive, metavar="N", help="stop after N events")
    monitor.add_argument("--json", action="store_true", help="print one JSON object per line")
    top = own.add_parser(
        "top",
        help="show connections and subflows live, with their limiting factors",
        description="Shows MPTCP connections and subflows: rates, retransmissions, RTT, windows, limiting factors.",
        epilog="example: mptcplab host top --interval 2s",
    )
    top.add_argument(
        "--interval", type=duration, default=RATES_OVER, metavar="TIME", help="refresh every TIME (default: 1s)"
    )
    top.add_argument("--once", action="store_true", help="print one interval and end")
    top.add_argument("--json", action="store_true", help="print one JSON object per interval")
    export = own.add_parser(
        "export",
        help="print counters and subflows in the Prometheus text format",
        description="Prints the MPTcpExt counters and the subflows in the Prometheus text format.",
        epilog="example: mptcplab host export /var/lib/node_exporter/mptcp.prom",
    )
    export.add_argument(
        "file", nargs="?", metavar="FILE", help=("output file, written atomically (default: standard output)")
    )


def _add_peer(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--peer", metavar="HOST[:PORT]", help=what)


def execute(given: argparse.Namespace) -> int:
    """Checks or changes this machine."""
    from mptcplab.host.machine import CannotLook
    from mptcplab.host.setup_plan import CannotPrepare
    from mptcplab.host.setup_steps import CannotChange

    try:
        return _DOES[given.what](given)
    except (CannotLook, CannotPrepare) as error:
        raise BadInput(f"mptcplab: {error}") from None
    except CannotChange as error:
        raise RunFailed(str(error)) from None


def _check(given: argparse.Namespace) -> int:
    from mptcplab.host.checks import check

    peers, port = _peers(given.peer)
    found = check(peers, port)
    if given.json:
        print_json([asdict(one) for one in found])
    elif given.fix_suggestions:
        print("\n".join(_fixes(found)))
    else:
        print("\n".join(_as_text(found)))
    return 1 if any(one.problem for one in found) else 0


def _as_text(found: list[Finding]) -> list[str]:
    from mptcplab.host.fixes import SETUP_FIXES

    problems = [one for one in found if one.problem]
    lines = [f"{'problem' if one.problem else 'note'}: {one.name}: {one.what}" for one in found]
    names = list(dict.fromkeys(one.name for one in problems))
    does, others = ([one for one in names if (one in SETUP_FIXES) is wanted] for wanted in (True, False))
    pasted = [one for one in others if any(each.fix for each in problems if each.name == one)]
    if does:
        asked = "".join(f" --gateway {device}=ADDRESS" for device in _without_router(problems))
        lines.append(f"mptcplab host setup --apply{asked} fixes: {', '.join(does)}")
    if pasted:
        lines.append(
            f"host setup does not fix: {', '.join(pasted)}; host check --fix-suggestions prints commands for them"
        )
    if no_command := [one for one in others if one not in pasted]:
        lines.append(f"no command on this host fixes: {', '.join(no_command)}")
    return lines or ["no MPTCP problems found"]


def _without_router(found: list[Finding]) -> list[str]:
    """Interfaces whose router is unknown, because they have no default route. The user has to name the router."""
    commands = [fix.split() for one in found for fix in one.fix if one.name in _ROUTED]
    return list(dict.fromkeys(words[words.index("dev") + 1] for words in commands if "GATEWAY" in words))


def _fixes(found: list[Finding]) -> list[str]:
    lines = []
    for one in (one for one in found if one.problem):
        lines += [f"# {one.name}: {one.what}", *(one.fix or ("# no command on this host fixes this",))]
    return lines or ["# no MPTCP problems found"]


def _setup(given: argparse.Namespace) -> int:
    from mptcplab.host import journal, persistence
    from mptcplab.host.boot_files import boot_files
    from mptcplab.host.machine import Machine
    from mptcplab.host.setup_plan import steps
    from mptcplab.host.setup_steps import typed

    if not given.dry_run and os.geteuid() != 0:
        raise BadInput("mptcplab: host setup requires root; --dry-run only prints the steps")
    if given.undo and given.persist:
        raise BadInput("mptcplab: host setup --undo also removes the files of --persist; omit --persist")
    if given.undo:
        return _undo(given)
    with nullcontext() if given.dry_run else journal.alone():
        machine, wishes = Machine.read(), _wishes(given)
        wanted = steps(machine, wishes)
        files = boot_files(machine, wishes, given.root, needs_systemd=not given.dry_run) if given.persist else []
        persistence.check(files, given.root)
        if not given.dry_run:
            journal.apply(wanted)
            if files:
                _print_kept(persistence.write(files, given.root))
    return _print_commands(given, [typed(step.do) for step in wanted], "nothing to do", files)


def _undo(given: argparse.Namespace) -> int:
    from mptcplab.host import journal, persistence
    from mptcplab.host.setup_steps import typed

    with journal.alone():
        back, theirs = journal.undo()
        for step in theirs:
            print(
                f"mptcplab: not undone, because this setting was changed or removed later: {typed(step.do)}",
                file=sys.stderr,
            )
        there = persistence.written(given.root)
        kept = persistence.remove(given.root)
        _print_kept(kept)
    message = [typed(step.undo) for step in reversed(back)]
    message += [f"rm {shlex.quote(str(given.root / path.lstrip('/')))}" for path in there if path not in kept]
    return _print_commands(given, message, "nothing to undo: host setup changed nothing here", [])


def _print_kept(paths: list[str]) -> None:
    for path in paths:
        print(f"mptcplab: {path} was changed later, so mptcplab keeps it", file=sys.stderr)


def _print_commands(given: argparse.Namespace, commands: list[str], nothing: str, files: list[BootFile]) -> int:
    if given.json:
        print_json({"commands": commands, "files": {one.path: one.text for one in files}} if files else commands)
        return 0
    if commands or not files:
        print("\n".join(commands) or nothing)
    for one in files:
        if given.dry_run:
            print(f"\n{one.path}{f' -> {one.text}' if one.link else ':'}")
            print(
                "".join(f"    {line}".rstrip() + "\n" for line in ([] if one.link else one.text.splitlines())), end=""
            )
        else:
            print(f"wrote {given.root / one.path.lstrip('/')}")
    return 0


def _monitor(given: argparse.Namespace) -> int:
    from mptcplab.host.connections import Counted, subflows
    from mptcplab.host.events import events, line

    coming = events()
    # From here on, the kernel buffers events, so none is missed while the existing subflows are printed.
    next(coming)
    if given.states:
        before = Counted(subflows())
        time.sleep(RATES_OVER)
    for one, rates in before.rates(subflows()) if given.states else ():
        known = {"event": "STATE", **asdict(one), **asdict(rates)}
        print(json.dumps(known) if given.json else line_of(known), flush=True)
    for event in itertools.islice(coming, given.count):
        now = {"time": round(time.time(), 6), **event}
        print(json.dumps(now) if given.json else line(event), flush=True)
    return 0


def line_of(state: dict[str, Any]) -> str:
    """An existing subflow in the format of an event."""
    words = (f"{key}={_value_text(key, value)}" for key, value in state.items() if key != "event" and value is not None)
    return f"[{state['event']:>15}] {' '.join(words)}"


def _value_text(key: str, value: object) -> str:
    """A state value as text; rates and times have a unit."""
    if not isinstance(value, float):
        return str(value)
    return f"{value / 1e6:.2f}Mb/s" if key.endswith("_rate") else f"{1e3 * value:.3g}ms"


def _top(given: argparse.Namespace) -> int:
    from mptcplab.host.top import intervals, live
    from mptcplab.host.top_view import text

    if not (given.once or given.json) and sys.stdout.isatty():
        live(given.interval)
        return 0
    for rows in itertools.islice(intervals(given.interval), 1 if given.once else None):
        if given.json:
            print(json.dumps({"time": round(time.time(), 3), "connections": [asdict(one) for one in rows]}), flush=True)
        else:
            print("\n".join(text(rows, _WIDEST)), flush=True)
    return 0


def _export(given: argparse.Namespace) -> int:
    from mptcplab.host.connections import subflows
    from mptcplab.host.machine import Machine
    from mptcplab.host.metrics import text
    from mptcplab.util.files import write_text

    message = text(Machine.read().counters, subflows())
    if given.file is None:
        print(message, end="")
    else:
        write_text(given.file, message)
    return 0


def _wishes(given: argparse.Namespace) -> Wishes:
    from mptcplab.host.setup_plan import Wishes

    gateways = {}
    for text in given.gateway:
        device, equals, address = text.partition("=")
        try:
            gateways[device] = ipaddress.ip_address(address)
        except ValueError:
            equals = ""
        if not equals:
            raise BadInput(f"mptcplab: --gateway {text}: expected DEVICE=ADDRESS, such as eth1=192.168.2.1")
    peers, _ = _peers(given.peer)
    return Wishes(given.devices, frozenset(given.backup), gateways, given.server, peers)


def _peers(text: str | None) -> tuple[list[Address], int | None]:
    """The addresses of a peer, and its port if one was given."""
    if text is None:
        return [], None
    host, colon, number = text.rpartition(":")
    six = text.count(":") > 1 and not text.startswith("[")
    if six or not colon:
        host, number = text, ""
    port = int(number) if number.isdecimal() and 0 < int(number) < 65_536 else None
    if (number and port is None) or not host:
        raise BadInput(
            f"mptcplab: --peer {text}: expected HOST or HOST:PORT, such as 192.0.2.7:443 or [2001:db8::7]:443"
        )
    try:
        rows = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise BadInput(f"mptcplab: --peer {text}: {getattr(error, 'strerror', None) or 'invalid host name'}") from None
    found = [ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in rows]
    far = [one for one in found if not one.is_link_local]
    if not far:
        raise BadInput(
            f"mptcplab: --peer {text}: a link-local address is reachable over one path only; use a routable address"
        )
    return list(dict.fromkeys(far)), port


_DOES = {"check": _check, "setup": _setup, "monitor": _monitor, "top": _top, "export": _export}
