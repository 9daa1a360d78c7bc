"""Policies that an environment steers: between two steps, they follow the values that the environment has set.

Owns the boards on which an environment writes its values. A policy finds its board by number, because the core creates
the policy from a scenario.
"""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING

from mptcplab.policies.base import CongestionControl, Scheduler

if TYPE_CHECKING:
    from mptcplab._core import CongestionPath, CongestionView, SendPath, SendView

UNUSED = 0.02
"""Paths with a smaller weight carry no data while another path works."""

_numbers = itertools.count()


class Board:
    """The values of an environment, by position of the subflow in the connection."""

    def __init__(self) -> None:
        """Registers a board without values."""
        self.number = next(_numbers)
        self.values: dict[int, float] = {}
        _boards[self.number] = self


_boards: weakref.WeakValueDictionary[int, Board] = weakref.WeakValueDictionary()


class SharesScheduler(Scheduler):
    """Divides the data among the paths in proportion to weights of the board. Equal weights give round robin."""

    def __init__(self, board: int = -1) -> None:
        """`board` is the number of a board; without it, all weights are equal."""
        self.board = _boards.get(board)
        self.sent: dict[int, float] = {}
        self.values: dict[int, float] | None = None

    def choose(self, view: SendView) -> SendPath | None:
        """The available path with the smallest amount of data per weight since the last change of the weights."""
        weights = {} if self.board is None else self.board.values
        if weights is not self.values:
            self.values, self.sent = weights, {}
        best, least = None, float("inf")
        for path in view.available:
            weight = weights.get(path.id, 1.0)
            if weight < UNUSED:
                continue
            load = self.sent.get(path.id, 0.0) / weight
            if load < least:
                best, least = path, load
        if best is not None:
            self.sent[best.id] = self.sent.get(best.id, 0.0) + best.mss
        elif all(weights.get(path.id, 1.0) < UNUSED for path in view.paths):
            best = min(view.available, key=lambda path: path.srtt)
        return best


class WindowController(CongestionControl):
    """Sets each congestion window to the bytes on the board; NewReno until the board has a value for the path."""

    def __init__(self, board: int = -1) -> None:
        """`board` is the number of a board."""
        self.board = _boards.get(board)

    def _window(self, path: CongestionPath) -> float | None:
        return None if self.board is None else self.board.values.get(path.index)

    def on_progress(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
        """Follows the board."""
        if (window := self._window(path)) is not None:
            path.cwnd = window
            path.ssthresh = window

    def on_ack(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
        """NewReno without a value."""
        if self._window(path) is None:
            rest = path.slow_start(acked)
            path.cwnd += path.mss * rest / path.cwnd

    def on_loss(self, view: CongestionView, path: CongestionPath) -> float | None:
        """Keeps the window of the board: the agent sees the loss and decides."""
        return self._window(path)
