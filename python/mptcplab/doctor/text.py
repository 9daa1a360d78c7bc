"""The text of `mptcplab doctor` on a terminal: the verdicts first, then the connection that they are about.

Owns the order and form of the lines. Judges nothing; the core found the verdicts.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mptcplab.doctor import words
from mptcplab.doctor.host_facts import COUNTERS

Json = Mapping[str, Any]

_VERDICTS, _EVIDENCE, _ADVICE = 6, 3, 3
_EVENTS, _ANNOUNCED, _SUBFLOWS, _OTHERS, _COUNTERS = 8, 5, 12, 10, 6
"""Lines of each part, at most."""


def text(report: Json, chosen: int, width: int) -> str:
    """The report on the connection with the index `chosen`, and a line for each other one."""
    files = words.file_names(report["files"])
    connections = report["connections"]
    lines = [_captures(report, files)]
    if connections:
        connection = connections[chosen]
        lines += ["", *_head(connection, chosen, len(connections))]
        lines += _verdicts(connection, files, width)
        lines += ["", *_subflows(connection, width)]
        lines += _rest(connection, files, width)
    else:
        lines += ["", _nothing(report)]
    lines += _hosts(report.get("hosts", ()), width)
    lines += _others(report, chosen)
    lines += _warnings(report, width)
    # Names of files, and texts of damaged captures, may contain control characters.
    return "\n".join(map(words.shown, lines))


def _captures(report: Json, files: Sequence[str]) -> str:
    names = ", ".join(files[:4]) + (f" and {len(files) - 4} more" if len(files) > 4 else "")
    packets = words.plural(report["packets"], "packet")
    return f"{names}: {packets}" + (f" in {words.seconds(report['seconds'])}" if report["packets"] > 1 else "")


def _nothing(report: Json) -> str:
    skipped = _skipped(report)
    if report["packets"] == 0:
        return "The captures contain no packets."
    return f"The captures contain no TCP connection{f' ({skipped})' if skipped else ''}."


def _head(connection: Json, number: int, count: int) -> Iterator[str]:
    version = "" if connection["version"] is None else f" v{connection['version']}"
    protocol = words.PROTOCOLS[connection["protocol"]] + (version if connection["protocol"] == "mptcp" else "")
    which = f"Connection {number + 1} of {count}: " if count > 1 else ""
    ends = f"{connection['client']} → {connection['server']}"
    place = words.PLACES[connection["place"]] if not connection["has_both_ends"] else "captured at both ends"
    yield f"{which}{protocol}, {ends}, {place}"
    sender = words.sending(connection)
    is_known = all(one["name"] != "cannot-tell" for one in connection["verdicts"])
    for side in (sender, 1 - sender):
        data = connection["data"][side]
        if data["bytes"] == 0 or (side != sender and data["bytes"] < 0.01 * connection["data"][sender]["bytes"]):
            continue
        host = ("client", "server")[side]
        line = (
            f"  the {host} sent {words.size(data['bytes'])} in {words.seconds(data['seconds'])}: "
            f"{words.rate(data['goodput'])}"
        )
        if is_known and side == sender and data["potential"] > 1.02 * data["goodput"]:
            part = words.percent(data["goodput"] / data["potential"])
            line += f", {part} of the {words.rate(data['potential'])} that its paths could carry"
        yield line


_UNIT = re.compile(r"(?<=\d) (?=(?:bytes|[kMG]?B|[kM]?b/s|ms|s)\b)")


def _wrapped(line: str, width: int, first: str, rest: str) -> list[str]:
    """Lines of a sentence; a number stays with its unit."""
    kept = _UNIT.sub("\x1f", words.shown(line))
    lines = textwrap.wrap(
        kept, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return [one.replace("\x1f", " ") for one in lines]


def _verdicts(connection: Json, files: Sequence[str], width: int) -> Iterator[str]:
    verdicts = connection["verdicts"]
    for number, one in enumerate(verdicts[:_VERDICTS], 1):
        yield ""
        yield from _wrapped(f"{one['name']}: {one['summary']}", width, f"{number}. ", "   ")
        if cost := words.cost(one):
            yield f"   costs   {cost}"
        for place, proof in enumerate(one["evidence"][:_EVIDENCE]):
            where = f"{words.packet(proof['packet'], files)} at {words.at(proof['time'])}"
            yield from _wrapped(
                f"{where}: {words.proof_text(proof, files)}", width, "   proof   " if not place else " " * 11, " " * 13
            )
        for place, advice in enumerate(one["advice"][:_ADVICE]):
            yield from _wrapped(advice, width, "   try     " if not place else " " * 11, " " * 13)
    if len(verdicts) > _VERDICTS:
        yield f"and {words.plural(len(verdicts) - _VERDICTS, 'smaller one')} (--json)"


def aligned(rows: Sequence[Sequence[str]], right: frozenset[int]) -> Iterator[str]:
    """Columns with two spaces between them; those in `right` are aligned to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.rjust(size) if column in right else cell.ljust(size)
            for column, (cell, size) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join(cells).rstrip()


def _subflows(connection: Json, width: int) -> Iterator[str]:
    side = words.sending(connection)
    total = connection["data"][side]
    rows = [["subflow", "role", "share", "rate", "RTT min/median/p95", "lost", "retr.", "RTOs", "path"]]
    for number, one in enumerate(connection["subflows"][:_SUBFLOWS]):
        data = one["data"][side]
        sent = data["bytes"] > 0
        times = "/".join(words.milliseconds(data[key]) for key in ("base_rtt", "median_rtt", "p95_rtt"))
        rows.append(
            [
                str(number + 1),
                words.role(one, number),
                words.percent(data["share"]) if sent else "-",
                words.rate(words.subflow_rate(data, total)) if sent else "-",
                f"{times} ms" if data["median_rtt"] is not None else "-",
                words.loss(data["loss_rate"]) if sent else "-",
                str(data["retransmissions"]),
                str(data["timeouts"]),
                words.ends(one),
            ]
        )
    yield from aligned(rows, frozenset({2, 3, 4, 5, 6, 7}))
    if len(connection["subflows"]) > _SUBFLOWS:
        yield f"  and {words.plural(len(connection['subflows']) - _SUBFLOWS, 'more subflow')} (--json)"
    for number, one in enumerate(connection["subflows"][:_SUBFLOWS]):
        if limits := words.limits(one, side):
            parts = ", ".join(f"{words.LIMITS[name][0]} {words.percent(share)}" for name, share in limits)
            yield from _wrapped(f"subflow {number + 1}, limits by time: {parts}", width, "  ", "    ")
        if one["reset"]:
            by = f" by the {one['reset_by']}" if one["reset_by"] else ""
            yield from _wrapped(f"subflow {number + 1} was reset{by}: {one['reset']}", width, "  ", "    ")


def _rest(connection: Json, files: Sequence[str], width: int) -> Iterator[str]:
    data = connection["data"][words.sending(connection)]
    if connection["protocol"] == "mptcp" and data["bytes"] > 0:
        parts = [
            f"largest receive window {words.size(data['largest_window'])}",
            f"in flight at most {words.size(data['largest_flight'])}",
            f"out of order at most {words.size(data['largest_out_of_order'])}",
            f"reinjected {words.size(data['reinjected'])}",
        ]
        if data["longest_stall"] >= 0.2:
            parts.append(f"longest time without progress {words.seconds(data['longest_stall'])}")
        yield from _wrapped(f"data: {', '.join(parts)}", width, "  ", "    ")
    for one in connection["announced"][:_ANNOUNCED]:
        state = ", ".join(
            [
                "confirmed by the peer" if one["is_echoed"] else "not confirmed",
                "used" if one["is_used"] else "not used",
                *(["removed later"] if one["is_removed"] else []),
            ]
        )
        where = words.packet(one["packet"], files)
        yield f"  the {one['by']} announced {one['address']} (ID {one['id']}, {where}): {state}"
    if len(connection["announced"]) > _ANNOUNCED:
        yield f"  and {len(connection['announced']) - _ANNOUNCED} more announced addresses (--json)"
    events = connection["events"]
    if events:
        yield "  events"
    for one in events[:_EVENTS]:
        where = f"{words.at(one['time']):>10}  subflow {one['subflow'] + 1}"
        yield from _wrapped(f"{where}: {one['what']} ({words.packet(one['packet'], files)})", width, "  ", "      ")
    if len(events) > _EVENTS:
        yield f"    and {len(events) - _EVENTS} more (--json)"


def _hosts(hosts: Sequence[Json], width: int) -> Iterator[str]:
    for one in hosts:
        side = f"host ({one['side']})" if one["side"] else "host"
        parts = []
        if one["subflow_limit"] is not None:
            parts.append(f"limits: subflows {one['subflow_limit']}, add_addr_accepted {one['add_addr_accepted']}")
        if one["endpoints"] is not None:
            own = ", ".join(f"{end['address']} {' '.join(end['flags'])}".strip() for end in one["endpoints"][:6])
            parts.append(f"endpoints: {own or 'none'}")
        if one["mptcp_sockets"] is not None:
            parts.append(
                f"{words.plural(one['mptcp_sockets'], 'MPTCP socket')} in ss"
                + (f", {one['fallback_sockets']} after fallback" if one["fallback_sockets"] else "")
            )
        yield ""
        yield from _wrapped(f"{side}: {'; '.join(parts) or 'counters only'}", width, "", "  ")
        counters = list((one["counters"] or {}).items())
        for name, value in counters[:_COUNTERS]:
            yield from _wrapped(f"{name} {value:,}: {COUNTERS[name]}", width, "  ", "    ")
        if len(counters) > _COUNTERS:
            yield f"  and {len(counters) - _COUNTERS} more counters (--json)"


def _others(report: Json, chosen: int) -> Iterator[str]:
    connections = report["connections"]
    if len(connections) < 2:
        return
    yield ""
    yield "other connections (--connection N)"
    rows: list[list[str]] = []
    for number, one in enumerate(connections):
        if number != chosen and len(rows) < _OTHERS:
            data = one["data"][words.sending(one)]
            verdicts = ", ".join(verdict["name"] for verdict in one["verdicts"][:2])
            rows.append(
                [
                    str(number + 1),
                    words.PROTOCOLS[one["protocol"]],
                    f"{one['client']} → {one['server']}",
                    words.size(data["bytes"]),
                    words.rate(data["goodput"]),
                    verdicts,
                ]
            )
    yield from aligned(rows, frozenset({0, 3, 4}))
    more = len(connections) - 1 - len(rows) + report["omitted_connections"]
    if more:
        yield f"  and {more:,} more (--json)"


def _skipped(report: Json) -> str:
    return ", ".join(f"{count:,} {words.SKIPPED[why]}" for why, count in report["skipped"].items() if count)


def _warnings(report: Json, width: int) -> Iterator[str]:
    notes = [f"warning: {one}" for one in report["warnings"]]
    if skipped := _skipped(report):
        notes.append(f"packets that were not used: {skipped}")
    if report["copies"]:
        notes.append(f"{words.plural(report['copies'], 'packet')} captured twice, on two devices; each counts once")
    if report["omitted_segments"]:
        notes.append(
            f"{words.plural(report['omitted_segments'], 'segment')} belong to connections beyond the maximum number"
        )
    if notes:
        yield ""
    for one in notes:
        yield from _wrapped(one, width, "", "  ")
