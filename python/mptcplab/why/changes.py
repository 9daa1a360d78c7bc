"""The changes of a flow that `why` tries, each with the cause that it removes.

Owns this list, and how a change is written. Runs nothing.
"""

from __future__ import annotations

from typing import Any

from mptcplab.util.user_input import size, size_like, size_text

FIRST = 4
"""Buffers of so many times the size are tried first."""
LINKS = ("paths", "links", "stations")
"""Tables of a scenario whose links may have a path MTU."""
HEADERS = 60
"""Bytes of the headers of IPv6 and TCP, which the MSS option leaves out."""
LEAST_MSS = 88
"""The smallest `mss` of a scenario."""
COUPLED = ("lia", "olia", "balia", "wvegas")
"""Controllers that couple the windows of several paths."""


def changes(flow: dict[str, Any], least: float = 0.0) -> list[tuple[str | None, dict[str, Any]]]:
    """Changes of a flow's keys, each with the cause that it removes; those that the flow has already are left out.

    Buffers get at least `least` bytes, as RFC 6182 recommends. Of a flow on Linux's stack only what Linux has is tried.
    """
    receive, send = ({key: _larger(size(str(flow[key])), least)} for key in ("rcvbuf", "sndbuf"))
    is_linux = bool(flow.get("subflow_queues"))
    rule = flow["congestion"]["kind"] if isinstance(flow["congestion"], dict) else flow["congestion"]
    found: list[tuple[str | None, dict[str, Any]]] = [
        ("receive_window", receive),
        ("send_buffer", send),
        ("both_buffers", receive | send),
    ]
    if not is_linux:
        found += [("scheduler", {"scheduler": name}) for name in ("ontime", "minrtt") if flow["scheduler"] != name]
    if flow.get("backup"):
        found.append(("scheduler", {"backup": []}))
    if flow["penalisation"] and not is_linux:
        found.append(("penalty", {"penalisation": False}))
    if not is_linux:
        found.append(
            (None, {"opportunistic_retransmission": True})
            if not flow["opportunistic_retransmission"]
            else ("copies", {"opportunistic_retransmission": False})
        )
    if rule in COUPLED:
        if flow["coupling_scope"] == "all":
            found.append(("coupling", {"coupling_scope": "shared"}))
        found.append(("coupling", {"congestion": "reno"}))
    if flow.get("nagle") and ("blocks" in flow or flow.get("deadline")):
        found.append(("nagle", {"nagle": False}))
    if flow["pacing"] and not is_linux:
        found.append(("pacing", {"pacing": False}))
    found += [(None, {"congestion": name}) for name in ("cubic", "bbr") if rule != name]
    paths = list(flow["paths"])
    if len(paths) > 1:
        found.append((None, {"paths": paths[::-1]}))
        found += [(None, {"paths": [name]}) for name in paths]
    return found


def smaller_packets(flow: dict[str, Any], file: dict[str, Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """Changes of a flow whose packets are larger than a path MTU of the scenario `file`."""
    found: list[tuple[str | None, dict[str, Any]]] = []
    if flow.get("mtu_probing", "off") == "off":
        found.append(("path_mtu", {"mtu_probing": "blackhole"}))
    lines = [line for kind in LINKS for line in file.get(kind, {}).values()]
    lines += [line[side] for line in lines for side in ("forward", "backward") if isinstance(line.get(side), dict)]
    largest = [line["path_mtu"] for line in lines if line.get("path_mtu")]
    largest += [event["set"]["path_mtu"] for event in file.get("events", []) if event.get("set", {}).get("path_mtu")]
    if largest and min(largest) - HEADERS >= LEAST_MSS:
        found.append(("path_mtu", {"mss": min(largest) - HEADERS}))
    return found


def _larger(known: int, least: float) -> str:
    """A larger buffer: so many times the size, or what is recommended where that is more."""
    return size_text(FIRST * known) if least <= FIRST * known else size_like(least, known)


def written(settings: dict[str, Any]) -> str:
    """A change as its sentence names it."""
    return " with ".join(f"{key} = {_shown(value)}" for key, value in settings.items())


def _shown(value: str | bool | int | list[str]) -> str:
    """A value as a scenario file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_shown(name) for name in value)}]"
    return f'"{value}"'
