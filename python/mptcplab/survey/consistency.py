"""Checks the text of run summaries against the samples of the runs, over generated scenarios with events.

The tests and `tools/consistency` use it to find summaries that state a wrong cause or omit a stall. Each check compares
a statement with a measurement that the statement was not derived from.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mptcplab.results.model.events import REASONS
from mptcplab.results.text import reasons
from mptcplab.results.text.summary import BELOW, SILENT_S, summary
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.scenario.definition import Scenario

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results.run import Run

SECONDS = 12.0
SAMPLE = 0.1
FRAME_BITS = 1514 * 8
BUSY = 0.9
"""A link with a higher utilisation must not be called unused."""
_IDLE = (
    "application", "scheduler", "window", "loss", "queue_overflow", "delay_change", "receive_window", "send_buffer",
    "both_buffers", "head_of_line", "penalty", "pacing", "local_queue", "ack_queue", "policer", "path_mtu", "ack_loss",
    "middlebox", "reordering", "spurious",
)  # fmt: skip
"""Causes, in the columns `limit_*`, that leave capacity of a path's link unused."""


def draw(seed: int, number: int) -> Scenario:
    """A scenario with 1 to 4 paths, a main flow of any type, other flows, losses, jitter, queues and events."""
    chance = np.random.default_rng((seed, number))
    names = ["dsl", "wifi", "lte", "sat"][: int(chance.integers(1, 5))]
    paths = {name: _path(chance) for name in names}
    flow: dict[str, Any] = {
        "scheduler": str(chance.choice(["ontime", "minrtt", "roundrobin", "redundant"])),
        "congestion": str(chance.choice(["lia", "olia", "balia", "cubic", "reno", "bbr"])),
        "coupling_scope": str(chance.choice(["all", "shared"])),
        "rcvbuf": f"{_between(chance, 30e3, 8e6):.0f}B",
        "sndbuf": f"{_between(chance, 30e3, 8e6):.0f}B",
        "penalisation": bool(chance.random() < 0.3),
        "opportunistic_retransmission": bool(chance.random() < 0.5),
        "baselines": True,
    }
    if chance.random() < 0.3:
        flow["direction"] = "download"
    if chance.random() < 0.3 and len(names) > 1:
        flow["backup"] = [names[-1]]
    flow |= _traffic(chance)
    flows: dict[str, Any] = {"main": flow}
    if chance.random() < 0.3:
        flows["other"] = {"transport": "tcp", "paths": [names[0]], "start": f"{chance.uniform(0, 5):.2f}s"}
    if chance.random() < 0.3:
        rate = _between(chance, 1e5, 2e7)
        flows["voice"] = {"transport": "udp", "paths": [names[-1]], "rate": f"{rate / 1e3:.0f}kbit"}
    events = [_event(chance, names) for _ in range(int(chance.integers(0, 4)))]
    events.sort(key=lambda event: float(event["at"].removesuffix("s")))
    return Scenario(name="drawn", duration=f"{SECONDS}s", sample=f"{SAMPLE}s", paths=paths, flows=flows, events=events)


def _between(chance: np.random.Generator, least: float, most: float) -> float:
    return float(np.exp(chance.uniform(np.log(least), np.log(most))))


def _path(chance: np.random.Generator) -> dict[str, Any]:
    rate, rtt = _between(chance, 5e5, 1e8), _between(chance, 1e-3, 0.5)
    queue = int(np.clip(_between(chance, 0.1, 10) * rate * rtt / FRAME_BITS, 3, 3000))
    path: dict[str, Any] = {"rate": f"{rate / 1e3:.0f}kbit", "rtt": f"{rtt * 1e6:.0f}us", "queue": f"{queue}p"}
    if chance.random() < 0.4:
        path["loss"] = f"{_between(chance, 0.01, 5):.3f}%"
    if chance.random() < 0.4:
        path["jitter"] = f"{min(rtt / 4, _between(chance, 1e-4, 2e-2)) * 1e6:.0f}us"
    return path


def _traffic(chance: np.random.Generator) -> dict[str, Any]:
    kind = chance.integers(0, 4)
    if kind == 0:
        return {"bytes": f"{_between(chance, 1e4, 3e7):.0f}B"}
    if kind == 1:
        return {"blocks": f"{_between(chance, 1e3, 1e5):.0f}B", "rate": f"{_between(chance, 1e5, 3e7) / 1e3:.0f}kbit"}
    return {}


def _event(chance: np.random.Generator, names: list[str]) -> dict[str, Any]:
    change = [
        {"up": bool(chance.random() < 0.5)},
        {"rate": f"{_between(chance, 1e5, 1e8) / 1e3:.0f}kbit"},
        {"delay": f"{_between(chance, 5e-4, 0.3) * 1e6:.0f}us"},
        {"loss": f"{_between(chance, 0.01, 10):.3f}%"},
    ][int(chance.integers(0, 4))]
    return {"at": f"{chance.uniform(0.5, SECONDS - 1):.2f}s", "path": str(chance.choice(names)), "set": change}


def contradictions(run: Run, baselines: dict[str, float]) -> Iterator[str]:
    """Statements of a summary that contradict the samples."""
    text = summary(run, {"main": baselines})
    if found := re.search(r"\b(inf|nan)\b", text):
        yield f"the summary contains {found.group(0)!r}"
    busy = {(link["link"], link["direction"]): link["busy"] for link in run.link_rows}
    for link in run.link_rows:
        if link["busy"] > 1 + 1e-9:
            yield f"{link['link']} {link['direction']} was busy for {link['busy']:.3f} of the time"
        if link["capacity"] and link["sent_bytes"] * 8 > link["capacity"] * SECONDS + FRAME_BITS:
            yield f"{link['link']} {link['direction']} sent more than it can carry"
    tables = tomllib.loads(run.scenario.to_toml())["flows"]
    for row in run.flow_rows:
        # The links of a path lead from the client to the server.
        side = "backward" if tables[row["flow"]]["direction"] == "download" else "forward"
        yield from _of_flow(run, row, {link: share for (link, way), share in busy.items() if way == side})
        yield from _of_acknowledgements(row, {link: share for (link, way), share in busy.items() if way != side})
    yield from _of_main(run, baselines, text)


def _of_acknowledgements(row: FlowRow, busy: dict[str, float]) -> Iterator[str]:
    """Statements about acknowledgements: they wait in a queue only while the link of the queue is busy."""
    whole = row["measured_s"] > 0.97 * SECONDS
    for path in row["paths"]:
        share, name = path["limits"].get("ack_queue", 0.0), path["path"]
        if whole and share > busy[name] + 0.1:
            yield (
                f"{row['flow']} {name}: {share:.0%} of the time is attributed to queued acknowledgements, on a link "
                f"that was busy {busy[name]:.0%} of the time"
            )
        if share > reasons.LEAST and not path["ack_queue"]:
            yield f"{row['flow']} {name}: acknowledgements cost {share:.0%} of the time, but waited in no queue"


def _of_flow(run: Run, row: FlowRow, busy: dict[str, float]) -> Iterator[str]:
    life = row["measured_s"]
    for path in row["paths"]:
        name = path["path"]
        limits = path.get("limits", {})
        if limits:
            if abs(sum(limits.values()) - 1) > 1e-6 or min(limits.values()) < -1e-9:
                yield f"{row['flow']} {name}: the shares of the limiting factors do not add up to 1: {limits}"
            whole = life > 0.97 * SECONDS
            idle = sum(limits.get(cause, 0.0) for cause in _IDLE)
            if whole and busy[name] > BUSY and idle > 1 - busy[name] + 0.03:
                yield f"{row['flow']} {name}: idle {idle:.0%} of the time on a link that was busy {busy[name]:.0%}"
        if path["best_capacity"]:
            # Data from before an interval also arrives in it, except at the start of the run.
            rate = path["bytes_arrived"] * 8 / life if life else 0.0
            if rate > path["best_capacity"] * 1.001 + FRAME_BITS / max(life, SAMPLE):
                yield f"{row['flow']} {name}: {rate / 1e6:.2f} Mb/s on a link of {path['best_capacity'] / 1e6:.2f} Mb/s"
            _, carried = run.series("goodput", flow=row["flow"], path=name)
            most = float(carried.max(initial=0.0))
            if most > path["best_capacity"] + 2 * FRAME_BITS / SAMPLE and not _jitters(run):
                yield (
                    f"{row['flow']} {name}: a sample of {most / 1e6:.2f} Mb/s, on a link of "
                    f"{path['best_capacity'] / 1e6:.2f} Mb/s"
                )
    most_of_all = row["capacity"]
    rate = reasons.rate_of_life(row)
    if most_of_all and rate > most_of_all * 1.02 + FRAME_BITS / max(life, SAMPLE):
        yield f"{row['flow']}: {rate / 1e6:.2f} Mb/s of the {most_of_all / 1e6:.2f} Mb/s that its links could carry"


def _jitters(run: Run) -> bool:
    """Whether delays vary, so that a sample of arrivals may exceed the link rate."""
    return 'jitter = "' in run.scenario.to_toml() or 'delay = "' in run.scenario.to_toml().partition("[[events]]")[2]


def _of_main(run: Run, baselines: dict[str, float], text: str) -> Iterator[str]:
    row = run.flow("main")
    best = max(baselines.values(), default=0.0)
    if row["goodput"] < BELOW * best and "slower than plain TCP" not in text.partition("other (")[0]:
        yield f"main: {row['goodput'] / best:.0%} of plain TCP over the best path, which the summary does not report"
    silent = _silence(run)
    if silent > SILENT_S + 3 * SAMPLE and "nothing reached the application for" not in text:
        yield f"main: {silent:.1f} s without a byte, which the summary does not report"
    for finding in reasons.findings(row):
        if not 0 <= finding.share <= 1 + 1e-6:
            yield f"main: {finding.cause} has a share of {finding.share:.2f}"


def _silence(run: Run) -> float:
    """The longest time without a byte in the samples of a bulk flow, s; 0 for other flows."""
    row = run.flow("main")
    if row["blocks"] or row["completion_s"] is not None or row["handshake_s"] is None:
        return 0.0
    _, carried = run.series("goodput", flow="main")
    first = int(np.argmax(carried > 0)) if np.any(carried > 0) else len(carried)
    longest = present = 0
    for value in carried[first:]:
        present = 0 if value > 0 else present + 1
        longest = max(longest, present)
    return longest * SAMPLE


def check(seed: int, count: int) -> list[tuple[int, str]]:
    """The contradictions in `count` generated scenarios, each with the number of its scenario."""
    found: list[tuple[int, str]] = []
    for begin in range(0, count, 50):
        numbers = range(begin, min(begin + 50, count))
        scenarios = [draw(seed, number) for number in numbers]
        alone = [[(path, one) for flow, path, one in each.baselines() if flow == "main"] for each in scenarios]
        jobs = [Job(each.core, seed, trace=REASONS) for each in scenarios]
        jobs += [Job(one.core, seed) for each in alone for _, one in each]
        runs = run_jobs(jobs, quiet=True)
        rest = iter(runs[len(scenarios) :])
        for number, run, each in zip(numbers, runs, alone, strict=False):
            single = {path: next(rest).flow("main")["goodput"] for path, _ in each}
            found += [(number, text) for text in contradictions(run, single)]
    return found
