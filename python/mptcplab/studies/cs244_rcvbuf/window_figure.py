"""Figure 4 of study C (the CS244 report of 2014 on receive buffers): its three panels, for one interpretation of the
queues.

The panels show MPTCP without mechanisms, with M1 (opportunistic retransmission), and with M1 and M2 (penalisation).
Experiment C1 (`window`) uses the figure and judges the claims.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mptcplab.plots import figure_style
from mptcplab.studies.base import Measured, Picture, goodput
from mptcplab.studies.cs244_rcvbuf.network import MAIN
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.published import Published

BUFFER_KEY = "flows.*.rcvbuf"
PUBLISHED = {
    "none": Published("published: maximum at 400 KB, no mechanism", "goodput", BUFFER_KEY, at="400KB"),
    "M1+M2": Published("published: maximum at 300 KB, M1 and M2", "goodput", BUFFER_KEY, at="300KB", line="dotted"),
}
"""The published value of each set of mechanisms."""

PANELS = {"none": "a", "M1": "b", "M1+M2": "c"}


def picture(
    measured: Measured,
    reading: str,
    curves: Mapping[str, Mapping[int, float]],
    sent: Mapping[str, Mapping[int, float]],
) -> Picture:
    """A panel for each set of mechanisms: TCP over each path, and MPTCP's throughput and goodput, Mb/s."""
    figure, panels = figure_style.new_figure(3, width=4.0, height=3.9, share_y=True)
    for axes, (name, panel) in zip(panels, PANELS.items(), strict=True):
        for curve, label in (("wifi", "TCP over WiFi"), ("3g", "TCP over 3G")):
            figure_style.curve(
                axes, list(curves[curve]), list(curves[curve].values()), label, figure_style.LOOKS[curve], markers=8
            )
        axes.plot(
            list(sent[name]),
            list(sent[name].values()),
            color="#888888",
            linewidth=0.9,
            label="MPTCP, throughput",
        )
        over_seeds = [measured.interval(goodput, reading, name, size) for size in curves[name]]
        figure_style.curve(
            axes,
            list(curves[name]),
            list(curves[name].values()),
            "MPTCP, goodput",
            figure_style.LOOKS["mptcp"],
            spread=[(found.high - found.low) / 2 if found.n > 1 else 0.0 for found in over_seeds],
            markers=8,
        )
        if name in PUBLISHED:
            PUBLISHED[name].draw(axes, lambda size: float(size.removesuffix("KB")))
        figure_style.finish(
            axes,
            x="receive window [KB]",
            y="rate [Mb/s]" if panel == "a" else "",
            title=f"{panel}) {_titled(name)}",
            legend=None,
            top=10.5,
        )
    # Not all panels have the same curves, so the legend collects those of all.
    entries = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
    held = {
        axes: [of_keys(measured, _titled(name), {size: (reading, name, size) for size in curves[name]}, say="KB")]
        for axes, name in zip(panels, PANELS, strict=True)
    }
    caption = (
        f"Throughput against the receive window, with queues of {reading}. Vertical lines show two published numbers: "
        "the maximum is at 400 KB without mechanisms, and at 300 KB with M1 and M2. Bars are 95% intervals over the "
        "seeds. In the original (NSDI 2012), MPTCP without mechanisms stays "
        f"below TCP over WiFi up to about 400 KB.{_seen(reading, list(curves['none']))}"
    )
    name = f"c1-window-{reading.split(maxsplit=1)[0].replace('/', '-')}"
    return Picture(name, caption, figure, explain(figure, held))


def _seen(reading: str, windows: Collection[int]) -> str:
    """Features of the curve without mechanisms, among the windows that were run."""
    if reading != MAIN:
        return ""
    words = " The curve without mechanisms falls from 90 KB on (C-1.7)." if 90 in windows else ""
    if {150, 175, 200} <= set(windows):
        words += (
            " It has a spike at 175 KB with all seeds. At this window, WiFi has its first loss after slow start at 43 "
            "s, at 150 KB at 9 s, and at 200 KB at 7 s. The spike remains in longer runs, but is lower. In runs of 400 "
            "s, MPTCP reaches 6.2 Mb/s at 175 KB, 4.9 Mb/s at 150 KB and 4.6 Mb/s at 200 KB. "
            "The RTT of 3G is 334 ms at 175 KB, 378 ms at 150 KB and 491 ms at 200 KB, so less data waits for 3G."
        )
    if {165, 180} <= set(windows):
        words += " At 165 and 180 KB, the congestion window is halved after 7 s, before the measured time."
    return words


def _titled(mechanisms: str) -> str:
    return "no mechanism" if mechanisms == "none" else mechanisms.replace("+", " and ")
