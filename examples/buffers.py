"""DSL with LTE compared with DSL alone: forty buffers from 100 kB to 8 MB, with today's defaults and those of 2012.

Run it: `python examples/buffers.py [DIRECTORY]`.
"""

from __future__ import annotations

import sys
from pathlib import Path as File
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from mptcplab import Flow, Path, Scenario
from mptcplab.scenario.definition import HISTORICAL

directory = File(sys.argv[1] if len(sys.argv) > 1 else ".")
BUFFERS = np.geomspace(100e3, 8e6, 40).round().astype(int)
FLOWS: dict[str, tuple[Flow, dict[str, Any]]] = {
    "plain TCP over DSL": (Flow(transport="tcp", paths=["dsl"]), {}),
    "Multipath TCP, the default": (Flow(), {}),
    "Multipath TCP, CUBIC": (Flow(congestion="cubic"), {}),
    "Multipath TCP, the rules of 2012": (Flow(), HISTORICAL),
}
LOOKS = ["--k", "-", "-.", ":"]

figure, axes = plt.subplots(layout="constrained")
goodput: dict[str, NDArray[np.float64]] = {}
for look, (name, (flow, rules)) in zip(LOOKS, FLOWS.items(), strict=True):
    scenario = Scenario(
        duration="20s",
        warmup="5s",
        paths={
            "dsl": Path(rate="50Mbit", rtt="20ms", queue="50ms"),
            "lte": Path(rate="30Mbit", rtt="60ms", jitter="15ms", queue="1s"),
        },
        flows={"bulk": flow},
        defaults=rules,
    )
    runs = scenario.sweep({"flows.bulk.{rcvbuf,sndbuf}": [f"{size}B" for size in BUFFERS]}, seeds=[1])
    goodput[name] = np.array([run.flow("bulk")["goodput"] / 1e6 for run in runs])
    axes.semilogx(BUFFERS / 1e6, goodput[name], look, label=name)
alone, *others = goodput.values()
for name, both in zip(list(FLOWS)[1:], others, strict=True):
    print(f"{name}: at least {min(both / alone):.2f} of plain TCP over DSL")
axes.set(xlabel="send and receive buffer [MB]", ylabel="goodput [Mb/s]", ylim=(0, None))
axes.set_xticks(ticks := [0.1, 0.2, 0.5, 1, 2, 5], labels=[f"{tick:g}" for tick in ticks])
axes.minorticks_off()
axes.legend()
figure.savefig(directory / "buffers.png", dpi=120)
print(f"wrote {directory / 'buffers.png'}")
