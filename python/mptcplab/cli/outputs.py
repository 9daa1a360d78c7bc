"""Output of commands: folders, file names, figure sizes, and checks for optional packages.

Commands make the checks before they run anything, so that no long run is lost to a wrong name or a missing package.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

Size = tuple[float, float]
"""Width and height in inches."""
LEAST_IN, MOST_IN = 1.0, 40.0


def add_size(parser: argparse.ArgumentParser) -> None:
    """Adds `--size`."""
    parser.add_argument(
        "--size",
        type=size,
        metavar="WxH",
        help="figure size in inches, 1 to 40, such as 3.3x2.4 (default: fits the curves)",
    )


def size(text: str) -> Size:
    """Width and height in inches."""
    found = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)x(\d{1,3}(?:\.\d+)?)", text)
    wide, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    if not (LEAST_IN <= wide <= MOST_IN and LEAST_IN <= high <= MOST_IN):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size; write WIDTHxHEIGHT in inches, each 1 to 40, such as 3.3x2.4"
        )
    return wide, high


def pictures(path: Path) -> Path:
    """Returns the path of a figure; rejects file types other than PNG, SVG and PDF."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadInput(f"mptcplab: {path}: must end with .png, .svg or .pdf")
    return path


def ready(output: Path) -> None:
    """Creates the output directory, locks it, and checks that the packages for writing are installed.

    Call it before anything runs.
    """
    from mptcplab.results.write import export  # noqa: F401 - reports a missing package before the run
    from mptcplab.util.files import claim

    need_pictures()
    claim(output)


def need_pictures() -> None:
    """Checks that matplotlib is installed, before anything runs."""
    import matplotlib as mpl  # noqa: F401 - reports a missing package before the run


def write_picture(figure: Figure, path: Path, wanted: Size | None = None) -> None:
    """Writes a figure in the format of its file name, with size `wanted`, and prints the path."""
    from mptcplab.plots import figure_style
    from mptcplab.util.files import folder, write_bytes

    if wanted is not None:
        figure.set_size_inches(*wanted)
        if wanted[0] < figure_style.COLUMN:
            figure_style.reduce_letters(figure)
    folder(path.parent)
    write_bytes(
        path, {".svg": figure_style.svg, ".pdf": figure_style.pdf}.get(path.suffix.lower(), figure_style.png)(figure)
    )
    print(f"written to {path}")
