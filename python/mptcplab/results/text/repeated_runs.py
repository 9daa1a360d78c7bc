"""The text that `mptcplab run --seeds` prints: means over the seeds with 95% intervals.

Also counts the seeds with an event such as a fallback to TCP. `summary` describes one run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mptcplab.results.text import reasons
from mptcplab.results.text.summary import NOT_MEASURED, SILENT_S, nothing_alone
from mptcplab.stats.statistics import Estimate, aggregation_benefit, estimate

if TYPE_CHECKING:
    from mptcplab._core import FlowRow
    from mptcplab.results.run import Runs

Baselines = Mapping[str, Mapping[str, Sequence[float]]]
"""Goodput of plain TCP by flow, path and seed, bit/s."""
_MOST = 20


def summary(runs: Runs, baselines: Baselines, failed: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The summary of all flows; `failed` has the reason, by flow and path, if plain TCP delivered nothing."""
    lines = [f"{runs[0].name}, {len(runs)} seeds, from seed {runs[0].seed} on; means with 95% intervals"]
    lines += [f"  {line}" for line in runs[0].scenario.registered]
    names = runs[0].flow_names
    for name in names[:_MOST]:
        lines += _flow(name, [run.flow(name) for run in runs], baselines.get(name, {}))
        lines += [f"    {line}" for line in nothing_alone((failed or {}).get(name, {}))]
    if len(names) > _MOST:
        lines.append(f"  and {len(names) - _MOST} more flows")
    return "\n".join(lines)


def _flow(name: str, rows: Sequence[FlowRow], baselines: Mapping[str, Sequence[float]]) -> list[str]:
    measured = [row for row in rows if not reasons.ended_early(row)]
    if len(measured) < len(rows):
        lines = [_ended_early(name, rows)]
        if measured:
            kept = [at for at, row in enumerate(rows) if not reasons.ended_early(row)]
            alone = {path: [rates[at] for at in kept] for path, rates in baselines.items()}
            return [*lines, "    with the other seeds:", *_flow(name, measured, alone)]
        lines += [f"    {line}" for line in _latency(rows)]
        return [*lines, f"    plain TCP alone: {_alone(baselines)}"] if baselines else lines
    rate = _mean([row["goodput"] / 1e6 for row in rows])
    lines = [f"  {name}: goodput {rate} Mb/s{_without_early(rows)}{_with_handshake(rows)}"]
    capacities = [row["capacity"] / 1e6 for row in rows if row["capacity"]]
    if len(capacities) == len(rows):
        lines[0] += f" of {_mean(capacities)} Mb/s that its links could carry"
    done = [row["completion_s"] for row in rows if row["completion_s"] is not None]
    if done:
        lines[0] += f", complete after {_mean(done)} s{_of(len(done), len(rows))}"
    paths = dict.fromkeys(path["path"] for row in rows for path in row["paths"])
    # With one path, its rate is that of the flow.
    lines += [_path(path, rows) for path in paths] if len(paths) > 1 or rows[0]["never_joined"] else []
    lines += [f"    {line}" for line in (*_latency(rows), *_events(rows), *_reasons(rows))]
    if any(math.isnan(rate) for rates in baselines.values() for rate in rates):
        lines.append(f"    plain TCP alone: {_alone(baselines)}")
    elif baselines:
        single = [dict(zip(baselines, rates, strict=True)) for rates in zip(*baselines.values(), strict=True)]
        benefit = [
            aggregation_benefit(reasons.comparable_rate(row), list(rates.values()))
            for row, rates in zip(rows, single, strict=True)
        ]
        lines.append(f"    aggregation benefit {_mean(benefit)} (0: the best path alone, 1: the sum of all paths)")
    return lines


def _with_handshake(rows: Sequence[FlowRow]) -> str:
    """A note that goodput excludes the handshake, if the handshake was long with some seed."""
    if not any(map(reasons.waited_long, rows)):
        return ""
    waited, rate = (row["waited_s"] for row in rows), (reasons.rate_of_life(row) / 1e6 for row in rows)
    return f" after a handshake of {_mean(list(waited))} s ({_mean(list(rate))} Mb/s including the handshake)"


def _without_early(rows: Sequence[FlowRow]) -> str:
    """A note about data that arrived before the warm-up ended, if there was much with some seed."""
    if not any(map(reasons.waited_much, rows)):
        return ""
    without = [row["goodput"] * (1 - reasons.early_bytes(row) / (row["bytes_received"] or 1)) / 1e6 for row in rows]
    most = reasons.amount(max(map(reasons.early_bytes, rows)))
    return f" ({_mean(without)} Mb/s excluding up to {most} that had arrived out of order before the warm-up ended)"


def _ended_early(name: str, rows: Sequence[FlowRow]) -> str:
    """A note about seeds with which the flow ended before the warm-up."""
    early = [row for row in rows if reasons.ended_early(row)]
    done = [row["completion_s"] for row in early if row["completion_s"] is not None]
    how = f"was complete after {_mean(done)} s," if done else "stopped"
    seeds = f"with {len(early)} of {len(rows)} seeds"
    return f"  {name}: {seeds}, the flow {how} before the warm-up ended, so no rate was measured"


def _alone(baselines: Mapping[str, Sequence[float]]) -> str:
    """Plain TCP's rate over each path, from the seeds with which plain TCP outlasted the warm-up."""
    message = []
    for path, rates in baselines.items():
        known = [rate / 1e6 for rate in rates if not math.isnan(rate)]
        mean = f"{_mean(known)} Mb/s{_of(len(known), len(rates))}" if known else NOT_MEASURED
        message.append(f"{path} {mean}")
    return ", ".join(message)


def _path(name: str, rows: Sequence[FlowRow]) -> str:
    """The rate and RTT of a path, and its share of the data. A seed without a subflow counts as rate and share 0."""
    rates, shares, trips, joined = [], [], [], 0
    for row in rows:
        carried = {path["path"]: path["bytes_arrived"] for path in row["paths"]}
        own, whole = carried.get(name, 0), sum(carried.values())
        rates.append(own * 8 / row["measured_s"] / 1e6 if row["measured_s"] else 0.0)
        shares.append(100 * own / whole if whole else 0.0)
        joined += name in carried
        trips += [1e3 * path["mean_srtt_s"] for path in row["paths"] if path["path"] == name]
    known = [trip for trip in trips if trip == trip]
    text = f"    {name:<12} {_mean(rates)} Mb/s, {_percent(estimate(shares))} of the data"
    text += f", RTT {_ms(estimate(known))}" if known else ""
    return text + ("" if joined == len(rows) else f"; no subflow with {len(rows) - joined} of {len(rows)} seeds")


def _latency(rows: Sequence[FlowRow]) -> list[str]:
    lines = []
    columns = (("median", "latency_p50_s"), ("p95", "latency_p95_s"), ("p99", "latency_p99_s"))
    found = {name: _known(rows, column) for name, column in columns}
    if all(found.values()):
        what = "delay of the datagrams" if _known(rows, "jitter_s") else "latency of the blocks"
        times = [f"{name} {_ms(estimate(1e3 * value for value in values))}" for name, values in found.items()]
        jitter = [1e3 * value for value in _known(rows, "jitter_s")]
        times += [f"jitter {_ms(estimate(jitter))}"] if jitter else []
        lines.append(f"{what}: {', '.join(times)}{_of(len(found['median']), len(rows))}")
    if lost := _known(rows, "datagram_loss"):
        lines.append(f"{_percent(estimate(100 * value for value in lost), 2)} of the datagrams were lost")
    if late := _known(rows, "late"):
        lines.append(_late(rows, late))
    return lines


def _late(rows: Sequence[FlowRow], late: Sequence[float]) -> str:
    if _known(rows, "datagram_loss"):
        return (
            f"{_percent(estimate(100 * share for share in late), 2)} of the datagrams missed the deadline or were lost"
        )
    if any(row["blocks"] for row in rows):
        return f"{_percent(estimate(100 * share for share in late), 2)} of the blocks took longer than the deadline"
    return f"the transfer was complete after the deadline with {sum(map(bool, late))} of {len(late)} seeds"


def _events(rows: Sequence[FlowRow]) -> list[str]:
    """Events that occurred with some of the seeds."""
    total, lines = len(rows), []
    never = [row for row in rows if row["handshake_s"] is None and row["jitter_s"] is None and not _is_datagrams(row)]
    if never:
        lines.append(f"never connected with {len(never)} of {total} seeds")
    if fallen := sum(row["fell_back"] for row in rows):
        lines.append(f"fell back to TCP with {fallen} of {total} seeds")
    absent = dict.fromkeys(name for row in rows if row["paths"] for name in row["never_joined"])
    used = {path["path"] for row in rows for path in row["paths"]}
    lines += [f"no subflow joined over {name}" for name in absent if name not in used]
    if silent := [row["longest_silence_s"] for row in rows if row["longest_silence_s"] > SILENT_S]:
        lines.append(
            f"nothing reached the application for up to {max(silent):.1f} s, although data was waiting"
            + _of(len(silent), total)
            + (f"; during the longest silence, {why}" if (why := reasons.silence(_longest(rows))) else "")
        )
    if damaged := sum(not row["intact"] for row in rows):
        lines.append(f"DATA DAMAGED with {damaged} of {total} seeds")
    return lines


def _longest(rows: Sequence[FlowRow]) -> FlowRow:
    """The row with the longest silence."""
    return max(rows, key=lambda row: row["longest_silence_s"])


def _reasons(rows: Sequence[FlowRow]) -> list[str]:
    """The mean limiting factors over the seeds."""
    found = reasons.mean_findings(rows)
    return ["; ".join(str(finding) for finding in found[:4])] if found else []


def _is_datagrams(row: FlowRow) -> bool:
    return row["datagram_loss"] is not None


def _known(rows: Sequence[FlowRow], column: str) -> list[float]:
    """The values of a column, from the seeds that have one."""
    flat: list[dict[str, Any]] = [{**row} for row in rows]
    return [float(row[column]) for row in flat if row[column] is not None]


def _of(known: int, total: int) -> str:
    return "" if known == total else f" (with {known} of {total} seeds)"


def _mean(values: Sequence[float]) -> str:
    return str(estimate(values))


def _percent(value: Estimate, digits: int = 0) -> str:
    return f"{value.mean:.{digits}f}%" if value.n < 2 else f"{value.mean:.{digits}f} ± {value.half_width:.{digits}f}%"


def _ms(value: Estimate) -> str:
    digits = 0 if value.mean >= 9.5 else 1
    spread = "" if value.n < 2 else f" ± {value.half_width:.{digits}f}"
    return f"{value.mean:.{digits}f}{spread} ms"
