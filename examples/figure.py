"""A figure of the congestion windows of two paths, and of the throughput.

Run it: `python examples/figure.py [DIRECTORY]`.
"""

from __future__ import annotations

import sys
from pathlib import Path as File

from mptcplab import Flow, Path, Scenario

directory = File(sys.argv[1] if len(sys.argv) > 1 else ".")
scenario = Scenario(
    name="two paths",
    duration="20s",
    sample="50ms",
    paths={
        "wifi": Path(rate="8Mbit", rtt="20ms", queue="53p"),
        "3g": Path(rate="2Mbit", rtt="150ms", queue="333p"),
    },
    flows={"bulk": Flow(congestion="olia")},
)
run = scenario.run(seed=1)
for metric in ("cwnd", "throughput"):
    figure = run.plot(metric)
    file = directory / f"{metric}.svg"
    figure.savefig(file)
    print(f"wrote {file}")
