"""Detects Ctrl-C as the cause of an error. Imports nothing, because the start of the command needs it."""

from __future__ import annotations


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is the cause. A module that is interrupted during its import may raise another error."""
    seen = 0
    while error is not None and seen < 100:
        if isinstance(error, KeyboardInterrupt):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False
