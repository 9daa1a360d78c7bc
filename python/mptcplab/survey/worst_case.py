"""A search for the network on which a policy, a set of flow keys, is slowest relative to plain TCP over the best path.

It finds weaknesses that random networks miss. It changes the worst generated network, in steps that shrink if no change
is worse. A network counts only if its upper bound is at least 85% of the best path. The minimum of many noisy means is
biased, so other seeds measure each finding again and decide.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mptcplab.survey.measure import Measured, Policy, remeasure, survey
from mptcplab.survey.networks import FRAME, Link, Network, draw
from mptcplab.survey.upper_bound import bound

if TYPE_CHECKING:
    from concurrent.futures import Executor

POSSIBLE = 0.85
"""The minimum upper bound of a network, as a share of the best path."""
CONFIRM = 10
"""Held-out seeds that measure a finding again, if the network is random."""
DRAWN, CHANGED = 12, 8
"""Networks generated at the start, and changes per step."""
LIMITS = {
    "rate": (1e6, 100e6),
    "rtt": (5e-3, 400e-3),
    "queue": (0.3, 5.0),
    "loss": (1e-4, 2e-2),
    "buffer": (200e3, 4e6),
}
"""Limits of the search: those of generated networks. Queues are in bandwidth-delay products; others as in `Link`."""


def search_worst(
    policy: Policy,
    seconds: float,
    *,
    seed: int = 1,
    seeds: int = 3,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Iterator[Measured]:
    """Searches for `seconds` of wall-clock time; yields each network that is worse than all before."""
    chance = np.random.default_rng([seed, 0x68756E74])
    end = time.monotonic() + seconds
    found: Measured | None = None
    asked: Measured | None = None
    start = 0
    while time.monotonic() < end:
        drawn = [draw(seed, 1_000_000 + start * DRAWN + at) for at in range(DRAWN)]
        start += 1
        worst = _worst(drawn, policy, seeds, workers, executor)
        step = 0.5
        while worst is not None and step > 0.05 and time.monotonic() < end:
            if worst is not asked and (found is None or worst.of_best < found.of_best):
                asked, confirmed = worst, _confirmed(worst, policy, seeds, workers, executor)
                if found is None or confirmed.of_best < found.of_best:
                    found = confirmed
                    yield found
            changed = [_changed(worst.network, step, chance) for _ in range(CHANGED)]
            best = _worst(changed, policy, seeds, workers, executor)
            if best is not None and best.of_best < worst.of_best:
                worst = best
            else:
                step /= 2


def _worst(
    networks: list[Network], policy: Policy, seeds: int, workers: int | None, executor: Executor | None
) -> Measured | None:
    measured = survey(networks, [policy], seeds=seeds, workers=workers, executor=executor, quiet=True)
    possible = [one for one in measured if bound(one.network) >= POSSIBLE * one.best]
    return min(possible, key=lambda one: one.of_best, default=None)


def _confirmed(worst: Measured, policy: Policy, seeds: int, workers: int | None, executor: Executor | None) -> Measured:
    if not worst.network.chance:
        return worst
    others = range(seeds + 1, seeds + 1 + CONFIRM)
    return remeasure(worst.network, policy, others, workers=workers, executor=executor)


def _changed(network: Network, step: float, chance: np.random.Generator) -> Network:
    def moved(value: float, limits: tuple[float, float]) -> float:
        return float(np.clip(value * np.exp(chance.normal(0, step)), *limits))

    def link(old: Link) -> Link:
        rate, rtt = moved(old.rate, LIMITS["rate"]), moved(old.rtt, LIMITS["rtt"])
        depth = moved(max(old.queue * FRAME / old.bdp, 0.3), LIMITS["queue"])
        loss = moved(old.loss, LIMITS["loss"]) if old.loss else 0.0
        return dataclasses.replace(
            old, rate=rate, rtt=rtt, queue=max(10, round(depth * rate * rtt / 8 / FRAME)), loss=loss
        )

    buffer = None if network.buffer is None else round(moved(network.buffer, LIMITS["buffer"]))
    name = f"{network.name.split('~')[0]}~{chance.integers(1 << 30):x}"
    return Network(name, tuple(link(old) for old in network.links), buffer)
