"""`mptcplab plot`: draws metrics of a result over time, over the keys of a sweep, or with published values.

Corresponds to mp-plot of the UCL MSc report "Wireless Interference and Multipath TCP" (2013).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import STEP_S, BadInput, add_interval, natural
from mptcplab.cli.figure_options import OPTIONS, add_figure_options, requested
from mptcplab.cli.outputs import Size, add_size, pictures, write_picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from mptcplab.results.read.result_reader import SavedRun

NAME = "plot"
HELP = "draw metrics over time, or over the keys of a sweep"
METRICS = "throughput,cwnd,srtt"
OVER_TIME = ("path", "seed", "interval", "scale")
"""Options of figures over time."""
EXAMPLE = "mptcplab plot sweep --x paths.lte.loss --hue 'flows.*.scheduler' --output figure.pdf"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("result", type=Path, metavar="RESULT", help="result of mptcplab run --output")
    parser.add_argument("--metric", metavar="M1,M2", help="metrics (default: throughput,cwnd,srtt; of sweeps: goodput)")
    parser.add_argument("--flow", metavar="F", help="only this flow (default: all flows together)")
    parser.add_argument("--path", metavar="P", help="only this interface, or `total` (default: each interface)")
    parser.add_argument("--seed", type=natural, metavar="N", help="seed of the run (default: the first)")
    add_interval(parser)
    parser.set_defaults(interval=None)
    parser.add_argument(
        "--scale", action="store_true", help="scale all metrics to 0 to 100 in one panel (utilisation: 80 to 100)"
    )
    parser.add_argument(
        "--published",
        nargs="?",
        const="",
        metavar="STUDY/EXPERIMENT",
        help="draw the published values of an experiment over your runs",
    )
    add_figure_options(parser, None)
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("plot.png"),
        metavar="FILE",
        help=("PNG, SVG or PDF file (default: plot.png)"),
    )
    add_size(parser)


def execute(given: argparse.Namespace) -> int:
    """Draws the figure."""
    output = pictures(given.output)
    from mptcplab.plots.result_plots import plot_metrics
    from mptcplab.results.read.result_reader import load
    from mptcplab.util.user_input import BadResult

    if given.size is not None and given.width is not None:
        raise BadInput("mptcplab: --size and --width both set the width; remove one of them")
    if given.published is not None:
        _check_other(given, "--published", (*OVER_TIME, "metric", "flow", *OPTIONS))
    if any(getattr(given, option) is not None for option in OPTIONS):
        _check_other(given, "a figure over the keys of a sweep", OVER_TIME)
        return _swept(given, output)
    runs = load(given.result)
    chosen = [run for run in runs if given.seed in (None, run.seed)]
    if not chosen:
        seeds = ", ".join(str(run.seed) for run in runs)
        raise BadResult(f"{given.result}: no run with seed {given.seed}; seeds: {seeds or 'none'}")
    if given.published is not None:
        write_picture(_published(chosen, given.published), output, given.size)
        return 0
    metrics = [name.strip() for name in (METRICS if given.metric is None else given.metric).split(",")]
    interval = STEP_S if given.interval is None else given.interval
    first = chosen[0]
    title = f"{first.variant or first.name}, seed {first.seed}: one of {len(runs)} runs" if len(runs) > 1 else ""
    figure = plot_metrics(
        first, metrics, flow=given.flow, path=given.path, interval=interval, scale=given.scale, title=title
    )
    write_picture(figure, output, given.size or _of_width(figure, given.width))
    return 0


def _of_width(figure: Figure, width: float | None) -> Size | None:
    """The size for a width in inches. Narrow figures lose up to 40% of their height; None without a width."""
    if width is None:
        return None
    before, height = figure.get_size_inches()
    return width, float(height * min(1.0, max(0.6, width / before)))


def _check_other(given: argparse.Namespace, other: str, options: Sequence[str]) -> None:
    """Rejects options that another type of figure does not have."""
    for option in options:
        if getattr(given, option) not in (None, False):
            raise BadInput(
                f"mptcplab: --{option} does not apply to {other}, which has its own axes; remove one of them"
            )


def _swept(given: argparse.Namespace, output: Path) -> int:
    """Draws values over the keys of a sweep."""
    from mptcplab.plots.sweep_plot import WIDTH, picture
    from mptcplab.results.read.swept_values import read_swept

    wide, high = given.size or (given.width or WIDTH, None)
    found = read_swept(given.result, given.metric or "goodput", given.flow)
    write_picture(picture(found, requested(given), width=wide, height=high), output)
    return 0


def _published(runs: list[SavedRun], wanted: str) -> Figure:
    """Draws the runs with the published values of an experiment, and prints the labels of these values."""
    from mptcplab.reproduce.published_plot import experiment_of, plot_published
    from mptcplab.studies import all_studies

    known = {f"{study.name}/{one.name}": one for study in all_studies()[0].values() for one in study.experiments}
    experiment = experiment_of(runs, known, wanted)
    figure = plot_published(runs, experiment)
    print(f"{experiment.study}/{experiment.name}: {experiment.title}")
    for one in experiment.published:
        print(f"  {one.label}")
    return figure
