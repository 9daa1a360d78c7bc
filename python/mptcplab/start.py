"""The entry point of the process `mptcplab`.

Handles Ctrl-C also during imports, which take most of the first second, and after the command. It therefore first
imports only modules that every interpreter has loaded, and `util.interruption`.
"""

from __future__ import annotations

import sys

from mptcplab.util.interruption import was_interrupted


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

    # From here on, Ctrl-C has no effect.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code
