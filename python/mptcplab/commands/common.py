"""What several commands share: arguments, checks, errors. Never runs anything."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BACKENDS = {"kernel": "Linux's own MPTCP", "wire": "our MPTCP on real interfaces"}


class BadInput(Exception):
    """What a person gave cannot be used; the message says what would be right."""


class RunFailed(Exception):
    """A run did not come to its end as it should."""


def add_backend(parser: argparse.ArgumentParser) -> None:
    """`--backend`."""
    parser.add_argument(
        "--backend", default="sim", metavar="NAME", help="what runs it; this version has sim (default: sim)"
    )


def check_backend(name: str) -> None:
    """Refuses what this version cannot run."""
    if name in BACKENDS:
        raise BadInput(
            f"mptcplab: scenarios do not run on the backend {name} ({BACKENDS[name]}) in this version; use "
            "--backend sim, or mptcplab send and receive for real packets"
        )
    if name != "sim":
        raise BadInput(f"mptcplab: there is no backend {name!r}; use --backend sim")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument("--workers", type=positive, metavar="N", help="runs at a time (default: one for each core)")


def positive(text: str) -> int:
    """A whole number above zero."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def natural(text: str) -> int:
    """A seed: a whole number from 0 to 2^64 - 1."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^64 - 1")
    return number


def duration(text: str) -> float:
    """A time above zero with its unit, in seconds."""
    from mptcplab.inputs import BadResult, seconds

    try:
        length = seconds(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not 0 < length < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0")
    return length


def add_interval(parser: argparse.ArgumentParser) -> None:
    """`--interval`."""
    parser.add_argument(
        "--interval", type=duration, default=0.5, metavar="TIME", help="length of a step, such as 1s (default: 500ms)"
    )


def pictures(path: Path) -> Path:
    """A file name that says PNG or SVG."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise BadInput(f"mptcplab: {path}: a picture is .png or .svg")
    return path


def write_picture(figure: Figure, path: Path) -> None:
    """Writes a picture as its name says, and says so."""
    from mptcplab import plots

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(plots.svg(figure) if path.suffix.lower() == ".svg" else plots.png(figure))
    print(f"written to {path}")


def print_json(value: Any) -> None:
    """Writes JSON to stdout."""
    from mptcplab.export import finite

    print(json.dumps(finite(value), indent=2, ensure_ascii=False))


def table(rows: list[list[str]]) -> str:
    """Columns aligned: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
