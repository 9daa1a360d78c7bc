"""Experiment B4 of study B (Abdrabou and Prakash, UAE University): the maximum segment size (figure 6).

Owns the runs, the verdicts on the paper's claims, and the figure. A *reading* is an interpretation of a setting that
the study does not specify.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.stats.statistics import Interval, interval
from mptcplab.studies.abdrabou_heterogeneous import parts
from mptcplab.studies.abdrabou_heterogeneous.network import (
    FULL_MSS,
    MAIN,
    NAME,
    READINGS,
    STANDARDS,
    WHY,
    Reading,
    Setup,
    Standard,
)
from mptcplab.studies.abdrabou_heterogeneous.parts import Parts, Table
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (256, 512, 1024, FULL_MSS)
"""Segment sizes, bytes. The study states only the maximum."""
LARGE = 512
"""Minimum bytes for judging the dedicated link."""

WIFI = Published("published: WiFi below 3 Mb/s (figure 5)", "wifi_rate", "flows.*.mss", level=3)


class SegmentSize(Experiment):
    """Figure 6."""

    study = NAME
    name = "B4"
    title = "The maximum segment size"
    published = (replace(WIFI, label="published with 802.11g and a: WiFi below 3 Mb/s (figure 5)"),)
    setup = (
        "Four pairs transfer 15 MB each over WiFi of three standards and a dedicated link of 6 Mb/s. Segments have "
        "256 to 1460 bytes; the study specifies only the largest size. Receive buffers have 320 KB."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Standards × interpretations × sizes × seeds."""
        yield from parts.points(effort, _sizes(effort), _setup)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims B-4.1 to B-4.5."""
        curves = parts.table(measured, _sizes(effort))

        def rows(row: Mapping[Standard, Parts], digits: int = 2, part: str = "wifi") -> str:
            return ", ".join(f"{at} {parts.listed(getattr(row[at], part), digits)}" for at in STANDARDS)

        facts = [
            parts.fact(
                self, "B-4.1", "with each standard, WiFi carries more with each step to larger segments",
                "an increase in the data sent over the WiFi link", curves,
                lambda row: [one for at in STANDARDS for one in row[at].steps("wifi", parts.RISES, who=at)],
                lambda row: f"Mb/s over WiFi: {rows(row)}",
            ),
            self._dedicated(curves),
            parts.fact(
                self, "B-4.3", "with each standard, the total rate grows with each step to larger segments",
                "a better overall throughput", curves,
                lambda row: [one for at in STANDARDS for one in row[at].steps("total", parts.RISES, who=at)],
                lambda row: f"Mb/s over both networks: {rows(row, part='total')}",
            ),
            parts.fact(
                self, "B-4.4", "802.11a carries more than 802.11g with every segment size",
                "outperforms, due to less interference at 5 GHz", curves,
                lambda row: parts.compared(row["802.11a"], row["802.11g"], "wifi", Bound("more", low=0, strict=True)),
                lambda row: f"Mb/s over WiFi: {rows(row)}",
                note="Fewer neighbours at 5 GHz are an assumption, based on this quote.", origin="by construction",
            ),
            parts.fact(
                self, "B-4.5", "with 802.11n, the share of WiFi rises with the segment size, to between 50 and 60%",
                "slightly more than the dedicated link share", curves,
                lambda row: [
                    *row["802.11n"].steps("share", parts.RISES),
                    *row["802.11n"].each("share", Bound("largest", 50, 60), at=(FULL_MSS,)),
                ],
                lambda row: f"share of WiFi: {parts.listed(row['802.11n'].share, 1)} %",
            ),
        ]  # fmt: skip
        return Outcome(facts, [_picture(measured, curves)])

    def _dedicated(self, curves: Table) -> Fact:
        """B-4.2. If 6 Mb/s is a PHY rate, the overhead of each frame decides the claim."""
        return self.fact(
            "B-4.2", "from 512 bytes on, the throughput of the dedicated link varies by at most 15% of its mean",
            published="not significantly affected",
            checks={
                reading: [
                    Check(
                        f"{standard}, range / mean",
                        _range(curves[reading][standard]),
                        Bound("range over mean", high=0.15),
                    )
                    for standard in STANDARDS
                ]
                for reading in READINGS
            },
            main=MAIN,
            why=WHY,
            reason=(
                "With a PHY rate, each frame costs preamble, interframe space, backoff and acknowledgement, whether "
                "the segment has 512 or 1460 bytes (IEEE 802.11). The published result therefore supports a token "
                "bucket; the share of WiFi in figures 4 and 6 (B-2.1, B-4.5) supports a PHY rate."
            ),
        )  # fmt: skip


def _sizes(effort: Effort) -> tuple[int, ...]:
    return effort.pick((512, FULL_MSS), SIZES, SIZES)


def _setup(standard: Standard, reading: Reading, size: int) -> Setup:
    return Setup(standard, dedicated=reading, mss=size, seconds=40 if size > LARGE else 60)


def _range(curve: Parts) -> Interval:
    """The range of dedicated rates from `LARGE` on, divided by their mean; the largest possible value if all are 0."""
    rows = zip(*(values for size, values in curve.runs["dedicated"].items() if size >= LARGE), strict=True)
    return interval((max(row) - min(row)) * len(row) / sum(row) if any(row) else len(row) for row in rows)


def _picture(measured: Measured, curves: Table) -> Picture:
    def published(axes: Axes, standard: Standard, curve: Parts) -> None:
        last = len(curve.total) - 1
        over = (last - 0.2, last + 0.2)
        if standard == "802.11n":
            half = curve.dedicated[FULL_MSS].mean
            figure_style.accepted_range(axes, half, 1.5 * half, "accepted as `slightly more than dedicated`", over=over)
        else:
            WIFI.draw(axes)

    caption = (
        "Figure 6: throughput of a pair over both networks, and the part over each network, by the maximum segment "
        "size. The dedicated link has a PHY rate of 6 Mb/s in the upper row, and a token bucket of 6 Mb/s in the lower "
        "row. In the study, the rates over WiFi and over both networks rise; that of the dedicated link is constant."
    )
    return parts.picture(
        "abdrabou-heterogeneous-b4", caption, measured, curves, x="maximum segment size [bytes]", published=published
    )
