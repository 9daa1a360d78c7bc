"""The network of study A (Lim and Valdez, CS244 at Stanford, 2013).

Owns its three paths and the bulk flow. In the study, each path is an Ethernet link of 1 ms to a switch and a radio link
behind it. Here it is one link with the total delay. Random loss applies to both directions, as Mininet configures both
ends. The queue is Mininet's default, because the study does not specify it. The stack is that of the kernel of that
time (`LINUX_2013`).
"""

from __future__ import annotations

from typing import Any

from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Path, Scenario
from mptcplab.studies.base import LINUX_2013

NAME = "cs244-wireless"

CONTROLLER = "cubic"
"""The default of Ubuntu 12.04, on which the study ran; the study names no controller."""

ETHERNET = Path(rate="10Mbit", delay="2ms", queue="1000p")
WIFI = Path(rate="2Mbit", delay="6ms", loss="3%", queue="1000p")
CELLULAR = Path(rate="2Mbit", delay="76ms", loss="2%", queue="1000p")


def bulk(
    name: str,
    paths: dict[str, Path],
    *,
    rcvbuf: str,
    transport: str,
    congestion: str,
    sndbuf: str | None = None,
) -> Scenario:
    """One bulk flow over all of `paths`: 10 s to settle, 30 s measured."""
    flow: dict[str, Any] = {"transport": transport, "congestion": congestion}
    flow |= LINUX_2013 | {"rcvbuf": rcvbuf, "sndbuf": sndbuf or rcvbuf}
    return Scenario(
        defaults=AS_STUDIED,
        jitter=NO_JITTER,
        name=name,
        duration="40s",
        warmup="10s",
        sample="1s",
        paths=paths,
        flows={"bulk": flow},
    )
