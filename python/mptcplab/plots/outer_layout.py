"""Places the legend and a note of a figure below its panels, where they cannot hide data.

Owns the arithmetic of heights: panels keep their height, and the figure grows. With a fixed height, the panels shrink.
Draws no data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mptcplab.util.user_input import BadResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

MARGIN = 0.05
"""Space around the legend and the note, inches."""
LEAST_PANEL = 0.9
"""Minimum height of a panel with its labels, inches."""
MOST_COLUMNS = 6
"""Maximum columns of the legend."""


def place_below(
    figure: Figure, handles: Sequence[Any], *, legend_title: str, note: str, rows: int, height: float | None = None
) -> None:
    """Adds a legend and a note below the panels, and reserves their space.

    `rows` is the number of rows of panels, and `height` the fixed height of the figure in inches. Raises `BadResult` if
    this height is too small.
    """
    width, panels = figure.get_size_inches()
    inch = figure.dpi
    text = _wrapped(figure, note, width - 2 * MARGIN)
    below = text.get_window_extent().height / inch + 2 * MARGIN if note else 0.0
    legend = _legend(figure, handles, legend_title, width) if handles else None
    of_legend = legend.get_window_extent().height / inch + MARGIN if legend else 0.0
    outside = below + of_legend
    if height is not None and height - outside < rows * LEAST_PANEL:
        raise BadResult(
            f"height = {height:g} in: must be at least {outside + rows * LEAST_PANEL:.1f} in for {rows} rows of panels "
            "and the legend; omit the height to let the figure grow"
        )
    total = panels + outside if height is None else height
    figure.set_size_inches(width, total)
    text.set_position((MARGIN / width, MARGIN / total))
    if legend:
        legend.set_bbox_to_anchor((0.5, below / total), transform=figure.transFigure)
    figure.set_layout_engine("constrained", rect=(0, outside / total, 1, 1 - outside / total))


def _wrapped(figure: Figure, note: str, width: float) -> Any:
    """The note as a text of at most this width in inches, at the lower left."""
    text = figure.text(0, 0, "", ha="left", va="bottom", fontsize="small", color="#444444")
    text.set_in_layout(False)
    line = ""
    lines: list[str] = []
    for word in note.split():
        longer = f"{line} {word}" if line else word
        text.set_text(longer)
        if line and text.get_window_extent().width > width * figure.dpi:
            lines.append(line)
            longer = word
        line = longer
    text.set_text("\n".join([*lines, line]))
    return text


def _legend(figure: Figure, handles: Sequence[Any], title: str, width: float) -> Legend:
    """A legend with as few rows as fit, and no more columns than these rows need."""
    most = min(len(handles), MOST_COLUMNS)
    for columns in dict.fromkeys(
        math.ceil(len(handles) / math.ceil(len(handles) / most)) for most in range(most, 0, -1)
    ):
        legend = figure.legend(
            handles=list(handles),
            title=title or None,
            loc="lower center",
            bbox_to_anchor=(0.5, 0),
            ncols=columns,
            borderaxespad=0,
            columnspacing=1.2,
            handlelength=3.2,
            handletextpad=0.5,
        )
        legend.set_in_layout(False)
        if columns == 1 or legend.get_window_extent().width <= (width - 2 * MARGIN) * figure.dpi:
            break
        legend.remove()
    return legend
