"""Generated scenarios for comparing the simulator with the kernel, held out from development.

They test predictions: no setting of the simulator was calibrated on them. Owns the distribution. Rates are low, so
that a machine with two cores can emulate several scenarios at once.
"""

from __future__ import annotations

import random
from math import exp, log
from typing import Any

from mptcplab.scenario.definition import Scenario
from mptcplab.validation.fixed_set import DURATION, WARMUP, Cell

RATE = (1.0, 16.0)
"""Path rate, Mb/s; log-uniform, like all parameters except queues."""
RTT = (10.0, 200.0)
"""Path RTT, ms."""
QUEUE = (0.5, 3.0)
"""Path queue in bandwidth-delay products; uniform, at least `LEAST` packets."""
LEAST = 15
LOSSY, LOSS = 0.25, (0.05, 2.0)
"""The share of paths with loss, and the loss rate, %."""
THIRD = 0.2
"""The share of scenarios with a third path."""
TUNED, BUFFER = 0.5, (100.0, 2000.0)
"""The share of automatically tuned buffers, for receive and send buffers separately, and the size of others, KB."""
FULL_PACKET = 1500 * 8


def drawn(number: int, seed: int) -> list[Cell]:
    """The first `number` scenarios of a seed, alternately with Reno and CUBIC."""
    return [_draw(seed, at) for at in range(number)]


def _draw(seed: int, at: int) -> Cell:
    chance = random.Random(f"{seed} {at}")  # noqa: S311 - a draw that anybody can repeat
    kind = ("reno", "cubic")[at % 2]
    name = f"generated {seed}/{at} {kind}"
    paths = {name: _path(chance) for name in ("one", "two", "three")[: 3 if chance.random() < THIRD else 2]}
    flow: dict[str, Any] = {"stack": "linux", "transport": "mptcp", "congestion": kind}
    flow["autotuning"] = chance.random() < TUNED
    if not flow["autotuning"]:
        flow["rcvbuf"] = f"{_even(chance, BUFFER):.0f}KB"
    if chance.random() >= TUNED:
        flow["sndbuf"] = f"{_even(chance, BUFFER):.0f}KB"
    scenario = Scenario(name=name, duration=DURATION, warmup=WARMUP, sample="100ms", paths=paths, flows={"bulk": flow})
    return Cell(name, scenario, blind=True)


def _path(chance: random.Random) -> dict[str, str]:
    rate, rtt = round(_even(chance, RATE), 2), round(_even(chance, RTT))
    product = rate * 1e6 * rtt / 1e3 / FULL_PACKET
    queue = max(LEAST, round(chance.uniform(*QUEUE) * product))
    path = {"rate": f"{rate}Mbit", "rtt": f"{rtt}ms", "queue": f"{queue}p", "jitter": "1ms"}
    if chance.random() < LOSSY:
        path["loss"] = f"{_even(chance, LOSS):.2g}%"
    return path


def _even(chance: random.Random, span: tuple[float, float]) -> float:
    """Log-uniform."""
    low, high = span
    return exp(chance.uniform(log(low), log(high)))
