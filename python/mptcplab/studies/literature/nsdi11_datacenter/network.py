"""The networks of study L (Wischik et al., NSDI 2011, section 4): hosts of 100 Mb/s in a fat tree, and three loads.

Owns the scenarios. Each subflow has a path of its own, selected at random without repetition among the shortest paths
between its hosts. TCP gets one random path. Acknowledgements return over the same links.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, Scenario
from mptcplab.studies.base import LINUX_2013
from mptcplab.studies.literature.nsdi11_datacenter.fat_tree import FatTree

NAME = "nsdi11-datacenter"

RATE = 100.0
"""Mb/s of each link."""
SUBFLOWS = 8
"""Subflows of a connection, as in the paper; fewer if a pair of hosts has fewer paths."""
LOADS = {
    "TP1": "each host sends to one other host (a random permutation)",
    "TP2": "each host sends to 12 hosts (12 random permutations)",
    "TP3": "30% of the hosts send to one host each, and no host receives twice",
    "TP3 with repeats": "30% of the hosts send to one host each, and a host may receive several times",
}
SENDING = 0.3
"""The share of the hosts that send with TP3."""
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "tcp": ("single-path TCP", {"transport": "tcp", "congestion": "reno"}),
    "ewtcp": ("EWTCP", {"congestion": "ewtcp"}),
    "lia": ("MPTCP", {"congestion": "lia"}),
}
PAYLOAD_SHARE = {"tcp": 1448 / 1500, "mptcp": 1428 / 1500}
"""Payload of a packet of 1500 bytes: without the headers of IPv4, TCP and timestamps, and without the DSS option
(RFC 8684) of 20 bytes. The simulator of the paper has no headers.
"""

QUEUE, HOST_QUEUE = "100p", "1000p"
"""Queues of the switches and of the hosts: SWITCH_BUFFER and FEEDER_BUFFER of the authors' simulator, htsim."""
BUFFERS = {"rcvbuf": "4MB", "sndbuf": "4MB"}
"""More than the queues of a path hold, so that buffers do not limit a flow."""

Pair = tuple[str, str]


def pairs(load: str, hosts: Sequence[str], number: int) -> list[Pair]:
    """The sender and the receiver of each flow; `number` selects the random choice."""
    draw = random.Random(f"{load} {number}")  # noqa: S311 - the traffic of a simulation
    if load == "TP3 with repeats":
        senders = draw.sample(list(hosts), round(SENDING * len(hosts)))
        return [(sender, draw.choice([host for host in hosts if host != sender])) for sender in senders]
    rounds = 12 if load == "TP2" else 1
    found = [pair for _ in range(rounds) for pair in zip(hosts, _derangement(hosts, draw), strict=True)]
    return draw.sample(found, round(SENDING * len(hosts))) if load == "TP3" else found


def _derangement(hosts: Sequence[str], draw: random.Random) -> list[str]:
    """The hosts in a random order in which none is at its own place."""
    while True:
        order = draw.sample(list(hosts), len(hosts))
        if all(one != other for one, other in zip(hosts, order, strict=True)):
            return order


def scenario(
    load: str, algorithm: str, *, k: int, number: int, duration: float, warmup: float, subflows: int = SUBFLOWS
) -> Scenario:
    """One load over a fat tree of switches with `k` ports. `number` selects pairs and paths; times in seconds."""
    tree, draw = FatTree(k), random.Random(f"paths {load} {number}")  # noqa: S311
    title, settings = ALGORITHMS[algorithm]
    flows: dict[str, dict[str, Any]] = {}
    routes: list[dict[str, Any]] = []
    for at, (sender, receiver) in enumerate(pairs(load, tree.hosts, number), start=1):
        name = f"{sender}-{at}"
        paths = tree.paths(sender, receiver)
        order = draw.sample(paths, min(subflows, len(paths)))
        used = order[:1] if algorithm == "tcp" else order
        own = {} if algorithm == "tcp" else {"path_manager": "ndiffports", "subflows": len(used)}
        flows[name] = {"from": sender, "to": receiver} | settings | own | BUFFERS | LINUX_2013
        for subflow, links in enumerate(used, start=1):
            marked = {} if algorithm == "tcp" else {"subflow": subflow}
            routes.append({"from": sender, "to": receiver, "flows": [name], "links": list(links)} | marked)
            routes.append({"from": receiver, "to": sender, "flows": [name], "links": list(links[::-1])} | marked)
    return Scenario(
        defaults=AS_STUDIED,
        name=f"{load}, {title}, {tree.k**3 // 4} hosts",
        duration=f"{duration:g}s",
        warmup=f"{warmup:g}s",
        sample=f"{duration / 4:g}s",
        topology={"kind": "fat_tree", "k": k, "rate": f"{RATE:g}Mbit", "delay": "20us", "queue": QUEUE},
        limits={"flows": 5000},
        links={f"{host}-{tree.edge_of(host)}": {"forward": {"queue": HOST_QUEUE}} for host in tree.hosts},
        flows=flows,
        routes=routes,
    )


def host_rate(run: Run) -> float:
    """Mb/s of packets with headers that a sending host delivers, averaged over the sending hosts."""
    flows = run.flows.select(["flow", "multipath", "goodput"]).to_pylist()
    total: float = sum(row["goodput"] / PAYLOAD_SHARE["mptcp" if row["multipath"] else "tcp"] for row in flows)
    return total / 1e6 / len({row["flow"].partition("-")[0] for row in flows})
