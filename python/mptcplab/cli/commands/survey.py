"""`mptcplab survey`: compares MPTCP with plain TCP over its best path on generated networks.

The many networks show where a policy (scheduler, congestion control) is slower than TCP, which a few chosen scenarios
would miss. Owns arguments and output; the package `survey` measures.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import (
    BadInput,
    RunFailed,
    add_workers,
    at_most,
    duration,
    list_of,
    natural,
    print_json,
    rate,
    size,
    table,
)
from mptcplab.cli.executors import add_executor, chosen_executor
from mptcplab.cli.outputs import ready

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.survey.measure import Measured, Policy

NAME = "survey"
HELP = "compare MPTCP with plain TCP over the best path on generated networks"
EXAMPLE = "mptcplab survey --networks 400 --policy default --policy historical --policy cubic"
SHOWN = 3
"""Worst networks that are printed for each policy."""
_SHARES = ("share", "least", "most", "of_historical", "of_tcp", "to_others", "on_free")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "--networks", type=at_most(100_000), default=100, metavar="N", help="number of networks (default: 100)"
    )
    parser.add_argument(
        "--seed", type=natural, default=1, metavar="N", help=("seed of the generated networks (default: 1)")
    )
    parser.add_argument(
        "--kind",
        action="append",
        metavar="KIND",
        help="type of network (default: bulk)",
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="policy to test, such as default or cubic+minrtt; repeatable (default: default)",
    )
    parser.add_argument(
        "--seeds",
        type=at_most(1000),
        default=5,
        metavar="N",
        help="maximum runs per network with random events (default: 5)",
    )
    parser.add_argument(
        "--hunt",
        type=duration,
        metavar="TIME",
        help="search for the worst network for this long",
    )
    load = parser.add_mutually_exclusive_group()
    load.add_argument(
        "--files",
        type=list_of(size),
        metavar="SIZES",
        help="measure the completion time of files of these sizes, such as 10kB,1MB",
    )
    load.add_argument(
        "--blocks",
        type=list_of(rate),
        metavar="RATES",
        help="latency of 8 KiB blocks after the first 5 s, at rates such as 1Mbit,5Mbit",
    )
    load.add_argument(
        "--shared",
        action="store_true",
        help="share a bottleneck with 1 to 10 TCP flows; check RFC 6356's three goals",
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="write the table, figures and the worst networks to DIR"
    )
    parser.add_argument("--json", action="store_true", help="print the results of each policy as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    parser.add_argument_group(
        "types of networks",
        "bulk, burst, jitter, competing, reorder, short, managed, asymmetric, changing, far, lossy, fading, steps",
    )
    add_workers(parser)
    add_executor(parser)


def execute(given: argparse.Namespace) -> int:
    """Runs the survey and prints the results."""
    from mptcplab.survey.networks import KINDS
    from mptcplab.survey.policies import policy

    kind, *others = given.kind or ["bulk"]
    if others:
        raise BadInput(f"mptcplab: --kind is given several times ({', '.join([kind, *others])}); give one kind")
    if kind not in KINDS:
        raise BadInput(f"mptcplab: --kind {kind!r}: unknown; choose from {', '.join(KINDS)}")
    policies = [policy(name) for name in dict.fromkeys(given.policy or ["default"])]
    if given.output:
        ready(given.output)
    if given.shared and not given.policy:
        policies.append(policy("historical"))
    how = _shared if given.shared else _search_worst if given.hunt is not None else _goodput
    if how is _goodput and (given.files or given.blocks):
        how = _short
    try:
        with chosen_executor(given) as executor:
            given.where = {"workers": given.workers, "executor": executor}
            return how(given, kind, policies)
    except RuntimeError as error:
        raise RunFailed(str(error)) from error


def _goodput(given: argparse.Namespace, kind: str, policies: list[Policy]) -> int:
    from mptcplab.run.batch import Interrupted, Unfinished
    from mptcplab.survey import networks, report, survey_plots
    from mptcplab.survey.measure import survey

    drawn = [networks.draw(given.seed, number, kind) for number in range(given.networks)]
    measured: list[Measured] = []
    try:
        measured.extend(survey(drawn, policies, seeds=given.seeds, quiet=given.quiet, **given.where))
    except (Interrupted, Unfinished) as cause:
        if given.output and measured:
            report.save(measured, given.output)
            _draw(survey_plots.goodputs(measured), given.output / "survey")
        finished = len(measured) // len(policies)
        kept = f"; {finished} finished networks are in {given.output}/" if given.output and measured else ""
        if isinstance(cause, Unfinished):
            raise RunFailed(f"{cause.reason} (after {finished} of {given.networks} networks{kept})") from cause
        raise KeyboardInterrupt(f"interrupted after {finished} of {given.networks} networks{kept}") from None
    of = {one.name: [each for each in measured if each.policy.name == one.name] for one in policies}
    figures = {name: report.distribution(own) for name, own in of.items()}
    if given.output:
        report.save(measured, given.output)
        _draw(survey_plots.goodputs(measured), given.output / "survey")
    if given.json:
        print_json([{"policy": name, **figures[name]} for name in of])
        return 0
    print(
        f"{given.networks} networks ({networks.KINDS[kind]}), seed {given.seed}; values: goodput divided by that of "
        "plain TCP over the best path"
    )
    relative = ["median / aggregate", "unconstrained", "median / upper bound"]
    rows = [["policy", "< 0.95", "< 0.8", "< 0.5", "worst", "median", *relative]]
    rows += [
        [
            name,
            *(str(one[f"below_{line:g}"]) for line in report.LINES),
            *(f"{one[key]:.3f}" for key in ("worst", "median", "median_of_sum")),
            f"{one['median_of_sum_roomy']:.3f} ({one['roomy']})" if one["roomy"] else "-",
            f"{one['median_of_oracle']:.3f}",
        ]
        for name, one in figures.items()
    ]
    print(table(rows))
    if any(one.after for one in measured):
        rows = [["policy", "< 0.8 after a change", "minimum", "silent > 2 s", "longest", "recovered path unused > 3 s"]]
        for name, counts in figures.items():
            least, longest = f"{counts['least']:.3f}", f"{counts['longest_silence']:.1f} s"
            below, silent, unused = (str(counts[key]) for key in ("least_below_0.8", "silent", "left_unused"))
            rows.append([name, below, least, silent, longest, unused])
        print(table(rows))
    for name, own in of.items():
        print(f"\nWorst networks for {name}:")
        for one in sorted(own, key=lambda each: each.least)[:SHOWN]:
            _show(one)
    return 0


def _search_worst(given: argparse.Namespace, _kind: str, policies: list[Policy]) -> int:
    from mptcplab.survey import report
    from mptcplab.survey.worst_case import search_worst

    found: list[Measured] = []
    for policy in policies:
        print(f"Worst network for {policy.name} so far:")
        one = None
        for one in search_worst(policy, given.hunt, seed=given.seed, seeds=given.seeds, **given.where):
            _show(one)
        found += [] if one is None else [one]
    if given.output:
        report.save(found, given.output)
    return 0


def _short(given: argparse.Namespace, kind: str, policies: list[Policy]) -> int:
    from mptcplab.survey import networks, report, survey_plots
    from mptcplab.survey.short_flows import LATE, OPENING_S, Load, short

    drawn = [networks.draw(given.seed, number, kind) for number in range(given.networks)]
    loads = [Load(file=one) for one in given.files or ()] + [Load(rate=one) for one in given.blocks or ()]
    timed = list(short(drawn, policies, loads, seeds=given.seeds, quiet=given.quiet, **given.where))
    if given.output:
        report.save_times(timed, given.output)
    figures = report.times(timed)
    if given.output and any(one["networks"] for one in figures):
        _draw(survey_plots.times(timed), given.output / "short")
    if given.json:
        print_json(figures)
        return 0
    blocks = f"99th percentile of the latency of 8 KiB blocks after the first {OPENING_S:g} s"
    took = "completion time" if given.files else blocks
    print(f"{given.networks} networks (links as in {kind}), seed {given.seed}; {took}, divided by that of plain TCP")
    late = [f"> {LATE:g}", "infeasible", "join delay", "option overhead"]
    rows = [["policy", "load", "plain TCP on", "networks", "not measured", "median", *late, "worst"]]
    rows += [
        [one["policy"], one["load"], one["beside"], str(one["networks"]), str(one["not_measured"])]
        + (
            [
                _ratio(one["median"]),
                *(str(one[key]) for key in ("late", "excused", "join", "with_options")),
                _ratio(one["worst"]),
            ]
            if one["networks"]
            else ["-"] * 6
        )
        for one in figures
    ]
    print(table(rows))
    print(
        "infeasible: no sender could be faster. Join delay: plain TCP that starts after the join takes as long. Option "
        "overhead: the bytes of the MPTCP options alone explain the delay"
    )
    return 0


def _shared(given: argparse.Namespace, kind: str, policies: list[Policy]) -> int:
    from mptcplab.survey import report, shared_bottleneck, survey_plots

    if kind != "bulk" or given.hunt is not None:
        raise BadInput("mptcplab: --shared generates its own bottlenecks; remove --kind and --hunt")
    drawn = [shared_bottleneck.draw(given.seed, number) for number in range(given.networks)]
    found = list(shared_bottleneck.shares(drawn, policies, seeds=given.seeds, quiet=given.quiet, **given.where))
    if given.output:
        report.save_shares(found, given.output)
        _draw(survey_plots.shares(found), given.output / "shared")
    figures = report.friendliness(found)
    if given.json:
        print_json(figures)
        return 0
    print(
        f"{given.networks} bottlenecks (10-50 Mb/s, 20-100 ms, 30-200 packets) with 1 to 10 competing TCP flows, seed "
        f"{given.seed}; share, minimum and maximum: goodput divided by the mean of the competing TCP flows"
    )
    goals = ["goal 1", "goal 2", "goal 3"]
    rows = [["policy", "share", "minimum", "maximum", "share / historical", *goals]]
    rows += [[one["policy"], *("-" if one[key] is None else f"{one[key]:.2f}" for key in _SHARES)] for one in figures]
    print(table(rows))
    print(
        "Goal 1: goodput divided by that of TCP in place of MPTCP. Goal 2: goodput of the competing flows divided by "
        "that with TCP in place of MPTCP. Goal 3: share of the bytes on the less congested of two bottlenecks"
    )
    return 0


def _draw(figure: Figure, path: Path) -> None:
    """Writes PNG and SVG."""
    from mptcplab.plots import figure_style
    from mptcplab.util.files import write_bytes

    for suffix, picture in zip((".svg", ".png"), figure_style.both(figure), strict=True):
        write_bytes(path.with_suffix(suffix), picture)


def _ratio(value: float) -> str:
    """A ratio of times; `never` if only plain TCP finished."""
    return "never" if math.isinf(value) else f"{value:.3f}"


def _show(one: Measured) -> None:
    from mptcplab.survey.report import sentence

    print(f"  {sentence(one)}\n    {one.network.name}: {one.network}")
