"""Public datasets of link measurements: their columns, sources and licences (docs/traces.md).

Owns facts about the datasets only. mptcplab distributes none of their data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

RATES = {
    f"{prefix}{unit}": bits * scale
    for prefix, scale in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
    for unit, bits in (("bit/s", 1.0), ("b/s", 1.0), ("bps", 1.0), ("B/s", 8.0))
}
"""Units of rates, in bit/s. A capital B is a byte."""
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of times, in seconds."""
SHARES = {"%": 1e-2, "share": 1.0}
"""Units of losses, as a share from 0 to 1."""


@dataclass(frozen=True)
class Column:
    """A column of a dataset and the factor of its values to bit/s, seconds or a share."""

    name: str
    scale: float


@dataclass(frozen=True)
class Layout:
    """The columns of one direction of a dataset; None or an empty tuple if it has no such quantity."""

    time: str
    time_scale: float | None = None
    """Factor of numeric times to seconds; None derives it from the first time. Dates need none."""
    rate: Column | None = None
    delay: Column | None = None
    """A one-way delay."""
    rtt: Column | None = None
    loss: Column | None = None
    lost: tuple[str, ...] = ()
    """Columns whose value -1 marks a lost probe."""


@dataclass(frozen=True)
class Dataset:
    """A dataset with the layout of each direction."""

    source: str
    licence: str
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    """By direction: `down` or `up`."""
    step: float | None = None
    """Default step in seconds, over which values are averaged; None keeps each row."""


_NOT_STATED = "not stated in the dataset; ask its authors before you distribute data"
_KBIT = RATES["kbit/s"]

DATASETS: Mapping[str, Dataset] = {
    "ucc-4g": Dataset(
        "Raca, Quinlan, Zahran and Sreenan: Beyond Throughput, a 4G LTE Dataset with Channel and Context Metrics, "
        "ACM MMSys 2018",
        _NOT_STATED,
        {
            "down": Layout("Timestamp", rate=Column("DL_bitrate", _KBIT)),
            "up": Layout("Timestamp", rate=Column("UL_bitrate", _KBIT)),
        },
    ),
    "ucc-5g": Dataset(
        "Raca, Leahy, Sreenan and Quinlan: Beyond Throughput, The Next Generation, a 5G Dataset with Channel and "
        "Context Metrics, ACM MMSys 2020, github.com/uccmisl/5Gdataset",
        _NOT_STATED,
        {
            "down": Layout("Timestamp", rate=Column("DL_bitrate", _KBIT), rtt=Column("PINGAVG", 1e-3)),
            "up": Layout("Timestamp", rate=Column("UL_bitrate", _KBIT), rtt=Column("PINGAVG", 1e-3)),
        },
    ),
    "satellite-vs-cellular": Dataset(
        "LEO Satellite vs. Cellular Networks, Exploring the Potential for Synergistic Integration, CoNEXT 2023 "
        "Companion, github.com/Starlink-Project/Satellite-vs-Cellular",
        _NOT_STATED,
        {direction: Layout("time", rate=Column("throughput", RATES["Mbit/s"])) for direction in ("down", "up")},
    ),
    "lens-irtt": Dataset(
        "Zhao and Pan: LENS, a LEO Satellite Network Measurement Dataset, ACM MMSys 2024, github.com/clarkzjw/LENS",
        "CC BY-SA 4.0",
        {
            "down": Layout("timestamp", 1e-9, rtt=Column("rtt", 1e-3), lost=("rtt", "downlink")),
            "up": Layout("timestamp", 1e-9, rtt=Column("rtt", 1e-3), lost=("rtt", "uplink")),
        },
        step=1.0,
    ),
    "lens-ping": Dataset(
        "Zhao and Pan: LENS, a LEO Satellite Network Measurement Dataset, ACM MMSys 2024, github.com/clarkzjw/LENS",
        "CC BY-SA 4.0",
        {direction: Layout("timestamp", 1.0, rtt=Column("rtt", 1e-3)) for direction in ("down", "up")},
        step=1.0,
    ),
}
"""By name for `mptcplab convert-trace --dataset`. The LENS datasets have no rates."""
