"""Opens the FILEs of `mptcplab doctor`: sorts captures from texts of hosts by their content.

Owns the recognition of files, and errors about files. Reads no packets.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mptcplab.doctor import host_texts
from mptcplab.util.user_input import BadResult, nearest

_CAPTURE = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a")
"""First bytes of pcap (microseconds, nanoseconds, both byte orders) and pcapng."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_MOST_COPIED = 64 << 30
"""Maximum size of a capture from a pipe, which is copied to a temporary file."""
_PATIENCE = 1.0
"""Seconds to wait for the writer of a pipe."""
_SUFFIXES = (".pcap", ".pcapng", ".cap", ".dmp", ".gz", ".zst")
_TEXTS = "`ip mptcp limits show`, `ip mptcp endpoint show`, `nstat -asz`, /proc/net/netstat, `ss -tiM`"


@dataclass
class Inputs:
    """The files, by type."""

    captures: list[Path] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """The names of the captures as given; a pipe is copied to a temporary file."""
    texts: list[host_texts.HostText] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Files that were ignored, and why."""


@contextmanager
def opened(files: Sequence[Path], hosts: Sequence[Path]) -> Iterator[Inputs]:
    """The inputs; pipes are copied to temporary files while the block runs. `hosts` must be texts."""
    found = Inputs()
    with ExitStack() as stack:
        directory: Path | None = None
        for number, file in enumerate([*files, *hosts]):
            path, name = file, str(file)
            if name == "-" or (file.exists() and not file.is_file() and not file.is_dir()):
                directory = directory or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mptcplab-")))
                path = directory / str(number)
                name = "standard input" if name == "-" else name
                _copy(file, path)
            is_text = number >= len(files)
            if not is_text and path.exists() and any(path.samefile(known) for known in found.captures):
                found.notes.append(f"{name}: given twice, read once")
                continue
            _sort(path, name, found, is_text=is_text)
        if not found.captures:
            raise BadResult(_no_capture(found))
        yield found


def _no_capture(found: Inputs) -> str:
    if found.texts:
        return (
            f"only texts of hosts were given ({', '.join(one.name for one in found.texts)}); also give a capture "
            "(tcpdump -i any -s 128 -w FILE tcp)"
        )
    return "; ".join(found.notes) or "no capture was given"


def _copy(source: Path, target: Path) -> None:
    """Copies a pipe or the standard input."""
    with target.open("wb") as copy:
        if str(source) == "-":
            _copied(sys.stdin.buffer, b"", copy, target.parent, "standard input")
        elif source.is_fifo():
            descriptor, start = _opened(source)
            with os.fdopen(descriptor, "rb") as pipe:
                _copied(pipe, start, copy, target.parent, str(source))
        else:
            raise BadResult(f"{source}: a device, not a file or pipe")


def _copied(source: IO[bytes], start: bytes, copy: IO[bytes], directory: Path, name: str) -> None:
    """Copies a capture of limited size, or as much of other data as a text may have."""
    start += source.read(4)
    is_capture = start.startswith((*_CAPTURE, _GZIP, _ZSTD))
    most = min(_MOST_COPIED, shutil.disk_usage(directory).free * 9 // 10)
    left = (most if is_capture else host_texts.MOST_BYTES + 1) - len(start)
    copy.write(start)
    while left > 0 and (data := source.read(min(left, 1 << 20))):
        copy.write(data)
        left -= len(data)
    if left <= 0 and is_capture:
        raise BadResult(
            f"{name}: more than {most / 1e9:,.0f} GB, but a pipe may contain 64 GiB, and fill 90% of the free space of "
            f"{directory}; write a file (tcpdump -w FILE)"
        )


def _opened(source: Path) -> tuple[int, bytes]:
    """Opens a pipe; also returns its first bytes. Raises `BadResult` if no process opens it for writing."""
    descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK)
    until = time.monotonic() + _PATIENCE
    start = b""
    while not start:
        try:
            # Nothing is returned without a writer. A silent writer raises an error.
            start = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            break
        if not start and time.monotonic() > until:
            os.close(descriptor)
            raise BadResult(f"{source}: no process writes into this pipe")
        time.sleep(0 if start else 0.02)
    os.set_blocking(descriptor, True)
    return descriptor, start


def _sort(path: Path, name: str, found: Inputs, *, is_text: bool) -> None:
    """Adds a file to the captures or texts. Raises `BadResult` if it is missing or neither of them."""
    if path.is_dir():
        inside = sorted(one.name for one in path.iterdir() if one.name.endswith(_SUFFIXES))
        hint = f"give its files: {', '.join(inside[:6])}{', …' if len(inside) > 6 else ''}" if inside else "give files"
        raise BadResult(f"{name}: a directory; {hint}")
    if not path.exists():
        raise BadResult(_missing(path))
    start = _start(path)
    if start.startswith(_CAPTURE) and not is_text:
        found.captures.append(path)
        found.names.append(name)
        return
    if start.startswith(_CAPTURE):
        raise BadResult(f"--host {name}: a capture; --host requires the text of {_TEXTS}")
    text = _text(path) if path.stat().st_size <= host_texts.MOST_BYTES else None
    if text is None:
        raise BadResult(
            f"{name}: neither a capture nor a text (the first bytes are {start[:4].hex(' ')}); captures are pcap or "
            "pcapng, maybe compressed by gzip or zstd (tcpdump -w FILE)"
        )
    parsed = host_texts.parse(text, name)
    if parsed.types:
        found.texts.append(parsed)
    elif text.strip():
        raise BadResult(f"{name}: this text was not recognised; it must be a capture, or the output of {_TEXTS}")
    elif path.name.endswith(_SUFFIXES):
        raise BadResult(f"{name}: an empty file; tcpdump writes packets when it ends, or use tcpdump -U")
    else:
        found.notes.append(f"{name}: an empty file, ignored")


def _start(path: Path) -> bytes:
    """The first four bytes, uncompressed; those of a zstd file count as a capture, as the core uncompresses it."""
    with path.open("rb") as file:
        start = file.read(4)
        if start.startswith(_ZSTD):
            return _CAPTURE[0]
        return start if not start.startswith(_GZIP) else _uncompressed(file, start)


def _uncompressed(file: IO[bytes], start: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(start + file.read(4096), 4) or start
    except zlib.error:
        return start


def _text(path: Path) -> str | None:
    """The text of a file; None if it is binary."""
    data = path.read_bytes()
    if data.startswith(_GZIP):
        try:
            unpacker = zlib.decompressobj(31)
            data = unpacker.decompress(data, host_texts.MOST_BYTES)
        except zlib.error:
            return None
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _missing(path: Path) -> str:
    """The error for a missing file, with the nearest name in its directory."""
    there = [one.name for one in path.parent.iterdir() if one.is_file()] if path.parent.is_dir() else []
    near = nearest(path.name, there)
    captures = sorted(name for name in there if name.endswith(_SUFFIXES))
    if near:
        hint = f"did you mean {near}?"
    elif captures:
        hint = f"its directory has: {', '.join(captures[:10])}"
    else:
        hint = f"{path.parent} has no captures (tcpdump -w FILE writes one)"
    return f"{path}: no such file; {hint}"
