"""The network of study D (Ro and Nguyen Van, IJCCE 2016): two clients, a bridge with dummynet pipes, a server, and
links of 100 Mb/s.

Owns the topology and the variants of all experiments (D0 to D5). `assumptions` lists unspecified settings. A pipe adds
delay or loss. Pipes are on the clients' links, so that the bottleneck's queue knows the input port of a packet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Scenario
from mptcplab.studies.base import LINUX_2013, Effort

NAME = "ro-bottleneck"

LINE = 100.0
"""Rate of each link, Mb/s."""
BASE_RTT = 0.4
"""RTT in ms without the bridge's pipes; under 1 ms in the study."""
QUEUE = 100
"""Packets of the bottleneck's queue if it is not swept; the study does not specify it."""
WARMUP = 5
"""Excluded seconds at the start; the study measured ten minutes including them."""
CONTROL_SEEDS = 5
"""Maximum seeds of a control in a given block of seeds."""

FIRST, SECOND, SINGLE = "nic1", "nic2", "nic"

STACK: dict[str, Any] = {**LINUX_2013, "autotuning": True, "small_queues": "128KB", "ssthresh": "64KB"}
"""Linux's buffer tuning, its small queues since 3.6, and a slow start that ends at the value of tcp_metrics, the same
in every variant.
"""


@dataclass(frozen=True)
class Variant:
    """A variant of the experiment: MPTCP's controller, and the queueing at the bottleneck."""

    controller: str
    """Controller of the MPTCP flow; TCP uses Reno."""
    queue: int = QUEUE
    """Length of the bottleneck's queue, packets."""
    ports: bool = False
    """Whether the bottleneck serves the three ports in turn, one packet each without idling, with 1000 packets for
    each.
    """


VARIANTS: dict[str, Variant] = {
    "LIA": Variant("lia"),
    "no coupling": Variant("reno"),
    "LIA, ports in turn": Variant("lia", ports=True),
    "no coupling, ports in turn": Variant("reno", ports=True),
}
"""The study names LIA. It does not specify whether the bottleneck had one queue or served its ports in turn. Reno on
each subflow is run for comparison: the result without coupling.
"""


def scenario(  # noqa: PLR0913, RUF100 - what the study varies
    variant: Variant,
    effort: Effort,
    *,
    rtt: float = 0.0,
    loss: float = 0.0,
    one_sided: bool = False,
    both_ways: bool = False,
    seconds: int | None = None,
) -> Scenario:
    """An MPTCP flow and a TCP flow on the bottleneck.

    `rtt` is the RTT in ms; up to 1, the bridge has no pipe. `loss` is a fraction of the data packets. With `one_sided`,
    only the first subflow has the delay and losses. With `both_ways`, acknowledgements are lost too. `seconds` is the
    length of the run; by default it depends on the effort.
    """
    length = seconds or _seconds(effort, rtt, loss, one_sided=one_sided)
    port = {"delay": "100us", "jitter": "50us", "queue": "1000p", "rate": f"{LINE:g}Mbit"}
    arbiter: Any = {"kind": "round_robin", "by": "port", "limit": "1000p"} if variant.ports else f"{variant.queue}p"
    lines = {
        FIRST: {"ends": ["mptcp-client", "bridge"], **port},
        SECOND: {"ends": ["mptcp-client", "bridge"], **port},
        SINGLE: {"ends": ["tcp-client", "bridge"], **port},
        "bottleneck": {
            "ends": ["bridge", "server"],
            "rate": f"{LINE:g}Mbit",
            "delay": "100us",
            "queue": arbiter,
        },
    }
    stack: dict[str, Any] = {"to": "server", **STACK}
    flows = {
        "mptcp": {
            "from": "mptcp-client",
            "transport": "mptcp",
            "congestion": variant.controller,
            "penalty_rule": "kernel_0.89",
            **stack,
        },
        "tcp": {"from": "tcp-client", "transport": "tcp", "congestion": "reno", **stack},
    }
    pipes = _pipes(rtt, loss, one_sided=one_sided, both_ways=both_ways)
    more: dict[str, Any] = {"links": lines, "warmup": f"{WARMUP}s", "sample": "1s"}
    if pipes:
        more["filters"] = pipes
    # Without a pipe all experiments have the same network, by the same name, and run it once.
    where = f"{max(rtt, 1):g} ms, {loss:.2%}" + (", first subflow alone" if one_sided and pipes else "")
    where += ", acknowledgements too" if both_ways else ""
    name = f"{variant.controller}, {where}, {variant.queue} packets" + (", ports in turn" if variant.ports else "")
    return Scenario(defaults=AS_STUDIED, jitter=NO_JITTER, name=name, duration=f"{length}s", flows=flows, **more)


def _seconds(effort: Effort, rtt: float, loss: float, *, one_sided: bool) -> int:
    """The length of a run: ten minutes, as in the study, with full effort; otherwise the time that gives nearly the
    same result. LIA grows by a quarter of a packet per RTT, so its windows need minutes on a long link. At high loss
    rates few packets arrive, so ten minutes cost little time.
    """
    if not one_sided and loss >= 0.3:
        return effort.pick(20, 300, 600)
    if one_sided:
        return effort.pick(8, 100 if rtt > 1 else 50 if loss else 30, 600)
    return effort.pick(8, 30 if rtt <= 1 else 200 if rtt < 200 else 600, 600)


def _pipes(rtt: float, loss: float, *, one_sided: bool, both_ways: bool) -> list[dict[str, Any]]:
    """The pipes: half of the delay in each direction, and losses of data, with `both_ways` of acknowledgements too."""
    pipes: list[dict[str, Any]] = []
    for line in (FIRST,) if one_sided else (FIRST, SECOND, SINGLE):
        if rtt > 1:
            pipes.append({"link": line, "delay": f"{(rtt - BASE_RTT) / 2:g}ms"})
        if loss > 0:
            way = {} if both_ways else {"direction": "forward"}
            pipes.append({"link": line, **way, "loss": f"{loss * 100:g}%"})
    return pipes


def seeds(effort: Effort, *, control: bool = False, chance: bool = True) -> range:
    """The seeds of a point; the study repeated each test five times. A run takes minutes, so only `full` has more
    seeds.

    A `control` decides no verdict, so it gets no more seeds if a claim is undecided. With default effort, it gets fewer
    without random loss (`chance` is false).
    """
    if control:
        effort = replace(effort, times=1, exactly=min(effort.exactly, CONTROL_SEEDS) if effort.exactly else None)
    elif effort.name != "full":
        effort = replace(effort, times=1)
    return effort.seeds(2, 2 if control and not chance else 3, 5, comparison=control)
