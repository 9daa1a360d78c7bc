"""Atomic writes, bounded reads, and locks of result directories.

Commands write results and figures with it, so that a crash leaves complete files or none. A file is written under a
temporary name, synchronised and renamed. A link in the place of a file is replaced, never followed. One process at a
time may write into a directory of results.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this type.
    fcntl = None  # type: ignore[assignment]

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""Errors that are failures of the machine, not wrong arguments: the command exits with 1 instead of 2."""

_BINARY: int = getattr(os, "O_BINARY", 0)
_BITS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


MOST_LETTERS, MOST_BYTES = 100, 200
"""Maximum characters and bytes of a name without its digest or process number; file systems allow 255 bytes."""


class BadFile(ValueError):
    """A file that cannot be read; the message names it and the reason."""


_PART = re.compile(r"\..*\.\d+\.part")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write, renamed to `path` if the block succeeds; otherwise it is removed."""
    target = Path(path)
    temporary = _temporary(target)
    with _named(target):
        descriptor = _create(temporary)
    try:
        with _named(target), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            # The file is still locked, so no process removes it as a leftover before it is renamed.
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _temporary(target: Path) -> Path:
    """The name of an incomplete file: that of its target, cut to the length that file systems allow."""
    name = os.fsencode(target.name)[:MOST_BYTES].decode("utf-8", "ignore")
    return target.with_name(f".{name}.{os.getpid()}.part")


def _create(temporary: Path) -> int:
    """A new file, locked until it is closed."""
    while True:
        # A killed process with the same number may have left this file.
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, _BITS | _BINARY, 0o666)
        _lock(descriptor, wait=True)
        # Another process may have removed the file before this one locked it.
        if fcntl is None or os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Locks an open file; False if another process holds the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks cannot show other writers.
        return True
    return True


_claims = ExitStack()
"""Directories that this process owns until its command ends."""
_held: set[tuple[int, int]] = set()
"""Directories that this process writes into, by device and inode."""


@contextmanager
def only_writer(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Creates a directory, and keeps other processes from writing results into it.

    Raises `BadFile` if another process writes there. Removes leftovers of killed processes.
    """
    target = folder(directory)
    if fcntl is None:
        yield target
        return
    descriptor = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        identity = (found.st_dev, found.st_ino)
        if identity in _held:
            yield target
            return
        if not _lock(descriptor):
            raise BadFile(f"{target}: another mptcplab process writes there; wait for it, or choose another --output")
        _held.add(identity)
        try:
            remove_leftovers(target)
            yield target
        finally:
            _held.discard(identity)
    finally:
        os.close(descriptor)


def claim(directory: str | os.PathLike[str]) -> None:
    """Owns a directory like `only_writer`, until `release` at the end of the command."""
    _claims.enter_context(only_writer(directory))


def release() -> None:
    """Releases the directories of the command."""
    _claims.close()


def remove_leftovers(directory: Path) -> None:
    """Removes incomplete files of killed processes; running processes lock their files."""
    for entry in os.scandir(directory):
        if not _PART.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
            continue
        with suppress(OSError):
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if _lock(descriptor):
                    Path(entry.path).unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file atomically."""
    with replacing(path) as file:
        file.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a UTF-8 file atomically."""
    write_bytes(path, text.encode("utf-8"))


def folder(path: str | os.PathLike[str], *inside: str) -> Path:
    """Creates a directory and its parents; those `inside` it must not be links."""
    target = Path(path)
    target.mkdir(parents=True, exist_ok=True)
    for name in inside:
        target /= name
        if target.is_symlink():
            raise OSError(errno.ELOOP, "is a link to another place, which mptcplab does not follow", str(target))
        target.mkdir(exist_ok=True)
    return target


def check_regular(path: Path, most: int) -> None:
    """Raises `BadFile` unless this is a regular file of at most `most` bytes, or `OSError` if there is none."""
    _check(path, path.stat(), most)


def _check(path: Path, found: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadFile(f"{path}: is not a regular file")
    if found.st_size > most:
        raise BadFile(f"{path}: has {found.st_size} bytes, more than the maximum of {most}")


def open_regular(path: Path, most: int) -> IO[bytes]:
    """Opens a regular file of at most `most` bytes, without blocking on a pipe.

    Raises `BadFile`, or `OSError` without a file.
    """
    check_regular(path, most)
    # The file may have been replaced since; a pipe does not block this open.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _BINARY)
    try:
        _check(path, os.fstat(descriptor), most)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises `BadFile`, or `OSError` without a file."""
    with open_regular(path, most) as file:
        # Files in /proc and /sys have length 0, and some never end.
        data = file.read(most + 1) if os.fstat(file.fileno()).st_size else b""
    if len(data) > most:
        raise BadFile(f"{path}: has more than the maximum of {most} bytes")
    return data


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the block name the final file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def slug(text: str) -> str:
    """A name for a file or directory of letters, digits, point, plus and hyphen; a long one is cut and gets a
    digest.
    """
    kept = "".join(letter if letter.isalnum() or letter in ".+-" else "-" for letter in text)
    name = "-".join(part for part in kept.split("-") if part) or "run"
    cut = name[:MOST_LETTERS].encode()[:MOST_BYTES].decode(errors="ignore")
    return name if cut == name else f"{cut.rstrip('-')}-{digest(text)}"


def digest(text: str) -> str:
    """Six hexadecimal digits that identify a text."""
    import hashlib

    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:6]
