"""Changes links of an emulated network for the console and the page, one change at a time.

Owns the state of each link that a person has set: `up`, `down` (visible for both hosts) or `silent` (all packets are
dropped, and no host is notified). The console and the page share one control, so both know the same states.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Protocol

from mptcplab.util.user_input import choose

STATES = ("down", "up", "silent")
QUANTITIES = ("rate", "delay", "loss", "queue")


class NetworkLinks(Protocol):
    """The links of an emulated network."""

    links: list[str]

    def set_link(self, link: str, key: str, value: str) -> None:
        """Changes a link; raises `ScenarioError` for an invalid value."""

    def set_up(self, link: str, *, up: bool) -> None:
        """Sets a link up or down, visibly for its hosts."""

    def delivered_bytes(self) -> Mapping[str, tuple[int, int]]:
        """Bytes that each link has delivered so far, forward and backward."""


class LinkControl:
    """Changes the links of a network. All methods may be called from several threads."""

    def __init__(self, wires: NetworkLinks, states: tuple[str, ...] = STATES) -> None:
        """All links are up at the start; `states` are the possible ones."""
        self.wires = wires
        self.possible = states
        """The states that `set_state` accepts."""
        self.links = wires.links
        self._states = dict.fromkeys(wires.links, "up")
        self._notified: set[str] = set()
        """Links whose hosts may have been notified that they are down."""
        self._lock = threading.Lock()

    def states(self) -> dict[str, str]:
        """The state of each link: one of `STATES`."""
        return dict(self._states)

    def set_quantity(self, link: str, key: str, value: str) -> None:
        """Sets one of `QUANTITIES` in the syntax of scenarios. Raises `ScenarioError` for an invalid value."""
        with self._lock:
            self.wires.set_link(link, key, value)

    def set_state(self, link: str, state: str) -> None:
        """Sets one of the possible states. Raises `BadResult` for another one.

        The state stays the previous one if the change fails.
        """
        choose(state, self.possible, "state of a link")
        with self._lock:
            self.wires.set_link(link, "up", "true" if state == "up" else "false")
            if state == "down" and self._states[link] != "down":
                self._notified.add(link)
                self.wires.set_up(link, up=False)
            elif state != "down" and link in self._notified:
                self.wires.set_up(link, up=True)
                self._notified.discard(link)
            self._states[link] = state
