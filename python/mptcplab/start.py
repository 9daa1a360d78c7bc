"""Where the process `mptcplab` begins.

Owns Ctrl-C before and after the command: imports take most of the first second. Imports nothing but what every
interpreter has loaded.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Loads the command line and runs it; returns the exit code."""
    try:
        from mptcplab.cli.main import main as command

        code = command()
    except BaseException as error:
        if not was_interrupted(error):
            raise
        print("mptcplab: interrupted", file=sys.stderr)
        code = 130
    import signal

    # From here on, nothing is left that Ctrl-C could interrupt.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is the cause: a module that is interrupted while it loads may raise an error of its own."""
    seen = 0
    while error is not None and seen < 100:
        if isinstance(error, KeyboardInterrupt):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False
