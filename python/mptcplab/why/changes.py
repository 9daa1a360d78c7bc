"""The changes of settings that `mptcplab why` tests to raise a flow's goodput, each with the cause that it removes.

Owns the list, and the text of a change. `explain` runs them.
"""

from __future__ import annotations

from typing import Any

from mptcplab.util.user_input import size, size_like, size_text

FIRST = 4
"""The first factor by which buffers grow."""
LINKS = ("paths", "links", "stations")
"""Tables of a scenario whose links may have a path MTU."""
HEADERS = 60
"""Bytes of IPv6 and TCP headers, which the MSS option excludes."""
LEAST_MSS = 88
"""The smallest `mss` of a scenario."""
COUPLED = ("lia", "olia", "balia", "wvegas", "ewtcp", "coupled", "kelly-voice", "xmp", "coupled-bbr")
"""Controllers that couple the windows of several paths."""


def changes(flow: dict[str, Any], least: float = 0.0) -> list[tuple[str | None, dict[str, Any]]]:
    """Changes of a flow's keys, each with the cause that it removes, or None; excludes settings that the flow has.

    Buffers get at least `least` bytes, as RFC 6182 recommends. For a flow on Linux's stack, only Linux's settings are
    tested.
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
    """Changes for a flow whose packets exceed a path MTU of the scenario `file`."""
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
    """A larger buffer: `FIRST` times the size, or the recommended size if that is larger."""
    return size_text(FIRST * known) if least <= FIRST * known else size_like(least, known)


def written(settings: dict[str, Any]) -> str:
    """A change as text."""
    return " with ".join(f"{key} = {_value_text(value)}" for key, value in settings.items())


def _value_text(value: str | bool | int | list[str]) -> str:
    """A value in the form of scenario files."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_value_text(name) for name in value)}]"
    return f'"{value}"'
