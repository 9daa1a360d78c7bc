"""The network of study H (BLEST, IFIP Networking 2016): WLAN and 3G.

Owns the two paths in both interpretations of their delays, and the stacks of the kernels that the paper may have used.
"""

from __future__ import annotations

from typing import Any

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, Flow, Path, Scenario
from mptcplab.studies.base import LINUX_2013, RECOVERY

NAME = "ifip16-blest"

DELAYS = {"one-way": "one-way delays", "rtt": "RTTs"}
"""The interpretations of 25 and 65 ms, the delays of WLAN and 3G."""
KERNELS: dict[str, dict[str, Any]] = {
    "3.x, M2 of 2012": LINUX_2013 | {"penalty_rule": "original"},
    "3.x": LINUX_2013 | {"penalty_rule": "kernel_0.89"},
    "4.x": RECOVERY | {"penalty_rule": "kernel_0.89"},
}
"""Kernels of MPTCP: releases 0.87 and 0.88, 0.89 and 0.90, and from 0.91 on. From 4.0 on, windows grow per byte."""
WHY = "the meaning of the delays and the kernel"
"""The settings that the quoted numbers leave open."""
OFF: dict[str, Any] = {"opportunistic_retransmission": False, "penalisation": False}
"""Without M1 and M2."""


def paths(delays: str) -> dict[str, Path]:
    """WLAN and 3G; `delays` is a key of `DELAYS`."""
    wlan = Path(rate="25Mbit", loss="1%", queue="100p")
    cellular = Path(rate="5Mbit", queue="3750p")
    if delays == "one-way":
        wlan.delay, cellular.delay = "25ms", "65ms"
    else:
        wlan.rtt, cellular.rtt = "25ms", "65ms"
    return {"wlan": wlan, "3g": cellular}


def scenario(name: str, delays: str, kernel: str, seconds: int, **keys: Any) -> Scenario:
    """One flow; `keys` are those of the flow."""
    flow = {"congestion": "olia", "rcvbuf": "1MiB", "sndbuf": "1MiB"}
    return Scenario(
        defaults=AS_STUDIED,
        name=f"{name}, {DELAYS[delays]}, Linux {kernel}",
        duration=f"{seconds}s",
        paths=paths(delays),
        flows={"flow": Flow(more=flow | KERNELS[kernel] | keys)},
        until_done="bytes" in keys,
    )


def share_of_3g(run: Run) -> float:
    """Share of the payload that was acknowledged on 3G."""
    paths = {row["path"]: row["bytes_acked"] for row in run.flow()["paths"]}
    return paths.get("3g", 0) / sum(paths.values())
