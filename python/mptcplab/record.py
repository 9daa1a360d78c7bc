"""The record of verdicts: what was found once, what differs now, and whether bounds are those that were agreed.

Owns the files of docs/verdicts and the comparison with studies/agreed.json. Runs nothing, judges nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.files import write_text
from mptcplab.inputs import BadResult
from mptcplab.studies.base import Fact

AGREED = Path(__file__).parent / "studies" / "agreed.json"

End = float | None


@dataclass(frozen=True)
class Difference:
    """A verdict that is not the recorded one."""

    fact: str
    recorded: str
    found: str

    def __str__(self) -> str:
        """In words."""
        return f"{self.fact}: recorded {self.recorded}, found {self.found}"


def rows(facts: Iterable[Fact]) -> dict[str, dict[str, Any]]:
    """What a record keeps of each fact."""
    return {
        fact.fact: {
            "study": fact.study,
            "origin": fact.origin,
            "verdict": fact.verdict,
            "measured": fact.measured,
            "bounds": {check.bound.name: [_end(check.bound.low), _end(check.bound.high)] for check in fact.checks},
        }
        for fact in facts
    }


def read(path: Path) -> dict[str, Any]:
    """A record; raises `BadResult` for a file that is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadResult(f"{path}: no record of verdicts there ({error.strerror})") from error
    except ValueError as error:
        raise BadResult(f"{path}: not a record of verdicts: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("facts"), dict):
        raise BadResult(f"{path}: not a record of verdicts: it has no table `facts`")
    return found


def differences(record: Mapping[str, Any], facts: Sequence[Fact]) -> list[Difference]:
    """Facts whose verdict is not the recorded one; those of studies that were not run are left out."""
    studies = {fact.study for fact in facts}
    before = {name: row["verdict"] for name, row in record["facts"].items() if row["study"] in studies}
    now = {fact.fact: fact.verdict for fact in facts}
    every = [*before, *(name for name in now if name not in before)]
    return [
        Difference(name, before.get(name, "nothing"), now.get(name, "nothing"))
        for name in every
        if before.get(name) != now.get(name)
    ]


def write(path: Path, facts: Sequence[Fact], header: Mapping[str, Any], because: str) -> list[Difference]:
    """Writes the record of these facts and returns what changed; a changed verdict needs the words `because`."""
    old = read(path) if path.exists() else {"facts": {}, "changes": []}
    changed = differences(old, facts) if old["facts"] else []
    if changed and not because.strip():
        raise BadResult(
            f"{path}: {len(changed)} verdicts change ({', '.join(map(str, changed))}); say why with --because"
        )
    studies = {fact.study for fact in facts}
    kept = {name: row for name, row in old["facts"].items() if row["study"] not in studies}
    changes = list(old["changes"])
    changes += [
        {"fact": one.fact, "from": one.recorded, "to": one.found, "because": because.strip()} for one in changed
    ]
    text = json.dumps({**header, "facts": kept | rows(facts), "changes": changes}, ensure_ascii=False, indent=1)
    write_text(path, text + "\n")
    return changed


def agreed() -> dict[str, dict[str, Any]]:
    """The agreed bounds by fact: words, what the code had before, the verdict before, why, and the numbers."""
    found: dict[str, dict[str, Any]] = json.loads(AGREED.read_text(encoding="utf-8"))
    return found


def too_wide(facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong with the bounds of recorded facts: wider than agreed, or an agreed one that is not there."""
    problems = []
    for name, row in facts.items():
        terms = agreed().get(name)
        if terms is None:
            problems.append(f"{name}: not in {AGREED.name}")
            continue
        for bound, (low, high) in terms["bounds"].items():
            if bound not in row["bounds"]:
                problems.append(f"{name}: the agreed bound `{bound}` is not checked")
                continue
            has_low, has_high = row["bounds"][bound]
            if _number(has_low, -math.inf) < _number(low, -math.inf) - 1e-9:
                problems.append(f"{name}: `{bound}` allows {has_low}, agreed were {low} and more")
            if _number(has_high, math.inf) > _number(high, math.inf) + 1e-9:
                problems.append(f"{name}: `{bound}` allows {has_high}, agreed were {high} and less")
    return problems


def _number(end: End, without: float) -> float:
    return without if end is None else end


def _end(value: float) -> End:
    return value if math.isfinite(value) else None
