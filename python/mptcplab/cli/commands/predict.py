"""`mptcplab predict`: predicts TCP and MPTCP over links that are given on the command line, without a scenario file.

Owns arguments and output; the package `predict` runs the scenarios.
"""

from __future__ import annotations

import argparse

from mptcplab.cli.common import BadInput, RunFailed, add_workers, natural, positive, print_json, size
from mptcplab.cli.common import seeds as all_seeds

NAME = "predict"
HELP = "predict TCP and MPTCP over given links: downloads, web pages, videos, calls"
EXAMPLE = "mptcplab predict --link dsl:50Mbit/10Mbit,20ms --link lte:30Mbit,60ms,jitter=15ms"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "--link",
        action="append",
        default=[],
        metavar="NAME:DOWN[/UP],RTT[,KEY=VALUE]",
        help="add a link; keys: loss, jitter and queue (docs/predict.md)",
    )
    parser.add_argument("--os", choices=("linux", "mptcplab"), help="MPTCP of this system (default: both)")
    parser.add_argument("--traffic", metavar="T1,T2", help="bulk, web, video, calls (default: all)")
    parser.add_argument("--rcvbuf", type=size, metavar="SIZE", help="maximum receive buffer (default: 6MiB)")
    parser.add_argument("--sndbuf", type=size, metavar="SIZE", help="maximum send buffer (default: 4MiB)")
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument(
        "--seeds", type=positive, metavar="N", help="runs of each load (default: 3 to 10, by link rate)"
    )
    parser.add_argument("--no-settings", action="store_true", help="test no changes of settings")
    add_workers(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def execute(given: argparse.Namespace) -> int:
    """Runs the loads, tests changes of settings, and prints the result."""
    from mptcplab.predict import links as link_texts
    from mptcplab.predict import report
    from mptcplab.predict.prediction import STACKS, candidates, default_seeds, predict
    from mptcplab.predict.settings import try_changes
    from mptcplab.predict.traffic import TRAFFIC
    from mptcplab.util.user_input import choose

    links = link_texts.read_links(given.link)
    names = [name.strip() for name in (given.traffic or ",".join(TRAFFIC)).split(",")]
    traffic = list(dict.fromkeys(choose(name, TRAFFIC, "traffic", "--traffic") for name in names))
    buffers = {key: f"{value}B" for key in ("rcvbuf", "sndbuf") if (value := vars(given)[key]) is not None}
    if given.seeds is None:
        given.seeds = default_seeds(links)
    seeds, choices = all_seeds(given), candidates(links, [given.os] if given.os else list(STACKS), buffers)
    options = {"workers": given.workers, "quiet": given.quiet}
    from mptcplab import ScenarioError

    try:
        results = predict(links, choices, traffic, seeds, **options)
        effects = [] if given.no_settings else try_changes(links, results, traffic, seeds, **options)
    except ScenarioError as error:
        raise BadInput(f"mptcplab: {error}") from error
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if given.json:
        print_json(report.document(links, results, effects, seeds))
    else:
        print(report.text(links, results, effects, len(seeds)))
    return 0
