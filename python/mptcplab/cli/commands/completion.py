"""`mptcplab completion`: what makes a shell complete commands, options and files."""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "completion"
HELP = "print what makes a shell complete commands, options and files"
EXAMPLE = 'eval "$(mptcplab completion bash)"'

SHELLS = ("bash", "zsh")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, help="which")


def execute(given: argparse.Namespace) -> int:
    """Prints it."""
    import shtab

    top = given.all_commands
    for action in _all_actions(top):
        if action.type is Path:
            # argparse has no place for this; shtab looks for the attribute.
            vars(action)["complete"] = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE
    print(shtab.complete(top, given.shell))
    return 0


def _all_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    found = list[argparse.Action]()
    for action in parser._actions:  # noqa: SLF001 - as shtab itself; argparse has no other way
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for inner in action.choices.values():
                found += _all_actions(inner)
    return found
