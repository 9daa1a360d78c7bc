"""Links and settings of a connection, estimated from the report of its capture.

Owns the estimates and the scenario that they make. `fit` runs that scenario and corrects what a capture cannot show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

FRAME = 1514
"""Bytes of a full frame; a queue of packets holds frames of this size."""
HEADERS = 86
"""Bytes of a full frame that are no payload: Ethernet, IP, TCP with timestamps, and DSS."""
LONGEST = 30.0
"""Longest simulated time, in seconds. A longer capture is represented by its mean rates."""
MOST_PACKETS = 2_000_000
"""Packets that the links can carry in the simulated time, which is shorter on faster links."""
FASTEST = 100e9
"""Highest rate of all links together, in bit/s."""
_JUMP = 4.0
"""Highest rate of a link that varies, in multiples of its usual rate."""
_SILENT = 1.0
"""Shortest time in seconds without data on a subflow that becomes an event of its path."""
_FILLED = 0.9
"""Data in flight, in bandwidth-delay products, from which the rate of a step is that of the link."""
_VARIES = 0.6
"""Rate of a full link, as a share of its usual rate, below which the link varies."""

Report = dict[str, Any]


@dataclass
class Link:
    """One path: rates in bit/s of frames, times in seconds."""

    name: str
    rate: float
    rtt: float
    queue: int
    """Packets."""
    loss: float
    """Probability."""
    jitter: float
    is_measured: bool
    """Whether the link was full, so that its rate is known."""
    police: float | None = None
    """Rate of a policer."""
    burst: float = 0.0
    """Its bucket, in bytes."""
    is_backup: bool = False
    goodput: float = 0.0
    """Payload rate in the capture, in bit/s."""
    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    """Times and changes."""


@dataclass
class Plan:
    """A scenario that a capture suggests."""

    links: list[Link]
    goodput: float
    """Goodput in the capture, in bit/s."""
    seconds: float
    is_download: bool
    is_mptcp: bool
    rcvbuf: float
    """Receive window in bytes."""
    sndbuf: float
    """Data in flight at which the sender stops, in bytes."""
    application: float | None
    """Rate of an application that sends less than the paths could carry, in bit/s."""
    scheduler: str | None
    stack: str = "linux"
    congestion: str = "cubic"

    @property
    def simulated(self) -> float:
        """The simulated time in seconds."""
        rate = max(sum(link.rate for link in self.links), 1.0)
        return max(0.01, min(self.seconds, LONGEST, MOST_PACKETS * FRAME * 8 / rate))

    def document(self) -> dict[str, Any]:
        """The scenario as tables."""
        paths = {link.name: _path(link, is_download=self.is_download) for link in self.links}
        flow: dict[str, Any] = {
            "direction": "download" if self.is_download else "upload",
            "transport": "mptcp" if self.is_mptcp else "tcp",
            "paths": [link.name for link in self.links],
            "congestion": self.congestion,
            "rcvbuf": f"{self.rcvbuf:.0f}B",
            "sndbuf": f"{self.sndbuf:.0f}B",
        }
        if self.stack == "linux":
            # The capture shows windows, not the memory behind them.
            flow |= {"stack": "linux", "buffer_memory": False, "autotuning": False}
        if self.is_mptcp and (backup := [link.name for link in self.links if link.is_backup]):
            flow["backup"] = backup
        if self.scheduler is not None and self.stack != "linux":
            flow["scheduler"] = self.scheduler
        if self.application is not None:
            flow |= {"blocks": "8kB", "rate": _bits(self.application)}
        events = [
            {"at": f"{at:.2f}s", "path": link.name, "set": change} for link in self.links for at, change in link.events
        ]
        document: dict[str, Any] = {
            "name": "captured",
            "duration": f"{self.simulated:.2f}s",
            "warmup": "0s",
            "paths": paths,
            "flows": {"captured": flow},
        }
        return document | ({"events": sorted(events, key=_time)} if events else {})


def _time(event: dict[str, Any]) -> float:
    return float(str(event["at"]).removesuffix("s"))


def _bits(rate: float) -> str:
    return f"{max(rate, 1e3) / 1e3:.0f}kbit"


def _path(link: Link, *, is_download: bool) -> dict[str, Any]:
    path: dict[str, Any] = {
        "rate": _bits(link.rate),
        "rtt": f"{max(link.rtt, 1e-5) * 1e6:.0f}us",
        "queue": f"{max(link.queue, 4)}p",
    }
    if link.jitter > 0:
        path["jitter"] = f"{link.jitter * 1e6:.0f}us"
    way = "backward" if is_download else "forward"
    data: dict[str, Any] = {}
    if link.loss > 0:
        data["loss"] = f"{link.loss * 100:.4f}%"
    if link.police is not None:
        data["queue"] = {"kind": "police", "rate": _bits(link.police), "burst": f"{max(link.burst, 3028):.0f}B"}
    return path | ({way: data} if data else {})


def plan(report: Report, number: int) -> Plan | None:
    """The plan of a connection; None if it carried no data."""
    connection = report["connections"][number]
    side = 0 if connection["sender"] == "client" else 1
    data = connection["data"][side]
    verdicts = {one["name"]: one for one in connection["verdicts"]}
    used = [
        one
        for one in connection["subflows"]
        if one["data"][side]["bytes"] or (one["is_backup"] and one["handshake"] == "established")
    ]
    if not data["bytes"] or not used:
        return None
    seconds = max(data["seconds"], 0.1)
    policed = {one["subflow"] for one in connection["verdicts"] if one["name"] == "policer"}
    measured = [
        one["data"][side]["capacity"]
        for one in used
        if one["data"][side]["capacity"] and one["data"][side]["is_capacity_measured"]
    ]
    links = []
    for at, one in enumerate(used):
        index = connection["subflows"].index(one)
        link = _link(one, side, f"path{at + 1}", measured, data, index in policed)
        link.goodput = one["data"][side]["bytes"] * 8 / seconds
        links.append(link)
    is_thin = "application" in verdicts and verdicts["application"]["share"] > 0.05
    goodput = data["goodput"] * 1e6
    window, flight = data["largest_window"], data["largest_flight"]
    is_redundant = data["reinjected"] > 0.4 * data["bytes"]
    is_buffered = "send-buffer" in verdicts
    return Plan(
        links=links,
        goodput=goodput,
        seconds=seconds,
        is_download=side == 1,
        is_mptcp=connection["protocol"] == "mptcp" and len(links) > 1,
        rcvbuf=max(window, 2 * FRAME) if window else 6_291_456,
        sndbuf=max(data["mean_flight"] if is_buffered else 2 * flight, 4_194_304 * (not is_buffered), 8 * FRAME),
        application=goodput if is_thin else None,
        scheduler="redundant" if is_redundant else None,
        stack="mptcplab" if is_redundant else "linux",
    )


def _link(subflow: Report, side: int, name: str, measured: list[float], data: Report, is_policed: bool) -> Link:
    one = subflow["data"][side]
    is_measured = bool(one["is_capacity_measured"] and one["capacity"])
    capacity = one["capacity"] or 0.0
    if not is_measured:
        # A path that was never full carries at least as much as the others on average.
        capacity = max(capacity, sum(measured) / len(measured) if measured else 2 * data["goodput"], 0.1)
    payload = 1500 + 14 - HEADERS
    rate = capacity * 1e6 * FRAME / payload
    base = (one["base_rtt"] or one["median_rtt"] or subflow["handshake_rtt"] or 20.0) / 1e3
    high = (one["p95_rtt"] or 0.0) / 1e3
    product = rate * base / 8 / FRAME
    queued = max(0.0, high - base) * rate / 8 / FRAME
    overflowed = one["lost"] - one["random_losses"] > 0
    queue = queued + 2 if overflowed else max(queued * 1.5, product)
    sent = max(one["segments"] + one["retransmissions"], 1)
    loss = one["random_losses"] / sent if one["random_losses"] >= 3 else 0.0
    link = Link(name, rate, base, math.ceil(max(queue, 10)), loss, 0.0, is_measured, is_backup=subflow["is_backup"])
    if is_policed:
        seconds = max(data["seconds"], 0.1)
        link.police = max(one["bytes"] * 8 / seconds, 8e4) * FRAME / payload
        link.burst = max(one["largest_flight"] / 2, 4 * FRAME)
        link.loss = 0.0
    link.events = list(_changes(one, link))
    return link


def _changes(one: Report, link: Link) -> Iterator[tuple[float, dict[str, Any]]]:
    """Times at which the path was silent, or its rate changed."""
    series = one["series"]
    step, rates, flights = series["step"], series["rate"], series["flight"]
    dead = sum(part["seconds"] for part in one["missing"] if part["limit"] == "dead")
    if dead >= _SILENT:
        begin = None
        for at, rate in enumerate([*rates, 1.0]):
            if rate == 0 and begin is None:
                begin = at
            elif rate > 0 and begin is not None:
                if (at - begin) * step >= _SILENT and begin > 0:
                    # A timer may find the end of the silence late, by as long as the silence itself.
                    yield begin * step, {"up": False}
                    if at < len(rates):
                        yield (begin + max((at - begin) * 0.8, 1.0)) * step, {"up": True}
                begin = None
        return
    yield from _rates(step, rates, flights, link)


def _rates(step: float, rates: list[float], flights: list[int], link: Link) -> Iterator[tuple[float, dict[str, Any]]]:
    """Rates of a link that varies while it is full."""
    size = max(1, math.ceil(max(1.0, 2 * link.rtt) / step))
    usual = link.rate * (FRAME - HEADERS) / FRAME / 1e6
    product = usual * 1e6 / 8 * link.rtt
    bins = [
        (sum(rates[at : at + size]) / size, sum(flights[at : at + size]) / size) for at in range(0, len(rates), size)
    ]
    full = [(at, rate) for at, (rate, flight) in enumerate(bins[:-1]) if flight >= _FILLED * product]
    low = [rate for _, rate in full if rate < _VARIES * usual]
    if len(low) * 4 < len(full) or len(full) < 4:
        return
    before = usual
    for at, rate in full:
        if abs(rate - before) > 0.2 * before:
            now = min(max(rate, 0.05) * 1e6 * FRAME / (FRAME - HEADERS), _JUMP * link.rate)
            yield at * size * step, {"rate": _bits(now)}
            before = max(rate, 0.05)
