"""The output of `mptcplab predict`: a table, sentences about gains and settings, and JSON.

Owns the words and the statement about accuracy. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mptcplab.cli.common import table
from mptcplab.predict.links import Link
from mptcplab.predict.prediction import TITLES, Result
from mptcplab.predict.settings import Tested
from mptcplab.predict.traffic import DOWNLOAD, LADDER, LATE, P95, P99, PAGE, UPLOAD, Metric
from mptcplab.stats.statistics import Estimate
from mptcplab.why.answer import listed

ROWS = (DOWNLOAD, UPLOAD, PAGE, P95, P99, LATE)
COMPARED = (DOWNLOAD, UPLOAD, PAGE, P99)
"""Metrics of which each stack is compared with TCP over the best link."""
SAME = 0.03
"""Relative difference that is called equal."""
ACCURACY = (
    "Accuracy: bulk flows over links of 1 to 16 Mb/s that do not fill all paths were compared with Linux 6.18. In 69 "
    "of 76 (91%), Linux was within 10% of the simulated goodput. Not compared: faster links, pages, calls, videos, "
    "backups and a jitter above 1 ms (docs/accuracy.md)."
)


def text(links: Sequence[Link], results: Sequence[Result], effects: Sequence[Tested], seeds: int) -> str:
    """The complete output."""
    parts = ["Links; the first one is the default route:", _links(links), "", _table(results), ""]
    parts.append(
        f"Mean of {seeds} seeds with its 95% interval. TCP is that of Linux with CUBIC."
        if seeds > 1
        else "One seed, so without intervals. TCP is that of Linux with CUBIC."
    )
    for result in results:
        if result.candidate.stack is not None:
            parts += ["", *_gains(result, results, links), *_settings(result, results, effects)]
    return "\n".join([*parts, "", ACCURACY])


def _links(links: Sequence[Link]) -> str:
    width = max(len(link.name) for link in links)
    return "\n".join(f"  {link.name.ljust(width)}  {link}" for link in links)


def _table(results: Sequence[Result]) -> str:
    rows = [["", *(result.candidate.name for result in results)]]
    rows += [
        [metric.label, *(_cell(metric, result.of(metric)) for result in results)]
        for metric in _measured(results)
        if metric is not LATE or any(any(result.values[LATE]) for result in results)
    ]
    if any(result.rungs for result in results):
        rows.append(["video without stalls", *(_quality(result) for result in results)])
    return table(rows)


def _measured(results: Sequence[Result]) -> list[Metric]:
    return [metric for metric in ROWS if all(metric in result.values for result in results)]


def _cell(metric: Metric, value: Estimate | None) -> str:
    if value is None:
        return "unfinished"
    spread = f" ± {metric.shown(value.half_width)}" if value.n > 1 else ""
    return metric.shown(value.mean) + spread


def _quality(result: Result) -> str:
    low, high = min(result.rungs), max(result.rungs)
    return _rung(low) if low == high else f"{_rung(low)} to {_rung(high)}"


def _rung(at: int) -> str:
    return "none" if at < 0 else LADDER[at][1]


def _gains(result: Result, results: Sequence[Result], links: Sequence[Link]) -> list[str]:
    """Sentences that compare MPTCP with TCP over the best link."""
    lines = [f"{_title(result)} compared with TCP over the best link:"]
    singles = [one for one in results if one.candidate.link is not None]
    for metric in COMPARED:
        own = result.of(metric)
        known = [(value, one) for one in singles if (value := one.of(metric)) is not None]
        if own is None or not known:
            continue
        sign = -1 if metric.is_rate else 1
        best, one = min(known, key=lambda pair: sign * pair[0].mean)
        lines.append(f"  {_compared(metric, own, best, str(one.candidate.link), links)}")
    if result.rungs:
        single = max(min(one.rungs) for one in singles)
        lines.append(f"  videos: {_quality(result)}, and {_rung(single)} over the best link")
    return lines


def _title(result: Result) -> str:
    return f"MPTCP of {TITLES[str(result.candidate.stack)]}"


def _compared(metric: Metric, own: Estimate, best: Estimate, link: str, links: Sequence[Link]) -> str:
    if metric.is_rate:
        total = sum(each.down if metric is DOWNLOAD else each.up for each in links) / 1e6
        return (
            f"{metric.subject}: {own.mean / best.mean:.0%} of TCP over {link}, "
            f"and {own.mean / total:.0%} of the rate of all links"
        )
    difference = own.mean - best.mean
    if abs(difference) <= max(SAME * best.mean, metric.worth):
        return f"{metric.subject}: as with TCP over {link}"
    word = "longer" if difference > 0 else "shorter"
    return f"{metric.subject}: {metric.shown(abs(difference))} {metric.unit} {word} than with TCP over {link}"


def _settings(result: Result, results: Sequence[Result], effects: Sequence[Tested]) -> list[str]:
    """The best change for each metric, a table of changes with effects, and the changes without an effect."""
    own = [one for one in effects if one.candidate is result.candidate]
    if not own:
        return []
    metrics = [metric for metric in _measured(results) if metric is not LATE]
    lines = [
        f"Settings of {_title(result)} (=: no clear change of 5% or more):",
        *(f"  {line}" for line in _best(own, metrics)),
    ]
    useful = [one for one in own if any(one.of(metric) for metric in metrics)]
    if useful:
        rows = [["  changed setting", *(metric.label.partition(" [")[0] for metric in metrics)]]
        rows.append(["  none", *(_now(result, metric) for metric in metrics)])
        rows += [
            [f"  {one.change.name}", *(_after(one, metric) for metric in metrics)]
            for one in sorted(useful, key=lambda one: -sum(effect.gain for effect in one.effects))
        ]
        lines.append(table(rows))
    none = [one.change.name for one in own if one not in useful]
    if none:
        lines.append(f"  no clear change with {'; '.join(none)}")
    return lines


def _best(own: Sequence[Tested], metrics: Sequence[Metric]) -> list[str]:
    """A sentence for each metric that a change improves, with the metrics that the change makes worse."""
    lines = []
    for metric in metrics:
        found = [(effect.gain, one) for one in own if (effect := one.of(metric)) is not None and effect.is_better]
        if not found or metric is P95:
            continue
        _, one = max(found, key=lambda pair: pair[0])
        effect = one.of(metric)
        worse = [other.metric for other in one.effects if not other.is_better and other.metric is not P95]
        cost = f", but worse: {listed([other.subject for other in worse])}" if worse else ""
        if effect is not None:
            lines.append(
                f"{metric.subject}: {metric.shown(effect.after)} instead of {metric.shown(effect.before)} "
                f"{metric.unit} with {one.change.name}{cost}"
            )
    return lines or ["no tested change improves a result by 5% or more"]


def _now(result: Result, metric: Metric) -> str:
    value = result.of(metric)
    return "unfinished" if value is None else metric.shown(value.mean)


def _after(one: Tested, metric: Metric) -> str:
    effect = one.of(metric)
    return "=" if effect is None else metric.shown(effect.after)


def document(
    links: Sequence[Link], results: Sequence[Result], effects: Sequence[Tested], seeds: Sequence[int]
) -> dict[str, Any]:
    """The prediction as JSON values. Rates are Mb/s, page times seconds, and latencies milliseconds."""
    return {
        "links": [
            {"name": one.name, "down_bps": one.down, "up_bps": one.up, "rtt_s": one.rtt} | one.keys for one in links
        ],
        "seeds": list(seeds),
        "candidates": [_candidate(result) for result in results],
        "settings": [
            {
                "candidate": one.candidate.name,
                "change": one.change.name,
                "keys": one.change.keys,
                "effects": [
                    {"metric": effect.metric.name, "before": effect.before, "after": effect.after}
                    for effect in one.effects
                ],
            }
            for one in effects
        ],
        "accuracy": ACCURACY,
    }


def _candidate(result: Result) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for metric, values in result.values.items():
        found = result.of(metric)
        bounds = {} if found is None else {"mean": found.mean, "low": found.low, "high": found.high}
        metrics[metric.name] = {"unit": metric.unit, **bounds, "values": values}
    document: dict[str, Any] = {
        "name": result.candidate.name,
        "link": result.candidate.link,
        "stack": result.candidate.stack,
        "metrics": metrics,
    }
    return document | ({"video": [_rung(rung) for rung in result.rungs]} if result.rungs else {})
