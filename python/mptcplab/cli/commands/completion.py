"""`mptcplab completion`: prints a script with which bash or zsh completes commands, options and file names."""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "completion"
HELP = "print a completion script for bash or zsh"
EXAMPLE = 'eval "$(mptcplab completion bash)"'

SHELLS = ("bash", "zsh")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("shell", choices=SHELLS, help="shell of the script")


def execute(given: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    top = given.all_commands()
    for action in _all_actions(top):
        if action.type is Path:
            # shtab reads this attribute; argparse has none for it.
            vars(action)["complete"] = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE
    print(shtab.complete(top, given.shell))
    return 0


def _all_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    found = list[argparse.Action]()
    for action in parser._actions:  # noqa: SLF001 - as in shtab; argparse has no public interface
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for inner in action.choices.values():
                found += _all_actions(inner)
    return found
