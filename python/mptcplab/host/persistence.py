"""Writes and removes the files of `host setup --persist`.

Owns the list of written files with their hashes, so that `--undo` removes exactly these files and keeps files that
were changed later. The list is written first, so `--undo` also works after a crash. The list and the root directory may
be hostile, as those of an image: no symbolic link is followed, and only files that `boot_files` writes are removed.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mptcplab.host import boot_files
from mptcplab.host.boot_files import BootFile
from mptcplab.host.setup_steps import CannotChange
from mptcplab.util.files import write_text

LIST = "/etc/mptcplab/host-files.json"

_FILES = (
    boot_files.SYSCTLS,
    boot_files.UNIT,
    boot_files.ENABLED,
    boot_files.SCRIPT,
    boot_files.NM_FLAGS,
    boot_files.NM_SCRIPT,
)
"""Files that may be written, besides those of systemd-networkd."""
_NETWORKD = re.compile(r"/etc/systemd/network/[^/]+\.network\.d/90-mptcplab\.conf")
_MOST_BYTES = 1 << 20


def below(root: Path, path: str) -> Path:
    """A file below the root directory. Raises `CannotChange` if one of its directories is a symbolic link."""
    there = root
    *folders, name = Path(path.lstrip("/")).parts
    for folder in folders:
        there /= folder
        if there.is_symlink():
            raise CannotChange(f"{there}: a symbolic link, which may lead out of {root}; replace it by a directory")
    return there / name


def check(files: Sequence[BootFile], root: Path) -> None:
    """Raises `CannotChange` if a file exists that mptcplab did not write."""
    known = _known(root)
    for one in files:
        there = below(root, one.path)
        if one.path not in known and (there.exists() or there.is_symlink()):
            raise CannotChange(f"{there} exists, and mptcplab did not write it; rename it, or omit --persist")


def write(files: Sequence[BootFile], root: Path) -> list[str]:
    """Writes the files, and removes those of an earlier set-up. Returns the files that it kept (see `remove`)."""
    known = _known(root)
    kept = remove(root, {one.path for one in files})
    changed = [one.path for one in files if one.path in known and not _is_unchanged(root, one.path, known[one.path])]
    written = [one for one in files if one.path not in changed]
    folders = [*_known_folders(root), *_new_folders(written, root)]
    rows = {one.path: _hash(one.text) for one in written} | {path: known[path] for path in changed}
    _make_folder(below(root, LIST).parent)
    text = json.dumps({"files": rows, "folders": list(dict.fromkeys(folders))}, indent=1) + "\n"
    write_text(below(root, LIST), text)
    for one in written:
        _put(one, root)
    return [*kept, *changed]


def remove(root: Path, but: set[str] | None = None) -> list[str]:
    """Removes the written files, except for `but`; returns those that it kept because they were changed later."""
    known = _known(root)
    kept = []
    for path, digest in known.items():
        if but and path in but:
            continue
        there = below(root, path)
        if not (there.exists() or there.is_symlink()):
            continue
        if _is_unchanged(root, path, digest):
            there.unlink()
        else:
            kept.append(path)
    if but is None and known:
        folders = _known_folders(root)
        below(root, LIST).unlink()
        # The deepest folder first; folders with other files stay.
        for folder in sorted(folders, key=len, reverse=True):
            there = below(root, folder)
            if there.is_dir() and not there.is_symlink() and not any(there.iterdir()):
                there.rmdir()
    return kept


def written(root: Path) -> list[str]:
    """The paths of the written files that still exist."""
    return [path for path in _known(root) if below(root, path).is_symlink() or below(root, path).exists()]


def _put(one: BootFile, root: Path) -> None:
    there = below(root, one.path)
    _make_folder(there.parent)
    if one.link:
        there.unlink(missing_ok=True)
        there.symlink_to(one.text)
        return
    write_text(there, one.text)
    there.chmod(0o755 if one.executable else 0o644)


def _make_folder(folder: Path) -> None:
    """A folder that everybody can read, also with a strict umask."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o755)
        one.chmod(0o755)


def _new_folders(files: Sequence[BootFile], root: Path) -> list[str]:
    found = []
    for path in [*(one.path for one in files), LIST]:
        folder = Path(path).parent
        while folder != folder.parent and not below(root, str(folder)).exists():
            found.append(str(folder))
            folder = folder.parent
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_unchanged(root: Path, path: str, digest: str) -> bool:
    """Whether a file is as it was written; a missing file is."""
    there = below(root, path)
    try:
        text = str(there.readlink()) if there.is_symlink() else _text(there)
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False
    return _hash(text) == digest


def _text(file: Path) -> str:
    """The text of a regular file; raises `OSError` for other files, such as a pipe, whose reader waits."""
    state = file.lstat()
    if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
        raise OSError(f"{file}: not a regular file of at most {_MOST_BYTES} bytes")
    return file.read_text("utf-8")


def _read(root: Path) -> tuple[dict[str, str], list[str]]:
    """The written files with their hashes, and the created folders. Raises `CannotChange` for a damaged list."""
    file = below(root, LIST)
    try:
        found = json.loads(_text(file))
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError):
        found = None
    files, folders = (found.get("files"), found.get("folders", [])) if isinstance(found, dict) else (None, None)
    if not isinstance(files, dict) or not isinstance(folders, list):
        raise CannotChange(f"{file}: is not a list of files; remove it if nothing is left to undo")
    for path in files:
        if path not in _FILES and not _NETWORKD.fullmatch(path):
            raise CannotChange(f"{file}: {ascii(path)[1:-1]} is not a file of mptcplab host setup")
    return {path: str(digest) for path, digest in files.items()}, [one for one in folders if _is_folder(one)]


def _is_folder(value: Any) -> bool:
    """Whether a value is a folder of a file that may be written."""
    if not isinstance(value, str) or not value.startswith("/etc/"):
        return False
    return any(one.startswith(f"{value}/") for one in (*_FILES, LIST)) or bool(
        _NETWORKD.fullmatch(f"{value}/90-mptcplab.conf") or value == "/etc/systemd/network"
    )


def _known(root: Path) -> dict[str, str]:
    return _read(root)[0]


def _known_folders(root: Path) -> list[str]:
    return _read(root)[1]
