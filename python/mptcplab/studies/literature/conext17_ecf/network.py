"""The network of study I (ECF, CoNEXT 2017): WiFi and LTE with regulated rates.

Owns the two paths, the stack of the paper's kernel, and the flow of the client's download.
"""

from __future__ import annotations

from typing import Any

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, Flow, Path, Scenario
from mptcplab.studies.base import LINUX_2013

NAME = "conext17-ecf"

STACK: dict[str, Any] = {
    **LINUX_2013,
    "penalty_rule": "kernel_0.89",
    "autotuning": True,
    "restart_after_idle": True,
    "congestion": "lia",
}
"""Linux 3.x with release 0.89 of MPTCP, which restarts from the initial window after an idle time."""


JITTER = "1ms"
"""Jitter in both directions, so that runs without losses differ by seed; packets stay in order."""
QUEUES = {"1000p": "queues of 1000 packets", "50p": "queues of 50 packets"}
"""The interpretations of the queues, which decide how much data a slow path takes before its RTT grows."""


def paths(wifi: float, lte: float, queue: str) -> dict[str, Path]:
    """WiFi and LTE with rates in Mb/s."""
    return {
        "wifi": Path(rate=f"{wifi}Mbit", delay="20ms", jitter=JITTER, queue=queue),
        "lte": Path(rate=f"{lte}Mbit", delay="45ms", jitter=JITTER, queue=queue),
    }


def download(name: str, rates: tuple[float, float], queue: str, seconds: int, **keys: Any) -> Scenario:
    """One download over WiFi and LTE with rates in Mb/s; `keys` are those of the flow."""
    wifi, lte = rates
    return Scenario(
        defaults=AS_STUDIED,
        name=f"{name}, WiFi {wifi:g} Mb/s, LTE {lte:g} Mb/s, {QUEUES[queue]}",
        duration=f"{seconds}s",
        paths=paths(wifi, lte, queue),
        flows={"download": Flow(direction="download", more=STACK | keys)},
        until_done="bytes" in keys,
    )


def share_of_wifi(run: Run) -> float:
    """Share of the payload that was acknowledged on WiFi."""
    paths = {row["path"]: row["bytes_acked"] for row in run.flow()["paths"]}
    return paths.get("wifi", 0) / sum(paths.values())
