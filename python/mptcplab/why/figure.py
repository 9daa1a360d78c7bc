"""The figure of the command `mptcplab why`, which explains a flow's goodput and tests settings that may raise it.

Shows the goodput of the flow compared with plain TCP, and the limiting factors of each path. A limiting factor is the
reason why a path sends no more. A remedy is a setting that raised the goodput in a test run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mptcplab.results.text import reasons

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.why.answer import Answer


def picture(answer: Answer) -> Figure:
    """Goodput next to plain TCP, and the limiting factors of each path."""
    from mptcplab.plots import figure_style

    with figure_style.house_style():
        figure, (rates, held) = figure_style.new_figure(2, width=4.6, height=3.6)
        _rates(rates, answer)
        _held(held, answer)
    return figure


def _rates(axes: Axes, answer: Answer) -> None:
    from mptcplab.plots import figure_style

    bars = [("MPTCP, all paths", answer.goodput, "#0b5394", "")]
    bars += [(f"plain TCP, {path}", value, "#bbbbbb", "///") for path, value in answer.alone.items()]
    bars += [(answer.remedy.change, answer.remedy.goodput, "#009e73", "...")] if answer.remedy else []
    for at, (_, value, color, hatch) in enumerate(bars):
        spread = value.half_width if value.n > 1 and value.half_width > 0 else None
        axes.bar(at, value.mean, 0.66, yerr=spread, color=color, hatch=hatch, edgecolor="#333333", linewidth=0.5)
        axes.annotate(
            f"{value.mean:.2f}",
            (at, value.mean + (spread or 0)),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
        )
    if len(answer.alone) > 1:
        figure_style.published_line(axes, answer.sum, "plain TCP, total of all paths")
    axes.set_xticks(range(len(bars)), [name for name, _, _, _ in bars], rotation=20 if len(bars) > 3 else 0)
    axes.grid(visible=False, axis="x")
    high = max([answer.sum, *(value.mean + value.half_width for _, value, _, _ in bars)])
    figure_style.finish(axes, x="", y="goodput [Mb/s]", title=answer.flow, legend=None, top=1.25 * high or 1.0)
    if len(answer.alone) > 1:
        axes.legend(loc="upper right")


def mean_limits(answer: Answer) -> dict[str, dict[str, float]]:
    """By path: the share of time of each limiting factor, as the mean of the runs that used the path."""
    found: dict[str, list[dict[str, float]]] = {}
    for run in answer.runs:
        for row in run.flow(answer.flow)["paths"]:
            if row.get("limits"):
                found.setdefault(row["path"], []).append(row["limits"])
    return {
        path: {name: sum(limits.get(name, 0.0) for limits in own) / len(own) for name in own[0]}
        for path, own in found.items()
    }


def _held(axes: Axes, answer: Answer) -> None:
    from mptcplab.plots.event_plots import LIMIT_LOOKS

    held = mean_limits(answer)
    used: dict[str, None] = {}
    for at, limits in enumerate(held.values()):
        left = 0.0
        for name, share in sorted(limits.items(), key=lambda item: -item[1]):
            if share >= 0.01:
                color, hatch = LIMIT_LOOKS[name]
                label = reasons.WORDS.get(name, name) if name not in used else None
                axes.barh(at, 100 * share, 0.6, left=left, color=color, hatch=hatch, edgecolor="#333333",
                          linewidth=0.4, label=label)  # fmt: skip
                used[name] = None
                left += 100 * share
    axes.set_yticks(np.arange(len(held)), list(held))
    axes.set_ylim(len(held) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(visible=False)
    axes.set_xlabel("share of time [%]")
    axes.set_title("limiting factors of each path")
    if used:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)
