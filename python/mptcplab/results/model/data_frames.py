"""The tables of runs as data frames of pandas or polars.

Owns the names of the tables, and the conversion from Arrow. The tables themselves are in `arrow_tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mptcplab.util.optional_packages import need
from mptcplab.util.user_input import nearest

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("flows", "paths", "links", "blocks", "samples", "events")


def _table(runs: object, name: str) -> pa.Table:
    if name not in TABLES:
        near = nearest(name, TABLES)
        raise ValueError(
            f"table = {name!r}: " + (f"did you mean {near}?" if near else f"there are {', '.join(TABLES)}")
        )
    return getattr(runs, name)


def to_pandas(runs: object, table: str) -> Any:
    """A table as a `pandas.DataFrame`."""
    need("pandas")
    return _table(runs, table).to_pandas()


def to_polars(runs: object, table: str) -> Any:
    """A table as a `polars.DataFrame`."""
    need("polars")
    import polars as pl

    return pl.from_arrow(_table(runs, table))
