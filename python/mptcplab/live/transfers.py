"""Progress and summary of `mptcplab send` and `receive`: rates and state of each path.

Owns the text and the JSON document. Never reads or writes a socket.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from mptcplab._core import ConnectionInfo, SubflowInfo


def rate(bits: float) -> str:
    """A rate as text, from bit/s."""
    for unit, scale in (("Gb/s", 1e9), ("Mb/s", 1e6)):
        if bits >= scale:
            return f"{bits / scale:.2f} {unit}"
    return f"{bits / 1e3:.1f} kb/s"


def size(count: float) -> str:
    """A size as text, from bytes."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.2f} {unit}"
    return f"{count:.0f} B"


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f} ms"


def carried(path: SubflowInfo, *, sending: bool) -> int:
    """Bytes that a path has carried in the direction of the transfer."""
    return path["bytes_acked"] if sending else path["bytes_received"]


class Watch:
    """The progress: refreshed on a terminal, one line every five seconds elsewhere."""

    def __init__(
        self, devices: Mapping[int, str], *, sending: bool, quiet: bool = False, out: TextIO | None = None
    ) -> None:
        """`devices` names the devices by interface number; `out` is stderr by default."""
        self._devices, self._sending, self._quiet = devices, sending, quiet
        self._out = sys.stderr if out is None else out
        self._terminal = self._out.isatty()
        self.began = self._shown = time.monotonic()
        self._before: dict[int, int] = {}
        self._lines = 0

    def due(self) -> bool:
        """Whether the next output is due."""
        pause = 0.5 if self._terminal else 5.0
        return not self._quiet and time.monotonic() - self._shown >= pause

    def show(self, info: ConnectionInfo) -> None:
        """Prints the rate of each open path since the last call."""
        now = time.monotonic()
        span, self._shown = now - self._shown, now
        rows, total = [], 0.0
        for path in info["paths"]:
            count = carried(path, sending=self._sending)
            speed = (count - self._before.get(path["number"], 0)) * 8 / span
            self._before[path["number"]] = count
            if path["closed_by"] is None:
                rows.append((path, speed))
                total += speed
        done = info["bytes_acked"] if self._sending else info["bytes_received"]
        head = f"{now - self.began:.0f} s, {size(done)}, {rate(total)}"
        if not self._terminal:
            paths = [f"{self.name(path)} {rate(speed)}" for path, speed in rows]
            self._out.write(f"{head}: {', '.join(paths)}\n")
        else:
            self.close()
            lines = [head, *(self._line(path, speed, total) for path, speed in rows)]
            self._out.write("".join(f"{line}\x1b[K\n" for line in lines))
            self._lines = len(lines)
        self._out.flush()

    def name(self, path: SubflowInfo) -> str:
        """The name of the device of a path."""
        return self._devices.get(path["interface"], f"interface {path['interface']}")

    def _line(self, path: SubflowInfo, speed: float, total: float) -> str:
        share = speed / total if total else 0.0
        text = f"  {self.name(path):<15} {rate(speed):>12} {share:>5.0%}  rtt {_milliseconds(path['rtt_s'])}"
        if self._sending:
            text += f", cwnd {size(path['snd_cwnd'])}, {path['total_retrans']} retransmissions"
        return text + (", backup" if path["backup"] else "")

    def close(self) -> None:
        """Clears the output on a terminal."""
        if self._lines:
            self._out.write(f"\x1b[{self._lines}F\x1b[J")
            self._out.flush()
            self._lines = 0


def document(
    info: ConnectionInfo, devices: Mapping[int, str], *, count: int, seconds: float, digest: str, sending: bool
) -> dict[str, Any]:
    """The transfer as JSON; `count` in bytes, rates in bit/s, `digest` is SHA-256."""
    total = sum(carried(path, sending=sending) for path in info["paths"]) or 1
    paths = [
        {
            "device": devices.get(path["interface"]),
            "share": carried(path, sending=sending) / total,
            "rate": carried(path, sending=sending) * 8 / seconds,
            **path,
        }
        for path in info["paths"]
    ]
    return {
        "bytes": count,
        "seconds": seconds,
        "rate": count * 8 / seconds,
        "sha256": digest,
        "connection": {**info, "paths": paths},
    }


def summary(done: Mapping[str, Any], *, sending: bool) -> str:
    """The transfer as text, from its `document`."""
    connection = done["connection"]
    spoken = f"MPTCP {connection['version']}" if connection["mode"] == "mptcp" else "TCP"
    if connection["fallback"]:
        # Without a key of the peer, MPTCP was never negotiated, so this is not a fallback.
        offered = connection["remote_token"] is not None
        spoken = "TCP, fallen back from MPTCP" if offered else "TCP: the peer or a middlebox did not accept MPTCP"
    verb = "sent" if sending else "received"
    lines = [
        f"{verb} {size(done['bytes'])} in {done['seconds']:.2f} s: {rate(done['rate'])} ({spoken}, "
        f"{connection['congestion']}, {connection['scheduler']})"
    ]
    for path in connection["paths"]:
        text = (
            f"  {path['device']:<15} {rate(path['rate']):>12} {path['share']:>5.0%}  "
            f"{path['local']} - {path['remote']}, rtt {_milliseconds(path['rtt_s'])}"
        )
        if sending:
            text += f", {path['total_retrans']} segments retransmitted, {path['timeouts']} timeouts"
        lines.append(text + _ending(path))
    if sending and connection["bytes_retrans"]:
        lines.append(f"  reinjected on another path: {size(connection['bytes_retrans'])}")
    lines.append(f"  SHA-256 {done['sha256']}")
    return "\n".join(lines)


def _ending(path: Mapping[str, Any]) -> str:
    """Why and when a path ended; empty if it lasted as long as its connection."""
    if path["closed_by"] in (None, "finished", "connection ended"):
        return ""
    return f"; {path['closed_by']} after {path['closed_at_s'] - path['opened_at_s']:.1f} s"
