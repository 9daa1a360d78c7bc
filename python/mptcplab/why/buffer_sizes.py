"""The smallest sufficient buffer, for `mptcplab why`, if larger buffers are the best change.

Without it, `why` would suggest the largest tested buffers. Owns the tested sizes, and when two sizes count as equally
good. Runs nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mptcplab.util.user_input import size, size_text
from mptcplab.why.answer import WORTH, Answer, Trial, listed

BUFFERS = ("rcvbuf", "sndbuf")
LADDER = ((2, 4, 8), (16,), (32,))
"""Factors by which a buffer grows; the next group is tested while the largest size is the best."""
ERRORS = 2.0
"""A size suffices if it is worse than the best by at most this many standard errors."""
EQUAL = 0.01
"""A size also suffices if it is worse than the best by at most this share."""

Tested = Callable[[Sequence[tuple[str | None, dict[str, Any]]]], list[Trial]]
"""A function that runs a flow with each change, given with the cause that the change removes."""


def smallest(answer: Answer, flow: dict[str, Any], tested: Tested) -> Answer:
    """The answer, with the smallest sufficient buffers as `chosen` if larger buffers are the best change."""
    best = answer.remedy
    if best is None or not set(best.settings) <= set(BUFFERS):
        return answer
    larger = [trial for trial in answer.tried if set(trial.settings) <= set(best.settings) and _suffices(trial, best)]
    keys = list(min(larger, key=lambda trial: len(trial.settings)).settings)
    sizes = {key: size(str(flow[key])) for key in keys}
    rungs = [trial for trial in answer.tried if list(trial.settings) == keys]
    for several in LADDER:
        known = [trial.settings for trial in rungs]
        changes = [{key: size_text(count * times) for key, count in sizes.items()} for times in several]
        changes = [change for change in changes if change not in known]
        rungs = sorted([*rungs, *tested([(None, change) for change in changes])], key=_size)
        if min(rungs, key=lambda trial: trial.missing) is not rungs[-1]:
            break
    return replace(answer, chosen=_smallest(answer, rungs))


def _size(trial: Trial) -> int:
    """The buffer sizes of a change, bytes."""
    return sum(size(text) for text in trial.settings.values())


def _smallest(answer: Answer, rungs: Sequence[Trial]) -> Trial | None:
    """The smallest buffer that is as good as the best, or None; `rungs` are in ascending order of size."""
    rungs = [trial for trial in rungs if len(trial.values) == len(answer.runs)]
    if len(rungs) < 2:
        return None
    best = min(rungs, key=lambda trial: trial.missing)
    good = [trial for trial in rungs if _suffices(trial, best) and _is_worth(answer, trial)]
    if not good:
        return None
    sizes = [" and ".join(trial.settings.values()) for trial in rungs]
    what = listed(sizes) if len(best.settings) == 1 else listed([f"({text})" for text in sizes])
    return replace(good[0], note=f", the smallest sufficient size of {what},")


def _is_worth(answer: Answer, trial: Trial) -> bool:
    return answer.measure is not None or trial.goodput.mean >= WORTH * answer.goodput.mean


def _suffices(trial: Trial, best: Trial) -> bool:
    """Whether a change is as good as another one, within the errors."""
    if len(trial.values) != len(best.values):
        return False
    lacks = [own - most for own, most in zip(trial.values, best.values, strict=True)]
    error = float(np.std(lacks, ddof=1)) / len(lacks) ** 0.5 if len(lacks) > 1 else 0.0
    lack = trial.missing - best.missing
    return lack <= max(ERRORS * error, EQUAL * abs(best.missing))
