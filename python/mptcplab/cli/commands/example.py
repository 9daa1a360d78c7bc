"""`mptcplab example`: prints an example scenario, as a start for your own scenario files, or lists the examples."""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import print_json

NAME = "example"
HELP = "print an example scenario, or list the examples"
EXAMPLE = "mptcplab example two > two.toml"

FOLDER = Path(__file__).parents[2] / "scenarios"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("name", nargs="?", default="two", metavar="NAME", help="example to print (default: two)")
    parser.add_argument("--list", action="store_true", help="list the examples")
    parser.add_argument("--json", action="store_true", help="print the list as JSON (with --list)")


def execute(given: argparse.Namespace) -> int:
    """Prints the scenario."""
    from mptcplab.util.user_input import choose

    files = {file.stem: file for file in sorted(FOLDER.glob("*.toml"))}
    if given.list:
        message = {name: _about(file) for name, file in files.items()}
        if given.json:
            print_json(message)
        else:
            print("\n".join(f"{name:<10}  {text}" for name, text in message.items()))
        return 0
    print(files[choose(given.name, files, "example")].read_text(encoding="utf-8"), end="")
    return 0


def _about(file: Path) -> str:
    """The description of a scenario; without one, its first line up to a colon, which is a comment."""
    import tomllib

    text = file.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    message = tomllib.loads(text).get("description") or first.removeprefix("#").partition(":")[0].strip()
    return str(message)
