"""`mptcplab verify`: whether captures keep what the standards say of keys, tokens, HMACs and checksums."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mptcplab.commands.common import BadInput, print_json, size, table

NAME = "verify"
HELP = (
    "verify keys, tokens, HMACs and DSS checksums of captured Multipath TCP, which Wireshark shows but does not verify"
)
EXAMPLE = "mptcplab verify sender.pcapng receiver.pcapng"
FAULTS_SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "captures", nargs="+", type=Path, metavar="CAPTURE", help="pcapng or pcap; all interfaces of one host together"
    )
    parser.add_argument(
        "--most",
        type=size,
        default=1 << 30,
        metavar="SIZE",
        help="how much of captures to read; what they hold is kept in memory (default: 1GiB)",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as a value")


def execute(given: argparse.Namespace) -> int:
    """Reads, verifies, prints; 1 when something is wrong."""
    from mptcplab.packets import BadCapture, read
    from mptcplab.verify import verify

    cut: list[str] = []
    try:
        segments = read(given.captures, given.most, cut)
    except (OSError, BadCapture) as error:
        raise BadInput(f"mptcplab verify: {error}") from error
    if not segments:
        files = ", ".join(map(str, given.captures))
        raise BadInput(f"mptcplab verify: {files}: no TCP segment in there, so there is nothing to verify")
    for what in cut:
        print(f"mptcplab verify: {what}, in the middle of a packet; read up to there", file=sys.stderr)
    findings = verify(segments)
    names = sorted({check for check, _ in findings.checks})
    counts = {
        name: {verdict: findings.checks[name, verdict] for verdict in ("right", "wrong", "unknown")} for name in names
    }
    code = 1 if findings.faults else 0
    if given.json:
        faults = [{"where": fault.where, "what": fault.what} for fault in findings.faults]
        found = {"segments": len(segments), "options": findings.options, "checks": counts, "faults": faults}
        print_json({**found, "cut": cut})
        return code
    print(f"{len(segments)} TCP segments; options: {_options(findings.options)}")
    if counts:
        rows = [["", "right", "wrong", "unknown"]]
        rows += [[name, *map(str, verdicts.values())] for name, verdicts in counts.items()]
        print(table(rows))
    for fault in findings.faults[:FAULTS_SHOWN]:
        print(f"{fault.where}: {fault.what}")
    if len(findings.faults) > FAULTS_SHOWN:
        print(f"and {len(findings.faults) - FAULTS_SHOWN} more")
    return code


def _options(seen: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(seen.items())) or "none of MPTCP"
