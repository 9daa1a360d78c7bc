"""The figure class of all figures, which notebooks display.

A module of its own, because it imports matplotlib, which takes a second.
"""

from __future__ import annotations

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that a notebook displays without a magic command."""

    def _repr_png_(self) -> bytes:
        """The PNG for Jupyter."""
        from mptcplab.plots.rendering import png

        return png(self)
