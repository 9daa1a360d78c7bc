"""The messages between the page and the server, as JSON text: `docs/page.md` lists them.

Owns their syntax and the range of each value. Everything that the page sends is checked here, before any of it has an
effect. Never sends a message, and never changes a link.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Never

from mptcplab.util.user_input import BadResult, choose, shown

HOWS = ("admin", "blackhole")
"""Ways in which a link goes down: both hosts are notified, or none is."""
KINDS = ("link", "addPath", "addFlow", "addMiddlebox", "switch", "policy", "stopFlow")
"""All actions of the page; only the first is possible on live connections."""
QUANTITIES = {
    "rate": ("bit/s", 1.0, 1e12),
    "delay": ("s", 0.0, 3600.0),
    "loss": ("", 0.0, 1.0),
    "queueFrames": ("", 1.0, 1e6),
}
"""Changeable numbers of a link: unit, minimum and maximum."""
MAX_ID = 2**53 - 1
"""The largest integer that JavaScript represents exactly."""


class Refused(Exception):
    """A message or an action that is not executed; the text says why."""

    def __init__(self, message: str, request: int | None = None) -> None:
        """`request` is the `id` of the message, if it has a valid one."""
        super().__init__(message)
        self.request = request


@dataclass(frozen=True)
class LinkChange:
    """A change of both directions of a link."""

    link: str
    numbers: Mapping[str, float]
    """New values, by their key in `QUANTITIES`."""
    up: bool | None
    how: str
    """One of `HOWS`."""


@dataclass(frozen=True)
class Act:
    """A request of the page to execute an action."""

    request: int
    """Its `id`, which the answer repeats."""
    change: LinkChange


def read(text: str, links: Iterable[str]) -> Act:
    """Parses a message; raises `Refused`. `links` are the names of the shown links."""
    message = _object(_parsed(text), "message")
    request = message.get("id")
    if type(request) is not int or not 0 <= request <= MAX_ID:
        raise Refused(f"id = {_value(request)}: must be an integer between 0 and {MAX_ID}")
    try:
        _chosen(message.get("type"), ["act"], "type")
        _keys(message, ("type", "id", "action"), "message")
        return Act(request, _action(_object(message.get("action"), "action"), list(links)))
    except Refused as error:
        raise Refused(str(error), request) from error


def _parsed(text: str) -> Any:
    def constant(name: str) -> Never:
        raise Refused(f"invalid JSON: {name} is not a number of JSON")

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(found)
        if len(table) != len(found):
            raise Refused("invalid JSON: an object repeats a key")
        return table

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except RecursionError:
        raise Refused("invalid JSON: nested too deeply") from None
    except ValueError as error:
        raise Refused(f"invalid JSON: {str(error)[:200]}") from None


def _action(action: Mapping[str, Any], links: list[str]) -> LinkChange:
    kind = _chosen(action.get("kind"), KINDS, "action.kind")
    if kind != "link":
        raise Refused(f"action.kind = {kind!r}: live connections accept only changes of links (kind = 'link')")
    if action.get("direction") is not None:
        raise Refused("action.direction: a live link changes in both directions; omit direction")
    _keys(action, ("kind", "link", "set", "how", "direction"), "action")
    link = _chosen(action.get("link"), links, "action.link")
    how = _chosen(action.get("how", "admin"), HOWS, "action.how")
    wanted = _object(action.get("set"), "action.set")
    if "distance" in wanted:
        raise Refused("action.set.distance: the distance of a station is fixed on live connections")
    _keys(wanted, ("up", *QUANTITIES), "action.set")
    if not wanted:
        raise Refused(f"action.set is empty; give one of: up, {', '.join(QUANTITIES)}")
    up = wanted.get("up")
    if "up" in wanted and type(up) is not bool:
        raise Refused(f"action.set.up = {_value(up)}: must be true or false")
    numbers = {key: _number(wanted[key], key) for key in QUANTITIES if key in wanted}
    return LinkChange(link, numbers, up, how)


def _number(value: object, key: str) -> float:
    unit, least, most = QUANTITIES[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise Refused(
            f"action.set.{key} = {_value(value)}: must be a number between {least:g} and {most:g}{unit and f' {unit}'}"
        )
    if key == "queueFrames" and value != int(value):
        raise Refused(f"action.set.{key} = {_value(value)}: must be an integer")
    return float(value)


def _object(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused(f"{place} = {_value(value)}: must be an object")
    return value


def _keys(table: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in table:
        _chosen(key, known, f"key of {place}")


def _chosen(value: object, known: Iterable[str], what: str) -> str:
    if not isinstance(value, str):
        raise Refused(f"{what} = {_value(value)}: must be a text")
    # The nearest name is searched only for short texts, because the search takes quadratic time.
    if len(value) > 100:
        raise Refused(f"{what} = {shown(value)}: unknown")
    try:
        return choose(value, known, what)
    except BadResult as error:
        raise Refused(str(error)) from error


def _value(value: object) -> str:
    """A value of a message as JSON, shortened."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def written(message: Mapping[str, Any]) -> str:
    """A message as JSON text; NaN and infinity become null."""
    return json.dumps(_finite(message), allow_nan=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


def refused(error: Refused) -> dict[str, Any]:
    """The answer to a message that is not executed."""
    problem = {"message": str(error), "line": None, "column": None}
    return {"type": "refused", "id": error.request, "problem": problem}
