"""Published values that can be drawn: points, levels, ranges and positions.

A study re-examines one publication; these are the numbers of its figures and text. Owns their form, their drawing, and
the mark by which a scenario names its experiment. The figures of the studies and `mptcplab plot --published` draw the
same values. Statements without numbers are not included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mptcplab.plots import figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mptcplab.scenario.definition import Scenario

TIME = "time"
"""The axis of published time series."""

Quantity = Literal[
    "goodput", "interface_throughput", "completion_time", "pair_rate", "wifi_rate", "wifi_share", "mptcp_over_tcp",
    "mptcp_part", "cwnd", "srtt",
]  # fmt: skip


@dataclass(frozen=True)
class Published:
    """A published value, and its quantity."""

    label: str
    """The legend label; starts with "published"."""
    of: Quantity
    over: str = ""
    """The scenario key on the x axis, `TIME`, or empty for one network."""
    points: tuple[tuple[str, float], ...] = ()
    """Values by value of `over`, in scenario syntax."""
    level: float | None = None
    band: tuple[float, float] | None = None
    at: str | None = None
    """A value of `over` with a published event."""
    line: Literal["dashed", "dotted"] = "dashed"

    @property
    def places(self) -> tuple[str, ...]:
        """The values of `over` that it names."""
        return (*(place for place, _ in self.points), *([self.at] if self.at else []))

    def draw(self, axes: Axes, place: Callable[[str], float] = float) -> None:
        """Draws it; `place` maps a value of `over` to the x axis."""
        style = (0, (6, 2)) if self.line == "dashed" else ":"
        if self.points:
            xs, ys = [place(where) for where, _ in self.points], [value for _, value in self.points]
            axes.plot(
                xs, ys, linestyle="none", marker="*" if self.line == "dashed" else "X",
                markersize=11 if self.line == "dashed" else 8, color=figure_style.PUBLISHED, label=self.label, zorder=4,
            )  # fmt: skip
        if self.level is not None:
            axes.axhline(self.level, color=figure_style.PUBLISHED, linestyle=style, linewidth=1.2, label=self.label)
        if self.band is not None:
            figure_style.published_range(axes, *self.band, self.label)
        if self.at is not None:
            axes.axvline(place(self.at), color=figure_style.PUBLISHED, linestyle=style, linewidth=1.2, label=self.label)


_MARK = re.compile(r"^([\w.-]+/[\w.-]+): ")


def marked(scenario: Scenario, study: str, experiment: str, title: str) -> Scenario:
    """The same scenario with a description that names its experiment."""
    return scenario.vary({"description": f"{study}/{experiment}: {title}"})


def mark(description: str) -> str | None:
    """STUDY/EXPERIMENT from a description that `marked` wrote; None for any other."""
    found = _MARK.match(description)
    return found[1] if found else None
