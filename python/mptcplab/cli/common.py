"""Arguments, checks and errors that several commands share, so that an option means the same in each command."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mptcplab import _core
    from mptcplab.results.model.events import Trace
    from mptcplab.scenario.definition import Scenario
    from mptcplab.studies.base import Study

BACKENDS = {
    "kernel": "Linux's MPTCP over emulated links",
    "wire": ("mptcplab's own stack in real time over emulated links"),
}


STEP_S = 0.5
"""Default step of metrics over time, seconds."""
LONGEST_S = 2_562_047 * 3600.0
"""The longest time that a scenario accepts, seconds."""


class BadInput(Exception):
    """Invalid input, exit code 2; the message says how to correct it."""


class RunFailed(Exception):
    """A run that failed, exit code 1."""


def add_backend(parser: argparse.ArgumentParser, known: tuple[str, ...] = ("sim",)) -> None:
    """Adds `--backend` with the backends in `known`."""
    names = _listed(known, "and")
    parser.add_argument("--backend", default="sim", metavar="NAME", help=f"backend: {names} (default: sim)")


def _listed(names: Sequence[str], word: str) -> str:
    """Joins names with commas, and the last one with `word`, as in `a, b or c`."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def check_backend(name: str, known: tuple[str, ...] = ("sim",)) -> None:
    """Rejects a backend that this command does not support."""
    if name in known:
        return
    use = _listed([f"--backend {one}" for one in known], "or")
    if name in BACKENDS:
        raise BadInput(
            f"mptcplab: this command does not support the backend {name} ({BACKENDS[name]}); use {use}, or run "
            "mptcplab emulate, send or receive for real packets"
        )
    raise BadInput(f"mptcplab: unknown backend {name!r}; use {use}")


def check_study(name: str, studies: Mapping[str, Study]) -> None:
    """Rejects an unknown study; suggests the study of an experiment."""
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
    """Adds `--trace`, `--trace-from` and `--trace-until`."""
    parser.add_argument("--trace", metavar="K1,K2", help=f"{what}: loss, window, schedule, all, … (docs/events.md)")
    parser.add_argument(
        "--trace-from", type=instant, default=0.0, metavar="TIME", help=("trace from this time on (default: 0s)")
    )
    parser.add_argument("--trace-until", type=instant, metavar="TIME", help="trace until this time (default: the end)")


def trace(given: argparse.Namespace) -> Trace:
    """The events that `--trace` selects; without it, no events, but limiting factors are still measured."""
    from mptcplab.results.model.events import REASONS
    from mptcplab.results.model.events import trace as read

    if given.trace is None:
        if given.trace_from or given.trace_until is not None:
            raise BadInput("mptcplab: --trace-from and --trace-until need --trace KINDS, for example --trace all")
        return REASONS
    return read(given.trace, given.trace_from, given.trace_until)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Adds `--workers`."""
    parser.add_argument("--workers", type=workers, metavar="N", help="parallel runs (default: number of cores)")


def positive(text: str) -> int:
    """An integer above zero."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer above 0")
    return number


def at_most(most: int) -> Callable[[str], int]:
    """An integer from 1 to `most`."""

    def number(text: str) -> int:
        given = positive(text)
        if given > most:
            raise argparse.ArgumentTypeError(
                f"{given if given < 10**30 else text[:30] + '…'} is above the maximum of {most}"
            )
        return given

    return number


workers = at_most(1024)
"""The number of parallel runs."""


def seeds(given: argparse.Namespace) -> range:
    """The seeds that `--seed` and `--seeds` select."""
    last = given.seed + given.seeds - 1
    if last >= 2**64:
        most = 2**64 - given.seed
        raise BadInput(
            f"mptcplab: --seed {given.seed} --seeds {given.seeds}: the last seed exceeds 2^64 - 1; use at most --seeds "
            f"{most}"
        )
    return range(given.seed, given.seed + given.seeds)


def check_runs(scenario: Scenario, runs: int, *, traced: bool = False) -> None:
    """Rejects more runs than the scenario's limits allow. Counts baselines, and the events of `traced` runs."""
    scenario.core.check_runs(min(runs, 2**64 - 1), traced)


def no_repetitions(scenario: _core.Scenario, seeds: int) -> str | None:
    """A note if several seeds hardly change the network; None otherwise."""
    if seeds < 2 or scenario.draws_its_network:
        return None
    start = '; trace_start = "random" starts each run at a random position of the recording'
    more = start if scenario.replays_a_recording else ""
    return (
        "note: this network has no random events. Seeds change only the small delays of hosts ([jitter]), so "
        f"intervals show only the effect of timing{more}"
    )


def print_no_repetitions(points: Sequence[tuple[str, _core.Scenario]], seeds: int) -> None:
    """Prints the note of `no_repetitions` for points, given by name and scenario; names the points if only some."""
    notes = {name: note for name, scenario in points if (note := no_repetitions(scenario, seeds)) is not None}
    if not notes:
        return
    note = next(iter(notes.values()))
    if len(notes) < len(points):
        note = note.replace("this network has", f"at {len(notes)} of {len(points)} points, the network has")
        print(f"{note} (first such point: {next(iter(notes))})")
        return
    print(note)


def with_randomness(
    documents: list[dict[str, Any]], points: Sequence[tuple[Mapping[str, str], _core.Scenario]]
) -> list[dict[str, Any]]:
    """The JSON entries of points, each with `seeds_change`.

    This is `network`, or `timing` if seeds change only the small delays of hosts, so that intervals over the seeds are
    not intervals over networks. `points` has the values and the scenario of each point.
    """
    words = {tuple(values.items()): _seeds_change(scenario) for values, scenario in points}
    return [entry | {"seeds_change": words[tuple(entry["point"].items())]} for entry in documents]


def _seeds_change(scenario: _core.Scenario) -> str:
    return "network" if scenario.draws_its_network else "timing"


def natural(text: str) -> int:
    """A seed: an integer from 0 to 2^64 - 1."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 0 to 2^64 - 1")
    return number


def instant(text: str) -> float:
    """A time with its unit, in seconds since the start."""
    return 0.0 if text == "0s" else duration(text)


def duration(text: str) -> float:
    """A positive duration with its unit, in seconds."""
    from mptcplab.util.user_input import BadResult, seconds

    try:
        length = seconds(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not 0 < length < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration above 0")
    if length > LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is above the maximum of {LONGEST_S / 3600:.0f}h")
    return length


def size(text: str) -> int:
    """A size with the units of scenario files, in bytes."""
    from mptcplab.util.user_input import BadResult
    from mptcplab.util.user_input import size as read

    try:
        return read(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def rate(text: str) -> int:
    """A rate with the units of scenario files, in bit/s."""
    from mptcplab.util.user_input import BadResult
    from mptcplab.util.user_input import rate as read

    try:
        return read(text)
    except BadResult as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def list_of(one: Callable[[str], int]) -> Callable[[str], list[int]]:
    """Comma-separated values, each parsed by `one`."""
    return lambda text: [one(part.strip()) for part in text.split(",")]


def add_interval(parser: argparse.ArgumentParser) -> None:
    """Adds `--interval`."""
    parser.add_argument(
        "--interval",
        type=duration,
        default=STEP_S,
        metavar="TIME",
        help="length of a time step (default: 500ms)",
    )


def print_json(value: Any) -> None:
    """Prints JSON."""
    import json

    from mptcplab.util.json_files import finite

    text = json.dumps(finite(value), indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        # JSON escapes letters that the output cannot encode.
        text = json.dumps(finite(value), indent=2)
    print(text)


def table(rows: list[list[str]]) -> str:
    """Aligned columns: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
