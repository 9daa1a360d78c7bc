"""Statistics that the studies use.

Owns the formulas; knows nothing of runs, scenarios or plots. Never draws a random number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
        """As `1.23 ± 0.04`; without the interval when there is one value."""
        return f"{self.mean:.2f}" if self.n < 2 else f"{self.mean:.2f} ± {self.half_width:.2f}"


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


def t_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t distribution, by bisection on its distribution function."""
    if not 0 < probability < 1 or degrees <= 0:
        raise ValueError("a quantile needs 0 < probability < 1 and degrees of freedom above 0")
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while _t_distribution(high, degrees) < probability:
        low, high = high, high * 2
    for _ in range(100):
        middle = (low + high) / 2
        if _t_distribution(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


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
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all get the same, 1/n when one gets everything.

    NaN when nobody gets anything (Jain, Chiu and Hawe, DEC-TR-301, 1984).
    """
    total = math.fsum(values)
    squares = math.fsum(value * value for value in values)
    if not values or squares == 0:
        return math.nan
    return total * total / (len(values) * squares)


def aggregation_benefit(multipath: float, single: Sequence[float]) -> float:
    """What several paths brought (Paasch et al., CSWS 2014).

    0 is the best single path, 1 the sum of all; below zero the share of the best path that was
    lost, down to -1 for nothing at all. NaN when nothing could be gained.
    """
    best, total = max(single, default=0.0), math.fsum(single)
    if best <= 0:
        return math.nan
    if multipath >= best:
        return (multipath - best) / (total - best) if total > best else math.nan
    return (multipath - best) / best


def distribution(values: Sequence[float] | NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The empirical distribution function (CDF): sorted values, and the share that is at most each.

    F(x_k) = k/n for the k-th smallest of n values: it rises from 1/n to 1. Both are empty without values.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return ordered, np.arange(1, ordered.size + 1) / max(ordered.size, 1)


def quantile(values: Sequence[float] | NDArray[np.float64], share: float) -> float:
    """The smallest value that at least `share` of the values reach from below, the inverse of `distribution`.

    `share` is from 0 to 1; NaN without values.
    """
    if not 0 <= share <= 1:
        raise ValueError("a quantile needs a share from 0 to 1")
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not ordered.size:
        return math.nan
    return float(ordered[max(0, math.ceil(share * ordered.size - 1e-9) - 1)])


def shares(parts: NDArray[np.float64] | Sequence[float] | Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Each part of the sum along the first axis, x_i / sum x: from 0 to 1, together 1; NaN where the sum is 0.

    Parts are 0 or more. The utilisation of the UCL study (2013, section 3.5) is this in percent.
    """
    amounts = np.asarray(parts, dtype=np.float64)
    total = amounts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = np.where(total > 0, amounts / total, math.nan)
    return found


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's correlation; NaN when one of them does not vary."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale > 0 else math.nan


def transfer_times(completions: Iterable[float | None]) -> tuple[list[float], int]:
    """The times of the transfers that ended, in seconds from the open to the last byte, and how many did not end.

    None stands for a transfer that never ended: a mean over the others alone would flatter, so their number is said.
    """
    every = list(completions)
    ended = [time for time in every if time is not None]
    return ended, len(every) - len(ended)
