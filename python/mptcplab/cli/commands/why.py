"""`mptcplab why`: compares a flow with plain TCP on its best path, names limiting factors, and tests changes.

Explains why MPTCP is slower than expected. Owns arguments and output; the package `why` finds the answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, RunFailed, check_runs, natural, no_repetitions, positive, print_json, seeds
from mptcplab.cli.outputs import add_size, need_pictures, pictures, write_picture
from mptcplab.cli.settings import add_set, over

if TYPE_CHECKING:
    from mptcplab.why.answer import Answer

NAME = "why"
HELP = "compare a flow with plain TCP, name its limiting factors, and test changes"
EXAMPLE = "mptcplab why two.toml --set flows.download.rcvbuf=100KB --output why.png"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="scenario file")
    parser.add_argument("--flow", metavar="F", help="one flow (default: every MPTCP flow, up to ten)")
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="first seed (default: 1)")
    parser.add_argument("--seeds", type=positive, default=3, metavar="N", help="runs of each variant (default: 3)")
    add_set(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="draw the first flow as PNG, SVG or PDF")
    add_size(parser)
    parser.add_argument("--json", action="store_true", help="print JSON: a list with one entry per flow")
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def execute(given: argparse.Namespace) -> int:
    """Runs the flow, plain TCP and each change, and prints the result."""
    output = pictures(given.output) if given.output else None
    if given.size is not None and output is None:
        raise BadInput("mptcplab: --size needs a figure; add --output FILE")
    from mptcplab.scenario.definition import Scenario
    from mptcplab.util.files import folder
    from mptcplab.why.explain import explain

    scenario = over(Scenario.load(given.file), given.set)
    if output:
        need_pictures()
        folder(output.parent)
    check_runs(scenario.vary({"flows.*.baselines": True}), given.seeds)
    try:
        answers = explain(scenario, flow=given.flow, seeds=seeds(given), quiet=given.quiet)
    except ValueError as error:
        raise BadInput(f"mptcplab: {given.file}: {error}") from error
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if given.json:
        print_json([_document(answer) for answer in answers])
    else:
        for answer in answers:
            print("\n".join(answer.sentences()))
        if (note := no_repetitions(scenario.core, given.seeds)) is not None:
            print(note)
        if given.flow is None and scenario.core.transports.count("mptcp") > len(answers):
            print(f"shown: the first {len(answers)} flows; --flow NAME selects another")
    if output:
        from mptcplab.why.figure import picture

        write_picture(picture(answers[0]), output, given.size)
    return 0


def _document(answer: Answer) -> dict[str, Any]:
    return {
        "flow": answer.flow,
        "goodput_mbps": answer.goodput.mean,
        "alone_mbps": {path: value.mean for path, value in answer.alone.items()},
        "findings": [vars(finding) for finding in answer.findings],
        "tried": [{"change": trial.change, "goodput_mbps": trial.goodput.mean} for trial in answer.tried],
        "sentences": answer.sentences(),
    }
