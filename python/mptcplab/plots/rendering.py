"""Renders figures as PNG, SVG and PDF, with mptcplab's settings of matplotlib.

Equal data give equal bytes, so that two reports can be compared. matplotlib is loaded on first use.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    # Short, so that the marker of a legend entry does not hide the pattern.
    "lines.dashdot_pattern": (3.5, 1.2, 1.0, 1.2),
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    # TrueType: publishers refuse matplotlib's default, Type 3.
    "pdf.fonttype": 42,
    "savefig.dpi": 144,
    "svg.fonttype": "path",
    "svg.hashsalt": "mptcplab",
}

_PLACES, _FINER, _INDENT = re.compile(rb' (?:d|x|y)="[^"]*"'), re.compile(rb"(\d\.\d\d)\d+"), re.compile(rb"\n +")
"""In an SVG: position attributes, digits too small to be visible, and indentation."""


@contextmanager
def house_style() -> Iterator[None]:
    """Applies mptcplab's style to everything drawn inside; ignores the user's settings of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def both(figure: Figure) -> tuple[bytes, bytes]:
    """SVG and PNG of a figure."""
    with arranged(figure):
        return svg(figure), png(figure)


@contextmanager
def arranged(figure: Figure) -> Iterator[None]:
    """Computes the layout, which takes as long as drawing, once for all renderings inside."""
    engine = figure.get_layout_engine()
    with house_style():
        if engine is not None:
            engine.execute(figure)
            _round_places(figure)
        figure.set_layout_engine(None)
        try:
            yield
        finally:
            figure.set_layout_engine(engine)


def _round_places(figure: Figure) -> None:
    """Rounds positions, because the last digits of the layout solver depend on its earlier results."""
    for axes in figure.axes:
        place = axes.get_position(original=True)
        axes.set_position((round(place.x0, 9), round(place.y0, 9), round(place.width, 9), round(place.height, 9)))
        axes.set_in_layout(True)


def png(figure: Figure) -> bytes:
    """The figure as PNG."""
    out = io.BytesIO()
    with house_style():
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def svg(figure: Figure) -> bytes:
    """The figure as SVG, a fifth smaller because positions are rounded and indentation is removed."""
    out = io.BytesIO()
    with house_style():
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _INDENT.sub(b"\n", _PLACES.sub(lambda found: _FINER.sub(rb"\1", found[0]), out.getvalue()))


def pdf(figure: Figure) -> bytes:
    """The figure as PDF with embedded fonts; the same bytes each time."""
    out = io.BytesIO()
    with house_style():
        figure.savefig(out, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return out.getvalue()
