"""The results of a run: the table by directory, and a line for each failure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import explanations

if TYPE_CHECKING:
    from execution import Outcome
    from variants import Variant


def table(outcomes: list[Outcome], not_run: list[Variant]) -> str:
    """Lay out the counts by directory."""
    passed = Counter(outcome.variant.directory for outcome in outcomes if outcome.passed)
    failed = Counter(outcome.variant.directory for outcome in outcomes if not outcome.passed)
    absent = Counter(variant.directory for variant in not_run)
    lines = [f"{'directory':<14}{'variants':>9}{'pass':>7}{'fail':>7}{'not run':>10}"]
    for name in sorted(passed | failed | absent):
        row = (passed[name] + failed[name] + absent[name], passed[name], failed[name], absent[name])
        lines.append(f"{name:<14}{row[0]:>9}{row[1]:>7}{row[2]:>7}{row[3]:>10}")
    row = (len(outcomes) + len(not_run), passed.total(), failed.total(), len(not_run))
    lines.append(f"{'all':<14}{row[0]:>9}{row[1]:>7}{row[2]:>7}{row[3]:>10}")
    return "\n".join(lines)


def judge(outcomes: list[Outcome], known: list[explanations.Explanation], *, verbose: bool) -> int:
    """Print failures; return the number of unexplained failures and of explained variants that pass."""
    surprises = 0
    for outcome in outcomes:
        explanation = explanations.find(known, outcome.variant)
        if outcome.passed and explanation is None:
            continue
        if outcome.passed:
            surprises += 1
            print(f"{outcome.variant}: passes, but the explanations say that it fails: remove the entry")
            continue
        surprises += explanation is None
        why = f"{explanation.kind}: {explanation.reason}" if explanation else "NOT EXPLAINED"
        message = outcome.message if verbose else outcome.message.split("\n", 1)[0]
        print(f"{outcome.variant}: {message}\n    {why}")
    return surprises
