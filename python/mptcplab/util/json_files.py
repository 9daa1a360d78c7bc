"""JSON output of commands and reports.

Python writes NaN and infinities, which are not JSON. Here they become null.
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
    """Writes JSON; infinite numbers and NaN become null."""
    write_text(path, _text(value) + "\n")


def write_long(head: Mapping[str, Any], name: str, rows: Iterable[Any], path: Path) -> None:
    """Writes `head` plus a list under the key `name`, as `write_json` does; memory holds one row of the list."""
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
    """The value with null for numbers that JSON cannot represent."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value
