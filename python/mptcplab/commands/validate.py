"""`mptcplab validate`: the simulator beside the kernel."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.commands.common import BadInput, RunFailed, check_runs, natural, positive, print_json, table
from mptcplab.commands.common import seeds as all_seeds

if TYPE_CHECKING:
    from mptcplab.results import Run
    from mptcplab.validation import Answers, Cell, Row

NAME = "validate"
HELP = "run scenarios on the simulator and on the kernel's Multipath TCP, and put both side by side"
EXAMPLE = "mptcplab validate --seeds 3 --output validation.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="scenario files (default: the set that comes with mptcplab)"
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="seeds for each scenario (default: 1)")
    parser.add_argument(
        "--predict", type=Path, metavar="FILE", help="only write down what the simulator says, with a hash over it"
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="hold the kernel against what was written down")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write all answers of the kernel there (JSON)")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("--quiet", action="store_true", help="say nothing while it runs")


def execute(given: argparse.Namespace) -> int:
    """Predicts, measures, compares."""
    from mptcplab import validation
    from mptcplab.json_files import write_json
    from mptcplab.scenario import Scenario

    if given.predict and (given.against or given.output):
        raise BadInput("mptcplab: --predict measures nothing: --against and --output are for the run after it")
    cells = [validation.Cell(str(file), Scenario.load(file)) for file in given.files] or validation.cells()
    seeds = all_seeds(given)
    for cell in cells:
        check_runs(cell.scenario, len(seeds))
    if given.predict:
        document = validation.document(cells, seeds, validation.answers(cells, seeds, validation.on_sim))
        write_json(document, given.predict)
        print(f"{len(cells)} scenarios predicted, SHA-256 {document['sha256']}: written to {given.predict}")
        return 0
    if given.against:
        sim = validation.read(given.against, cells, seeds)
    else:
        sim = validation.answers(cells, seeds, validation.on_sim)
    kernel = _measure(cells, seeds, quiet=given.quiet)
    if given.output:
        write_json(validation.document(cells, seeds, kernel), given.output)
    rows = validation.compare(sim, kernel)
    if given.json:
        print_json([_document(row) for row in rows])
    else:
        print(_tell(rows))
    return 0


def _measure(cells: list[Cell], seeds: range, *, quiet: bool) -> Answers:
    from mptcplab import validation
    from mptcplab.commands.emulate import ended_by_signals
    from mptcplab.emulation import CannotEmulate
    from mptcplab.namespaces import CannotMake

    def run(cell: Cell, seed: int) -> tuple[Run, str | None]:
        if not quiet:
            print(f"{cell.name}, seed {seed}: {cell.scenario.duration:.0f} s", file=sys.stderr)
        return validation.on_kernel(cell, seed)

    try:
        with ended_by_signals():
            return validation.answers(cells, seeds, run)
    except CannotEmulate as error:
        raise BadInput(f"mptcplab: {error}") from error
    except CannotMake as error:
        raise RunFailed(str(error)) from error


def _tell(rows: list[Row]) -> str:
    cells = [["scenario", "flow", "sim [Mb/s]", "kernel [Mb/s]", "ratio", "share sim", "share kernel", ""]]
    cells += [
        [
            row.cell,
            row.flow,
            f"{row.sim.rate / 1e6:.2f}",
            f"{row.kernel.rate / 1e6:.2f}",
            f"{row.ratio:.2f}",
            f"{row.sim.part:.2f}",
            f"{row.kernel.part:.2f}",
            _verdict(row),
        ]
        for row in rows
    ]
    agree, parts = sum(row.agrees for row in rows), sum(row.shares_agree for row in rows)
    return (
        f"{table(cells)}\n{agree} of {len(rows)} flows have a goodput within 10 % of the kernel's, {parts} a share of "
        "their first path within 0.05"
    )


def _verdict(row: Row) -> str:
    if row.kernel.doubts:
        return f"doubtful: {row.kernel.doubts[0]}"
    return "agrees" if row.agrees and row.shares_agree else "differs"


def _document(row: Row) -> dict[str, object]:
    return {
        "scenario": row.cell,
        "flow": row.flow,
        "goodput_sim": row.sim.goodput,
        "goodput_kernel": row.kernel.goodput,
        "ratio": row.ratio,
        "share_sim": row.sim.share,
        "share_kernel": row.kernel.share,
        "agrees": row.agrees and row.shares_agree,
        "doubts": row.kernel.doubts,
    }
