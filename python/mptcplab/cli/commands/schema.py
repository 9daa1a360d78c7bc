"""`mptcplab schema`: prints the schema and the reference pages of scenarios and results.

Editors check and complete scenario files with the JSON Schema.
"""

from __future__ import annotations

import argparse
import sys

from mptcplab import _core

NAME = "schema"
HELP = "print the JSON Schema of scenarios, or a reference page"
EXAMPLE = "mptcplab schema > scenario.schema.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--reference", action="store_true", help="print the reference of scenarios (Markdown)")
    which.add_argument("--results", action="store_true", help="print the reference of results (Markdown)")


def execute(given: argparse.Namespace) -> int:
    """Prints the schema or a page."""
    if given.results:
        from mptcplab.results.text.glossary import page

        sys.stdout.write(page())
        return 0
    sys.stdout.write(_core.reference_page() if given.reference else _core.json_schema() + "\n")
    return 0
