"""`mptcplab udp-interference`: sends UDP over one interface, and over a second one in every other period.

The rates show how far two radios of one host disturb each other. The test is mp-int of the UCL MSc report "Wireless
Interference and Multipath TCP" (2013).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import RunFailed, add_workers, check_runs, duration, natural, positive, print_json
from mptcplab.cli.common import seeds as all_seeds
from mptcplab.cli.outputs import ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mptcplab.results.run import Runs
    from mptcplab.run.udp_interference import Interference

NAME = "udp-interference"
HELP = "measure how UDP on one interface slows UDP on another"
EXAMPLE = "mptcplab udp-interference wifi.toml --steady wlan0 --toggle wlan1 --every 30s --output results"

PERIOD_S = 30.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a scenario file; its flows and events are ignored")
    parser.add_argument("--steady", metavar="P", help="interface that sends all the time (default: the client's first)")
    parser.add_argument("--toggle", metavar="P", help="interface that stops and starts (default: the client's second)")
    parser.add_argument(
        "--every",
        type=duration,
        default=PERIOD_S,
        metavar="TIME",
        help="time after which the second interface starts or stops (default: 30s)",
    )
    parser.add_argument(
        "--duration", type=duration, metavar="TIME", help="length of the test (default: four times --every)"
    )
    parser.add_argument(
        "--direction", choices=("upload", "download"), default="upload", help="direction of the data (default: upload)"
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="number of seeds (default: 1)")
    add_workers(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", help="write scenario, seeds, Parquet and a figure to DIR")
    parser.add_argument("--json", action="store_true", help="print the results as JSON, one entry per seed")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def execute(given: argparse.Namespace) -> int:
    """Builds the test, runs it and prints the rates."""
    from mptcplab.run.udp_interference import interference_test, measure, pair
    from mptcplab.scenario.definition import Scenario

    scenario = Scenario.load(given.file)
    steady, toggled = pair(scenario, given.steady, given.toggle)
    test = interference_test(
        scenario, steady, toggled, every=given.every, duration=given.duration, direction=given.direction
    )
    seeds = all_seeds(given)
    check_runs(test, len(seeds))
    if given.output:
        ready(given.output)
    try:
        runs = test.runs(seeds, workers=given.workers)
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    found = [measure(run, given.every) for run in runs]
    if given.output:
        _save(runs, given)
    if given.json:
        print_json([_entry(one, seed, steady, toggled) for seed, one in zip(seeds, found, strict=True)])
        return 0
    _print(found, scenario.name, steady, toggled)
    if given.output:
        print(f"written to {given.output}/")
    return 0


def _save(runs: Runs, given: argparse.Namespace) -> None:
    from mptcplab.plots import figure_style
    from mptcplab.run.udp_interference import plot
    from mptcplab.util.files import write_bytes

    runs.save(given.output)
    figure = plot(runs[0])
    lines, dots = figure_style.both(figure)
    write_bytes(given.output / "udp-interference.png", dots)
    write_bytes(given.output / "udp-interference.svg", lines)


def _entry(one: Interference, seed: int, steady: str, toggled: str) -> dict[str, Any]:
    return {
        "seed": seed,
        "steady": steady,
        "toggled": toggled,
        "alone_mbps": one.alone,
        "both_mbps": {steady: one.steady, toggled: one.toggled, "total": one.total},
        "share_of_steady": one.share,
        "total_over_alone": one.ratio,
        "given_up": {"alone": one.lost_alone, "both": one.lost_both},
    }


def _print(found: Sequence[Interference], name: str, steady: str, toggled: str) -> None:
    from mptcplab.stats.statistics import estimate

    def mean(what: str, scale: float = 1.0) -> str:
        return str(estimate(scale * float(getattr(one, what)) for one in found))

    many = f", {len(found)} seeds; means and 95% intervals" if len(found) > 1 else ""
    print(f"{name}: UDP over {steady} all the time, over {toggled} in every second period{many}")
    print(f"  {steady} alone: {mean('alone')} Mb/s; frames dropped after all retries: {mean('lost_alone', 100)}%")
    print(
        f"  both together: {mean('total')} Mb/s, {mean('ratio')} times the rate of {steady} alone; "
        f"{steady} {mean('steady')} Mb/s ({mean('share', 100)}% of both), {toggled} {mean('toggled')} Mb/s; "
        f"frames dropped after all retries: {mean('lost_both', 100)}%"
    )
