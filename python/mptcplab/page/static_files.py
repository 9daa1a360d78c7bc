"""The files of the built page, found once when the server starts.

Owns the folder and the content types. A request selects a file by its name in a table of existing files, so no request
can leave the folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
"""The folder that `make page` fills."""
INDEX = "/index.html"
MAX_FILES = 1_000
MAX_SIZE = 64 << 20
"""Maximum bytes of a file."""

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".toml": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
OTHER = "application/octet-stream"


class NotBuilt(Exception):
    """The page is missing or unusable; the message names the command that builds it."""


@dataclass(frozen=True)
class File:
    """A file of the page."""

    path: Path
    content_type: str

    def read(self) -> bytes:
        """Its content. Raises `OSError` if it was removed, or became larger than `MAX_SIZE`."""
        with self.path.open("rb") as file:
            data = file.read(MAX_SIZE + 1)
        if len(data) > MAX_SIZE:
            raise OSError(f"{self.path}: larger than {MAX_SIZE} bytes")
        return data


def files(folder: Path | None = None) -> dict[str, File]:
    """The files by the path of their URL; `/` is the index. Raises `NotBuilt` without an index.

    Without `folder`, they are the files in `FOLDER`.
    """
    root = (folder or FOLDER).resolve()
    found: dict[str, File] = {}
    for path in sorted(root.rglob("*")) if root.is_dir() else ():
        if not path.is_file() or not path.resolve().is_relative_to(root):
            continue
        if len(found) >= MAX_FILES:
            raise NotBuilt(f"{root}: more than {MAX_FILES} files; run make page in a checkout to build the page again")
        name = "/" + path.relative_to(root).as_posix()
        found[name] = File(path, TYPES.get(path.suffix.lower(), OTHER))
    if INDEX not in found:
        raise NotBuilt(
            f"{root / 'index.html'} is missing: the page is not built. In a checkout, run make page; a released wheel "
            "contains the page"
        )
    return {**found, "/": found[INDEX]}
