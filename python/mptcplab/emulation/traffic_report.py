"""Prints the traffic of an emulated network: link rates while it runs, and a summary at the end.

The summary of `mptcplab emulate` also has the delay that the emulator added, because this delay can affect results.
Owns the text; the core measures.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from mptcplab.live.transfers import rate, size

if TYPE_CHECKING:
    from mptcplab._core import EmulatedLinkRow, EmulationRow

ARROWS = {"forward": "→", "backward": "←"}
"""The printed sign for each direction of a link."""


class Rates:
    """Prints the rates of all links periodically."""

    def __init__(self, every: float | None, out: TextIO | None = None) -> None:
        """Prints the rates every `every` seconds; None prints nothing."""
        self._every = every
        self._out = sys.stderr if out is None else out
        self._value_text = time.monotonic()
        self._before: dict[tuple[str, str], int] = {}
        self._at = 0.0

    def show(self, now: EmulationRow | None) -> None:
        """Prints the rates if the next line is due."""
        if self._every is None or now is None or time.monotonic() - self._value_text < self._every:
            return
        self._value_text = time.monotonic()
        span, self._at = now["elapsed_s"] - self._at, now["elapsed_s"]
        words: dict[str, list[str]] = {}
        for row in now["links"]:
            key = (row["link"], row["direction"])
            count = row["delivered_bytes"] - self._before.get(key, 0)
            self._before[key] = row["delivered_bytes"]
            if span > 0:
                words.setdefault(row["link"], []).append(f"{ARROWS[row['direction']]} {rate(count * 8 / span)}")
        links = ", ".join(f"{link} {' '.join(both)}" for link, both in words.items())
        print(f"{now['elapsed_s']:5.1f} s  {links}", file=self._out, flush=True)


def summary(last: EmulationRow, doubts: str | None) -> str:
    """The traffic of the links, and the added delay."""
    lines = [f"emulated for {last['elapsed_s']:.1f} s"]
    lines += [_link(row, last["elapsed_s"]) for row in last["links"]]
    late, turns = last["lateness"], last["turns"]
    first = "real-time priority" if last["real_time"] else "normal priority (CAP_SYS_NICE allows real-time priority)"
    lines.append(
        f"  added delay: median {_time(late['p50_s'])}, p99 {_time(late['p99_s'])}, max {_time(late['max_s'])} "
        f"({late['count']} packets); longest loop of the emulator {_time(turns['max_s'])}; {first}"
    )
    if last["left_out"]:
        lines.append(f"  {last['left_out']} packets are missing in the capture because the disk was too slow")
    lines.append(f"  DOUBTFUL: {doubts}" if doubts else "  timing OK: the added delay is too small to affect results")
    return "\n".join(lines)


def _link(row: EmulatedLinkRow, seconds: float) -> str:
    traffic = f"{size(row['delivered_bytes']):>10} {rate(row['delivered_bytes'] * 8 / seconds if seconds else 0):>12}"
    gone = {
        "dropped": row["queue_drops"],
        "lost": row["random_losses"],
        "lost when the link went down": row["flushed"],
    }
    tail = "".join(f", {count} {what}" for what, count in gone.items() if count)
    return f"  {row['link']:<14} {ARROWS[row['direction']]} {traffic}, {row['delivered_frames']} packets{tail}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"
