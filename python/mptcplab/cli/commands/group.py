"""`mptcplab gather`: results that belong together, each group merged (mp-gather)."""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import print_json

NAME = "gather"
HELP = "find the results that belong together and merge each group"
EXAMPLE = "mptcplab gather results-*/ --by channel,congestion --output groups"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="what mptcplab run --output wrote")
    parser.add_argument(
        "--by",
        default="scenario",
        metavar="KEY[,KEY]",
        help="keys that define a group: scenario (ignoring the seed), channel (relative channel layout), congestion, "
        "direction, seed, variant, or a key of the scenarios such as paths.wifi.loss or rcvbuf (default: scenario)",
    )
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="a directory for each group goes there"
    )
    parser.add_argument("--json", action="store_true", help="print the groups as JSON")


def execute(given: argparse.Namespace) -> int:
    """Merges each group."""
    from mptcplab.results.write.merging import gather, group_directories

    keys = [key.strip() for key in given.by.split(",")]
    groups = gather(given.results, keys, given.output)
    where = group_directories(groups)
    if given.json:
        print_json([{"group": name, "directory": str(given.output / where[name]), "results": members}
                    for name, members in groups.items()])  # fmt: skip
        return 0
    for name, members in groups.items():
        print(f"{name}: {', '.join(members)}; written to {given.output / where[name]}/")
    return 0
