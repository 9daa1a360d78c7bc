"""Writes and removes the files of `host setup --persist`.

Owns the list of written files with their hashes, so that `--undo` removes exactly these files and keeps files that
were changed later. The list is written first, so `--undo` also works after a crash.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mptcplab.host.boot_files import BootFile
from mptcplab.host.setup_steps import CannotChange
from mptcplab.util.files import write_text

LIST = "/etc/mptcplab/host-files.json"


def below(root: Path, path: str) -> Path:
    """A file below the root directory."""
    return root / path.lstrip("/")


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
            if there.is_dir() and not any(there.iterdir()):
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
        text = str(there.readlink()) if there.is_symlink() else there.read_text()
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False
    return _hash(text) == digest


def _read(root: Path) -> dict[str, Any]:
    file = below(root, LIST)
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("files"), dict):
        raise CannotChange(f"{file}: is not a list of files; remove it if nothing is left to undo")
    return found


def _known(root: Path) -> dict[str, str]:
    """The written files with their hashes. A path outside /etc is an error, because `--undo` would remove it."""
    files = {str(path): str(digest) for path, digest in _read(root).get("files", {}).items()}
    for path in files:
        if not path.startswith("/etc/") or os.path.normpath(path) != path:
            raise CannotChange(f"{below(root, LIST)}: {path} is not a file of mptcplab host setup")
    return files


def _known_folders(root: Path) -> list[str]:
    folders = [str(one) for one in _read(root).get("folders", [])]
    return [one for one in folders if one.startswith("/etc/") and os.path.normpath(one) == one]
