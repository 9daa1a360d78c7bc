"""The present rate, delay, loss and state of each link of a live network.

The emulator reports only counters. Owns the values of the scenario, its events up to the present time, and the changes
of a person, which `LinkControl` reports.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mptcplab.page.description import rate_value, share_value, time_value

DIRECTIONS = ("forward", "backward")


@dataclass
class Values:
    """One direction of a link."""

    rate: float
    """bit/s; NaN if unlimited or unknown."""
    delay: float
    """Seconds."""
    loss: float
    """From 0 to 1."""
    up: bool = True

    def set(self, key: str, value: str | bool) -> None:
        """Sets a value in the syntax of scenarios; ignores keys that the page does not show."""
        if key == "rate":
            self.rate = rate_value(value)
        elif key == "delay":
            self.delay = time_value(value)
        elif key == "loss":
            self.loss = share_value(value)
        elif key == "up":
            self.up = value in (True, "true")


class LinkValues:
    """The values of all links. Methods may be called from several threads."""

    def __init__(self, description: Mapping[str, Any], table: Mapping[str, Any]) -> None:
        """Starts with the values of a scenario: its description, and its parsed TOML."""
        self._lock = threading.Lock()
        self._values = {
            (link["name"], direction): Values(
                math.nan if link[direction]["rate"] is None else link[direction]["rate"],
                link[direction]["delay"],
                link[direction]["loss"],
            )
            for link in description["links"]
            for direction in DIRECTIONS
        }
        kinds = [table.get(kind, {}) for kind in ("paths", "links", "stations")]
        for (name, direction), values in self._values.items():
            one: Mapping[str, Any] = next((kind[name] for kind in kinds if name in kind), {})
            values.up = bool({**one, **one.get(direction, {})}.get("up", True))
        events = [event for event in table.get("events", []) if "set" in event]
        self._coming = sorted(events, key=lambda event: time_value(event.get("at")))

    def at(self, time: float) -> Mapping[tuple[str, str], Values]:
        """The values by link and direction, after the events up to a time in seconds."""
        with self._lock:
            while self._coming and time_value(self._coming[0].get("at")) <= time:
                self._apply(self._coming.pop(0))
            return dict(self._values)

    def change(self, link: str, key: str, value: str) -> None:
        """Sets a value of both directions, in the syntax of scenarios."""
        with self._lock:
            for direction in DIRECTIONS:
                self._values[link, direction].set(key, value)

    def _apply(self, event: Mapping[str, Any]) -> None:
        link = event.get("path") or event.get("link") or event.get("station")
        # With these ways, the hosts change, and the link stays up.
        hosts_only = event.get("how") in ("endpoint", "route")
        for direction in DIRECTIONS:
            values = self._values.get((str(link), direction))
            if values is None or event.get("direction", direction) != direction:
                continue
            for key, value in event["set"].items():
                if not (key == "up" and hosts_only):
                    values.set(key, value)
