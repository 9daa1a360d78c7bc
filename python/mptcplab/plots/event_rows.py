"""Selects the traced events that a figure needs. Owns the errors for missing events, which name the option to add."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mptcplab.util.user_input import BadResult

if TYPE_CHECKING:
    import pyarrow as pa

    from mptcplab.results.read.event_log import Selection, TracedRun


def one_flow(run: TracedRun, chosen: Selection) -> tuple[Selection, str]:
    """The selection of one flow, by default the first, and the title of its figure."""
    flows = run.names("flow")
    if not flows:
        raise BadResult(f"{run.source or 'this run'}: contains no events of a flow")
    flow = chosen.flow or flows[0]
    others = f", one of {len(flows)} flows (--flow NAME)" if len(flows) > 1 and chosen.flow is None else ""
    return replace(chosen, flow=flow), f"{flow}{others}"


def rows_of(run: TracedRun, chosen: Selection, kinds: str) -> pa.Table:
    """The rows of these kinds, separated by commas; raises `BadResult` if there are none."""
    rows = run.select(replace(chosen, kinds=kinds))
    if not rows.num_rows:
        raise BadResult(
            f"{run.source or 'this run'}: no selected event has the kind {kinds.replace(',', ' or ')}; repeat the "
            f"run with --trace {kinds}, and check --from, --until and --path"
        )
    return rows
