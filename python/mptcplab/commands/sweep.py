"""`mptcplab sweep`: a scenario with every combination of some values."""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.commands.common import (
    BadInput,
    RunFailed,
    add_backend,
    add_workers,
    check_backend,
    check_runs,
    natural,
    positive,
    print_json,
    table,
)
from mptcplab.commands.common import seeds as all_seeds

if TYPE_CHECKING:
    from mptcplab.results import Runs
    from mptcplab.statistics import Estimate

NAME = "sweep"
HELP = "run a scenario with every combination of some values"
EXAMPLE = "mptcplab sweep handoff.toml --vary paths.wifi.loss=0%%,1%%,5%% --seeds 20"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a scenario file")
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="KEY=V1,V2",
        help="a key of the scenario and its values; repeat it for every combination of several",
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="seeds for each point (default: 1)")
    add_workers(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", help="write tables and a figure there")
    parser.add_argument("--json", action="store_true", help="print JSON: a list with an entry for each point")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    add_backend(parser)


def execute(given: argparse.Namespace) -> int:
    """Runs all points."""
    check_backend(given.backend)
    from mptcplab.batch import Interrupted, Job, run_jobs
    from mptcplab.scenario import Scenario

    scenario = Scenario.load(given.file)
    vary = dict(_parse(text) for text in given.vary)
    seeds = all_seeds(given)
    check_runs(scenario, math.prod(map(len, vary.values())) * len(seeds))
    points = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    jobs = []
    for point in points:
        variant = ", ".join(f"{key}={value}" for key, value in point.items())
        core = scenario.vary(point).core
        jobs += [Job(core, seed, variant) for seed in seeds]
    try:
        runs = run_jobs(jobs, workers=given.workers, quiet=given.quiet, label="sweep")
    except Interrupted as interrupt:
        if given.output:
            interrupt.finished.save(given.output)
        raise
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    rates = [_goodputs(runs[at : at + given.seeds]) for at in range(0, len(runs), given.seeds)]
    if given.output:
        _save(runs, vary, points, rates, given.output)
    if given.json:
        print_json(
            [
                {
                    "point": point,
                    "seeds": given.seeds,
                    "goodput_mbps": {
                        flow: {"mean": value.mean, "half_width": value.half_width} for flow, value in of.items()
                    },
                }
                for point, of in zip(points, rates, strict=True)
            ]
        )
        return 0
    flows = list(rates[0])
    rows = [[*vary, *(f"{flow} [Mb/s]" for flow in flows)]]
    rows += [[*point.values(), *(str(of[flow]) for flow in flows)] for point, of in zip(points, rates, strict=True)]
    print(table(rows))
    return 0


def _parse(text: str) -> tuple[str, list[str]]:
    from mptcplab.inputs import readable

    key, equals, values = readable(text).partition("=")
    chosen = [value.strip() for value in values.split(",")]
    if not equals or not key.strip() or not all(chosen):
        raise BadInput(f"--vary {text}: write KEY=VALUE,VALUE, for example paths.wifi.loss=0%,1%,5%")
    return key.strip(), chosen


def _goodputs(runs: Runs) -> dict[str, Estimate]:
    from mptcplab.statistics import estimate

    names = runs[0].flow_names[:10]
    return {name: estimate(run.flow(name)["goodput"] / 1e6 for run in runs) for name in names}


def _save(
    runs: Runs,
    vary: dict[str, list[str]],
    points: Sequence[dict[str, str]],
    rates: Sequence[dict[str, Estimate]],
    output: Path,
) -> None:
    """Tables of all runs, and a figure over the first key with a line for each of the rest."""
    from mptcplab import plots
    from mptcplab.files import write_bytes

    runs.save(output)
    first = next(iter(vary))
    lines: dict[str, list[Estimate]] = {}
    for point, of in zip(points, rates, strict=True):
        rest = ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in point.items() if key != first)
        for flow, value in of.items():
            label = ", ".join(part for part in (flow if len(of) > 1 else "", rest) if part) or flow
            lines.setdefault(label, []).append(value)
    with plots.house_style():
        figure, (axes,) = plots.new_figure()
        for label, look in plots.looks(list(lines)).items():
            values = lines[label]
            places = list(range(len(values)))
            spread = [value.half_width for value in values]
            plots.curve(axes, places, [value.mean for value in values], label, look, spread=spread)
        axes.set_xticks(range(len(vary[first])), vary[first])
        plots.finish(axes, x=first, y="goodput [Mb/s]", title=runs[0].name)
    write_bytes(output / "sweep.png", plots.png(figure))
    write_bytes(output / "sweep.svg", plots.svg(figure))
