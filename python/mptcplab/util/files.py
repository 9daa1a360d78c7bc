"""Files, written whole or not at all, and read within bounds.

Owns how a file comes to be: under another name beside its own, on the disk before it gets its name. A link that stands
where a file shall be is replaced, never followed. Owns who may write into a directory of results: one process alone.
Knows no format.
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
"""What no other argument would have helped against."""

_BINARY: int = getattr(os, "O_BINARY", 0)
_BITS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


MOST_LETTERS, MOST_BYTES = 100, 200
"""Of a name before its digest or its process: file systems have room for 255 bytes."""


class BadFile(ValueError):
    """A file is not what can be read here; the message says which and why."""


_PART = re.compile(r"\..*\.\d+\.part")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write, which gets its name when the block ends well; otherwise nothing is left of it."""
    target = Path(path)
    temporary = _temporary(target)
    with _named(target):
        descriptor = _create(temporary)
    try:
        with _named(target), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            # While its lock is held, nobody takes it for a leftover.
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _temporary(target: Path) -> Path:
    """The name of a file that is not complete: that of its target, cut to what a file system has room for."""
    name = os.fsencode(target.name)[:MOST_BYTES].decode("utf-8", "ignore")
    return target.with_name(f".{name}.{os.getpid()}.part")


def _create(temporary: Path) -> int:
    """A new file, locked until it is closed."""
    while True:
        # What a process of our number left when it was killed.
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, _BITS | _BINARY, 0o666)
        _lock(descriptor, wait=True)
        # Another process may have taken it for a leftover before it was locked.
        if fcntl is None or os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Locks an open file for this process; False where another one holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: nobody else can be seen there.
        return True
    return True


_claims = ExitStack()
"""Directories that are this process's until its command ends."""
_held: set[tuple[int, int]] = set()
"""Directories that this process writes into, by device and inode."""


@contextmanager
def only_writer(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Makes a directory, which no other process writes results into until the block ends.

    Raises `BadFile` where another one does. What killed processes left of their files is removed.
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
            raise BadFile(f"{target}: another mptcplab process writes there; wait for it, or give another --output")
        _held.add(identity)
        try:
            remove_leftovers(target)
            yield target
        finally:
            _held.discard(identity)
    finally:
        os.close(descriptor)


def claim(directory: str | os.PathLike[str]) -> None:
    """`only_writer` until the command ends (`release`)."""
    _claims.enter_context(only_writer(directory))


def release() -> None:
    """Gives back what the command claimed."""
    _claims.close()


def remove_leftovers(directory: Path) -> None:
    """Removes files that a killed process did not complete; files of processes that still run are locked."""
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
    """Writes a file whole."""
    with replacing(path) as file:
        file.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file of UTF-8 whole."""
    write_bytes(path, text.encode("utf-8"))


def folder(path: str | os.PathLike[str], *inside: str) -> Path:
    """Makes a directory and those above it; those `inside` it are directories of its own, not links to others."""
    target = Path(path)
    target.mkdir(parents=True, exist_ok=True)
    for name in inside:
        target /= name
        if target.is_symlink():
            raise OSError(errno.ELOOP, "is a link to another place, which results do not follow", str(target))
        target.mkdir(exist_ok=True)
    return target


def check_regular(path: Path, most: int) -> None:
    """Refuses what is no regular file of at most `most` bytes. Raises `BadFile`, or `OSError` where there is none."""
    _check(path, path.stat(), most)


def _check(path: Path, found: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadFile(f"{path}: this is no regular file")
    if found.st_size > most:
        raise BadFile(f"{path}: {found.st_size} bytes are more than the {most} that are read")


def open_regular(path: Path, most: int) -> IO[bytes]:
    """Opens a regular file of at most `most` bytes, without waiting for who writes into a pipe.

    Raises `BadFile`, or `OSError` where there is none.
    """
    check_regular(path, most)
    # What stands there may be another file by now; a pipe does not make this one wait.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _BINARY)
    try:
        _check(path, os.fstat(descriptor), most)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: Path, most: int) -> bytes:
    """A regular file of at most `most` bytes. Raises `BadFile`, or `OSError` where there is none."""
    with open_regular(path, most) as file:
        # Files of the kernel have no length, and some of them never end.
        data = file.read(most + 1) if os.fstat(file.fileno()).st_size else b""
    if len(data) > most:
        raise BadFile(f"{path}: more than the {most} bytes that are read")
    return data


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the block carry the name that the file shall have."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def slug(text: str) -> str:
    """A name for a file or directory: letters, digits, point, plus and hyphen; a long one is cut and has a digest."""
    kept = "".join(letter if letter.isalnum() or letter in ".+-" else "-" for letter in text)
    name = "-".join(part for part in kept.split("-") if part) or "run"
    cut = name[:MOST_LETTERS].encode()[:MOST_BYTES].decode(errors="ignore")
    return name if cut == name else f"{cut.rstrip('-')}-{digest(text)}"


def digest(text: str) -> str:
    """Six letters that tell a text from others."""
    import hashlib

    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:6]
