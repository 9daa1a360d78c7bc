"""A run in words: rates, paths, what limited it, what the paths together brought.

Owns sentences. Never runs or computes anything but the aggregation benefit.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mptcplab import reasons
from mptcplab.statistics import aggregation_benefit

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results import Run

LIMITS = {
    "application": "the application, which had nothing to send",
    "send_buffer": "the send buffer",
    "congestion_window": "the congestion windows",
    "receive_window": "the receive window",
    "head_of_line": "waiting for older data on a slower path (head of line)",
    "scheduler": "the scheduler",
    "local_queue": "pacing or this host's own queue",
}


BELOW = 0.95
"""Below this part of plain TCP over the best path a flow is warned of."""


def megabits(rate: float) -> str:
    """A rate for people."""
    return f"{rate / 1e6:.2f} Mb/s"


def limits_in_words(limits: Mapping[str, float], least: float = 0.01) -> str:
    """What held a flow back, as shares of its time."""
    shares = sorted(((share, name) for name, share in limits.items() if share >= least), reverse=True)
    if not shares:
        return "not limited by anything that was measured"
    return "limited by " + ", ".join(f"{LIMITS.get(name, name)} {share:.0%}" for share, name in shares)


def benefit_in_words(multipath: float, single: Mapping[str, float]) -> str:
    """What several paths brought against plain TCP over each."""
    alone = ", ".join(f"{path} {megabits(rate)}" for path, rate in single.items())
    benefit = aggregation_benefit(multipath, list(single.values()))
    if math.isnan(benefit):
        return f"plain TCP alone: {alone}"
    if benefit < -0.005:
        verdict = f"{-benefit:.0%} less than plain TCP over the best path"
    elif benefit < 0.005:
        verdict = "as much as plain TCP over the best path"
    else:
        verdict = f"{benefit:.0%} of what the other paths could add to the best one"
    return f"aggregation benefit {benefit:.2f}: {verdict} (plain TCP alone: {alone})"


def warning_in_words(row: FlowRow, single: Mapping[str, float]) -> str | None:
    """What to look at when a flow stays below plain TCP over its best path; None when it does not."""
    best = max(single, key=lambda path: single[path], default="")
    if not best or row["goodput"] >= BELOW * single[best]:
        return None
    causes = []
    waited = row["limits"].get("head_of_line", 0.0) + row["limits"].get("receive_window", 0.0)
    if row["penalties"]:
        causes.append(f"M2 halved windows {row['penalties']} times (penalisation = false does not)")
    if waited > 0.05:
        causes.append(f"a full window made it wait for a slower path {waited:.0%} of the time")
    for path in row["paths"]:
        segments = path["bytes_sent"] / 1460
        if path["timeouts"] > 2 or (segments > 100 and path["retransmits"] > 0.005 * segments):
            causes.append(f"{path['path']} lost {path['retransmits'] / max(segments, 1):.1%} of its segments")
    if row["limits"].get("congestion_window", 0.0) > 0.5:
        causes.append('the congestion windows were full most of the time (coupled = "all" shares them over all paths)')
    found = reasons.findings(row)
    causes = [str(finding) for finding in found[:3]] or causes
    why = "; ".join(causes) or limits_in_words(row["limits"])
    return f"slower than plain TCP over {best} alone ({row['goodput'] / single[best]:.2f} of it): {why}"


def summary(run: Run, baselines: Mapping[str, Mapping[str, float]] | None = None) -> str:
    """The whole run; `baselines` has the goodput of plain TCP by flow and path."""
    lines = [f"{run.name}, seed {run.seed}" + (f" ({run.variant})" if run.variant else "")]
    lines += [f"  {line}" for line in run.scenario.registered]
    transports = dict(zip(run.scenario.flows, run.scenario.transports, strict=True))
    for row in run.flow_rows[:20]:
        lines += _flow(row, (baselines or {}).get(row["flow"], {}), transports.get(row["flow"], ""))
    if len(run.flow_rows) > 20:
        rest = run.flow_rows[20:]
        total = sum(row["goodput"] for row in rest)
        nothing = sum(not row["bytes_received_total"] for row in rest)
        idle = f", {nothing} of them with nothing" if nothing else ""
        lines.append(f"  and {len(rest)} more flows with {megabits(total)} together{idle}")
    return "\n".join(lines)


def _flow(row: FlowRow, baselines: Mapping[str, float], transport: str) -> Sequence[str]:
    kind = "MPTCP" if row["multipath"] else "fell back to TCP" if row["fell_back"] else transport.upper()
    if transport != "udp" and row["handshake_s"] is None:
        return [f"  {row['flow']} ({kind}): never connected"]
    head = f"  {row['flow']} ({kind}): goodput {megabits(row['goodput'])}"
    if row["throughput"] > row["goodput"] * 1.005:
        head += f", {megabits(row['throughput'])} put on the paths"
    if row["completion_s"] is not None:
        head += f", complete after {row['completion_s']:.3f} s"
    if row["closed"] not in (None, "Normal", "Graceful", "Closed", "Finished"):
        head += f", ended: {row['closed']}"
    if not row["intact"]:
        head += ", DATA DAMAGED"
    lines = [head]
    if row["fell_back"]:
        lines.append(
            f"    fell back to TCP at {row['fell_back_at_s']:.2f} s on path {row['fell_back_path']}: "
            f"{row['fell_back_because']}"
        )
    whole = sum(path["bytes_sent"] for path in row["paths"]) or 1
    for path in row["paths"]:
        rate = path["bytes_sent"] * 8 / row["measured_s"] if row["measured_s"] else 0.0
        share = f"{path['bytes_sent'] / whole:4.0%}"
        rtt = "-" if math.isnan(path["mean_srtt_s"]) else f"{path['mean_srtt_s'] * 1e3:.0f} ms"
        again = f"{path['retransmits']} segments sent again, {path['timeouts']} timeouts"
        lines.append(f"    {path['path']:<12} {megabits(rate):>12} {share}  round trip {rtt}, {again}")
        if path.get("limits"):
            lines.append(f"    {'':<12} limited by {reasons.in_words(path['limits']) or 'nothing for long'}")
    if row["reinjected"]:
        lines.append(
            f"    sent again on another path: {row['reinjected'] / 1e3:.0f} kB, "
            f"of them {row['opportunistic'] / 1e3:.0f} kB to free the window (M1); "
            f"windows halved for that: {row['penalties']} (M2)"
        )
    said = reasons.sentences(row)
    lines.append(f"    {'; '.join(said)}" if said else f"    {limits_in_words(row['limits'])}")
    if baselines:
        lines.append(f"    {benefit_in_words(row['goodput'], baselines)}")
        warning = warning_in_words(row, baselines)
        lines += [f"    {warning}"] if warning else []
    return lines


def summary_html(run: Run) -> str:
    """A small table for notebooks."""
    cells = []
    for row in run.flow_rows[:20]:
        shares = ", ".join(
            f"{html.escape(path['path'])} {megabits(path['bytes_sent'] * 8 / row['measured_s'])}"
            for path in row["paths"]
            if row["measured_s"]
        )
        cells.append(
            f"<tr><td>{html.escape(row['flow'])}</td><td>{'MPTCP' if row['multipath'] else 'TCP'}</td>"
            f"<td>{megabits(row['goodput'])}</td><td>{shares}</td>"
            f"<td>{html.escape(limits_in_words(row['limits']))}</td></tr>"
        )
    return (
        f"<p><b>{html.escape(run.name)}</b>, seed {run.seed}</p><table><thead><tr><th>flow</th>"
        "<th>transport</th><th>goodput</th><th>on the paths</th><th>limited by</th></tr></thead>"
        f"<tbody>{''.join(cells)}</tbody></table>"
    )
