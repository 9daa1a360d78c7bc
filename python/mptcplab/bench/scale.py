"""Measures the cost of many connections in one simulation (`mptcplab bench scale`).

All connections start within a millisecond and send for the whole time over 1 Gb/s: TCP over one link, MPTCP over two
links of half the rate. The network, and so the number of packets, is nearly the same for any number of connections.
Each run is a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from typing import TypedDict

from mptcplab import _core

CONNECTIONS = (1, 100, 1_000, 10_000, 50_000)
"""Numbers of connections; a scenario has at most 60,000 flows."""
PER_TABLE = 10_000
"""Maximum `count` of a flow."""
DURATION_S = 2
"""Simulated time; long enough that all connections are established."""
TRANSPORTS = ("tcp", "mptcp")


class Row(TypedDict):
    """The result of one number of connections."""

    transport: str
    connections: int
    packets: int
    cpu_ns_per_packet: float
    bytes_per_connection: float | None
    """Memory of both ends, relative to a single connection; None for that."""


def scenario(transport: str, connections: int) -> str:
    """The scenario of a measurement."""
    links = {"tcp": ["1Gbit"], "mptcp": ["500Mbit", "500Mbit"]}[transport]
    paths = "".join(
        f'[paths.line{number}]\nrate = "{rate}"\ndelay = "10ms"\nqueue = "{1667 // len(links)}p"\n'
        for number, rate in enumerate(links)
    )
    stagger = max(1, 1_000_000 // connections)
    flows = "".join(
        f'[flows.bulk{first}]\ntransport = "{transport}"\nstart = "{first * stagger}ns"\nstagger = "{stagger}ns"\n'
        f"count = {min(PER_TABLE, connections - first)}\n"
        for first in range(0, connections, PER_TABLE)
    )
    # No samples but the last, which are rows for each connection.
    return (
        f'name = "scale"\nduration = "{DURATION_S}s"\nsample = "{DURATION_S}s"\n'
        'jitter = { start = "0s", processing = "0s" }\n'
        f'[limits]\nflows = 60000\nmemory = "32GB"\n{paths}{flows}'
    )


def measure(connections: Sequence[int] = CONNECTIONS) -> list[Row]:
    """One row for each transport and number of connections."""
    rows: list[Row] = []
    for transport in TRANSPORTS:
        single = _in_process(transport, 1)
        for count in connections:
            found = _in_process(transport, count)
            rows.append(
                {
                    "transport": transport,
                    "connections": count,
                    "packets": int(found["packets"]),
                    "cpu_ns_per_packet": found["cpu_s"] / found["packets"] * 1e9,
                    "bytes_per_connection": (found["peak"] - single["peak"]) / (count - 1) if count > 1 else None,
                }
            )
    return rows


def _in_process(transport: str, connections: int) -> dict[str, float]:
    command = [sys.executable, "-m", "mptcplab.bench.scale", transport, str(connections)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{connections} connections ended with exit code {done.returncode}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def once(transport: str, connections: int) -> dict[str, float]:
    """Packets, CPU time in seconds and peak memory in bytes of a run in this process."""
    from mptcplab.bench.simulator import peak_bytes

    built = _core.Scenario.parse(scenario(transport, connections), "scale")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    packets = _core.run(built, 1).data_packets
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    return {"packets": packets, "cpu_s": spent, "peak": peak_bytes()}


if __name__ == "__main__":
    try:
        print(json.dumps(once(sys.argv[1], int(sys.argv[2]))))
    except (RuntimeError, ValueError, OSError) as error:
        sys.exit(str(error))
