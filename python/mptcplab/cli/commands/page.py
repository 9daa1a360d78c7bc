"""`mptcplab page`: opens the page in the browser: the simulator, or with `--live` real connections.

Owns the arguments. `page.server` serves the page; `--live` runs another command with its option `--page`.
"""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from typing import Any

from mptcplab.cli import page_options
from mptcplab.cli.common import BadInput, natural
from mptcplab.util.user_input import choose

NAME = "page"
HELP = "open the page in the browser: simulate a scenario, or watch real connections"
EXAMPLE = "mptcplab page --live emulate two.toml --peer 'mptcpize run iperf3 -s' -- mptcpize run iperf3 -c server"
INNER = "--live"
"""All arguments after this option are those of another command."""
LIVE = ("emulate", "run", "send", "receive")
"""Commands with the option `--page`."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", nargs="?", type=Path, metavar="SCENARIO", help="scenario file that the page opens")
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="random seed of the scenario (default: 1)")
    parser.add_argument(
        "--port", type=page_options.port, default=0, metavar="N", help="TCP port on 127.0.0.1 (default: a free port)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the URL, and open no browser")
    parser.add_argument(INNER, action="store_true", help=f"run the command that follows with --page: {', '.join(LIVE)}")


def execute(given: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C, or while the command of `--live` runs."""
    if given.live:
        return _live(given)
    scenario = None if given.file is None else _scenario(given.file, given.seed)
    with page_options.served(port=given.port, browser=not given.no_browser, scenario=scenario):
        print("mptcplab: Ctrl-C ends the server", file=sys.stderr, flush=True)
        threading.Event().wait()
    return 0


def _live(given: argparse.Namespace) -> int:
    """Runs the command of `--live` with `--page`."""
    if given.file is not None:
        raise BadInput("mptcplab: write the scenario after the command of --live, as in: --live emulate two.toml")
    if not given.inner:
        raise BadInput(f"mptcplab: --live expects a command; choose from: {', '.join(LIVE)}")
    first, *rest = given.inner
    choose(first, LIVE, "command", "--live")
    options = ["--page", "--page-port", str(given.port), *(["--no-browser"] if given.no_browser else [])]
    code: int = given.main([first, *options, *rest])
    return code


def _scenario(file: Path, seed: int) -> dict[str, Any]:
    """The answer to `GET /scenario`. Raises `ScenarioError` for an invalid file."""
    import tomllib

    from mptcplab import _core

    core = _core.Scenario.load(file)
    text = file.read_text(encoding="utf-8")
    # The page has no files: a scenario that includes others is sent as one.
    toml = core.to_toml() if "include" in tomllib.loads(text) else text
    return {"toml": toml, "seed": seed}
