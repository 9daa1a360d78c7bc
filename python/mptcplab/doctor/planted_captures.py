"""Simulated captures with a planted cause, to test the verdicts of `mptcplab doctor`.

A case is a scenario, the hosts whose captures are given to the doctor, and the verdicts that are right. Owns the list
of verdicts, the sampling of cases, and the rule that a cause must reduce the goodput. Never runs the doctor.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab.doctor import planted_hosts as hosts
from mptcplab.doctor import planted_paths as paths
from mptcplab.doctor.cut_captures import Cut, cut
from mptcplab.doctor.planted_networks import BOTH, Cause, Draw, Plan, Planter, Site, Summary, path_of, plan
from mptcplab.scenario.definition import Scenario

COSTS = 0.1
"""Minimum share of the goodput that a planted cause costs; otherwise another case is generated."""
MIN_USE = 0.75
"""Minimum goodput without the cause as a share of the rate of all paths, so that there is no other cause."""
HEALTHY_USE = 0.85
"""Minimum goodput of a healthy case, as a share of the rate of all paths, and of each path."""
PAYLOAD = 1400 / 1514
"""Approximate share of a frame that is payload."""
ATTEMPTS = 200
"""Attempts to generate a case."""
CLEARER = 3.0
"""If one of two causes costs more than the other by this factor, only this cause is a right verdict."""

PLANTERS: dict[str, Planter] = {
    "fallback": paths.fallback,
    "blackhole": paths.blackhole,
    "join-stripped": paths.join_stripped,
    "join-unanswered": paths.join_unanswered,
    "join-refused": paths.join_refused,
    "add-addr-unanswered": paths.add_addr_unanswered,
    "one-subflow": paths.one_subflow,
    "receive-window": hosts.receive_window,
    "send-buffer": hosts.send_buffer,
    "head-of-line": hosts.head_of_line,
    "reinjection": hosts.reinjection,
    "backup": paths.backup,
    "dead-path": paths.dead_path,
    "loss": paths.loss,
    "policer": paths.policer,
    "bufferbloat": paths.bufferbloat,
    "scheduler": hosts.scheduler,
    "application": hosts.application,
}
"""By verdict: the function that plants its cause."""
COMBINATIONS: tuple[tuple[str, str], ...] = (
    ("loss", "receive-window"),
    ("backup", "application"),
    ("join-unanswered", "bufferbloat"),
    ("fallback", "application"),
    ("dead-path", "loss"),
    ("one-subflow", "application"),
    ("join-stripped", "send-buffer"),
    ("loss", "bufferbloat"),
    ("policer", "loss"),
    ("join-unanswered", "application"),
)
"""Pairs of causes that are planted together."""
HEALTHY, CANNOT_TELL = "healthy", "cannot-tell"
KINDS = (*PLANTERS, CANNOT_TELL)
"""Verdicts of which `cases` generates the same number, in this order."""


@dataclass(frozen=True)
class Case:
    """A scenario with a planted cause, and the captures of it that the doctor reads."""

    number: int
    kind: str
    """The planted verdict, or two of them joined by `+`."""
    expected: frozenset[str]
    """Verdicts that are right as the first verdict."""
    subject: str | None
    """The path of the cause, or None for the whole connection."""
    scenario: Scenario
    without: Scenario
    """The scenario without the cause."""
    hosts: str
    """Hosts whose captures are given: client, server or both."""
    vantage: str
    """Role of these hosts: sender or receiver of the data, or both."""
    goodput: float
    """Goodput in bit/s."""
    goodput_without: float
    seed: int = 1
    """Seed of the run."""
    change: Cut | None = None
    """The part of the captures that is given; None for complete captures."""

    @property
    def cost(self) -> float:
        """Share of the goodput that the cause costs."""
        return 1 - self.goodput / max(self.goodput_without, 1.0)

    def capture(self, directory: Path) -> list[Path]:
        """Runs the scenario, writes its captures to the directory, and returns the files for the doctor."""
        directory.mkdir(parents=True, exist_ok=True)
        every = directory / "every"
        self.scenario.run(self.seed, captures=every)
        prefix = "" if self.hosts == "both" else f"{self.hosts}-"
        given = [file.rename(directory / file.name) for file in sorted(every.glob(f"{prefix}*.pcapng"))]
        shutil.rmtree(every)
        if self.change is not None:
            for file in given:
                cut(file, self.change)
        return given

    def document(self, files: Sequence[Path] = ()) -> dict[str, Any]:
        """The case as JSON values."""
        return {
            "number": self.number,
            "kind": self.kind,
            "expected": sorted(self.expected),
            "subject": self.subject,
            "vantage": self.vantage,
            "hosts": self.hosts,
            "files": [file.name for file in files],
            "seed": self.seed,
            "goodput": self.goodput,
            "goodput_without": self.goodput_without,
            "cut": None if self.change is None else vars(self.change),
            "scenario": self.scenario.to_toml(),
        }

    def save(self, directory: Path) -> list[Path]:
        """Writes the captures and `case.json` to the directory, and returns the captures."""
        files = self.capture(directory)
        (directory / "case.json").write_text(json.dumps(self.document(files), indent=1) + "\n")
        return files


def cases(seed: int, per_verdict: int = 15, combinations: int = 10, healthy: int = 60) -> list[Case]:
    """All cases of a seed: `per_verdict` of each verdict, pairs of causes, and cases without a cause."""
    return list(generate(seed, per_verdict, combinations, healthy))


def generate(
    seed: int, per_verdict: int = 15, combinations: int = 10, healthy: int = 60, kinds: Sequence[str] = KINDS
) -> Iterator[Case]:
    """The cases one by one, as `cases` returns them, but only these kinds of the single verdicts."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"kinds = {unknown}: must be verdicts with captures: {', '.join(KINDS)}")
    for kind in kinds:
        for index in range(per_verdict):
            at = KINDS.index(kind)
            one = _cannot_tell if kind == CANNOT_TELL else _single(kind)
            yield _attempts(one, (seed, at, index), 1000 * at + index)
    for index in range(combinations):
        yield _attempts(_pair(COMBINATIONS[index % len(COMBINATIONS)]), (seed, 100, index), 100_000 + index)
    for index in range(healthy):
        yield _attempts(_healthy, (seed, 101, index), 200_000 + index)


Attempt = Callable[[Draw, int], Case | None]
"""Generates a case with this number, or None if its cause costs too little."""


def _attempts(one: Attempt, seed: tuple[int, int, int], number: int) -> Case:
    for attempt in range(ATTEMPTS):
        case = one(Draw(*seed, attempt), number)
        if case is not None:
            return case
    raise RuntimeError(f"case {number}: no cause with an effect in {ATTEMPTS} attempts")


def _run(scenario: Scenario) -> Summary:
    return scenario.run(1).flow("flow")


def _use(made: Plan, flow: Summary) -> float:
    """The goodput as a share of the payload rate of all paths that the flow may use."""
    return float(flow["goodput"]) / (PAYLOAD * made.rate)


def _at(draw: Draw, made: Plan) -> str:
    """A path other than the first one, whose loss would be a fallback or a failed connection."""
    return draw.choice(list(made.lines)[1:])


def _role(made: Plan, given: str) -> str:
    if given == "both":
        return "both"
    return "sender" if (given == "server") == made.is_download else "receiver"


def _single(kind: str) -> Attempt:
    def attempt(draw: Draw, number: int) -> Case | None:
        made = plan(draw)
        return _planted(draw, number, kind, made, [PLANTERS[kind](Site(draw, made, _at(draw, made)))])

    return attempt


def _pair(kinds: tuple[str, str]) -> Attempt:
    def attempt(draw: Draw, number: int) -> Case | None:
        made = plan(draw, count=3)
        other, at = list(made.lines)[1:]
        causes = [PLANTERS[kind](Site(draw, made, where)) for kind, where in zip(kinds, (at, other), strict=True)]
        return _planted(draw, number, "+".join(kinds), made, causes)

    return attempt


def _planted(draw: Draw, number: int, kind: str, made: Plan, causes: Sequence[Cause]) -> Case | None:
    """The case with these causes, or None if they have no effect."""
    given = draw.choice([one for one in BOTH if all(one in cause.hosts for cause in causes)])
    bad = _with(made, causes)
    without, flow = _run(made.scenario()), _run(bad.scenario())
    # A thin application uses little of the rate in both runs.
    if "rate" not in made.flow and _use(made, without) < MIN_USE and len(made.flow["paths"]) > 1:
        return None
    if not flow["goodput"] or not all(cause.shows(flow) for cause in causes):
        return None
    cost = 1 - flow["goodput"] / without["goodput"]
    if any(cause.must_cost for cause in causes) and cost < COSTS:
        return None
    expected = frozenset(cause.verdict for cause in causes)
    if len(causes) > 1:
        expected = _clearer(made, causes, flow)
    expected = expected.union(*(cause.also(flow) for cause in causes if cause.verdict in expected))
    subjects = [cause.subject for cause in causes if cause.verdict in expected and cause.subject]
    return Case(
        number,
        kind,
        expected,
        subjects[0] if len(subjects) == 1 else None,
        bad.scenario(),
        made.scenario(),
        given,
        _role(made, given),
        float(flow["goodput"]),
        float(without["goodput"]),
    )


def _with(made: Plan, causes: Sequence[Cause]) -> Plan:
    bad = made.copy()
    for cause in causes:
        cause.apply(bad)
    return bad


def _clearer(made: Plan, causes: Sequence[Cause], flow: Summary) -> frozenset[str]:
    """The verdicts that are right as the first one: both, or the only one that clearly costs more."""
    if not all(cause.must_cost for cause in causes):
        return frozenset(cause.verdict for cause in causes)
    gains = []
    for index in range(len(causes)):
        others = [cause for at, cause in enumerate(causes) if at != index]
        gains.append(float(_run(_with(made, others).scenario())["goodput"]) - float(flow["goodput"]))
    most = max(gains)
    return frozenset(cause.verdict for cause, gain in zip(causes, gains, strict=True) if gain * CLEARER >= most)


def _healthy(draw: Draw, number: int) -> Case | None:
    """A bulk flow that fills all paths."""
    made = plan(draw)
    given = draw.choice(BOTH)
    flow = _run(made.scenario())
    shares = [
        path_of(flow, name)["bytes_acked"] * 8 / (one.rate * PAYLOAD * made.duration)
        for name, one in made.lines.items()
    ]
    if _use(made, flow) < HEALTHY_USE or min(shares) < HEALTHY_USE:
        return None
    scenario, goodput = made.scenario(), float(flow["goodput"])
    expected = frozenset({HEALTHY})
    return Case(number, HEALTHY, expected, None, scenario, scenario, given, _role(made, given), goodput, goodput)


def _cannot_tell(draw: Draw, number: int) -> Case | None:
    """Captures of a healthy or a slow connection that are too short, or lack a direction or the TCP options."""
    kind = draw.choice((HEALTHY, "receive-window", "loss", "application"))
    whole = _healthy(draw, number) if kind == HEALTHY else _single(kind)(draw, number)
    if whole is None:
        return None
    length = whole.scenario.duration
    match draw.choice(("fraction", "middle", "acknowledgements", "options")):
        case "fraction":
            change = Cut(begin=draw.uniform(0.2, 0.8) * length, length=draw.uniform(0.02, 0.15))
        case "middle":
            change = Cut(begin=draw.uniform(0.2, 0.8) * length, length=draw.uniform(0.3, 0.9))
        case "acknowledgements":
            # The host 10.0 is the client, and 10.1 the server.
            download = 'direction = "download"' in whole.scenario.to_toml()
            change = Cut(source="10.0" if download else "10.1")
        case _:
            # The captures begin with the IPv4 header: 40 bytes are the headers without options.
            change = Cut(snap=40)
    return Case(
        number,
        f"{CANNOT_TELL}",
        frozenset({CANNOT_TELL}),
        None,
        whole.scenario,
        whole.without,
        whole.hosts,
        whole.vantage,
        whole.goodput,
        whole.goodput_without,
        change=change,
    )
