"""What every study is made of: experiments, runs by key, facts and figures.

Owns these words, nothing else. A study says which runs it needs and judges what they gave; running
is the business of `reproduce`, writing that of `report`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from mptcplab.statistics import Estimate, estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.results import Run
    from mptcplab.scenario import Scenario

Verdict = Literal["holds", "fails", "contradicted"]
Key = tuple[str | float, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Effort:
    """How much to run: `quick` for a look, `default`, `full` for narrow intervals."""

    name: Literal["quick", "default", "full"]

    def pick(self, quick: T, default: T, full: T) -> T:
        """The value for this effort."""
        return {"quick": quick, "default": default, "full": full}[self.name]


@dataclass(frozen=True)
class Fact:
    """A statement of a source, held against measurements."""

    study: str
    experiment: str
    fact: str
    statement: str
    published: str
    measured: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Picture:
    """A figure with what to see in it; `facts` are the experiments that it stands beside."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Point:
    """One run that an experiment needs. Runs with the same key differ by seed alone."""

    key: Key
    scenario: Scenario
    seed: int = 1


@dataclass
class Outcome:
    """What an experiment found."""

    facts: list[Fact] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)


class Measured:
    """The runs of one experiment by key."""

    def __init__(self, runs: Iterable[tuple[Key, Run]]) -> None:
        """Keeps the runs in the order of their jobs."""
        self._runs: dict[Key, list[Run]] = defaultdict(list)
        for key, run in runs:
            self._runs[key].append(run)

    def runs(self, *key: str | float) -> list[Run]:
        """All runs of a key, one for each seed."""
        return self._runs[key]

    def one(self, *key: str | float) -> Run:
        """The first run of a key."""
        return self._runs[key][0]

    def estimate(self, value: Callable[[Run], float], *key: str | float) -> Estimate:
        """Mean and 95 % interval of a value over the seeds."""
        return estimate(value(run) for run in self._runs[key])

    def mean(self, value: Callable[[Run], float], *key: str | float) -> float:
        """Mean of a value over the seeds."""
        return self.estimate(value, *key).mean


class Experiment(ABC):
    """One experiment of a study."""

    study: str
    name: str
    title: str
    setup: str

    @abstractmethod
    def points(self, effort: Effort) -> Iterator[Point]:
        """The runs it needs."""

    @abstractmethod
    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Judges what the runs gave."""

    def fact(  # noqa: PLR0913, RUF100 - the columns of facts.json
        self,
        fact: str,
        statement: str,
        *,
        published: str,
        measured: str,
        verdict: Verdict | bool,
        reason: str = "",
        explanation: str = "",
        variant: str = "",
    ) -> Fact:
        """A fact of this experiment; a truth value means holds or fails.

        `reason` is what was found; `explanation` is what we think of a failure, and is marked as such.
        """
        if isinstance(verdict, bool):
            verdict = "holds" if verdict else "fails"
        if verdict == "fails" and explanation:
            reason = " ".join(part for part in (reason, f"Explanation: {explanation}") if part)
        experiment = f"{self.name} ({variant})" if variant else self.name
        return Fact(self.study, experiment, fact, statement, published, measured, verdict, reason)


def assume(checks: Mapping[str, bool], main: str, why: str) -> tuple[Verdict, str]:
    """One verdict where a source is silent: that of the `main` assumption; the reason says what the others give."""
    others: dict[bool, list[str]] = {True: [], False: []}
    for name, holds in checks.items():
        if name != main:
            others[holds].append(name)
    words = [f"Judged with {main}: {why}."]
    words += [f"Also met with {' and '.join(others[True])}."] if others[True] else []
    words += [f"Not met with {' and '.join(others[False])}."] if others[False] else []
    return "holds" if checks[main] else "fails", " ".join(words)


@dataclass(frozen=True)
class Study:
    """A published study."""

    name: str
    letter: str
    title: str
    source: str
    summary: str
    experiments: Sequence[Experiment]


LINUX_2013: dict[str, bool] = {"byte_counting": False}
"""How the kernels of these studies (3.5 to 3.14) differ: windows grow by acknowledgements, not by acknowledged bytes
(Linux 4.0 changed that). RACK-TLP stands for their FACK and early retransmit, which found lost retransmissions too."""


def goodput(run: Run) -> float:
    """Mb/s in order at the application, after the warm-up, of the first flow."""
    return run.flow()["goodput"] / 1e6


def throughput(run: Run) -> float:
    """Mb/s of payload put on all paths, after the warm-up, of the first flow."""
    return run.flow()["throughput"] / 1e6


def on_interfaces(run: Run) -> float:
    """Mb/s of frames that the sender's interfaces put on the line after the warm-up, as bwm-ng reads it."""
    total = 0.0
    for path in run.path_names:
        times, rates = run.series("interface_throughput", path=path)
        total += float(rates[times > run.scenario.warmup + 1e-9].mean())
    return total / 1e6


def on_path(path: str) -> Callable[[Run], float]:
    """Mb/s of payload put on one path after the warm-up, by the first flow."""

    def value(run: Run) -> float:
        row = run.path(path)
        seconds = run.flow()["measured_s"]
        return row["bytes_sent"] * 8 / seconds / 1e6 if row and seconds else 0.0

    return value
