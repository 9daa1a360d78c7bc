"""`mptcplab run`: simulates a scenario file, prints rates and limiting factors, and writes results.

Also runs plain TCP over each path for comparison (baselines). `real_time_runs` runs the other backends, and
`run_outputs` prints and saves.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli import page_options
from mptcplab.cli.common import (
    BadInput,
    RunFailed,
    add_backend,
    add_trace,
    add_workers,
    check_backend,
    check_runs,
    natural,
    no_repetitions,
    positive,
    print_json,
    trace,
)
from mptcplab.cli.common import seeds as all_seeds
from mptcplab.cli.executors import add_executor, chosen_executor, is_remote
from mptcplab.cli.outputs import ready
from mptcplab.cli.run_outputs import Baselines, document, save, tell
from mptcplab.cli.settings import add_set, over

if TYPE_CHECKING:
    from mptcplab.results.model.events import Trace
    from mptcplab.results.run import Runs
    from mptcplab.scenario.definition import Scenario

NAME = "run"
HELP = "simulate a scenario and print rates and limiting factors"
EXAMPLE = "mptcplab run handoff.toml --seed 7 --output results"

KNOWN = ("sim", "kernel", "wire")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="scenario file (TOML; see mptcplab schema)")
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument(
        "--seeds",
        type=positive,
        default=1,
        metavar="N",
        help="number of seeds (default: 1)",
    )
    add_set(parser)
    add_workers(parser)
    add_executor(parser)
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="write scenario, seed, Parquet, JSON and figures to DIR"
    )
    parser.add_argument("--json", action="store_true", help="print iperf3-compatible JSON (a list for several seeds)")
    parser.add_argument(
        "--pcap",
        action="store_true",
        help="write one pcapng per host and interface to DIR/pcap (default DIR: results)",
    )
    add_trace(parser, "keep events of these kinds in DIR/events.parquet")
    parser.add_argument("--quiet", action="store_true", help="print neither progress nor summary")
    add_backend(parser, KNOWN)
    page_options.add_arguments(parser)
    parser.add_argument(
        "--closest",
        action="store_true",
        help=("kernel backend: replace unsupported settings by the closest supported ones"),
    )


def execute(given: argparse.Namespace) -> int:
    """Runs the scenario and its baselines."""
    check_backend(given.backend, KNOWN)
    if given.closest and given.backend != "kernel":
        raise BadInput("mptcplab: --closest needs --backend kernel; the other backends support every setting")
    if given.page and given.backend == "sim":
        raise BadInput("mptcplab: --page needs --backend kernel or wire; mptcplab page FILE simulates on the page")
    if is_remote(given) and (given.backend != "sim" or given.pcap):
        other = "--pcap" if given.pcap else f"--backend {given.backend}"
        raise BadInput(f"mptcplab: --executor and {other} exclude each other; {other} needs this process")
    from mptcplab.run.batch import Interrupted, Unfinished
    from mptcplab.scenario.definition import Scenario

    scenario = over(Scenario.load(given.file), given.set)
    if given.backend != "sim":
        from mptcplab.cli.real_time_runs import execute as in_real_time

        return in_real_time(scenario, given)
    wanted = trace(given)
    if (given.pcap or given.trace) and given.output is None:
        given.output = Path("results")
    if given.output:
        ready(given.output)
        given.replaced = (given.output / "run.json").is_file()
    try:
        runs, baselines = _run(scenario, given, wanted)
    except (Interrupted, Unfinished) as cause:
        if given.output and len(cause.finished):
            cause.finished.save(given.output)
        if isinstance(cause, Unfinished):
            raise RunFailed(str(cause)) from cause
        raise
    if given.output:
        save(runs, baselines, given.output)
    _print_result(scenario, runs, baselines, given)
    damaged = [run.seed for run in runs if not all(row["intact"] for row in run.flow_rows)]
    if damaged:
        seeds = ", ".join(map(str, damaged))
        raise RunFailed(
            f"data arrived corrupted with seed {seeds}; unless a middlebox of the scenario rewrites payload, please "
            "report it"
        )
    return 0


def _print_result(scenario: Scenario, runs: Runs, baselines: Baselines, given: argparse.Namespace) -> None:
    if given.json:
        documents = [document(run, baselines) for run in runs]
        print_json(documents[0] if given.seeds == 1 else documents)
    elif not given.quiet:
        tell(runs, baselines)
        if (note := no_repetitions(scenario.core, given.seeds)) is not None:
            print(note)
        dropped = sum(run.events_dropped for run in runs)
        if dropped:
            print(
                f"{dropped} events exceeded limits.trace and were dropped; raise the limit, or trace fewer events "
                "(--trace, --trace-from)"
            )
        if given.output:
            print(f"written to {given.output}/{', replacing the previous result' if given.replaced else ''}")


def _run(scenario: Scenario, given: argparse.Namespace, wanted: Trace) -> tuple[Runs, Baselines]:
    """The runs, and the runs of plain TCP by flow and path, in one batch."""
    from mptcplab.results.run import Runs
    from mptcplab.run.batch import Unfinished, run_jobs
    from mptcplab.run.jobs import Job

    seeds = all_seeds(given)
    check_runs(scenario, len(seeds), traced=given.trace is not None)
    singles = scenario.baselines()
    jobs = [] if given.pcap else [Job(scenario.core, seed, trace=wanted) for seed in seeds]
    jobs += [Job(alone.core, seed, f"TCP over {path}") for _, path, alone in singles for seed in seeds]
    try:
        with chosen_executor(given) as executor:
            done = run_jobs(jobs, workers=given.workers, executor=executor, quiet=given.quiet)
        runs = done[: given.seeds]
        if given.pcap:
            runs = Runs([scenario.run(seed, captures=_captures(given, seed), trace=wanted) for seed in seeds])
    except Unfinished:
        raise
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    rest = iter(done if given.pcap else done[given.seeds :])
    baselines: Baselines = {}
    for flow, path, _ in singles:
        baselines.setdefault(flow, {})[path] = [next(rest) for _ in seeds]
    return runs, baselines


def _captures(given: argparse.Namespace, seed: int) -> Path:
    from mptcplab.util.files import folder

    return folder(given.output, "pcap", *([] if given.seeds == 1 else [f"seed-{seed}"]))
