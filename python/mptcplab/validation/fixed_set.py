"""The fixed scenarios for comparing the simulator with the kernel.

Development of the simulator used this set, so only `generated_set` tests predictions. A jitter of 1 ms without
reordering makes seeds differ, so that results do not depend on one phase of queues and windows. Owns the list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.scenario.definition import Scenario

Link = Mapping[str, Any]

DURATION, WARMUP = "32s", "2s"
"""With only 10 s after the warm-up, repeated kernel runs agreed within 10% for just 49 of 55 flows."""

WIFI: Link = {"rate": "8Mbit", "rtt": "20ms", "queue": "53p", "jitter": "1ms"}
MOBILE: Link = {"rate": "2Mbit", "rtt": "150ms", "queue": "100p", "jitter": "1ms"}
C = {"wifi": WIFI, "mobile": MOBILE}
"""A path like WiFi and one like 3G."""
EVEN = {
    "left": {"rate": "5Mbit", "rtt": "30ms", "queue": "50p", "jitter": "1ms"},
    "right": {"rate": "5Mbit", "rtt": "40ms", "queue": "50p", "jitter": "1ms"},
}
THREE = {
    "one": {"rate": "6Mbit", "rtt": "20ms", "queue": "50p", "jitter": "1ms"},
    "two": {"rate": "4Mbit", "rtt": "50ms", "queue": "50p", "jitter": "1ms"},
    "three": {"rate": "2Mbit", "rtt": "100ms", "queue": "50p", "jitter": "1ms"},
}
ASYMMETRIC = {
    "dsl": {
        "rtt": "40ms",
        "jitter": "1ms",
        "forward": {"rate": "8Mbit", "queue": "60p"},
        "backward": {"rate": "500kbit", "queue": "60p"},
    },
    "sat": {
        "rtt": "300ms",
        "jitter": "1ms",
        "forward": {"rate": "6Mbit", "queue": "200p"},
        "backward": {"rate": "500kbit", "queue": "60p"},
    },
}


@dataclass(frozen=True)
class Cell:
    """A scenario of a set; prediction files call it a cell."""

    name: str
    scenario: Scenario
    blind: bool = False
    """Whether the simulator's results were written before the kernel ran the scenario."""


def cells() -> list[Cell]:
    """All fixed scenarios, with plain TCP and MPTCP."""
    multipath = [
        *(_cell(f"C {kind} rcvbuf {size}", C, congestion=kind, rcvbuf=size) for kind, size in _sweep()),
        *(
            _cell(f"C {kind} rmem {size}", C, congestion=kind, rcvbuf=size, autotuning=True)
            for kind in ("reno", "cubic")
            for size in ("100KB", "400KB", "1000KB", "6MB")
        ),
        *(
            _cell(f"even {kind} sndbuf {size}", EVEN, congestion=kind, sndbuf=size)
            for size in ("50KB", "100KB", "200KB", "500KB", "1MB")
            for kind in ("reno", "cubic")
        ),
        *(
            _cell(f"grid {kind} {loss} {rtt}", _grid(loss, rtt), congestion=kind)
            for loss in ("0.1%", "1%", "3%")
            for rtt in ("20ms", "60ms", "150ms")
            for kind in ("reno", "cubic")
        ),
        *(
            _cell(f"three {kind} rcvbuf {size}", THREE, congestion=kind, rcvbuf=size)
            for size in ("200KB", "1000KB")
            for kind in ("reno", "cubic")
        ),
        *(_cell(f"asymmetric {kind}", ASYMMETRIC, congestion=kind, rcvbuf="1000KB") for kind in ("reno", "cubic")),
        *(_shared(kind, buffer) for kind in ("reno", "cubic") for buffer in ("50p", "150p")),
        *(
            _cell(f"handoff {way} {kind}", EVEN, events, congestion=kind, rcvbuf="500KB", sndbuf="500KB")
            for way, events in _handoffs()
            for kind in ("reno", "cubic")
        ),
        *(_wifi(kind) for kind in ("reno", "cubic")),
    ]
    alone = [
        _cell(f"tcp {kind} {path}", C, transport="tcp", congestion=kind, paths=[path])
        for kind in ("reno", "cubic")
        for path in C
    ]
    return alone + multipath


def _sweep() -> list[tuple[str, str]]:
    sizes = ("50KB", "100KB", "150KB", "200KB", "300KB", "400KB", "600KB", "1000KB")
    return [(kind, size) for size in sizes for kind in ("reno", "cubic")]


def _grid(loss: str, rtt: str) -> dict[str, Link]:
    """Two paths with the same delay, one of them with loss."""
    return {
        "lossy": {"rate": "8Mbit", "rtt": rtt, "queue": "60p", "jitter": "1ms", "loss": loss},
        "clean": {"rate": "4Mbit", "rtt": rtt, "queue": "60p", "jitter": "1ms"},
    }


def _handoffs() -> list[tuple[str, list[dict[str, Any]]]]:
    def at(time: str, how: str, values: dict[str, Any]) -> dict[str, Any]:
        return {"at": time, "path": "left", "set": values} | ({"how": how} if how else {})

    gone, back = {"up": False}, {"up": True}
    return [
        ("admin", [at("5s", "admin", gone)]),
        ("silent", [at("5s", "blackhole", gone)]),
        ("silent and back", [at("5s", "blackhole", gone), at("8s", "blackhole", back)]),
        ("thin", [at("5s", "", {"rate": "200kbit"})]),
    ]


def _shared(kind: str, queue: str) -> Cell:
    """A cell in which both paths share one link with a TCP flow."""
    links = {
        "a": {"ends": ["client", "router"], "rate": "50Mbit", "delay": "5ms", "jitter": "1ms"},
        "b": {"ends": ["client", "router"], "rate": "50Mbit", "delay": "5ms", "jitter": "1ms"},
        "other": {"ends": ["third", "router"], "rate": "50Mbit", "delay": "5ms", "jitter": "1ms"},
        "common": {"ends": ["router", "server"], "rate": "10Mbit", "delay": "15ms", "queue": queue},
    }
    tcp = {"stack": "linux", "transport": "tcp", "congestion": kind, "from": "third"}
    flows = {"bulk": _flow(congestion=kind, rcvbuf="1000KB", sndbuf="500KB"), "beside": tcp}
    return Cell(f"shared {kind} {queue}", _scenario(f"shared {kind} {queue}", links=links, flows=flows))


def _wifi(kind: str) -> Cell:
    """A cell with an 802.11 station and a mobile path."""
    name = f"802.11 {kind}"
    links = {
        "wire": {"ends": ["ap", "server"], "rate": "100Mbit", "delay": "10ms"},
        "mobile": {"ends": ["client", "server"], "rate": "4Mbit", "delay": "30ms", "queue": "100p"},
    }
    more = {
        "cells": {"ap": {"standard": "802.11g", "channel": 1}},
        "stations": {"wifi": {"host": "client", "cell": "ap", "rate": "12Mbit"}},
    }
    flows = {"bulk": _flow(congestion=kind, rcvbuf="1000KB")}
    return Cell(name, _scenario(name, links=links, flows=flows, **more))


def _flow(**flow: Any) -> dict[str, Any]:
    return {"stack": "linux", "transport": "mptcp"} | flow


def _scenario(name: str, **tables: Any) -> Scenario:
    return Scenario(**{"name": name, "duration": DURATION, "warmup": WARMUP, "sample": "100ms"} | tables)


def _cell(name: str, links: Mapping[str, Link], events: Sequence[dict[str, Any]] = (), **flow: Any) -> Cell:
    tables: dict[str, Any] = {"paths": dict(links), "flows": {"bulk": _flow(**flow)}}
    if events:
        # All events are in the first 8 s, so a shorter run suffices.
        tables |= {"events": list(events), "duration": "12s"}
    return Cell(name, _scenario(name, **tables))
