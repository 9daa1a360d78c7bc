"""Generated networks for surveys, which compare MPTCP with plain TCP over the best path of each network.

Owns the distribution of networks, by type (`KINDS`), and their scenarios. A network is a function of (seed, number,
type), the same on every machine. Never runs anything.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mptcplab.scenario.definition import NO_JITTER, Scenario

FRAME = 1514
"""Bytes of a full Ethernet frame without its check sequence, as links count."""
DURATION_S, WARMUP_S = 30.0, 5.0
SAMPLE_S = 0.5
"""Sampling interval of networks with changes, s; other networks have 1 s."""
CHANGES_S = 12, 20
"""Times of the changes of a path, s after the start of the flow."""

KINDS = {
    "bulk": "two to four paths, one path in four with random loss; one bulk flow",
    "burst": "as bulk, but bursty losses (Gilbert-Elliott) of 5 frames on average",
    "jitter": "as bulk, but the delay of each path varies by up to half of the delay, without reordering",
    "competing": "as bulk, but each path has one or two competing TCP flows, which start 10 s earlier",
    "reorder": "as bulk, but the delay of each frame varies by up to a tenth of the RTT, with reordering",
    "short": "as bulk, but with queues of 10 to 20 packets",
    "managed": "as bulk, but with fq_codel, codel or pie in the queues",
    "asymmetric": "as bulk, but the reverse path has 1/20 to 1/80 of the rate, at least 64 kb/s",
    "changing": "as bulk, but one path has 1/10 to 1/2 of its rate from 12 s to 20 s",
    "far": "as bulk, but with five times the RTT, up to 2 s",
    "lossy": "as bulk, but each path loses 0.1-5% of its frames",
    "fading": (
        "as bulk, but without loss, and with queues of 20 ms to 1 s. One path has 1/250 to 1/2 of its rate from 12 s "
        "to 20 s"
    ),
    "steps": "as bulk, but the RTT of a path changes by 1-50% at 12 s and at 20 s",
}
"""Types of networks for surveys of goodput, with descriptions."""
DISCIPLINES = ("fq_codel", "codel", "pie")
BESIDE_OTHERS = NO_JITTER | {"start": "200ms"}
"""`[jitter]` with competing flows: random start times, because the shares of a queue depend on them."""
OTHERS_FIRST_S = 10
"""Competing flows start this much earlier, s."""


@dataclass(frozen=True)
class Change:
    """A change of a path `at` s after the start of the flow: a new rate in bit/s, or a new RTT in s; 0 is unchanged."""

    at: float
    rate: float = 0.0
    rtt: float = 0.0

    def keys(self) -> dict[str, str]:
        """The keys that an event sets."""
        return {"rate": f"{self.rate / 1e3:.0f}kbit"} if self.rate else {"delay": f"{self.rtt / 2 * 1e6:.0f}us"}

    def __str__(self) -> str:
        """The change as text."""
        return (f"{self.rate / 1e6:.3g} Mb/s" if self.rate else f"RTT {self.rtt * 1e3:.3g} ms") + f" from {self.at:g} s"


@dataclass(frozen=True)
class Link:
    """A path: rate in bit/s, RTT in s without queues, queue in packets, `loss` in each direction as a fraction."""

    rate: float
    rtt: float
    queue: int
    loss: float = 0.0
    burst: float = 1.0
    """Mean length of a loss burst in frames; above 1, losses are bursty."""
    jitter: float = 0.0
    """The delay of each direction varies uniformly by this much, s."""
    others: int = 0
    """Competing TCP flows."""
    reorder: bool = False
    """Each frame has its own delay, so frames may be reordered."""
    discipline: str = ""
    """The queue discipline; empty for drop-tail."""
    back: float = 0.0
    """Rate of the reverse path, bit/s; 0 if both directions are equal."""
    changes: tuple[Change, ...] = ()

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product, bytes."""
        return self.rate * self.rtt / 8

    def table(self) -> dict[str, Any]:
        """The keys of the path in a scenario file."""
        keys: dict[str, Any] = {
            "rate": f"{self.rate / 1e3:.0f}kbit",
            "rtt": f"{self.rtt * 1e6:.0f}us",
            "queue": f"{self.queue}p",
        }
        if self.discipline:
            keys["queue"] = {"kind": self.discipline, "limit": keys["queue"]}
        if self.back:
            keys["forward"] = {key: keys.pop(key) for key in ("rate", "queue")}
            keys["backward"] = {"rate": f"{self.back / 1e3:.0f}kbit", "queue": "50p"}
        if self.loss and self.burst > 1:
            # All frames are lost in the bad state. Its mean length is 1/r, and its share of the time is the loss rate.
            bad, good = 1 / self.burst, self.loss / (self.burst * (1 - self.loss))
            keys["gilbert_elliott"] = {"p": f"{100 * good:.6f}%", "r": f"{100 * bad:.6f}%"}
        elif self.loss:
            keys["loss"] = f"{100 * self.loss:.4f}%"
        # ACK-clocked frames of one size keep their phase, so one flow would meet a full queue always, another never
        # (Floyd and Jacobson, On Traffic Phase Effects, 1992). With competing flows, delays vary by half of a
        # frame's time.
        jitter = max(self.jitter, FRAME * 8 / self.rate / 2 if self.others else 0)
        if jitter:
            keys["jitter"] = f"{jitter * 1e6:.0f}us"
        if self.reorder:
            keys["reorder"] = True
        return keys


@dataclass(frozen=True)
class Network:
    """Paths between a client and a server, and their buffers in bytes; None for automatically tuned buffers."""

    name: str
    links: tuple[Link, ...]
    buffer: int | None = None

    @property
    def chance(self) -> bool:
        """Whether runs with different seeds differ."""
        return any(link.loss or link.jitter or link.discipline or link.others for link in self.links)

    @property
    def changes(self) -> list[float]:
        """Times of the changes, s after the start of the flow."""
        return sorted({change.at for link in self.links for change in link.changes})

    @property
    def begins(self) -> int:
        """Start of the flow, s."""
        return OTHERS_FIRST_S if any(link.others for link in self.links) else 0

    def scenario(
        self, flow: Mapping[str, Any], *, duration: float = DURATION_S, warmup: float = WARMUP_S, name: str = ""
    ) -> Scenario:
        """The scenario: these buffers, and one flow of these keys, from whose start `duration` and `warmup` count."""
        buffers = (
            {"autotuning": True} if self.buffer is None else dict.fromkeys(("rcvbuf", "sndbuf"), f"{self.buffer}B")
        )
        paths = {f"path{at}": link.table() for at, link in enumerate(self.links, 1)}
        flows = {"flow": buffers | dict(flow)}
        for at, link in enumerate(self.links, 1):
            if link.others:
                own = {"transport": "tcp", "congestion": "cubic", "paths": [f"path{at}"], "count": link.others}
                flows[f"other{at}"] = own | {"autotuning": True, "stagger": "500ms"}
        if self.begins:
            flows["flow"]["start"] = f"{self.begins}s"
        events = [
            {"at": f"{self.begins + change.at:g}s", "path": f"path{number}", "set": change.keys()}
            for number, link in enumerate(self.links, 1)
            for change in link.changes
        ]
        return Scenario(
            jitter=BESIDE_OTHERS if self.begins else NO_JITTER,
            name=name or self.name,
            duration=f"{(self.begins + duration) * 1e3:.0f}ms",
            warmup=f"{(self.begins + warmup) * 1e3:.0f}ms",
            sample=f"{SAMPLE_S if events else 1:g}s",
            paths=paths,
            flows=flows,
            **({"events": events} if events else {}),
        )

    def __str__(self) -> str:
        """The network in one line."""
        links = []
        for link in self.links:
            words = f"{link.rate / 1e6:.3g} Mb/s, RTT {link.rtt * 1e3:.3g} ms, queue of {link.queue} packets"
            words += f", loss {link.loss:.2%}" if link.loss else ""
            words += f" in bursts of {link.burst:g}" if link.loss and link.burst > 1 else ""
            words += f", jitter {link.jitter * 1e3:.3g} ms" if link.jitter else ""
            words += " with reordering" if link.reorder else ""
            words += f", {link.others} competing flows" if link.others else ""
            words += f", {link.discipline}" if link.discipline else ""
            words += f", reverse path {link.back / 1e6:.3g} Mb/s" if link.back else ""
            words += "".join(f", {change}" for change in link.changes)
            links.append(words)
        buffer = "automatically tuned buffers" if self.buffer is None else f"buffers of {self.buffer / 1e3:.0f} kB"
        return f"{'; '.join(links)}; {buffer}"


def draw(seed: int, number: int, kind: str = "bulk") -> Network:
    """Network `number` of a seed: two to four paths, rate 1-100 Mb/s and RTT 5-400 ms log-uniform.

    Queues have 0.3-5 BDP, log-uniform, and at least 10 packets. One path in four has a loss rate of 0.01-2%,
    log-uniform. Buffers have 200 kB to 4 MB, log-uniform, or in half of the networks automatic tuning.
    """
    chance = np.random.default_rng([seed, number, list(KINDS).index(kind)])

    between = functools.partial(_between, chance)
    links = []
    for _ in range(int(chance.integers(2, 5))):
        rate, rtt = between(1e6, 100e6), between(5e-3, 400e-3)
        queue = max(10, round(between(0.3, 5) * rate * rtt / 8 / FRAME))
        loss = between(1e-4, 2e-2) if chance.random() < 0.25 else 0.0
        links.append(
            Link(
                rate,
                rtt,
                queue,
                loss,
                burst=5.0 if kind == "burst" else 1.0,
                jitter=float(chance.uniform(0, 0.25)) * rtt if kind == "jitter" else 0.0,
                others=int(chance.integers(1, 3)) if kind == "competing" else 0,
            )
        )
    buffer = None if chance.random() < 0.5 else round(between(200e3, 4e6))
    # Type-specific parameters are drawn last, so that the paths are those of bulk.
    match kind:
        case "reorder":
            links = [replace(link, jitter=float(chance.uniform(0, 0.05)) * link.rtt, reorder=True) for link in links]
        case "short":
            links = [replace(link, queue=int(chance.integers(10, 21))) for link in links]
        case "managed":
            links = [replace(link, discipline=str(chance.choice(DISCIPLINES))) for link in links]
        case "asymmetric":
            links = [replace(link, back=max(64e3, link.rate / between(20, 80))) for link in links]
        case "changing":
            at = int(chance.integers(len(links)))
            links[at] = _falls(links[at], between(2, 10))
        case "fading":
            links = _fade(links, chance)
        case "steps":
            links = _step(links, chance)
        case "far":
            links = [replace(link, rtt=5 * link.rtt, queue=5 * link.queue) for link in links]
        case "lossy":
            links = [replace(link, loss=between(1e-3, 5e-2)) for link in links]
    return Network(f"{kind}-{seed}-{number}", tuple(links), buffer)


def _between(chance: np.random.Generator, least: float, most: float) -> float:
    """Log-uniform."""
    return float(math.exp(chance.uniform(math.log(least), math.log(most))))


def _fade(links: list[Link], chance: np.random.Generator) -> list[Link]:
    """The paths of a network of type `fading`."""
    queues = [max(10, round(link.rate * _between(chance, 20e-3, 1) / 8 / FRAME)) for link in links]
    links = [replace(link, queue=queue, loss=0.0) for link, queue in zip(links, queues, strict=True)]
    at = int(chance.integers(len(links)))
    links[at] = _falls(links[at], _between(chance, 2, 250))
    return links


def _step(links: list[Link], chance: np.random.Generator) -> list[Link]:
    """The paths of a network of type `steps`: one RTT changes at each time of `CHANGES_S`."""
    links = list(links)
    for time in CHANGES_S:
        at, longer = int(chance.integers(len(links))), 1 + _between(chance, 1e-2, 0.5)
        before = links[at].changes[-1].rtt if links[at].changes else links[at].rtt
        after = before * longer if chance.random() < 0.5 else before / longer
        links[at] = replace(links[at], changes=(*links[at].changes, Change(time, rtt=after)))
    return links


def _falls(link: Link, times: float) -> Link:
    """The link, with its rate divided by `times` between the two `CHANGES_S`."""
    low, high = (Change(at, rate=rate) for at, rate in zip(CHANGES_S, (link.rate / times, link.rate), strict=True))
    return replace(link, changes=(low, high))
