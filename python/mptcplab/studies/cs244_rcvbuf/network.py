"""The network of study C (the CS244 report of 2014 on receive buffers), with both interpretations of its queues.

Owns the WiFi and 3G paths, the flows, and the sets of mechanisms: M1 (opportunistic retransmission) alone, with M2
(penalisation), or none. The text specifies the queues in two ways (`READINGS`). As in the original (NSDI 2012), they
hold 80 ms of WiFi and 2 s of 3G, which are 53 and 333 packets of 1500 bytes. As the bandwidth-delay product, they hold
13 and 25 packets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Path, Scenario
from mptcplab.studies.base import LINUX_2013, Effort

NAME = "cs244-rcvbuf"

READINGS: dict[str, tuple[int, int]] = {"53/333 packets": (53, 333), "13/25 packets": (13, 25)}
"""The interpretations of the study's queues: packets of WiFi and 3G."""

MAIN = "53/333 packets"
WHY = "the original (NSDI 2012), which this study reproduces, has these queues"
JITTER = "100us"
"""Jitter in both directions without reordering, so that runs without losses differ by seed; each packet occupies these
links for at least 1.5 ms.
"""

MECHANISMS: dict[str, dict[str, bool]] = {
    "none": {"opportunistic_retransmission": False, "penalisation": False},
    "M1": {"opportunistic_retransmission": True, "penalisation": False},
    "M1+M2": {"opportunistic_retransmission": True, "penalisation": True},
}


def paths(reading: str, **wifi: str) -> dict[str, Path]:
    """WiFi and 3G with one interpretation of the queues; `wifi` changes values of WiFi."""
    of_wifi, of_3g = READINGS[reading]
    first = Path(rate="8Mbit", rtt="20ms", queue=f"{of_wifi}p", jitter=JITTER)
    return {"wifi": replace(first, **wifi), "3g": Path(rate="2Mbit", rtt="150ms", queue=f"{of_3g}p", jitter=JITTER)}  # type: ignore[arg-type]


def tcp(all_paths: Mapping[str, Path], path: str, kilobytes: int, **more: bool) -> Scenario:
    """Plain TCP (Reno) over one of the paths; `more` has further keys of the flow."""
    flow = {"transport": "tcp", **more}
    return _bulk(f"TCP over {path}, {kilobytes} KB", {path: all_paths[path]}, kilobytes, flow)


def mptcp(all_paths: Mapping[str, Path], mechanisms: str, kilobytes: int, **more: bool) -> Scenario:
    """MPTCP (LIA) over all paths; `more` has further keys of the flow."""
    flow = {"transport": "mptcp", "congestion": "lia", **MECHANISMS[mechanisms], **more}
    return _bulk(f"MPTCP with {mechanisms}, {kilobytes} KB", all_paths, kilobytes, flow)


def _bulk(name: str, over: Mapping[str, Path], kilobytes: int, flow: dict[str, Any]) -> Scenario:
    size = f"{kilobytes}KB"
    bulk = LINUX_2013 | flow | {"rcvbuf": size, "sndbuf": size}
    return Scenario(
        defaults=AS_STUDIED,
        jitter=NO_JITTER,
        name=name,
        duration="40s",
        warmup="10s",
        sample="1s",
        paths=over,
        flows={"bulk": bulk},
    )


def seeds(effort: Effort) -> range:
    """The seeds of a point; without loss, runs differ only by their jitter."""
    return effort.seeds(2, 5, 5)
