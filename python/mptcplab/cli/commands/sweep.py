"""`mptcplab sweep`: runs a scenario with every combination of values, to show the effect of settings on the results.

Each combination is a point of the sweep. Owns arguments and output; `run.sweeps` runs the points.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import (
    BadInput,
    RunFailed,
    add_backend,
    add_workers,
    check_backend,
    natural,
    positive,
    print_json,
    print_no_repetitions,
    table,
    with_randomness,
)
from mptcplab.cli.common import seeds as all_seeds
from mptcplab.cli.executors import add_executor, chosen_executor
from mptcplab.cli.figure_options import add_figure_options, check_figure, write_sweep_picture
from mptcplab.cli.outputs import ready
from mptcplab.cli.settings import add_set, over, variations

if TYPE_CHECKING:
    from mptcplab.run.sweep_tables import SweepResults
    from mptcplab.scenario.definition import Scenario

NAME = "sweep"
HELP = "run a scenario with every combination of values"
EXAMPLE = (
    "mptcplab sweep two.toml --vary paths.lte.loss=0%,1%,5% --vary 'flows.*.scheduler=minrtt,ontime' --seeds 10 "
    "--compare 'flows.*.scheduler=minrtt'"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="scenario file")
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="KEY=V1,V2",
        help="scenario key and its values; repeatable; accepts * and {}",
    )
    add_set(parser)
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="seeds per point (default: 1)")
    parser.add_argument(
        "--metric",
        default="goodput",
        metavar="M1,M2",
        help="columns of flows.parquet to print, such as completion_s (default: goodput)",
    )
    parser.add_argument(
        "--compare",
        action="append",
        metavar="KEY=VALUE",
        help="compare each point with the one that has this value, seed by seed",
    )
    add_figure_options(parser, "lines")
    add_workers(parser)
    add_executor(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", help="write tables and a figure to DIR")
    parser.add_argument("--resume", action="store_true", help="continue the unfinished sweep in DIR")
    parser.add_argument("--json", action="store_true", help="print JSON: a list with one entry per point")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    add_backend(parser)


def execute(given: argparse.Namespace) -> int:
    """Runs all points."""
    check_backend(given.backend)
    given.compare = _once(given.compare)
    if given.resume and not given.output:
        raise BadInput("mptcplab: --resume needs --output DIR, the directory of the unfinished sweep")
    from mptcplab import ScenarioError
    from mptcplab.results.text.flow_metrics import metrics
    from mptcplab.run.batch import Interrupted, Unfinished
    from mptcplab.run.sweep_tables import OBSERVED, SweepResults
    from mptcplab.run.sweeps import Sweep
    from mptcplab.scenario.definition import Scenario

    scenario = over(Scenario.load(given.file), given.set)
    vary = variations(given.vary)
    wanted = metrics(given.metric)
    seeds = all_seeds(given)
    points = math.prod(len(values) for values in vary.values())
    scenario.core.check_run_count(min(points * len(seeds), 2**64 - 1))
    try:
        sweep = Sweep(scenario, vary, seeds, observed=any(name in OBSERVED for name in wanted))
    except ScenarioError as error:
        raise BadInput(str(error)) from error
    check_figure(given, vary, scenario.flows)
    replaced = _ready(given)
    if given.compare:
        SweepResults.check_reference(vary, given.compare)
    found = SweepResults(sweep, wanted)
    kept = f"; they are in {given.output}/, and --resume continues the sweep" if given.output else ""
    try:
        with chosen_executor(given) as executor:
            sweep.run(
                given.output,
                found.take,
                resume=given.resume,
                workers=given.workers,
                executor=executor,
                quiet=given.quiet,
            )
    except Interrupted as interrupt:
        raise KeyboardInterrupt(f"{interrupt}{kept}") from None
    except Unfinished as error:
        raise RunFailed(f"{error}{kept}") from error
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if given.output:
        write_sweep_picture(given, wanted, given.output)
    if given.json:
        drawn = [(point.values, point.scenario) for point in sweep.points]
        print_json(with_randomness(found.documents(given.compare), drawn))
        return 0
    _print_results(found, given.compare)
    if given.output:
        print(f"written to {given.output}/{', replacing the previous result' if replaced else ''}")
    for key in found.without_effect():
        print(_no_effect(key, scenario))
    print_no_repetitions([(point.variant, point.scenario) for point in sweep.points], given.seeds)
    return 0


def _once(compare: list[str] | None) -> str | None:
    """The value of `--compare`, which selects the point that all others are compared with; None without it."""
    if compare and len(compare) > 1:
        raise BadInput(
            f"mptcplab: --compare is given {len(compare)} times ({', '.join(compare)}); give it once. With --output "
            "DIR and --resume, the same command can compare the runs with another point"
        )
    return compare[0] if compare else None


_CHOICES = ("scheduler", "opportunistic_retransmission", "opportunistic_rule", "penalisation", "penalty_rule")
"""Keys that matter only if a flow has a choice of paths."""


def _no_effect(key: str, scenario: Scenario) -> str:
    """Notes that a key changed nothing, with the reason if it is known."""
    from mptcplab.run.sweep_tables import SAME

    message = f"{key} changed no mean by {SAME:.1%} or more"
    if key.rpartition(".")[2] not in _CHOICES:
        return message
    import tomllib

    flows = tomllib.loads(scenario.to_toml())["flows"].values()
    if all(flow.get("bulk") for flow in flows):
        message += (
            ": a bulk flow sends on every path with an open window, so the scheduler has no choice. Blocks at a rate "
            "(mptcplab example call) or a small rcvbuf show the difference"
        )
    return message


def _ready(given: argparse.Namespace) -> bool:
    """Creates the output directory; returns whether it replaces a result."""
    if not given.output:
        return False
    if given.output.suffix.lower() in (".png", ".svg", ".pdf"):
        raise BadInput(
            f"mptcplab: --output {given.output}: must be a directory for tables and figures (sweep.png, sweep.svg, "
            "sweep.pdf)"
        )
    ready(given.output)
    return not given.resume and (given.output / "run.json").is_file()


def _print_results(found: SweepResults, compare: str | None) -> None:
    print(table(found.table()))
    if len(found.seeds) > 1:
        print(
            f"mean of {len(found.seeds)} seeds ± half of its 95% interval (Student's t); to compare points, use "
            "--compare KEY=VALUE, which pairs the seeds"
        )
    else:
        print("one seed, so no interval; use --seeds 10")
    for note in found.notes():
        print(note)
    if compare:
        print()
        print(table(found.compared(compare)))
        print(
            "paired by seed: mean difference with its 95% interval, Cohen's d_z, and p of the paired t test, corrected "
            "by Holm's method"
        )
