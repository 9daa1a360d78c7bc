"""`mptcplab doctor`: says why an MPTCP connection is slow, from captures of its packets.

Owns arguments and output. The Rust crate `mptcp-doctor` reads packets and finds verdicts; the package `doctor` writes
them as text, HTML, tables and time-sequence files.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, positive, print_json

if TYPE_CHECKING:
    from mptcplab.doctor.inputs import Inputs

NAME = "doctor"
HELP = "find out from captures why an MPTCP connection is slow"
EXAMPLE = "mptcplab doctor client.pcapng nstat.txt --html report.html"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="captures (pcap, pcapng, gz, zst; - for a pipe), and texts of the host",
    )
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="text of the host: ip mptcp limits/endpoint show, nstat -asz, ss -tiM",
    )
    parser.add_argument("--connection", type=positive, metavar="N", help="connection to print (default: the largest)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the report")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report with charts as one HTML file")
    parser.add_argument(
        "--parquet", type=Path, metavar="DIR", help="write connections, subflows and segments as tables"
    )
    parser.add_argument("--xpl", type=Path, metavar="DIR", help="write time-sequence graphs for xplot")
    parser.add_argument("--scenario", type=Path, metavar="FILE", help="fit a scenario to the connection")
    parser.add_argument("--quiet", action="store_true", help="print neither progress nor report")


def execute(given: argparse.Namespace) -> int:
    """Reads the captures and writes the report; returns 0 for any verdict."""
    if given.schema:
        from mptcplab.doctor.report import schema

        print_json(schema())
        return 0
    from mptcplab.doctor.inputs import opened
    from mptcplab.util.user_input import BadResult

    if not given.files:
        raise BadInput("mptcplab doctor: no FILE; give at least one capture (tcpdump -i any -s 128 -w FILE tcp)")
    try:
        with opened(given.files, given.host) as inputs:
            _report(given, inputs)
    except BadResult as error:
        raise BadInput(f"mptcplab doctor: {error}") from error
    return 0


def _report(given: argparse.Namespace, inputs: Inputs) -> None:
    from mptcplab.doctor.report import examine
    from mptcplab.doctor.text import text

    if given.html is not None and any(_same(given.html, one) for one in inputs.captures):
        raise BadInput(
            f"mptcplab doctor: --html {given.html}: this is a capture, which would be lost; choose another name"
        )
    progress = _progress(quiet=given.quiet or given.json)
    try:
        report = examine(inputs, progress)
        _check(given.connection, len(report["connections"]))
        written = _files(given, inputs, report, progress)
    finally:
        progress(-1)
    if given.json:
        print_json(report)
    elif not given.quiet:
        width = max(60, min(120, shutil.get_terminal_size((110, 24)).columns))
        print(text(report, (given.connection or 1) - 1, width))
        if written:
            print("\n" + "\n".join(written))


def _same(path: Path, other: Path) -> bool:
    return path.exists() and path.samefile(other)


def _check(connection: int | None, count: int) -> None:
    if connection is None or connection <= count:
        return
    problem = f"must be between 1 and {count}" if count else "the captures contain no connection"
    raise BadInput(f"mptcplab doctor: --connection {connection}: {problem}")


def _files(
    given: argparse.Namespace, inputs: Inputs, report: dict[str, Any], progress: Callable[[int], bool]
) -> list[str]:
    """Writes the files that were asked for; returns a line about each."""
    written = []
    if given.html is not None:
        from mptcplab.doctor import html_page

        html_page.write(report, given.html)
        written.append(f"report: {given.html}")
    if given.parquet is not None:
        from mptcplab.doctor import tables

        names = tables.write(report, inputs.captures, given.parquet, progress)
        written.append(f"tables: {given.parquet} ({', '.join(names)})")
    if given.scenario is not None:
        written.append(_scenario(given, report))
    if given.xpl is not None:
        from mptcplab.doctor import xplot

        graphs, omitted = xplot.write(report, inputs.captures, given.xpl, progress)
        more = f", {omitted} more subflows have none" if omitted else ""
        written.append(f"time-sequence graphs: {given.xpl} ({graphs} files{more})")
    return written


def _scenario(given: argparse.Namespace, report: dict[str, Any]) -> str:
    """Writes a scenario that behaves as the connection; returns a line about it."""
    from mptcplab.doctor import fit
    from mptcplab.util.files import write_text

    if not report["connections"]:
        raise BadInput("mptcplab doctor: --scenario: the captures contain no connection")
    number = (given.connection or 1) - 1
    fitted = fit.fit(report, number)
    write_text(given.scenario, fit.text(fitted, report, number))
    return (
        f"scenario: {given.scenario} (goodput {fitted.goodput / 1e6:.2f} Mb/s, {fitted.error:+.0%} of the capture); "
        f"try mptcplab why {given.scenario}"
    )


def _progress(*, quiet: bool) -> Callable[[int], bool]:
    """Prints the number of packets on a terminal, at most five times per second; a negative number clears the line."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        return lambda _: True
    printed = [time.monotonic()]
    is_shown = [False]

    def show(packets: int) -> bool:
        if packets < 0:
            if is_shown[0]:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - printed[0] > 0.2:
            print(f"\r{packets:,} packets read", end="", file=sys.stderr, flush=True)
            printed[0], is_shown[0] = time.monotonic(), True
        return True

    return show
