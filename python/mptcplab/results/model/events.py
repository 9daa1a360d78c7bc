"""The events of a run: which kinds there are, and which are asked for.

Owns how a person asks. The kinds and their numbers are the core's; the table is the business of `event_table`.
"""

from __future__ import annotations

import functools
import warnings

from mptcplab import _core
from mptcplab.util.user_input import BadResult, choose

Trace = tuple[list[str], float, float]
"""Names of kinds, and the seconds from which and until which events are kept; as the core takes it."""

ALL_KINDS = "all"
NOWHERE = 2**16 - 1
"""No host, flow, path or subflow."""
NOTHING = 2**64 - 1
"""No number."""
REASONS: Trace = ([], 0.0, 0.0)
"""No events: what holds each path back is measured all the same."""


@functools.cache
def kinds() -> dict[str, tuple[str, list[str]]]:
    """Kinds by name: what they say, and the columns of their numbers."""
    return {name: (says, fields) for name, says, fields in _core.event_kinds()}


@functools.cache
def fields() -> dict[str, str]:
    """The columns of numbers, and what they are."""
    return dict(_core.event_fields())


def current_kind(name: str, option: str) -> str:
    """The new name of a renamed type of events, with a warning; other names unchanged."""
    new = dict(_core.renamed_event_kinds()).get(name)
    if new is None:
        return name
    warnings.warn(f"{option} {name}: deprecated name; use {new}", FutureWarning, stacklevel=2)
    return new


def trace(text: str, since: float = 0.0, until: float | None = None) -> Trace:
    """What `--trace` asks for: names of kinds, separated by commas, or `all`."""
    names = [current_kind(name.strip(), "--trace") for name in text.split(",")]
    for name in names:
        choose(name, [*kinds(), ALL_KINDS], "kind of events", "--trace")
    if until is not None and until <= since:
        raise BadResult(f"--trace-until {until:g}s is not after --trace-from {since:g}s")
    return names, since, 1e9 if until is None else until
