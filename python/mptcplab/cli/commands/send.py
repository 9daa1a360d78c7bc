"""`mptcplab send`: sends a file over mptcplab's stack on real packets (TUN devices).

The receiver can be `mptcplab receive`, or another MPTCP or TCP stack, such as Linux's, to test whether both
interoperate. `live_options` has the options that both commands share.
"""

from __future__ import annotations

import argparse
import hashlib
import socket
import sys
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mptcplab.cli import live_options
from mptcplab.cli.common import BadInput, RunFailed, duration, print_json

if TYPE_CHECKING:
    from mptcplab.live.driver import Config, Driver, MptcpStream
    from mptcplab.live.transfers import Watch

NAME = "send"
HELP = "send a file over mptcplab's stack on real packets (TUN devices)"
PAUSE = 0.02
"""Seconds between two checks whether all data has arrived."""
LINGER = 60.0
"""Seconds that a peer may take to close its side: Linux's net.mptcp.close_timeout."""
EXAMPLE = "mptcplab send backup.tar 10.88.0.1:5001 --interface mptcp0 --interface mptcp1"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", metavar="FILE", help="file to send; - is standard input")
    parser.add_argument(
        "to", metavar="HOST:PORT", help="address of the receiver: mptcplab receive, or any MPTCP or TCP server"
    )
    parser.add_argument(
        "--connect-timeout",
        type=duration,
        default=10.0,
        metavar="TIME",
        help=("time to wait until the receiver answers (default: 10s)"),
    )
    live_options.add_arguments(parser)


def execute(given: argparse.Namespace) -> int:
    """Sends the file."""
    from mptcplab.live.transfers import Watch, document, summary

    host, port = live_options.place(given.to)
    config = live_options.config(given)
    with (
        _source(given.file) as file,
        live_options.endpoint(given) as driver,
        live_options.shown(given, driver, config, sending=True) as page,
    ):
        with _connect(driver, host, port, config, given) as stream:
            if page is not None:
                page.show(stream)
            watch = Watch(live_options.devices(driver), sending=True, quiet=given.quiet or given.json)
            try:
                count, digest = _send(stream, file, watch)
            finally:
                watch.close()
            seconds = time.monotonic() - watch.began
            info = stream.info()
            _await_end(stream)
            if page is not None:
                page.end(info)
        driver.drain(live_options.LAST_WORDS)
        done = document(info, live_options.devices(driver), count=count, seconds=seconds, digest=digest, sending=True)
    if given.json:
        print_json(done)
    elif not given.quiet:
        print(summary(done, sending=True))
    return 0


def _source(file: str) -> nullcontext[IO[bytes]] | IO[bytes]:
    return nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb")


def _connect(driver: Driver, host: str, port: int, config: Config, given: argparse.Namespace) -> MptcpStream:
    """Connects to the first reachable address of the host."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise BadInput(
            f"mptcplab: {host}: {error.strerror}; use an address or a name that resolves on this machine"
        ) from error
    versions = {":" in known.address for known in driver.addresses}
    reachable = [str(row[4][0]) for row in found if (row[0] == socket.AF_INET6) in versions]
    if not reachable:
        theirs = ", ".join(sorted({str(row[4][0]) for row in found}))
        raise BadInput(
            f"mptcplab: {host} ({theirs}) is unreachable: the endpoint has only IPv{6 if True in versions else 4}; add "
            "an address of the other version: NAME=ADDRESS,ADDRESS"
        )
    try:
        return driver.connect(reachable[0], port, config, timeout=given.connect_timeout)
    except ConnectionRefusedError as error:
        raise RunFailed(f"{host}:{port} refused the connection; start a receiver there") from error
    except TimeoutError as error:
        ours = ", ".join(known.address for known in driver.addresses)
        raise RunFailed(
            f"no answer from {host}:{port} in {given.connect_timeout:g} s. Check that the receiver runs, that it has a "
            f"route to {ours}, and that this machine forwards packets (sysctl net.ipv4.ip_forward=1). "
            "docs/wire.md describes the set-up"
        ) from error


def _send(stream: MptcpStream, file: IO[bytes], watch: Watch) -> tuple[int, str]:
    """Sends the file and waits until the peer has it; returns bytes and SHA-256."""
    digest, count = hashlib.sha256(), 0
    stream.settimeout(live_options.PATIENCE)
    try:
        while piece := file.read(live_options.PIECE):
            digest.update(piece)
            count += len(piece)
            left = memoryview(piece)
            while left:
                left = left[_try_send(stream, left) :]
                if watch.due():
                    watch.show(stream.info())
        stream.shutdown(socket.SHUT_WR)
        while not _arrived(stream):
            if watch.due():
                watch.show(stream.info())
    except ConnectionError as error:
        raise live_options.lost(error, stream, stream.info()["bytes_acked"]) from error
    return count, digest.hexdigest()


def _try_send(stream: MptcpStream, data: memoryview) -> int:
    try:
        return stream.send(data)
    except TimeoutError:
        return 0


def _arrived(stream: MptcpStream) -> bool:
    """Whether the peer has received everything; waits briefly."""
    info = stream.info()
    if info["bytes_acked"] >= info["bytes_written"]:
        return True
    if info["closed"] is not None:
        raise ConnectionResetError(info["closed"])
    time.sleep(PAUSE)
    return False


def _await_end(stream: MptcpStream) -> None:
    """Waits until the receiver, which may still be busy, closes the connection in order."""
    stream.settimeout(LINGER)
    with suppress(TimeoutError, ConnectionError):
        while stream.recv(live_options.PIECE):
            pass
