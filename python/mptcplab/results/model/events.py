"""Event kinds of a run, and their selection.

Owns the syntax of a selection. The core owns the kinds and their numbers, `event_table` the table.
"""

from __future__ import annotations

import functools
import warnings

from mptcplab import _core
from mptcplab.util.user_input import BadResult, choose

Trace = tuple[list[str], float, float]
"""Names of kinds, and the start and end of the trace in seconds, as the core expects them."""

ALL_KINDS = "all"
NOWHERE = 2**16 - 1
"""No host, flow, path or subflow."""
NOTHING = 2**64 - 1
"""No number."""
REASONS: Trace = ([], 0.0, 0.0)
"""No events; limiting factors are measured all the same."""


@functools.cache
def kinds() -> dict[str, tuple[str, list[str]]]:
    """Kinds by name, with their descriptions and number columns."""
    return {name: (says, fields) for name, says, fields in _core.event_kinds()}


@functools.cache
def fields() -> dict[str, str]:
    """The number columns, with descriptions."""
    return dict(_core.event_fields())


def current_kind(name: str, option: str) -> str:
    """The new name of a renamed type of events, with a warning; other names unchanged."""
    new = dict(_core.renamed_event_kinds()).get(name)
    if new is None:
        return name
    warnings.warn(f"{option} {name}: deprecated name; use {new}", FutureWarning, stacklevel=2)
    return new


def trace(text: str, since: float = 0.0, until: float | None = None) -> Trace:
    """The selection of `--trace`: comma-separated names of kinds, or `all`."""
    names = [current_kind(name.strip(), "--trace") for name in text.split(",")]
    for name in names:
        choose(name, [*kinds(), ALL_KINDS], "kind of events", "--trace")
    if until is not None and until <= since:
        raise BadResult(f"--trace-until {until:g}s must be after --trace-from {since:g}s")
    return names, since, 1e9 if until is None else until
