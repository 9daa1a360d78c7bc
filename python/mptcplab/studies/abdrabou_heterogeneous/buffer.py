"""Experiment B3 of study B (Abdrabou and Prakash, UAE University): the receive buffer (figure 5), and the effect of the
sender's stack.

Owns the runs, the verdicts on the paper's claims, and the figure. A *reading* is an interpretation of a setting that
the study does not specify. The stacks differ in the host's queue and in M2 (penalisation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.stats.statistics import difference, ratio
from mptcplab.studies.abdrabou_heterogeneous import parts
from mptcplab.studies.abdrabou_heterogeneous.network import (
    LARGEST,
    MAIN,
    NAME,
    STACKS,
    Reading,
    Setup,
    Stack,
    Standard,
    seeds,
    shorter,
)
from mptcplab.studies.abdrabou_heterogeneous.parts import Parts, Table
from mptcplab.studies.base import Effort, Experiment, Fact, Measured, Outcome, Picture, Point
from mptcplab.studies.limiting_factor_panels import explain
from mptcplab.studies.limiting_factors import of_keys
from mptcplab.studies.published import Published
from mptcplab.studies.verdicts import Bound, Check

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

BUFFERS = (20, 40, 80, 160, 320)
"""KB; the study states 20, 40 and 320."""
OLD: tuple[Standard, ...] = ("802.11g", "802.11a")
SOME: tuple[Standard, ...] = ("802.11g", "802.11n")
"""The standards with which all stacks are run."""
SMALLEST = BUFFERS[0]

STACK_WORDS: Mapping[Stack, str] = {
    "two packets": "TCP small queues of two packets",
    "128 KB": "TCP small queues of 128 KB",
    "original M2": "no TCP small queues, first rule of M2",
}
FEWER, SLOW = Bound("share", high=50, strict=True), Bound("WiFi", high=3, strict=True)

KEY = "flows.*.rcvbuf"
BOTH_NEW = Published("published: both networks, around 10.5 Mb/s", "pair_rate", KEY, level=10.5)
WIFI_OLD = Published("published: WiFi below 3 Mb/s", "wifi_rate", KEY, level=3)
SHARE_NEW = Published("published: WiFi carries at most 70%", "wifi_share", KEY, level=70)
SHARE_OLD = Published("published: WiFi carries less than half", "wifi_share", KEY, level=50)


class Buffer(Experiment):
    """Figure 5."""

    study = NAME
    name = "B3"
    title = "The receive buffer"
    published = (
        replace(BOTH_NEW, label="published with 802.11n: both networks, around 10.5 Mb/s"),
        replace(WIFI_OLD, label="published with 802.11g and a: WiFi below 3 Mb/s"),
        replace(SHARE_NEW, label="published with 802.11n: WiFi carries at most 70%"),
        replace(SHARE_OLD, label="published with 802.11g and a: WiFi carries less than half", line="dotted"),
    )
    setup = (
        "Four pairs transfer 15 MB each over WiFi of three standards and a dedicated link of 6 Mb/s, with receive "
        "buffers of 20 to 320 KB. The whole buffer is offered as window. The study does not specify the kernel. The "
        "stack of the runs keeps at most two packets of a subflow in the local queue; runs with two older stacks are "
        "added for comparison."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Standards × interpretations × buffers × seeds; then each stack for comparison, which decides nothing."""
        yield from parts.points(effort, _buffers(effort), _setup)
        for stack in STACKS:
            for standard in SOME:
                for buffer in _elsewhere(effort):
                    scenario = shorter(Setup(standard, buffer=buffer, stack=stack), effort).scenario()
                    for seed in seeds(effort, comparison=True):
                        yield Point((stack, standard, buffer), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Claims B-3ab.1 to B-3c.4."""
        buffers = _buffers(effort)
        curves = parts.table(measured, buffers)
        stacks = {
            stack: {standard: parts.curve(measured, (stack, standard), _elsewhere(effort)) for standard in SOME}
            for stack in STACKS
        }
        note = _note(stacks)
        section_6 = parts.fact(
            self, "B-6", "with each standard, the share of WiFi is larger with a buffer of 320 KB than of 20 KB",
            "section VI: WiFi's share rises with the buffer", curves, _rises_too,
            lambda row: "share of WiFi: "
            + ", ".join(f"{at} {parts.listed(row[at].share, 1)}" for at in (*OLD, "802.11n"))
            + " %",
        )  # fmt: skip
        facts = [*self._old_standards(curves, note), *self._new_standard(curves, note), section_6]
        return Outcome(facts, [_picture(measured, curves), _stack_picture(measured, stacks)])

    def _old_standards(self, curves: Table, note: str) -> list[Fact]:
        """802.11g and 802.11a."""

        def each(row: Mapping[Standard, Parts], text: str = "{wifi} and {own}") -> str:
            return ", ".join(
                f"{standard} "
                + text.format(
                    wifi=parts.listed(row[standard].wifi),
                    own=parts.listed(row[standard].dedicated),
                    share=parts.listed(row[standard].share, 0),
                )
                for standard in OLD
            )

        return [
            parts.fact(
                self, "B-3ab.1", "with 802.11g and 802.11a, the dedicated link carries more than WiFi at every buffer",
                "prefers the dedicated link irrespective of the buffer", curves,
                lambda row: [one for at in OLD for one in row[at].each("share", FEWER, who=at)],
                lambda row: f"Mb/s over WiFi and the dedicated link: {each(row)}",
            ),
            parts.fact(
                self, "B-3ab.2",
                "with 802.11g and 802.11a, a buffer of 320 KB gives 1 to 1.25 times the throughput of 20 KB",
                "only a slight increase", curves,
                lambda row: [_gained(row[at], at) for at in OLD],
                lambda row: "320 KB / 20 KB: " + ", ".join(f"{at} {_gain(row[at]):.2f}" for at in OLD),
                note=note,
            ),
            parts.fact(
                self, "B-3ab.3", "with 802.11g and 802.11a, WiFi carries less than 3 Mb/s of each pair at every buffer",
                "below 3 Mb/s", curves,
                lambda row: [one for at in OLD for one in row[at].each("wifi", SLOW, who=at)],
                lambda row: f"Mb/s over WiFi: {each(row, '{wifi}')}",
            ),
            parts.fact(
                self, "B-3ab.4", "the share of WiFi is higher with 802.11a than with 802.11g at every buffer",
                "slightly higher, since it suffers less interference", curves,
                lambda row: parts.compared(row["802.11a"], row["802.11g"], "share", Bound("more", low=0, strict=True)),
                lambda row: f"share of WiFi, %: {each(row, '{share}')}",
                note="Fewer neighbours at 5 GHz are an assumption, based on this quote.", origin="by construction",
            ),
        ]  # fmt: skip

    def _new_standard(self, curves: Table, note: str) -> list[Fact]:
        """802.11n."""

        def shares(row: Mapping[Standard, Parts]) -> str:
            return f"share of WiFi: {parts.listed(row['802.11n'].share, 1)} %"

        half = (
            "With a token bucket, the dedicated link carries a fifth more than with a PHY rate of 6 Mb/s, and WiFi "
            "carries no more."
        )
        return [
            parts.fact(
                self, "B-3c.1", "with 802.11n and a buffer of 20 or 40 KB, WiFi carries 43 to 57%",
                "almost the same", curves,
                lambda row: row["802.11n"].each("share", Bound("half", 43, 57), at=(20, 40)),
                shares, note=note,
            ),
            parts.fact(
                self, "B-3c.2", "with 802.11n, the share of WiFi grows with each step of the "
                "buffer, and is above half from 160 KB on",
                "tends to transfer more over the 802.11n network", curves,
                lambda row: _grows(row["802.11n"]),
                shares, note=half,
            ),
            parts.fact(
                self, "B-3c.3", "with 802.11n, the share of WiFi is at most 70% at every buffer",
                "does not exceed 70%", curves,
                lambda row: row["802.11n"].each("share", Bound("share", high=70)),
                shares,
            ),
            parts.fact(
                self, "B-3c.4", "with 802.11n and a buffer of 320 KB, a pair gets 10.5 Mb/s, within 15%",
                "around 10.5 Mb/s", curves,
                lambda row: row["802.11n"].each("total", Bound("total", 10.5 * 0.85, 10.5 * 1.15), at=(LARGEST,)),
                lambda row: f"{row['802.11n'].total[LARGEST]} Mb/s",
                note="Figure 3 of the study has 15 s for the same network, which is 8 Mb/s (see B1).",
            ),
        ]  # fmt: skip


def _buffers(effort: Effort) -> tuple[int, ...]:
    return effort.pick((20, 40, 160, 320), BUFFERS, BUFFERS)


def _elsewhere(effort: Effort) -> tuple[int, ...]:
    """The buffers of the comparison of stacks; with `quick` only those that the study's text mentions."""
    return effort.pick((SMALLEST, 40, LARGEST), BUFFERS, BUFFERS)


def _setup(standard: Standard, reading: Reading, buffer: int) -> Setup:
    return Setup(standard, dedicated=reading, buffer=buffer)


def _gain(curve: Parts) -> float:
    return curve.total[LARGEST].mean / curve.total[SMALLEST].mean


def _gained(curve: Parts, who: str) -> Check:
    found = ratio(curve.runs["total"][LARGEST], curve.runs["total"][SMALLEST], paired=False)
    return Check(f"{who}, throughput with {LARGEST} KB / {SMALLEST} KB", found, Bound("gain", 1, 1.25))


def _grows(curve: Parts) -> list[Check]:
    """Each step rises, and the share is above half from 160 KB on."""
    large = curve.each("share", Bound("above half", low=50, strict=True), at=(160, LARGEST))
    return [*large, *curve.steps("share", parts.RISES)]


def _rises_too(row: Mapping[Standard, Parts]) -> list[Check]:
    return [
        Check(
            f"{at}, share with {LARGEST} KB minus share with {SMALLEST} KB",
            difference(row[at].runs["share"][LARGEST], row[at].runs["share"][SMALLEST], paired=False),
            Bound("grows", low=0, strict=True),
            "percentage points",
        )
        for at in (*OLD, "802.11n")
    ]


def _note(stacks: Mapping[Stack, Mapping[Standard, Parts]]) -> str:
    """The effect of each stack, and its reason."""
    found = "; ".join(
        f"{STACK_WORDS[stack]}: a factor of {_gain(row['802.11g']):.2f}, and shares of "
        f"{row['802.11n'].share[20].mean:.0f} and {row['802.11n'].share[40].mean:.0f} %"
        for stack, row in stacks.items()
    )
    return (
        f"Gain of 802.11g from {SMALLEST} KB to {LARGEST} KB, and share of WiFi with 802.11n at 20 and 40 KB, by stack "
        f"({MAIN}): {found}. If the local queue takes the whole window, the dedicated link "
        "holds all data that a small buffer allows. The RTT of that link then stays below the last RTT of WiFi, and "
        "the lowest-RTT scheduler never tries WiFi again. Small queues leave the rest of the window to WiFi. The "
        "study does not name its kernel; the stack with two packets was chosen after seeing results."
    )


def _picture(measured: Measured, curves: Table) -> Picture:
    def published(axes: Axes, standard: Standard, _: Parts) -> None:
        if standard == "802.11n":
            BOTH_NEW.draw(axes)
        else:
            WIFI_OLD.draw(axes)

    caption = (
        "Figure 5: throughput of a pair over both networks, and the part over each network, by the receive buffer. "
        "The dedicated link has a PHY rate of 6 Mb/s in the upper row, and a token bucket of 6 Mb/s in the lower row."
    )
    return parts.picture(
        "abdrabou-heterogeneous-b3", caption, measured, curves, x="receive buffer [KB]", published=published
    )


def _stack_picture(measured: Measured, stacks: Mapping[Stack, Mapping[Standard, Parts]]) -> Picture:
    figure, axes = figure_style.new_figure(len(SOME), width=4.9)
    for panel, standard in zip(axes, SOME, strict=True):
        for stack, look in zip(STACKS, ("mptcp", "wifi", "3g"), strict=True):
            row = stacks[stack][standard].share
            means, spread = [one.mean for one in row.values()], [one.half_width for one in row.values()]
            places = list(range(len(row)))
            figure_style.curve(panel, places, means, STACK_WORDS[stack], figure_style.LOOKS[look], spread=spread)
            panel.set_xticks(places, [str(size) for size in row])
        if standard == "802.11n":
            figure_style.accepted_range(panel, 43, 57, "accepted as `almost the same`", over=(-0.2, 1.2))
            SHARE_NEW.draw(panel)
        else:
            SHARE_OLD.draw(panel)
        figure_style.finish(
            panel, x="receive buffer [KB]", y="share of WiFi [%]" if standard == SOME[0] else "", title=standard,
            legend=None, top=90,
        )  # fmt: skip
    found: dict[str, Artist] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=3)
    caption = "The share of WiFi by receive buffer, for three stacks that the senders of the study may have had."
    held = {
        panel: [
            of_keys(
                measured, f"{standard}, {STACK_WORDS[stack]}", {size: (stack, standard, size) for size in row.share},
                say="KB", places=range(len(row.share)),
            )
            for stack, row in ((stack, stacks[stack][standard]) for stack in STACKS)
        ]
        for panel, standard in zip(axes, SOME, strict=True)
    }  # fmt: skip
    return Picture("abdrabou-heterogeneous-b3-stacks", caption, figure, explain(figure, held))
