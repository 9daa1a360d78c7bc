"""Fits a scenario to a capture: simulates what the capture suggests, and corrects what it cannot show.

Owns the search and the text of the scenario file with its error. `fitted_plan` has the estimates.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

from mptcplab.doctor.fitted_plan import FASTEST, LONGEST, MOST_PACKETS, Plan, plan
from mptcplab.doctor.words import shown
from mptcplab.scenario.definition import Scenario, to_toml
from mptcplab.util.user_input import BadResult

ROUNDS = 6
"""Corrections at most."""
GOOD = 0.03
"""Error of the goodput at which the search ends."""
_CHOICES = (("linux", "cubic"), ("mptcplab", "cubic"), ("mptcplab", "lia"))
"""Stacks and controllers that are tried; a capture does not name them."""


@dataclass(frozen=True)
class Fitted:
    """A plan with the result of its simulation."""

    plan: Plan
    goodput: float
    """Simulated goodput in bit/s."""
    rates: tuple[float, ...]
    """Simulated payload rates of the paths in bit/s."""

    @property
    def error(self) -> float:
        """Simulated goodput relative to the capture's, minus one."""
        return self.goodput / max(self.plan.goodput, 1.0) - 1

    @property
    def distance(self) -> float:
        """How far the simulation is from the capture: the goodput counts, and shares of the paths decide ties."""
        total = max(sum(link.goodput for link in self.plan.links), 1.0)
        simulated = max(sum(self.rates), 1.0)
        shares = sum(
            abs(link.goodput / total - rate / simulated) for link, rate in zip(self.plan.links, self.rates, strict=True)
        )
        return abs(math.log(max(self.goodput, 1e3) / max(self.plan.goodput, 1e3))) + shares / 4


def fit(report: dict[str, Any], number: int) -> Fitted:
    """The scenario whose simulation is closest to a connection of the report."""
    first = plan(report, number)
    if first is None:
        raise BadResult(f"connection {number + 1} carried no data, so no scenario can be fitted to it")
    total = sum(link.rate for link in first.links)
    if total > FASTEST:
        raise BadResult(
            f"connection {number + 1} has links of {total / 1e9:,.0f} Gb/s; no scenario is fitted above "
            f"{FASTEST / 1e9:.0f} Gb/s"
        )
    choices = _CHOICES if first.scheduler is None else _CHOICES[1:]
    tried = []
    for stack, congestion in choices:
        one = copy.deepcopy(first)
        one.stack, one.congestion = stack, congestion
        tried.append(_simulated(one))
    best = min(tried, key=lambda one: one.distance)
    now = best
    for _ in range(ROUNDS):
        if abs(best.error) < GOOD:
            break
        now = _simulated(_corrected(now))
        best = min(best, now, key=lambda one: one.distance)
    return best


def _simulated(one: Plan) -> Fitted:
    run = Scenario.parse(to_toml(one.document()), "the fitted scenario").run(seed=1)
    flow = run.flow("captured")
    acknowledged = {path["path"]: path["bytes_acked"] for path in flow["paths"]}
    seconds = max(one.simulated, 0.1)
    rates = tuple(acknowledged.get(link.name, 0) * 8 / seconds for link in one.links)
    return Fitted(one, float(flow["goodput"] or 0.0), rates)


def _corrected(now: Fitted) -> Plan:
    """The plan with corrections of values that the capture does not show exactly."""
    one = copy.deepcopy(now.plan)
    if one.application is not None:
        one.application *= min(2.0, max(0.5, 1 / max(1 + now.error, 0.1)))
        return one
    for link, rate in zip(one.links, now.rates, strict=True):
        ratio = min(4.0, max(0.25, rate / max(link.goodput, 1e3)))
        if link.is_backup:
            continue
        if link.police is not None:
            link.police /= ratio
        elif link.loss > 0:
            # The rate of TCP falls with the square root of the loss (Mathis et al. 1997).
            link.loss = min(0.3, link.loss * ratio**2)
        elif not link.is_measured:
            link.rate /= ratio
        elif ratio > 1:
            # Measured rates contain bursts; the mean cannot be higher than the link.
            link.rate /= min(ratio, 1.15)
    for link in one.links:
        link.rate = min(link.rate, FASTEST)
    total = min(2.0, max(0.5, 1 + now.error))
    one.rcvbuf /= total
    one.sndbuf /= total
    return one


def text(fitted: Fitted, report: dict[str, Any], number: int) -> str:
    """The scenario file, with the origin and the error of its values."""
    connection = report["connections"][number]
    one = fitted.plan
    # A line break in a name would end the comment.
    names = shown(", ".join(report["files"]))
    ends = shown(f"{connection['client']} - {connection['server']}")
    lines = [
        f"# Fitted by mptcplab doctor to {ends} in {names}.",
        f"# Goodput: {one.goodput / 1e6:.2f} Mb/s in the capture, {fitted.goodput / 1e6:.2f} Mb/s in the simulation "
        f"({fitted.error:+.0%}).",
    ]
    for link, rate in zip(one.links, fitted.rates, strict=True):
        known = "measured" if link.is_measured else "never full, so its rate is a guess"
        lines.append(
            f"# {link.name}: {link.goodput / 1e6:.2f} Mb/s of payload in the capture, {rate / 1e6:.2f} in the "
            f"simulation; link {known}"
        )
    if one.simulated < min(one.seconds, LONGEST):
        lines.append(f"# Simulated time: {one.simulated:.2f} s, as this is fast enough for {MOST_PACKETS:,} packets.")
    lines += [
        "# The directions of acknowledgements are assumed to be as fast as those of data.",
        "# Ask for the reasons: mptcplab why FILE; try a setting: mptcplab run FILE --set flows.captured.rcvbuf=4MB",
        "",
    ]
    return "\n".join(lines) + to_toml(one.document())
