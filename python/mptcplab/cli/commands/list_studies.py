"""`mptcplab list`: prints the published studies, each a publication whose experiments mptcplab can repeat.

`study` and `reproduce` take the printed names as arguments.
"""

from __future__ import annotations

import argparse
import sys
import textwrap

from mptcplab.cli.common import print_json

NAME = "list"
HELP = "list the published studies and their experiments"
EXAMPLE = "mptcplab list"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(given: argparse.Namespace) -> int:
    """Prints the studies."""
    from mptcplab.studies import all_studies

    studies, problems = all_studies()
    for problem in problems.values():
        print(problem, file=sys.stderr)

    if given.json:
        print_json(
            [
                {
                    "study": study.name,
                    "letter": study.letter,
                    "title": study.title,
                    "source": study.source,
                    "experiments": [
                        {"experiment": experiment.name, "title": experiment.title} for experiment in study.experiments
                    ],
                }
                for study in studies.values()
            ]
        )
        return 0
    for study in studies.values():
        print(f"{study.name}: {study.title}")
        print(textwrap.indent(textwrap.fill(study.source, 96), "  "))
        for experiment in study.experiments:
            print(f"    {experiment.name:<9} {experiment.title}")
        print()
    print("mptcplab reproduce [STUDY ...] runs studies and writes report/index.html.")
    return 0
