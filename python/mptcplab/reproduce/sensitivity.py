"""Which planted errors turn which claims: the record that `reproduce --mutate NAME --record FILE` writes.

Owns the file (docs/verdicts/sensitivity.json) and its checks. Runs nothing: the mutants are in `mutants`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab.util.json_files import write_json
from mptcplab.util.user_input import BadResult

SHIPPED = Path(__file__).parents[1] / "studies" / "sensitivity.json"
"""The record that reports show: it comes with the program."""
CONTROL = "nothing"
"""The mutant that plants no error."""

Record = dict[str, Any]


def read(path: Path) -> Record:
    """A record. Raises `BadResult` for a file that is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadResult(f"{path}: no record of planted errors there ({error.strerror})") from error
    except ValueError as error:
        raise BadResult(f"{path}: not a record of planted errors: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(found.get(key), dict) for key in ("run", "before", "turned")):
        raise BadResult(f"{path}: not a record of planted errors: it has no tables `run`, `before` and `turned`")
    return found


@cache
def shipped() -> Record:
    """The record that comes with the program."""
    return read(SHIPPED)


def keep(
    path: Path, how: Mapping[str, Any], before: Mapping[str, str], turned: Mapping[str, Mapping[str, str]]
) -> None:
    """Adds mutants to a record; one of another effort or other verdicts starts anew."""
    old = read(path) if path.exists() else None
    same = old is not None and old["run"] == dict(how) and old["before"] == dict(before)
    both = {**(old["turned"] if old and same else {}), **{name: dict(lost) for name, lost in turned.items()}}
    write_json({"run": dict(how), "before": dict(before), "turned": both}, path)


def turned_by(record: Record, fact: str) -> list[str] | None:
    """The planted errors that make a claim fail; None for a claim that did not hold without them."""
    if record["before"].get(fact) != "holds":
        return None
    return [name for name, lost in record["turned"].items() if lost.get(fact) == "fails"]


def unnoticed(record: Record) -> list[str]:
    """The planted errors that make no claim fail."""
    return [
        name
        for name, lost in record["turned"].items()
        if name != CONTROL and not any(verdict == "fails" for verdict in lost.values())
    ]


def weak(record: Record, studies: Mapping[str, str], *, claims: int = 3, several: int = 2) -> dict[str, str]:
    """The planted errors that turn fewer claims, or claims of fewer studies, than asked for; with the counts in words.

    `studies` says of which study a claim is.
    """
    found = {}
    for name, lost in record["turned"].items():
        failed = [fact for fact, verdict in lost.items() if verdict == "fails"]
        of = {studies[fact] for fact in failed if fact in studies}
        if name != CONTROL and (len(failed) < claims or len(of) < several):
            found[name] = f"{len(failed)} claims of {len(of)} studies"
    return found


def matrix(record: Record, studies: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """How many claims of each study each planted error makes fail."""
    names = list(dict.fromkeys(studies.values()))
    return {
        name: {
            study: sum(verdict == "fails" and studies.get(fact) == study for fact, verdict in lost.items())
            for study in names
        }
        for name, lost in record["turned"].items()
        if name != CONTROL
    }


def outdated(record: Record, claims: Collection[str], needed: Collection[str], known: Collection[str]) -> list[str]:
    """Why the record is not one of these claims and mutants; nothing if it is.

    `needed` are the mutants that it has to have, `known` all that there are.
    """
    have, turned = set(record["before"]), set(record["turned"])
    problems = [f"claim {name} is not in the record" for name in sorted(set(claims) - have)]
    problems += [f"claim {name} of the record is gone" for name in sorted(have - set(claims))]
    problems += [f"planted error {name} is not in the record" for name in sorted(set(needed) - turned)]
    return problems + [f"planted error {name} of the record is gone" for name in sorted(turned - set(known))]


SEEDS = Path(__file__).parents[1] / "studies" / "seeds.json"
"""Verdicts by blocks of seeds, by claim and first seed: `tools/blocks --record`."""


@cache
def by_seeds() -> dict[str, dict[str, str]]:
    """The verdicts of claims by the first seed of a block; of claims that were asked for."""
    if not SEEDS.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(SEEDS.read_text(encoding="utf-8"))["verdicts"]
    return found
