"""The output of `mptcplab run`: saved files, JSON and the summary.

All backends (the simulator, Linux's sockets, mptcplab's stack in real time) share it, so results can be compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mptcplab.results.run import Run, Runs

Baselines = dict[str, dict[str, list["Run"]]]
"""By flow and path: runs of plain TCP."""


def _of_seed(baselines: Baselines, seed: int) -> dict[str, dict[str, float]]:
    """The rate of plain TCP by flow and path, bit/s."""
    from mptcplab.results.text import reasons

    return {
        flow: {
            path: reasons.known_rate(run.flow(flow)) for path, runs in paths.items() for run in runs if run.seed == seed
        }
        for flow, paths in baselines.items()
    }


def save(runs: Runs, baselines: Baselines, output: Path) -> None:
    """Writes tables, scenario, JSON and figures."""
    from mptcplab.plots import figure_style
    from mptcplab.results.run import Runs
    from mptcplab.util.files import folder, write_bytes
    from mptcplab.util.json_files import write_json

    runs.save(output)
    for run in runs:
        name = "iperf3.json" if len(runs) == 1 else f"iperf3-{run.seed}.json"
        write_json(document(run, baselines), output / name)
    alone = [run for paths in baselines.values() for several in paths.values() for run in several]
    if alone:
        Runs(alone).save(folder(output, "baselines"))
    figure = runs[0].plot()
    if len(runs) > 1:
        axes = figure.axes[0]
        axes.set_title(f"{axes.get_title(loc='left')}, seed {runs[0].seed}: one of {len(runs)} runs", loc="left")
    lines, dots = figure_style.both(figure)
    write_bytes(output / "throughput.png", dots)
    write_bytes(output / "throughput.svg", lines)


def document(run: Run, baselines: Baselines) -> dict[str, Any]:
    """A run in iperf3's format, with further keys under `mptcplab`."""
    from mptcplab.results.text import reasons
    from mptcplab.stats.statistics import aggregation_benefit

    found_rows = run.iperf3()
    single = _of_seed(baselines, run.seed)
    found_rows["mptcplab"] = {
        "scenario": run.name,
        "seed": run.seed,
        "limits": {row["flow"]: row["limits"] for row in run.flow_rows},
        "baselines": single,
        "aggregation_benefit": {
            flow: aggregation_benefit(reasons.known_rate(run.flow(flow)), list(rates.values()))
            for flow, rates in single.items()
        },
    }
    return found_rows


def tell(runs: Runs, baselines: Baselines) -> None:
    """Prints a summary."""
    from mptcplab.results.text import reasons, repeated_runs
    from mptcplab.results.text.summary import summary

    failed = {flow: _failed(flow, paths) for flow, paths in baselines.items()}
    if len(runs) == 1:
        print(summary(runs[0], _of_seed(baselines, runs[0].seed), failed))
        return
    alone = {
        flow: {path: [reasons.known_rate(run.flow(flow)) for run in own] for path, own in paths.items()}
        for flow, paths in baselines.items()
    }
    print(repeated_runs.summary(runs, alone, failed))


def _failed(flow: str, paths: dict[str, list[Run]]) -> dict[str, str]:
    """Why plain TCP delivered nothing over a path, as a clause, by path; paths with data are omitted."""
    from mptcplab.results.text import reasons

    failed = {}
    for path, runs in paths.items():
        empty = [run for run in runs if reasons.no_data(run.flow(flow))]
        if empty:
            some = f" with {len(empty)} of {len(runs)} seeds" if len(empty) < len(runs) else ""
            failed[path] = f"{reasons.no_data(empty[0].observed().flow(flow))}{some}"
    return failed
