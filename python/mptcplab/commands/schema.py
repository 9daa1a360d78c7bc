"""`mptcplab schema`: what a scenario file may hold."""

from __future__ import annotations

import argparse
import sys

from mptcplab import _core

NAME = "schema"
HELP = "print the JSON Schema of scenario files, or their reference page"
EXAMPLE = "mptcplab schema > scenario.schema.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--reference", action="store_true", help="print the reference page (Markdown) instead")


def execute(given: argparse.Namespace) -> int:
    """Prints it."""
    sys.stdout.write(_core.reference_page() if given.reference else _core.json_schema() + "\n")
    return 0
