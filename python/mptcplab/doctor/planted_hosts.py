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
    tuned = site.plan.is_linux and site.draw.chance(0.5)

    def apply(plan: Plan) -> None:
        plan.flow |= {"rcvbuf": size(need(plan) * share), "autotuning": tuned}

    return Cause("receive-window", None, apply, shows=_has_full_window, also=lambda flow: _also(flow, "receive-window"))


def send_buffer(site: Site) -> Cause:
    """A send buffer below the bandwidth-delay product of all paths."""
    share = site.draw.between(0.12, 0.5) * (1.5 if site.plan.is_linux else 1)
    tuned = site.plan.is_linux and site.draw.chance(0.5)

    def apply(plan: Plan) -> None:
        plan.flow |= {"sndbuf": size(need(plan) * share), "autotuning": tuned}

    # Linux fills the queue of a subflow with the buffer, and then its congestion window is the limit.
    shows = _any if site.plan.is_linux else lambda flow: limit(flow, "send_buffer") >= 0.2
    return Cause("send-buffer", None, apply, shows=shows, also=lambda flow: _also(flow, "send-buffer"))


def head_of_line(site: Site) -> Cause:
    """A slow path delays data, while later data of the fast paths fills the receive buffer."""
    for name in site.plan.lines:
        site.plan.lines[name] = line(site.draw, (8e6, 50e6), (8e-3, 40e-3), (0.7, 2.0))
    fast = site.plan.rate - site.plan.lines[site.path].rate
    trip = max(one.rtt * (1 + one.queue) for one in site.plan.lines.values())
    slow = site.plan.lines[site.path]
    slow.rate = fast * site.draw.uniform(0.2, 0.5)
    match site.draw.choice(("distant", "queue", "stalls")):
        case "distant":
            slow.rtt, slow.queue = site.draw.uniform(0.2, 0.7), site.draw.uniform(0.3, 0.8)
        case "queue":
            slow.rtt = site.draw.between(20e-3, 120e-3)
            slow.queue = site.draw.uniform(0.2, 0.35) / slow.rtt
        case _:
            site.plan.events += _stalls(site)
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

    return Cause(
        "head-of-line",
        site.path,
        apply,
        shows=lambda flow: limit(flow, "head_of_line") >= max(0.2, limit(flow, "receive_window")),
        also=lambda flow: _also(flow, "head-of-line"),
    )


def _stalls(site: Site) -> list[dict[str, Any]]:
    """Events that lower the rate of the path for some 100 ms, again and again, as a radio link does."""
    full = site.plan.lines[site.path].rate
    events, at = [], site.draw.uniform(1, 2)
    while at < site.plan.duration - 1:
        end = at + site.draw.uniform(0.3, 0.8)
        for when, rate in ((at, 100e3), (end, full)):
            events.append({"at": f"{when:.2f}s", "path": site.path, "set": {"rate": bits(rate)}})
        at = end + site.draw.uniform(0.5, 1.5)
    return events


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
    # A copy on the fast path would hide the choice of the scheduler.
    site.plan.flow |= {
        "blocks": f"{site.draw.whole(1, 12)}kB",
        "rate": bits(rate),
        "opportunistic_retransmission": False,
    }
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


def _has_full_window(flow: Summary) -> bool:
    return limit(flow, "receive_window") + limit(flow, "head_of_line") >= 0.2


def _also(flow: Summary, verdict: str) -> frozenset[str]:
    """Verdicts whose buffer limits the connection for at least half as long as the buffer of `verdict`."""
    times = {name: limit(flow, name.replace("-", "_")) for name in ("receive-window", "head-of-line", "send-buffer")}
    least = max(0.2, times[verdict] / 2)
    return frozenset(name for name, time in times.items() if time >= least)


def _carries_nothing(at: str) -> Any:
    return lambda flow: path_of(flow, at)["bytes_acked"] < 20_000


def _any(_: Summary) -> bool:
    return True
