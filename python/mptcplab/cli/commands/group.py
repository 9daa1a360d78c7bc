"""`mptcplab group`: groups results with equal settings, such as the channel, and merges each group into one result.

Repetitions of a measurement can then be analysed together. Corresponds to mp-gather of the UCL MSc report "Wireless
Interference and Multipath TCP" (2013).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import print_json

NAME = "group"
HELP = "group results by scenario or setting, and merge each group"
EXAMPLE = "mptcplab group results-*/ --by channel,congestion --output groups"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="results of mptcplab run --output")
    parser.add_argument(
        "--by",
        default="scenario",
        metavar="KEY[,KEY]",
        help="scenario (default), channel, congestion, direction, seed, variant, scenario key",
    )
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="write one directory per group to DIR"
    )
    parser.add_argument("--json", action="store_true", help="print the groups as JSON")


def execute(given: argparse.Namespace) -> int:
    """Merges each group."""
    from mptcplab.results.write.merging import group, group_directories

    keys = [key.strip() for key in given.by.split(",")]
    groups = group(given.results, keys, given.output)
    where = group_directories(groups)
    if given.json:
        print_json([{"group": name, "directory": str(given.output / where[name]), "results": members}
                    for name, members in groups.items()])  # fmt: skip
        return 0
    for name, members in groups.items():
        print(f"{name}: {', '.join(members)}; written to {given.output / where[name]}/")
    return 0
