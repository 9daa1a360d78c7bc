"""`mptcplab merge`: several results as one (mp-merge)."""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import print_json

NAME = "merge"
HELP = "merge several results into one, each run with a name of its own"
EXAMPLE = "mptcplab merge monday tuesday --output both"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="what mptcplab run --output wrote")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="where to")
    parser.add_argument("--json", action="store_true", help="print the runs as JSON")


def execute(given: argparse.Namespace) -> int:
    """Merges."""
    from mptcplab.results.write.merging import merge

    runs = merge(given.results, given.output)
    if given.json:
        print_json([{"run": run, "seed": seed, "variant": variant} for run, seed, variant in runs])
    else:
        print(f"{len(runs)} runs of {len(given.results)} results; written to {given.output}/")
    return 0
