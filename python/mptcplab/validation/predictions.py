"""Predictions of the simulator, written before the kernel runs, and the kernel's results.

They show that the simulator was not tuned to the kernel's results. Owns the form and hash of both documents. Existing
files are never overwritten. The hash in a file detects damage. To prove the order, compare the hash with an earlier
record, such as a commit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mptcplab import __version__
from mptcplab.util.json_files import finite, write_json
from mptcplab.util.user_input import BadResult
from mptcplab.validation.comparison import Answer, Answers
from mptcplab.validation.fixed_set import Cell

PREDICTION, MEASUREMENT = "prediction", "measurement"


def now() -> str:
    """The current time in UTC, as in the documents."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def prediction(cells: Sequence[Cell], seeds: Sequence[int], found: Answers) -> dict[str, Any]:
    """The document of the simulator's predictions, with the predicted scenarios."""
    return _whole({"kind": PREDICTION} | _body(cells, seeds, found))


class Measurement:
    """The kernel's results, in a file that grows with each cell."""

    def __init__(self, path: Path, against: str | None, kernel: str, cells: Sequence[Cell], seeds: Sequence[int]):
        """Starts the document. `against` is the hash of the predictions, None without predictions."""
        self._path, self._cells, self._seeds = path, cells, seeds
        self._head = {"kind": MEASUREMENT, "against": against, "kernel": kernel, "began": now()}
        claim(path)
        self.write({})

    def write(self, found: Answers) -> None:
        """Writes the results so far."""
        complete = all(cell.name in found for cell in self._cells)
        body = self._head | {"complete": complete} | _body(self._cells, self._seeds, found)
        write_json(_whole(body), self._path)


def _body(cells: Sequence[Cell], seeds: Sequence[int], found: Answers) -> dict[str, Any]:
    return {
        "mptcplab": __version__,
        "seeds": list(seeds),
        "cells": [
            {
                "cell": cell.name,
                "scenario": cell.scenario.to_toml(),
                "flows": {name: asdict(answer) for name, answer in found[cell.name].items()},
            }
            for cell in cells
            if cell.name in found
        ],
    }


def _whole(body: dict[str, Any]) -> dict[str, Any]:
    body = finite(body)
    return body | {"sha256": _digest(body)}


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def absent(path: Path) -> None:
    """Raises `BadResult` if the file exists."""
    if path.exists() or path.is_symlink():
        raise BadResult(f"{path} already exists and will not be overwritten; choose another name")


def claim(path: Path) -> None:
    """Creates an empty file. Raises `BadResult` if it exists."""
    absent(path)
    try:
        path.open("xb").close()
    except OSError as error:
        raise BadResult(f"{path}: {error.strerror}") from error


def _answer(table: dict[str, Any]) -> Answer:
    answer = Answer(**table)
    if not answer.goodput or not all(isinstance(number, (int, float)) for number in answer.goodput + answer.share):
        raise ValueError("goodputs and shares must be numbers, with one goodput per seed")
    return answer


def read(path: Path, cells: Sequence[Cell], seeds: Sequence[int], known: str | None = None) -> tuple[Answers, str]:
    """Reads predictions for these cells and seeds, and their hash. Raises `BadResult` if the hash is not `known`."""
    try:
        document = json.loads(path.read_text())
        body = {key: value for key, value in document.items() if key != "sha256"}
        kind, message = body["kind"], document["sha256"]
        asked = {one["cell"]: one["scenario"] for one in body["cells"]}
        found = {one["cell"]: {name: _answer(answer) for name, answer in one["flows"].items()} for one in body["cells"]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadResult(
            f"{path}: contains no predictions ({error}); mptcplab validate --predict writes a file with predictions"
        ) from error
    if kind != PREDICTION:
        raise BadResult(
            f"{path}: is a {kind}, not a {PREDICTION}; mptcplab validate --predict writes a file with predictions"
        )
    if message != _digest(body):
        raise BadResult(f"{path}: hash mismatch: the file was damaged or edited")
    if known is not None and message != known.lower():
        raise BadResult(f"{path}: the SHA-256 is {message}, not {known}: the file contains other predictions")
    for cell in cells:
        if asked.get(cell.name) != cell.scenario.to_toml():
            raise BadResult(f"{path}: cell {cell.name!r} is missing, or its scenario has changed")
    if body["seeds"] != list(seeds):
        raise BadResult(f"{path}: the predictions use seeds {body['seeds']}, not {list(seeds)}")
    return found, message
