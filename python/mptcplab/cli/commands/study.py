"""`mptcplab study`: shows an experiment of a published study, or writes its scenario files.

A study repeats the experiments of one publication. With the files, you can rerun an experiment with other settings.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, check_study, print_json
from mptcplab.cli.settings import add_set, over

if TYPE_CHECKING:
    from mptcplab.scenario.definition import Scenario
    from mptcplab.studies.base import Experiment, Point, Study

NAME = "study"
HELP = "show an experiment of a published study, or write its scenario files"
EXAMPLE = "mptcplab study cs244-rcvbuf/C1 --output c1"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "experiment", metavar="STUDY/EXPERIMENT", help=("experiment, such as cs244-rcvbuf/C1; see mptcplab list")
    )
    parser.add_argument(
        "--toml",
        action="store_true",
        help="print one scenario as TOML, with all default values written out (see --point)",
    )
    parser.add_argument(
        "--point",
        metavar="NAME",
        help="scenario to print (default: the first multipath scenario that claims use)",
    )
    add_set(parser)
    parser.add_argument("--output", type=Path, metavar="DIR", help="write every scenario to a file in DIR")
    parser.add_argument("--full", action="store_true", help="include all points of reproduce --full")
    parser.add_argument("--json", action="store_true", help="print the list of scenarios as JSON")


def execute(given: argparse.Namespace) -> int:
    """Prints or writes the experiment."""
    if given.point and given.output:
        raise BadInput("mptcplab: --point selects one scenario and --output writes all; remove one of them")
    from mptcplab.studies.base import Effort

    study, experiment = _find(given.experiment)
    found = scenarios_of(experiment, Effort("full" if given.full else "default"))
    if given.toml or given.point:
        name = _chosen(experiment, found, given.point)
        print(over(experiment.mark(found[name][0].scenario), given.set).to_toml(), end="")
        if given.point is None and len(found) > 1:
            print(
                f"scenario {name}, one of {len(found)}; --point NAME selects another, and mptcplab study "
                f"{study.name}/{experiment.name} lists them",
                file=sys.stderr,
            )
        return 0
    if given.json:
        print_json([{"point": name, "seeds": [point.seed for point in points]} for name, points in found.items()])
        return 0
    if given.output:
        _write(given, experiment, found)
        return 0
    print(f"{study.name}/{experiment.name}: {experiment.title}")
    print(textwrap.indent(textwrap.fill(experiment.setup, 96), "  "))
    print(f"  {len(found)} scenarios, {sum(map(len, found.values()))} runs:")
    for name, points in list(found.items())[:40]:
        print(f"    {name}  ({len(points)} seed{'s' if len(points) > 1 else ''})")
    if len(found) > 40:
        print(f"    … and {len(found) - 40} more (--json lists all)")
    print(f"mptcplab study {given.experiment} --output DIR writes them; mptcplab run reproduces the same numbers.")
    return 0


def _find(text: str) -> tuple[Study, Experiment]:
    from mptcplab.studies import all_studies
    from mptcplab.util.user_input import choose, readable

    studies, _ = all_studies()
    name, slash, wanted = readable(text).partition("/")
    check_study(name, studies)
    study = studies[name]
    experiments = {experiment.name: experiment for experiment in study.experiments}
    if not slash:
        raise BadInput(f"mptcplab: {text}: name an experiment, for example {name}/{next(iter(experiments))}")
    return study, experiments[choose(wanted, experiments, "experiment", study.name)]


def scenarios_of(experiment: Experiment, effort: Any) -> dict[str, list[Point]]:
    """The points (each a scenario and a seed) of an experiment, by scenario name."""
    found: dict[str, list[Point]] = {}
    texts: dict[str, str] = {}
    for point in experiment.points(effort):
        name = label = "-".join(_word(part) for part in point.key) or "scenario"
        text, number = point.scenario.to_toml(), 2
        # Different scenarios can have the same key, or keys with the same name: number them.
        while texts.setdefault(name, text) != text:
            name, number = f"{label}-{number}", number + 1
        found.setdefault(name, []).append(point)
    return found


def _word(part: str | float) -> str:
    from mptcplab.util.files import slug

    return slug(f"{part:g}" if isinstance(part, float) else str(part))


def _chosen(experiment: Experiment, found: dict[str, list[Point]], wanted: str | None) -> str:
    """The name of the selected scenario; by default, the first that claims use and has MPTCP over several paths."""
    from mptcplab.util.user_input import choose

    if wanted is not None:
        return choose(wanted, found, "scenario", experiment.name)
    judged = experiment.judged
    fits = [name for name, points in found.items() if judged is None or points[0].key[0] == judged] or list(found)
    return next((name for name in fits if _is_multipath(found[name][0].scenario)), fits[0])


def _is_multipath(scenario: Scenario) -> bool:
    """Whether a flow uses MPTCP over several paths."""
    import tomllib

    tables = tomllib.loads(scenario.to_toml())
    return any(
        flow.get("transport", "mptcp") == "mptcp" and len(flow.get("paths", tables.get("paths", ()))) > 1
        for flow in tables["flows"].values()
    )


def _write(given: argparse.Namespace, experiment: Experiment, found: dict[str, list[Point]]) -> None:
    from mptcplab.util.files import claim, write_text

    target = Path(given.output)
    claim(target)
    for name, points in found.items():
        write_text(target / f"{name}.toml", over(experiment.mark(points[0].scenario), given.set).to_toml())
    seeds = max(points[-1].seed for points in found.values())
    first = next(iter(found))
    print(f"{len(found)} scenarios written to {target}/; their seeds are 1 to {seeds}. For example:")
    print(f"mptcplab run {target}/{first}.toml")
