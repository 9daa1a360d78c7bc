"""The network where a policy is worst.

Owns the search: it begins with drawn networks and changes the worst of them, in steps that become smaller while they
find nothing. What no sender could do better is no finding: the bound of `oracle` has to be above 0.85 of the best path.
The least of thousands of means over a few seeds is less than what it is the mean of; so what seems the worst is run
with other seeds, and counts as these say.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import numpy as np

from mptcplab.survey.measure import Measured, Policy, again, survey
from mptcplab.survey.networks import FRAME, Link, Network, draw
from mptcplab.survey.upper_bound import bound

POSSIBLE = 0.85
"""What the bound must reach of the best path for a network to count."""
CONFIRM = 10
"""Seeds that none of the search had, with which a finding is measured again where there is chance."""
DRAWN, CHANGED = 12, 8
"""Networks drawn at a start, and changes tried in a step."""
LIMITS = {
    "rate": (1e6, 100e6),
    "rtt": (5e-3, 400e-3),
    "queue": (0.3, 5.0),
    "loss": (1e-4, 2e-2),
    "buffer": (200e3, 4e6),
}
"""The distribution's own: what lies outside is not hunted."""


def hunt(
    policy: Policy, seconds: float, *, seed: int = 1, seeds: int = 3, workers: int | None = None
) -> Iterator[Measured]:
    """Searches for so many seconds of wall clock; gives each network that is worse than all before it."""
    chance = np.random.default_rng([seed, 0x68756E74])
    end = time.monotonic() + seconds
    found: Measured | None = None
    asked: Measured | None = None
    start = 0
    while time.monotonic() < end:
        drawn = [draw(seed, 1_000_000 + start * DRAWN + at) for at in range(DRAWN)]
        start += 1
        worst = _worst(drawn, policy, seeds, workers)
        step = 0.5
        while worst is not None and step > 0.05 and time.monotonic() < end:
            if worst is not asked and (found is None or worst.of_best < found.of_best):
                asked, confirmed = worst, _confirmed(worst, policy, seeds, workers)
                if found is None or confirmed.of_best < found.of_best:
                    found = confirmed
                    yield found
            changed = [_changed(worst.network, step, chance) for _ in range(CHANGED)]
            best = _worst(changed, policy, seeds, workers)
            if best is not None and best.of_best < worst.of_best:
                worst = best
            else:
                step /= 2


def _worst(networks: list[Network], policy: Policy, seeds: int, workers: int | None) -> Measured | None:
    measured = survey(networks, [policy], seeds=seeds, workers=workers, quiet=True)
    possible = [one for one in measured if bound(one.network) >= POSSIBLE * one.best]
    return min(possible, key=lambda one: one.of_best, default=None)


def _confirmed(worst: Measured, policy: Policy, seeds: int, workers: int | None) -> Measured:
    if not worst.network.chance:
        return worst
    return again(worst.network, policy, range(seeds + 1, seeds + 1 + CONFIRM), workers=workers)


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
