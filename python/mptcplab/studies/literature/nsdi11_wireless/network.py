"""The networks of study K (Wischik et al., NSDI 2011, sections 2 and 5): WiFi and 3G of a laptop, and two wired links.

A multipath flow uses both links; in most runs, a TCP flow competes on each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, Path, Scenario
from mptcplab.studies.base import LINUX_2013

NAME = "nsdi11-wireless"

CONTROLLERS = {"ewtcp": "EWTCP", "coupled": "COUPLED", "lia": "MPTCP"}
FRAME = 1514 / 1448
"""Bytes of a frame per byte of payload; a TCP segment carries 1448 bytes with timestamps."""


def line(megabits: float) -> str:
    """The rate of a link over which TCP gets this goodput, in Mb/s."""
    return f"{megabits * FRAME:.3f}Mbit"


def wifi(megabits: float) -> Path:
    """WiFi over which TCP gets this goodput alone, in Mb/s."""
    return Path(rate=line(megabits), rtt="10ms", queue="100ms")


def cellular(megabits: float, queue: str = "2s") -> Path:
    """3G over which TCP gets this goodput alone, in Mb/s."""
    return Path(rate=line(megabits), rtt="100ms", queue=queue)


def multipath(congestion: str) -> dict[str, Any]:
    """A bulk flow over all paths."""
    return {"congestion": congestion, "sndbuf": "4MB", "rcvbuf": "4MB"} | LINUX_2013


def single(path: str) -> dict[str, Any]:
    """A bulk TCP flow over one path."""
    return multipath("reno") | {"transport": "tcp", "paths": [path]}


def scenario(name: str, paths: dict[str, Path], flows: dict[str, Any], seconds: float, warmup: float) -> Scenario:
    """Bulk flows over `paths`; times in seconds."""
    return Scenario(
        defaults=AS_STUDIED,
        name=name,
        duration=f"{seconds:g}s",
        warmup=f"{warmup:g}s",
        sample=f"{seconds / 4:g}s",
        paths=paths,
        flows=flows,
    )


def rate(flow: str) -> Callable[[Run], float]:
    """The goodput of a flow, in Mb/s."""

    def value(run: Run) -> float:
        return run.flow(flow)["goodput"] / 1e6

    return value
