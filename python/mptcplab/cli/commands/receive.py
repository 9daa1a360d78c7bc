"""`mptcplab receive`: receives data over mptcplab's stack on real packets (TUN devices).

The sender can be `mptcplab send`, or another MPTCP or TCP stack, such as Linux's, to test whether both interoperate.
`live_options` has the options that both commands share.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import socket
import sys
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mptcplab.cli import live_options
from mptcplab.cli.common import BadInput, print_json
from mptcplab.util.files import replacing

if TYPE_CHECKING:
    from mptcplab.live.driver import MptcpStream
    from mptcplab.live.transfers import Watch

ANY = "0.0.0.0"  # noqa: S104
NAME = "receive"
HELP = "receive data over mptcplab's stack on real packets (TUN devices)"
EXAMPLE = "mptcplab receive --listen :5001 --output backup.tar --interface mptcp0 --interface mptcp1"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "--listen",
        required=True,
        metavar="[ADDRESS]:PORT",
        help="address and port to listen on; without ADDRESS, all addresses of the endpoint",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="output file; - is standard output (default: count the bytes only)"
    )
    live_options.add_arguments(parser)


def execute(given: argparse.Namespace) -> int:
    """Receives from one sender."""
    from mptcplab.live.transfers import Watch, document, summary

    host, port = live_options.place(given.listen, empty=ANY)
    config = live_options.config(given)
    to_stdout = given.output == "-"
    _check(given.output)
    with (
        live_options.endpoint(given) as driver,
        live_options.shown(given, driver, config, sending=False) as page,
        driver.listen(port, config, host=host) as listener,
    ):
        if not given.quiet:
            here = sorted({known.address for known in driver.addresses}) if host == ANY else [host]
            print(f"listening on {', '.join(here)}, port {port}", file=sys.stderr, flush=True)
        stream, peer = listener.accept()
        if page is not None:
            page.show(stream)
        # The file is created when the first data arrives.
        with stream, _target(given.output) as file:
            watch = Watch(live_options.devices(driver), sending=False, quiet=given.quiet or given.json)
            try:
                count, digest = _receive(stream, file, watch)
            finally:
                watch.close()
            seconds = time.monotonic() - watch.began
            with suppress(ConnectionError):
                # A sender that closed first has already sent everything.
                stream.shutdown(socket.SHUT_WR)
            info = stream.info()
            if page is not None:
                page.end(info)
        driver.drain(live_options.LAST_WORDS)
        done = document(info, live_options.devices(driver), count=count, seconds=seconds, digest=digest, sending=False)
        done["peer"] = f"{peer[0]}:{peer[1]}" if ":" not in peer[0] else f"[{peer[0]}]:{peer[1]}"
    if given.json:
        print_json(done)
    elif not given.quiet:
        print(summary(done, sending=False), file=sys.stderr if to_stdout else sys.stdout)
    return 0


def _check(output: str | None) -> None:
    """Rejects an output that cannot be written, before a sender connects."""
    if output is None or output == "-":
        return
    folder = Path(output).parent
    if not folder.is_dir():
        raise BadInput(f"mptcplab: --output {output}: directory {folder} does not exist")
    if Path(output).is_dir():
        raise BadInput(f"mptcplab: --output {output}: is a directory; name a file in it")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"mptcplab: --output {output}: no permission to write to {folder}")


def _target(output: str | None) -> AbstractContextManager[IO[bytes] | None]:
    if output is None:
        return nullcontext(None)
    if output == "-":
        return nullcontext(sys.stdout.buffer)
    target = Path(output)
    if target.exists() and not target.is_file():
        # Devices and pipes accept data directly; a directory fails with a clear error.
        return target.open("wb")
    return replacing(target)


def _receive(stream: MptcpStream, file: IO[bytes] | None, watch: Watch) -> tuple[int, str]:
    """Receives until the end; returns bytes and SHA-256."""
    digest, count = hashlib.sha256(), 0
    stream.settimeout(live_options.PATIENCE)
    while True:
        try:
            piece = stream.recv(live_options.PIECE)
        except TimeoutError:
            piece = None
        except ConnectionError as error:
            raise live_options.lost(error, stream, count) from error
        if watch.due():
            watch.show(stream.info())
        if piece is None:
            continue
        if not piece:
            break
        digest.update(piece)
        count += len(piece)
        if file is not None:
            file.write(piece)
    if file is not None:
        file.flush()
    return count, digest.hexdigest()
