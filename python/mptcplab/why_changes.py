"""The changes of a flow that `why` tries, each with the cause that it removes.

Owns this list, and how a change is written. Runs nothing.
"""

from __future__ import annotations

from typing import Any

from mptcplab.inputs import size, size_text

FIRST = 4
"""Buffers of so many times the size are tried first."""
COUPLED = ("lia", "olia", "balia", "wvegas")
"""Controllers that couple the windows of several paths."""


def changes(flow: dict[str, Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """Changes of a flow's keys, each with the cause that it removes; those that the flow has already are left out."""
    rcvbuf, sndbuf = (size(str(flow[key])) for key in ("rcvbuf", "sndbuf"))
    receive, send = {"rcvbuf": size_text(FIRST * rcvbuf)}, {"sndbuf": size_text(FIRST * sndbuf)}
    found: list[tuple[str | None, dict[str, Any]]] = [
        ("receive_window", receive),
        ("send_buffer", send),
        (None, receive | send),
    ]
    found += [("scheduler", {"scheduler": name}) for name in ("ontime", "minrtt") if flow["scheduler"] != name]
    if flow.get("backup"):
        found.append(("scheduler", {"backup": []}))
    if flow["penalisation"]:
        found.append(("penalty", {"penalisation": False}))
    found.append(
        (None, {"opportunistic_retransmission": True})
        if not flow["opportunistic_retransmission"]
        else ("copies", {"opportunistic_retransmission": False})
    )
    if flow["congestion"] in COUPLED:
        if flow["coupled"] == "all":
            found.append(("coupling", {"coupled": "shared"}))
        found.append(("coupling", {"congestion": "reno"}))
    if flow.get("nagle") and ("blocks" in flow or flow.get("deadline")):
        found.append(("nagle", {"nagle": False}))
    if flow["pacing"]:
        found.append(("pacing", {"pacing": False}))
    found += [(None, {"congestion": name}) for name in ("cubic", "bbr") if flow["congestion"] != name]
    paths = list(flow["paths"])
    if len(paths) > 1:
        found.append((None, {"paths": paths[::-1]}))
        found += [(None, {"paths": [name]}) for name in paths]
    return found


def written(settings: dict[str, Any]) -> str:
    """A change as its sentence names it."""
    return " with ".join(f"{key} = {_shown(value)}" for key, value in settings.items())


def _shown(value: str | bool | list[str]) -> str:
    """A value as a scenario file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_shown(name) for name in value)}]"
    return f'"{value}"'
