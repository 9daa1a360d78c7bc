"""`mptcplab merge`: merges several results into one, so that runs of different days can be analysed together.

Corresponds to mp-merge of the UCL MSc report "Wireless Interference and Multipath TCP" (2013).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import print_json

NAME = "merge"
HELP = "merge several results into one"
EXAMPLE = "mptcplab merge monday tuesday --output both"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="results of mptcplab run --output")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="output directory")
    parser.add_argument("--json", action="store_true", help="print the runs as JSON")


def execute(given: argparse.Namespace) -> int:
    """Merges the results."""
    from mptcplab.results.write.merging import merge

    runs = merge(given.results, given.output)
    if given.json:
        print_json([{"run": run, "seed": seed, "variant": variant} for run, seed, variant in runs])
    else:
        print(f"merged {len(runs)} runs of {len(given.results)} results into {given.output}/")
    return 0
