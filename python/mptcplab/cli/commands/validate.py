"""`mptcplab validate`: compares the simulator with the kernel's MPTCP on the same scenarios.

The table shows how well the simulator predicts Linux. Owns arguments and output; the package `validation` compares.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput, RunFailed, check_runs, natural, positive, print_json, table
from mptcplab.cli.common import seeds as all_seeds
from mptcplab.cli.executors import add_executor, chosen_executor

if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.validation.comparison import Answers, Outcome, Row
    from mptcplab.validation.fixed_set import Cell

NAME = "validate"
HELP = "compare the simulator with the kernel's MPTCP on the same scenarios"
EXAMPLE = "mptcplab validate --seeds 3 --output validation.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="scenario files (default: mptcplab's validation set)"
    )
    parser.add_argument(
        "--draw",
        type=positive,
        metavar="N",
        help="validate N randomly generated networks instead of files (see --draw-seed)",
    )
    parser.add_argument(
        "--draw-seed", type=natural, default=1, metavar="N", help=("seed of the generated networks (default: 1)")
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N", help="seeds per scenario (default: 1)")
    parser.add_argument(
        "--predict", type=Path, metavar="FILE", help="only simulate; write the predictions to FILE, and print its hash"
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare the kernel with the predictions in FILE")
    parser.add_argument("--sha256", metavar="HASH", help="expected SHA-256 of the prediction file")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write all kernel results to FILE (JSON)")
    parser.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="parallel kernel runs, each in real time (default: 1)",
    )
    add_executor(parser)
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def execute(given: argparse.Namespace) -> int:
    """Predicts, measures and compares."""
    from mptcplab.validation import comparison, predictions

    if given.predict and (given.against or given.output):
        raise BadInput("mptcplab: --predict runs nothing on the kernel; use --against and --output in a second run")
    if given.sha256 and not given.against:
        raise BadInput("mptcplab: --sha256 checks a prediction file; add --against FILE")
    for path in (given.predict, given.output):
        if path:
            predictions.absent(path)
    cells = _cells(given)
    seeds = all_seeds(given)
    for cell in cells:
        check_runs(cell.scenario, len(seeds))
    if given.predict:
        return _predict(given.predict, cells, seeds, _simulated(given, cells, seeds))
    against = None
    if given.against:
        sim, against = predictions.read(given.against, cells, seeds, given.sha256)
    else:
        sim = _simulated(given, cells, seeds)
    done = None
    if given.output:
        done = predictions.Measurement(given.output, against, platform.release(), cells, seeds).write
    kernel = _measure(cells, seeds, done, given.jobs, quiet=given.quiet)
    rows = comparison.compare(cells, sim, kernel)
    if given.json:
        print_json([_document(row) for row in rows])
    else:
        print(tell(rows))
    for row in rows:
        problem = next(iter(row.sim.problems + row.kernel.problems), None)
        if problem is not None:
            raise RunFailed(f"{row.cell}, flow {row.flow!r}, {problem}")
    return 0


def _cells(given: argparse.Namespace) -> list[Cell]:
    from mptcplab.scenario.definition import Scenario
    from mptcplab.validation.fixed_set import Cell, cells
    from mptcplab.validation.generated_set import drawn

    if given.draw and given.files:
        raise BadInput("mptcplab: --draw and FILE exclude each other; remove one of them")
    if given.draw:
        return drawn(given.draw, given.draw_seed)
    return [Cell(str(file), Scenario.load(file)) for file in given.files] or cells()


def _simulated(given: argparse.Namespace, cells: list[Cell], seeds: range) -> Answers:
    from mptcplab.validation import comparison

    try:
        with chosen_executor(given) as executor:
            return comparison.sim_answers(cells, seeds, executor)
    except RuntimeError as error:
        raise RunFailed(str(error)) from error


def _predict(path: Path, cells: list[Cell], seeds: range, sim: Answers) -> int:
    from mptcplab.util.json_files import write_json
    from mptcplab.validation import predictions

    document = predictions.prediction(cells, seeds, sim)
    predictions.claim(path)
    write_json(document, path)
    print(f"predictions of {len(cells)} scenarios written to {path}, SHA-256 {document['sha256']}")
    return 0


def _measure(
    cells: list[Cell], seeds: range, done: Callable[[Answers], None] | None, jobs: int, *, quiet: bool
) -> Answers:
    from mptcplab.cli.commands.emulate import ended_by_signals
    from mptcplab.emulation.emulated_network import CannotEmulate
    from mptcplab.emulation.namespaces import CannotMake
    from mptcplab.validation import comparison

    def run(cell: Cell, seed: int) -> Outcome:
        if not quiet:
            print(f"{cell.name}, seed {seed}: runs for {cell.scenario.duration:.0f} s", file=sys.stderr)
        return comparison.on_kernel(cell, seed)

    try:
        with ended_by_signals():
            if jobs > 1:
                return _at_once(cells, seeds, done, jobs, quiet=quiet)
            return comparison.answers(cells, seeds, run, done)
    except CannotEmulate as error:
        raise BadInput(f"mptcplab: {error}") from error
    except CannotMake as error:
        raise RunFailed(str(error)) from error


def _at_once(
    cells: list[Cell], seeds: range, done: Callable[[Answers], None] | None, jobs: int, *, quiet: bool
) -> Answers:
    """Measures with several processes; each creates and removes its own network."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    found: Answers = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_one, cell.name, cell.scenario.to_toml(), seeds): cell for cell in cells}
        try:
            for future in as_completed(waiting):
                cell = waiting[future]
                found |= future.result()
                if not quiet:
                    print(f"{cell.name}: {len(found)} of {len(cells)}", file=sys.stderr)
                if done is not None:
                    done(found)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {cell.name: found[cell.name] for cell in cells}


def _one(name: str, scenario: str, seeds: range) -> Answers:
    """Runs a scenario on the kernel in a process of its own."""
    from mptcplab.scenario.definition import Scenario
    from mptcplab.validation import comparison
    from mptcplab.validation.fixed_set import Cell

    return comparison.answers([Cell(name, Scenario.parse(scenario))], seeds, comparison.on_kernel)


def tell(rows: list[Row]) -> str:
    """The table and its totals, which exclude failed and doubtful rows."""
    head = ["scenario", "flow", "sim [Mb/s]", "kernel [Mb/s]", "ratio", "share sim", "share kernel"]
    cells = [[*head, "stall sim [s]", "stall kernel [s]", ""]]
    cells += [
        [
            f"{row.cell} *" if row.blind else row.cell,
            row.flow,
            f"{row.sim.rate / 1e6:.2f}",
            f"{row.kernel.rate / 1e6:.2f}",
            f"{row.ratio:.2f}",
            _share(row.sim.part),
            _share(row.kernel.part),
            f"{row.sim.pause:.1f}",
            f"{row.kernel.pause:.1f}",
            _verdict(row),
        ]
        for row in rows
    ]
    lines = [table(cells), *_summary(rows)]
    blind = [row for row in rows if row.blind]
    if blind:
        lines += ["only the flows of held-out scenarios (*):", *(f"  {line}" for line in _summary(blind))]
    failed, doubtful = sum(row.failed for row in rows), sum(row.doubtful for row in rows)
    if failed or doubtful:
        lines.append(f"excluded flows: {failed} failed, {doubtful} doubtful")
    return "\n".join(lines)


def _summary(rows: list[Row]) -> list[str]:
    counted = [row for row in rows if row.counts]
    free = [row for row in counted if not row.saturated]
    shared = [row for row in counted if row.shares_agree is not None]
    stalled = [row for row in shared if row.stalls]
    return [
        f"goodput of the simulator within 10% of the kernel: {_of(sum(row.agrees for row in free), len(free))} without "
        f"saturated paths, {_of(sum(row.agrees for row in counted if row.saturated), len(counted) - len(free))} that "
        "saturate their paths on simulator and kernel",
        f"share of the first path within 0.05: {_of(sum(bool(row.shares_agree) for row in shared), len(shared))} with "
        "MPTCP",
        f"longest stall within 0.3 s of the kernel's: {_of(sum(row.stalls_agree for row in shared), len(shared))} with "
        f"MPTCP; {_of(sum(row.stalls_agree for row in stalled), len(stalled))} with a stall of more than 0.3 s on "
        "simulator or kernel",
    ]


def _of(some: int, of_them: int) -> str:
    return f"{some} of {of_them} flow{'' if of_them == 1 else 's'}"


def _share(part: float | None) -> str:
    return "-" if part is None else f"{part:.2f}"


def _verdict(row: Row) -> str:
    if row.failed:
        return f"FAILED: {(row.sim.problems + row.kernel.problems)[0]}"
    if row.doubtful:
        return f"doubtful: {(row.sim.doubts + row.kernel.doubts)[0]}"
    if not row.agrees or row.shares_agree is False:
        return "differs"
    return "agrees (saturated)" if row.saturated else "agrees"


def _document(row: Row) -> dict[str, object]:
    return {
        "scenario": row.cell,
        "flow": row.flow,
        "goodput_sim": row.sim.goodput,
        "goodput_kernel": row.kernel.goodput,
        "ratio": row.ratio,
        "share_sim": row.sim.share,
        "share_kernel": row.kernel.share,
        "stall_sim": row.sim.stall,
        "stall_kernel": row.kernel.stall,
        "blind": row.blind,
        "counts": row.counts,
        "saturated": row.saturated,
        "agrees": (row.agrees and row.shares_agree is not False) if row.counts else None,
        "doubts": row.kernel.doubts,
        "problems": row.sim.problems + row.kernel.problems,
    }
