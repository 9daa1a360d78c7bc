"""`mptcplab events`: what happened, event by event, and pictures of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import BadInput, instant, natural, positive
from mptcplab.cli.outputs import add_size, pictures, write_picture

NAME = "events"
HELP = "list the events of a run that was traced, or draw them"
EXAMPLE = "mptcplab events results --path lte --kind loss,penalty --from 5s --until 8s"
PICTURES = {
    "sequence": "time and sequence by subflow, with what went again and on other subflows",
    "messages": "the first segments between the hosts, with their options",
    "decisions": "which subflow the scheduler chose, and why",
    "limits": "what held each path back, over time",
    "topology": "hosts and links with what they carry",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("result", type=Path, metavar="RUN", help="what mptcplab run --trace KINDS --output wrote")
    parser.add_argument("--kind", metavar="K1,K2", help="these kinds alone, such as loss or penalty")
    parser.add_argument("--flow", metavar="F", help="one flow alone")
    parser.add_argument("--path", metavar="P", help="one path alone")
    parser.add_argument("--host", metavar="H", help="what one host saw alone")
    parser.add_argument("--seed", type=natural, metavar="N", help="which run of several (default: the first)")
    parser.add_argument("--from", dest="since", type=instant, default=0.0, metavar="TIME", help="from then on")
    parser.add_argument("--until", type=instant, metavar="TIME", help="up to then")
    parser.add_argument("--most", type=positive, default=40, metavar="N", help="how many rows (default: 40)")
    parser.add_argument("--count", action="store_true", help="count them by kind, path and what, and list none")
    parser.add_argument("--csv", action="store_true", help="all of them as CSV on the standard output")
    parser.add_argument("--qlog", type=Path, metavar="DIR", help="write all of them as qlog, a file for each host")
    parser.add_argument("--picture", metavar="NAME", help=f"draw instead: {', '.join(PICTURES)}")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where the picture goes, PNG, SVG or PDF (default: NAME.svg)"
    )
    add_size(parser)


def execute(given: argparse.Namespace) -> int:
    """Lists or draws."""
    from mptcplab.results.read.event_log import Selection, load, told
    from mptcplab.util.user_input import choose

    if given.picture is not None:
        choose(given.picture, PICTURES, "picture", "--picture")
        output = pictures(given.output or Path(f"{given.picture}.svg"))
    elif given.output is not None or given.size is not None:
        option = "--output" if given.output is not None else "--size"
        raise BadInput(f"mptcplab: {option} is for a picture; say which with --picture, for example sequence")
    run = load(given.result, given.seed)
    if given.qlog is not None:
        from mptcplab.results.write import qlog

        print("\n".join(f"written to {path}" for path in qlog.write(run, given.qlog)))
        return 0
    if given.picture is not None:
        from mptcplab.plots import event_plots

        chosen = Selection(None, given.flow, given.path, given.host, given.since, given.until)
        write_picture(event_plots.draw(given.picture, run, chosen, given.size), output)
        return 0
    chosen = Selection(given.kind, given.flow, given.path, given.host, given.since, given.until)
    rows = run.select(chosen)
    print(told(rows, most=given.most, count=given.count, csv=given.csv), end="")
    return 0
