"""The parts of a study: experiments, runs by key, claims and figures.

A study re-examines one publication. It lists its runs and judges the results: each claim of the publication gets a
verdict. `reproduce.runner` runs the studies, `reproduce.report` writes the report.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mptcplab.stats.statistics import Estimate, Interval, difference, estimate, interval, ratio
from mptcplab.studies.published import Published, marked
from mptcplab.studies.verdicts import Check, Exclusion, Origin, Verdict, all_of, over_readings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.results.run import Run
    from mptcplab.scenario.definition import Scenario

Key = tuple[str | float, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Effort:
    """The amount of runs: `quick`, `default`, or `full` for narrow intervals."""

    name: Literal["quick", "default", "full"]
    first: int = 1
    """The first seed; other blocks of seeds should give the same verdicts."""
    times: int = 1
    """The factor on the usual number of seeds, for intervals that straddled a bound."""
    exactly: int | None = None
    """An exact number of seeds per point, to compare blocks of seeds."""

    def pick(self, quick: T, default: T, full: T) -> T:
        """The value for this effort."""
        return {"quick": quick, "default": default, "full": full}[self.name]

    def seeds(self, quick: int, default: int, full: int, *, comparison: bool = False) -> range:
        """The seeds for this effort: the usual number times `times`, up to a limit. The limit is the usual number with
        `quick`, twice that with `default`, and at least 40 with `full`.

        Runs for `comparison` decide nothing. They get one seed less with `quick`, and no further seeds for undecided
        claims.
        """
        if self.exactly:
            return range(self.first, self.first + self.exactly)
        if comparison:
            return range(self.first, self.first + self.pick(max(1, quick - 1), default, full))
        usual = self.pick(quick, default, full)
        most = self.pick(usual, 2 * usual, max(40, 2 * usual))
        return range(self.first, self.first + min(usual * self.times, most))


@dataclass(frozen=True)
class Fact:
    """A claim of a publication or of mptcplab, with the verdict on it and the measurements that decide it."""

    study: str
    experiment: str
    fact: str
    origin: Origin
    statement: str
    published: str
    measured: str
    verdict: Verdict
    reason: str
    checks: tuple[Check, ...] = ()
    """The checks that decided: those of the main interpretation, or of all interpretations."""
    exclusion: Exclusion | None = None

    def __post_init__(self) -> None:
        """Rejects a contradiction without its two quoted statements."""
        if (self.verdict == "contradicted") != (self.exclusion is not None):
            raise ValueError(
                f"{self.fact}: `contradicted` requires two quoted statements, and other verdicts must not have them"
            )

    def row(self) -> dict[str, Any]:
        """The claim as in facts.json; a missing bound is null."""

        def end(value: float) -> float | None:
            return value if math.isfinite(value) else None

        names = ("study", "experiment", "fact", "origin", "statement", "published", "measured", "verdict", "reason")
        row: dict[str, Any] = {name: getattr(self, name) for name in names}
        row["checks"] = [
            {
                "what": check.what,
                "mean": end(check.found.mean),
                "interval": [end(check.found.low), end(check.found.high)],
                "runs": check.found.n,
                "bound": check.bound.name,
                "allowed": [end(check.bound.low), end(check.bound.high)],
                "verdict": check.verdict,
            }
            for check in self.checks
        ]
        both = (self.exclusion.first, self.exclusion.second) if self.exclusion else ()
        row["quotes"] = [{"source": quote.source, "sentence": quote.sentence} for quote in both]
        return row


@dataclass(frozen=True)
class Picture:
    """A figure with its caption; the file has this name."""

    name: str
    caption: str
    figure: Figure
    why: tuple[str, ...] = ()
    """Sentences on the limiting factors of the flows in the figure; see `limiting_factors`."""


@dataclass(frozen=True)
class Point:
    """A run of an experiment. Runs with the same key differ only in the seed."""

    key: Key
    scenario: Scenario
    seed: int = 1
    watched: bool = False
    """Whether a figure shows the limiting factors over time; observing does not change the run."""


@dataclass
class Outcome:
    """The outcome of an experiment: claims with verdicts, and figures."""

    facts: list[Fact] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures by file name."""
        return {picture.name: picture.figure for picture in self.pictures}


class Measured:
    """The runs of one experiment by key."""

    def __init__(self, runs: Iterable[tuple[Key, Run]]) -> None:
        """Stores the runs in the order of their jobs."""
        self._runs: dict[Key, list[Run]] = defaultdict(list)
        for key, run in runs:
            self._runs[key].append(run)

    def runs(self, *key: str | float) -> list[Run]:
        """All runs of a key, one per seed."""
        return self._runs[key]

    def one(self, *key: str | float) -> Run:
        """The first run of a key."""
        return self._runs[key][0]

    def estimate(self, value: Callable[[Run], float], *key: str | float) -> Estimate:
        """Mean and 95% interval of a value over the seeds."""
        return estimate(value(run) for run in self._runs[key])

    def mean(self, value: Callable[[Run], float], *key: str | float) -> float:
        """Mean of a value over the seeds."""
        return self.estimate(value, *key).mean

    def values(self, value: Callable[[Run], float], *key: str | float) -> list[float]:
        """The value of each run."""
        return [value(run) for run in self._runs[key]]

    def interval(self, value: Callable[[Run], float], *key: str | float) -> Interval:
        """Mean with its interval; a single run has no interval."""
        return interval(self.values(value, *key))

    def ratio(
        self,
        value: Callable[[Run], float],
        key: Key,
        other: Callable[[Run], float],
        under: Key,
        *,
        paired: bool | None = None,
    ) -> Interval:
        """Mean of `value` for `key` over mean of `other` for `under`; values of the same key are paired."""
        together = key == under if paired is None else paired
        return ratio(self.values(value, *key), self.values(other, *under), paired=together)

    def difference(
        self, value: Callable[[Run], float], key: Key, under: Key, other: Callable[[Run], float] | None = None
    ) -> Interval:
        """Mean for `key` minus mean for `under`, with its interval; values of the same key are paired."""
        return difference(self.values(value, *key), self.values(other or value, *under), paired=key == under)


class Experiment(ABC):
    """One experiment of a study: its runs, and the verdicts on its claims."""

    study: str
    name: str
    title: str
    setup: str
    published: Sequence[Published] = ()
    """Published values that can be drawn."""
    judged: str | float | None = None
    """First part of the key of the network that decides the verdicts; None for the network of the first point."""

    @abstractmethod
    def points(self, effort: Effort) -> Iterator[Point]:
        """The runs of the experiment."""

    @abstractmethod
    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Judges the results of the runs."""

    def mark(self, scenario: Scenario) -> Scenario:
        """The same scenario with a description that names this experiment."""
        return marked(scenario, self.study, self.name, self.title)

    def fact(  # noqa: PLR0913, RUF100 - the parts of a claim
        self,
        fact: str,
        statement: str,
        *,
        published: str,
        checks: Sequence[Check] | Mapping[str, Sequence[Check]],
        main: str | None = None,
        why: str = "",
        measured: str | Mapping[str, str] = "",
        reason: str = "",
        explanation: str = "",
        origin: Origin = "published",
        exclusion: Exclusion | None = None,
    ) -> Fact:
        """A claim of this experiment, judged by its checks.

        `checks` are given by interpretation if the source leaves a setting open; see `over_readings` for `main` and
        `why`. `measured` adds detail. `reason` is an observation; `explanation` is an interpretation, and marked as
        such.
        """
        if isinstance(checks, Mapping):
            verdict, words = over_readings({name: all_of(some) for name, some in checks.items()}, main, why)
            decided = list(checks[main]) if main else [check for some in checks.values() for check in some]
            each = measured if isinstance(measured, Mapping) else {name: listed(some) for name, some in checks.items()}
            text = "; ".join(f"[{name}] {message}" for name, message in each.items())
            reason = f"{words} {reason}".strip()
        else:
            verdict, decided = all_of(checks), list(checks)
            text = measured if isinstance(measured, str) else ""
        if exclusion:
            verdict, reason = "contradicted", f"{exclusion.why} {reason}".strip()
        if explanation:
            reason = f"{reason} Explanation: {explanation}".strip()
        return Fact(
            self.study, self.name, fact, origin, statement, published, text or listed(decided), verdict, reason,
            tuple(decided), exclusion,
        )  # fmt: skip


def listed(checks: Sequence[Check]) -> str:
    """Checks as text."""
    return ", ".join(str(check) for check in checks)


@dataclass(frozen=True)
class Assumption:
    """A setting that the publication does not specify, and the chosen value."""

    what: str
    taken: str
    why: str
    after: tuple[str, ...] | None = None
    """None if it was chosen before seeing results; otherwise the claims that it was calibrated on."""


@dataclass(frozen=True)
class Study:
    """A study: the experiments that re-examine one publication."""

    name: str
    letter: str
    title: str
    source: str
    summary: str
    experiments: Sequence[Experiment]
    assumptions: Sequence[Assumption] = ()
    kind: str = "study"
    """The type of publication: student report, conference paper or journal paper."""
    reproduces: str = ""
    """The paper that the authors reproduced, if any."""
    short_blocks: bool = False
    """Whether `full` judges long runs, as long as the publication's. Its three blocks of seeds then use the shorter
    runs of `default`, because ten minutes on a fast link take long to simulate.
    """

    @property
    def fitted(self) -> frozenset[str]:
        """The claims used for calibration; all others are held out."""
        return frozenset(fact for assumption in self.assumptions for fact in assumption.after or ())


RECOVERY: dict[str, bool] = {"rack": True, "frto": True, "undo_spurious_loss": True}
"""One loss detection for the kernels of all studies. Linux before 4.4 had no RACK. It detected lost retransmissions by
forward acknowledgements (tcp_mark_lost_retrans in net/ipv4/tcp_input.c), and tail losses by early retransmit (3.5)
and loss probes (3.10). RACK-TLP replaces these. F-RTO (tcp_frto = 2) and undo were on.
"""

LINUX_2013: dict[str, bool] = {"byte_counting": False, **RECOVERY}
"""Differences of the kernels of these studies (3.5 to 3.14): windows grow per acknowledgement, not per acknowledged
byte (changed in Linux 4.0), and losses are detected as in `RECOVERY`.
"""


def goodput(run: Run) -> float:
    """Mb/s in order at the application after the warm-up, for the first flow."""
    return run.flow()["goodput"] / 1e6


def throughput(run: Run) -> float:
    """Mb/s of payload sent on all paths after the warm-up, by the first flow."""
    return run.flow()["throughput"] / 1e6


def on_interfaces(run: Run) -> float:
    """Mb/s of frames that the sender's interfaces sent after the warm-up, as measured by bwm-ng."""
    total = 0.0
    for path in run.path_names:
        times, rates = run.series("interface_throughput", path=path)
        total += float(rates[times > run.scenario.warmup + 1e-9].mean())
    return total / 1e6


def on_path(path: str) -> Callable[[Run], float]:
    """Mb/s of payload sent on one path after the warm-up, by the first flow."""

    def value(run: Run) -> float:
        row = run.path(path)
        seconds = run.flow()["measured_s"]
        return row["bytes_sent"] * 8 / seconds / 1e6 if row and seconds else 0.0

    return value
