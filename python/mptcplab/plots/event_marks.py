"""Marks scenario events, scheduled changes such as a link that goes down, in figures over time.

The marks explain steps in the curves. Owns their text and position. Never draws a curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mptcplab.util.user_input import seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 8
"""Maximum events with text; with more events, only lines are drawn, because the text would overlap."""
LINES = 100
"""Maximum events with lines; with more events, such as those of a recorded link, no marks are drawn."""
_WHERE = ("path", "link", "station", "middlebox")


def mark_events(axes: Axes, scenario: Mapping[str, Any], path: str | None = None) -> None:
    """Draws a line with the change at each event; with `path`, only the events of that path."""
    events = [event for event in scenario.get("events", []) if path is None or _place(event) == path]
    if len(events) > LINES:
        return
    for event in events:
        at = seconds(str(event["at"]))
        axes.axvline(at, color="#999999", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        if len(events) <= MOST:
            words = changes(event) if path is not None else f"{_place(event)} {changes(event)}"
            axes.annotate(
                words, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(2, -2), textcoords="offset points",
                rotation=90, va="top", ha="left", fontsize=7, color="#666666",
            )  # fmt: skip


def changes(event: Mapping[str, Any]) -> str:
    """The change of an event: `down`, `up`, or keys with their new values."""
    changed = dict(event["set"])
    up = changed.pop("up", None)
    words = [] if up is None else ["up" if up else "down"]
    words += [f"{key} {value}" for key, value in changed.items()]
    return ", ".join(words)


def _place(event: Mapping[str, Any]) -> str:
    return next((str(event[key]) for key in _WHERE if key in event), "")
