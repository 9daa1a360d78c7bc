"""`mptcplab bench`: the standard benchmarks."""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.commands.common import BadInput, RunFailed, positive, print_json, table

NAME = "bench"
HELP = "measure how fast the simulator is (S1: one TCP flow, S2: two paths, S3: a hundred TCP flows, S4: a WiFi cell)"
EXAMPLE = "mptcplab bench S1 --json"
REPETITIONS = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="S1 to S4 or files (default: all four)")
    parser.add_argument("--json", action="store_true", help="print a list with an entry for each scenario")
    parser.add_argument(
        "--repetitions",
        type=positive,
        default=REPETITIONS,
        metavar="N",
        help=f"runs of each, each in its own process; the quickest counts (default: {REPETITIONS})",
    )


def execute(given: argparse.Namespace) -> int:
    """Measures and prints."""
    from mptcplab.bench import STANDARD, measure

    measured = []
    for name in given.scenarios or list(STANDARD):
        file = STANDARD.get(name.upper())
        path = file if file is not None else Path(name)
        if not path.is_file():
            raise BadInput(f"mptcplab: {name!r} is neither a benchmark ({', '.join(STANDARD)}) nor a file")
        try:
            label = name.upper() if file is not None else path.stem
            measured.append(measure(label, path, given.repetitions))
        except RuntimeError as error:
            raise RunFailed(str(error)) from error
    if given.json:
        print_json(measured)
        return 0
    rows = [["scenario", "data packets", "wall s", "packets/s", "goodput Mb/s", "peak RSS MB"]]
    rows += [
        [
            row["scenario"],
            f"{row['packets']:,}".replace(",", " "),
            f"{row['wall_s']:.4f}",
            f"{row['packets_per_s'] / 1e6:.2f} M",
            f"{row['goodput_mbps']:.2f}",
            f"{row['peak_rss_mb']:.0f}",
        ]
        for row in measured
    ]
    print(table(rows))
    print(f"one core; best of {given.repetitions} runs, each in its own process")
    return 0
