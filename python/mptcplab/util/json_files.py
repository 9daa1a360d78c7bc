"""JSON for people and machines.

Owns what stands for numbers that JSON has none for.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mptcplab.util.files import replacing, write_text


def write_json(value: Any, path: Path) -> None:
    """Writes JSON for people and machines; what is not a number becomes null."""
    write_text(path, _text(value) + "\n")


def write_long(head: Mapping[str, Any], name: str, rows: Iterable[Any], path: Path) -> None:
    """Writes what `write_json` would of `head` with the list `name` behind it, row by row: memory holds one."""
    with replacing(path) as file:
        begin = _text({**head, name: []}).removesuffix("[]\n}")
        between = "[\n"
        file.write(begin.encode())
        for row in rows:
            file.write((between + textwrap.indent(_text(row), "    ")).encode())
            between = ",\n"
        file.write(b"[]\n}\n" if between == "[\n" else b"\n  ]\n}\n")


def _text(value: Any) -> str:
    return json.dumps(finite(value), indent=2, ensure_ascii=False)


def finite(value: Any) -> Any:
    """The same value with null for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value
