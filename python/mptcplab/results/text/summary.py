"""The text that `mptcplab run` prints for one run: rates, paths, limiting factors and the aggregation benefit.

Owns the sentences, and the table for notebooks. The numbers come from the tables of the run; nothing is run here.
"""

from __future__ import annotations

import html
import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mptcplab.results.text import reasons
from mptcplab.stats.statistics import aggregation_benefit

if TYPE_CHECKING:
    from mptcplab._core import FlowRow, LinkRow, PathRow
    from mptcplab.results.model.measured_run import MeasuredRun

LIMITS = {
    "application": "the application (nothing to send)",
    "send_buffer": "the send buffer",
    "congestion_window": "the congestion windows",
    "receive_window": "the receive window",
    "head_of_line": "waiting for older data on a slower path (head of line)",
    "scheduler": "the scheduler",
    "local_queue": "pacing or the local queue",
}


BELOW = 0.95
"""A flow below this share of plain TCP over the best path gets a warning."""
SILENT_S = 1.0
"""A silence of more seconds than this is reported."""
INITIAL_WINDOW = 10
"""Segments that a sender may send in one burst (RFC 6928); a shorter queue drops some of them."""
NOT_MEASURED = "not measured, because the transfer ended before the warm-up"
"""The text for a path over which plain TCP has no rate."""


def megabits(rate: float) -> str:
    """A rate in bit/s as text in Mb/s."""
    return f"{rate / 1e6:.2f} Mb/s"


def limits_in_words(limits: Mapping[str, float], least: float = 0.01) -> str:
    """The limiting factors of a flow as shares of its time; omits shares below `least`."""
    shares = sorted(((share, name) for name, share in limits.items() if share >= least), reverse=True)
    if not shares:
        return "limiting factors were not measured"
    return "limited by " + ", ".join(f"{LIMITS.get(name, name)} {share:.0%}" for share, name in shares)


def _alone(single: Mapping[str, float]) -> str:
    return ", ".join(f"{path} {NOT_MEASURED if math.isnan(rate) else megabits(rate)}" for path, rate in single.items())


def benefit_in_words(multipath: float, single: Mapping[str, float]) -> str:
    """The goodput over several paths compared with plain TCP over each."""
    alone = _alone(single)
    benefit = aggregation_benefit(multipath, list(single.values()))
    if math.isnan(benefit):
        return f"plain TCP alone: {alone}"
    if benefit > 1.005:
        verdict = "more than the sum of plain TCP over each path"
    elif benefit < -0.005:
        verdict = f"{-benefit:.0%} less than plain TCP over the best path"
    elif benefit < 0.005:
        verdict = "as much as plain TCP over the best path"
    else:
        verdict = f"{benefit:.0%} of what the other paths could add to the best one"
    return f"aggregation benefit {benefit:.2f}: {verdict} (plain TCP alone: {alone})"


def warning_in_words(row: FlowRow, single: Mapping[str, float]) -> str | None:
    """A warning for a flow slower than plain TCP over its best path, with the causes; None for other flows."""
    single = {path: rate for path, rate in single.items() if not math.isnan(rate)}
    best = max(single, key=lambda path: single[path], default="")
    rate = reasons.comparable_rate(row)
    if not best or rate >= BELOW * single[best]:
        return None
    if row["handshake_s"] is None:
        return f"slower than plain TCP over {best} alone (0% of TCP's rate): the flow never connected"
    causes = [str(finding) for finding in reasons.findings(row)[:3]]
    if not causes and row["penalties"]:
        # Without observation, a run has no findings.
        causes = [f"penalisation (M2) halved windows {row['penalties']} times (penalisation = false disables M2)"]
    why = "; ".join(causes) or limits_in_words(row["limits"])
    return f"slower than plain TCP over {best} alone ({rate / single[best]:.0%} of TCP's rate): {why}"


def latency_in_words(row: FlowRow) -> list[str]:
    """The latency of blocks and datagrams, and the longest silence."""
    lines = []
    median, most, last = (row["latency_p50_s"], row["latency_p95_s"], row["latency_p99_s"])
    if median is not None and most is not None and last is not None:
        times = ", ".join(
            f"{name} {seconds(value)}" for name, value in (("median", median), ("p95", most), ("p99", last))
        )
        what = (
            f"latency of {row.get('measured_blocks', row['blocks'])} blocks"
            if row["jitter_s"] is None
            else "delay of the datagrams"
        )
        jitter = "" if row["jitter_s"] is None else f", jitter {seconds(row['jitter_s'])}"
        lines.append(f"{what}: {times}{jitter}")
    if row["datagram_loss"] is not None:
        lines.append(f"{row['datagram_loss']:.2%} of the datagrams were lost")
    if row["late"] is not None:
        lines.append(_late(row))
    if row["longest_silence_s"] > SILENT_S:
        begins, lasted, why = row["longest_silence_at_s"], row["longest_silence_s"], reasons.silence(row)
        lines.append(
            f"nothing reached the application for {lasted:.1f} s from {begins:.1f} s on, although data was waiting"
            + (f": {why}" if why else "")
        )
    return lines


def _late(row: FlowRow) -> str:
    if row["blocks"]:
        return f"{row['late']:.2%} of the blocks took longer than the deadline"
    if row["datagram_loss"] is not None:
        return f"{row['late']:.2%} of the datagrams missed the deadline or were lost"
    return f"the transfer was complete {'after' if row['late'] else 'within'} the deadline"


def seconds(value: float) -> str:
    """A duration as text."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.0f} ms"


def summary(
    run: MeasuredRun,
    baselines: Mapping[str, Mapping[str, float]] | None = None,
    failed: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The summary. `baselines` has the goodput of plain TCP by flow and path, in bit/s; `failed` has the reason, by
    flow and path, if plain TCP delivered nothing.
    """
    lines = [f"{run.name}, seed {run.seed}" + (f" ({run.variant})" if run.variant else "")]
    lines += [f"  {line}" for line in run.scenario.registered]
    links = _busiest(run)
    transports = dict(zip(run.scenario.flows, run.scenario.transports, strict=True))
    for row in run.flow_rows[:20]:
        alone, transport = (baselines or {}).get(row["flow"], {}), transports.get(row["flow"], "")
        lines += _flow(row, alone, transport, links, _reinjected(run, row))
        lines += [f"    {line}" for line in nothing_alone((failed or {}).get(row["flow"], {}))]
        lines += [f"    {line}" for line in long_queues(run, row)]
    if len(run.flow_rows) > 20:
        rest = run.flow_rows[20:]
        # The rates of these flows refer to different times, so their sum could exceed the link rate.
        bits = 8 * sum(row["bytes_received"] for row in rest)
        total = bits / run.measured_s if run.measured_s else 0.0
        nothing = sum(not row["bytes_received_total"] for row in rest)
        idle = f", {nothing} of them without data" if nothing else ""
        lines.append(f"  and {len(rest)} more flows with {megabits(total)} in total{idle}")
    return "\n".join(lines)


def _flow(
    row: FlowRow,
    baselines: Mapping[str, float],
    transport: str,
    links: Mapping[str, LinkRow],
    reinjected: Sequence[str],
) -> Sequence[str]:
    if transport != "udp" and row["handshake_s"] is None:
        return _unconnected(row, baselines, transport)
    kind = "MPTCP" if row["multipath"] else "fell back to TCP" if row["fell_back"] else transport.upper()
    if reasons.ended_early(row):
        return _ended_early(row, baselines, kind)
    head = f"  {row['flow']} ({kind}): goodput {megabits(row['goodput'])}{_without_early(row)}"
    most, best = row["capacity"], row["best_capacity"]
    head += _since(row)
    if most and best:
        head += f" of {megabits(most)} that its links could carry"
        head += f" ({megabits(best)} at their best)" if best > (2 - BELOW) * most else ""
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
    for path in row["paths"]:
        lines += _path_lines(row, path, links.get(path["path"]))
    lines += [f"    {line}" for line in (*reinjected, *latency_in_words(row))]
    message = reasons.sentences(row)
    # Without observation, only the sender's view is known.
    seen = f"sender's view: {limits_in_words(row['limits'])}" if row["limits"] else limits_in_words({})
    lines.append(f"    {'; '.join(message) or seen}")
    if not message:
        lines += [f"    no subflow joined over {name}" for name in row["never_joined"]]
    if baselines:
        lines.append(f"    {benefit_in_words(reasons.comparable_rate(row), baselines)}")
        warning = warning_in_words(row, baselines)
        lines += [f"    {warning}"] if warning else []
    return lines


def _reinjected(run: MeasuredRun, row: FlowRow) -> list[str]:
    """Data that was reinjected on another path after the warm-up; empty with one path."""
    if len(row["paths"]) < 2:
        return []
    if not row["reinjected"]:
        # Copies of a redundant scheduler are not reinjections.
        copies = [f"sent on several paths at once: {_kilobytes(row['duplicates'] or 0)} arrived twice"]
        halved = [f"windows halved by penalisation (M2) in the whole run: {row['penalties']}"]
        return [*(copies if row["duplicates"] else []), *(halved if row["penalties"] else [])]
    part = row["reinjected"] / max(row["bytes_received"], 1)
    amount = f"{_kilobytes(row['reinjected'])}, {part:.0%} of the data"
    if run.backend == "kernel":
        # mptcpi_bytes_retrans; the receiver counts duplicates (`kernel_backend.told`).
        return [
            f"retransmitted by MPTCP after a timeout: {amount}; Linux does not count reinjections of a closed subflow"
        ]
    if _has_queues(run, row["flow"]):
        # A queued copy is never sent if its data is acknowledged first.
        # For flows on the kernel, the number of duplicates is unknown.
        twice = "" if row["duplicates"] is None else f"; {_kilobytes(row['duplicates'])} arrived twice"
        return [f"also queued on another path, as Linux counts reinjections: {amount}{twice}"]
    return [
        f"reinjected on another path: {amount} ({_kilobytes(row['opportunistic'])} by opportunistic "
        f"retransmission, M1); "
        f"windows halved by penalisation (M2) in the whole run: {row['penalties']}"
    ]


def _kilobytes(count: float) -> str:
    """An amount of data; below 500 bytes, in bytes."""
    return f"{count:.0f} B" if 0 < count < 500 else f"{count / 1e3:.0f} kB"


def _counted(count: int, word: str) -> str:
    """A count with its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _has_queues(run: MeasuredRun, flow: str) -> bool:
    """Whether a flow fills subflow queues before their windows have space, as Linux does."""
    flows = tomllib.loads(run.scenario.to_toml())["flows"]
    table = flows.get(flow) or flows.get(flow.rpartition("-")[0], {})
    return bool(table.get("subflow_queues"))


def nothing_alone(failed: Mapping[str, str]) -> list[str]:
    """Why plain TCP delivered nothing over some paths."""
    return [f"plain TCP over {path} alone delivered nothing: {why}" for path, why in failed.items()]


def _path_lines(row: FlowRow, path: PathRow, link: LinkRow | None) -> list[str]:
    rate = path["bytes_arrived"] * 8 / row["measured_s"] if row["measured_s"] else 0.0
    whole = sum(one["bytes_arrived"] for one in row["paths"]) or 1
    share = f"{path['bytes_arrived'] / whole:4.0%}"
    rtt = "-" if math.isnan(path["mean_srtt_s"]) else f"{path['mean_srtt_s'] * 1e3:.0f} ms"
    again = f"{_counted(path['retransmits'], 'retransmission')}, {_counted(path['timeouts'], 'timeout')}"
    lines = [f"    {path['path']:<12} {megabits(rate):>12} {share}  RTT {rtt}, {again}"]
    if path["limits"]:
        lines.append(f"    {'':<12} capacity: {_uses(path)}")
        if _differs(path):
            lines.append(f"    {'':<12} sender's view: {_uses(path, 'sender_limits')}")
    elif link is not None:
        lines.append(f"    {'':<12} {_link_in_words(link)}")
    return lines


def _uses(path: PathRow, view: Literal["limits", "sender_limits"] = "limits") -> str:
    """How the capacity of a path was used, as measured on the links or seen by the sender."""
    return reasons.in_words(path[view], is_backup=path.get("is_backup", False)) or "many small causes"


def long_queues(run: MeasuredRun, row: FlowRow) -> list[str]:
    """Queue limits of paths with bufferbloat, compared with their bandwidth-delay products."""
    bloated = reasons.long_queues([path for path in row["paths"] if path["limits"]])
    if not bloated:
        return []
    file = tomllib.loads(run.scenario.to_toml())
    notes = []
    for path in bloated:
        link, _, side = (path.get("queue_at") or f"{path['path']} forward").rpartition(" ")
        queue, rate, trip = _queue(file, link, side), path["best_capacity"], path["base_rtt_s"]
        if isinstance(queue, str) and rate and trip:
            product = max(1, math.ceil(rate * trip / reasons.FRAME_BITS))
            notes.append(
                f"the queue of {link} may hold {_held(queue)}; the bandwidth-delay product of {path['path']} is "
                f'{product} packets, and queue = "{max(product, INITIAL_WINDOW)}p" would shorten its RTT'
            )
    return notes


def _queue(file: Mapping[str, Any], link: str, side: str) -> object:
    """The queue limit of one direction, as in the scenario."""
    line = file.get("paths", {}).get(link) or file.get("links", {}).get(link) or {}
    return line.get(side, {}).get("queue", line.get("queue"))


def _held(queue: str) -> str:
    """A queue limit as text."""
    return f"{queue[:-1]} packets" if queue.endswith("p") and queue[:-1].isdigit() else queue


def _since(row: FlowRow) -> str:
    """A note that goodput excludes the handshake, if the handshake was long."""
    if not reasons.waited_long(row):
        return ""
    return (
        f" after a handshake of {row['waited_s']:.2f} s ({megabits(reasons.rate_of_life(row))} including the handshake)"
    )


def _without_early(row: FlowRow) -> str:
    """A note about data that arrived before the warm-up ended, if there was much."""
    if not reasons.waited_much(row):
        return ""
    early = reasons.early_bytes(row)
    without = megabits(row["goodput"] * (1 - early / row["bytes_received"]))
    return f" ({without} excluding {reasons.amount(early)} that had arrived out of order before the warm-up ended)"


def _ended_early(row: FlowRow, baselines: Mapping[str, float], kind: str) -> Sequence[str]:
    lines = [f"  {row['flow']} ({kind}): {reasons.early_end(row)}" + ("" if row["intact"] else ", DATA DAMAGED")]
    lines += [f"    {line}" for line in latency_in_words(row)]
    return [*lines, f"    plain TCP alone: {_alone(baselines)}"] if baselines else lines


def _unconnected(row: FlowRow, baselines: Mapping[str, float], transport: str) -> Sequence[str]:
    lines = [f"  {row['flow']} ({transport.upper()}): never connected: {reasons.unanswered(row)}"]
    if baselines:
        lines.append(f"    plain TCP alone: {_alone(baselines)}")
        warning = warning_in_words(row, baselines)
        lines += [f"    {warning}"] if warning else []
    return lines


def _busiest(run: MeasuredRun) -> dict[str, LinkRow]:
    """The busier direction of each link; empty for simulated runs, whose paths state their limiting factors."""
    if run.backend == "sim":
        return {}
    found: dict[str, LinkRow] = {}
    for link in run.link_rows:
        if link["link"] not in found or link["sent_bytes"] > found[link["link"]]["sent_bytes"]:
            found[link["link"]] = link
    return found


def _link_in_words(link: LinkRow) -> str:
    """The utilisation of a link, for runs on real sockets without limiting factors."""
    message = [f"its link was busy {link['busy']:.0%} of the time"]
    drops = (
        (link["queue_drops"], "its queue dropped {} packets"),
        (link["random_losses"], "{} packets were lost at random"),
    )
    message += [text.format(count) for count, text in drops if count]
    return ", ".join(message)


def _differs(path: PathRow) -> bool:
    """Whether the largest cause in the sender's view differs from the largest measured cause."""
    known, seen = path.get("limits"), path.get("sender_limits")
    return bool(known and seen) and _first(known or {}) != _first(seen or {})


def _first(shares: Mapping[str, float]) -> str:
    return max(shares, key=lambda cause: shares[cause], default="")


def summary_html(run: MeasuredRun) -> str:
    """An HTML table of the first 20 flows, for notebooks."""
    cells = []
    for row in run.flow_rows[:20]:
        shares = ", ".join(
            f"{html.escape(path['path'])} {megabits(path['bytes_arrived'] * 8 / row['measured_s'])}"
            for path in row["paths"]
            if row["measured_s"]
        )
        cells.append(
            f"<tr><td>{html.escape(row['flow'])}</td><td>{'MPTCP' if row['multipath'] else 'TCP'}</td>"
            f"<td>{megabits(row['goodput'])}</td><td>{shares}</td>"
            f"<td>{html.escape('; '.join(reasons.sentences(row)) or limits_in_words(row['limits']))}</td></tr>"
        )
    return (
        f"<p><b>{html.escape(run.name)}</b>, seed {run.seed}</p><table><thead><tr><th>flow</th>"
        "<th>transport</th><th>goodput</th><th>rate on each path</th><th>limiting factors</th></tr></thead>"
        f"<tbody>{''.join(cells)}</tbody></table>"
    )
