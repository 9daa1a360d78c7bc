"""Files, written whole or not at all, and read within bounds.

Owns how a file comes to be: under another name beside its own, on the disk before it gets its name. A link that stands
where a file shall be is replaced, never followed. Knows no format.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""What no other argument would have helped against."""

_BITS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class BadFile(ValueError):
    """A file is not what can be read here; the message says which and why."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write, which gets its name when the block ends well; otherwise nothing is left of it."""
    target = Path(path)
    temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    # What a process of our number left when it was killed.
    temporary.unlink(missing_ok=True)
    with _named(target):
        descriptor = os.open(temporary, _BITS | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with _named(target), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _named(target):
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


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
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise BadFile(f"{path}: this is no regular file")
    if found.st_size > most:
        raise BadFile(f"{path}: {found.st_size} bytes are more than the {most} that are read")


def read_bytes(path: Path, most: int) -> bytes:
    """A regular file of at most `most` bytes. Raises `BadFile`, or `OSError` where there is none."""
    check_regular(path, most)
    with path.open("rb") as file:
        data = file.read(most + 1)
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


MOST_LETTERS, MOST_BYTES = 100, 200
"""Of a name before its digest: file systems have room for 255 bytes."""


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
