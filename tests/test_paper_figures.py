"""Figures of sweeps for papers: looks, widths, places of legends, titles, axes, intervals and equal bytes."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from conftest import Cli
from mptcplab import Scenario
from mptcplab.plots import figure_style
from mptcplab.plots.looks import COLOURS, LOOKS, looks, related_looks
from mptcplab.plots.sweep_plot import picture
from mptcplab.plots.sweep_series import Chart, Request
from mptcplab.plots.swept_axis import SweptAxis
from mptcplab.results.model.swept_values import SweptValues
from mptcplab.results.read.swept_values import read_swept
from mptcplab.run import sweep_plan
from mptcplab.util.user_input import BadResult

TWO = Path(sweep_plan.__file__).parents[1] / "scenarios" / "two.toml"
SHORT = ("--set", "duration=1s", "--set", "warmup=0s", "--quiet")
SCHEDULER, LOSS = "flows.*.scheduler", "paths.lte.loss"
KEYS = {LOSS: ["0%", "1%", "2%", "5%"], SCHEDULER: ["minrtt", "blest", "ecf"]}


def made(
    keys: Mapping[str, Sequence[str]] = KEYS, metrics: Sequence[str] = ("goodput",), seeds: int = 5
) -> SweptValues:
    """Values from 5 to 12, with a spread of the seeds of a few percent."""
    found = SweptValues("made", keys, metrics)
    for number, cell in enumerate(itertools.product(*keys.values())):
        for metric, seed in itertools.product(metrics, range(seeds)):
            found.add(cell, metric, ("made", seed), (5 + number % 8) * (1 + 0.01 * ((seed * 7 + number) % 5)))
    return found


def arranged(figure: Figure) -> Figure:
    """The figure with its final layout."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return figure


def boxes(figure: Figure) -> dict[str, list[Bbox]]:
    """The extents of panels with their labels, of legends, and of the note."""
    return {
        "panels": [box for axes in figure.axes if axes.get_visible() and (box := axes.get_tightbbox()) is not None],
        "legend": [legend.get_window_extent() for legend in figure.legends],
        "note": [text.get_window_extent() for text in figure.texts if text.get_text().startswith(("Points", "Bars"))],
    }


# Looks


def test_fifty_looks_differ_also_in_grey_and_as_bars() -> None:
    found = list(looks([f"name {at}" for at in range(50)]).values())
    assert len({look.curve for look in found}) == 50
    assert len({(look.line, look.marker) for look in found}) == 50
    assert len({look.bar for look in found}) == 50
    assert len({(look.color, look.line) for look in found[:35]}) == 35


def test_known_names_with_one_look_differ_in_one_figure() -> None:
    assert LOOKS["mptcp"] == LOOKS["lia"]
    found = looks([*LOOKS, *(f"name {at}" for at in range(40))])
    assert len({look.curve for look in found.values()}) == len(found)
    assert found["mptcp"] == LOOKS["mptcp"]
    assert looks(["lia"])["lia"] == LOOKS["lia"]


def test_pairs_of_names_have_their_own_looks() -> None:
    found = related_looks([f"hue {at}" for at in range(7)], [f"rest {at}" for at in range(8)])
    assert len({look.curve for look in found.values()}) == len({look.bar for look in found.values()}) == 56
    assert {found[f"hue {at}", "rest 0"].color for at in range(7)} == set(COLOURS)


def _linear(colour: str) -> Any:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear: Any) -> Any:
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    shares = matrix @ np.clip(linear, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(shares > 0.008856, np.cbrt(shares), 7.787 * shares + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(
    "vision",
    [
        np.eye(3),
        # Protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes, 2009, severity 1).
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ],
)
def test_colours_stay_apart_for_colour_blind_readers(vision: Any) -> None:
    found = [_lab(np.asarray(vision) @ _linear(colour)) for colour in COLOURS]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(found, 2)) > 15


# Places


@pytest.mark.parametrize("draw", ["lines", "bars"])
@pytest.mark.parametrize("width", [3.3, 6.8])
@pytest.mark.parametrize("series", [3, 40])
def test_legend_and_note_are_below_the_panels(draw: str, width: float, series: int) -> None:
    keys = {LOSS: KEYS[LOSS], SCHEDULER: [f"scheduler{at}" for at in range(series)]}
    figure = arranged(picture(made(keys), Request(hue=SCHEDULER, draw=draw), width=width))
    found, (wide, high) = boxes(figure), figure.get_size_inches() * figure.dpi
    assert figure.get_figwidth() == width
    assert len(found["legend"]) == len(found["note"]) == 1
    assert len(figure.legends[0].get_texts()) == series
    for box in itertools.chain(*found.values()):
        assert -1 <= box.x0 < box.x1 <= wide + 1
        assert -1 <= box.y0 < box.y1 <= high + 1
    assert found["note"][0].y1 <= found["legend"][0].y0 + 1
    assert found["legend"][0].y1 <= min(box.y0 for box in found["panels"]) + 1


def test_labels_of_ticks_do_not_overlap() -> None:
    names = [f"scheduler{at}" for at in range(12)]
    many = [f"{at / 2:g}%" for at in range(30)]
    for figure in (
        picture(made({SCHEDULER: names}), Request(draw="bars"), width=3.3),
        picture(made({LOSS: many}), width=3.3),
        picture(made({LOSS: many, SCHEDULER: KEYS[SCHEDULER]}), Request(facet=SCHEDULER), width=3.3),
    ):
        for axes in arranged(figure).axes:
            texts = [text for text in axes.get_xticklabels() if text.get_text()]
            if not axes.get_visible() or texts[0].get_rotation():
                continue
            found = [text.get_window_extent() for text in texts]
            assert all(one.x1 <= other.x0 for one, other in itertools.pairwise(found))
    rotated = picture(made({SCHEDULER: names}), Request(draw="bars"), width=3.3).axes[0].get_xticklabels()
    assert {text.get_rotation() for text in rotated} == {35.0}


def test_a_fixed_height_is_kept_or_refused() -> None:
    assert tuple(picture(made(), width=3.3, height=2.4).get_size_inches()) == (3.3, 2.4)
    with pytest.raises(BadResult, match=r"height = 1 in: must be at least 1\.\d in"):
        picture(made(), width=3.3, height=1.0)


def test_letters_of_a_column_are_readable() -> None:
    figure = arranged(picture(made(), width=3.3))
    sizes = {float(text.get_fontsize()) for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()}
    assert 6 <= min(sizes) <= max(sizes) <= 8


# Words


def test_titles_name_metric_and_keys_and_legends_name_each_key_once() -> None:
    figure = picture(made(), Request(hue=SCHEDULER))
    assert figure.get_suptitle() == "made: goodput by loss and scheduler"
    legend = figure.legends[0]
    assert legend.get_title().get_text() == "scheduler"
    assert [text.get_text() for text in legend.get_texts()] == KEYS[SCHEDULER]
    assert [axes.get_title(loc="left") for axes in picture(made(), Request(facet=SCHEDULER)).axes] == [
        "scheduler minrtt",
        "scheduler blest",
        "scheduler ecf",
    ]
    assert picture(made(), width=3.3).get_suptitle() == "", "a caption of the paper replaces the title"


@pytest.mark.parametrize(
    ("request_", "seeds", "says"),
    [
        (Request(), 5, "Points: means of 5 seeds. Error bars: 95% confidence intervals (Student's t)."),
        (Request(), 1, "One seed per point, so there is no interval."),
        (Request(draw="box"), 5, "Boxes: quartiles and median of 5 seeds."),
        (Request(draw="cdf"), 5, "Each curve: 5 seeds, one step per seed."),
        (Request(draw="bars", normalise=f"{SCHEDULER}=minrtt"), 5, "divided by scheduler minrtt seed by seed."),
    ],
)
def test_the_note_states_seeds_and_error_bars(request_: Request, seeds: int, says: str) -> None:
    notes = [text.get_text().replace("\n", " ") for text in picture(made(seeds=seeds), request_).texts]
    assert any(says in note for note in notes), notes


def test_the_note_states_that_only_timing_varies() -> None:
    found = made()
    assert "small delays of hosts" not in _note(found)
    found.fixed_networks = 1.0
    assert "seeds change only small delays of hosts: the spread is that of timing, not of networks" in _note(found)
    found.fixed_networks = 0.25
    assert "At 25% of the points, seeds change only" in _note(found)


def _note(found: SweptValues) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in picture(found).texts)


# Data


@pytest.mark.parametrize("draw", ["lines", "box", "bars"])
def test_vertical_axes_start_at_zero_and_panels_share_them(draw: str) -> None:
    figure = picture(made(metrics=("goodput", "completion_s")), Request(facet=SCHEDULER, draw=draw))
    limits = [axes.get_ylim() for axes in figure.axes]
    assert {low for low, _ in limits} == {0.0}
    assert len({high for _, high in limits[:3]}) == 1


def test_curves_with_equal_values_are_all_visible() -> None:
    found = SweptValues("equal", KEYS, ["goodput"])
    for cell, seed in itertools.product(found.cells(), range(3)):
        found.add(cell, "goodput", ("", seed), 5.0)
    drawn = [line for line in picture(found).axes[0].lines if line.get_marker() in ("o", "s", "^")]
    assert len(drawn) == 3
    assert len({str(line.get_xdata()) for line in drawn}) == 3, "shifted"
    widths = [line.get_linewidth() for line in drawn]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3
    assert {line.get_markerfacecolor() for line in drawn} == {"white"}


def test_shifts_are_small_and_distinct() -> None:
    for axis, most in ((SweptAxis.of(["0%", "1%", "5%"]), 0.11), (SweptAxis.of(["lia", "olia"]), 0.36)):
        places = [axis.shifted(1, rank, 12) for rank in range(12)]
        assert len(set(places)) == 12
        assert max(abs(place - axis.places[1]) for place in places) < most
    wide = SweptAxis.of(["100kbit", "1Mbit", "100Mbit"])
    assert wide.is_logarithmic
    assert wide.shifted(0, 0, 3) > 0


def test_bars_relative_to_a_baseline_have_a_paired_interval() -> None:
    found = SweptValues("ratio", {SCHEDULER: ["minrtt", "blest"]}, ["goodput"])
    for seed, base in enumerate((1.0, 10.0, 100.0)):
        found.add(("minrtt",), "goodput", ("", seed), base)
        found.add(("blest",), "goodput", ("", seed), 2 * base)
    chart = Chart(found, Request(draw="bars", normalise=f"{SCHEDULER}=minrtt"))
    point = chart.point(("blest",), "goodput")
    assert (point.mean, point.low, point.high) == pytest.approx((2.0, 2.0, 2.0)), "the networks differ, not the ratio"
    assert chart.values(("blest",), "goodput") == [2.0, 2.0, 2.0]
    axes = picture(found, Request(draw="bars", normalise=f"{SCHEDULER}=minrtt")).axes[0]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([1.0, 2.0])  # type: ignore[attr-defined]
    assert axes.get_ylabel() == "goodput relative to minrtt"


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (Request(hue="flows.*.schedule"), "--hue: unknown varied key 'flows.*.schedule'; did you mean"),
        (Request(x=LOSS, hue=LOSS), f"--x and --hue are both {LOSS}"),
        (Request(normalise=f"{SCHEDULER}=lia"), "--normalise: unknown value of flows"),
    ],
)
def test_unknown_keys_are_refused(request_: Request, says: str) -> None:
    with pytest.raises(BadResult) as raised:
        Chart(made(), request_)
    assert says in str(raised.value)


def test_more_combinations_than_line_styles_are_refused() -> None:
    keys = {LOSS: ["0%", "1%"], SCHEDULER: ["minrtt", "blest"], "paths.lte.rate": [f"{at}Mbit" for at in range(1, 10)]}
    with pytest.raises(BadResult, match="have 9 combinations, above the maximum of 8 line styles; use --x or --facet"):
        Chart(made(keys), Request(hue=SCHEDULER))


# Commands


def test_a_saved_sweep_is_drawn_as_the_paper_needs_it(cli: Cli, tmp_path: Path) -> None:
    vary = ("--vary", f"{LOSS}=0%,1%", "--vary", f"{SCHEDULER}=minrtt,roundrobin", "--seeds", "2")
    cli("sweep", TWO, *SHORT, *vary, "--hue", SCHEDULER, "--width", "3.3in", "--output", "s")
    found = read_swept(tmp_path / "s", "goodput,latency_p95_s")
    assert found.keys == {LOSS: ["0%", "1%"], SCHEDULER: ["minrtt", "roundrobin"]}
    assert found.fixed_networks == 0.5
    assert {len(found.of(cell, "goodput")) for cell in found.cells()} == {2}
    same = ("plot", "s", "--hue", SCHEDULER, "--width", "84mm", "--draw", "bars", "--output")
    cli(*same, "one.pdf")
    cli(*same, "two.pdf")
    written = (tmp_path / "one.pdf").read_bytes()
    assert written == (tmp_path / "two.pdf").read_bytes()
    assert b"/FontFile2" in written
    assert b"/Type3" not in written
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        cli(*same, name)
        assert (tmp_path / name).read_bytes().startswith(start)
    cli("merge", "s", "--output", "merged")
    assert list(read_swept(tmp_path / "merged", "goodput").keys) == [LOSS, SCHEDULER]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--hue", "flows.*.schedulr"), "did you mean flows.*.scheduler"),
        (("--x", LOSS, "--scale"), "--scale does not apply to a figure over the keys of a sweep"),
        (("--x", LOSS, "--published"), "--x does not apply to --published"),
        (("--width", "3.3in", "--size", "3x3"), "--size and --width both set the width"),
        (("--width", "3.3m"), "'3.3m' is not a width; write a number and in, mm, cm or pt"),
        (("--x", LOSS, "--metric", "goodputt"), "did you mean goodput"),
    ],
)
def test_options_of_other_figures_are_refused(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    cli("sweep", TWO, *SHORT, "--vary", f"{LOSS}=0%,1%", "--vary", f"{SCHEDULER}=minrtt,ontime", "--output", "s")
    assert says in cli("plot", "s", *arguments, expect=2).stderr


def test_a_wrong_key_is_refused_before_the_runs(cli: Cli, tmp_path: Path) -> None:
    for command in ("sweep", "compare"):
        done = cli(command, TWO, *SHORT, "--vary", f"{LOSS}=0%,1%", "--hue", "x", "--output", "no", expect=2)
        assert "--hue: unknown varied key 'x'" in done.stderr
        assert not (tmp_path / "no" / "flows.parquet").exists()


def test_a_comparison_whose_seeds_change_only_delays_says_so(cli: Cli) -> None:
    fixed = ("--set", f"{LOSS}=0%", "--seeds", "2")
    done = cli("compare", TWO, *SHORT, *fixed, "--scheduler", "minrtt,roundrobin").stdout
    assert "note: this network has no random events. Seeds change only the small delays of hosts" in done
    done = cli("compare", TWO, *SHORT, "--seeds", "2", "--vary", f"{LOSS}=0%,1%").stdout
    assert "at 1 of 2 points, the network has no random events" in done
    assert f"(first such point: {LOSS}=0%)" in done


def test_json_and_notebooks_state_that_seeds_change_only_timing(cli: Cli) -> None:
    vary = ("--vary", f"{LOSS}=0%,1%", "--seeds", "2", "--json")
    for command in ("sweep", "compare"):
        rows = json.loads(cli(command, TWO, *SHORT, *vary).stdout)
        assert {row["point"][LOSS]: row["seeds_change"] for row in rows} == {"0%": "timing", "1%": "network"}
    scenario = Scenario.load(TWO).vary({"duration": "1s", "warmup": "0s"})
    words = "these are not intervals over networks"
    assert words in scenario.vary({LOSS: "0%"}).runs([1, 2])._repr_html_()
    assert words not in scenario.runs([1, 2])._repr_html_()
    output = cli("why", TWO, *SHORT, "--set", f"{LOSS}=0%", "--seeds", "2").stdout
    assert "Seeds change only the small delays of hosts" in output


def test_the_figure_of_runs_names_keys_once() -> None:
    scenario = Scenario.load(TWO).vary({"duration": "1s", "warmup": "0s"})
    [axes] = scenario.sweep({SCHEDULER: ["minrtt", "ontime"], LOSS: ["0%", "1%"]}, seeds=[1, 2]).plot().axes
    assert axes.get_ylabel() == "scheduler, loss"
    assert [text.get_text() for text in axes.get_yticklabels()][:2] == ["minrtt, 0%", "minrtt, 1%"]
    assert axes.get_xlabel() == "goodput [Mb/s], means and 95% intervals"
    [axes] = scenario.runs([1]).plot().axes
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("", "goodput [Mb/s]")


def test_a_narrow_figure_over_time_has_small_letters(cli: Cli) -> None:
    cli("run", TWO, "--set", "duration=2s", "--set", "warmup=0s", "--output", "r")
    cli("plot", "r", "--width", "3.3in", "--output", "narrow.svg")
    cli("plot", "r", "--size", "5x4", "--output", "wide.svg")
    assert "all runs of this result have the same values" in cli("plot", "r", "--x", "variant", expect=2).stderr
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure()
        axes.set_title("a title")
    figure_style.reduce_letters(figure)
    [title] = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text() == "a title"]
    assert title.get_fontsize() == pytest.approx(11 * 7.5 / 9.5)


def test_legends_below_axes_clear_their_labels_at_any_size() -> None:
    for size in ((3.3, 2.4), (8.0, 5.0)):
        with figure_style.house_style():
            figure, (axes,) = figure_style.new_figure()
            axes.plot([0, 1], label="one")
            axes.set_xlabel("time [s]")
            figure_style.legend_below(axes)
        figure.set_size_inches(*size)
        legend = arranged(figure).axes[0].get_legend()
        assert legend is not None
        assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0


def test_other_hash_seeds_give_the_same_pdf() -> None:
    code = (
        "import hashlib; from mptcplab.plots import figure_style as f\n"
        "with f.house_style():\n"
        "    figure, (axes,) = f.new_figure(); axes.plot([1, 2]); axes.set_title('± µ –')\n"
        "print(hashlib.sha256(f.pdf(figure)).hexdigest())"
    )
    found = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.add(done.stdout)
    assert len(found) == 1
