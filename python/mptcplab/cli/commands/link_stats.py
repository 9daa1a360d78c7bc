"""`mptcplab link-stats`: prints bytes, utilisation and drops of each link of a run.

They show bottlenecks and unused links. In networks with many links, such as data centres, `--by-layer` summarises them.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import natural, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mptcplab.results.read.link_utilisation import Layer, Load

NAME = "link-stats"
HELP = "print bytes, utilisation and drops of each link of a run"
EXAMPLE = "mptcplab link-stats results --by-layer"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("result", type=Path, metavar="RUN", help="a result of mptcplab run --output")
    parser.add_argument("--seed", type=natural, metavar="N", help="seed of the run (default: the first)")
    parser.add_argument(
        "--by-layer", action="store_true", help="group links by the types of their nodes, such as edge -> agg"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(given: argparse.Namespace) -> int:
    """Reads the result and prints the table."""
    from mptcplab.results.read.link_utilisation import layers, loads

    found = loads(given.result, given.seed)
    together = layers(found) if given.by_layer else None
    if given.json:
        print_json([asdict(one) for one in (found if together is None else together)])
    elif together is None:
        print(_links(found))
    else:
        print(_layers(together))
    return 0


def _links(found: Sequence[Load]) -> str:
    width = max((len(one.link) for one in found), default=4)
    lines = [f"{'link':<{width}}  {'direction':<9}  {'MB':>9}  {'utilisation':>11}  {'drops':>7}"]
    lines += [
        f"{one.link:<{width}}  {one.direction:<9}  {one.sent_bytes / 1e6:>9.2f}  {_percent(one.utilisation):>11}"
        f"  {one.queue_drops:>7}"
        for one in found
    ]
    return "\n".join(lines)


def _layers(together: Sequence[Layer]) -> str:
    width = max((len(one.layer) for one in together), default=5)
    columns = f"{'MB':>9}  {'min':>6}  {'mean':>6}  {'max':>6}  {'drops':>7}"
    lines = [f"{'layer':<{width}}  {'links':>5}  {'unused':>6}  {columns}"]
    lines += [
        f"{one.layer:<{width}}  {one.directions:>5}  {one.unused:>6}  {one.sent_bytes / 1e6:>9.1f}"
        f"  {_percent(one.least):>6}  {_percent(one.mean):>6}  {_percent(one.most):>6}  {one.queue_drops:>7}"
        for one in together
    ]
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"
