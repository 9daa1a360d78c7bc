"""`mptcplab verify`: checks keys, tokens, HMACs and checksums in the captures of any MPTCP stack.

Owns arguments and output; `captures.verify` checks.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput, print_json, size, table
from mptcplab.util.user_input import nearest

if TYPE_CHECKING:
    from mptcplab.captures.packets import Skipped
    from mptcplab.captures.verify import Findings

NAME = "verify"
HELP = "verify keys, tokens, HMACs and DSS checksums of captured MPTCP connections"
EXAMPLE = "mptcplab verify sender.pcapng receiver.pcapng"
FAULTS_SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "captures",
        nargs="+",
        type=Path,
        metavar="CAPTURE",
        help="pcapng or pcap file, maybe gzipped; give the files of all interfaces of a host",
    )
    parser.add_argument(
        "--most",
        type=size,
        default=1 << 30,
        metavar="SIZE",
        help="read at most SIZE of uncompressed captures (default: 1GiB)",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def execute(given: argparse.Namespace) -> int:
    """Reads, verifies and prints; returns 1 if a check fails."""
    from mptcplab.captures.packets import HEADER, BadCapture, Skipped, stream
    from mptcplab.captures.verify import verify

    cut: list[str] = []
    skipped = Skipped()
    try:
        findings = verify(stream(given.captures, given.most, cut, skipped), lambda: not (cut or +skipped))
    except FileNotFoundError as error:
        raise BadInput(f"mptcplab verify: {_missing(error)}") from error
    except (OSError, BadCapture) as error:
        raise BadInput(f"mptcplab verify: {error}") from error
    files = ", ".join(map(str, given.captures))
    if not findings.segments:
        why = f" ({_skipped(skipped)})" if +skipped else ""
        raise BadInput(f"mptcplab verify: {files}: no TCP segments{why}; nothing to verify")
    for what in cut:
        print(
            f"mptcplab verify: {what}, in the middle of a packet; only the packets before it were verified",
            file=sys.stderr,
        )
    names = sorted({check for check, _ in findings.checks})
    counts = {
        name: {verdict: findings.checks[name, verdict] for verdict in ("right", "wrong", "unknown")} for name in names
    }
    code = 1 if findings.faults else 0
    notes = _notes(findings, skipped)
    if given.json:
        faults = [{"where": fault.where, "what": fault.what} for fault in findings.faults]
        found = {"segments": findings.segments, "options": findings.options, "checks": counts, "faults": faults}
        print_json({**found, "cut": cut, "skipped": dict(+skipped), "notes": notes})
        return code
    print(f"{findings.segments} TCP segments; options: {_options(findings.options)}")
    for note in notes:
        print(f"note: {note}")
    if counts:
        rows = [["", "right", "wrong", "unknown"]]
        rows += [[name, *map(str, verdicts.values())] for name, verdicts in counts.items()]
        print(table(rows))
    elif skipped[HEADER]:
        raise BadInput(f"mptcplab verify: {files}: nothing could be verified; capture whole packets (tcpdump -s 0)")
    for fault in findings.faults[:FAULTS_SHOWN]:
        print(f"{fault.where}: {fault.what}")
    more = len(findings.faults) - FAULTS_SHOWN + findings.more_faults
    if more > 0:
        print(f"and {more} more faults")
    return code


def _missing(error: FileNotFoundError) -> str:
    """The error for a missing file, with the nearest name in its directory."""
    path = Path(str(error.filename))
    there = [one.name for one in path.parent.iterdir() if one.is_file()] if path.parent.is_dir() else []
    near = nearest(path.name, there)
    captures = [name for name in there if name.endswith((".pcap", ".pcapng", ".gz"))]
    hint = (
        f"did you mean {near}?"
        if near
        else f"its directory has: {', '.join(sorted(captures)[:10])}"
        if captures
        else ""
    )
    return f"{path}: no such file; {hint or f'{path.parent} has no captures (mptcplab run --pcap writes some)'}"


def _notes(findings: Findings, skipped: Skipped) -> list[str]:
    """The packets and subflows that were not checked, and why."""
    from mptcplab.captures.packets import HEADER, PAYLOAD

    notes = []
    if +skipped:
        hint = "; capture whole packets (tcpdump -s 0)" if skipped[HEADER] or skipped[PAYLOAD] else ""
        notes.append(f"some packets could not be read: {_skipped(skipped)}{hint}")
    if findings.late:
        notes.append(
            f"{findings.late} MPTCP subflows started before the capture; without their keys, some checks stay unknown"
        )
    if findings.forgotten:
        notes.append(
            f"{findings.forgotten} subflows were dropped from memory because too many were open; their checks stay "
            "unknown"
        )
    return notes


def _skipped(skipped: Skipped) -> str:
    return ", ".join(f"{count} {why}" for why, count in (+skipped).items())


def _options(seen: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(seen.items())) or "no MPTCP"
