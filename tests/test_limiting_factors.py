"""Limiting factors below the figures of the report: from measured shares, or none."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, cast
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from conftest import Cli
from mptcplab.plots import figure_style
from mptcplab.reproduce.report import page, sources, verdict_of
from mptcplab.reproduce.runner import HELD, Reproduction, reproduce
from mptcplab.results.text.reasons import WORDS
from mptcplab.results.text.summary import LIMITS
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.studies import STUDIES
from mptcplab.studies.base import Effort, Measured, Study
from mptcplab.studies.cs244_rcvbuf import window_figure
from mptcplab.studies.cs244_rcvbuf.network import MAIN, mptcp, paths, tcp
from mptcplab.studies.cs244_rcvbuf.window import Window
from mptcplab.studies.cs244_wireless.handoff import Handoff, handoff
from mptcplab.studies.limiting_factor_panels import LANE_LOOKS, LOOKS, NAMES, explain, panels, under_distribution
from mptcplab.studies.limiting_factors import Curve, multipath, of_flows, of_keys, sentences, whole
from mptcplab.studies.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

    from mptcplab._core import FlowRow
    from mptcplab.results.run import Run


def made(label: str, shares: dict[str, tuple[float, ...]], rates: tuple[float, ...], **more: bool) -> Curve:
    """A curve over 1, 2, ... KB."""
    values = range(1, len(rates) + 1)
    each = tuple({name: row[at] for name, row in shares.items()} for at in range(len(rates)))
    return Curve(label, tuple(f"{at} KB" for at in values), tuple(map(float, values)), each, rates, **more)


NONE: dict[float, list[FlowRow]] = {}
FALLING = made("a", {"send_buffer": (1.0, 0.9, 0.2), "head_of_line": (0.0, 0.1, 0.8)}, (8.0, 8.0, 4.0))


def test_a_sentence_says_where_which_reason_is_the_heaviest() -> None:
    first, second = sentences([FALLING])
    older = LIMITS["head_of_line"]
    assert first == (
        f"a: the send buffer limited the flow up to 2 KB (90 to 100 % of the time), {older} at 3 KB (80 %)."
    )
    assert second == (
        "a: goodput falls from 8.0 Mb/s at 2 KB to 4.0 Mb/s at 3 KB, "
        f"and the share of time limited by {older} grows from 10 to 80 %."
    )


def test_a_fall_that_no_share_explains_is_not_explained() -> None:
    flat = made("", {"congestion_window": (1.0, 0.95, 1.0)}, (8.0, 4.0, 1.0))
    assert sentences([flat]) == ("The congestion windows limited the flow throughout (95 to 100 % of the time).",)


def test_curves_of_which_the_same_is_to_be_said_share_a_sentence() -> None:
    others = [made(label, {"scheduler": (0.5, share), "application": (0.5, 1 - share)}, (1.0, 1.0))
              for label, share in (("b", 0.6), ("c", 0.8))]  # fmt: skip
    assert sentences([*others, FALLING])[0].startswith("b; c: the scheduler limited the flow throughout (50 to 80 %")


def test_without_an_order_values_are_named() -> None:
    bars = made("", {"scheduler": (1.0, 0.1, 0.9), "application": (0.0, 0.9, 0.1)}, (1.0, 5.0, 1.0), ordered=False)
    (output,) = sentences([bars])
    assert output.startswith("The scheduler limited the flow with 1 KB and 3 KB (90 to 100 % of the time), ")
    assert output.endswith("with 2 KB (90 %).")


def test_of_many_changes_only_the_span_is_said() -> None:
    turns = made("", {"scheduler": (0.9, 0.1) * 3, "application": (0.1, 0.9) * 3}, (1.0,) * 6)
    (output,) = sentences([turns])
    assert output.count("alternately (10 to 90 %") == 2


@pytest.fixture(scope="module")
def measured() -> Measured:
    """TCP, and MPTCP without mechanisms where the study's curve falls; two seeds."""
    both = paths(MAIN)
    scenarios = {size: mptcp(both, "none", size) for size in (50, 200)}
    runs = [((size,), run) for size, scenario in scenarios.items() for run in scenario.runs([1, 2])]
    return Measured([*runs, (("tcp",), tcp(both, "wifi", 50).run())])


def test_the_words_are_those_of_the_shares_that_were_measured(measured: Measured) -> None:
    one = of_keys(measured, "", {size: (size,) for size in (50, 200)}, say="KB")
    assert one is not None
    for at, size in enumerate((50, 200)):
        rows = [run.flow() for run in measured.runs(size)]
        assert one.rates[at] == pytest.approx(fmean(row["goodput"] for row in rows) / 1e6)
        for name, share in one.shares[at].items():
            assert share == pytest.approx(fmean(row["limits"][name] for row in rows))
        assert sum(one.shares[at].values()) == pytest.approx(1)
    # The curve of this study bends because older data wait on 3G.
    assert one.most == ("send_buffer", "head_of_line")
    blocked = fmean(run.flow()["limits"]["head_of_line"] for run in measured.runs(200))
    first, second = sentences([one])
    assert f"at 200 KB ({100 * blocked:.0f} %)" in first
    assert second.endswith(f"grows from 0 to {100 * blocked:.0f} %.")


def test_where_no_shares_were_measured_nothing_is_said(measured: Measured) -> None:
    assert multipath(measured.runs("tcp")) == []
    row: FlowRow = {**measured.one(50).flow(), "limits": {}}
    silent = of_flows("", {50.0: multipath(measured.runs("tcp")), 200.0: multipath(measured.runs(200))})
    assert silent is None
    assert of_flows("", NONE) is None
    assert sentences([None]) == whole({"x": []}) == ()
    assert sum(row["limits"].values()) == 0
    figure, (axes,) = figure_style.new_figure()
    height = figure.get_figheight()
    assert explain(figure, {axes: [None]}) == ()
    assert (figure.axes, figure.get_figheight()) == ([axes], height)


def test_the_panel_stands_below_and_shares_the_axis() -> None:
    drawn = []
    for _ in range(2):
        with figure_style.house_style():
            figure, (axes,) = figure_style.new_figure()
            figure_style.curve(axes, FALLING.places, FALLING.rates, "goodput", figure_style.LOOKS["mptcp"])
            figure_style.finish(axes, x="buffer [KB]", y="goodput [Mb/s]")
            output = explain(figure, {axes: [FALLING]})
        assert output == sentences([FALLING])
        panel = figure.axes[-1]
        drawn.append((figure_style.svg(figure), figure_style.png(figure)))
        assert panel.get_xlim() == axes.get_xlim()
        above, below = axes.get_position(), panel.get_position()
        assert below.y1 < above.y0
        assert (below.x0, below.x1) == pytest.approx((above.x0, above.x1))
        assert panel.get_ylim() == (0, 100)
        # A colour for each reason, from 0 to 100 without a gap.
        tops = [float(shape.get_paths()[0].vertices[:, 1].max()) for shape in panel.collections]  # type: ignore[union-attr, index]
        assert max(tops) == pytest.approx(100)
        assert len(tops) == 2
    assert drawn[0] == drawn[1]


def test_one_reason_everywhere_needs_no_panel() -> None:
    figure, (axes,) = figure_style.new_figure()
    flat = made("", {"congestion_window": (0.99, 0.95)}, (1.0, 1.0))
    assert explain(figure, {axes: [flat]}) == sentences([flat])
    assert figure.axes == [axes]


def test_bars_stand_below_their_bars() -> None:
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure()
        series = {name: (figure_style.LOOKS[name], [(1.0, 0.0)] * 3) for name in ("mptcp", "wifi")}
        figure_style.grouped_bars(axes, ["1", "2", "3"], series)
        one = Curve(
            "", FALLING.values, tuple(figure_style.bar_places(3, 1, 2)), FALLING.shares, FALLING.rates, ordered=False
        )
        explain(figure, {axes: [one]}, bars=figure_style.bar_width(2))
    middles = [
        [bar.get_x() + bar.get_width() / 2 for bar in cast("list[Rectangle]", each)[:3]]
        for each in (axes.patches[3:], figure.axes[-1].patches)
    ]
    assert middles[0] == pytest.approx(middles[1])


def test_reasons_have_the_names_of_the_core_and_are_told_apart_in_grey() -> None:
    assert set(NAMES) == set(LOOKS) == set(LIMITS)
    for table in (LOOKS, {name: look for name, look in LANE_LOOKS.items() if name in WORDS}):
        looks = []
        for color, hatch in table.values():
            red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
            looks.append((0.299 * red + 0.587 * green + 0.114 * blue, hatch))
        for at, (grey, hatch) in enumerate(looks):
            assert all(abs(grey - other) > 15 or hatch != its for other, its in looks[at + 1 :]), list(table)[at]


@pytest.fixture(scope="module")
def handed_over() -> Run:
    """The first study's handoff, watched as `reproduce` does it."""
    return run_jobs([Job(handoff("admin").core, 1, trace=HELD)], quiet=True)[0]


def test_a_time_course_has_a_lane_for_each_path(handed_over: Run) -> None:
    with figure_style.house_style():
        picture = Handoff()._picture("admin", "", handed_over)
        above, panel = picture.figure.axes[0], picture.figure.axes[-1]
        assert len(figure_style.svg(picture.figure)) < 100_000
    assert [text.get_text() for text in panel.get_yticklabels()] == ["ethernet", "wifi", "3g"]
    assert panel.get_xlim() == above.get_xlim()
    output = picture.why[-1]
    # Ethernet is down for 21 s of 40, WiFi for 7; 3G loses 2%.
    assert "ethernet: no subflow 53 %" in output
    assert "wifi: path capacity" in output
    assert "no subflow 18 %" in output
    assert re.search(r"3g: random loss [89]\d %", output)
    down = [bar for bar in cast("list[Rectangle]", panel.patches) if bar.get_y() < 0 and bar.get_x() > 6]
    assert 6.9 < down[0].get_x() < 7.5
    assert 27.5 < down[0].get_x() + down[0].get_width() < 28.6


def test_a_run_that_nobody_watched_has_no_lanes() -> None:
    picture = Handoff()._picture("admin", "", handoff("admin").run())
    assert len(picture.figure.axes) == 1
    assert picture.why


def test_a_distribution_has_a_bar_for_each_curve(measured: Measured) -> None:
    flows = {f"{size} KB": multipath(measured.runs(size)) for size in (50, 200)}
    figure, _ = figure_style.new_figure()
    assert under_distribution(figure, flows) == whole(flows)
    panel = figure.axes[-1]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["50 KB", "200 KB"]
    bars = cast("list[Rectangle]", panel.patches)
    for place in (0, 1):
        mine = [bar for bar in bars if abs(bar.get_y() + bar.get_height() / 2 - place) < 1e-9]
        assert sum(bar.get_width() for bar in mine) == pytest.approx(100, abs=2)
    alike = {"a": flows["50 KB"], "b": flows["50 KB"]}
    before = len(figure.axes)
    assert under_distribution(figure, alike) == whole(alike)
    assert len(figure.axes) == before, "one reason everywhere needs no bars"


def test_for_a_look_it_is_said_and_not_drawn(measured: Measured) -> None:
    flows = {f"{size} KB": multipath(measured.runs(size)) for size in (50, 200)}
    figure, _ = figure_style.new_figure()
    before = len(figure.axes)
    with panels(drawn=False):
        assert under_distribution(figure, flows) == whole(flows)
    assert len(figure.axes) == before
    under_distribution(figure, flows)
    assert len(figure.axes) > before


def test_a_drawing_is_smaller_and_still_one() -> None:
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure()
        axes.plot([0, 1], [0, 1 / 3])
    drawn = figure_style.svg(figure)
    ET.fromstring(drawn)  # noqa: S314, RUF100 - drawn by us
    assert b"scale(0.015625)" in drawn, "what makes letters as large as they are is no place"
    assert not re.search(rb' (?:d|x|y)="[^"]*\d\.\d\d\d', drawn)


@pytest.fixture(scope="module")
def window() -> Reproduction:
    study = STUDIES["cs244-rcvbuf"]
    only = Study(study.name, study.letter, study.title, study.source, study.summary, [Window()])
    return reproduce([only], Effort("quick"), quiet=True, rounds=(1,))


def test_each_figure_of_the_report_says_why_and_how_to_repeat_it(window: Reproduction, cli: Cli) -> None:
    (outcome,) = window.outcomes.values()
    written = page(window, {picture.name: b"" for picture in outcome.pictures})
    figures = re.findall(r"<figure>.*?</figure>", written, re.DOTALL)
    assert len(figures) == len(outcome.pictures) == 2
    for text, picture in zip(figures, outcome.pictures, strict=True):
        assert picture.why
        assert all(sentence in text for sentence in picture.why)
    (how,) = re.findall(r'<details class="how">.*?</details>', written, re.DOTALL)
    assert 'href="scenarios/C1.toml"' in how
    assert "<code>mptcplab reproduce cs244-rcvbuf/C1 --quick</code>" in how
    assert "<code>mptcplab study cs244-rcvbuf/C1 --output DIR</code>" in how
    output = "".join(figures)
    assert "no mechanism: goodput falls from 7.5 Mb/s at 50 KB" in output
    assert LIMITS["head_of_line"] in output
    assert "C1: " in cli("study", "cs244-rcvbuf/C1").stdout


def test_figures_come_first_then_the_verdict_then_what_was_measured(window: Reproduction) -> None:
    (outcome,) = window.outcomes.values()
    written = page(window, {picture.name: b"" for picture in outcome.pictures})
    places = [
        written.index(text)
        for text in ("Effort: <code>quick</code>", "<figure>", '<p class="verdict">', "<dt>measured</dt>")
    ]
    assert places == sorted(places)
    assert "<dt>planted errors</dt>" in written
    assert written.count('<details class="experiment">') == 1
    before = written[: written.index("<section id=")]
    assert len(re.sub(r"<style>.*?</style>|<details>.*?</details>|<[^>]+>", " ", before, flags=re.DOTALL).split()) < 200


def test_captions_speak_of_windows_that_were_run(window: Reproduction) -> None:
    (outcome,) = window.outcomes.values()
    captions = " ".join(picture.caption for picture in outcome.pictures)
    assert "400 KB" in captions, "what the study says"
    for absent in ("175 KB", "165", "90 KB"):
        assert absent not in captions
    assert "175 KB" not in window_figure._seen(MAIN, (90, 175))
    assert "175 KB" in window_figure._seen(MAIN, (90, 150, 175, 200))
    assert "165" not in window_figure._seen(MAIN, (90, 150, 175, 200))
    assert "165" in window_figure._seen(MAIN, range(5, 501, 5))


def test_the_spike_of_the_window_figure_is_no_matter_of_one_seed_or_of_the_length_of_a_run() -> None:
    """The statements of its caption: WiFi's first loss after slow start is late at 175 KB, and the flow stays
    faster.
    """
    both = paths(MAIN)
    sizes = (150, 175, 200)
    jobs = [Job(mptcp(both, "none", size).vary({"duration": "150s"}).core, seed) for size in sizes for seed in (1, 2)]
    runs = run_jobs(jobs, quiet=True)
    rates = [run.flow()["goodput"] / 1e6 for run in runs]
    series = (run.series("retransmits", path="wifi") for run in runs)
    # The first sample has those of slow start.
    losses = [float(times[1:][np.diff(count) > 0][0]) for times, count in series]
    assert rates[0::2] == pytest.approx(rates[1::2], rel=0.03), "seeds agree"
    assert min(rates[2:4]) > 1.15 * max(*rates[:2], *rates[4:])
    assert min(losses[2:4]) > 35
    assert max(*losses[:2], *losses[4:]) < 12


def test_every_line_of_the_window_figure_is_in_its_legend_and_goodput_has_intervals(window: Reproduction) -> None:
    (outcome,) = window.outcomes.values()
    for picture in outcome.pictures:
        figure = picture.figure
        [legend] = figure.legends
        named = {text.get_text() for text in legend.get_texts()}
        panels = [axes for axes in figure.axes if axes.get_xlabel().startswith("receive window")]
        drawn = {str(line.get_label()) for axes in panels for line in axes.lines}
        assert {label for label in drawn if not label.startswith("_")} <= named
        assert "published: maximum at 300 KB, M1 and M2" in named
        assert any(axes.collections or axes.containers for axes in panels), "bars of intervals"
        assert "95% intervals over the seeds" in picture.caption


def test_the_kinds_of_sources_are_said() -> None:
    output = sources(list(STUDIES.values()))
    first, rest = output.split(", ", 1)
    assert first == "Five sources: three student reports (two reproduce a paper of NSDI 2012)"
    assert rest == "one conference paper and one journal paper."
    assert sources([STUDIES["cs244-rcvbuf"]]) == (
        "One source: one student report (it reproduces a paper of NSDI 2012)."
    )
    assert sources([]) == ""


def test_a_verdict_is_one_sentence(window: Reproduction) -> None:
    (outcome,) = window.outcomes.values()
    first = outcome.facts[0]

    def output(*verdicts: Verdict) -> str:
        return verdict_of([replace(first, verdict=one, fact=f"C-{at}") for at, one in enumerate(verdicts)])

    assert output("holds") == "The published claim holds."
    assert output("holds", "holds") == "Both published claims hold."
    assert output("holds", "holds", "holds") == "All 3 published claims hold."
    assert (
        output("fails", "holds", "undecided")
        == "Of 3 published claims, 1 holds, 1 is undecided (C-2) and 1 fails (C-0)."
    )
    assert verdict_of([replace(first, origin="ours")]).startswith(
        "Of 1 control" if first.verdict != "holds" else "The control"
    )
    assert verdict_of([]) == ""
