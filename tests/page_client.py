"""A page without a browser: a WebSocket client, and a folder in the place of the built page."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

WITH_PAGE = (
    "import pathlib, sys; from mptcplab.page import static_files; static_files.FOLDER = pathlib.Path(sys.argv.pop(1)); "
    "from mptcplab.cli.main import main; sys.exit(main())"
)
"""A script that runs `mptcplab` with the built page of another folder: its first argument."""


def built(folder: Path) -> Path:
    """A small built page."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "assets" / "core.wasm").write_bytes(b"\0asm" * 1000)
    return folder


def command(folder: Path, *arguments: str) -> list[str]:
    """A command line that runs `mptcplab` with this built page."""
    return [sys.executable, "-c", WITH_PAGE, str(folder), *arguments]


class Page:
    """A connection to `/live`."""

    def __init__(self, url: str, **options: Any) -> None:
        """Connects to the server at the URL that it prints."""
        live = url.partition("#")[0].replace("http://", "ws://").replace("/?", "/live?")
        self._open = ExitStack()
        opening = connect(live, open_timeout=10, close_timeout=2, compression=None, proxy=None, **options)
        self.socket: ClientConnection = self._open.enter_context(opening)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._open.close()

    def next(self) -> dict[str, Any]:
        """The next message."""
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=20))
        return message

    def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The first message for which `holds` is true."""
        limit = time.monotonic() + 40
        while not holds(message := self.next()):
            assert time.monotonic() < limit, message
        return message

    def say(self, message: object) -> None:
        """Sends a message: text as it is, everything else as JSON."""
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def act(self, number: int, action: object) -> dict[str, Any]:
        """Sends an action; the answer to it."""
        self.say({"type": "act", "id": number, "action": action})
        return self.until(lambda message: message.get("id") == number)
