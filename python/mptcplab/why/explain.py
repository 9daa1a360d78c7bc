"""Explains the goodput of a flow for `mptcplab why`: comparison with plain TCP, causes, and tested changes.

Owns the runs of the flow, of plain TCP over each path, and of each change, so that every suggested change was tested.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mptcplab.results.model import events
from mptcplab.results.text import reasons
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.stats.statistics import Estimate, Paired, estimate, paired
from mptcplab.why.answer import LATENCY, LATENESS, WORTH, Answer, Measure, Trial
from mptcplab.why.buffer_sizes import smallest
from mptcplab.why.causes import proven
from mptcplab.why.changes import changes, smaller_packets, written

if TYPE_CHECKING:
    from mptcplab.results.run import Run
    from mptcplab.scenario.definition import Scenario

MOST_FLOWS = 10
"""At most this many flows are explained at once; each needs its own runs."""
_STREAM = 0.97
"""A stream of blocks that gets this share of its rate lacks no throughput, so its latency is compared."""


def explain(
    scenario: Scenario, *, flow: str | None = None, seeds: Sequence[int] = (1, 2, 3), quiet: bool = True
) -> list[Answer]:
    """An answer for each MPTCP flow, up to `MOST_FLOWS`, or only for `flow`.

    Raises `ValueError` if there is no such flow.
    """
    compared = scenario.vary({"flows.*.baselines": True})
    singles = compared.baselines()
    names = list(dict.fromkeys(name for name, _, _ in singles))
    if flow is not None and flow not in names:
        raise ValueError(f"there is no MPTCP flow {flow!r}; choose from: {', '.join(names) or 'none'}")
    if not names:
        raise ValueError("the scenario has no MPTCP flow to explain")
    wanted = [flow] if flow is not None else names[:MOST_FLOWS]
    singles = [single for single in singles if single[0] in wanted]
    jobs = [Job(scenario.core, seed, trace=events.REASONS) for seed in seeds]
    jobs += [Job(alone.core, seed, f"TCP over {path}") for _, path, alone in singles for seed in seeds]
    done = run_jobs(jobs, quiet=quiet, label="why")
    runs, rest = done[: len(seeds)], iter(done[len(seeds) :])
    alone: dict[str, dict[str, list[Run]]] = {}
    for name, path, _ in singles:
        alone.setdefault(name, {})[path] = [next(rest) for _ in seeds]
    return [_answer(scenario, name, runs, alone[name], quiet=quiet) for name in wanted]


def _answer(scenario: Scenario, flow: str, runs: Sequence[Run], alone: dict[str, list[Run]], *, quiet: bool) -> Answer:
    from mptcplab import ScenarioError

    rows = [run.flow(flow) for run in runs]
    # A path on which plain TCP ended before the end of the warm-up has no goodput to compare with.
    alone = {path: own for path, own in alone.items() if not any(reasons.ended_early(run.flow(flow)) for run in own)}
    most = reasons.capacity(rows[0])
    singles = {path: _goodput(own, flow) for path, own in alone.items()}
    answer = Answer(
        flow, runs, _goodput(runs, flow), singles, reasons.mean_findings(rows), most / 1e6 if most else None
    )
    failed = {path: why for path, own in alone.items() if (why := _why_nothing(own, flow)) is not None}
    answer = replace(answer, failed=failed)
    if answer.early:
        return answer
    # Copies of a flow share one table, so they change together.
    file = tomllib.loads(scenario.to_toml())
    tables = file["flows"]
    named = flow if flow in tables and _settable(scenario, flow) else "*"
    measure = _measure(tables[flow], answer.goodput)
    if measure is not None:
        delays = {path: _estimated(measure.of(own, flow)) for path, own in alone.items()}
        answer = replace(answer, measure=measure, delay=_estimated(measure.of(runs, flow)), delay_alone=delays)
        if answer.is_healthy:
            return answer
    elif answer.is_full:
        return answer

    def tested(changes: Sequence[tuple[str | None, dict[str, Any]]]) -> list[Trial]:
        jobs, tried = [], []
        for cause, change in changes:
            try:
                changed = scenario.vary({f"flows.{named}.{key}": value for key, value in change.items()}).core
            except ScenarioError:
                # The value exceeds the limits of a scenario, or does not fit this transport.
                continue
            jobs += [Job(changed, run.seed) for run in runs]
            tried.append((cause, change))
        done, each = run_jobs(jobs, quiet=quiet, label="changes"), len(runs)
        of = [done[at * each : (at + 1) * each] for at in range(len(tried))]
        return [_trial(change, cause, answer, own) for (cause, change), own in zip(tried, of, strict=True)]

    answer = replace(answer, on_linux=bool(tables[flow].get("subflow_queues")))
    tries = changes(tables[flow], reasons.recommended_buffer(rows[0]))
    if any(finding.cause == "path_mtu" for finding in answer.findings):
        tries += smaller_packets(tables[flow], file)
    answer = replace(answer, tried=tested(tries))
    answer = replace(answer, findings=proven(answer))
    return smallest(answer, tables[flow], tested)


def _trial(settings: dict[str, Any], cause: str | None, answer: Answer, own: Sequence[Run]) -> Trial:
    """The result of a change, and whether it is significant."""
    flow, measure = answer.flow, answer.measure
    delays = measure.of(own, flow) if measure else []
    before = measure.of(answer.runs, flow) if measure else []
    if measure is None:
        gain: Paired | None = paired(_rates_of(own, flow), _rates_of(answer.runs, flow))
    else:
        gain = paired(before, delays) if len(before) == len(delays) else None
    is_sure = len(own) < 2 or (gain is not None and gain.difference.low > 0)
    values = delays if measure else [-rate for rate in _rates_of(own, flow)]
    return Trial(
        written(settings), _goodput(own, flow), cause, _estimated(delays), is_sure, settings, tuple(values),
        losers=_losers(answer, own),
    )  # fmt: skip


def _losers(answer: Answer, own: Sequence[Run]) -> tuple[str, ...]:
    """Other flows that lose goodput in the runs `own` of a change, as clauses; the largest loss first."""
    losses: list[tuple[float, str]] = []
    for name in answer.runs[0].flow_names:
        before, after = _goodput(answer.runs, name), _goodput(own, name)
        if name != answer.flow and after.mean * WORTH <= before.mean and before.mean > 0:
            losses.append((after.mean - before.mean, f"{name} gets {after} instead of {before} Mb/s"))
    return tuple(clause for _, clause in sorted(losses))


def _measure(flow: dict[str, Any], goodput: Estimate) -> Measure | None:
    """Lateness for blocks with a deadline, latency for a stream that gets its rate; None for goodput."""
    if "blocks" not in flow:
        return None
    if flow.get("deadline"):
        return LATENESS
    from mptcplab.util.user_input import rate

    if flow.get("rate") and goodput.mean * 1e6 >= _STREAM * rate(str(flow["rate"])):
        return LATENCY
    return None


def _estimated(values: Sequence[float]) -> Estimate | None:
    return estimate(values) if values else None


def _why_nothing(runs: Sequence[Run], flow: str) -> str | None:
    """Why plain TCP delivers nothing over a path in all runs; None if it delivers data in one run."""
    if any(reasons.no_data(run.flow(flow)) is None for run in runs):
        return None
    return reasons.no_data(runs[0].observed().flow(flow))


def _settable(scenario: Scenario, flow: str) -> bool:
    from mptcplab import ScenarioError

    try:
        scenario.vary({f"flows.{flow}.baselines": False})
    except ScenarioError:
        return False
    return True


def _goodput(runs: Sequence[Run], flow: str) -> Estimate:
    return estimate(_rates_of(runs, flow))


def _rates_of(runs: Sequence[Run], flow: str) -> list[float]:
    """Goodput in each run, Mb/s.

    The time over which it is averaged includes a long handshake, because a tested change of the first path may shorten
    the handshake.
    """
    return [reasons.comparable_rate(run.flow(flow)) / 1e6 for run in runs]
