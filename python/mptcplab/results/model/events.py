"""Kinds of protocol events, such as `retransmission`, and their selection with `--trace`.

Owns the syntax of `--trace`. The Rust core owns the kinds and their numeric columns;
the module `event_table` owns the table of events.
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
"""Index of a missing host, flow, path or subflow."""
NOTHING = 2**64 - 1
"""Stands for a missing number."""
REASONS: Trace = ([], 0.0, 0.0)
"""A trace without kinds: the core keeps no events, but measures what limits each flow."""


@functools.cache
def kinds() -> dict[str, tuple[str, list[str]]]:
    """Kinds by name, with their descriptions and numeric columns."""
    return {name: (says, fields) for name, says, fields in _core.event_kinds()}


@functools.cache
def fields() -> dict[str, str]:
    """The numeric columns, with descriptions."""
    return dict(_core.event_fields())


def current_kind(name: str, option: str) -> str:
    """The new name of a renamed kind, with a warning that cites `option`; other names unchanged."""
    new = dict(_core.renamed_event_kinds()).get(name)
    if new is None:
        return name
    warnings.warn(f"{option} {name}: deprecated name; use {new}", FutureWarning, stacklevel=2)
    return new


def trace(text: str, since: float = 0.0, until: float | None = None) -> Trace:
    """Parses `--trace`: comma-separated kinds, or `all`. `until` None traces to the end of the run."""
    names = [current_kind(name.strip(), "--trace") for name in text.split(",")]
    for name in names:
        choose(name, [*kinds(), ALL_KINDS], "kind of events", "--trace")
    if until is not None and until <= since:
        raise BadResult(f"--trace-until {until:g}s must be after --trace-from {since:g}s")
    return names, since, 1e9 if until is None else until
