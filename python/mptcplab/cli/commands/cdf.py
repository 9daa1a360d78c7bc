"""`mptcplab cdf`: draws distributions of a metric by interface or flow, to compare results with each other.

Corresponds to mp-cdf of the UCL MSc report "Wireless Interference and Multipath TCP" (2013). `select` uses `samples`
and `draw`, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput, add_interval, duration, print_json
from mptcplab.cli.outputs import add_size, pictures, write_picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mptcplab.results.read.result_reader import SavedRun

    Groups = Mapping[str, Mapping[str, NDArray[np.float64]]]

NAME = "cdf"
HELP = "draw distributions of a metric, one curve per interface or flow"
EXAMPLE = "mptcplab cdf results:wifi results:3g other:total --metric throughput"

MOST_CURVES = 12
QUARTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "curves",
        nargs="+",
        metavar="DIR:PATH",
        help="result and interface, `total`, or flow (metrics latency and completion_s)",
    )
    add_distribution(parser)


def add_distribution(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of commands that draw distributions."""
    parser.add_argument("--metric", default="throughput", metavar="M", help="metric to draw (default: throughput)")
    add_interval(parser)
    parser.add_argument(
        "--warmup",
        type=duration,
        metavar="TIME",
        help="exclude samples before this time (default: the scenario's warm-up)",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("cdf.png"), metavar="FILE", help="PNG, SVG or PDF file (default: cdf.png)"
    )
    add_size(parser)
    parser.add_argument("--json", action="store_true", help="print quantiles as JSON")


def execute(given: argparse.Namespace) -> int:
    """Draws one curve per argument and sweep point."""
    pictures(given.output)
    from mptcplab.results.read.result_reader import load
    from mptcplab.util.user_input import readable

    curves: dict[str, tuple[str, str]] = {}
    for curve in given.curves:
        directory, colon, path = curve.rpartition(":")
        if not colon or not directory or not path:
            raise BadInput(f"mptcplab: {curve!r}: write {_names(curve.rstrip(':'), given.metric)}")
        curves[readable(f"{Path(directory).name} {path}")] = directory, path
    found: dict[str, dict[str, NDArray[np.float64]]] = {name: {} for name in curves}
    for directory in dict.fromkeys(directory for directory, _ in curves.values()):
        names = [name for name, (where, _) in curves.items() if where == directory]
        runs = load(directory)
        variants = list(dict.fromkeys(run.variant for run in runs))
        if len(variants) * len(curves) > MOST_CURVES:
            raise BadInput(
                f"mptcplab: {directory} has {len(variants)} sweep points, but a figure shows at most {MOST_CURVES} "
                "curves; sweep fewer points, or use sweep --draw cdf"
            )
        for variant in variants:
            of = samples(given, [run for run in runs if run.variant == variant], [curves[name][1] for name in names])
            for name, values in zip(names, of, strict=True):
                label = f"{name}, {short(variant)}" if len(variants) > 1 else name
                found[name][label] = values
    return draw(given, {"": {label: values for own in found.values() for label, values in own.items()}})


def _names(directory: str, metric: str) -> str:
    """The form of an argument for this metric, with names of the result as examples."""
    from mptcplab.results.read.result_reader import load
    from mptcplab.stats.analysis import OF_FLOWS
    from mptcplab.util.files import BadFile
    from mptcplab.util.user_input import BadResult

    try:
        run = load(directory)[0]
    except (BadResult, BadFile, OSError):
        return "DIR:PATH, for example results:wifi"
    of_flows = metric in OF_FLOWS
    what = "flow" if of_flows else "path"
    names = list(run.flows) if of_flows else [*run.paths, "total"]
    form, written = "DIR:FLOW" if of_flows else "DIR:PATH", ", ".join(f"{directory}:{name}" for name in names[:10])
    return f"{form}, because {metric} is measured per {what}: {written}"


def short(variant: str) -> str:
    """The name of a sweep point, with only the last part of each key."""
    return ", ".join(part.rsplit(".", 1)[-1] for part in variant.split(", "))


def samples(given: argparse.Namespace, runs: Iterable[SavedRun], paths: Sequence[str]) -> list[NDArray[np.float64]]:
    """The samples of the metric in all runs, one array per interface or flow; reads each run once."""
    import numpy as np

    from mptcplab.stats import analysis
    from mptcplab.stats.analysis import OF_FLOWS

    parts: list[list[NDArray[np.float64]]] = [[] for _ in paths]
    for run in runs:
        for mine, path in zip(parts, paths, strict=True):
            if given.metric in OF_FLOWS:
                mine.append(analysis.of_flow(run, given.metric, path, warmup=given.warmup))
                continue
            mine.append(analysis.values(run, given.metric, path, interval=given.interval, warmup=given.warmup))
    return [np.concatenate(mine) if mine else np.zeros(0) for mine in parts]


def draw(given: argparse.Namespace, groups: Groups) -> int:
    """Writes the figure and prints the quantiles."""
    from mptcplab.plots.result_plots import plot_distributions
    from mptcplab.stats.analysis import unit
    from mptcplab.stats.statistics import quantile
    from mptcplab.util.user_input import BadResult

    empty = [name for members in groups.values() for name, values in members.items() if not values.size]
    if empty:
        raise BadResult(f"{empty[0]}: no samples of {given.metric} after the warm-up")
    figure = plot_distributions(groups, given.metric)
    if given.json:
        from contextlib import redirect_stdout
        from io import StringIO

        with redirect_stdout(StringIO()):
            write_picture(figure, given.output, given.size)
        print_json(
            [
                {
                    "group": group,
                    "curve": name,
                    "metric": given.metric,
                    "unit": unit(given.metric),
                    "samples": int(values.size),
                    "mean": float(values.mean()),
                    "quantiles": {f"{share:g}": quantile(values, share) for share in QUARTILES},
                }
                for group, members in groups.items()
                for name, values in members.items()
            ]
        )
        return 0
    for group, members in groups.items():
        if group:
            print(group)
        for name, values in members.items():
            low, middle, high = (quantile(values, share) for share in (0.05, 0.5, 0.95))
            print(
                f"{'  ' if group else ''}{name}: median {middle:.3g} {unit(given.metric)}, 5 to 95% {low:.3g} to "
                f"{high:.3g}, {values.size} samples"
            )
    write_picture(figure, given.output, given.size)
    return 0
