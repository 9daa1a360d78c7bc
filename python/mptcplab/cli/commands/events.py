"""`mptcplab events`: lists or draws the events of a run, such as losses and scheduling decisions.

Events, which `run --trace` stores, show why a flow behaved as it did. `results.read.event_log` selects them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mptcplab.cli.common import BadInput, instant, natural, positive
from mptcplab.cli.outputs import add_size, pictures, write_picture

NAME = "events"
HELP = "list or draw the events of a traced run"
EXAMPLE = "mptcplab events results --path lte --kind loss,penalty --from 5s --until 8s"
PICTURES = {
    "sequence": "sequence number over time by subflow, with retransmissions",
    "messages": "the first segments between the hosts, with their options",
    "decisions": "the subflow that the scheduler chose, and why",
    "limits": "limiting factors of each path over time",
    "topology": "hosts, links and their parameters",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("result", type=Path, metavar="RUN", help="result of mptcplab run --trace KINDS --output")
    parser.add_argument("--kind", metavar="K1,K2", help="only events of these kinds, such as loss or penalty")
    parser.add_argument("--flow", metavar="F", help="only events of this flow")
    parser.add_argument("--path", metavar="P", help="only events of this path")
    parser.add_argument("--host", metavar="H", help="only events of this host")
    parser.add_argument("--seed", type=natural, metavar="N", help="seed of the run (default: the first)")
    parser.add_argument(
        "--from", dest="since", type=instant, default=0.0, metavar="TIME", help="only events from this time on"
    )
    parser.add_argument("--until", type=instant, metavar="TIME", help="only events until this time")
    parser.add_argument(
        "--most", type=positive, default=40, metavar="N", help="maximum number of printed rows (default: 40)"
    )
    parser.add_argument("--count", action="store_true", help="print only counts by kind, path and detail")
    parser.add_argument("--csv", action="store_true", help="print all events as CSV")
    parser.add_argument("--qlog", type=Path, metavar="DIR", help="write all events as qlog, one file per host")
    parser.add_argument("--picture", metavar="NAME", help=f"draw a figure: {', '.join(PICTURES)}")
    parser.add_argument("--output", type=Path, metavar="FILE", help="PNG, SVG or PDF file (default: NAME.svg)")
    add_size(parser)


def execute(given: argparse.Namespace) -> int:
    """Lists or draws the events."""
    from mptcplab.results.read.event_log import Selection, load, rows_text
    from mptcplab.util.user_input import choose

    if given.picture is not None:
        choose(given.picture, PICTURES, "picture", "--picture")
        output = pictures(given.output or Path(f"{given.picture}.svg"))
    elif given.output is not None or given.size is not None:
        option = "--output" if given.output is not None else "--size"
        raise BadInput(f"mptcplab: {option} needs a figure; add --picture, for example --picture sequence")
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
    print(rows_text(rows, most=given.most, count=given.count, csv=given.csv), end="")
    return 0
