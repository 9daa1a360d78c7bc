"""The network of study D: two clients, a bridge with dummynet pipes, a server; all lines of 100 Mb/s.

Owns the topology and the variants. What the study does not say is an assumption here: the queue of the
bottleneck, the buffers, the direction of the losses (data alone), and a jitter of 50 µs on the clients' lines
that keeps three clocked senders from locking into one pattern, so that the seed matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mptcplab.scenario import HISTORICAL, Scenario
from mptcplab.studies.base import LINUX_2013, Effort

NAME = "ro-bottleneck"

LINE = 100.0
"""Mb/s of each line."""
BASE_RTT = 0.4
"""ms of round trip without the bridge's pipes; the study says less than 1 ms."""
QUEUE = 100
"""Packets of the bottleneck's queue where it is not swept; the study names none."""
WARMUP = 5
"""Seconds left out at the start; the study measured ten minutes with them."""

FIRST, SECOND, SINGLE = "nic1", "nic2", "nic"


@dataclass(frozen=True)
class Variant:
    """One reading of what ran."""

    controller: str
    """Of the MPTCP flow; TCP has Reno."""
    queue: int = QUEUE
    """Packets of the bottleneck."""
    ports: bool = False
    """Whether the bottleneck serves the three ports in turn: a third of its rate to each, and their queues hold
    1000 packets, more than the windows fill. Otherwise one queue takes all, and the buffers are tuned by Linux."""


VARIANTS: dict[str, Variant] = {
    "LIA": Variant("lia"),
    "Reno on each subflow": Variant("reno"),
    "LIA, ports in turn": Variant("lia", ports=True),
}
"""LIA is what the study names. The second is no coupling at all. In the third LIA never sees the others' losses."""

PORT_BUFFER = "768KB"
"""Buffers with ports in turn: less than a port's queue, and a line of 33 Mb/s at 200 ms.

Chosen after looking at results, as was the rule of M2 (`later`): Linux's buffer tuning gave a ratio of 1.3 below 1 ms
and 1.05 at 200 ms, 6 MB gave 2.0 and 1.6, 512 KB 2.0 and 1.0 with less than 1.6 at 50 ms; and with the original rule of
M2 one subflow starved at 25 ms (ratio 1.0). So this variant shows what can explain the study, not what did.
"""


def scenario(  # noqa: PLR0913, RUF100 - what the study varies
    variant: Variant,
    effort: Effort,
    *,
    rtt: float = 0.0,
    loss: float = 0.0,
    one_sided: bool = False,
    seconds: int | None = None,
) -> Scenario:
    """MPTCP against TCP.

    `rtt` is the round trip in ms, 1 and less means without a pipe; `loss` a fraction of the data packets.
    `one_sided` lets only the first subflow have them. `seconds` is how long, if not as long as is usual.
    """
    length = seconds or _seconds(variant, effort, rtt, loss, one_sided=one_sided)
    port = {"delay": "100us", "jitter": "50us", "queue": "1000p", "rate": f"{LINE:g}Mbit"}
    if variant.ports:
        port["forward"] = {"rate": f"{LINE / 3 * 1000:.0f}kbit"}  # type: ignore[assignment]
    lines = {
        FIRST: {"ends": ["mptcp-client", "bridge"], **port},
        SECOND: {"ends": ["mptcp-client", "bridge"], **port},
        SINGLE: {"ends": ["tcp-client", "bridge"], **port},
        "bottleneck": {
            "ends": ["bridge", "server"],
            "rate": f"{LINE:g}Mbit",
            "delay": "100us",
            "queue": f"{variant.queue}p",
        },
    }
    buffers = {"rcvbuf": PORT_BUFFER, "sndbuf": PORT_BUFFER} if variant.ports else {"autotuning": True}
    stack: dict[str, Any] = {"to": "server", **LINUX_2013, **buffers}
    flows = {
        "mptcp": {
            "from": "mptcp-client",
            "transport": "mptcp",
            "congestion": variant.controller,
            "penalty": "later",
            **stack,
        },
        "tcp": {"from": "tcp-client", "transport": "tcp", "congestion": "reno", **stack},
    }
    pipes = _pipes(rtt, loss, one_sided=one_sided)
    more: dict[str, Any] = {"links": lines, "warmup": f"{WARMUP}s", "sample": "1s"}
    if pipes:
        more["filters"] = pipes
    where = f"{max(rtt, 1):g} ms, {loss:.2%}" + (", first subflow alone" if one_sided else "")
    name = f"{variant.controller}, {where}, {variant.queue} packets" + (", ports in turn" if variant.ports else "")
    return Scenario(defaults=HISTORICAL, name=name, duration=f"{length}s", flows=flows, **more)


def _seconds(variant: Variant, effort: Effort, rtt: float, loss: float, *, one_sided: bool) -> int:
    """Ten minutes, as the study, with full effort; otherwise as long as it takes to say the same.

    LIA on one queue grows by a quarter of a packet each round trip: on a long line that takes minutes. Where nearly
    everything is lost, few packets arrive, and ten minutes of them cost nothing.
    """
    if not one_sided and loss >= 0.3:
        return effort.pick(60, 600, 600)
    slow = {100: 120, 200: 300, 500: 600} if variant == VARIANTS["LIA"] and not one_sided else {}
    return effort.pick(8, slow.get(int(rtt), 30), 600)


def _pipes(rtt: float, loss: float, *, one_sided: bool) -> list[dict[str, Any]]:
    """Half of the delay each way, the losses on the way of the data."""
    where: dict[str, Any] = {"link": "bottleneck"}
    if one_sided:
        where |= {"flows": ["mptcp"], "paths": [FIRST]}
    pipes = []
    if rtt > 1:
        pipes.append(where | {"delay": f"{(rtt - BASE_RTT) / 2:g}ms"})
    if loss > 0:
        pipes.append(where | {"direction": "forward", "loss": f"{loss * 100:g}%"})
    return pipes


def seeds(effort: Effort) -> range:
    """Five repetitions, as in the study."""
    return range(1, effort.pick(2, 5, 5) + 1)
