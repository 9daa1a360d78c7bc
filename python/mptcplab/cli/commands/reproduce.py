"""`mptcplab reproduce`: runs the published studies and checks their claims.

A study repeats the experiments of one publication. Each claim of the publication gets a verdict, such as *holds*. A
record of verdicts shows later whether a change of mptcplab changes one of them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mptcplab.cli.common import (
    BadInput,
    RunFailed,
    add_backend,
    add_workers,
    at_most,
    check_backend,
    check_study,
    positive,
    print_json,
)
from mptcplab.cli.executors import add_executor, chosen_executor
from mptcplab.cli.outputs import need_pictures
from mptcplab.util.git_commit import commit
from mptcplab.util.user_input import choose, readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from mptcplab.reproduce.runner import Reproduction
    from mptcplab.studies.base import Effort, Study

NAME = "reproduce"
HELP = "run the published studies, check their claims, and write a report"
EXAMPLE = "mptcplab reproduce cs244-rcvbuf --output report"
GROUP = "literature"
"""The argument that selects all studies of `studies.LITERATURE`."""
MOST_SEEDS = 1000
"""Maximum seeds per point. Each run stays in memory (about 0.1 MB) until all runs are judged."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "studies",
        nargs="*",
        metavar="STUDY[/EXPERIMENT]",
        help="study or experiment (cs244-rcvbuf/C1), or `literature` (default: five studies)",
    )
    add_workers(parser)
    add_executor(parser)
    parser.add_argument(
        "--output", type=Path, default=Path("report"), metavar="DIR", help=("report directory (default: report)")
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick", action="store_true", help="use coarser grids and fewer seeds, and write no PNGs or panels"
    )
    effort.add_argument("--full", action="store_true", help="use finer grids and more seeds")
    parser.add_argument("--seeds-from", type=positive, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument(
        "--seeds",
        type=at_most(MOST_SEEDS),
        metavar="N",
        help="run exactly N seeds per point, and no further ones for undecided claims",
    )
    record = parser.add_mutually_exclusive_group()
    record.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help=("compare with the verdicts in FILE; the exit code is 1 if one differs"),
    )
    record.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write the verdicts to FILE; with --mutate, the failed claims",
    )
    parser.add_argument(
        "--mutate",
        metavar="NAME",
        help="plant the error NAME into every scenario; `all` plants each error in turn",
    )
    parser.add_argument("--because", default="", metavar="TEXT", help="reason why recorded verdicts change")
    parser.add_argument("--json", action="store_true", help="also print facts.json")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")
    add_backend(parser)


def execute(given: argparse.Namespace) -> int:
    """Runs the studies and writes the report."""
    check_backend(given.backend)
    need_pictures()
    from mptcplab.plots.parallel_drawing import DrawingPool
    from mptcplab.reproduce import verdict_record
    from mptcplab.reproduce.report import dotted, facts_rows, write_report
    from mptcplab.reproduce.runner import reproduce
    from mptcplab.studies import LITERATURE, all_studies
    from mptcplab.studies.base import Effort
    from mptcplab.util.files import claim

    studies, problems = all_studies()
    given.studies = [name for text in given.studies for name in (LITERATURE if text == GROUP else [text])]
    for wanted in (text.partition("/")[0] for text in given.studies):
        if wanted in problems:
            raise BadInput(problems[wanted])
        check_study(wanted, studies)
    for problem in problems.values():
        print(problem, file=sys.stderr)
    chosen = _chosen(studies, given.studies)
    if (given.compare or given.record) and any("/" in text for text in given.studies):
        raise BadInput("mptcplab: records need whole studies; remove /EXPERIMENT, or remove --compare and --record")
    name: Literal["quick", "default", "full"] = "quick" if given.quick else "full" if given.full else "default"
    effort = Effort(name, first=given.seeds_from, exactly=given.seeds)
    if given.compare:
        verdict_record.require_effort(
            given.compare, verdict_record.read(given.compare), effort.name, [study.name for study in chosen]
        )
    if given.mutate:
        with chosen_executor(given) as executor:
            return _mutate(given, chosen, effort, executor)
    claim(given.output)
    with chosen_executor(given) as executor, DrawingPool(given.workers, dots=dotted(effort)) as studio:
        try:
            found = reproduce(
                chosen,
                effort,
                workers=given.workers,
                executor=executor,
                quiet=given.quiet,
                settled=lambda outcome: studio.take(outcome.figures),
            )
        except RuntimeError as error:
            raise RunFailed(str(error)) from error
        if found.outcomes:
            write_report(found, given.output, studio.finish())
    if given.json:
        print_json(facts_rows(found))
    elif not given.quiet:
        _print_results(found, given.output)
    _require_all(found, given.output)
    return _keep(given, found)


def _require_all(found: Reproduction, output: Path) -> None:
    """Raises an error if experiments are missing in the report."""
    if found.problem:
        raise RunFailed(f"{found.problem}; {found.missing} experiments are missing in {output}/")
    if found.missing:
        raise KeyboardInterrupt(f"interrupted; {found.missing} experiments are missing in {output}/")


def _chosen(studies: Mapping[str, Study], wanted: Sequence[str]) -> list[Study]:
    """The selected studies with their experiments; without a selection, those that run by default."""
    from mptcplab.studies import studies_by_default

    if not wanted:
        return list(studies_by_default(studies).values())
    experiments: dict[str, list[str]] = {}
    for text in wanted:
        name, slash, experiment = readable(text).partition("/")
        known = [one.name for one in studies[name].experiments]
        own = [choose(experiment, known, "experiment", name)] if slash else known
        experiments.setdefault(name, []).extend(own)
    return [
        replace(study, experiments=[one for one in study.experiments if one.name in experiments[name]])
        for name, study in studies.items()
        if name in experiments
    ]


def _mutate(given: argparse.Namespace, chosen: Sequence[Study], effort: Effort, executor: Executor | None) -> int:
    """Plants each error (mutant) into the scenarios, and prints the claims that then fail.

    Claims are judged with the same seeds with and without the mutant.
    """
    from mptcplab.reproduce import sensitivity, verdict_record
    from mptcplab.reproduce.mutants import MUTANTS, concerned, table, turned
    from mptcplab.reproduce.runner import reproduce

    if given.mutate != "all" and given.mutate not in MUTANTS:
        raise BadInput(f"mptcplab: unknown mutant {given.mutate!r}; choose from: all, {', '.join(MUTANTS)}")
    judged = partial(reproduce, workers=given.workers, executor=executor, quiet=given.quiet)
    names = list(MUTANTS) if given.mutate == "all" else [given.mutate]
    if given.compare:
        kept = verdict_record.read(given.compare)
        asked = (effort.first, effort.exactly)
        for study in chosen:
            how = kept["studies"].get(study.name, {})
            if (how.get("seeds_from"), how.get("seeds")) != asked:
                raise BadInput(
                    f"{given.compare}: {study.name} is not recorded with these seeds (--seeds-from {effort.first}"
                    f"{f' --seeds {effort.exactly}' if effort.exactly else ''}); remove --compare"
                )
        known = kept["facts"]
        chosen_names = {study.name for study in chosen}
        before = {name: row["verdict"] for name, row in known.items() if row["study"] in chosen_names}
    else:
        plain = judged(chosen, effort)
        before = {fact.fact: fact.verdict for fact in plain.facts}
    # A claim that does not hold without the mutant needs no further seeds.
    held = [name for name, verdict in before.items() if verdict == "holds"]
    found: dict[str, dict[str, str]] = {}
    for name in names:
        change = MUTANTS[name].change()
        some = concerned(chosen, change, effort)
        result = judged(some, effort, change=change, about=held)
        if result.problem:
            raise RunFailed(result.problem)
        if result.missing:
            raise KeyboardInterrupt("interrupted")
        found[name] = turned(before, result.facts)
        if given.record:
            seeds = {"seeds": effort.exactly} if effort.exactly else {}
            how = {"effort": effort.name, "seeds_from": effort.first, **seeds}
            sensitivity.keep(given.record, how, before, {name: found[name]})
    print(table(before, found), end="")
    return 0


def _keep(given: argparse.Namespace, found: Reproduction) -> int:
    """Writes the record of verdicts, or compares the verdicts with it; returns 1 if one differs.

    A claim that does not hold is a result, not an error.
    """
    from mptcplab.reproduce import verdict_record
    from mptcplab.studies import STUDIES

    if given.record:
        headers = {
            study.name: {
                "effort": found.effort.name,
                "seeds_from": found.effort.first,
                **({"seeds": found.effort.exactly} if found.effort.exactly else {}),
                "commit": commit(),
                "runs": found.runs_of(study),
            }
            for study in found.studies
        }
        for change in verdict_record.write(given.record, found.facts, headers, given.because):
            print(f"changed: {change}")
    if not given.compare:
        return 0
    known = verdict_record.read(given.compare)
    changed = verdict_record.differences(known, found.facts)
    for change in changed:
        print(f"verdict changed: {change}", file=sys.stderr)
    bounds = [
        *verdict_record.too_wide(verdict_record.rows(fact for fact in found.facts if fact.study in STUDIES)),
        *verdict_record.other_bounds(known, found.facts),
    ]
    for problem in bounds:
        print(f"bound: {problem}", file=sys.stderr)
    if changed:
        print(
            f"If the change is intended, run: mptcplab reproduce --record {given.compare} --because 'reason', with the "
            "same --quick, --full or --seeds",
            file=sys.stderr,
        )
    return 1 if changed or bounds else 0


def _print_results(found: Reproduction, output: Path) -> None:
    from mptcplab.studies.verdicts import ORIGINS, counted

    for study in found.studies:
        facts = [fact for fact in found.facts if fact.study == study.name]
        if not facts:
            continue
        groups = {origin: [fact for fact in facts if fact.origin == origin] for origin in ORIGINS}
        words = "; ".join(f"{len(some)} {origin}: {counted(some)}" for origin, some in groups.items() if some)
        print(f"{study.name}: {words}")
        if found.effort.name == "quick":
            continue
        for fact in facts:
            if fact.verdict not in ("holds", "depends") and fact.origin == "published":
                print(f"  {fact.verdict}: {fact.fact} [{fact.experiment}] {fact.statement}")
    if found.effort.name == "quick":
        print("--quick runs few seeds, and leaves claims undecided that the full run decides")
    print(
        f"{len(found.runs)} runs, {found.data_packets / 1e6:.1f} million data packets, {found.wall_s:.1f} s; "
        f"report: {output / 'index.html'}"
    )
