"""Overview of several runs (`Runs`) for notebooks: a table and a figure with one row per variant.

A variant is a point of a sweep or a baseline. Owns the grouping of runs by variant. Never measures anything.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mptcplab.plots import figure_style
from mptcplab.plots.sweep_series import short
from mptcplab.results.text.flow_metrics import metrics, unit
from mptcplab.stats.statistics import Estimate, estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mptcplab.results.model.measured_run import MeasuredRun

_KEY = re.compile(r", (?=[\w.*{},-]+=)")
"""Separates the keys in the name of a sweep point."""
MOST_ROWS, MOST_FLOWS = 40, 8
"""Maximum variants and flows; further ones are omitted."""


def by_variant(runs: Sequence[MeasuredRun], metric: str = "goodput") -> dict[str, dict[str, Estimate]]:
    """Means over the seeds by variant and flow, in the unit of `flow_metrics.unit`; runs without the metric are
    excluded.
    """
    [name] = metrics(metric)
    scale = unit(name)[1]
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for row in run.flow_rows[:MOST_FLOWS]:
            value = row["limits"].get(name.removeprefix("limit_")) if name.startswith("limit_") else row.get(name)
            own = found.setdefault(run.variant or run.name, {}).setdefault(row["flow"], [])
            if isinstance(value, int | float):
                own.append(float(value) / scale)
    return {
        variant: {flow: estimate(values) for flow, values in flows.items() if values}
        for variant, flows in found.items()
    }


def runs_html(runs: Sequence[MeasuredRun]) -> str:
    """An HTML table of the goodput of each flow."""
    found = by_variant(runs)
    flows = list(dict.fromkeys(flow for of in found.values() for flow in of))
    head = "".join(f"<th>{html.escape(flow)} [Mb/s]</th>" for flow in flows)
    rows = []
    for variant, of in list(found.items())[:MOST_ROWS]:
        cells = "".join(f"<td>{of.get(flow, '–')}</td>" for flow in flows)
        rows.append(f"<tr><td>{html.escape(variant)}</td>{cells}</tr>")
    more = f"<p>… and {len(found) - MOST_ROWS} more variants</p>" if len(found) > MOST_ROWS else ""
    is_fixed = not any(run.scenario.draws_its_network for run in runs)
    only = ". Seeds change only small delays of hosts: these are not intervals over networks" if is_fixed else ""
    return (
        f"<p>{len(runs)} runs. Goodput of each flow: mean over the seeds ± half of the 95% "
        f"interval{only}</p><table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
    )


def plot_runs(runs: Sequence[MeasuredRun], metric: str) -> Figure:
    """One row per variant; in each, one point per flow with its 95% interval."""
    found = dict(list(by_variant(runs, metric).items())[:MOST_ROWS])
    flows = list(dict.fromkeys(flow for of in found.values() for flow in of))
    [name] = metrics(metric)
    units = unit(name)[0]
    with figure_style.house_style():
        figure, (axes,) = figure_style.new_figure(width=7.0, height=1.3 + 0.32 * len(found))
        for at, (flow, look) in enumerate(figure_style.looks(flows).items()):
            offset = 0.14 * (at - (len(flows) - 1) / 2)
            rows = [(row + offset, of[flow]) for row, of in enumerate(found.values()) if flow in of]
            axes.errorbar(
                [value.mean for _, value in rows], [row for row, _ in rows],
                xerr=[value.half_width for _, value in rows], fmt=look.marker, color=look.color, capsize=3, label=flow,
            )  # fmt: skip
        keys, labels = _labels(list(found))
        axes.set_yticks(range(len(found)), labels)
        axes.set_ylabel(keys)
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.set_xlim(left=0)
        several = any(value.n > 1 for of in found.values() for value in of.values())
        how = ", means and 95% intervals" if several else ""
        axes.set_xlabel((f"{name.replace('_', ' ')} [{units}]" if units else name.replace("_", " ")) + how)
        if len(flows) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _labels(variants: Sequence[str]) -> tuple[str, list[str]]:
    """The keys of a sweep and the values of each point; no keys if the variants are not points of one sweep."""
    parts = [[part.partition("=") for part in _KEY.split(variant)] for variant in variants]
    keys = {tuple(key for key, _, _ in of) for of in parts}
    if len(keys) != 1 or not all(equals for of in parts for _, equals, _ in of):
        return "", list(variants)
    return ", ".join(map(short, keys.pop())), [", ".join(value for _, _, value in of) for of in parts]
