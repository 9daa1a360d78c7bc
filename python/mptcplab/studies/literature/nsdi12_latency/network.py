"""The network of study G (application latency over WiFi and 3G, figure 7 of NSDI 2012 as reproduced by students).

Owns the two paths, the flow of blocks, and the position of the peak of its delays. The students' Mininet network has a
link of 1 ms and 1 Gb/s behind each radio link. Here each path is one link with the total delay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, Path, Scenario
from mptcplab.studies.base import LINUX_2013
from mptcplab.studies.literature.measures import block_delays

NAME = "nsdi12-latency"

WIFI = Path(rate="30Mbit", delay="6ms", loss="0.75%", queue="1000p")
JITTER = 100
"""The students' jitter on 3G, ms; they also ran 150, 200 and 250 ms."""
BIN = 20.0
"""Width of a bin of the students' histograms, ms."""

RULES = {"original": "M2 as of 2012 and 2013", "kernel_0.89": "M2 as of release 0.89"}
"""The rules of penalisation. The students' kernel is a snapshot of May 2014, just before release 0.89."""


def cellular(jitter: int, *, reorder: bool = True) -> Path:
    """3G with a jitter in ms; as in netem, it reorders packets by default."""
    return Path(rate="3Mbit", delay="31ms", jitter=f"{jitter}ms", reorder=reorder, loss="0.1%", queue="1000p")


def blocks(name: str, paths: dict[str, Path], seconds: int, **keys: Any) -> Scenario:
    """A flow of blocks of 8 KB at the maximum rate."""
    multipath = len(paths) > 1
    flow: dict[str, Any] = {
        "transport": "mptcp" if multipath else "tcp",
        "congestion": "lia" if multipath else "reno",
        "blocks": "8KB",
        "sndbuf": "200KB",
        "rcvbuf": "30KB",
        **LINUX_2013,
        **keys,
    }
    return Scenario(
        defaults=AS_STUDIED,
        name=name,
        duration=f"{seconds}s",
        warmup="1s",
        sample="1s",
        paths=paths,
        flows={"blocks": flow},
    )


def histogram(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Lower ends of the bins in ms, and the share of blocks in each bin; the first bin starts at the shortest delay."""
    _, delays = block_delays(run)
    start = np.floor(delays.min())
    edges = start + BIN * np.arange(int((delays.max() - start) / BIN) + 2)
    counts, _ = np.histogram(delays, edges)
    return edges[:-1], counts / len(delays)


def peak(run: Run) -> float:
    """Lower end of the bin with most blocks, ms, as the students' plot places it."""
    edges, shares = histogram(run)
    return float(edges[shares.argmax()])


def share_below(limit: float, run: Run) -> float:
    """Share of the blocks with a delay below `limit` in ms."""
    return float((block_delays(run)[1] < limit).mean())
