"""The sender and the receiver of the planted captures of Linux: one transfer over the kernel's MPTCP sockets.

Each end runs as a process in its namespace: `python -m mptcplab.doctor.planted_ends server JSON`. Owns the socket
options and the pace of the application.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

PORT = 5001
IPPROTO_MPTCP = 262
_CONGESTION = 13
_CHUNK = 64 << 10
_DRAIN = 20.0
"""Seconds that the sender waits until the other end has closed."""


@dataclass(frozen=True)
class EndOptions:
    """The options of both ends of a transfer."""

    address: str
    """The address to which the client connects."""
    seconds: float
    """How long the sender writes, from the time of the connection."""
    upload: bool
    congestion: str
    server_protocol: int = IPPROTO_MPTCP
    client_send_buffer: int | None = None
    client_receive_buffer: int | None = None
    server_send_buffer: int | None = None
    server_receive_buffer: int | None = None
    close_listener: bool = False
    """Whether the server closes its listening socket after the first connection."""
    write_bytes: int | None = None
    """The application writes this many bytes every `write_interval` seconds; None for as fast as possible."""
    write_interval: float = 0.05
    total_bytes: int | None = None
    """The sender ends after this many bytes; None for after `seconds`."""

    def words(self) -> str:
        """The options as an argument."""
        return json.dumps(asdict(self))


def _prepared(protocol: int, options: EndOptions, send: int | None, receive: int | None) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    made.setsockopt(socket.IPPROTO_TCP, _CONGESTION, options.congestion.encode())
    for option, value in ((socket.SO_SNDBUF, send), (socket.SO_RCVBUF, receive)):
        if value is not None:
            made.setsockopt(socket.SOL_SOCKET, option, value)
    return made


def _send(stream: socket.socket, options: EndOptions) -> None:
    began = time.monotonic()
    size, written = options.write_bytes or _CHUNK, 0
    turn = 0
    while time.monotonic() < began + options.seconds:
        if options.total_bytes is not None:
            size = min(size, options.total_bytes - written)
        if not size:
            break
        stream.sendall(bytes(size))
        written += size
        turn += 1
        if options.write_bytes is not None:
            time.sleep(max(0.0, began + turn * options.write_interval - time.monotonic()))
    stream.shutdown(socket.SHUT_WR)


def _receive(stream: socket.socket) -> tuple[int, float]:
    """The received bytes, and the seconds from the first to the last one."""
    count, first = 0, 0.0
    while data := stream.recv(1 << 20):
        first = first or time.monotonic()
        count += len(data)
    return count, time.monotonic() - first


def serve(options: EndOptions) -> None:
    """Accepts one connection, and sends or receives."""
    own = _prepared(options.server_protocol, options, options.server_send_buffer, options.server_receive_buffer)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(("0.0.0.0", PORT))  # noqa: S104
    own.listen()
    print("listening", flush=True)
    stream, _ = own.accept()
    if options.close_listener:
        own.close()
    _transfer(stream, options, sends=not options.upload, asks=False)


def connect(options: EndOptions) -> None:
    """Opens the connection, and sends or receives."""
    stream = _prepared(IPPROTO_MPTCP, options, options.client_send_buffer, options.client_receive_buffer)
    began = time.monotonic()
    stream.connect((options.address, PORT))
    print(json.dumps({"connected_s": round(time.monotonic() - began, 3)}), flush=True)
    _transfer(stream, options, sends=options.upload, asks=not options.upload)


def _transfer(stream: socket.socket, options: EndOptions, *, sends: bool, asks: bool) -> None:
    """One direction of data. The client of a download sends a request, after which both ends open subflows."""
    found: dict[str, Any] = {}
    if asks:
        stream.sendall(b"GET / HTTP/1.0\r\n\r\n")
    if sends:
        if not options.upload:
            stream.recv(_CHUNK)
        _send(stream, options)
        # Wait for the other end, so that the connection exists until all data is acknowledged.
        stream.settimeout(_DRAIN)
        stream.recv(1)
    else:
        count, seconds = _receive(stream)
        found = {"bytes": count, "seconds": round(seconds, 3)}
    stream.close()
    print(json.dumps(found), flush=True)


def main() -> None:
    """Runs one end."""
    role, text = sys.argv[1:]
    options = EndOptions(**json.loads(text))
    (serve if role == "server" else connect)(options)


if __name__ == "__main__":
    main()
