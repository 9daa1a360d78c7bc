"""Starts the page for a command: the options, the printed URL, the browser, and errors.

`mptcplab page` and all commands with `--page` use it. Owns nothing while the page runs; `page.server` serves it.
"""

from __future__ import annotations

import argparse
import html
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, RunFailed

if TYPE_CHECKING:
    from mptcplab.page.live_source import LiveSource
    from mptcplab.page.server import PageServer

HIGHEST = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--page`, `--page-port` and `--no-browser`."""
    parser.add_argument("--page", action="store_true", help="show the connections on a page in the browser")
    parser.add_argument(
        "--page-port", type=port, default=0, metavar="N", help="TCP port of --page (default: a free port)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the URL of --page, and open no browser")


def port(text: str) -> int:
    """A TCP port; 0 selects a free one."""
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > HIGHEST:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a port; write a number between 0 and {HIGHEST}")
    return int(text)


@contextmanager
def served(
    *,
    port: int,
    browser: bool,
    scenario: Mapping[str, Any] | None = None,
    source: LiveSource | None = None,
    quiet: bool = False,
) -> Iterator[PageServer]:
    """A running server of the page, whose URL is printed; it ends with the block."""
    from mptcplab.page import static_files
    from mptcplab.page.server import CannotServe, PageServer

    try:
        files = static_files.files()
    except static_files.NotBuilt as error:
        raise BadInput(f"mptcplab: {error}") from error
    server = PageServer(files, port=port, scenario=scenario, source=source)
    try:
        server.start()
    except CannotServe as error:
        raise RunFailed(str(error)) from error
    try:
        # The URL is always printed: without it, nobody could open the page.
        print(server.url if quiet else f"mptcplab: page at {server.url}", file=sys.stderr, flush=True)
        with ExitStack() as stack:
            if browser and _has_display():
                _open(stack.enter_context(_redirect(server.url)))
            yield server
    finally:
        server.close()


def _has_display() -> bool:
    """Whether a browser has a window: a text browser would take the terminal from the command."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextmanager
def _redirect(url: str) -> Iterator[str]:
    """The URL of a private file that leads a browser to `url`, until the block ends.

    The command line of a browser is visible to all users of the machine, so it must not contain the token.
    """
    with tempfile.TemporaryDirectory(prefix="mptcplab-page-") as folder:
        file = Path(folder, "page.html")
        file.touch(mode=0o600)
        file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(url)}">', "utf-8")
        yield file.as_uri()


def _open(url: str) -> None:
    """Opens the browser, and does not wait for it."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


@contextmanager
def shown(given: argparse.Namespace, source: LiveSource) -> Iterator[None]:
    """Shows real connections while the block runs, if `--page` was given."""
    if not given.page:
        yield
        return
    with served(port=given.page_port, browser=not given.no_browser, source=source):
        yield
    if source.changes:
        # The scenario alone does not reproduce the result.
        print(f"mptcplab: links were changed on the page ({source.changes} changes)", file=sys.stderr)
