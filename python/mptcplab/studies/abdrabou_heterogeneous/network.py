"""The network of study B (Abdrabou and Prakash, UAE University): four pairs at once, each with a path over two WiFi
cells and a dedicated link.

Owns the topology, the interference, the stacks, and the measurement of a transfer. Judges nothing.

The cells of senders and receivers use non-overlapping channels, and their routers are joined by a wire. The study does
not specify the meaning of the dedicated link's rate, so it has two interpretations (`READINGS`). One is an 802.11a cell
of two stations at that PHY rate, with the sender as the access point, as in the study. The other is a plain link with a
token bucket of that rate. `assumptions` lists unspecified settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from mptcplab.results.run import Run
from mptcplab.scenario.definition import AS_STUDIED, NO_JITTER, Cell, Flow, Scenario, Station
from mptcplab.studies.base import LINUX_2013, RECOVERY, Effort

NAME = "abdrabou-heterogeneous"

PAIRS = (1, 2, 3, 4)
MEGABYTES = 15

Standard = Literal["802.11g", "802.11a", "802.11n"]
STANDARDS: tuple[Standard, ...] = ("802.11g", "802.11a", "802.11n")
CHANNELS: Mapping[Standard, tuple[int, int]] = {"802.11g": (1, 11), "802.11a": (36, 48), "802.11n": (1, 11)}
"""Channels of the senders' and of the receivers' router; at 5 GHz those with interference in the study."""
BEST_RATES: Mapping[Standard, str] = {"802.11g": "54Mbit", "802.11a": "54Mbit", "802.11n": "65Mbit"}
NEIGHBOURS: Mapping[Standard, int] = {"802.11g": 3, "802.11a": 2, "802.11n": 3}
HABITS = {"on": "100ms", "off": "25ms"}
RING = 2
"""Frames that a station keeps in the device, which limits its aggregates."""
DEDICATED_CHANNELS = (100, 112, 124, 149)

Reading = Literal["PHY rate", "token bucket"]
READINGS: tuple[Reading, ...] = ("PHY rate", "token bucket")
MAIN: Reading = "PHY rate"
WHY = "6 and 54 Mb/s are the lowest and the highest rate of 802.11a and g, and the link used an 802.11 adapter"

RATES = (6, 9, 12, 18, 24, 36, 48, 54)
"""Mb/s of the dedicated link; the study specifies only the ends."""
LARGEST = 320
"""KB: the default receive buffer."""
FULL_MSS = 1460

Stack = Literal["two packets", "128 KB", "original M2"]
STACKS: Mapping[Stack, Mapping[str, Any]] = {
    "two packets": RECOVERY | {"small_queues": "3KB", "penalty_rule": "kernel_0.89"},
    "128 KB": LINUX_2013 | {"small_queues": "128KB", "penalty_rule": "kernel_0.89"},
    "original M2": LINUX_2013 | {"penalty_rule": "original"},
}
"""The sender's stacks.

TCP small queues hold two packets of a subflow since Linux 3.19, and 128 KB before. Windows grow by bytes since Linux
4.0. Penalisation (M2) has its later rule since MPTCP 0.89. The last stack has none of these changes, like MPTCP 0.86 on
Linux 3.5. The first stack was chosen after seeing results, because no other stack uses WiFi with small
receive buffers (see experiment B3).
"""


@dataclass(frozen=True)
class Setup:
    """A measurement: the networks of the pairs, and the varied settings."""

    standard: Standard = "802.11n"
    wifi: bool = True
    dedicated: Reading | None = MAIN
    rate: int = 6
    """Mb/s of the dedicated link."""
    buffer: int = LARGEST
    """Receive buffer in KB."""
    mss: int = FULL_MSS
    stack: Stack = "two packets"
    one_channel: bool = False
    """Whether both routers are on the senders' channel, with the neighbours of that channel only."""
    seconds: float = 40
    """Maximum length of a run, longer than the slowest transfer, s."""
    megabytes: int = MEGABYTES
    """Size of the file that a pair transfers."""

    def scenario(self) -> Scenario:
        """The scenario."""
        cells: dict[str, Cell] = {}
        stations: dict[str, Station] = {}
        more: dict[str, Any] = {"links": {}}
        if self.wifi:
            more["links"]["wire"] = {"ends": ["router1", "router2"], "rate": "100Mbit", "delay": "2.5ms"}
            more["background"] = {}
            theirs, others = CHANNELS[self.standard]
            for router, channel in (("router1", theirs), ("router2", theirs if self.one_channel else others)):
                streams = 1 if self.standard == "802.11n" else None
                cells[router] = Cell(standard=self.standard, channel=channel, streams=streams)
                habits = {"cell": router, "stations": NEIGHBOURS[self.standard], **HABITS}
                if router == "router1" or not self.one_channel:
                    more["background"][f"near-{router}"] = habits
        for pair in PAIRS:
            sender, receiver, own = f"sender{pair}", f"receiver{pair}", f"own{pair}"
            if self.wifi:
                best = BEST_RATES[self.standard]
                stations[f"wifi{pair}"] = Station(host=sender, cell="router1", rate=best, distance="5m", ring=RING)
                stations[f"far{pair}"] = Station(host=receiver, cell="router2", rate=best, distance="5m", ring=RING)
            if self.dedicated == "PHY rate":
                channel = DEDICATED_CHANNELS[pair - 1]
                cells[own] = Cell(standard="802.11a", channel=channel, access_point=sender, queue="1000p")
                keys: dict[str, Any] = {"rate": f"{self.rate}Mbit", "distance": "5m", "delay": "2.5ms"}
                stations[own] = Station(host=receiver, cell=own, **keys)
            elif self.dedicated == "token bucket":
                more["links"][own] = {"ends": [sender, receiver], "rate": f"{self.rate}Mbit", "delay": "2.5ms"}
        return Scenario(
            defaults=AS_STUDIED,
            jitter=NO_JITTER,
            name=NAME,
            duration=f"{self.seconds:g}s",
            sample="1s",
            until_done=True,
            cells=cells,
            stations=stations,
            flows={f"pair{pair}": self._flow(pair) for pair in PAIRS},
            **more,
        )

    def _flow(self, pair: int) -> Flow:
        keys = {"from": f"sender{pair}", "to": f"receiver{pair}", "mss": self.mss, **STACKS[self.stack]}
        size, buffer = f"{self.megabytes}MB", f"{self.buffer}KB"
        return Flow(transport="mptcp", congestion="lia", bytes=size, rcvbuf=buffer, more=keys)


def shorter(setup: Setup, effort: Effort) -> Setup:
    """With `quick`, a setup with a third of the file, for points that measure only rates."""
    return replace(setup, megabytes=effort.pick(MEGABYTES // 3, MEGABYTES, MEGABYTES))


def seeds(effort: Effort, *, comparison: bool = False) -> range:
    """The seeds of a point; the study repeated each test fifty times. `comparison` as in `Effort.seeds`, by default
    with three seeds.
    """
    return effort.seeds(3, 3 if comparison else 4, 10, comparison=comparison)


def transfer_time(run: Run, pair: int) -> float:
    """Transfer time of a pair's file, seconds; the length of the run if the transfer did not end."""
    return run.flow(f"pair{pair}")["completion_s"] or run.scenario.duration


def mean_time(run: Run) -> float:
    """Mean transfer time of the pairs, seconds."""
    return sum(transfer_time(run, pair) for pair in PAIRS) / len(PAIRS)


def total(run: Run) -> float:
    """Mb/s of a pair over the time of its transfer, mean over the pairs."""
    return sum(_rate(run, pair) for pair in PAIRS) / len(PAIRS)


def wifi(run: Run) -> float:
    """Mb/s of a pair over WiFi: a part of `total`."""
    return sum(_rate(run, pair) * _wifi_part(run, pair) for pair in PAIRS) / len(PAIRS)


def dedicated(run: Run) -> float:
    """Mb/s of a pair over its dedicated link: the rest of `total`."""
    return total(run) - wifi(run)


def share(run: Run) -> float:
    """Share of WiFi in `total`, %."""
    return 100 * wifi(run) / total(run)


def _rate(run: Run, pair: int) -> float:
    return run.flow(f"pair{pair}")["bytes_received_total"] * 8 / transfer_time(run, pair) / 1e6


def _wifi_part(run: Run, pair: int) -> float:
    acked = {row["path"]: row["bytes_acked"] for row in run.flow(f"pair{pair}")["paths"]}
    return acked.get(f"wifi{pair}", 0) / max(1, sum(acked.values()))
