"""Detects Ctrl-C as the cause of an error, so that the command exits without a traceback. Imports nothing, because the
start of the command needs it.
"""

from __future__ import annotations


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error, directly or not: an interrupted import may raise another error."""
    seen = 0
    while error is not None and seen < 100:
        if isinstance(error, KeyboardInterrupt):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False
