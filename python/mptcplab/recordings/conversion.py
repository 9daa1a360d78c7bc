"""Converts a table of measurements to a recording with a header that names its source and licence.

Owns the reading of columns, times and missing values, and the averages of steps. `datasets` knows public datasets, and
the core reads the result (docs/queues.md, section "Recordings").
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mptcplab.recordings.datasets import Layout
from mptcplab.util.files import read_bytes
from mptcplab.util.user_input import BadResult, choose

MOST_BYTES = 1 << 30
"""Maximum size of a dataset file, bytes."""
MOST_STEPS = 100_000
"""Maximum lines of a recording."""
GAP_S = 10.0
"""Longer times without a row are counted as gaps, seconds."""
MISSING = frozenset({"", "-", "nan", "na", "n/a", "null", "none", "?"})
"""Cells without a value, in lower case."""
_DATES = ("%Y.%m.%d_%H.%M.%S", "%Y.%m.%d_%H.%M.%S.%f", "%Y%m%d_%H%M%S", "%H:%M:%S", "%H:%M:%S.%f")
"""Formats of dates in addition to ISO 8601."""
_ZONE = re.compile(r" ?[A-Z]{2,5}$")
"""The name of a time zone, which is omitted, because times are relative to the first row."""
_SCALES = ((1e11, 1.0), (1e14, 1e-3), (1e17, 1e-6), (math.inf, 1e-9))
"""By upper bound of a numeric time: seconds per unit of Unix times."""
MOST_VALUE = 1e15
"""Maximum of rates in bit/s, and of times and delays in seconds; larger values are errors in the file."""
COLUMNS = {"rate": "rate_mbit", "delay": "delay_ms", "loss": "loss_percent"}
"""Columns of a recording by quantity."""


@dataclass
class Row:
    """Measured values at one time; absent quantities are omitted."""

    at: float
    """Seconds since the first row."""
    values: dict[str, float] = field(default_factory=dict)
    """`rate` in bit/s, `delay` one way in s, `loss` from 0 to 1."""


@dataclass
class Recording:
    """A converted recording, and facts about the conversion."""

    rows: list[Row]
    negative: int
    """Number of negative values, which count as missing."""
    gaps: list[float]
    """Lengths of gaps in seconds."""

    @property
    def quantities(self) -> list[str]:
        """The quantities that at least one row has."""
        return [name for name in COLUMNS if any(name in row.values for row in self.rows)]

    def text(self, header: Sequence[str]) -> str:
        """The file, with comment lines `header` at its beginning."""
        names = self.quantities
        scales = {"rate": 1e-6, "delay": 1e3, "loss": 100.0}
        lines = [f"# {line}" for line in header]
        lines.append(",".join(["time_s", *(COLUMNS[name] for name in names)]))
        for row in self.rows:
            cells = (f"{row.values[name] * scales[name]:.6g}" if name in row.values else "" for name in names)
            lines.append(",".join([f"{row.at:.6f}".rstrip("0").rstrip("."), *cells]))
        return "\n".join(lines) + "\n"

    def mean_rate(self) -> float | None:
        """The mean rate over time in bit/s; None without rates or for a single row."""
        rates = [(row.at, row.values["rate"]) for row in self.rows if "rate" in row.values]
        if len(rates) < 2:
            return None
        area = sum(rate * (after[0] - at) for (at, rate), after in itertools.pairwise(rates))
        return area / (rates[-1][0] - rates[0][0])


def convert(
    file: Path, layout: Layout, *, where: Mapping[str, str] | None = None, step: float | None = None
) -> Recording:
    """Reads a table; with `where`, only rows with these values, and with `step`, averages over steps of this length.

    Raises `BadResult` with the line of the first error.
    """
    rows, negative = _rows(file, layout, where or {})
    if not rows:
        raise BadResult(f"{file}: no row has values of these columns{' and of --where' if where else ''}")
    rows = _joined(rows, step) if step else _joined(rows, 0.0)
    while rows and layout.rate is not None and "rate" not in rows[0].values:
        del rows[0]
    if not rows:
        raise BadResult(f"{file}: no row has a rate")
    begin = rows[0].at
    for row in rows:
        row.at -= begin
    if len(rows) > MOST_STEPS:
        least = rows[-1].at / MOST_STEPS
        raise BadResult(f"{file}: {len(rows)} rows exceed the maximum of {MOST_STEPS}; use --step {least:.2g}s or more")
    gaps = [after.at - row.at for row, after in itertools.pairwise(rows)]
    return Recording(rows, negative, [gap for gap in gaps if gap > max(GAP_S, 2 * (step or 0.0))])


def columns_of(file: Path) -> list[str]:
    """The names of the columns."""
    return _table(file)[0]


def _rows(file: Path, layout: Layout, where: Mapping[str, str]) -> tuple[list[Row], int]:
    """The rows that have a value, and the number of negative values."""
    names, lines = _table(file)
    reader, clock = _Reader(layout), _Clock(layout.time_scale)
    for name in (layout.time, *(column.name for column in reader.columns.values()), *layout.lost, *where):
        choose(name, names, "column", str(file))
    rows = list[Row]()
    for number, cells in lines:
        if len(cells) != len(names):
            raise BadResult(f"{file}: line {number} has {len(cells)} values under {len(names)} columns")
        row = dict(zip(names, cells, strict=True))
        if any(row[name] != value for name, value in where.items()):
            continue
        time = f"{layout.time} = {row[layout.time][:40]!r}"
        try:
            found = Row(clock.read(row[layout.time]), reader.values(row))
        except ValueError as error:
            raise BadResult(f"{file}: line {number} with {time}: {error}") from None
        if rows and found.at < rows[-1].at:
            raise BadResult(
                f"{file}: line {number} with {time} is before the line above; sort the file, or select one measurement "
                "with --where"
            )
        if found.values:
            rows.append(found)
    return rows, reader.negative


class _Reader:
    """Reads the quantities of a row."""

    def __init__(self, layout: Layout) -> None:
        columns = {"rate": layout.rate, "delay": layout.delay, "rtt": layout.rtt, "loss": layout.loss}
        self.columns = {name: column for name, column in columns.items() if column is not None}
        self.negative, self._lost = 0, layout.lost

    def values(self, row: Mapping[str, str]) -> dict[str, float]:
        """The quantities in bit/s, seconds and shares. Raises `ValueError` for a cell that is no number."""
        if any(_number(row[name]) == -1 for name in self._lost):
            return {"loss": 1.0}
        found = {"loss": 0.0} if self._lost else dict[str, float]()
        for name, column in self.columns.items():
            cell = row[column.name]
            if cell.lower() in MISSING:
                continue
            value = _number(cell)
            if value is None:
                raise ValueError(f"{column.name} = {cell[:40]!r} must be a number")
            if value < 0:
                self.negative += 1
            # Datasets with lost probes write 0 for the quantities that a probe lacks.
            elif value > 0 or not self._lost:
                is_rtt = name == "rtt"
                scaled = value * column.scale * (0.5 if is_rtt else 1.0)
                if scaled > MOST_VALUE:
                    raise ValueError(f"{column.name} = {cell[:40]!r} is too large")
                found["delay" if is_rtt else name] = scaled
        return found


def _table(file: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and the numbered lines after them. Accepts commas, semicolons and tabs."""
    text = read_bytes(file, MOST_BYTES).decode("utf-8-sig", errors="replace")
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#")
    number, head = next(lines, (0, ""))
    if not number:
        raise BadResult(f"{file}: is empty")
    separator = next((one for one in ";\t," if one in head), ",")

    def split(line: str) -> list[str]:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]

    def split_at(at: int, line: str) -> list[str]:
        try:
            return split(line)
        except csv.Error as error:
            raise BadResult(f"{file}: line {at}: {error}") from None

    return split_at(number, head), ((at, split_at(at, line)) for at, line in lines)


def _number(cell: str) -> float | None:
    """A finite number. Python would also accept underscores, which dates have."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class _Clock:
    """Times as seconds since the first one."""

    def __init__(self, scale: float | None) -> None:
        self._scale = scale
        self._begin: float | None = None
        self._has_dates = False

    def read(self, cell: str) -> float:
        """Seconds since the first time. Raises `ValueError` for an unknown format."""
        # As an integer, a Unix time in nanoseconds keeps its last digits.
        number: float | None = int(cell) if cell.isdecimal() else _number(cell)
        value = _date(cell) if number is None else number
        if self._begin is None:
            self._begin, self._has_dates = value, number is None
            known = next(scale for most, scale in _SCALES if abs(value) < most)
            self._scale = 1.0 if self._has_dates else self._scale or known
        if self._has_dates != (number is None):
            raise ValueError("must have the format of the first time")
        # Python compares integers of any size with a float, but does not convert them.
        if abs(value - self._begin) > MOST_VALUE / (self._scale or 1.0):
            raise ValueError("is too far from the first time")
        return (value - self._begin) * (self._scale or 1.0)


def _date(cell: str) -> float:
    text = _ZONE.sub("", cell)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        for form in _DATES:
            try:
                found = datetime.strptime(text, form).replace(tzinfo=UTC)
                break
            except ValueError:
                continue
        else:
            raise ValueError(
                "must be a number, an ISO 8601 date such as 2020-02-13T13:03:24, 2020.02.13_13.03.24 or 13:03:24"
            ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _joined(rows: Sequence[Row], step: float) -> list[Row]:
    """One row per step, with the mean of each quantity; with a step of 0, rows of equal times are joined."""
    groups: dict[float, list[Row]] = {}
    for row in rows:
        at = math.floor(row.at / step + 1e-9) * step if step else row.at
        groups.setdefault(at, []).append(row)
    return [Row(at, {name: _mean(members, name) for name in _names(members)}) for at, members in groups.items()]


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.values))


def _mean(rows: Sequence[Row], name: str) -> float:
    values = [row.values[name] for row in rows if name in row.values]
    return math.fsum(values) / len(values)
