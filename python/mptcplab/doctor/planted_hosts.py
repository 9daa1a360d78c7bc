"""Causes in the hosts: buffers, schedulers, reinjection and applications.

Owns one function for each verdict that concerns the settings of a host. `planted_paths` has the others.
"""

from __future__ import annotations

from typing import Any

from mptcplab.doctor.planted_networks import (
    Cause,
    Line,
    Plan,
    Site,
    Summary,
    bits,
    limit,
    line,
    need,
    path_of,
    similar_trips,
    size,
)


def receive_window(site: Site) -> Cause:
    """A receive buffer far below the need of paths with similar RTTs."""
    similar_trips(site.draw, site.plan)
    # Linux counts the memory of packets, and offers about half of it as the window.
    share = site.draw.between(0.12, 0.5) * (2 if site.plan.is_linux else 1)

    def apply(plan: Plan) -> None:
        plan.flow |= {"rcvbuf": size(need(plan) * share), "autotuning": False}

    return Cause("receive-window", None, apply, shows=lambda flow: _dominates(flow, "receive_window"))


def send_buffer(site: Site) -> Cause:
    """A send buffer below the bandwidth-delay product of all paths."""
    share = site.draw.between(0.12, 0.5) * (1.5 if site.plan.is_linux else 1)

    def apply(plan: Plan) -> None:
        plan.flow |= {"sndbuf": size(need(plan) * share), "autotuning": False}

    return Cause("send-buffer", None, apply, shows=lambda flow: _dominates(flow, "send_buffer"))


def head_of_line(site: Site) -> Cause:
    """A slow path delays data, while later data of the fast paths fills the receive buffer."""
    for name in site.plan.lines:
        site.plan.lines[name] = line(site.draw, (8e6, 50e6), (8e-3, 40e-3), (0.7, 2.0))
    fast = site.plan.rate - site.plan.lines[site.path].rate
    trip = max(one.rtt * (1 + one.queue) for one in site.plan.lines.values())
    slow = site.plan.lines[site.path]
    slow.rate = fast * site.draw.uniform(0.2, 0.5)
    delay = site.draw.uniform(0.25, 1.2)
    if site.draw.chance(0.3):
        slow.rtt, slow.queue = delay, site.draw.uniform(0.3, 0.8)
    else:
        slow.rtt = site.draw.between(20e-3, 120e-3)
        slow.queue = delay / slow.rtt
    if not site.plan.is_linux:
        site.plan.flow |= {
            "scheduler": site.draw.choice(("minrtt", "roundrobin")),
            "opportunistic_retransmission": False,
            "coupling_scope": "all",
        }
    elif site.draw.chance(0.4):
        site.plan.flow["scheduler"] = site.draw.choice(("minrtt", "roundrobin"))
    buffer = fast * trip / 8 * site.draw.uniform(0.9, 2.0) * (2 if site.plan.is_linux else 1)

    def apply(plan: Plan) -> None:
        plan.flow |= {"rcvbuf": size(max(buffer, 64e3)), "autotuning": False}

    return Cause("head-of-line", site.path, apply, shows=lambda flow: _dominates(flow, "head_of_line"))


def reinjection(site: Site) -> Cause:
    """A scheduler that sends the same data on several paths."""
    site.plan.flow.pop("stack", None)
    site.plan.flow.pop("autotuning", None)
    scheduler = site.draw.choice(("redundant", "opportunistic-redundant"))

    def apply(plan: Plan) -> None:
        plan.flow["scheduler"] = scheduler

    return Cause("reinjection", None, apply)


def scheduler(site: Site) -> Cause:
    """A scheduler that sends small blocks on the slow path, never uses a path, or waits for a slow path."""
    site.plan.flow.pop("stack", None)
    site.plan.flow.pop("autotuning", None)
    kind = site.draw.choice(("thin", "unused", "strict"))
    if kind == "thin":
        return _thin(site)
    if kind == "unused":
        chosen: dict[str, Any] = {"kind": "backup"}
        shows = _carries_nothing(site.path)
    else:
        # Each path gets the same number of segments, so the slowest path limits the others.
        slowest = min(site.plan.lines, key=lambda name: site.plan.lines[name].rate)
        site.plan.lines[slowest].rate = max(2e6, site.plan.rate * site.draw.uniform(0.08, 0.2))
        chosen, site.path = {"kind": "weighted-roundrobin", "weights": "1", "strict": True}, slowest
        shows = _any

    def apply(plan: Plan) -> None:
        plan.flow["scheduler"] = chosen

    return Cause("scheduler", site.path, apply, shows=shows)


def _thin(site: Site) -> Cause:
    """Small blocks at a low rate over paths whose RTTs differ by a factor of at least four."""
    for name in site.plan.lines:
        site.plan.lines[name] = line(site.draw, (8e6, 60e6), (8e-3, 25e-3), (1.0, 3.0))
    site.plan.lines[site.path] = Line(site.draw.between(4e6, 30e6), site.draw.between(110e-3, 250e-3), 1.0)
    rate = site.draw.between(0.3e6, 1.5e6)
    site.plan.flow |= {"blocks": f"{site.draw.whole(1, 12)}kB", "rate": bits(rate)}
    worse = site.draw.choice(("roundrobin", "maxrtt"))

    def apply(plan: Plan) -> None:
        plan.flow["scheduler"] = worse

    return Cause(
        "scheduler",
        site.path,
        apply,
        must_cost=False,
        shows=lambda flow: path_of(flow, site.path)["bytes_acked"] > 50_000,
    )


def application(site: Site) -> Cause:
    """An application that writes blocks far below the rate of the paths, with or without long pauses."""
    rate = site.plan.rate * site.draw.between(0.05, 0.5)
    block = 8e3 if site.draw.chance(0.5) else rate / 8 * site.draw.uniform(0.3, 1.2)

    def apply(plan: Plan) -> None:
        plan.flow |= {"blocks": f"{max(1e3, block):.0f}B", "rate": bits(rate)}

    return Cause("application", None, apply, shows=lambda flow: limit(flow, "application") > 0.2)


def _dominates(flow: Summary, name: str) -> bool:
    """Whether this limit lasts longer than the other limits by buffers, and for at least 20% of the time."""
    mine = limit(flow, name)
    others = (limit(flow, other) for other in ("receive_window", "send_buffer", "head_of_line") if other != name)
    return mine >= 0.2 and mine > 2 * max(others)


def _carries_nothing(at: str) -> Any:
    return lambda flow: path_of(flow, at)["bytes_acked"] < 20_000


def _any(_: Summary) -> bool:
    return True
