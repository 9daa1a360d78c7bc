"""Controls: claims of mptcplab's own on a study's network, which theory or a configured value decides.

Owns how such claims are run, judged and drawn, and the measurements that several studies share. Many published claims
depend little on the protocol. Each control watches one part of the stack or of the network. Its bound comes from a
formula, an RFC or the scenario's own value, and none was fitted to results.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mptcplab.plots import figure_style
from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Cell, Flow, Path, Scenario, Station
from mptcplab.stats import formulas
from mptcplab.stats.statistics import Interval
from mptcplab.studies.base import LINUX_2013, Effort, Experiment, Key, Measured, Outcome, Picture, Point
from mptcplab.studies.verdicts import Check, every

if TYPE_CHECKING:
    from mptcplab._core import LinkRow
    from mptcplab.studies.verdicts import Bound

LAW = "1.31 / sqrt(2 p) segments in a round trip (Ott, Kemperman and Mathis 1996, one acknowledgement for two segments)"
GOAL_1 = "RFC 6356 goal 1, within the fourth root of two"
GOAL_2 = "RFC 6356 goal 2, within the fourth root of two"
MECHANISM = "the mechanism's rule (NSDI 2012, section 4.2)"

LEAST, MOST = 0.84, 1.19
"""A rate goes with the root of LIA's alpha (fixed loss: window = sqrt(2 alpha / p)). Nearer to 1 than to what half of
alpha and twice alpha give: the fourth roots of 1/2 and of 2."""
LAW_LEAST, LAW_MOST = 0.85, 1.17
"""Nearer to halving at a loss than to keeping 70% (CUBIC's factor): the windows differ by 1.37, and its root is
1.17."""
ACKS_LEAST, ACKS_MOST = 0.49, 0.6
"""Acknowledgements for each data segment: RFC 5681 section 4.2 asks for one for every second segment at least, and
for one at once after a loss."""
FIRST = 0.95
"""The part of an application-limited flow on the path that the scheduler prefers: all of it, but for the
retransmissions."""
QUEUE_LEAST, QUEUE_MOST = 0.95, 1.05
"""The longest queue over the configured limit: a full window of Reno fills a drop-tail queue."""
BIANCHI_LEAST, BIANCHI_MOST = 0.95, 1.05
"""Saturated cells follow the model within 2% where retries have no end (ns-3's tables); here they end after seven."""
COLLIDES = 0.03
"""How far the measured collision probability may be from the model's."""

EVEN = 0.005
"""The loss at which the square-root law is tested: windows of 13 segments, where timeouts are rare."""

ONE, TWO = "one", "two"
LINKED, ALONE, GREEDY = "lia", "tcp", "greedy"
Claims = Iterator["Claim"]


@dataclass(frozen=True)
class Claim:
    """A claim that theory decides."""

    fact: str
    statement: str
    theory: str
    checks: Sequence[Check]
    reason: str = ""


class Controls(Experiment):
    """The controls of one study."""

    @abstractmethod
    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:
        """What is run."""

    @abstractmethod
    def claims(self, measured: Measured) -> Claims:
        """What is claimed of it."""

    def points(self, effort: Effort) -> Iterator[Point]:
        """Each scenario with several seeds."""
        for key, scenario in self.scenarios(effort).items():
            for seed in self.seeds(effort):
                yield Point(key, scenario, seed)

    def seeds(self, effort: Effort) -> range:
        """The seeds of each point."""
        return effort.seeds(2, 5, 10)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """All claims, and one figure of them."""
        claims = list(self.claims(measured))
        facts = [
            self.fact(
                one.fact, one.statement, published=f"not published; {one.theory}", checks=one.checks, origin="ours",
                reason=one.reason,
            )
            for one in claims
        ]  # fmt: skip
        return Outcome(facts, [_picture(self.name, claims)])


def _picture(name: str, claims: Sequence[Claim]) -> Picture:
    """Each checked value with its interval, and the bound that it is judged by, where both are near 1."""
    rows = [(one, check) for one in claims for check in one.checks if _is_ratio(check)]
    figure, (axes,) = figure_style.new_figure(width=7.0, height=0.9 + 0.3 * len(rows))
    for at, (_, check) in enumerate(rows):
        low, high = max(check.bound.low, 0.2), min(check.bound.high, 5.0)
        axes.fill_betweenx([at - 0.35, at + 0.35], low, high, color=figure_style.PUBLISHED, alpha=0.18, linewidth=0)
        found = check.found
        axes.plot([max(found.low, 0.2), min(found.high, 5.0)], [at, at], color="#222222", linewidth=1.6)
        axes.plot([found.mean], [at], marker="o", color="#222222", linestyle="none")
    axes.set_yticks(range(len(rows)), [f"{one.fact}  {check.what}" for one, check in rows])
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.2, 5)
    axes.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    figure_style.finish(axes, x="measured over theory, or share", y="", legend=None)
    # The first claim is the highest row.
    axes.set_ylim(len(rows) - 0.4, -0.6)
    caption = (
        "Controls: measured values with 95% intervals over the seeds. The shaded range is the one that theory allows."
    )
    return Picture(f"{name.lower()}-controls", caption, figure)


def _is_ratio(check: Check) -> bool:
    return not check.unit and 0.2 < check.found.mean < 5


def over(found: Interval, value: float) -> Interval:
    """An interval in parts of a value."""
    return Interval(found.mean / value, found.low / value, found.high / value, found.n)


# Two paths on which random loss, and not the rate, limits a flow.


@dataclass(frozen=True)
class LossLimited:
    """Two paths of given round trips whose links are wider than what their losses let through."""

    rtts: tuple[float, float]
    """ms."""
    losses: tuple[float, float]
    """Of the data segments alone."""

    def path(self, at: int) -> Path:
        """One of them."""
        loss = {"loss": f"{self.losses[at] * 100:g}%"}
        return Path(rate="50Mbit", rtt=f"{self.rtts[at]:g}ms", queue="1000p", forward=loss)

    def scenarios(self) -> dict[Key, Scenario]:
        """TCP on each path, and LIA on both."""
        both = {ONE: self.path(0), TWO: self.path(1)}
        found: dict[Key, Scenario] = {
            (ALONE, name): flow(f"TCP, {name}", {name: path}, {"transport": "tcp"}, seconds=120)
            for name, path in both.items()
        }
        found[LINKED,] = flow("LIA", both, {"transport": "mptcp", "congestion": "lia"}, seconds=120)
        for name, at in (("law, short", 0), ("law, long", 1)):
            even = replace(self, losses=(EVEN, EVEN)).path(at)
            found[name,] = flow(f"TCP, {EVEN:.1%}", {ONE: even}, {"transport": "tcp"}, seconds=60 if at == 0 else 240)
        return found

    def greedy(self, loss: float) -> dict[Key, Scenario]:
        """LIA on both paths and TCP on the first, where twice alpha takes the root of two.

        The second path loses less, by the power 1.5 of the round trips. RFC 6356 bounds each path's increase by that of
        TCP; at such losses this bound does not hide the effect of alpha.
        """
        apart = replace(self, losses=(loss, loss * (self.rtts[0] / self.rtts[1]) ** 1.5))
        both = {ONE: apart.path(0), TWO: apart.path(1)}
        lia = {"transport": "mptcp", "congestion": "lia"}
        return {
            (GREEDY, ALONE): flow(f"TCP, {loss:.1%}", {ONE: both[ONE]}, {"transport": "tcp"}, seconds=180),
            (GREEDY, LINKED): flow(f"LIA, {loss:.1%}", both, lia, seconds=180),
        }

    def no_more(self, measured: Measured, bound: Bound) -> Check:
        """LIA's total over TCP's on its best path, in the runs of `greedy`."""
        return Check("LIA over best TCP", measured.ratio(_goodput, (GREEDY, LINKED), _goodput, (GREEDY, ALONE)), bound)

    def law(self, measured: Measured, bound: Bound) -> list[Check]:
        """TCP's rate over that of the square-root law, one acknowledgement for two segments, at both round trips."""
        checks = []
        for name, rtt in zip(("law, short", "law, long"), self.rtts, strict=True):
            expected = formulas.random_loss_law(EVEN, rtt / 1e3, acked=2)
            found = over(measured.interval(_goodput, name), expected)
            checks.append(Check(f"TCP over law, {rtt:g} ms, {EVEN:.1%}", found, bound))
        return checks

    def total(self, measured: Measured, bound: Bound) -> Check:
        """LIA's total over TCP's on its best path."""
        best = max((ONE, TWO), key=lambda name: measured.mean(_goodput, ALONE, name))
        found = measured.ratio(_goodput, (LINKED,), _goodput, (ALONE, best))
        return Check("LIA over best TCP", found, bound)


def _goodput(run: Run) -> float:
    return run.flow()["goodput"]


def flow(name: str, paths: Mapping[str, Path], keys: Mapping[str, Any], *, seconds: int = 60) -> Scenario:
    """One flow of the time's stack over paths; 10 s are left out."""
    more: dict[str, Any] = {**LINUX_2013, "rcvbuf": "4MB", "sndbuf": "4MB", **keys}
    return Scenario(
        defaults=AS_STUDIED,
        jitter=NO_JITTER,
        name=name,
        duration=f"{seconds}s",
        warmup="10s",
        sample="1s",
        paths=paths,
        flows={"bulk": more},
    )


def acks(measured: Measured, link: str, bound: Bound, *key: str | float, data: str = "forward") -> Check:
    """Frames back for each frame of data, on a link that one flow has for itself."""

    def value(run: Run) -> float:
        frames = {row["direction"]: row["sent_frames"] for row in run.link_rows if row["link"] == link}
        back = next(name for name in frames if name != data)
        return frames[back] / frames[data]

    return Check("acknowledgements for each segment", measured.interval(value, *key), bound)


def preferred(measured: Measured, path: str, bound: Bound, *key: str | float, of: str | None = None) -> Check:
    """The share of one path in what a flow put on all of its paths."""

    def value(run: Run) -> float:
        sent = {row["path"]: row["bytes_sent"] for row in run.flow(of)["paths"]}
        return sent.get(path, 0) / max(1, sum(sent.values()))

    return Check("share of the path of lowest RTT", measured.interval(value, *key), bound)


def longest_queue(
    measured: Measured, link: str, packets: int, bound: Bound, *key: str | float, direction: str = "forward"
) -> Check:
    """The most that waited in a link's queue, over its limit in packets of full frames."""

    def value(run: Run) -> float:
        rows = (row for row in run.link_rows if (row["link"], row["direction"]) == (link, direction))
        return next(rows)["longest_queue"] / formulas.FRAME / packets

    return Check(f"longest queue over {packets} packets", measured.interval(value, *key), bound)


def repeated(measured: Measured, bound: Bound, *key: str | float) -> Check:
    """What M1 sent again of all flows, in every run, kB."""

    def value(run: Run) -> float:
        return sum(row["opportunistic"] for row in run.flow_rows) / 1e3

    return every("M1 sent again", measured.values(value, *key), bound, "kB")


def penalised(measured: Measured, bound: Bound, *key: str | float) -> Check:
    """How often M2 halved a window, in every run."""

    def value(run: Run) -> float:
        return float(sum(row["penalties"] for row in run.flow_rows))

    return every("windows that M2 halved", measured.values(value, *key), bound, "times")


# A cell in which all stations always have something to send.

SATURATED = "saturated"


def saturated(stations: int, cell: Mapping[str, Any]) -> Scenario:
    """802.11g at 54 Mb/s; a UDP flow from each station."""
    keys: dict[str, Any] = {"standard": "802.11g", "channel": 1, "slot": "short", **cell}
    hosts = [f"station{at}" for at in range(1, stations + 1)]
    return Scenario(
        defaults=AS_STUDIED,
        jitter=NO_JITTER,
        name=f"{stations} saturated stations",
        duration="10s",
        warmup="1s",
        sample="1s",
        interference="ideal",
        cells={"ap": Cell(**keys)},
        stations={f"air-{host}": Station(host=host, cell="ap", rate="54Mbit", distance="3m") for host in hosts},
        links={"lan": {"ends": ["ap", "server"], "rate": "1Gbit", "delay": "100us"}},
        flows={host: Flow(transport="udp", direction="upload", more={"from": host}) for host in hosts},
    )


def saturated_rate(measured: Measured, stations: int, bound: Bound, **cell: bool) -> Check:
    """Packets a second over Bianchi's."""
    expected, _ = formulas.saturated_cell(stations, **cell)

    def value(run: Run) -> float:
        return float(sum(row["sent_frames"] for row in _air(run))) / run.scenario.duration

    found = over(measured.interval(value, SATURATED, stations), expected)
    return Check(f"{stations} station{'s' * (stations > 1)} over Bianchi", found, bound)


def collisions(measured: Measured, stations: int, bound: Bound, **cell: bool) -> Check:
    """The share of transmissions that collide, less Bianchi's."""
    _, expected = formulas.saturated_cell(stations, **cell)

    def value(run: Run) -> float:
        again: int = sum(row["mac_retries"] + row["mac_drops"] for row in _air(run))
        return again / max(1, again + sum(row["sent_frames"] for row in _air(run))) - expected

    words = f"{stations} stations, collisions less Bianchi's {expected:.3f}"
    return Check(words, measured.interval(value, SATURATED, stations), bound, "of all transmissions")


def _air(run: Run) -> list[LinkRow]:
    return [row for row in run.link_rows if row["link"].startswith("air-") and row["direction"] == "forward"]
