"""Numbers, packets and names of a capture report in words, for the terminal and for HTML.

Owns rounding and units. The fields of the report are documented in its JSON Schema (`mptcplab doctor --schema`).
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

LIMITS = {
    "dead": ("silent", "nothing was acknowledged, or no packet arrived"),
    "backup": ("backup", "the subflow is a backup, and others work"),
    "head-of-line": ("head-of-line blocking", "the receive window is full of data that waits for another subflow"),
    "window": ("receive window", "the receive window is full"),
    "application": ("nothing to send", "the application sends nothing, or the send buffer is full"),
    "unused": ("scheduler", "the subflow has space, but the scheduler does not use it"),
    "loss": ("window after a loss", "a loss reduced the congestion window, as on every full path"),
    "growth": ("congestion window", "the congestion window grows, or fits the path"),
}
"""Limits of a subflow: a short name, and its meaning."""

PROTOCOLS = {"mptcp": "MPTCP", "fallback": "TCP after fallback", "tcp": "TCP"}
PLACES = {
    "client": "captured at the client",
    "server": "captured at the server",
    "middle": "captured between the hosts",
    "unknown": "captured at an unknown place",
}
SKIPPED = {
    "not_ip": "not IP",
    "not_tcp": "not TCP",
    "fragments": "IP fragments",
    "cut": "with headers that the capture cut off",
    "invalid": "with an invalid header",
}
CAN_WAIT = frozenset({"healthy", "plain-tcp", "cannot-tell"})
"""Verdicts that name no fault."""


def size(count: float) -> str:
    """Bytes in the unit that fits."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= 0.9995 * scale:
            value = count / scale
            return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.1f} {unit}"
    return "1 byte" if count == 1 else f"{count:.0f} bytes"


def rate(megabits: float | None) -> str:
    """A rate in Mb/s, or kb/s if it is small."""
    if megabits is None:
        return "-"
    if megabits >= 99.95:
        return f"{megabits:.0f} Mb/s"
    if megabits >= 0.995:
        return f"{megabits:.1f} Mb/s"
    if megabits == 0:
        return "0"
    return f"{megabits * 1e3:.0f} kb/s" if megabits >= 1e-3 else f"{megabits * 1e6:.0f} b/s"


def seconds(value: float | None) -> str:
    """A duration, in ms below 1 s."""
    if value is None:
        return "-"
    if value < 0.0995:
        return f"{value * 1e3:.1f} ms" if value < 0.00995 else f"{value * 1e3:.0f} ms"
    if value < 0.9995:
        return f"{value * 1e3:.0f} ms"
    return f"{value:.1f} s" if value < 99.95 else f"{value:.0f} s"


def milliseconds(value: float | None) -> str:
    """A number of ms without its unit."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def percent(part: float) -> str:
    """A share; small ones keep a digit, so that 0 means none."""
    if 0 < part < 0.00005:
        return "<0.01%"
    if 0 < part < 0.0095:
        return f"{part:.2%}"
    return f"{part:.0%}"


def loss(part: float) -> str:
    """A loss rate; one digit more than a share below 10%."""
    return f"{part:.1%}" if 0.0095 <= part < 0.0995 else percent(part)


def at(time: float) -> str:
    """A time after the first packet."""
    return f"{time:.3f} s" if time < 1000 else f"{time:.1f} s"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shown(text: str) -> str:
    """Text without control characters: names of files may contain them."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def escaped(value: object) -> str:
    """Text for HTML, without control characters."""
    return html.escape(shown(str(value)))


def file_names(files: Sequence[str]) -> list[str]:
    """Short names of files, each different from the others."""
    short = [shown(PurePath(one).name or one) for one in files]
    return [name if short.count(name) == 1 else shown(one) for name, one in zip(short, files, strict=True)]


def packet(reference: Mapping[str, Any], files: Sequence[str]) -> str:
    """A packet as `file:number`; the number is `frame.number` in Wireshark."""
    number = reference["file"]
    name = files[number] if number < len(files) else str(number)
    return f"{name}:{reference['number']}"


def proof_text(proof: Mapping[str, Any], files: Sequence[str]) -> str:
    """The meaning of a packet, with the last packet of an episode."""
    last = proof.get("until")
    return f"{proof['what']}, until {packet(last, files)}" if last else str(proof["what"])


def ends(subflow: Mapping[str, Any]) -> str:
    """The addresses and ports of a subflow; the opener is first."""
    return f"{subflow['ends'][0]} → {subflow['ends'][1]}"


def sending(connection: Mapping[str, Any]) -> int:
    """The index of the host that sent most data: 0 for the client."""
    return 0 if connection["sender"] == "client" else 1


def role(subflow: Mapping[str, Any], number: int) -> str:
    """The role of a subflow in words: *initial*, *joined*, *backup*, or why it did not open."""
    if subflow["reset_by"] and number and not any(data["bytes"] for data in subflow["data"]):
        return f"reset by the {subflow['reset_by']}" if subflow["handshake"] != "refused" else "refused"
    opener = "" if subflow["opener"] == "client" else " by the server"
    state = subflow["handshake"]
    if state in {"unanswered", "refused", "without MPTCP", "incomplete"} and number != 0:
        return f"{state}{opener}"
    if subflow["is_backup"]:
        return f"backup{opener}"
    if state == "not seen":
        return "start not seen"
    return "initial" if number == 0 else f"joined{opener}"


def cost(verdict: Mapping[str, Any]) -> str:
    """The cost of a verdict; empty if it costs nothing, or the capture does not show it."""
    parts = []
    if verdict["cost"] is not None and verdict["cost"] >= 0.001:
        parts.append(f"{rate(verdict['cost'])}, {percent(verdict['share'])} of the potential")
    if verdict["cost_seconds"] is not None and verdict["cost_seconds"] > 0:
        parts.append(seconds(verdict["cost_seconds"]))
    if not parts and verdict["share"] > 0:
        parts.append(f"about {percent(verdict['share'])} of the potential (estimated)")
    return ", and ".join(parts)


def subflow_rate(data: Mapping[str, Any], connection_data: Mapping[str, Any]) -> float:
    """Rate of a subflow over the time of the connection's data, Mb/s."""
    length: float = connection_data["seconds"]
    return float(data["bytes"]) * 8e-6 / length if length > 0 else 0.0


def limits(subflow: Mapping[str, Any], side: int, least: float = 0.02) -> list[tuple[str, float]]:
    """The limits of a subflow with their share of the time, the longest first; empty if it was never of use."""
    data = subflow["data"][side]
    if subflow["reset_by"] and not any(one["bytes"] for one in subflow["data"]):
        return []
    total = sum(one["seconds"] for one in data["missing"])
    shares = [(str(one["limit"]), one["seconds"] / total) for one in data["missing"] if total > 0]
    return sorted((one for one in shares if one[1] >= least), key=lambda one: -one[1])
