"""The record of verdicts on the claims of the studies (`reproduce --record`), which shows when a verdict changes.

Owns the files of docs/verdicts. Compares each claim's bounds with the agreed ones (studies/agreed.json), so that no
bound is widened to fit a result. Runs and judges nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.studies.base import Fact
from mptcplab.util.files import write_text
from mptcplab.util.user_input import BadResult

AGREED = Path(__file__).parents[1] / "studies" / "agreed.json"

End = float | None
"""A bound; None if it is infinite."""


@dataclass(frozen=True)
class Difference:
    """A verdict that differs from the record."""

    fact: str
    recorded: str
    found: str

    def __str__(self) -> str:
        """The difference as text."""
        return f"{self.fact}: {self.recorded} in the record, {self.found} in this run"


def rows(facts: Iterable[Fact]) -> dict[str, dict[str, Any]]:
    """The recorded fields of each claim."""
    return {
        fact.fact: {
            "study": fact.study,
            "origin": fact.origin,
            "verdict": fact.verdict,
            "measured": fact.measured,
            "checks": len(fact.checks),
            "bounds": _widest(fact),
        }
        for fact in facts
    }


def _widest(fact: Fact) -> dict[str, list[End]]:
    """The widest bounds of each quantity over all checks of a claim."""
    ends: dict[str, tuple[float, float]] = {}
    for bound in (check.bound for check in fact.checks):
        low, high = ends.get(bound.name, (math.inf, -math.inf))
        ends[bound.name] = min(low, bound.low), max(high, bound.high)
    return {name: [_end(low), _end(high)] for name, (low, high) in ends.items()}


def read(path: Path) -> dict[str, Any]:
    """Reads a record; raises `BadResult` for an invalid file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadResult(f"{path}: cannot read the record of verdicts ({error.strerror})") from error
    except ValueError as error:
        raise BadResult(f"{path}: is not a record of verdicts: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("facts"), dict):
        raise BadResult(f"{path}: is not a record of verdicts: the table `facts` is missing")
    if not isinstance(found.get("studies"), dict):
        raise BadResult(f"{path}: is not a record of verdicts: the table `studies` with the run settings is missing")
    return found


def require_effort(path: Path, record: Mapping[str, Any], effort: str, studies: Iterable[str]) -> None:
    """Rejects a comparison with a record of another effort, because seeds and durations differ."""
    for study in studies:
        known = record["studies"].get(study)
        if known and known["effort"] != effort:
            raise BadResult(
                f"{path}: {study} was recorded with effort {known['effort']}, not {effort}; repeat it with the "
                "recorded effort (--quick, --full, or neither for the default)"
            )


def differences(record: Mapping[str, Any], facts: Sequence[Fact]) -> list[Difference]:
    """Claims whose verdict differs from the record, among the studies that were run."""
    studies = {fact.study for fact in facts}
    before = {name: row["verdict"] for name, row in record["facts"].items() if row["study"] in studies}
    now = {fact.fact: fact.verdict for fact in facts}
    every = [*before, *(name for name in now if name not in before)]
    return [
        Difference(name, before.get(name, "nothing"), now.get(name, "nothing"))
        for name in every
        if before.get(name) != now.get(name)
    ]


def other_bounds(record: Mapping[str, Any], facts: Sequence[Fact]) -> list[str]:
    """Claims whose bounds in the code differ from the record."""
    return [
        f"{name}: the bounds are {row['bounds']} in the code, but {record['facts'][name]['bounds']} in the record"
        for name, row in rows(facts).items()
        if name in record["facts"] and row["bounds"] != record["facts"][name]["bounds"]
    ]


def write(
    path: Path, facts: Sequence[Fact], headers: Mapping[str, Mapping[str, Any]], because: str
) -> list[Difference]:
    """Writes the record of these claims and returns the changes; a changed verdict requires `because`.

    `headers` has the run settings of each study. Other studies in the record are kept.
    """
    old = read(path) if path.exists() else {"studies": {}, "facts": {}, "changes": []}
    changed = differences(old, facts) if old["facts"] else []
    if changed and not because.strip():
        raise BadResult(
            f"{path}: {len(changed)} verdicts change ({', '.join(map(str, changed))}); give the reason with --because"
        )
    studies = {fact.study for fact in facts}
    kept = {name: row for name, row in old["facts"].items() if row["study"] not in studies}
    changes = list(old["changes"])
    changes += [
        {"fact": one.fact, "from": one.recorded, "to": one.found, "because": because.strip()} for one in changed
    ]
    now = kept | rows(facts)
    # Keeps the order of claims, so that a diff of two records is small.
    now = {name: now[name] for name in [*(name for name in old["facts"] if name in now), *now]}
    whole = {"studies": old["studies"] | dict(headers), "facts": now, "changes": changes}
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    write_text(path, text + "\n")
    return changed


def agreed() -> dict[str, dict[str, Any]]:
    """The agreed bounds by claim, with their reasons."""
    found: dict[str, dict[str, Any]] = json.loads(AGREED.read_text(encoding="utf-8"))
    return found


def too_wide(facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Errors in the bounds of claims: wider than agreed, missing, or not listed.

    In agreed.json, `added` has further bounds that the code checks.
    """
    problems = []
    for name, row in facts.items():
        terms = agreed().get(name)
        if terms is None:
            problems.append(f"{name}: the claim is not in {AGREED.name}")
            continue
        listed = terms["bounds"] | terms.get("added", {})
        absent = [bound for bound in listed if bound not in row["bounds"]]
        problems += [f"{name}: the agreed bound `{bound}` is not checked" for bound in absent]
        for bound, (has_low, has_high) in row["bounds"].items():
            if bound not in listed:
                problems.append(f"{name}: the bound `{bound}` is not listed in {AGREED.name}")
                continue
            low, high = listed[bound]
            if _number(has_low, -math.inf) < _number(low, -math.inf) - 1e-9:
                problems.append(f"{name}: `{bound}` allows {has_low}; the agreed minimum is {low}")
            if _number(has_high, math.inf) > _number(high, math.inf) + 1e-9:
                problems.append(f"{name}: `{bound}` allows {has_high}; the agreed maximum is {high}")
    return problems


def _number(end: End, without: float) -> float:
    return without if end is None else end


def _end(value: float) -> End:
    return value if math.isfinite(value) else None
