"""What several commands share: arguments, checks, errors. Never runs anything."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mptcplab import _core
    from mptcplab.results.model.events import Trace
    from mptcplab.scenario.definition import Scenario
    from mptcplab.studies.base import Study

BACKENDS = {"kernel": "Linux's own MPTCP over emulated links", "wire": "our own stack in real time over emulated links"}


STEP_S = 0.5
"""Seconds of a step of metrics over time, where nothing else is said."""
LONGEST_S = 2_562_047 * 3600.0
"""The longest time that a scenario knows, seconds."""


class BadInput(Exception):
    """What a person gave cannot be used; the message says what would be right."""


class RunFailed(Exception):
    """A run did not come to its end as it should."""


def add_backend(parser: argparse.ArgumentParser, known: tuple[str, ...] = ("sim",)) -> None:
    """`--backend`, of which a command has those that are known."""
    names = _listed(known, "and")
    parser.add_argument(
        "--backend", default="sim", metavar="NAME", help=f"what runs it; this version has {names} (default: sim)"
    )


def _listed(names: Sequence[str], word: str) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def check_backend(name: str, known: tuple[str, ...] = ("sim",)) -> None:
    """Refuses what this command cannot run."""
    if name in known:
        return
    use = _listed([f"--backend {one}" for one in known], "or")
    if name in BACKENDS:
        raise BadInput(
            f"mptcplab: this does not run on the backend {name} ({BACKENDS[name]}) in this version; use {use}, or "
            "mptcplab emulate, send and receive for real packets"
        )
    raise BadInput(f"mptcplab: there is no backend {name!r}; use {use}")


def check_study(name: str, studies: Mapping[str, Study]) -> None:
    """Refuses a name that no study has; the name of an experiment gets its study."""
    from mptcplab.util.user_input import choose

    found = [
        f"{study.name}/{one.name}"
        for study in studies.values()
        for one in study.experiments
        if one.name.lower() == name.lower()
    ]
    if name not in studies and found:
        raise BadInput(f"mptcplab: {name} is an experiment of a study; did you mean {' or '.join(found)}?")
    choose(name, studies, "study")


def add_trace(parser: argparse.ArgumentParser, what: str) -> None:
    """`--trace` and the times from which and until which it counts."""
    parser.add_argument(
        "--trace", metavar="K1,K2", help=f"{what}: loss, window, schedule, all … (docs/events.md has them)"
    )
    parser.add_argument("--trace-from", type=instant, default=0.0, metavar="TIME", help="… from then on (default: 0s)")
    parser.add_argument("--trace-until", type=instant, metavar="TIME", help="… up to then (default: the end)")


def trace(given: argparse.Namespace) -> Trace:
    """What `--trace` asks for; without it, no events."""
    from mptcplab.results.model.events import REASONS
    from mptcplab.results.model.events import trace as read

    if given.trace is None:
        if given.trace_from or given.trace_until is not None:
            raise BadInput("mptcplab: --trace-from and --trace-until say when; --trace says of what, for example all")
        return REASONS
    return read(given.trace, given.trace_from, given.trace_until)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--workers`."""
    parser.add_argument("--workers", type=workers, metavar="N", help="runs at a time (default: one for each core)")


def positive(text: str) -> int:
    """A whole number above zero."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def at_most(most: int) -> Callable[[str], int]:
    """A whole number above zero, and no more than `most`."""

    def number(text: str) -> int:
        given = positive(text)
        if given > most:
            raise argparse.ArgumentTypeError(f"{given if given < 10**30 else text[:30] + '…'} is more than {most}")
        return given

    return number


workers = at_most(1024)
"""Runs at a time."""


def seeds(given: argparse.Namespace) -> range:
    """The seeds of `--seed` and `--seeds`."""
    last = given.seed + given.seeds - 1
    if last >= 2**64:
        most = 2**64 - given.seed
        raise BadInput(
            f"mptcplab: --seed {given.seed} --seeds {given.seeds}: the last seed would be above 2^64 - 1 (at most "
            f"--seeds {most})"
        )
    return range(given.seed, given.seed + given.seeds)


def check_runs(scenario: Scenario, runs: int, *, traced: bool = False) -> None:
    """Refuses more runs of a scenario than its limits allow; its baselines count, and the rows of `traced` ones."""
    scenario.core.check_runs(min(runs, 2**64 - 1), traced)


def no_repetitions(scenario: _core.Scenario, seeds: int) -> str | None:
    """What to say where runs with other seeds are hardly repetitions; None where they are."""
    if seeds < 2 or scenario.draws_its_network:
        return None
    start = '; trace_start = "random" begins each run elsewhere in its recording'
    more = start if scenario.replays_a_recording else ""
    return (
        "note: nothing of this network is random. Seeds differ only in the small delays of hosts ([jitter]), so "
        f"intervals tell how much timing matters, and not how much a random network varies{more}"
    )


def natural(text: str) -> int:
    """A seed: a whole number from 0 to 2^64 - 1."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^64 - 1")
    return number


def instant(text: str) -> float:
    """A time since the start with its unit, in seconds."""
    return 0.0 if text == "0s" else duration(text)


def duration(text: str) -> float:
    """A time above zero with its unit, in seconds."""
    from mptcplab.util.user_input import BadResult, seconds

    try:
        length = seconds(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not 0 < length < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0")
    if length > LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {LONGEST_S / 3600:.0f}h")
    return length


def size(text: str) -> int:
    """An amount of data as scenario files write it, in bytes."""
    from mptcplab.util.user_input import BadResult
    from mptcplab.util.user_input import size as read

    try:
        return read(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def rate(text: str) -> int:
    """A rate as scenario files write it, in bit/s."""
    from mptcplab.util.user_input import BadResult
    from mptcplab.util.user_input import rate as read

    try:
        return read(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def several(one: Callable[[str], int]) -> Callable[[str], list[int]]:
    """Values between commas, each as `one` reads it."""
    return lambda text: [one(part.strip()) for part in text.split(",")]


def add_interval(parser: argparse.ArgumentParser) -> None:
    """`--interval`."""
    parser.add_argument(
        "--interval",
        type=duration,
        default=STEP_S,
        metavar="TIME",
        help="length of a step, such as 1s (default: 500ms)",
    )


def print_json(value: Any) -> None:
    """Writes JSON to stdout."""
    from mptcplab.util.json_files import finite

    text = json.dumps(finite(value), indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        # Where a letter cannot be written, JSON has its number.
        text = json.dumps(finite(value), indent=2)
    print(text)


def table(rows: list[list[str]]) -> str:
    """Columns aligned: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
