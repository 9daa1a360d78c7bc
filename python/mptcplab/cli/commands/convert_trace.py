"""`mptcplab convert-trace`: converts measurements of a link to a recording that a scenario replays.

Knows the columns of some public datasets. For other files, options name columns and units. The recording begins with
its source and its licence.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mptcplab.recordings.conversion import Recording
    from mptcplab.recordings.datasets import Column, Layout

NAME = "convert-trace"
HELP = "convert measurements of a link to a recording for `trace`"
EXAMPLE = "mptcplab convert-trace drive.csv --dataset ucc-5g --where State=D --output drive-down.csv"
COLUMNS = ("rate", "delay", "rtt", "loss")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="table of measurements with names of columns")
    parser.add_argument(
        "--dataset", metavar="NAME", help="known columns: ucc-4g, ucc-5g, lens-irtt, ... (docs/traces.md)"
    )
    parser.add_argument("--direction", choices=("down", "up"), default="down", help="direction (default: down)")
    parser.add_argument("--time", metavar="COL[=UNIT]", help="column of times; dates need no unit")
    parser.add_argument("--rate", metavar="COL=UNIT", help="column of rates, such as DL_bitrate=kbit/s")
    parser.add_argument("--delay", metavar="COL=UNIT", help="column of one-way delays, such as owd=ms")
    parser.add_argument("--rtt", metavar="COL=UNIT", help="column of RTTs; the delay is half of the RTT")
    parser.add_argument("--loss", metavar="COL=UNIT", help="column of losses, in %% or as a share")
    parser.add_argument(
        "--where", action="append", default=[], metavar="COL=VALUE", help="only rows with this value; repeatable"
    )
    parser.add_argument("--step", type=duration, metavar="TIME", help="average over steps of this length, such as 1s")
    parser.add_argument("--source", metavar="TEXT", help="source, for the header (default: that of the dataset)")
    parser.add_argument("--licence", metavar="TEXT", help="licence, for the header (default: that of the dataset)")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the recording")


def execute(given: argparse.Namespace) -> int:
    """Converts the file, and prints the length, the mean rate and the gaps."""
    from mptcplab.recordings.conversion import convert
    from mptcplab.recordings.datasets import DATASETS
    from mptcplab.util.files import folder, write_text
    from mptcplab.util.user_input import choose

    known = DATASETS[choose(given.dataset, DATASETS, "dataset", "--dataset")] if given.dataset else None
    source, licence = given.source or (known and known.source), given.licence or (known and known.licence)
    if not source or not licence:
        raise BadInput("mptcplab: convert-trace needs --dataset, or --source and --licence for the header")
    layout = _layout(given, known.layouts[given.direction] if known else None)
    where = dict(_pair("--where", text, "COL=VALUE") for text in given.where)
    step = given.step or (known.step if known else None)
    found = convert(given.file, layout, where=where, step=step)
    folder(given.output.parent)
    write_text(given.output, found.text(_header(given, layout, where, step, source, licence)))
    for line in _summary(found):
        print(line)
    print(f"written to {given.output}")
    return 0


def _layout(given: argparse.Namespace, base: Layout | None) -> Layout:
    """The columns of the dataset, replaced by those of the options."""
    from mptcplab.recordings.datasets import RATES, SHARES, TIMES, Layout

    if base is None and not given.time:
        raise BadInput("mptcplab: convert-trace needs --dataset, or --time COL and --rate, --delay, --rtt or --loss")
    layout = base or Layout("")
    if given.time:
        name, _, unit = given.time.partition("=")
        layout = replace(layout, time=name, time_scale=_scale("--time", given.time, unit, TIMES) if unit else None)
    units = {"rate": RATES, "delay": TIMES, "rtt": TIMES, "loss": SHARES}
    asked = {option: text for option in COLUMNS if (text := getattr(given, option)) is not None}
    chosen: dict[str, Any] = {option: _column(f"--{option}", text, units[option]) for option, text in asked.items()}
    layout = replace(layout, **chosen)
    if layout.delay is not None and layout.rtt is not None:
        raise BadInput("mptcplab: --delay and --rtt both give the delay; remove one of them")
    if not any(getattr(layout, option) for option in COLUMNS):
        raise BadInput("mptcplab: convert-trace needs --rate, --delay, --rtt or --loss")
    return layout


def _column(option: str, text: str, units: Mapping[str, float]) -> Column:
    from mptcplab.recordings.datasets import Column

    name, unit = _pair(option, text, f"COL=UNIT with a unit of: {', '.join(units)}")
    return Column(name, _scale(option, text, unit, units))


def _scale(option: str, text: str, unit: str, units: Mapping[str, float]) -> float:
    if unit not in units:
        raise BadInput(f"mptcplab: {option} {text}: unknown unit {unit!r}; choose from: {', '.join(units)}")
    return units[unit]


def _pair(option: str, text: str, form: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise BadInput(f"mptcplab: {option} {text}: write {form}")
    return name, value


def _header(  # noqa: PLR0913, RUF100 - the facts of a conversion
    given: argparse.Namespace,
    layout: Layout,
    where: Mapping[str, str],
    step: float | None,
    source: str,
    licence: str,
) -> Sequence[str]:
    columns = [layout.time, *(column.name for name in COLUMNS if (column := getattr(layout, name)) is not None)]
    lines = [
        f"Source: {' '.join(source.split())}",
        f"Licence: {' '.join(licence.split())}",
        f"File: {given.file.name}, {given.direction}, columns {', '.join(columns)}",
    ]
    if where:
        lines.append(f"Rows: {', '.join(f'{name} = {value}' for name, value in where.items())}")
    if step:
        lines.append(f"Means over {step:g} s")
    return lines


def _summary(found: Recording) -> list[str]:
    lines = [f"{len(found.rows)} rows, {found.rows[-1].at:.1f} s, {', '.join(found.quantities)}"]
    rate = found.mean_rate()
    if rate is not None:
        lines.append(f"mean rate {rate / 1e6:.2f} Mb/s")
    if "rate" not in found.quantities:
        lines.append("no rates: give the path a rate in the scenario")
    if found.gaps:
        lines.append(
            f"{len(found.gaps)} gaps of more than 10 s, the longest {max(found.gaps):.0f} s; the values before a gap "
            "last until its end"
        )
    if found.negative:
        lines.append(f"{found.negative} negative values count as missing")
    return lines
