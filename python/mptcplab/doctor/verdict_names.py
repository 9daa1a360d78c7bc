"""Titles and levels of verdicts, in the order of docs/doctor.md.

Owns the words for names that the core gives. A name without an entry is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Level = Literal["high", "some", "note", "good"]

TITLES = {
    "fallback": "The connection fell back to TCP",
    "blackhole": "SYNs with MPTCP vanish",
    "plain-tcp": "The client did not ask for MPTCP",
    "join-stripped": "A middlebox removes MP_JOIN",
    "join-unanswered": "A join gets no answer",
    "join-refused": "A join is refused",
    "add-addr-unanswered": "An announced address is not used",
    "one-subflow": "There is only one subflow",
    "backup": "A backup path is idle",
    "receive-window": "The receive window is too small",
    "head-of-line": "A slow path blocks the others",
    "send-buffer": "The send buffer is too small",
    "application": "The application sends too little",
    "scheduler": "The scheduler uses the wrong path",
    "reinjection": "Data is sent on two paths",
    "dead-path": "A path went silent",
    "loss": "A path loses packets",
    "policer": "A policer drops packets",
    "bufferbloat": "A long queue adds delay",
    "healthy": "Nothing is wrong",
    "cannot-tell": "The capture cannot tell",
}

WORDS: dict[Level, str] = {"high": "high cost", "some": "some cost", "note": "note", "good": "healthy"}
"""The level of a verdict in words, next to its colour."""

_HIGH = 0.25
"""Share of the potential above which a cost is high."""


def title(name: str) -> str:
    """The title of a verdict."""
    return TITLES.get(name, name)


def level(verdict: Mapping[str, Any]) -> Level:
    """How serious a verdict is."""
    if verdict["name"] == "healthy":
        return "good"
    if verdict["name"] == "cannot-tell" or verdict["share"] <= 0:
        return "note"
    return "high" if verdict["share"] >= _HIGH else "some"
