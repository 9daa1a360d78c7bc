"""JSON for people and machines.

Owns what stands for numbers that JSON has none for.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from mptcplab.files import write_text


def write_json(value: Any, path: Path) -> None:
    """Writes JSON for people and machines; what is not a number becomes null."""
    write_text(path, json.dumps(finite(value), indent=2, ensure_ascii=False) + "\n")


def finite(value: Any) -> Any:
    """The same value with null for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value
