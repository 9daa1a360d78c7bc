"""Resamples series in equal time steps, for the tables of `analysis`.

Converts samples to a rate, a state or a count per step. Series with the same sample times share the computation that
assigns samples to steps.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Reals = NDArray[np.floating[Any]]
Kind = Literal["rate", "state", "count"]

KEPT = 8
"""Maximum number of cached time axes."""


def resample(times: Reals, values: Reals, steps: Reals, interval: float, kind: Kind) -> Floats:
    """A series in steps of `interval` that end at `steps`; NaN without samples.

    A rate holds since the previous sample, so the rate of a step is a time-weighted mean, which preserves bytes. States
    are averaged over the samples of the step. Counts give the growth within the step.
    """
    if not times.size:
        return np.full(steps.size, math.nan)
    places = _places(times.tobytes(), times.dtype.str, steps.tobytes(), steps.dtype.str, interval)
    return places.growth(values) if kind == "count" else places.mean(values, weighted=kind == "rate")


def between(times: Floats) -> float:
    """The median time between two samples; the first interval starts at 0."""
    return _between(times.tobytes())


class _Places:
    """The assignment of samples to steps, for all series with the same sample times."""

    def __init__(self, times: Reals, steps: Reals, interval: float) -> None:
        self._times, self._steps, self._interval = times, steps, interval

    def growth(self, values: Reals) -> Floats:
        """The growth in each step."""
        at, begun = self._last
        last = np.maximum.accumulate(values)[at]
        last = np.concatenate(([0.0], last if begun is None else np.where(begun, last, 0.0)))
        return last[1:] - last[:-1]

    def mean(self, values: Reals, *, weighted: bool) -> Floats:
        """The mean of each step."""
        known = np.isfinite(values)
        amounts = values * self._lengths if weighted else values
        place, everywhere = self._place, False
        if known.all():
            sums: NDArray[Any] = np.bincount(place, weights=amounts, minlength=self._steps.size)
            weights, everywhere = self._by_length if weighted else self._by_number
        else:
            place, lengths = place[known], self._lengths[known] if weighted else None
            sums = np.bincount(place, weights=amounts[known], minlength=self._steps.size)
            weights = np.bincount(place, weights=lengths, minlength=self._steps.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = sums / weights
        return mean if everywhere else np.where(weights > 0, mean, math.nan)

    @cached_property
    def _last(self) -> tuple[NDArray[np.intp], NDArray[np.bool_] | None]:
        """The last sample up to the end of each step, and whether it exists; None if it exists for every step."""
        at = np.searchsorted(self._times, self._steps + 1e-9, side="right")
        begun = at > 0
        return np.maximum(at - 1, 0), None if begun.all() else begun

    @cached_property
    def _place(self) -> NDArray[np.int_]:
        """The step of each sample."""
        place = np.ceil(self._times / self._interval - 1e-6).astype(int) - 1
        found: NDArray[np.int_] = np.minimum(np.maximum(place, 0), self._steps.size - 1)
        return found

    @cached_property
    def _lengths(self) -> Reals:
        """The time for which each rate holds; gaps count as 1.5 times the usual interval."""
        lengths = np.diff(self._times, prepend=0.0)
        if lengths.size > 1:
            lengths = np.minimum(lengths, np.median(np.diff(self._times)) * 1.5)
        return lengths

    @cached_property
    def _by_length(self) -> tuple[NDArray[Any], bool]:
        """The sampled time in each step, and whether it is always positive."""
        weights = np.bincount(self._place, weights=self._lengths, minlength=self._steps.size)
        return weights, bool((weights > 0).all())

    @cached_property
    def _by_number(self) -> tuple[NDArray[Any], bool]:
        """The number of samples in each step, and whether it is always positive."""
        weights = np.bincount(self._place, minlength=self._steps.size)
        return weights, bool((weights > 0).all())


@lru_cache(maxsize=KEPT)
def _places(times: bytes, kind: str, steps: bytes, of_steps: str, interval: float) -> _Places:
    return _Places(np.frombuffer(times, kind), np.frombuffer(steps, of_steps), interval)


@lru_cache(maxsize=KEPT)
def _between(times: bytes) -> float:
    return float(np.median(np.diff(np.frombuffer(times), prepend=0.0)))
