"""A sweep over the size of the receive buffer, with five seeds per point and 95% intervals.

Run it: `python examples/sweep.py`.
"""

from __future__ import annotations

from mptcplab import Flow, Path, Scenario
from mptcplab.stats.statistics import estimate

BUFFERS = ["50KB", "100KB", "200KB", "400KB"]

scenario = Scenario(
    duration="10s",
    warmup="2s",
    paths={
        "wifi": Path(rate="8Mbit", rtt="20ms", loss="0.1%"),
        "3g": Path(rate="2Mbit", rtt="150ms"),
    },
    flows={"bulk": Flow(congestion="lia")},
)
runs = scenario.sweep({"flows.bulk.rcvbuf": BUFFERS}, seeds=range(1, 6))
goodputs: dict[str, list[float]] = {}
for row in runs.flows.select(["variant", "goodput"]).to_pylist():
    goodputs.setdefault(row["variant"], []).append(row["goodput"] / 1e6)
for variant, values in goodputs.items():
    mean = estimate(values)
    print(f"{variant}: {mean} Mb/s")
