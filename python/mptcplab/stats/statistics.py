"""Statistics of results and studies: confidence intervals, ratios, fairness, aggregation benefit, distributions.

Owns the formulas, each with its source. Uses no random numbers, so equal values give equal verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval, from `n` independent values."""

    mean: float
    half_width: float
    n: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width

    def __str__(self) -> str:
        """Formatted as `1.23 ± 0.04`, small means with two digits; without interval for one value."""
        small = 0.0 < abs(self.mean) < 0.095
        digits = min(1 - math.floor(math.log10(abs(self.mean))), 9) if small else 2
        mean = f"{self.mean:.{digits}f}"
        return mean if self.n < 2 else f"{mean} ± {self.half_width:.{digits}f}"


def estimate(values: Iterable[float], confidence: float = 0.95) -> Estimate:
    """Mean and confidence interval by Student's t; an interval of zero width for a single value.

    mean ± t(1 - a/2, n - 1) s / sqrt(n), for independent values of one normal distribution (Student, 1908).
    """
    data = [float(value) for value in values]
    if not data:
        return Estimate(math.nan, math.nan, 0)
    n = len(data)
    mean = math.fsum(data) / n
    if n == 1:
        return Estimate(mean, 0.0, 1)
    variance = math.fsum((value - mean) ** 2 for value in data) / (n - 1)
    return Estimate(mean, t_quantile((1 + confidence) / 2, n - 1) * math.sqrt(variance / n), n)


@dataclass(frozen=True)
class Interval:
    """A value with its confidence interval, which may be asymmetric, from `n` runs.

    With one run, the bounds are infinite, so the interval decides nothing.
    """

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """Formatted as `1.23 (1.10 to 1.37)`; if all runs are equal, as `1.23 (no spread)`."""
        if math.isnan(self.mean):
            return "undefined (0 / 0)" if self.n else "no run"
        if self.n < 2:
            return f"{self.mean:.2f}"
        if self.low == self.high:
            return f"{self.mean:.2f} (no spread)"
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Mean and interval by Student's t."""
    found = estimate(values, confidence)
    if found.n < 2:
        return Interval(found.mean, -math.inf, math.inf, found.n)
    return Interval(found.mean, found.low, found.high, found.n)


def difference(first: Sequence[float], second: Sequence[float], *, paired: bool, confidence: float = 0.95) -> Interval:
    """Mean of the first minus mean of the second; Student's interval for `paired` values, otherwise Welch's."""
    if paired:
        return interval((a - b for a, b in zip(first, second, strict=True)), confidence)
    a, b = _moments(first), _moments(second)
    mean = a[0] - b[0]
    return _around(mean, a[1], b[1], len(first), len(second), confidence)


def ratio(first: Sequence[float], second: Sequence[float], *, paired: bool, confidence: float = 0.95) -> Interval:
    """Mean of the first over mean of the second, with an interval on a logarithmic scale.

    The spread of log(x/y) is that of x_i/x - y_i/y (the delta method). For `paired` values of the same runs, their
    covariance counts; otherwise the variances add up with Welch's degrees of freedom. Zero over a positive value is 0,
    and a positive value over zero is infinite. Pairs in which both values are zero are excluded.
    """
    if paired:
        pairs = [pair for pair in zip(first, second, strict=True) if any(pair)]
        if pairs:
            first, second = [a for a, _ in pairs], [b for _, b in pairs]
    if not first or not second:
        return Interval(math.nan, -math.inf, math.inf, 0)
    top, below = math.fsum(first) / len(first), math.fsum(second) / len(second)
    n = min(len(first), len(second))
    if top <= 0 or below <= 0:
        value = 0.0 if below > 0 else math.inf if top > 0 else math.nan
        return Interval(value, value, value, n) if n > 1 else Interval(value, -math.inf, math.inf, n)
    if paired:
        logs = interval((a / top - b / below for a, b in zip(first, second, strict=True)), confidence)
    else:
        x, y = [value / top for value in first], [value / below for value in second]
        logs = _around(0.0, _moments(x)[1], _moments(y)[1], len(x), len(y), confidence)
    value = top / below
    if not math.isfinite(logs.high):
        return Interval(value, -math.inf, math.inf, n)
    return Interval(value, value * math.exp(logs.low), value * math.exp(logs.high), n)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and variance of the mean; infinite for a single value."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return mean, math.inf
    return mean, math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n


def _around(  # noqa: PLR0913, RUF100 - two samples
    mean: float, first: float, second: float, n: int, m: int, confidence: float
) -> Interval:
    """The interval of a difference of two means (Welch, 1947) from their variances."""
    fewest = min(n, m)
    if fewest < 2:
        return Interval(mean, -math.inf, math.inf, fewest)
    spread = first + second
    if spread == 0:
        return Interval(mean, mean, mean, fewest)
    degrees = spread**2 / (first**2 / (n - 1) + second**2 / (m - 1))
    half = t_quantile((1 + confidence) / 2, degrees) * math.sqrt(spread)
    return Interval(mean, mean - half, mean + half, fewest)


@dataclass(frozen=True)
class Paired:
    """Paired differences: the mean with its interval, the p-value and the effect size."""

    difference: Interval
    p: float
    """Two-sided p-value of Student's paired t test; NaN for fewer than two pairs, 0 or 1 if all differences are
    equal.
    """
    effect: float
    """Cohen's d_z (1988, section 2.3.5): the mean difference over its standard deviation; infinite if that is zero."""


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """First minus second, pair by pair."""
    found = difference(first, second, paired=True)
    if found.n < 2:
        return Paired(found, math.nan, math.nan)
    apart = [a - b for a, b in zip(first, second, strict=True)]
    spread = math.sqrt(math.fsum((value - found.mean) ** 2 for value in apart) / (found.n - 1))
    if spread == 0:
        same = found.mean == 0
        return Paired(found, float(same), 0.0 if same else math.copysign(math.inf, found.mean))
    t = abs(found.mean) / (spread / math.sqrt(found.n))
    return Paired(found, 2 * (1 - _t_distribution(t, found.n - 1)), found.mean / spread)


def holm(probabilities: Sequence[float]) -> list[float]:
    """P-values corrected for their number (Holm, Scandinavian Journal of Statistics, 1979); NaN stays NaN."""
    known = sorted((p, at) for at, p in enumerate(probabilities) if not math.isnan(p))
    corrected, largest = list(probabilities), 0.0
    for rank, (p, at) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        corrected[at] = largest
    return corrected


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t distribution, by Newton's method or bisection."""
    if not 0 < probability < 1 or degrees <= 0:
        raise ValueError("a quantile requires 0 < probability < 1 and positive degrees of freedom")
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while _t_distribution(high, degrees) < probability:
        low, high = high, high * 2
    at = (low + high) / 2
    for _ in range(100):
        beyond = _t_distribution(at, degrees) - probability
        if beyond < 0:
            low = at
        else:
            high = at
        density = _t_density(at, degrees)
        step = at - beyond / density if density > 0 else low
        step = step if low < step < high else (low + high) / 2
        if abs(step - at) <= 1e-12 * at:
            return step
        at = step
    return at


def _t_density(t: float, degrees: float) -> float:
    log = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    return math.exp(log - (degrees + 1) / 2 * math.log1p(t * t / degrees))


def _t_distribution(t: float, degrees: float) -> float:
    return 1 - _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(300):
        m = step // 2
        if step == 0:
            numerator = 1.0
        elif step % 2 == 0:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 + numerator * d
        d = 1 / (d if abs(d) > tiny else tiny)
        c = 1 + numerator / c
        c = c if abs(c) > tiny else tiny
        fraction *= c * d
        if abs(1 - c * d) < 1e-15:
            break
    return front * (fraction - 1) / a


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 if all values are equal, 1/n if all but one are zero.

    NaN if all are zero (Jain, Chiu and Hawe, DEC-TR-301, 1984).
    """
    total = math.fsum(values)
    squares = math.fsum(value * value for value in values)
    if not values or squares == 0:
        return math.nan
    return total * total / (len(values) * squares)


def aggregation_benefit(multipath: float, single: Sequence[float]) -> float:
    """The aggregation benefit of several paths (Paasch et al., CSWS 2014).

    0 is the best single path, 1 the total of all paths. Negative values are the lost share of the best path, down to -1
    for no data. NaN if nothing could be gained, or a rate is NaN.
    """
    if any(map(math.isnan, (multipath, *single))):
        return math.nan
    best, total = max(single, default=0.0), math.fsum(single)
    if best <= 0:
        return math.nan
    if multipath >= best:
        return (multipath - best) / (total - best) if total > best else math.nan
    return (multipath - best) / best


def distribution(values: Sequence[float] | NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The empirical distribution function (CDF): sorted values, and the share at or below each.

    F(x_k) = k/n for the k-th smallest of n values: it rises from 1/n to 1. Both are empty without values.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return ordered, np.arange(1, ordered.size + 1) / max(ordered.size, 1)


def quantile(values: Sequence[float] | NDArray[np.float64], share: float) -> float:
    """The smallest value with at least `share` of the values at or below it, the inverse of `distribution`.

    `share` is from 0 to 1; NaN without values.
    """
    if not 0 <= share <= 1:
        raise ValueError("a quantile requires a share from 0 to 1")
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not ordered.size:
        return math.nan
    return float(ordered[max(0, math.ceil(share * ordered.size - 1e-9) - 1)])


def shares(parts: NDArray[np.float64] | Sequence[float] | Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Each value as a share of the sum along the first axis, 0 to 1; NaN if the sum is 0.

    Values must not be negative. In percent, this is the utilisation of the UCL study (2013, section 3.5).
    """
    amounts = np.asarray(parts, dtype=np.float64)
    total = amounts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = np.where(total > 0, amounts / total, math.nan)
    return found


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's correlation; NaN if one series is constant."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale > 0 else math.nan


def transfer_times(completions: Iterable[float | None]) -> tuple[list[float], int]:
    """Times of the finished transfers, in seconds from the open to the last byte, and the number of unfinished ones.

    None stands for an unfinished transfer. A mean over finished transfers alone would be biased, hence the number.
    """
    every = list(completions)
    ended = [time for time in every if time is not None]
    return ended, len(every) - len(ended)
