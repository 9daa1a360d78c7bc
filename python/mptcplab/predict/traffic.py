"""Loads of `mptcplab predict`: bulk transfers, web pages, calls and videos, as flows of scenarios, and their results.

Owns the sizes, rates and deadlines, with their sources. `prediction` runs the scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mptcplab.scenario.definition import Scenario

if TYPE_CHECKING:
    from mptcplab.predict.links import Link
    from mptcplab.results.run import Run

Keys = Mapping[str, Any]
"""Keys of a flow."""

TRAFFIC = ("bulk", "web", "video", "calls")
TRANSFER_S, MIN_TRANSFER_S = 10.0, 4.0
"""Duration of a bulk transfer in seconds, and its minimum on fast links."""
TRANSFER_BYTES = 125e6
"""Bytes above which a bulk transfer is shortened: 10 s at 100 Mb/s."""

PAGE_KB: tuple[tuple[int, ...], ...] = ((30,), (400, 250, 150, 100), (500, 300, 200, 100, 60, 40))
"""A web page by stage, in kB for each connection: the document, the styles, scripts and fonts, and the images.

A browser requests a stage when the one before is complete. With 2.1 MB, the page is near the median of HTTP Archive
(2.3 to 2.6 MB in 2024). HTTP/2 sends all objects of a server over one connection.
"""
PAGE_S, LONGEST_PAGE_S = 30.0, 600.0
"""Time limits of a stage of a page: on fast links, and on the slowest ones."""

CALL: Keys = {"blocks": "200B", "rate": "80kbit", "nagle": False, "deadline": "150ms"}
"""50 packets of 200 bytes per second: G.711 with 20 ms of sound in each packet. ITU-T G.114 asks for 150 ms."""
CALL_S = 30.0

LADDER = ((1, "360p"), (2.5, "480p"), (5, "720p"), (8, "1080p"), (16, "1440p"), (35, "2160p"))
"""Video rates in Mb/s (YouTube's recommended rates for 30 frames per second)."""
SEGMENT_S, BUFFER_S, VIDEO_S = 2.0, 4.0, 30.0
"""Length of a segment, time after which a segment is late and the video stalls, and duration of the video."""


@dataclass(frozen=True)
class Metric:
    """A quantity of the result."""

    name: str
    """The name in JSON."""
    label: str
    """The label of its row, with the unit."""
    subject: str
    """The quantity as the subject of a sentence."""
    is_rate: bool
    """Whether larger values are better."""
    digits: int
    unit: str
    worth: float = 0.0
    """Minimum difference that counts, in the unit."""

    def shown(self, value: float) -> str:
        """A value without its unit."""
        return f"{value:.{self.digits}f}"


DOWNLOAD = Metric("download", "download [Mb/s]", "downloads", True, 1, "Mb/s", 0.1)
UPLOAD = Metric("upload", "upload [Mb/s]", "uploads", True, 1, "Mb/s", 0.1)
PAGE = Metric("web_page", "web page [s]", "web pages", False, 2, "s", 0.02)
P95 = Metric("call_latency_p95", "call latency, p95 [ms]", "call latency (95th percentile)", False, 0, "ms", 5.0)
P99 = Metric("call_latency_p99", "call latency, p99 [ms]", "call latency (99th percentile)", False, 0, "ms", 5.0)
LATE = Metric("call_late", "late call packets [%]", "late call packets", False, 2, "%", 0.5)


@dataclass(frozen=True)
class Load:
    """A load: scenarios that run one after the other, and the metrics of their runs."""

    name: str
    metrics: tuple[Metric, ...]
    stages: Sequence[Mapping[str, Keys]]
    """The flows of each scenario."""
    duration: float
    until_done: bool
    values: Callable[[Sequence[Run]], tuple[float | None, ...]]
    """The values of the metrics from the runs of the stages; None if a transfer did not end."""

    def scenarios(self, links: Sequence[Link], policy: Keys) -> list[Scenario]:
        """The scenarios over these links, with the keys of the policy in each flow."""
        return [
            Scenario(
                name=self.name,
                duration=f"{self.duration:.2f}s",
                until_done=self.until_done,
                sample="1s",
                paths={link.name: link.path() for link in links},
                flows={name: {**keys, **policy} for name, keys in flows.items()},
            )
            for flows in self.stages
        ]


def loads(traffic: Sequence[str], links: Sequence[Link]) -> list[Load]:
    """The loads of these types of traffic, except videos, which `video` returns for each rate."""
    found: list[Load] = []
    if "bulk" in traffic:
        found += [_bulk(links, "download", DOWNLOAD), _bulk(links, "upload", UPLOAD)]
    if "web" in traffic:
        stages = tuple(
            {f"c{at}": {"direction": "download", "bytes": f"{size}kB"} for at, size in enumerate(sizes)}
            for sizes in PAGE_KB
        )
        slowest = min(link.down for link in links)
        longest = min(LONGEST_PAGE_S, max(PAGE_S, 10 * sum(map(sum, PAGE_KB)) * 8e3 / slowest))
        found.append(Load("web", (PAGE,), stages, longest, True, _page_time))
    if "calls" in traffic:
        flow = {"flow": {"direction": "download", **CALL}}
        found.append(Load("calls", (P95, P99, LATE), (flow,), CALL_S, False, _call))
    return found


def video(rate: float) -> Load:
    """A video at this rate in Mb/s; its value is the share of late segments."""
    flow = {
        "direction": "download",
        "blocks": f"{rate * SEGMENT_S * 1e6 / 8:.0f}B",
        "rate": f"{rate * 1e3:.0f}kbit",
        "deadline": f"{BUFFER_S:g}s",
    }
    return Load("video", (), ({"flow": flow},), VIDEO_S, False, lambda runs: (runs[0].flow("flow")["late"],))


def _bulk(links: Sequence[Link], direction: str, metric: Metric) -> Load:
    rate = sum(link.down if direction == "download" else link.up for link in links)
    length = max(MIN_TRANSFER_S, min(TRANSFER_S, TRANSFER_BYTES * 8 / rate))
    stages = ({"flow": {"direction": direction}},)
    return Load(direction, (metric,), stages, length, False, lambda runs: (_goodput(runs[0]),))


def _goodput(run: Run) -> float:
    """Goodput from the start of the connection, in Mb/s. The handshake counts."""
    row = run.flow("flow")
    return float(row["bytes_received"]) * 8e-6 / run.scenario.duration


def _page_time(runs: Sequence[Run]) -> tuple[float | None, ...]:
    """The sum of the times of all stages. A stage ends with its last connection."""
    total = 0.0
    for run in runs:
        times = [row["completion_s"] for row in run.flow_rows]
        if any(time is None for time in times):
            return (None,)
        total += max(time for time in times if time is not None)
    return (total,)


def _call(runs: Sequence[Run]) -> tuple[float | None, ...]:
    row = runs[0].flow("flow")
    p95, p99, late = row["latency_p95_s"], row["latency_p99_s"], row["late"]
    return (
        None if p95 is None else p95 * 1e3,
        None if p99 is None else p99 * 1e3,
        None if late is None else late * 100,
    )
