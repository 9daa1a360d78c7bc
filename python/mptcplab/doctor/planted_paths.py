"""Causes in the network or in the handshakes: middleboxes, missing subflows, losses, policers and large queues.

Owns one function for each verdict that concerns a path or the negotiation. `planted_hosts` has the others.
"""

from __future__ import annotations

from typing import Any

from mptcplab.doctor.planted_networks import (
    BOTH,
    Cause,
    Plan,
    Site,
    Summary,
    bits,
    line,
    path_limit,
    path_of,
)

CLIENT = ("client", "both")
SERVER = ("server", "both")


def _first(made: Plan) -> str:
    return next(iter(made.lines))


def fallback(site: Site) -> Cause:
    """A middlebox on the first path, or a server without MPTCP, makes the connection fall back to TCP."""
    first = _first(site.plan)
    kinds = ["peer", "syn", "syn-ack", "all", "unknown", "data", "coalesce", "early-ack", "rewrite-payload"]
    if not site.plan.is_download:
        kinds = [kind for kind in kinds if kind not in ("coalesce", "early-ack")]
    kind = site.draw.choice(kinds)
    box: dict[str, Any] = {"kind": "strip-options", "path": first}
    hosts: tuple[str, ...] = BOTH
    match kind:
        case "syn" | "syn-ack":
            box["from"] = [kind]
        case "data":
            box["from"] = ["data", "ack"]
        case "unknown":
            box["options"] = "unknown"
        case "all":
            pass
        case _:
            box["kind"] = kind
    if kind in ("syn", "all", "unknown"):
        # The server never sees that the client asked for MPTCP.
        hosts = CLIENT
    if kind == "rewrite-payload":
        # With a second subflow, the first one is reset instead. The fallback itself costs nothing.
        site.plan.flow |= {"checksum": True, "paths": [first]}

    def apply(plan: Plan) -> None:
        if kind == "peer":
            plan.flow["accept_mptcp"] = False
        else:
            plan.middleboxes["box"] = box

    return Cause(
        "fallback",
        None,
        apply,
        hosts,
        must_cost=kind != "rewrite-payload",
        shows=lambda flow: bool(flow["fell_back"] or not flow["multipath"]),
    )


def blackhole(site: Site) -> Cause:
    """The first path drops all SYNs with MP_CAPABLE, and delivers the first SYN without this option."""
    first = _first(site.plan)
    # SYNs with MP_CAPABLE are sent at 0, 1 and 3 s, and the SYN without MP_CAPABLE at 7 s.
    site.plan.duration = max(site.plan.duration, site.draw.uniform(12.5, 15))
    up = site.draw.uniform(3.3, 6.7)

    def apply(plan: Plan) -> None:
        plan.lines[first].more["up"] = False
        plan.events.append({"at": f"{up:.2f}s", "path": first, "set": {"up": True}, "how": "blackhole"})

    return Cause("blackhole", None, apply, CLIENT, shows=lambda flow: bool(flow["fell_back"] or not flow["multipath"]))


def join_stripped(site: Site) -> Cause:
    """A middlebox on another path removes MP_JOIN."""
    kinds: list[Any] = [["syn"], ["syn-ack"], None, ["ack", "data"]]
    segments = site.draw.choice(kinds)
    box: dict[str, Any] = {"kind": "strip-options", "path": site.path}
    if segments is None:
        box["options"] = site.draw.choice(("mptcp", "unknown"))
    else:
        box["from"] = segments

    def apply(plan: Plan) -> None:
        plan.middleboxes["join_box"] = box

    hosts = SERVER if segments == ["ack", "data"] else CLIENT
    return Cause("join-stripped", site.path, apply, hosts, shows=lambda flow: _unused(flow, site.path))


def join_unanswered(site: Site) -> Cause:
    """A path that delivers no packets, in both directions or in one."""
    way = site.draw.choice(("both", "forward", "backward"))

    def apply(plan: Plan) -> None:
        lost = {"loss": "100%"}
        plan.lines[site.path].more |= lost if way == "both" else {way: lost}

    return Cause("join-unanswered", site.path, apply, CLIENT, shows=lambda flow: _unused(flow, site.path))


def join_refused(_: Site) -> Cause:
    """The server allows fewer subflows than the client opens, and resets the joins."""

    def apply(plan: Plan) -> None:
        plan.flow["accept_subflows"] = 0

    return Cause("join-refused", None, apply, shows=_has_one_subflow)


def add_addr_unanswered(site: Site) -> Cause:
    """The server announces its other addresses, and the client accepts no announcements."""
    site.plan.server_addresses = True
    signals = ", ".join(f"dev {number} signal" for number in range(1, len(site.plan.lines)))
    site.plan.flow["path_manager"] = {
        "kind": "kernel",
        "endpoints": signals,
        "subflows": len(site.plan.lines) - 1,
        "add_addr_accepted": len(site.plan.lines) - 1,
    }

    closed = {"add_addr_accepted": 0} | ({"subflows": 0} if site.draw.chance(0.3) else {})

    def apply(plan: Plan) -> None:
        plan.flow["path_manager"] = dict(plan.flow["path_manager"]) | closed

    return Cause("add-addr-unanswered", None, apply, shows=_has_one_subflow)


def one_subflow(site: Site) -> Cause:
    """The client has no endpoints, a limit of no subflows, or only one path that it may use."""
    first = _first(site.plan)
    kind = site.draw.choice(("endpoints", "limit", "paths"))

    def apply(plan: Plan) -> None:
        match kind:
            case "endpoints":
                plan.flow["path_manager"] = {"kind": "kernel", "endpoints": "", "subflows": 2}
            case "limit":
                plan.flow["path_manager"] = {"kind": "kernel", "endpoints": "any subflow", "subflows": 0}
            case _:
                plan.flow["paths"] = [first]

    return Cause("one-subflow", None, apply, shows=_has_one_subflow)


def backup(site: Site) -> Cause:
    """A path with backup priority, which carries no data."""

    def apply(plan: Plan) -> None:
        plan.flow["backup"] = [site.path]

    return Cause("backup", site.path, apply, shows=lambda flow: _unused(flow, site.path))


def dead_path(site: Site) -> Cause:
    """A path that becomes silent for at least 3 s, without a notification of the hosts."""
    begin = site.draw.uniform(1.5, site.plan.duration * 0.35)
    end = begin + site.draw.uniform(3.5, site.plan.duration)
    how = site.draw.choice(("blackhole", "loss"))

    def apply(plan: Plan) -> None:
        for when, dead in ((begin, True), (end, False)):
            if when < plan.duration - 0.2:
                change: dict[str, Any] = {"up": not dead} if how == "blackhole" else {"loss": "100%" if dead else "0%"}
                event = {"at": f"{when:.2f}s", "path": site.path, "set": change}
                plan.events.append(event | ({"how": "blackhole"} if how == "blackhole" else {}))

    return Cause(
        "dead-path",
        site.path,
        apply,
        must_cost=False,
        shows=lambda flow: int(path_of(flow, site.path)["timeouts"]) >= 2,
    )


def loss(site: Site) -> Cause:
    """Random losses or bursts of losses of data."""
    site.plan.lines[site.path] = line(site.draw, (8e6, 60e6), (15e-3, 120e-3), (1.0, 3.0))
    if site.draw.chance(0.65):
        lost: dict[str, Any] = {"loss": f"{site.draw.between(0.4, 5):.2f}%"}
    else:
        leaves = site.draw.uniform(15, 60)
        lost = {"gilbert_elliott": {"p": f"{site.draw.between(0.1, 1.5):.3f}%", "r": f"{leaves:.1f}%"}}
    way = "backward" if site.plan.is_download else "forward"
    lossy = {way: lost} if site.draw.chance(0.5) else lost

    def apply(plan: Plan) -> None:
        plan.lines[site.path].more |= lossy

    return Cause("loss", site.path, apply, shows=lambda flow: path_limit(flow, site.path, "loss") > 0.1)


def policer(site: Site) -> Cause:
    """A token bucket policer on a path, which drops packets above its rate."""
    site.plan.lines[site.path] = line(site.draw, (15e6, 60e6), (10e-3, 100e-3), (1.0, 3.0))
    one = site.plan.lines[site.path]
    rate = one.rate * site.draw.uniform(0.12, 0.5)
    # tc recommends a burst of some milliseconds of the rate; providers use up to about 200 ms.
    burst = max(8e3, rate / 8 * site.draw.between(5e-3, 150e-3))
    way = "backward" if site.plan.is_download else "forward"

    def apply(plan: Plan) -> None:
        plan.lines[site.path].more[way] = {"queue": {"kind": "police", "rate": bits(rate), "burst": f"{burst:.0f}B"}}

    return Cause("policer", site.path, apply, shows=lambda flow: _dropped_by_queue(flow, site.path) >= 10)


def bufferbloat(site: Site) -> Cause:
    """A queue of at least 0.5 s, which the flow fills."""
    site.plan.lines[site.path] = line(site.draw, (2e6, 12e6), (8e-3, 100e-3), (0.7, 2.0))
    seconds = site.draw.between(0.7, 3.0)

    def apply(plan: Plan) -> None:
        one = plan.lines[site.path]
        one.queue = seconds / one.rtt

    return Cause(
        "bufferbloat", site.path, apply, must_cost=False, shows=lambda flow: _queue_delay(flow, site.path) >= 0.4
    )


def _has_one_subflow(flow: Summary) -> bool:
    return sum(int(path["subflows"]) for path in flow["paths"]) == 1


def _unused(flow: Summary, at: str) -> bool:
    return int(path_of(flow, at)["bytes_acked"]) < 20_000


def _dropped_by_queue(flow: Summary, at: str) -> int:
    return int(path_of(flow, at).get("dropped_queue") or 0)


def _queue_delay(flow: Summary, at: str) -> float:
    path = path_of(flow, at)
    return float(path["mean_srtt_s"] or 0.0) - float(path["base_rtt_s"] or 0.0)
