"""Decisions of the default scheduler: the path of each block, a fading path, and a small receive window.

Run it: `python examples/scheduler.py [DIRECTORY]`.
"""

from __future__ import annotations

import sys
from pathlib import Path as File
from typing import TYPE_CHECKING

import numpy as np

from mptcplab import Event, Flow, Path, Scenario
from mptcplab.plots.figure_style import LOOKS, Look, curve, finish, house_style, new_figure, png

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from mptcplab.results.run import Run

directory = File(sys.argv[1] if len(sys.argv) > 1 else ".")
NAMES = {"ontime": "ontime, the default", "minrtt": "minrtt", "tcp": "plain TCP on the best path"}
STYLES: dict[str, Look] = {"ontime": LOOKS["mptcp"], "minrtt": LOOKS["wifi"], "tcp": LOOKS["model"]}
BLOCK = 8192
FIRST, LAST = 5.0, 6.0
BUFFERS = np.geomspace(100e3, 4e6, 8).round().astype(int)


def carried(run: Run) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Kilobytes of each block, by path and by type of event: new data, or a copy on a second path."""
    found: dict[tuple[str, str], NDArray[np.float64]] = {}
    for event in run.events.to_pylist():
        key = (event["path"], event["kind"])
        blocks = found.setdefault(key, np.zeros(len(run.blocks)))
        start, end = event["offset"], event["offset"] + event["bytes"]
        for block in range(start // BLOCK, min((end - 1) // BLOCK + 1, len(blocks))):
            inside = min(end, (block + 1) * BLOCK) - max(start, block * BLOCK)
            blocks[block] += inside / 1e3
    return found


def write(figure: Figure, name: str) -> None:
    """Writes a figure into the directory."""
    file = directory / f"scheduler-{name}.png"
    file.write_bytes(png(figure))
    print(f"wrote {file}")


def timeline() -> None:
    """The path of each block of an application that writes at 4 Mb/s."""
    figure, panels = new_figure(2, 2, width=4.6, height=2.6, share_y=True)
    for at, scheduler in enumerate(("ontime", "minrtt")):
        scenario = Scenario(
            duration="12s",
            paths={
                "near": Path(rate="2Mbit", rtt="10ms", queue="30p"),
                "far": Path(rate="20Mbit", rtt="80ms", queue="200p"),
            },
            flows={"app": Flow(blocks=f"{BLOCK}B", rate="4Mbit", scheduler=scheduler)},
        )
        run = scenario.run(seed=1, trace="schedule,reinjection")
        written, latency = (run.blocks[column].to_numpy() for column in ("written_s", "latency_s"))
        shown = (written >= FIRST) & (written < LAST)
        parts, height = carried(run), np.zeros(len(written))
        top, bottom = panels[at], panels[2 + at]
        for path, look in (("near", LOOKS["wifi"]), ("far", LOOKS["mptcp"])):
            for kind, label in (("schedule", path), ("reinjection", f"copy on {path}")):
                size = parts.get((path, kind), np.zeros(len(written)))
                again = kind == "reinjection"
                top.bar(
                    written[shown],
                    size[shown],
                    0.012,
                    height[shown],
                    label=label,
                    color="white" if again else look.color,
                    edgecolor=look.color,
                    hatch="////" if again else "",
                    linewidth=0.5,
                )
                height += size
        bottom.plot(written[shown], 1e3 * latency[shown], linestyle="none", marker="o", color="#222222")
        finish(top, x="", y="" if at else "part of the block [kB]", title=NAMES[scheduler], legend=None, top=18)
        finish(bottom, x="time of the write [s]", y="" if at else "block latency [ms]", legend=None, top=70)
        for axes in (top, bottom):
            axes.set_xlim(FIRST - 0.02, LAST + 0.02)
        print(f"{scheduler}: 99% of the blocks arrive within {1e3 * np.quantile(latency[written >= 2], 0.99):.0f} ms")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    write(figure, "timeline")


def fading() -> None:
    """Goodput while one of two paths falls to a hundredth of its rate, and after it returns."""
    figure, [axes] = new_figure(height=3.2)
    axes.axvspan(4, 8, color="#eeeeee")
    for scheduler in ("ontime", "minrtt"):
        scenario = Scenario(
            duration="12s",
            sample="100ms",
            paths={
                "steady": Path(rate="10Mbit", rtt="40ms", queue="50p"),
                "fading": Path(rate="20Mbit", rtt="60ms", queue="100p"),
            },
            flows={"bulk": Flow(scheduler=scheduler, rcvbuf="300KB", sndbuf="300KB")},
            events=[
                Event(at="4s", path="fading", set={"rate": "0.2Mbit"}),
                Event(at="8s", path="fading", set={"rate": "20Mbit"}),
            ],
        )
        run = scenario.run(seed=1)
        times, goodput = run.series("goodput")
        smooth = np.convolve(goodput, np.ones(4) / 4)[: len(goodput)] / 1e6
        curve(axes, times, smooth, NAMES[scheduler], STYLES[scheduler])
        low = goodput[(times > 4) & (times <= 8)].mean() / 1e6
        print(f"{scheduler}: {low:.1f} Mb/s while the path is slow")
    finish(axes, x="time [s]", y="goodput [Mb/s]", legend="lower right")
    write(figure, "fading")


def window() -> None:
    """Goodput by receive buffer, compared with plain TCP on the best path."""
    figure, [axes] = new_figure(height=3.2)
    flows = {
        "ontime": Flow(),
        "minrtt": Flow(scheduler="minrtt"),
        "tcp": Flow(transport="tcp", paths=["near"]),
    }
    for name, flow in flows.items():
        scenario = Scenario(
            duration="20s",
            warmup="5s",
            paths={
                "near": Path(rate="20Mbit", rtt="20ms", queue="50p"),
                "far": Path(rate="5Mbit", rtt="150ms", queue="100p"),
            },
            flows={"bulk": flow},
        )
        runs = scenario.sweep({"flows.bulk.{rcvbuf,sndbuf}": [f"{size}B" for size in BUFFERS]}, seeds=[1])
        goodput = [run.flow("bulk")["goodput"] / 1e6 for run in runs]
        curve(axes, BUFFERS / 1e6, goodput, NAMES[name], STYLES[name])
    axes.set_xscale("log")
    axes.set_xticks(ticks := [0.1, 0.2, 0.5, 1, 2, 4], labels=[f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    finish(axes, x="send and receive buffer [MB]", y="goodput [Mb/s]", legend="lower right")
    write(figure, "window")


with house_style():
    timeline()
    fading()
    window()
