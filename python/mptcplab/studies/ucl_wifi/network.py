"""The network of study E (Barlow-Bignell et al., UCL, 2013): two access points, and clients with one or two wireless
interfaces.

All experiments share short slots and protection at 2.4 GHz, the interference preset `ucl`, the residual loss of every
card, and the kernel stack of that time (`LINUX_2013`) without small queues. An experiment with other settings says so.
The residual loss is the loss of frames after all retransmissions of the MAC. `assumptions` lists unspecified settings.
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
"""The idle RTT that ping showed in the study, seconds."""
BDP = 25_000
"""The bandwidth-delay product of the study, bytes: 20 ms at 10 Mb/s."""
LAN_DELAY_MS = 2.5
"""One-way delay between an access point and the server, so that ping shows about 7 ms."""
RESIDUAL = "0.1%"
"""The residual loss of each card."""
SLOTS: Mapping[str, Any] = {"slot": "short", "protection": True}
"""Slots and protection of the cells at 2.4 GHz."""
REMEMBERED = "40KB"
"""Slow start ends here, as remembered by Linux's tcp_metrics; the study's curves begin in congestion avoidance."""


def single(network: str) -> str:
    """The flow of the client with one interface on a network."""
    return f"single-{network}"


def interface(network: str) -> str:
    """The interface, on a network, of the client with two interfaces."""
    return f"if{network}"


@dataclass(frozen=True)
class Setup:
    """A test: the clients, their networks and settings."""

    channels: Channels = "cross"
    direction: Literal["upload", "download"] = "upload"
    congestion: str = "lia"
    """Controller of the MPTCP flow; single flows run Reno, to which a coupled controller is equal on one path."""
    dual: bool = True
    """Whether the client with two interfaces takes part."""
    singles: Sequence[str] = BOTH
    """Networks with a client that has one interface."""
    dual_paths: Sequence[str] = BOTH
    transport: Literal["mptcp", "tcp", "udp"] = "mptcp"
    extra_delay_ms: float = 0
    """Additional RTT at the server, ms, as with netem in the study."""
    loss: str = RESIDUAL
    """Residual loss of the cards."""
    seconds: float = 60
    warmup: float = 10
    """Excluded seconds at the start; at most a third of the run."""
    interference: Literal["ideal", "ucl"] = "ucl"
    cell: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every cell."""
    station: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every station."""
    flow: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every flow."""

    def scenario(self, **more: Any) -> Scenario:
        """The scenario; `more` has further keys."""
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
    """A function of a run: goodput of the flow after the warm-up, Mb/s."""

    def value(run: Run) -> float:
        return run.flow(flow)["goodput"] / 1e6

    return value


def path_mbps(network: str, flow: str = DUAL) -> Any:
    """A function of a run: payload acknowledged on one interface of a flow after the warm-up, Mb/s."""

    def value(run: Run) -> float:
        row = run.path(interface(network), flow)
        seconds = run.flow(flow)["measured_s"]
        return row["bytes_acked"] * 8 / seconds / 1e6 if row and seconds else 0.0

    return value
