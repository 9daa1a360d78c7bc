"""Statistics and models against known values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.stats import formulas, statistics

POSITIVE = st.floats(min_value=1e-3, max_value=1e6)


@pytest.mark.parametrize(
    ("probability", "degrees", "quantile"),
    [
        (0.975, 1, 12.7062),
        (0.975, 4, 2.77645),
        (0.975, 9, 2.26216),
        (0.975, 29, 2.04523),
        (0.95, 9, 1.83311),
        (0.995, 5, 4.03214),
        (0.025, 9, -2.26216),
        (0.5, 3, 0.0),
        (0.975, 1e7, 1.95996),
    ],
)
def test_quantiles_are_those_of_the_tables(probability: float, degrees: float, quantile: float) -> None:
    assert statistics.t_quantile(probability, degrees) == pytest.approx(quantile, abs=2e-4)


@pytest.mark.parametrize(("probability", "degrees"), [(0, 3), (1, 3), (0.5, 0)])
def test_a_quantile_of_nothing_is_refused(probability: float, degrees: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        statistics.t_quantile(probability, degrees)


def test_an_interval_by_hand() -> None:
    estimate = statistics.estimate([1, 2, 3, 4, 5])
    assert estimate.mean == 3
    assert estimate.half_width == pytest.approx(2.77645 * math.sqrt(2.5 / 5), rel=1e-5)
    assert (estimate.low, estimate.high) == (3 - estimate.half_width, 3 + estimate.half_width)
    assert str(estimate) == "3.00 ± 1.96"


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    assert statistics.estimate([2.5]) == statistics.Estimate(2.5, 0.0, 1)
    assert str(statistics.estimate([2.5])) == "2.50"
    assert math.isnan(statistics.estimate([]).mean)


@pytest.mark.parametrize(("ratio", "index"), [(1, 1.0), (1.25, 0.988), (1.5, 0.962), (2, 0.9), (3, 0.8)])
def test_fairness_of_two(ratio: float, index: float) -> None:
    assert statistics.jain([ratio, 1]) == pytest.approx(index, abs=5e-4)


@given(st.lists(POSITIVE, min_size=1, max_size=20))
def test_fairness_lies_between_one_nth_and_one(values: list[float]) -> None:
    assert 1 / len(values) - 1e-9 <= statistics.jain(values) <= 1 + 1e-9


@pytest.mark.parametrize(("multipath", "benefit"), [(8, 0.0), (10, 1.0), (9, 0.5), (4, -0.5), (0, -1.0), (12, 2.0)])
def test_aggregation_benefit(multipath: float, benefit: float) -> None:
    assert statistics.aggregation_benefit(multipath, [8, 2]) == pytest.approx(benefit)


def test_no_benefit_where_nothing_can_be_gained() -> None:
    assert math.isnan(statistics.aggregation_benefit(8, [8]))
    assert math.isnan(statistics.aggregation_benefit(1, []))


def test_distribution() -> None:
    values, shares = statistics.distribution([3, 1, 2, 2])
    assert values.tolist() == [1, 2, 2, 3]
    assert shares.tolist() == [0.25, 0.5, 0.75, 1.0]


def test_correlation() -> None:
    assert statistics.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert statistics.correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert math.isnan(statistics.correlation([1, 2, 3], [5, 5, 5]))


def test_transfers_that_never_ended_are_counted_apart() -> None:
    assert statistics.transfer_times([1.5, None, 2.0]) == ([1.5, 2.0], 1)


@pytest.mark.parametrize(
    ("rtt", "one", "two"),
    [
        (0.06, 1.40, 0.99),
        (0.075, 1.15, 0.81),
        (0.1, 0.88, 0.62),
        (0.15, 0.61, 0.43),
        (0.2, 0.46, 0.33),
        (0.3, 0.31, 0.22),
    ],
)
def test_the_model_of_padhye_at_two_percent(rtt: float, one: float, two: float) -> None:
    assert formulas.pftk(0.02, rtt) / 1e6 == pytest.approx(one, abs=0.011)
    assert formulas.pftk(0.02, rtt, acked=2) / 1e6 == pytest.approx(two, abs=0.011)


def test_without_loss_the_window_limits_the_model() -> None:
    assert formulas.pftk(0, 0.1, window=125_000) == formulas.window_limit(125_000, 0.1) == 10e6


@pytest.mark.parametrize(
    ("losses", "rtts", "best"),
    [([1e-3, 1e-3], [0.1, 0.1], 0), ([0.01, 1e-3], [0.02, 0.15], 0), ([1e-3, 4e-3], [0.02, 0.02], 0)],
)
def test_lia_gets_as_much_as_reno_on_the_best_path(losses: list[float], rtts: list[float], best: int) -> None:
    alone = formulas.reno_window(losses[best]) / rtts[best] * formulas.MSS * 8
    assert sum(formulas.lia_rates(losses, rtts)) == pytest.approx(alone, rel=1e-3)


def test_a_line_carries_its_frames() -> None:
    assert formulas.line_goodput(8e6) == pytest.approx(8e6 * 1448 / 1514)
