"""A figure that notebooks show.

Owns nothing but the class, so that `plots` can be imported without the second that matplotlib takes to load.
"""

from __future__ import annotations

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that a notebook shows without a magic command."""

    def _repr_png_(self) -> bytes:
        """What Jupyter asks for."""
        from mptcplab.plots.rendering import png

        return png(self)
