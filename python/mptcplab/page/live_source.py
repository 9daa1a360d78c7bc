"""The interface between the server of the page and real connections: a description, states, and changes.

Owns only types. `live_network` and `live_transfer` implement the interface, `server` uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mptcplab.page.messages import LinkChange

Row = tuple[float, int, int, int, float]
"""A sample: time in seconds, flow, path, metric, value."""


@dataclass(frozen=True)
class Moment:
    """The state of all links and connections at one time."""

    time: float
    """Seconds since the start."""
    directions: Sequence[float]
    """By link and direction, the values of `DIRECTION_FIELDS` of types.ts; NaN if unknown."""
    flows: Sequence[dict[str, Any]]
    """`FlowView` of types.ts, by flow."""
    rows: Sequence[Row] = ()
    """Samples since the last look."""
    finished: bool = False


class LiveSource(Protocol):
    """Real connections, as the page shows them."""

    links: list[str]
    """Names of the links that `change` accepts."""
    changes: int
    """The number of changes so far, without refused ones."""

    def loaded(self) -> dict[str, Any]:
        """`Loaded` of types.ts: scenario text and description."""

    def look(self) -> Moment:
        """The present state. Blocks for at most some milliseconds; called from one thread at a time."""

    def change(self, change: LinkChange) -> None:
        """Changes a link. May block; called from one thread at a time. Raises `Refused`."""
