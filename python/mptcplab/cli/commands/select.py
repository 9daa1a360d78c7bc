"""`mptcplab select`: draws the distributions of a metric, of all interfaces on one channel or of one name.

Each panel shows one radio channel or name, with a curve for each result and interface. Corresponds to
mp-set of the UCL MSc report "Wireless Interference and Multipath TCP" (2013).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.commands.cdf import add_distribution, draw, samples
from mptcplab.cli.outputs import pictures

NAME = "select"
HELP = "draw distributions of a metric, of all interfaces on one channel or of one name"
EXAMPLE = "mptcplab select results-*/ --channel 11 --metric throughput"

EVERY = "every"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="results of mptcplab run --output")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--channel",
        nargs="?",
        const=EVERY,
        metavar="N",
        help="interfaces on radio channel N; without N, one panel per channel",
    )
    which.add_argument(
        "--path", nargs="?", const=EVERY, metavar="P", help="interfaces with the name P; without P, one panel per name"
    )
    add_distribution(parser)


def execute(given: argparse.Namespace) -> int:
    """Draws one panel per group."""
    pictures(given.output)
    from mptcplab.results.read.result_reader import load
    from mptcplab.util.user_input import BadResult, choose, readable

    by_channel = given.channel is not None
    found: dict[str, list[tuple[str, Path, str]]] = {}
    results = {directory: load(directory) for directory in given.results}
    for directory, runs in results.items():
        for path in dict.fromkeys(path for run in runs for path in run.paths):
            mine = [run for run in runs if path in run.paths]
            group = mine[0].channel(path) if by_channel else path
            if group is not None:
                found.setdefault(str(group), []).append((readable(f"{directory.name} {path}"), directory, path))
    if by_channel and not found:
        raise BadResult(
            "no interface of these results has a radio channel (their scenarios have no cells); use --path instead"
        )
    wanted = given.channel if by_channel else given.path
    chosen = list(found) if wanted == EVERY else [choose(wanted, found, "channel" if by_channel else "path")]
    word = "channel" if by_channel else "path"
    groups = {
        f"{word} {group}": {
            label: samples(given, [run for run in results[directory] if path in run.paths], [path])[0]
            for label, directory, path in found[group]
        }
        for group in chosen
    }
    return draw(given, groups)
