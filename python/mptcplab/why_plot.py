"""The figure of `why`: goodput compared with plain TCP, and what held each path back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mptcplab import reasons

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.why_answer import Answer


def picture(answer: Answer) -> Figure:
    """The goodput beside plain TCP, and what held each path back."""
    from mptcplab import plots

    with plots.house_style():
        figure, (rates, held) = plots.new_figure(2, width=4.6, height=3.6)
        _rates(rates, answer)
        _held(held, answer)
    return figure


def _rates(axes: Axes, answer: Answer) -> None:
    from mptcplab import plots

    bars = [("all paths", answer.goodput, "#0b5394", "")]
    bars += [(f"TCP, {path}", value, "#bbbbbb", "///") for path, value in answer.alone.items()]
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
        plots.published_line(axes, answer.sum, "plain TCP, added up")
    axes.set_xticks(range(len(bars)), [name for name, _, _, _ in bars], rotation=20 if len(bars) > 3 else 0)
    axes.grid(visible=False, axis="x")
    high = max([answer.sum, *(value.mean + value.half_width for _, value, _, _ in bars)])
    plots.finish(axes, x="", y="goodput [Mb/s]", title=answer.flow, legend=None, top=1.25 * high or 1.0)
    if len(answer.alone) > 1:
        axes.legend(loc="upper right")


def _held(axes: Axes, answer: Answer) -> None:
    from mptcplab.event_plots import LIMIT_LOOKS

    rows = [row for row in answer.runs[0].flow(answer.flow)["paths"] if row.get("limits")]
    used: dict[str, None] = {}
    for at, row in enumerate(rows):
        left = 0.0
        for name, share in sorted(row["limits"].items(), key=lambda item: -item[1]):
            if share >= 0.01:
                color, hatch = LIMIT_LOOKS[name]
                label = reasons.WORDS.get(name, name) if name not in used else None
                axes.barh(at, 100 * share, 0.6, left=left, color=color, hatch=hatch, edgecolor="#333333",
                          linewidth=0.4, label=label)  # fmt: skip
                used[name] = None
                left += 100 * share
    axes.set_yticks(np.arange(len(rows)), [row["path"] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(visible=False)
    axes.set_xlabel("share of the time [%]")
    axes.set_title("what held each path back")
    if used:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)
