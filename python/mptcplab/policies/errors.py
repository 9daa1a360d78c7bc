"""The text of an exception in a policy, for the command line.

The core marks such an exception with the name of the policy (`mptcplab_policy`). The text shows the frames of the
user's code only.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


class RemoteTraceback(Exception):
    """The text of an exception that a policy raised in another process, where its frames stay."""


def with_remote_text(error: Exception, text: str) -> Exception:
    """The exception of another process, with its traceback as the cause."""
    error.__cause__ = RemoteTraceback(text)
    return error


def policy_error(error: BaseException) -> str | None:
    """The traceback of an exception that a policy raised; None for other exceptions."""
    policy = getattr(error, "mptcplab_policy", None)
    if policy is None:
        return None
    if isinstance(error.__cause__, RemoteTraceback):
        return str(error.__cause__)
    # Imported late: every command imports this module.
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    last_own = max((at for at, frame in enumerate(frames) if Path(frame.filename).is_relative_to(PACKAGE)), default=-1)
    own = frames[last_own + 1 :]
    summary = "".join(traceback.format_exception_only(error)).rstrip()
    if not own:
        return f"mptcplab: {summary}"
    return f"mptcplab: the policy {policy} raised an exception\n{''.join(traceback.format_list(own))}{summary}"
