"""Mutants: planted errors in the scenarios of the studies, such as another scheduler.

`reproduce --mutate` runs the studies with a mutant. A claim that no mutant makes fail says little about the protocol.
Owns the mutants and the comparison of verdicts; `runner` applies a mutant's change to each scenario.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from mptcplab.reproduce.runner import Change
from mptcplab.scenario.definition import Scenario, to_toml
from mptcplab.studies.base import Effort, Experiment, Fact, Study
from mptcplab.util.user_input import seconds

Table = dict[str, Any]

CHANNELS = {1: 36, 11: 48, 36: 1, 48: 11}
"""The channel in the other band for each channel of the studies."""

KEPT = 0.8
"""The share of the window that remains after a loss with the planted error, instead of a half."""


@dataclass(frozen=True)
class Mutant:
    """A planted error: its description, and its change of a scenario."""

    words: str
    apply: Callable[[Table], None]

    def change(self) -> Change:
        """The change of scenarios; unaffected scenarios stay the same objects."""

        def changed(scenario: Scenario) -> Scenario:
            table = tomllib.loads(scenario.to_toml())
            before = to_toml(table)
            self.apply(table)
            after = to_toml(table)
            return scenario if after == before else Scenario.parse(after, scenario.name)

        return changed


def _flows(table: Table, kind: str | None = None) -> list[Table]:
    flows = table.get("flows", {}).values()
    return [flow for flow in flows if flow.get("transport") in ((kind,) if kind else ("mptcp", "tcp"))]


def _controller(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["congestion"] = "reno" if flow["congestion"] != "reno" else "wvegas"


def _scheduler(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["scheduler"] = "redundant"


def _one_path(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["paths"] = flow["paths"][:1]
        flow["backup"] = [path for path in flow.get("backup", []) if path in flow["paths"]]


def _opportunistic(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["opportunistic_retransmission"] = not flow["opportunistic_retransmission"]


def _penalised(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["penalisation"] = not flow["penalisation"]


def _recovery(table: Table) -> None:
    for flow in _flows(table):
        flow |= {"sack": False, "rack": False, "frto": False, "undo_spurious_loss": False}


def _queue(table: Table) -> None:
    for kind in ("paths", "links", "cells", "stations"):
        for link in table.get(kind, {}).values():
            if isinstance(link.get("queue"), str):
                link["queue"] = "5p"


def _clean(table: Table) -> None:
    links = [link for kind in ("paths", "links", "stations") for link in table.get(kind, {}).values()]
    for link in [*links, *table.get("filters", [])]:
        if "loss" in link:
            link["loss"] = "0%"
    for event in table.get("events", []):
        event.get("set", {}).pop("loss", None)


def _unequal(table: Table) -> None:
    for kind in ("paths", "links"):
        for link in list(table.get(kind, {}).values())[1::2]:
            if isinstance(link.get("rate"), str) and link["rate"] != "unlimited":
                link["rate"] = halved(link["rate"])
    _slow(table, list(table.get("stations", {}).values())[1::2])


def halved(rate: str) -> str:
    """Half of a rate in scenario syntax."""
    number = rate.rstrip("bitkMGT")
    return f"{float(number) / 2:g}{rate[len(number) :]}"


def _timing(table: Table) -> None:
    for cell in table.get("cells", {}).values():
        if cell["standard"] == "802.11g":
            cell |= {"slot": "long", "protection": not cell["protection"]}
    _slow(table, list(table.get("stations", {}).values()))


def _slow(table: Table, stations: Sequence[Table]) -> None:
    """Sets stations to the lowest rate of their 802.11 standard."""
    cells = table.get("cells", {})
    for station in stations:
        if station.get("rate"):
            cell = cells[station["cell"]] if "cell" in station else next(iter(cells.values()))
            station["rate"] = {"802.11b": "1Mbit", "802.11n": "6500kbit"}.get(cell["standard"], "6Mbit")


def _coupling(table: Table) -> None:
    if "cells" in table:
        table["interference"] = "ideal" if table.get("interference") == "ucl" else "ucl"


def _hidden(table: Table) -> None:
    cells = sorted(table.get("cells", {}))
    deaf = {"carrier_sense": "0%", "collision": "100%"}
    if len(cells) > 1:
        table["coupling"] = [{"cells": list(pair), **deaf} for pair in combinations(cells, 2)]


def _standard(table: Table) -> None:
    for cell in table.get("cells", {}).values():
        other = CHANNELS.get(cell["channel"])
        if cell["standard"] == "802.11g" and other:
            cell |= {"standard": "802.11a", "channel": other}
            cell.pop("slot", None)
            cell.pop("protection", None)
        elif cell["standard"] == "802.11a" and other:
            cell |= {"standard": "802.11g", "channel": other}


def _quiet(table: Table) -> None:
    table.pop("background", None)


def _rule(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["send_queue_rule"] = "off" if flow.get("send_queue_rule", "off") != "off" else "published"


def _delay(table: Table) -> None:
    links = [link for kind in ("paths", "links", "stations") for link in table.get(kind, {}).values()]
    events = [event.get("set", {}) for event in table.get("events", [])]
    for link in [*links, *table.get("filters", []), *events]:
        if "delay" in link:
            link["delay"] = f"{round(seconds(link['delay']) * 1e7)}us"


def _lossy(table: Table) -> None:
    for kind in ("paths", "links", "stations"):
        for link in list(table.get(kind, {}).values())[::2]:
            link["loss"] = "5%"


def _buffers(table: Table) -> None:
    for flow in _flows(table):
        flow |= {"rcvbuf": "10KB", "sndbuf": "10KB", "autotuning": False}


def _congestion(flow: Table) -> Table:
    """A flow's controller as a table."""
    given = flow.get("congestion", "lia" if flow.get("transport") == "mptcp" else "reno")
    return {"kind": given} if isinstance(given, str) else dict(given)


def _alpha(factor: float) -> Callable[[Table], None]:
    def apply(table: Table) -> None:
        for flow in _flows(table, "mptcp"):
            controller = _congestion(flow)
            if controller["kind"] == "lia":
                flow["congestion"] = controller | {"alpha_scale": controller.get("alpha_scale", 1.0) * factor}

    return apply


def _reduction(table: Table) -> None:
    for flow in _flows(table):
        controller = _congestion(flow)
        if controller["kind"] in ("lia", "reno"):
            flow["congestion"] = controller | {"beta": KEPT}


def _highest(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["scheduler"] = "maxrtt"


def _no_m1(table: Table) -> None:
    for flow in _flows(table, "mptcp"):
        flow["opportunistic_retransmission"] = False


def _every_segment(table: Table) -> None:
    for flow in _flows(table):
        flow["delayed_ack"] = False


def _half_queue(table: Table) -> None:
    for kind in ("paths", "links", "cells", "stations"):
        for link in table.get(kind, {}).values():
            given = link.get("queue")
            if isinstance(given, str) and given != "unlimited":
                link["queue"] = halved_size(given)
            elif isinstance(given, dict) and isinstance(given.get("limit"), str):
                link["queue"] = given | {"limit": halved_size(given["limit"])}


def halved_size(size: str) -> str:
    """Half of a queue limit in scenario syntax; at least one packet."""
    number = size.rstrip("pBkKMGmsu")
    unit = size[len(number) :]
    half = float(number) / 2
    return f"{max(1, int(half))}p" if unit == "p" else f"{half:g}{unit}"


def _first_window(table: Table) -> None:
    for cell in table.get("cells", {}).values():
        cell["cw_min"] = 4


def _no_backoff(table: Table) -> None:
    for cell in table.get("cells", {}).values():
        cell["cw_max"] = cell["cw_min"]


def _nothing(table: Table) -> None:
    """The null mutant: a verdict that differs with it shows an error in the comparison."""


MUTANTS: Mapping[str, Mutant] = {
    "nothing": Mutant("no error, so no verdict may change", _nothing),
    "controller": Mutant("MPTCP flows use Reno without coupling; MPTCP flows that had Reno use wVegas", _controller),
    "scheduler": Mutant("all data is sent on every path (redundant)", _scheduler),
    "one path": Mutant("every MPTCP flow uses only its first path", _one_path),
    "opportunistic": Mutant(
        "opportunistic retransmission (M1) is on where it was off, and off where it was on", _opportunistic
    ),
    "penalised": Mutant("penalisation (M2) is on where it was off, and off where it was on", _penalised),
    "recovery": Mutant("no selective acknowledgements, no RACK-TLP, no F-RTO, no undo of spurious losses", _recovery),
    "queue": Mutant("queues of 5 packets", _queue),
    "clean": Mutant("no random loss", _clean),
    "unequal": Mutant("every second path and link has half its rate, every second station its lowest rate", _unequal),
    "timing": Mutant("802.11g has long slots and inverted protection; every station has its lowest rate", _timing),
    "coupling": Mutant("the models of interference exchanged: ucl instead of ideal, and the reverse", _coupling),
    "hidden": Mutant("overlapping frames of different cells collide, and no station senses another cell", _hidden),
    "standard": Mutant("802.11a and 802.11g exchanged", _standard),
    "quiet": Mutant("no competing stations on the channel", _quiet),
    "rule": Mutant("`send_queue_rule` is off where it was on, and `published` where it was off", _rule),
    "delay": Mutant("every delay is ten times as long", _delay),
    "lossy": Mutant("every second path, link and station loses 5% of its packets", _lossy),
    "buffers": Mutant("send and receive buffers of 10 KB", _buffers),
    "alpha doubled": Mutant("LIA with twice its alpha", _alpha(2.0)),
    "alpha halved": Mutant("LIA with half of its alpha", _alpha(0.5)),
    "reduction": Mutant(f"LIA and Reno keep {KEPT:.0%} of the window after a loss", _reduction),
    "highest RTT": Mutant("a scheduler that prefers the highest RTT", _highest),
    "no M1": Mutant("no opportunistic retransmission (M1)", _no_m1),
    "every segment": Mutant("every segment is acknowledged immediately", _every_segment),
    "half queue": Mutant("queues of half the size", _half_queue),
    "CWmin": Mutant("802.11: an initial contention window of 4 slots", _first_window),
    "no backoff": Mutant("802.11: no backoff increase after a collision", _no_backoff),
}

RECORDED = (
    "alpha doubled", "alpha halved", "reduction", "highest RTT", "no M1", "every segment", "half queue", "CWmin",
    "no backoff",
)  # fmt: skip
"""Errors inside a stack, a queue or a radio that the record of `sensitivity` must cover."""


def concerned(studies: Sequence[Study], change: Change, effort: Effort) -> list[Study]:
    """The studies with the experiments whose scenarios a change alters; all others give the same results."""

    def alters(experiment: Experiment) -> bool:
        scenarios = {id(point.scenario): point.scenario for point in experiment.points(effort)}
        return any(change(scenario) is not scenario for scenario in scenarios.values())

    found = ((study, [one for one in study.experiments if alters(one)]) for study in studies)
    return [replace(study, experiments=some) for study, some in found if some]


def turned(before: Mapping[str, str], facts: Sequence[Fact]) -> dict[str, str]:
    """Claims that hold in the record `before` but not in `facts`, with their verdicts in `facts`."""
    now = {fact.fact: fact.verdict for fact in facts}
    return {
        name: now[name] for name, verdict in before.items() if verdict == "holds" and now.get(name, "holds") != "holds"
    }


def table(before: Mapping[str, str], found: Mapping[str, Mapping[str, str]]) -> str:
    """A table of the effect of each mutant, and the claims that no mutant makes fail.

    Only `fails` counts: `undecided` is no verdict, because an altered network may only vary more or carry nothing.
    """
    head = (
        "| error | change in every scenario | claims that held and fail | that depend | that are undecided | failed |"
    )
    lines = [head, "|---|---|---|---|---|--:|"]
    for name, lost in found.items():
        columns = [
            ", ".join(fact for fact, verdict in lost.items() if verdict == message) or "–"
            for message in ("fails", "depends", "undecided")
        ]
        number = sum(verdict == "fails" for verdict in lost.values())
        lines.append(f"| {name} | {MUTANTS[name].words} | {' | '.join(columns)} | {number} |")
    held = [name for name, verdict in before.items() if verdict == "holds"]
    rest = [name for name in held if not any(lost.get(name) == "fails" for lost in found.values())]
    share = len(rest) / len(held) if held else 0.0
    lines += [
        "",
        (
            f"{len(rest)} of the {len(held)} claims that hold do not fail with any of these errors ({share:.0%}): "
            f"{', '.join(rest) or 'none'}."
        ),
    ]
    return "\n".join(lines) + "\n"
