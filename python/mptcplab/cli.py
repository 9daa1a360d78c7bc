"""The command `mptcplab`.

Owns arguments, exit codes and what a person sees when something goes wrong: 0 all well, 1 a run or
a fact failed, 2 bad input, 130 Ctrl-C. What the commands do is in `commands`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from mptcplab import ScenarioError, __version__
from mptcplab.commands import COMMANDS
from mptcplab.commands.common import BadInput, RunFailed
from mptcplab.inputs import BadResult


def parser() -> argparse.ArgumentParser:
    """The arguments of all commands."""
    top = argparse.ArgumentParser(
        prog="mptcplab",
        description="Multipath TCP that you can run, study and change.",
        epilog="example: mptcplab run handoff.toml --seed 7 --output results",
    )
    top.add_argument("--version", action="version", version=f"mptcplab {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = commands.add_parser(
            command.NAME,
            help=command.HELP,
            description=command.HELP[0].upper() + command.HELP[1:] + ".",
            epilog=f"example: {command.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(own)
        own.set_defaults(execute=command.execute)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        given = parser().parse_args(arguments)
        code: int = given.execute(given)
        sys.stdout.flush()
    except (ScenarioError, BadInput) as error:
        print(error, file=sys.stderr)
        return 2
    except BadResult as error:
        print(f"mptcplab: {error}", file=sys.stderr)
        return 2
    except RunFailed as error:
        print(f"mptcplab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print(f"mptcplab: {str(interrupt) or 'interrupted'}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has enough: nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        print(f"mptcplab: {error}", file=sys.stderr)
        return 2
    return code
