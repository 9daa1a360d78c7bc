"""Records which planted errors make which claims of publications fail (`reproduce --mutate NAME --record FILE`).

A claim that no error makes fail says little about the protocol. Owns the file studies/sensitivity.json, for reports,
and its checks. `mutants` has the errors.
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
"""The record that mptcplab ships, for reports."""
CONTROL = "nothing"
"""The mutant without an error."""

Record = dict[str, Any]


def read(path: Path) -> Record:
    """Reads a record. Raises `BadResult` for an invalid file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadResult(f"{path}: cannot read the record of planted errors ({error.strerror})") from error
    except ValueError as error:
        raise BadResult(f"{path}: is not a record of planted errors: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(found.get(key), dict) for key in ("run", "before", "turned")):
        raise BadResult(
            f"{path}: is not a record of planted errors: one of the tables `run`, `before` and `turned` is missing"
        )
    return found


@cache
def shipped() -> Record:
    """The record that mptcplab ships."""
    return read(SHIPPED)


def keep(
    path: Path, how: Mapping[str, Any], before: Mapping[str, str], turned: Mapping[str, Mapping[str, str]]
) -> None:
    """Adds mutants to a record; starts a new record if the run settings or the verdicts without errors differ."""
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
    """Planted errors with which fewer than `claims` claims fail, or claims of fewer than `several` studies, and counts.

    `studies` maps claims to studies.
    """
    found = {}
    for name, lost in record["turned"].items():
        failed = [fact for fact, verdict in lost.items() if verdict == "fails"]
        of = {studies[fact] for fact in failed if fact in studies}
        if name != CONTROL and (len(failed) < claims or len(of) < several):
            found[name] = f"{len(failed)} claims of {len(of)} studies"
    return found


def matrix(record: Record, studies: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The number of failed claims by planted error and study."""
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
    """The differences between the record and these claims and mutants; empty if there are none.

    `needed` are the required mutants, `known` all mutants.
    """
    have, turned = set(record["before"]), set(record["turned"])
    problems = [f"claim {name} is not in the record" for name in sorted(set(claims) - have)]
    problems += [f"the record has an unknown claim {name}" for name in sorted(have - set(claims))]
    problems += [f"planted error {name} is not in the record" for name in sorted(set(needed) - turned)]
    return problems + [f"the record has an unknown planted error {name}" for name in sorted(turned - set(known))]


SEEDS = Path(__file__).parents[1] / "studies" / "seeds.json"
"""Verdicts by claim and first seed of a block, written by `tools/blocks --write`."""


@cache
def by_seeds() -> dict[str, dict[str, str]]:
    """For claims whose verdicts differ between blocks of seeds: the verdict by the first seed of a block."""
    if not SEEDS.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(SEEDS.read_text(encoding="utf-8"))["verdicts"]
    return found
