"""The stack of study F (hands-on lab of the SIGCOMM 2020 tutorial on multipath transport).

Owns the settings of the lab's kernel, and the delay of a request and its response. The lab runs the mptcp.org kernel
4.14 in Mininet. Its scripts set the buffers and OLIA as the default congestion control.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mptcplab.results.run import Run
from mptcplab.scenario.definition import HISTORICAL, Flow
from mptcplab.studies.base import RECOVERY
from mptcplab.studies.literature.measures import block_delays

NAME = "sigcomm20-tutorial"

STACK: dict[str, Any] = {
    **HISTORICAL,
    **RECOVERY,
    "penalty_rule": "kernel_0.89",
    "version": "v0",
    "autotuning": True,
    "rcvbuf": "16777216B",
    "sndbuf": "4194304B",
    "restart_after_idle": True,
    "cwnd_limited_per_round": True,
}
"""The kernel of the lab, with the limits of tcp_rmem and tcp_wmem that its scripts set."""

CONTROLLER = "olia"
"""The default of the lab's scripts."""

REQUEST, RESPONSE = "request", "response"
PERIOD = "250ms"


def exchange(size: int, *, scheduler: str, transport: str = "mptcp", **keys: Any) -> dict[str, Flow]:
    """One flow of requests and one of responses, a block of `size` bytes each every 250 ms."""
    common = STACK | {
        "transport": transport,
        "congestion": CONTROLLER if transport == "mptcp" else "reno",
        "scheduler": scheduler,
        "nagle": False,
        "delayed_ack": False,
        "blocks": f"{size}B",
        "rate": f"{size * 8 * 4}bit",
        **keys,
    }
    return {
        REQUEST: Flow(direction="upload", more=common),
        RESPONSE: Flow(direction="download", more=common),
    }


def exchange_delays(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Time of each request in s, and its delay until the end of the response in ms.

    The delay is the sum of the delays of the request and of the response with the same number.
    """
    written, there = block_delays(run, REQUEST)
    _, back = block_delays(run, RESPONSE)
    number = min(len(there), len(back))
    return written[:number], there[:number] + back[:number]
