"""`mptcplab sweep`: a scenario with every combination of some values."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import (
    BadInput,
    RunFailed,
    add_backend,
    add_workers,
    check_backend,
    natural,
    no_repetitions,
    positive,
    print_json,
    table,
)
from mptcplab.cli.common import seeds as all_seeds
from mptcplab.cli.outputs import ready
from mptcplab.cli.settings import add_set, over, variations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mptcplab.run.sweep_tables import Found
    from mptcplab.scenario.definition import Scenario

NAME = "sweep"
HELP = "run a scenario with every combination of some values"
EXAMPLE = (
    "mptcplab sweep two.toml --vary paths.lte.loss=0%,1%,5% --vary 'flows.*.scheduler=minrtt,ontime' --seeds 10 "
    "--compare 'flows.*.scheduler=minrtt'"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a scenario file")
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="KEY=V1,V2",
        help="a key of the scenario and its values; repeat it for every combination of several. * in a key stands for "
        "all, braces for several, in quotes: 'flows.*.{rcvbuf,sndbuf}=100KB,1MB' changes both together",
    )
    add_set(parser)
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="seeds for each point (default: 1)")
    parser.add_argument(
        "--metric",
        default="goodput",
        metavar="M1,M2",
        help="columns of flows.parquet to print, such as goodput,completion_s,limit_scheduler (default: goodput)",
    )
    parser.add_argument(
        "--compare",
        action="append",
        metavar="KEY=VALUE",
        help="say for each point how it differs from the one with this value, seed by seed",
    )
    parser.add_argument("--x", metavar="KEY", help="the key along the axis of the figure (default: the first --vary)")
    parser.add_argument("--facet", metavar="KEY", help="draw a panel for each value of this key")
    parser.add_argument(
        "--draw",
        choices=("lines", "box", "cdf"),
        default="lines",
        help="means, boxes or CDFs (default: lines)",
    )
    add_workers(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", help="write tables and a figure there, as they come")
    parser.add_argument("--resume", action="store_true", help="go on with the unfinished sweep in DIR")
    parser.add_argument("--json", action="store_true", help="print JSON: a list with an entry for each point")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    add_backend(parser)


def execute(given: argparse.Namespace) -> int:
    """Runs all points."""
    check_backend(given.backend)
    given.compare = _once(given.compare)
    if given.resume and not given.output:
        raise BadInput("mptcplab: --resume goes on in --output DIR; name the directory of the unfinished sweep")
    from mptcplab import ScenarioError
    from mptcplab.results.text.flow_metrics import metrics
    from mptcplab.run.batch import Interrupted
    from mptcplab.run.sweep_tables import OBSERVED, Found
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
    axes = _axes(given, vary)
    replaced = _ready(given)
    if given.compare:
        Found.check_reference(vary, given.compare)
    found = Found(sweep, wanted)
    try:
        sweep.run(given.output, found.take, resume=given.resume, workers=given.workers, quiet=given.quiet)
    except Interrupted as interrupt:
        if given.output:
            where = f"{interrupt}; they are in {given.output}/, and --resume goes on with the rest"
            raise KeyboardInterrupt(where) from None
        raise
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if given.output:
        _draw(found, given.output, scenario.name, {**axes, "draw": given.draw})
    if given.json:
        print_json(found.documents(given.compare))
        return 0
    _tell(found, given.compare)
    if given.output:
        print(f"written to {given.output}/{', in place of the result that was there' if replaced else ''}")
    for key in found.without_effect():
        print(_no_effect(key, scenario))
    notes = {no_repetitions(point.scenario, given.seeds) for point in sweep.points}
    if None not in notes:
        print(notes.pop())
    return 0


def _once(compare: list[str] | None) -> str | None:
    """The point that others are compared with."""
    if compare and len(compare) > 1:
        raise BadInput(
            f"mptcplab: --compare: must be given once, and not {len(compare)} times ({', '.join(compare)}); keep the "
            "runs with --output DIR, and compare them with another point by the same command with --resume"
        )
    return compare[0] if compare else None


_CHOICES = ("scheduler", "opportunistic_retransmission", "opportunistic_rule", "penalisation", "penalty_rule")
"""Keys that decide only where a flow has a choice."""


def _no_effect(key: str, scenario: Scenario) -> str:
    """That a key changed nothing, and why that is so where it is known."""
    from mptcplab.run.sweep_tables import SAME

    said = f"{key} changed no mean by {SAME:.1%} or more"
    if key.rpartition(".")[2] not in _CHOICES:
        return said
    import tomllib

    flows = tomllib.loads(scenario.to_toml())["flows"].values()
    if all(flow.get("bulk") for flow in flows):
        said += (
            ": a bulk flow sends on every path whose window has room, so that a scheduler has nothing to choose; "
            "blocks at a rate show schedulers apart (mptcplab example call), and so does a small rcvbuf"
        )
    return said


def _ready(given: argparse.Namespace) -> bool:
    """Makes the directory of the result; whether one stands there that is replaced."""
    if not given.output:
        return False
    if given.output.suffix.lower() in (".png", ".svg", ".pdf"):
        raise BadInput(
            f"mptcplab: --output {given.output}: must be a directory, for tables and figures; sweep.png, sweep.svg and "
            "sweep.pdf are written into it"
        )
    ready(given.output)
    return not given.resume and (given.output / "run.json").is_file()


def _axes(given: argparse.Namespace, vary: Mapping[str, object]) -> dict[str, str]:
    """The keys that a person chose for the figure."""
    from mptcplab.util.user_input import choose

    asked = {name: key for name in ("x", "facet") if (key := given.__dict__[name])}
    axes = {name: choose(key, vary, "key of --vary", f"--{name}") for name, key in asked.items()}
    if len(axes) == 2 and axes["x"] == axes["facet"]:
        raise BadInput(f"mptcplab: --x and --facet must be different keys, and both are {given.x}")
    return axes


def _tell(found: Found, compare: str | None) -> None:
    print(table(found.table()))
    if len(found.seeds) > 1:
        print(
            f"mean of {len(found.seeds)} seeds ± half of its 95 % interval (Student's t); intervals that overlap say "
            "little: --compare KEY=VALUE compares seed by seed"
        )
    else:
        print("one seed: no interval; --seeds 10 gives one")
    for note in found.notes():
        print(note)
    if compare:
        print()
        print(table(found.compared(compare)))
        print(
            "paired by seed: the mean difference with its 95 % interval, p of Student's paired t test, and Cohen's "
            "d_z, the difference in units of its own spread"
        )


def _draw(found: Found, output: Path, title: str, how: dict[str, str]) -> None:
    from mptcplab.plots import figure_style
    from mptcplab.plots.sweep_plot import picture
    from mptcplab.util.files import write_bytes

    figure: Any = picture(found, title, **how)
    lines, dots = figure_style.both(figure)
    write_bytes(output / "sweep.png", dots)
    write_bytes(output / "sweep.svg", lines)
    write_bytes(output / "sweep.pdf", figure_style.pdf(figure))
