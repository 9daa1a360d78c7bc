"""Where results and pictures of commands go: folders, names, sizes, and that what writes them is there."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

Size = tuple[float, float]
"""Width and height, inches."""
LEAST_IN, MOST_IN = 1.0, 40.0


def add_size(parser: argparse.ArgumentParser) -> None:
    """`--size`."""
    parser.add_argument(
        "--size",
        type=size,
        metavar="WxH",
        help="width and height in inches, 1 to 40, such as 3.3x2.4 for a column of a paper; letters keep their size "
        "(default: what the curves need)",
    )


def size(text: str) -> Size:
    """Width and height in inches."""
    found = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)x(\d{1,3}(?:\.\d+)?)", text)
    wide, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    if not (LEAST_IN <= wide <= MOST_IN and LEAST_IN <= high <= MOST_IN):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size: width x height in inches, each 1 to 40, such as 3.3x2.4"
        )
    return wide, high


def pictures(path: Path) -> Path:
    """A file name that says PNG, SVG or PDF."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadInput(f"mptcplab: {path}: must end with .png, .svg or .pdf")
    return path


def ready(output: Path) -> None:
    """Makes the directory of results, for this command alone, and checks that the packages that write are installed.

    Called before anything runs for it.
    """
    from mptcplab.results.write import export  # noqa: F401 - a package that is missing is said now
    from mptcplab.util.files import claim

    need_pictures()
    claim(output)


def need_pictures() -> None:
    """Sees that what draws is there, before anything runs for a picture."""
    import matplotlib as mpl  # noqa: F401 - a package that is missing is said now


def write_picture(figure: Figure, path: Path, wanted: Size | None = None) -> None:
    """Writes a picture as its name says, as large as `wanted`, and says so."""
    from mptcplab.plots import figure_style
    from mptcplab.util.files import folder, write_bytes

    if wanted is not None:
        figure.set_size_inches(*wanted)
    folder(path.parent)
    write_bytes(
        path, {".svg": figure_style.svg, ".pdf": figure_style.pdf}.get(path.suffix.lower(), figure_style.png)(figure)
    )
    print(f"written to {path}")
