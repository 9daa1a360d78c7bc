"""Describes a scenario for the page, from its resolved TOML: nodes, links and flows.

Owns the reading of that TOML. A value that has no number, such as an unlimited rate, is null.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mptcplab.util.user_input import BadResult, rate, seconds, size

if TYPE_CHECKING:
    from mptcplab._core import Scenario

DISTANCES = {"km": 1e3, "cm": 1e-2, "m": 1.0}
CLIENT, SERVER = "client", "server"
"""The ends of each path."""


def loaded(scenario: Scenario) -> dict[str, Any]:
    """`Loaded` of web/src/engine/types.ts."""
    toml = scenario.to_toml()
    return {"toml": toml, "description": description(tomllib.loads(toml), scenario)}


def description(table: Mapping[str, Any], scenario: Scenario) -> dict[str, Any]:
    """`Description` of types.ts, from the parsed TOML of a resolved scenario."""
    from mptcplab import _core

    links = [_link(name, table) for name in scenario.paths]
    flows = [_flow(name, one) for name, one in table.get("flows", {}).items()]
    cells = [{"name": name, "accessPoint": one["access_point"]} for name, one in table.get("cells", {}).items()]
    nodes = _nodes(links, flows, {cell["accessPoint"] for cell in cells}, table)
    return {
        "name": scenario.name,
        "description": scenario.description,
        "duration": scenario.duration,
        "sample": scenario.sample,
        "warmup": scenario.warmup,
        "nodes": nodes,
        "links": links,
        "flows": flows,
        "middleboxes": [_middlebox(name, one) for name, one in table.get("middleboxes", {}).items()],
        "cells": cells,
        "paths": list(scenario.paths),
        "hosts": [node["name"] for node in nodes],
        "metrics": [{"name": name, "unit": unit} for name, unit in _core.metrics()],
    }


def _link(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    one = next(table[kind][name] for kind in ("paths", "links", "stations") if name in table.get(kind, {}))
    cell = one.get("cell")
    access = table["cells"][cell]["access_point"] if cell else None
    both = [_direction({**one, **one.get(key, {})}, is_station=cell is not None) for key in ("forward", "backward")]
    return {
        "name": name,
        "kind": "station" if cell else "link",
        "ends": [one["host"], access] if cell else one.get("ends", [CLIENT, SERVER]),
        "cell": cell,
        "recorded": any("trace" in {**one, **one.get(key, {})} for key in ("forward", "backward")),
        "distance": _distance(one.get("distance")),
        "forward": both[0],
        "backward": both[1],
    }


def _direction(one: Mapping[str, Any], *, is_station: bool) -> dict[str, Any]:
    queue: object = one.get("queue")
    discipline: object = one.get("discipline") if is_station else None
    if isinstance(queue, dict):
        discipline = queue.get("kind")
        queue = queue.get("limit")
    frames, octets = queue_limit(queue)
    speed = None if is_station else rate_value(one.get("rate"))
    return {
        "rate": None if speed is None or math.isnan(speed) else speed,
        "delay": time_value(one.get("delay")),
        "loss": share_value(one.get("loss")),
        "queueFrames": frames,
        "queueBytes": octets,
        "discipline": None if discipline == "droptail" else discipline,
    }


def _flow(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    stop = one.get("stop")
    return {
        "name": name,
        "transport": one.get("transport", "mptcp"),
        "from": one["from"],
        "to": one["to"],
        "sender": one["to"] if one.get("direction") == "download" else one["from"],
        "paths": list(one.get("paths", [])),
        "scheduler": policy_name(one.get("scheduler", "")),
        "congestion": policy_name(one.get("congestion", "")),
        "start": time_value(one.get("start")),
        "stop": None if stop is None else time_value(stop),
    }


def policy_name(policy: object) -> str:
    """The name of a policy, which is a text, or a table with its parameters."""
    return str(policy.get("kind", "")) if isinstance(policy, Mapping) else str(policy)


def _middlebox(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    link = one.get("path") or one.get("link") or one.get("station") or ""
    return {"name": name, "kind": one.get("kind", ""), "link": link, "on": one.get("on", True)}


def _nodes(
    links: list[dict[str, Any]], flows: list[dict[str, Any]], access_points: set[str], table: Mapping[str, Any]
) -> list[dict[str, str]]:
    hosts = {flow[end] for flow in flows for end in ("from", "to")}
    hosts |= {one["host"] for one in table.get("stations", {}).values()}
    names = dict.fromkeys(end for link in links for end in link["ends"])
    kinds = {name: "access point" if name in access_points else "router" for name in names}
    return [{"name": name, "kind": "host" if name in hosts else kind} for name, kind in kinds.items()]


def rate_value(text: object) -> float:
    """A rate in bit/s; NaN if it is unlimited or missing."""
    try:
        return float(rate(str(text)))
    except BadResult:
        return math.nan


def time_value(text: object) -> float:
    """A time in seconds; 0 if it is missing."""
    try:
        return seconds(str(text))
    except BadResult:
        return 0.0


def share_value(text: object) -> float:
    """A percentage as a share from 0 to 1; 0 if it is missing."""
    try:
        return float(str(text).strip().removesuffix("%")) / 100
    except ValueError:
        return 0.0


def queue_limit(text: object) -> tuple[int | None, int | None]:
    """The limit of a queue in frames and in bytes; one of both at most, none if it is unlimited."""
    written = str(text)
    if written.endswith("p") and written[:-1].isdigit():
        return int(written[:-1]), None
    try:
        return None, size(written)
    except BadResult:
        return None, None


def _distance(text: object) -> float | None:
    """A distance in metres; None if it is missing."""
    written = str(text)
    for unit, scale in DISTANCES.items():
        if written.endswith(unit):
            try:
                return float(written.removesuffix(unit)) * scale
            except ValueError:
                return None
    return None
