"""The simulator held against the kernel: the same scenarios on both, flow by flow.

Owns the set of scenarios, predictions with their hash, and what counts as agreement. Never tunes anything: what is
predicted is written down before the first packet of the kernel, and read back as it was.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mptcplab import __version__
from mptcplab.inputs import BadResult
from mptcplab.results import Run
from mptcplab.scenario import Scenario

GOODPUT = 0.10
"""The median goodput of both agrees within this part of the kernel's."""
SHARE = 0.05
"""Shares by path agree within this."""

_LINUX = {"scheduler": "minrtt", "opportunistic_retransmission": False, "pacing": False}
"""What is nearest to the kernel's connections."""
_CUBIC = {"kind": "cubic", "as": "linux"}


@dataclass(frozen=True)
class Cell:
    """A scenario of the set."""

    name: str
    scenario: Scenario


@dataclass(frozen=True)
class Answer:
    """What one of both says of a flow, by seed."""

    goodput: list[float]
    """bit/s after the warm-up."""
    share: list[float]
    """The part of its bytes that its first path carried; 1 for TCP."""
    doubts: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The median goodput."""
        return statistics.median(self.goodput)

    @property
    def part(self) -> float:
        """The median share."""
        return statistics.median(self.share)


Answers = dict[str, dict[str, Answer]]
"""By cell and flow."""


@dataclass(frozen=True)
class Row:
    """A flow of a cell on both."""

    cell: str
    flow: str
    sim: Answer
    kernel: Answer

    @property
    def ratio(self) -> float:
        """The simulator's goodput as part of the kernel's."""
        return self.sim.rate / self.kernel.rate if self.kernel.rate else float("inf")

    @property
    def agrees(self) -> bool:
        """Whether goodputs agree."""
        return abs(self.ratio - 1) <= GOODPUT

    @property
    def shares_agree(self) -> bool:
        """Whether shares agree."""
        return abs(self.sim.part - self.kernel.part) <= SHARE


def cells() -> list[Cell]:
    """The set of this version: one path, two paths, small buffers, loss, a path that goes."""
    wifi, mobile = (
        {"rate": "8Mbit", "rtt": "20ms", "queue": "53p"},
        {"rate": "2Mbit", "rtt": "150ms", "queue": "100p"},
    )
    both = {"wifi": wifi, "mobile": mobile}
    lossy = {"wifi": wifi | {"loss": "1%"}, "mobile": mobile}
    even = {
        "left": {"rate": "5Mbit", "rtt": "30ms", "queue": "50p"},
        "right": {"rate": "5Mbit", "rtt": "40ms", "queue": "50p"},
    }
    gone = {"at": "6s", "path": "left", "set": {"up": False}}
    return [
        _cell("tcp reno wifi", both, transport="tcp", congestion="reno", paths=["wifi"]),
        _cell("tcp cubic mobile", both, transport="tcp", congestion=_CUBIC, paths=["mobile"]),
        _cell("tcp reno loss", lossy, transport="tcp", congestion="reno", paths=["wifi"]),
        _cell("reno even", even, congestion="reno"),
        _cell("cubic even", even, congestion=_CUBIC),
        _cell("cubic uneven", both, congestion=_CUBIC),
        _cell("reno loss", lossy, congestion="reno"),
        *(
            _cell(f"reno rcvbuf {size}", both, congestion="reno", rcvbuf=size, sndbuf="4MB")
            for size in ("100KB", "200KB", "400KB", "1000KB")
        ),
        _cell("reno handoff", even, [gone], congestion="reno"),
    ]


def _cell(name: str, links: dict[str, dict[str, str]], events: Sequence[dict[str, Any]] = (), **flow: Any) -> Cell:
    flow = _LINUX | {"transport": "mptcp"} | flow
    scenario = Scenario(
        name=name, duration="12s", warmup="2s", sample="500ms", paths=links, flows={"bulk": flow}, events=events
    )
    return Cell(name, scenario)


def answers(cells: Iterable[Cell], seeds: Sequence[int], run: Callable[[Cell, int], tuple[Run, str | None]]) -> Answers:
    """What `run` gives for each cell and seed; beside the run it says what speaks against its numbers."""
    found: Answers = {}
    for cell in cells:
        flows: dict[str, Answer] = {name: Answer([], []) for name in cell.scenario.flows}
        for seed in seeds:
            done, doubts = run(cell, seed)
            for row in done.flow_rows:
                answer = flows[row["flow"]]
                whole = sum(path["bytes_sent"] for path in row["paths"])
                first = done.path_names[0]
                own = sum(path["bytes_sent"] for path in row["paths"] if path["path"] == first)
                answer.goodput.append(row["goodput"])
                answer.share.append(own / whole if whole else 0.0)
                answer.doubts.extend([doubts] if doubts else [])
        found[cell.name] = flows
    return found


def on_sim(cell: Cell, seed: int) -> tuple[Run, str | None]:
    """In virtual time."""
    return cell.scenario.run(seed), None


def on_kernel(cell: Cell, seed: int) -> tuple[Run, str | None]:
    """On the kernel, with what is nearest to what it cannot do."""
    from mptcplab.kernel import run

    done, report = run(cell.scenario, seed, closest=True)
    problem = next((one.problem for one in report.flows if one.problem), None)
    return done, problem or report.doubts


def document(cells: Sequence[Cell], seeds: Sequence[int], found: Answers) -> dict[str, Any]:
    """Answers with what they are answers to, and a hash over all of it."""
    body: dict[str, Any] = {
        "mptcplab": __version__,
        "seeds": list(seeds),
        "cells": [
            {
                "cell": cell.name,
                "scenario": cell.scenario.to_toml(),
                "flows": {name: asdict(answer) for name, answer in found[cell.name].items()},
            }
            for cell in cells
        ],
    }
    return body | {"sha256": _digest(body)}


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(path: Path, cells: Sequence[Cell], seeds: Sequence[int]) -> Answers:
    """Answers that were written down, if they are for these cells and seeds and nobody has changed them."""
    try:
        known = json.loads(path.read_text())
        body = {key: value for key, value in known.items() if key != "sha256"}
        asked = {one["cell"]: one["scenario"] for one in body["cells"]}
        found = {
            one["cell"]: {name: Answer(**answer) for name, answer in one["flows"].items()} for one in body["cells"]
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadResult(f"{path}: no predictions (mptcplab validate --predict writes them): {error}") from error
    if known.get("sha256") != _digest(body):
        raise BadResult(f"{path}: the predictions were changed after they were written: their hash is another")
    for cell in cells:
        if asked.get(cell.name) != cell.scenario.to_toml():
            raise BadResult(f"{path}: cell {cell.name!r} is not there, or was another scenario when it was predicted")
    if body["seeds"] != list(seeds):
        raise BadResult(f"{path}: was predicted with the seeds {body['seeds']}, not {list(seeds)}")
    return found


def compare(sim: Answers, kernel: Answers) -> list[Row]:
    """A row for each flow of each cell that both have."""
    return [
        Row(cell, flow, sim[cell][flow], answer)
        for cell, flows in kernel.items()
        for flow, answer in flows.items()
        if cell in sim and flow in sim[cell]
    ]
