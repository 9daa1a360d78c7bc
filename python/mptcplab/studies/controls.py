"""Controls: claims on the network of a study that do not come from its publication.

A control checks the simulator against an RFC, a formula or a scenario value. Its bound was not calibrated on results.
Controls are needed because many published claims depend little on the protocol. Owns their runs, judgement and figures,
and measurements that several studies share, for example of M1 (opportunistic retransmission) and M2 (penalisation).
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

LAW = "1.31 / sqrt(2 p) segments per RTT (Ott, Kemperman and Mathis 1996, one acknowledgement per two segments)"
GOAL_1 = "RFC 6356 goal 1, within the fourth root of two"
GOAL_2 = "RFC 6356 goal 2, within the fourth root of two"
MECHANISM = "the mechanism's rule (NSDI 2012, section 4.2)"

LEAST, MOST = 0.84, 1.19
"""The rate is proportional to the root of LIA's alpha (fixed loss: window = sqrt(2 alpha / p)). The bound excludes half
and twice alpha: the fourth roots of 1/2 and of 2.
"""
LAW_LEAST, LAW_MOST = 0.85, 1.17
"""The bound excludes a window that keeps 70% at a loss (CUBIC's factor). Such a window is 1.37 times that of Reno, and
the root of 1.37 is 1.17.
"""
ACKS_LEAST, ACKS_MOST = 0.49, 0.6
"""Acknowledgements per data segment: RFC 5681 section 4.2 requires one for every second segment, and an immediate one
after a loss.
"""
FIRST = 0.95
"""Minimum share of an application-limited flow on the preferred path; retransmissions may use another."""
QUEUE_LEAST, QUEUE_MOST = 0.95, 1.05
"""The longest queue relative to the limit: a full window of Reno fills a drop-tail queue."""
BIANCHI_LEAST, BIANCHI_MOST = 0.95, 1.05
"""With unlimited retries, saturated cells follow the model within 2% (ns-3's tables); these cells have seven."""
COLLIDES = 0.03
"""The maximum difference between the measured and the modelled collision probability."""

EVEN = 0.005
"""The loss rate for the square-root law: windows of 13 segments, where timeouts are rare."""

ONE, TWO = "one", "two"
LINKED, ALONE, GREEDY = "lia", "tcp", "greedy"
Claims = Iterator["Claim"]


@dataclass(frozen=True)
class Claim:
    """A claim that an RFC, a formula or a scenario value decides."""

    fact: str
    statement: str
    theory: str
    checks: Sequence[Check]
    reason: str = ""


class Controls(Experiment):
    """The controls of one study."""

    @abstractmethod
    def scenarios(self, effort: Effort) -> Mapping[Key, Scenario]:
        """The scenarios of the controls, by key."""

    @abstractmethod
    def claims(self, measured: Measured) -> Claims:
        """The claims, judged on the runs."""

    def points(self, effort: Effort) -> Iterator[Point]:
        """Each scenario with several seeds."""
        for key, scenario in self.scenarios(effort).items():
            for seed in self.seeds(effort):
                yield Point(key, scenario, seed)

    def seeds(self, effort: Effort) -> range:
        """The seeds of each point."""
        return effort.seeds(2, 5, 10)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """All claims, with one figure."""
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
    """Each checked ratio between 0.2 and 5, with its interval and bound."""
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
    figure_style.finish(axes, x="measured value / theory, or a share", y="", legend=None)
    # The first claim is the top row.
    axes.set_ylim(len(rows) - 0.4, -0.6)
    caption = (
        "Controls: measured values with 95% intervals over the seeds. The theory allows values in the shaded ranges."
    )
    return Picture(f"{name.lower()}-controls", caption, figure)


def _is_ratio(check: Check) -> bool:
    return not check.unit and 0.2 < check.found.mean < 5


def over(found: Interval, value: float) -> Interval:
    """An interval relative to a value."""
    return Interval(found.mean / value, found.low / value, found.high / value, found.n)


# Two paths limited by random loss instead of the link rate.


@dataclass(frozen=True)
class LossLimited:
    """Two paths of given RTTs whose link rates exceed the loss-limited rate."""

    rtts: tuple[float, float]
    """RTT in ms."""
    losses: tuple[float, float]
    """Loss rate of data segments."""

    def path(self, at: int) -> Path:
        """One of the paths."""
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
        """LIA on both paths and TCP on the first, where doubling alpha raises the rate by the square root of two.

        The second path has a lower loss rate, by the power 1.5 of the RTTs. RFC 6356 bounds each path's increase by
        that of TCP; at these loss rates, the bound does not hide the effect of alpha.
        """
        apart = replace(self, losses=(loss, loss * (self.rtts[0] / self.rtts[1]) ** 1.5))
        both = {ONE: apart.path(0), TWO: apart.path(1)}
        lia = {"transport": "mptcp", "congestion": "lia"}
        return {
            (GREEDY, ALONE): flow(f"TCP, {loss:.1%}", {ONE: both[ONE]}, {"transport": "tcp"}, seconds=180),
            (GREEDY, LINKED): flow(f"LIA, {loss:.1%}", both, lia, seconds=180),
        }

    def no_more(self, measured: Measured, bound: Bound) -> Check:
        """LIA's total relative to TCP on its best path, in the runs of `greedy`."""
        return Check(
            "LIA / TCP on the best path", measured.ratio(_goodput, (GREEDY, LINKED), _goodput, (GREEDY, ALONE)), bound
        )

    def law(self, measured: Measured, bound: Bound) -> list[Check]:
        """TCP's rate relative to the square-root law, with one acknowledgement per two segments, at both RTTs."""
        checks = []
        for name, rtt in zip(("law, short", "law, long"), self.rtts, strict=True):
            expected = formulas.random_loss_law(EVEN, rtt / 1e3, acked=2)
            found = over(measured.interval(_goodput, name), expected)
            checks.append(Check(f"TCP / law, {rtt:g} ms, {EVEN:.1%} loss", found, bound))
        return checks

    def total(self, measured: Measured, bound: Bound) -> Check:
        """LIA's total relative to TCP on its best path."""
        best = max((ONE, TWO), key=lambda name: measured.mean(_goodput, ALONE, name))
        found = measured.ratio(_goodput, (LINKED,), _goodput, (ALONE, best))
        return Check("LIA / TCP on the best path", found, bound)


def _goodput(run: Run) -> float:
    return run.flow()["goodput"]


def flow(name: str, paths: Mapping[str, Path], keys: Mapping[str, Any], *, seconds: int = 60) -> Scenario:
    """One flow over paths, with the stack of the publication's time; excludes the first 10 s."""
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
    """Frames on the reverse path per data frame, on a link with one flow."""

    def value(run: Run) -> float:
        frames = {row["direction"]: row["sent_frames"] for row in run.link_rows if row["link"] == link}
        back = next(name for name in frames if name != data)
        return frames[back] / frames[data]

    return Check("acknowledgements per segment", measured.interval(value, *key), bound)


def preferred(measured: Measured, path: str, bound: Bound, *key: str | float, of: str | None = None) -> Check:
    """The share of one path in the data of a flow."""

    def value(run: Run) -> float:
        sent = {row["path"]: row["bytes_sent"] for row in run.flow(of)["paths"]}
        return sent.get(path, 0) / max(1, sum(sent.values()))

    return Check("share of the path with the lowest RTT", measured.interval(value, *key), bound)


def longest_queue(
    measured: Measured, link: str, packets: int, bound: Bound, *key: str | float, direction: str = "forward"
) -> Check:
    """The longest queue of a link relative to its limit in packets of full frames."""

    def value(run: Run) -> float:
        rows = (row for row in run.link_rows if (row["link"], row["direction"]) == (link, direction))
        return next(rows)["longest_queue"] / formulas.FRAME / packets

    return Check(f"longest queue / limit of {packets} packets", measured.interval(value, *key), bound)


def repeated(measured: Measured, bound: Bound, *key: str | float) -> Check:
    """Data that opportunistic retransmission (M1) sent, for all flows in every run, kB."""

    def value(run: Run) -> float:
        return sum(row["opportunistic"] for row in run.flow_rows) / 1e3

    return every("data sent by opportunistic retransmission (M1)", measured.values(value, *key), bound, "kB")


def penalised(measured: Measured, bound: Bound, *key: str | float) -> Check:
    """The number of windows that penalisation (M2) halved, in every run."""

    def value(run: Run) -> float:
        return float(sum(row["penalties"] for row in run.flow_rows))

    return every("windows halved by penalisation (M2)", measured.values(value, *key), bound, "times")


# A cell of saturated stations.

SATURATED = "saturated"


def saturated(stations: int, cell: Mapping[str, Any]) -> Scenario:
    """802.11g at 54 Mb/s, with a UDP flow from each station."""
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
    """Packets per second relative to Bianchi's model."""
    expected, _ = formulas.saturated_cell(stations, **cell)

    def value(run: Run) -> float:
        return float(sum(row["sent_frames"] for row in _air(run))) / run.scenario.duration

    found = over(measured.interval(value, SATURATED, stations), expected)
    return Check(f"{stations} station{'s' * (stations > 1)}, rate / Bianchi's model", found, bound)


def collisions(measured: Measured, stations: int, bound: Bound, **cell: bool) -> Check:
    """The collision probability minus that of Bianchi's model."""
    _, expected = formulas.saturated_cell(stations, **cell)

    def value(run: Run) -> float:
        again: int = sum(row["mac_retries"] + row["mac_drops"] for row in _air(run))
        return again / max(1, again + sum(row["sent_frames"] for row in _air(run))) - expected

    words = f"{stations} stations, collision probability minus Bianchi's {expected:.3f}"
    return Check(words, measured.interval(value, SATURATED, stations), bound, "of all transmissions")


def _air(run: Run) -> list[LinkRow]:
    return [row for row in run.link_rows if row["link"].startswith("air-") and row["direction"] == "forward"]
