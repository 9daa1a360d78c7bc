"""`mptcplab compare`: ranks schedulers and congestion controllers on one scenario.

Runs a sweep over all combinations with the same seeds, and prints a table and a sentence for each flow and metric.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from mptcplab.cli.common import (
    BadInput,
    RunFailed,
    add_workers,
    natural,
    positive,
    print_json,
    print_no_repetitions,
    table,
    with_randomness,
)
from mptcplab.cli.common import seeds as all_seeds
from mptcplab.cli.figure_options import add_figure_options, check_figure, write_sweep_picture
from mptcplab.cli.outputs import ready
from mptcplab.cli.settings import add_set, over, variations

NAME = "compare"
HELP = "rank schedulers and congestion controllers on one scenario"
EXAMPLE = "mptcplab compare call.toml --scheduler minrtt,blest,mine.py:Mine --congestion lia,olia"
POLICIES = {
    "scheduler": "schedulers",
    "congestion": "congestion controllers",
    "path_manager": "path managers",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="scenario file")
    for key, words in POLICIES.items():
        parser.add_argument(
            f"--{key.replace('_', '-')}", metavar="A,B", help=f"{words} of all flows: names or Python classes"
        )
    parser.add_argument(
        "--vary", action="append", default=[], metavar="KEY=V1,V2", help="another key and its values; repeatable"
    )
    add_set(parser)
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=10, metavar="N", help="seeds per combination (default: 10)")
    parser.add_argument(
        "--metric", default="goodput", metavar="M1,M2", help="columns of flows.parquet to rank (default: goodput)"
    )
    add_figure_options(parser, "box")
    add_workers(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", help="write tables and a figure to DIR")
    parser.add_argument("--resume", action="store_true", help="continue the unfinished comparison in DIR")
    parser.add_argument("--json", action="store_true", help="print JSON: a list with one entry per rank")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def execute(given: argparse.Namespace) -> int:
    """Runs all combinations."""
    chosen = [f"flows.*.{key}={value}" for key in POLICIES if (value := vars(given)[key])]
    if not chosen and not given.vary:
        raise BadInput("mptcplab: compare needs --scheduler, --congestion, --path-manager or --vary, with two values")
    if given.resume and not given.output:
        raise BadInput("mptcplab: --resume needs --output DIR, the directory of the unfinished comparison")
    from mptcplab import ScenarioError
    from mptcplab.results.text.flow_metrics import metrics
    from mptcplab.run.ranking import Ranking
    from mptcplab.run.sweep_tables import OBSERVED, SweepResults
    from mptcplab.run.sweeps import Sweep
    from mptcplab.scenario.definition import Scenario

    scenario = over(Scenario.load(given.file), given.set)
    vary = variations([*chosen, *given.vary])
    wanted, seeds = metrics(given.metric), all_seeds(given)
    points = math.prod(len(values) for values in vary.values())
    if points < 2:
        raise BadInput("mptcplab: compare needs at least two combinations; separate values by commas")
    scenario.core.check_run_count(min(points * len(seeds), 2**64 - 1))
    try:
        sweep = Sweep(scenario, vary, seeds, observed=any(name in OBSERVED for name in wanted))
    except ScenarioError as error:
        raise BadInput(str(error)) from error
    check_figure(given, vary, scenario.flows)
    if given.output:
        ready(given.output)
    found = SweepResults(sweep, wanted)
    try:
        sweep.run(given.output, found.take, resume=given.resume, workers=given.workers, quiet=given.quiet)
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if given.output:
        write_sweep_picture(given, wanted, given.output)
    rankings = [Ranking(found, flow, metric) for flow in found.flows for metric in found.metrics]
    if given.json:
        entries = [entry for ranking in rankings for entry in ranking.documents()]
        print_json(with_randomness(entries, [(point.values, point.scenario) for point in sweep.points]))
        return 0
    for ranking in rankings:
        print(table(ranking.rows()))
        print(ranking.sentence())
        print()
    print(f"{len(found.seeds)} seeds, paired, with 95% intervals; p of the paired t test, corrected by Holm's method")
    for note in found.notes():
        print(note)
    print_no_repetitions([(point.variant, point.scenario) for point in sweep.points], given.seeds)
    if given.output:
        print(f"written to {given.output}/")
    return 0
