"""Commands that change links of an emulated network while programs run, from a person or a script.

`mptcplab emulate --prompt` reads them. Owns the grammar and the answers. Changes are applied like scenario events.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from mptcplab.emulation.link_control import QUANTITIES, STATES, LinkControl
from mptcplab.emulation.traffic_report import ARROWS
from mptcplab.live.transfers import size
from mptcplab.util.user_input import BadResult, choose, seconds

HELP = """\
link NAME down      pull the cable: both hosts see the device go down
link NAME up        plug the cable in again
link NAME silent    drop all packets; no host sees it (link NAME up ends it)
link NAME rate 2Mbit, delay 50ms, loss 1%, queue 100p
status              print the state of each link, and the data that it has delivered
wait 2s             wait before the next command (for scripts)
help                print this list
quit                remove the network, and end COMMAND"""
WORDS = ("link", "status", "wait", "help", "quit")


class Console:
    """Executes commands, one per line."""

    def __init__(self, control: LinkControl) -> None:
        """Changes links through `control`."""
        self._control = control
        self.waits = 0.0
        """Seconds until the next command."""
        self.over = False
        """Whether `quit` was entered."""

    def do(self, line: str) -> str:
        """Executes a line; returns the answer. Raises `BadResult` or `ScenarioError` for an invalid command."""
        words = line.partition("#")[0].split()
        if not words:
            return ""
        first = choose(words[0], WORDS, "command")
        does: dict[str, Callable[[list[str]], str]] = {
            "link": self._link, "status": self._status, "wait": self._wait, "help": lambda _: HELP, "quit": self._quit,
        }  # fmt: skip
        return does[first](words[1:])

    def _link(self, words: list[str]) -> str:
        if len(words) < 2:
            raise BadResult("write link NAME down, or link NAME rate 2Mbit (help lists all)")
        name = choose(words[0], self._control.links, "link")
        what = choose(words[1], (*STATES, *QUANTITIES), "change of a link")
        if what in QUANTITIES:
            if len(words) != 3:
                raise BadResult(f"write link {name} {what} VALUE (help shows examples)")
            self._control.set_quantity(name, what, words[2])
            return f"{name}: {what} {words[2]}"
        self._control.set_state(name, what)
        return f"{name}: {what}"

    def _status(self, words: list[str]) -> str:
        if words:
            raise BadResult("status takes no arguments")
        states, delivered_bytes = self._control.states(), self._control.wires.delivered_bytes()
        arrows = tuple(ARROWS.values())
        both = {name: zip(arrows, delivered_bytes.get(name, (0, 0)), strict=True) for name in states}
        return "\n".join(
            f"{name}: {state}, " + ", ".join(f"{arrow} {size(count)}" for arrow, count in both[name])
            for name, state in states.items()
        )

    def _wait(self, words: list[str]) -> str:
        if len(words) != 1:
            raise BadResult("write the time to wait, such as wait 2s")
        self.waits = seconds(words[0])
        if not 0 <= self.waits <= 86_400:
            raise BadResult("the time must be between 0s and 24h")
        return ""

    def _quit(self, words: list[str]) -> str:
        if words:
            raise BadResult("quit takes no arguments")
        self.over = True
        return ""


class Lines:
    """Reads lines of a descriptor without blocking."""

    MOST = 10_000
    """Maximum bytes of a line; a longer line ends the input."""

    def __init__(self, descriptor: int) -> None:
        """Reads from this file descriptor."""
        self._descriptor = descriptor
        self._rest = b""
        self.ended = False

    def next(self) -> str | None:
        """The next line; None if no complete line has arrived, or if the input has `ended`."""
        while b"\n" not in self._rest and not self.ended and select.select([self._descriptor], [], [], 0)[0]:
            data = os.read(self._descriptor, 4096)
            self.ended = not data or len(self._rest) > self.MOST
            self._rest += data
        line, end, rest = self._rest.partition(b"\n")
        if not end and not (self.ended and line):
            return None
        self._rest = rest
        return line.decode("utf-8", "replace")
