"""Figure 4 of study C: its three panels, in one reading of the queues. Owns how they look; judges nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mptcplab import plots
from mptcplab.studies.base import Measured, Picture
from mptcplab.studies.cs244_rcvbuf.network import MAIN
from mptcplab.studies.held_back import of_keys
from mptcplab.studies.held_panels import explain
from mptcplab.studies.published import Published

BUFFER_KEY = "flows.*.rcvbuf"
PUBLISHED = {
    "none": Published("published: maximum at 400 KB", "goodput", BUFFER_KEY, at="400KB"),
    "M1+M2": Published("published: maximum at 300 KB, M1 and M2", "goodput", BUFFER_KEY, at="300KB", line="dotted"),
}
"""By the mechanisms with which the study saw it."""

PANELS = {"none": "a", "M1": "b", "M1+M2": "c"}


def picture(
    measured: Measured,
    reading: str,
    curves: Mapping[str, Mapping[int, float]],
    sent: Mapping[str, Mapping[int, float]],
) -> Picture:
    """A panel for each set of mechanisms: TCP over each path, and MPTCP's throughput and goodput, Mb/s."""
    figure, panels = plots.new_figure(3, width=4.0, height=3.9, share_y=True)
    for axes, (name, panel) in zip(panels, PANELS.items(), strict=True):
        for curve, label in (("wifi", "TCP over WiFi"), ("3g", "TCP over 3G")):
            plots.curve(axes, list(curves[curve]), list(curves[curve].values()), label, plots.LOOKS[curve], markers=8)
        axes.plot(
            list(sent[name]),
            list(sent[name].values()),
            color="#888888",
            linewidth=0.9,
            label="MPTCP, throughput",
        )
        plots.curve(
            axes,
            list(curves[name]),
            list(curves[name].values()),
            "MPTCP, goodput",
            plots.LOOKS["mptcp"],
            markers=8,
        )
        if name in PUBLISHED:
            PUBLISHED[name].draw(axes, lambda size: float(size.removesuffix("KB")))
        plots.finish(
            axes,
            x="receive window [KB]",
            y="rate [Mb/s]" if panel == "a" else "",
            title=f"{panel}) {_titled(name)}",
            legend=None,
            top=10.5,
        )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    held = {
        axes: [of_keys(measured, _titled(name), {size: (reading, name, size) for size in curves[name]}, say="KB")]
        for axes, name in zip(panels, PANELS, strict=True)
    }
    caption = (
        f"Throughput against the receive window, queues of {reading}. The study gives two numbers, which vertical "
        "lines show: the maximum at 400 KB without mechanisms and at 300 KB with them. In the original, panel a) stays "
        f"below TCP over WiFi up to about 400 KB.{_seen(reading, list(curves['none']))}"
    )
    name = f"c1-window-{reading.split(maxsplit=1)[0].replace('/', '-')}"
    return Picture(name, caption, figure, explain(figure, held))


def _seen(reading: str, windows: Collection[int]) -> str:
    """What there is to see in the curve without mechanisms, of the windows that were run and no others."""
    if reading != MAIN:
        return ""
    words = " The curve without mechanisms falls from 90 KB on (C-1.7)." if 90 in windows else ""
    if 175 in windows:
        words += (
            " Its spike at 175 KB is there because a run ends after 40 s. At 175 KB, WiFi loses nothing before that, "
            "and its window stays whole."
        )
    if {165, 180} <= set(windows):
        words += " At 165 and 180 KB the window is halved after 7 s, before rates are measured."
    return words


def _titled(mechanisms: str) -> str:
    return "no mechanism" if mechanisms == "none" else mechanisms.replace("+", " and ")
