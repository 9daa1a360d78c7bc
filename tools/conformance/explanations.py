"""The known reasons of failures: mptcp.toml and tcp.toml in this directory."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from variants import Variant

CLASSES = ("bug", "design choice", "outdated script", "not run")


class WrongFileError(Exception):
    """The data file is invalid."""


@dataclass(frozen=True)
class Explanation:
    """The reason why matching variants fail, or are not run."""

    pattern: str
    kind: str
    reason: str

    def covers(self, variant: Variant) -> bool:
        """Whether the pattern matches a variant, by script or by script and mode."""
        return fnmatch(variant.script, self.pattern) or fnmatch(str(variant), self.pattern)


def read(path: Path) -> list[Explanation]:
    """Read the data file."""
    with path.open("rb") as file:
        entries = tomllib.load(file).get("explanation", [])
    explanations = []
    for number, entry in enumerate(entries, 1):
        where = f"{path.name}: explanation {number}"
        missing = {"script", "class", "reason"} - entry.keys()
        if missing:
            raise WrongFileError(f"{where} lacks {', '.join(sorted(missing))}")
        if entry["class"] not in CLASSES:
            raise WrongFileError(f"{where}: class = {entry['class']!r}: it must be one of {', '.join(CLASSES)}")
        explanations.append(Explanation(entry["script"], entry["class"], entry["reason"]))
    return explanations


def find(explanations: list[Explanation], variant: Variant) -> Explanation | None:
    """Return the first explanation that covers a variant."""
    return next((explanation for explanation in explanations if explanation.covers(variant)), None)
