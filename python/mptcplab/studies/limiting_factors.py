"""Limiting factors of the multipath flows of a study's figure: shares of time along its x axis, and sentences.

A limiting factor is the reason why a flow does not send faster, such as the receive window or random loss. Owns the
means over flows and seeds, and the sentences. Each run measures the shares (`limit_*` of docs/results.md). A flow
without shares gets no sentence. `limiting_factor_panels` draws the shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from mptcplab.results.text.summary import LIMITS

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results.run import Run
    from mptcplab.studies.base import Key, Measured

Value = TypeVar("Value", float, str)

GROWN = 0.1
"""A share that grew by less than this does not explain a fall."""
BEND = 0.1
"""A fall by less than this, relative to the highest rate, gets no explanation."""
MOST_PARTS = 4
"""Maximum number of ranges that a sentence lists; beyond that, it gives the range of each share."""


@dataclass(frozen=True)
class Curve:
    """A curve of a figure: the limiting factors at each value of its axis."""

    label: str
    """The label of the curve; empty for the only one."""
    values: tuple[str, ...]
    """Values as text, such as "90 KB"."""
    places: tuple[float, ...]
    """Their positions on the x axis."""
    shares: tuple[Mapping[str, float], ...]
    """At each value: mean share by cause over flows and seeds; the shares add up to 1."""
    rates: tuple[float, ...]
    """Goodput in Mb/s, mean over the same flows."""
    ordered: bool = True
    """Whether the axis is ordered, so that "up to" and "from" make sense."""

    @property
    def most(self) -> tuple[str, ...]:
        """The largest cause at each value."""
        return tuple(max(shares, key=lambda name: shares[name]) for shares in self.shares)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Causes with a share of at least 1% somewhere, in the order of the docs."""
        return tuple(name for name in LIMITS if any(shares.get(name, 0.0) >= 0.01 for shares in self.shares))


def multipath(runs: Iterable[Run], flow: str | None = None) -> list[FlowRow]:
    """The rows of MPTCP flows with measured limiting factors; only of `flow`, if it is given."""
    rows = (row for run in runs for row in run.flow_rows if flow in (None, row["flow"]))
    return [row for row in rows if row["multipath"] and sum(row["limits"].values()) > 0]


def of_flows(
    label: str,
    rows: Mapping[Value, Sequence[FlowRow]],
    *,
    say: Callable[[float], str] | str = "",
    places: Sequence[float] | None = None,
    ordered: bool = True,
) -> Curve | None:
    """A curve of flows by value; None if a value has no measurement.

    `say` turns a value into text, or is its unit. `places` defaults to the values.
    """
    if not rows or not all(rows.values()):
        return None

    def words(value: Value) -> str:
        if isinstance(value, str):
            return value
        return f"{value:g} {say}".rstrip() if isinstance(say, str) else say(value)

    return Curve(
        label,
        tuple(words(value) for value in rows),
        tuple(float(value) for value in rows) if places is None else tuple(places),
        tuple(mean(found) for found in rows.values()),
        tuple(fmean(row["goodput"] for row in found) / 1e6 for found in rows.values()),
        ordered,
    )


def of_keys(  # noqa: PLR0913, RUF100 - the same as `of_flows`, by key
    measured: Measured,
    label: str,
    keys: Mapping[float, Key],
    *,
    say: Callable[[float], str] | str = "",
    places: Sequence[float] | None = None,
    flow: str | None = None,
) -> Curve | None:
    """A curve of the runs of these keys, over all seeds."""
    rows = {value: multipath(measured.runs(*key), flow) for value, key in keys.items()}
    return of_flows(label, rows, say=say, places=places)


def mean(rows: Sequence[FlowRow]) -> dict[str, float]:
    """Shares by cause, means over flows."""
    names = dict.fromkeys(name for row in rows for name in row["limits"])
    return {name: fmean(row["limits"].get(name, 0.0) for row in rows) for name in names}


def sentences(curves: Iterable[Curve | None]) -> tuple[str, ...]:
    """The limiting factors of each curve, and the reason for its fall; equal curves share a sentence."""
    known = [one for one in curves if one is not None]
    together: dict[tuple[object, ...], list[Curve]] = {}
    for one in known:
        alike = (one.values, one.most) if len(_parts(one)) <= MOST_PARTS else (one.label,)
        together.setdefault(alike, []).append(one)
    found = []
    for some in together.values():
        labels = [one.label for one in some if one.label]
        everywhere = len(some) == len(known) and len(known) > 2
        found.append(_sentence("" if everywhere else "; ".join(labels), _where(some)))
        found += [words for one in some if (words := _fall(one))]
    return tuple(found)


def whole(flows: Mapping[str, Sequence[FlowRow]]) -> tuple[str, ...]:
    """The limiting factors over the whole time, for figures over time or of distributions.

    The flows are given by curve label; the label may be empty.
    """
    together: dict[str, list[str]] = {}
    for label, rows in flows.items():
        if rows:
            shares = sorted(((share, name) for name, share in mean(rows).items() if share >= 0.05), reverse=True)
            message = ", ".join(f"{LIMITS.get(name, name)} {_percent(share)}" for share, name in shares)
            together.setdefault(message, []).append(label)
    return tuple(
        _sentence(
            "" if len(labels) == len(flows) and len(labels) > 2 else "; ".join(label for label in labels if label),
            f"over its whole duration, the flow was limited by {message} of the time",
        )
        for message, labels in together.items()
    )


def _sentence(who: str, message: str) -> str:
    return f"{who}: {message}." if who else f"{message[0].upper()}{message[1:]}."


def _parts(one: Curve) -> list[tuple[str, int, int]]:
    """Ranges of values with the same largest cause: the cause, the first and the last value."""
    found = []
    for name, group in groupby(range(len(one.values)), key=lambda at: one.most[at]):
        where = list(group)
        found.append((name, where[0], where[-1]))
    return found


def _where(some: Sequence[Curve]) -> str:
    """The largest cause of each range, with its shares."""
    one = some[0]
    parts = _parts(one)
    last = len(one.values) - 1
    where: list[tuple[str, str, Sequence[int]]] = []
    if len(parts) > MOST_PARTS and one.ordered:
        where = [(name, "alternately", range(last + 1)) for name in one.reasons]
    elif len(parts) > 1 and not one.ordered:
        for name in dict.fromkeys(one.most):
            found = [at for at, most in enumerate(one.most) if most == name]
            where.append((name, f"with {_listed([one.values[at] for at in found])}", found))
    else:
        for name, start, end in parts:
            where.append((name, _span_of(one, start, end), range(start, end + 1)))
    words = []
    for at, (name, there, places) in enumerate(where):
        values = [each.shares[place].get(name, 0.0) for each in some for place in places]
        share = _span(min(values), max(values))
        verb = "" if at else " limited the flow"
        words.append(f"{LIMITS.get(name, name)}{verb} {there} ({share}{'' if at else ' of the time'})")
    return ", ".join(words)


def _span_of(one: Curve, start: int, end: int) -> str:
    last = len(one.values) - 1
    if start == end:
        return f"at {one.values[start]}"
    if start == 0:
        return "throughout" if end == last else f"up to {one.values[end]}"
    return f"from {one.values[start]} on" if end == last else f"from {one.values[start]} to {one.values[end]}"


def _fall(one: Curve) -> str | None:
    """The largest fall of the goodput along the axis, and the cause whose share grew most over it."""
    if not one.ordered or len(one.values) < 2:
        return None
    pairs = [(first, last) for last in range(len(one.values)) for first in range(last)]
    first, last = max(pairs, key=lambda pair: one.rates[pair[0]] - one.rates[pair[1]])
    if one.rates[first] - one.rates[last] < BEND * max(one.rates):
        return None
    # A flat part before the fall does not belong to it.
    while first + 1 < last and one.rates[first + 1] > one.rates[first] * 0.99:
        first += 1
    before, after = one.shares[first], one.shares[last]
    name = max(after, key=lambda reason: after[reason] - before.get(reason, 0.0))
    if after[name] - before.get(name, 0.0) < GROWN:
        return None
    who = f"{one.label}: goodput" if one.label else "Goodput"
    return (
        f"{who} falls from {one.rates[first]:.1f} Mb/s at {one.values[first]} to {one.rates[last]:.1f} Mb/s at "
        f"{one.values[last]}, and the share of time limited by {LIMITS.get(name, name)} grows from "
        f"{100 * before.get(name, 0.0):.0f} to {_percent(after[name])}."
    )


def _span(low: float, high: float) -> str:
    return _percent(high) if round(100 * low) == round(100 * high) else f"{100 * low:.0f} to {_percent(high)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
