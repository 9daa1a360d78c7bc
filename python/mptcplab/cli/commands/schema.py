"""`mptcplab schema`: what a scenario file may hold."""

from __future__ import annotations

import argparse
import sys

from mptcplab import _core

NAME = "schema"
HELP = "print the JSON Schema of scenario files, their reference page, or what results mean"
EXAMPLE = "mptcplab schema > scenario.schema.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--reference", action="store_true", help="print the reference page (Markdown) instead")
    which.add_argument("--results", action="store_true", help="print what the columns of results mean (Markdown)")


def execute(given: argparse.Namespace) -> int:
    """Prints it."""
    if given.results:
        from mptcplab.results.text.glossary import page

        sys.stdout.write(page())
        return 0
    sys.stdout.write(_core.reference_page() if given.reference else _core.json_schema() + "\n")
    return 0
