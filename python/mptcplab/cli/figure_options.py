"""Options of figures over the values of a key, for `sweep`, `compare` and `plot`: axis, colours, panels, type, size.

Commands check these options before they run anything. `plots.sweep_plot` draws.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput
from mptcplab.cli.outputs import LEAST_IN, MOST_IN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mptcplab.plots.sweep_series import Request

OPTIONS = ("x", "hue", "facet", "draw", "normalise")
_INCHES = {"": 1.0, "in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72}


def add_figure_options(parser: argparse.ArgumentParser, draw: str | None) -> None:
    """Adds the options; `draw` is the default type, or None if the command has another figure without these options."""
    parser.add_argument("--x", metavar="KEY", help="key on the x axis (default: the first one that varies)")
    parser.add_argument("--hue", metavar="KEY", help="key that selects colours and markers")
    parser.add_argument("--facet", metavar="KEY", help="draw one panel per value of this key")
    parser.add_argument(
        "--draw",
        choices=("lines", "box", "cdf", "bars"),
        default=draw,
        help=f"draw means, boxes, CDFs or bars (default: {draw or 'lines'})",
    )
    parser.add_argument("--normalise", metavar="KEY=VALUE", help="divide by the runs with this value, seed by seed")
    parser.add_argument("--width", type=width, metavar="W", help="width of the figure, such as 3.3in or 84mm")


def width(text: str) -> float:
    """A width in inches."""
    found = re.fullmatch(r"(\d{1,4}(?:\.\d+)?)(in|mm|cm|pt|)", text)
    inches = float(found[1]) * _INCHES[found[2]] if found else 0.0
    if not LEAST_IN <= inches <= MOST_IN:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a width; write a number and in, mm, cm or pt, from 1in to 40in, such as 3.3in"
        )
    return inches


def requested(given: argparse.Namespace) -> Request:
    """The options as the figure needs them."""
    from mptcplab.plots.sweep_series import Request

    return Request(given.x, given.hue, given.facet, given.draw or "lines", given.normalise)


def check_figure(given: argparse.Namespace, vary: Mapping[str, Sequence[str]], flows: Sequence[str]) -> None:
    """Rejects options that do not fit the keys of a sweep, before it runs."""
    from mptcplab.plots.sweep_series import Chart
    from mptcplab.results.model.swept_values import FLOW, SweptValues
    from mptcplab.util.user_input import BadResult

    keys = {**vary, FLOW: flows} if len(flows) > 1 else vary
    try:
        Chart(SweptValues("", keys, []), requested(given))
    except BadResult as error:
        raise BadInput(f"mptcplab: {error}") from error


def write_sweep_picture(given: argparse.Namespace, metrics: Sequence[str], output: Path) -> None:
    """Draws the figure of the sweep in a directory, as sweep.png, sweep.svg and sweep.pdf there."""
    from mptcplab.plots.sweep_plot import WIDTH, write_picture
    from mptcplab.results.read.swept_values import read_swept

    found = read_swept(output, ",".join(metrics))
    write_picture(found, output, requested(given), width=given.width or WIDTH)
