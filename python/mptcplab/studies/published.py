"""Published values that can be drawn: points, levels, ranges and positions.

A study re-examines one publication; these are the numbers of its figures and text. Figures of the studies and `mptcplab
plot --published` compare measurements with them. Owns their form and drawing, and the mark of a scenario's experiment.
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
    """A published value, and its quantity. Absent parts are empty or None."""

    label: str
    """The legend label; starts with "published"."""
    of: Quantity
    over: str = ""
    """The scenario key on the x axis, `TIME`, or empty for one network."""
    points: tuple[tuple[str, float], ...] = ()
    """Values of `over` in scenario syntax, each with its published value."""
    level: float | None = None
    """A value that holds for all values of `over`."""
    band: tuple[float, float] | None = None
    """A range that holds for all values of `over`."""
    at: str | None = None
    """The value of `over` at which a published event happened."""
    line: Literal["dashed", "dotted"] = "dashed"

    @property
    def places(self) -> tuple[str, ...]:
        """The values of `over` in `points` and `at`."""
        return (*(place for place, _ in self.points), *([self.at] if self.at else []))

    def draw(self, axes: Axes, place: Callable[[str], float] = float) -> None:
        """Draws each part; `place` maps a value of `over` to the x axis."""
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
    """STUDY/EXPERIMENT from a description that `marked` wrote; None for other descriptions."""
    found = _MARK.match(description)
    return found[1] if found else None
