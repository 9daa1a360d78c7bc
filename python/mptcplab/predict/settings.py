"""Changes of settings that `mptcplab predict` tests: buffers, congestion control, scheduler, backups, default route.

Owns the list of changes, their names for the user, and the rule for an effect that counts. `why` tests changes of one
scenario; here the changes suit links and a type of stack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.predict.links import Link
from mptcplab.predict.prediction import MIN_SEEDS, Candidate, Result, measure
from mptcplab.predict.traffic import Metric, loads
from mptcplab.stats.statistics import paired
from mptcplab.util.user_input import size, size_text
from mptcplab.why.answer import WORTH
from mptcplab.why.changes import FIRST

BUFFERS = {"rcvbuf": "6291456B", "sndbuf": "4194304B"}
"""The default maximum buffers of Linux (tcp_rmem and tcp_wmem), and the buffers of mptcplab."""
SYSCTLS = {"rcvbuf": "tcp_rmem", "sndbuf": "tcp_wmem"}
CONTROLLERS = {"linux": ("reno", "lia", "bbr"), "mptcplab": ("cubic", "reno", "bbr")}
"""Congestion controllers that are tested instead of the default: cubic in Linux, lia in mptcplab."""
SCHEDULERS = {"linux": (), "mptcplab": ("minrtt", "redundant")}
"""Schedulers that are tested. Linux has only one."""


@dataclass(frozen=True)
class Change:
    """A change of settings: its name for the user, and the changed keys of the flow."""

    name: str
    keys: dict[str, Any]


@dataclass(frozen=True)
class Effect:
    """The effect of a change on a metric: means before and after."""

    metric: Metric
    before: float
    after: float

    @property
    def is_better(self) -> bool:
        """Whether the change improves the metric."""
        return (self.after > self.before) == self.metric.is_rate

    @property
    def gain(self) -> float:
        """The relative improvement; negative for a worse value."""
        first, second = (self.after, self.before) if self.metric.is_rate else (self.before, self.after)
        return first / second - 1 if second else math.inf


@dataclass(frozen=True)
class Tested:
    """A tested change, and its effects that count."""

    candidate: Candidate
    change: Change
    effects: list[Effect]

    def of(self, metric: Metric) -> Effect | None:
        """The effect on a metric, if it counts."""
        return next((effect for effect in self.effects if effect.metric is metric), None)


def changes(candidate: Candidate, links: Sequence[Link]) -> list[Change]:
    """The changes for an MPTCP candidate."""
    stack = candidate.stack or "linux"
    found = []
    for factor in (FIRST, 1 / FIRST):
        for keys in (("rcvbuf",), ("sndbuf",), ("rcvbuf", "sndbuf")) if factor > 1 else (("rcvbuf", "sndbuf"),):
            larger = {key: size_text(round(size(candidate.policy.get(key, BUFFERS[key])) * factor)) for key in keys}
            found.append(Change(" with ".join(_buffer(stack, *item) for item in larger.items()), larger))
    found += [Change(f"congestion control {name}", {"congestion": name}) for name in CONTROLLERS[stack]]
    found += [Change(f"scheduler {name}", {"scheduler": name}) for name in SCHEDULERS[stack]]
    names = [link.name for link in links]
    found += [Change(f"{name} as backup", {"backup": [name]}) for name in names]
    for name in names[1:]:
        order = [name, *(other for other in names if other != name)]
        found.append(Change(f"{name} as the default route", {"paths": order}))
    return found


def _buffer(stack: str, key: str, value: str) -> str:
    amount = f"{size(value) / 2**20:.3g} MiB"
    return f"{SYSCTLS[key]} up to {amount}" if stack == "linux" else f"{key} of {amount}"


def try_changes(
    links: Sequence[Link], results: Sequence[Result], traffic: Sequence[str], seeds: Sequence[int], **options: Any
) -> list[Tested]:
    """Tests the changes of each MPTCP candidate, all in one batch, with half of the seeds. Videos are not tested."""
    wanted = loads(traffic, links)
    seeds = seeds[: max(MIN_SEEDS, math.ceil(len(seeds) / 2))]
    pairs = [
        (result, change)
        for result in results
        if result.candidate.stack is not None
        for change in changes(result.candidate, links)
    ]
    choices = [
        Candidate(change.name, {**result.candidate.policy, **change.keys}, stack=result.candidate.stack)
        for result, change in pairs
    ]
    after = measure(links, choices, wanted, seeds, **options)
    return [
        Tested(before.candidate, change, _effects(before, changed))
        for (before, change), changed in zip(pairs, after, strict=True)
    ]


def _effects(before: Result, after: Result) -> list[Effect]:
    """Effects of at least 5% that exceed random variation."""
    found = []
    for metric, old in before.values.items():
        pairs = list(zip(old, after.values[metric], strict=False))
        first = [one for one, other in pairs if one is not None and other is not None]
        second = [other for one, other in pairs if one is not None and other is not None]
        if not first or len(first) != len(pairs):
            continue
        # All seeds give the value before, so that it is the one of the result.
        mean, new = math.fsum(value or 0.0 for value in old) / len(old), math.fsum(second) / len(second)
        least = max(metric.worth, (WORTH - 1) * mean)
        gain = paired(second, first).difference
        is_sure = len(first) < 2 or gain.low > 0 or gain.high < 0
        if abs(new - mean) >= least and is_sure:
            found.append(Effect(metric, mean, new))
    return found
