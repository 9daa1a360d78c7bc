"""`mptcplab run --backend kernel` and `wire`: runs in real time, one after the other.

Such runs show whether a simulated result also holds on a real stack. `kernel` uses Linux's sockets, and `wire`
(`live_backend`) mptcplab's stack; both send over emulated links. A `Report` describes the conditions of a run: the
kernel, the sockets, and unsupported settings, which `--closest` replaces by the closest supported ones. The `doubts` of
a report are reasons why the timing of the emulation may have affected the results.
"""

from __future__ import annotations

import argparse
import functools
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, RunFailed, check_runs, print_json
from mptcplab.cli.common import seeds as all_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from mptcplab import _core
    from mptcplab.backends.kernel_backend import Report
    from mptcplab.cli.run_outputs import Baselines
    from mptcplab.emulation.emulated_network import Network
    from mptcplab.results.run import Run
    from mptcplab.scenario.definition import Scenario


def execute(scenario: Scenario, given: argparse.Namespace) -> int:
    """Runs the scenario with each seed, and its baselines; then saves and prints as `run` does."""
    _check(given)
    from mptcplab.cli.commands.emulate import ended_by_signals
    from mptcplab.cli.run_outputs import document, save, tell
    from mptcplab.emulation.emulated_network import CannotEmulate
    from mptcplab.emulation.namespaces import CannotMake
    from mptcplab.results.run import Runs
    from mptcplab.util.files import claim

    seeds = all_seeds(given)
    check_runs(scenario, len(seeds))
    if given.output:
        claim(given.output)
    try:
        with ended_by_signals():
            runs, baselines, reports = _run(scenario, given)
    except CannotEmulate as error:
        raise BadInput(f"mptcplab: {error}") from error
    except (CannotMake, RuntimeError) as error:
        raise RunFailed(str(error)) from error
    if given.output:
        from mptcplab.util.json_files import write_json

        save(Runs(runs), baselines, given.output)
        write_json([report.document() for report in reports], given.output / f"{given.backend}.json")
    if given.json:
        documents = [document(run, baselines) for run in runs]
        for one, known in zip(documents, _by_run(reports), strict=True):
            one["mptcplab"][given.backend] = known
        print_json(documents[0] if given.seeds == 1 else documents)
    elif not given.quiet:
        tell(Runs(runs), baselines)
        print("\n".join(_as_text(reports)))
        if given.output:
            print(f"written to {given.output}/")
    return _judge(runs, reports)


def _check(given: argparse.Namespace) -> None:
    """Rejects options that runs in real time do not support."""
    if sys.platform != "linux":
        raise BadInput(f"mptcplab: the backend {given.backend} needs Linux; this is {sys.platform}")
    if given.trace:
        raise BadInput("mptcplab: --trace needs the simulator; omit --trace, or use --backend sim")
    if given.pcap and given.output is None:
        raise BadInput("mptcplab: --pcap writes to DIR/pcap; add --output DIR")
    if given.page and given.seeds > 1:
        raise BadInput("mptcplab: --page shows one run; omit --seeds")


def _run(scenario: Scenario, given: argparse.Namespace) -> tuple[list[Run], Baselines, list[Report]]:
    """The runs, plain TCP runs by flow and path, and the reports of all of them, in this order."""
    from mptcplab.util.files import folder

    run = _backend(given)
    runs, reports = [], []
    baselines: Baselines = {}
    for seed in all_seeds(given):
        pcap = folder(given.output, "pcap") / f"seed-{seed}.pcapng" if given.pcap else None
        one, report = run(scenario, seed, pcap=pcap, watch=_watch(scenario, given))
        runs.append(one)
        reports.append(report)
    for flow, path, alone in scenario.baselines():
        list_of = [run(alone, seed, variant=f"TCP over {path}") for seed in all_seeds(given)]
        baselines.setdefault(flow, {})[path] = [one for one, _ in list_of]
        reports += [report for _, report in list_of]
    return runs, baselines, reports


def _backend(given: argparse.Namespace) -> Callable[..., tuple[Run, Report]]:
    """The function that runs a scenario with a seed."""
    if given.backend == "kernel":
        from mptcplab.backends import kernel_backend

        return functools.partial(kernel_backend.run, closest=given.closest)
    from mptcplab.backends import live_backend

    return live_backend.run


def _watch(scenario: Scenario, given: argparse.Namespace) -> Callable[..., AbstractContextManager[None]] | None:
    """The function that shows a run on the page; None without `--page`."""
    if not given.page:
        return None
    from mptcplab.cli.page_options import shown
    from mptcplab.emulation.link_control import LinkControl
    from mptcplab.page.live_network import LiveNetwork, flows_of, kernel_policies

    @contextmanager
    def kernel(network: Network) -> Iterator[None]:
        from mptcplab.emulation.links import EmulatedLinks

        control = LinkControl(EmulatedLinks(network))
        policies = kernel_policies(network, congestion=False)
        with flows_of(network) as connections:
            source = LiveNetwork(scenario.core, network.emulator, control, connections, policies)
            with shown(given, source):
                yield

    @contextmanager
    def wire(emulator: _core.Emulator) -> Iterator[None]:
        from mptcplab.backends.live_backend import WireLinks

        control = LinkControl(WireLinks(emulator, list(scenario.core.paths)), WireLinks.STATES)
        with shown(given, LiveNetwork(scenario.core, emulator, control, None)):
            yield

    return kernel if given.backend == "kernel" else wire


def _by_run(reports: list[Report]) -> list[dict[str, Any]]:
    """The report of each run, with those of its baselines."""
    alone = [report.document() for report in reports if report.variant]
    mine = [report.document() for report in reports if not report.variant]
    return [one | {"baselines": [other for other in alone if other["seed"] == one["seed"]]} for one in mine]


def _as_text(reports: list[Report]) -> list[str]:
    """The reports as text. Of the baselines (plain TCP), only runs with doubtful timing are reported."""
    from mptcplab.backends.kernel_backend import report_text

    alone = [report for report in reports if report.variant and report.doubts]
    return [report_text(report) for report in reports if not report.variant] + [
        f"    {one.variant}, seed {one.seed}: DOUBTFUL: {one.doubts}" for one in alone
    ]


def _judge(runs: list[Run], reports: list[Report]) -> int:
    damaged = [run.seed for run in runs if not all(row["intact"] for row in run.flow_rows)]
    if damaged:
        raise RunFailed(f"data arrived corrupted with seed {', '.join(map(str, damaged))}; please report it")
    for report in reports:
        problem = next((f"flow {one.flow!r}: {one.problem}" for one in report.flows if one.problem), None)
        if problem is not None:
            raise RunFailed(problem)
    return 0
