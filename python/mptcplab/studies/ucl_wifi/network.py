"""The network of study E: two access points, and clients with one or two wireless interfaces.

One network for all experiments: short slots and protection at 2.4 GHz, the interference `ucl`, the same residual loss
of every card, the stack of the kernel of the time (`LINUX_2013`) without small queues. What the study does not say is
in `assumptions`; what an experiment runs beside it, it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Cell, Flow, Scenario, Station
from mptcplab.studies.base import LINUX_2013

NAME = "ucl-wifi"

Channels = Literal["same", "apart", "cross"]
CHANNELS: dict[Channels, tuple[int, int]] = {"same": (1, 1), "apart": (1, 11), "cross": (1, 36)}
WORDS: dict[Channels, str] = {
    "same": "the same channel (1 and 1)",
    "apart": "channels 1 and 11",
    "cross": "2.4 and 5 GHz",
}

BOTH = ("1", "2")
DUAL = "mptcp"
"""The flow of the client with two interfaces."""
IDLE_RTT = 0.007
"""Seconds, as ping on an idle network showed the study."""
BDP = 25_000
"""Bytes: twice the idle round trip that the study reckoned with (10 ms) at 10 Mb/s."""
LAN_DELAY_MS = 2.5
"""One way between an access point and the server, so that ping shows about 7 ms."""
RESIDUAL = "0.1%"
"""What each card loses by failures of its own."""
SLOTS: Mapping[str, Any] = {"slot": "short", "protection": True}
"""At 2.4 GHz."""
REMEMBERED = "40KB"
"""Slow start ends here, as Linux's tcp_metrics remember it from the connection before; the study's curves begin in
congestion avoidance."""


def single(network: str) -> str:
    """The flow of the client with one interface, on one network."""
    return f"single-{network}"


def interface(network: str) -> str:
    """The interface of the client with two, on one network."""
    return f"if{network}"


@dataclass(frozen=True)
class Setup:
    """One test: who sends on which networks, and how."""

    channels: Channels = "cross"
    direction: Literal["upload", "download"] = "upload"
    congestion: str = "lia"
    """Of the MPTCP flow; the single flows run Reno, which a coupled controller is on one path."""
    dual: bool = True
    singles: Sequence[str] = BOTH
    dual_paths: Sequence[str] = BOTH
    transport: Literal["mptcp", "tcp", "udp"] = "mptcp"
    extra_delay_ms: float = 0
    """Added to the round trip at the server, as netem did in the study."""
    loss: str = RESIDUAL
    """What the cards lose by failures of their own."""
    seconds: float = 60
    warmup: float = 10
    """Seconds; of a short run a third."""
    interference: Literal["ideal", "ucl"] = "ucl"
    cell: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every cell."""
    station: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every station."""
    flow: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every flow."""

    def scenario(self, **more: Any) -> Scenario:
        """The scenario; `more` are further keys of it."""
        cells = {f"ap{at}": self._cell(channel) for at, channel in zip(BOTH, CHANNELS[self.channels], strict=True)}
        links = {
            f"lan{at}": {
                "ends": [f"ap{at}", "server"],
                "rate": "100Mbit",
                "delay": f"{LAN_DELAY_MS + self.extra_delay_ms / 2:g}ms",
            }
            for at in BOTH
        }
        stations: dict[str, Station] = {}
        flows: dict[str, Flow] = {}
        if self.dual:
            for at in self.dual_paths:
                stations[interface(at)] = self._station("dual", at)
            flows[DUAL] = self._flow("dual", self.transport, self.congestion)
        for at in self.singles:
            stations[f"if-{single(at)}"] = self._station(single(at), at)
            flows[single(at)] = self._flow(single(at), "udp" if self.transport == "udp" else "tcp", "reno")
        return Scenario(
            defaults=AS_STUDIED,
            jitter=NO_JITTER,
            name=NAME,
            duration=f"{self.seconds:g}s",
            warmup=f"{min(self.warmup, self.seconds / 3):g}s",
            sample="500ms",
            cells=cells,
            stations=stations,
            links=links,
            flows=flows,
            interference=self.interference,
            **more,
        )

    def _cell(self, channel: int) -> Cell:
        keys: dict[str, Any] = {"standard": "802.11a"} if channel > 14 else {"standard": "802.11g", **SLOTS}
        return Cell(**({"channel": channel, "wpa2": True} | keys | dict(self.cell)))

    def _station(self, host: str, network: str) -> Station:
        keys = {"rate": "54Mbit", "loss": self.loss, **self.station}
        return Station(host=host, cell=f"ap{network}", **keys)

    def _flow(self, host: str, transport: Literal["mptcp", "tcp", "udp"], congestion: str) -> Flow:
        keys: dict[str, Any] = {"from": host}
        if transport != "udp":
            keys |= LINUX_2013 | {"ssthresh": REMEMBERED, "congestion": congestion}
        keys |= self.flow
        return Flow(transport=transport, direction=self.direction, more=keys)


def mbps(flow: str) -> Any:
    """Mb/s in order at the application, after the warm-up."""

    def value(run: Run) -> float:
        return run.flow(flow)["goodput"] / 1e6

    return value


def path_mbps(network: str, flow: str = DUAL) -> Any:
    """Mb/s of payload acknowledged on one interface of a flow, after the warm-up."""

    def value(run: Run) -> float:
        row = run.path(interface(network), flow)
        seconds = run.flow(flow)["measured_s"]
        return row["bytes_acked"] * 8 / seconds / 1e6 if row and seconds else 0.0

    return value
