"""Figures of surveys: their curves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from mptcplab.cli.main import main
from mptcplab.survey.measure import Measured, Policy
from mptcplab.survey.networks import Link, Network
from mptcplab.survey.shared_bottleneck import Bottleneck, Share
from mptcplab.survey.short_flows import Load, Timed
from mptcplab.survey.survey_plots import goodputs, shares, times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINKS = (Link(8e6, 0.02, 40), Link(4e6, 0.02, 40))
TWO, LOSSY = Network("two", LINKS, None), Network("lossy", (LINKS[0], Link(4e6, 0.02, 40, loss=0.01)), None)


def measured(of_best: float, policy: str = "default", network: Network = TWO) -> Measured:
    return Measured(network, Policy(policy), of_best * 7.5e6, [7.5e6, 3.7e6], cast("Any", {}))


def line(axes: Axes, label: str) -> list[list[float]]:
    """Where a curve has its steps, and how high it is there; without where it comes from."""
    (found,) = (one for one in axes.lines if one.get_label() == label)
    x, y = (np.asarray(values, dtype=float) for values in found.get_data())
    return [list(x[1:]), list(y[1:])]


def test_a_curve_says_how_many_networks_have_how_little() -> None:
    figure = goodputs([measured(one) for one in (1.4, 0.9, 1.5, 1.0)] + [measured(0.5, "historical", LOSSY)])
    best, bound, total = figure.axes
    assert line(best, "default") == [pytest.approx([0.9, 1.0, 1.4, 1.5]), [0.25, 0.5, 0.75, 1]]
    assert line(best, "historical") == [pytest.approx([0.5]), [1]]
    low, high = best.get_xlim()
    assert low < 0.5 < 1.5 < high
    assert bound.get_xlabel() == "goodput / upper bound"
    # Of the sum only where nothing but the links limits a network.
    assert line(total, "default")[0][0] == pytest.approx(0.9 * 7.5 / 11.2)
    assert [one.get_label() for one in total.lines if not str(one.get_label()).startswith("_")] == ["default"]
    assert len(goodputs([measured(1, network=LOSSY)]).axes) == 2


def test_of_many_networks_the_last_ones_are_all_there() -> None:
    ratios = 1 + np.arange(10_000) / 10_000
    (best, *_) = goodputs([measured(float(one)) for one in ratios]).axes
    x, y = line(best, "default")
    assert len(x) < 600
    assert x[:100] == pytest.approx(list(ratios[:100]))
    assert y[0] == 1e-4
    assert 1e-5 < best.get_ylim()[0] < 1e-4


def test_times_have_a_curve_for_each_load_and_a_panel_for_what_they_are_held_against() -> None:
    def timed(load: Load, *ratios: float) -> list[Timed]:
        return [Timed(TWO, Policy("default"), load, one, [1.0, 2.0]) for one in ratios]

    small, large, blocks = Load(file=10_000), Load(file=2_000_000), Load(rate=1e6)
    figure = times(timed(small, 0.9, 1.1) + timed(large, 0.5, 0.8))
    first, best, joined = figure.axes
    assert line(first, "10 kB") == [pytest.approx([0.9, 1.1]), [0.5, 0]]
    assert [str(one.get_label()) for one in best.lines if "B" in str(one.get_label())] == ["2 MB"]
    assert joined.get_xlabel().endswith("from its join on")
    # No link delivers 2 MB in a second, so this network is infeasible.
    assert max(line(joined, "2 MB")[0]) < 0.8
    # Missing values are beyond the axis: half of the networks, up to its end.
    (alone,) = times(timed(blocks, 1.0, math.inf)).axes
    assert line(alone, "blocks at 1 Mb/s") == [[1.0], [0.5]]
    with pytest.raises(ValueError, match="no network carries"):
        times([Timed(TWO, Policy("default"), blocks, math.inf, [math.inf, math.inf])])


def test_policies_have_rows_of_their_own() -> None:
    every = [Timed(TWO, Policy(name), Load(file=10_000), 1.0, [1.0, 2.0]) for name in ("default", "historical")]
    assert [axes.get_title(loc="left") for axes in times(every).axes] == ["default", "historical"]


def test_shares_stand_over_the_flows_of_others() -> None:
    found = [
        Share(Bottleneck("neck", 1e7, 0.02, 30, 3), Policy(name), own, 2.0, 4.0, 1.0, 0.5)
        for name, own in (("default", 2.2), ("reno", 3.8))
    ]
    (axes,) = shares(found).axes
    points = {str(one.get_label()): one.get_xydata() for one in axes.lines}
    assert np.asarray(points["default"])[0] == pytest.approx([2.92, 1.1])
    assert np.asarray(points["reno"])[0] == pytest.approx([3.08, 1.9])


@pytest.mark.parametrize(
    ("given", "name"),
    [([], "survey"), (["--files", "10kB"], "short"), (["--blocks", "500kbit"], "short"), (["--shared"], "shared")],
)
def test_the_command_draws_them(given: list[str], name: str, tmp_path: Path) -> None:
    arguments = ["survey", "--networks", "1", "--seed", "12", "--seeds", "1", "--quiet", "--output", str(tmp_path)]
    assert main([*arguments, *given]) == 0
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")


def test_what_no_path_carries_has_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["survey", "--networks", "1", "--seed", "12", "--quiet", "--output", str(tmp_path)]
    assert main([*arguments, "--blocks", "99Mbit"]) == 0
    assert "0" in capsys.readouterr().out
    assert not (tmp_path / "short.png").exists()
