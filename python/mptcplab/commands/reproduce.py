"""`mptcplab reproduce`: the published studies, their figures and facts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.commands.common import BadInput, RunFailed, add_backend, add_workers, check_backend, print_json

if TYPE_CHECKING:
    from mptcplab.reproduce import Reproduction

NAME = "reproduce"
HELP = "run the published studies, draw their figures, check their facts, write a report"
EXAMPLE = "mptcplab reproduce cs244-rcvbuf --output report"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="see mptcplab list (default: all)")
    add_workers(parser)
    parser.add_argument("--output", type=Path, default=Path("report"), metavar="DIR", help="where to (default: report)")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="coarser grids and fewer seeds, for a look")
    effort.add_argument("--full", action="store_true", help="finer grids and more seeds")
    parser.add_argument("--json", action="store_true", help="print facts.json as well")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")
    add_backend(parser)


def execute(given: argparse.Namespace) -> int:
    """Runs them and writes the report."""
    check_backend(given.backend)
    from mptcplab.report import facts_rows, write_report
    from mptcplab.reproduce import reproduce
    from mptcplab.studies import all_studies
    from mptcplab.studies.base import Effort

    studies, problems = all_studies()
    unknown = [name for name in given.studies if name not in studies]
    if unknown:
        none = f"mptcplab: there is no study {unknown[0]!r}; there are: {', '.join(studies)}"
        raise BadInput(problems.get(unknown[0], none))
    for problem in problems.values():
        print(problem, file=sys.stderr)
    chosen = [study for name, study in studies.items() if not given.studies or name in given.studies]
    effort = Effort("quick" if given.quick else "full" if given.full else "default")
    try:
        found = reproduce(chosen, effort, workers=given.workers, quiet=given.quiet)
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if found.outcomes:
        write_report(found, given.output)
    if given.json:
        print_json(facts_rows(found))
    elif not given.quiet:
        _tell(found, given.output)
    if found.missing:
        raise KeyboardInterrupt(f"interrupted; {found.missing} experiments are missing in {given.output}/")
    return 1 if any(fact.verdict == "fails" for fact in found.facts) else 0


def _tell(found: Reproduction, output: Path) -> None:
    for study in found.studies:
        facts = [fact for fact in found.facts if fact.study == study.name]
        if not facts:
            continue
        count = {
            verdict: sum(fact.verdict == verdict for fact in facts) for verdict in ("holds", "contradicted", "fails")
        }
        print(
            f"{study.name}: {len(facts)} facts, {count['holds']} hold, "
            f"{count['contradicted']} where sources contradict each other, {count['fails']} fail"
        )
        for fact in facts:
            if fact.verdict == "fails":
                print(f"  fails: {fact.fact} [{fact.experiment}] {fact.statement}")
                print(f"         measured: {fact.measured}")
    if found.effort.name == "quick" and any(fact.verdict == "fails" for fact in found.facts):
        print("quick is for a look: with so few seeds and short runs, facts fail by chance that hold without --quick")
    print(
        f"{len(found.runs)} runs, {found.data_packets / 1e6:.1f} million data packets, {found.wall_s:.1f} s; "
        f"report: {output / 'index.html'}"
    )
