"""The report of `mptcplab doctor --html`: one page without external resources, for desktop, phone, light and dark.

Owns HTML and the order of the page. All text from captures, names of files and hosts is escaped; a policy in the page
forbids scripts other than its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mptcplab import __version__
from mptcplab.doctor import verdict_names, words
from mptcplab.doctor.connection_charts import charts, colour, limits
from mptcplab.doctor.host_facts import COUNTERS
from mptcplab.doctor.ladder import ladder
from mptcplab.doctor.words import escaped
from mptcplab.util.files import write_text

Json = Mapping[str, Any]

CONNECTIONS, LISTED, SUBFLOWS, EVENTS, EVIDENCE = 20, 200, 100, 60, 6
"""Maximum of connections with details, of listed ones, and of rows."""

_COMMAND = re.compile(
    r"\b(sysctl (?:-w )?[\w.]+(?:=&#x27;[\d ]+&#x27;|=\w+)?|ip mptcp (?:limits|endpoint) [\w.: ]+?(?= on the |[,;(]|$)"
    r"|tc qdisc [\w. ]+|tcpdump [\w -]+|nstat [-\w]+(?: \| grep \w+)?|ip route get [\w.: ]+(?=:)|ip link|ip -s link)"
)
"""Commands in advice."""
_ICONS: dict[verdict_names.Level, str] = {
    "high": '<path d="M12 3 22 21H2ZM12 10v5M12 18v.01"/>',
    "some": '<circle cx="12" cy="12" r="9"/><path d="M12 7v6M12 16.5v.01"/>',
    "note": '<circle cx="12" cy="12" r="9"/><path d="M12 11v6M12 7.5v.01"/>',
    "good": '<circle cx="12" cy="12" r="9"/><path d="m8 12.5 3 3 5.5-7"/>',
}


def write(report: Json, path: Path) -> None:
    """Writes the page."""
    write_text(path, page(report))


def page(report: Json) -> str:
    """The page as HTML."""
    own = Path(__file__)
    style = own.with_name("doctor.css").read_text(encoding="utf-8")
    script = own.with_name("doctor.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = "; ".join(("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'"))
    files = words.file_names(report["files"])
    connections = report["connections"]
    parts = "".join(
        _connection(one, number, len(connections), files) for number, one in enumerate(connections[:CONNECTIONS])
    )
    title = "What limits this connection" if len(connections) == 1 else "What limits these connections"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>mptcplab doctor: {escaped(", ".join(files[:3]))}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="soft">{_captures(report, files)}</p>
{_warnings(report)}
{_index(report)}
{parts or f"<p>{_nothing(report)}</p>"}
{_hosts(report.get("hosts", ()))}
{_footer(report)}
</main>
<script>{script}</script>
</body>
</html>
"""


def _advice(text: str) -> str:
    """Escaped text with commands as code: words between backticks, and known commands."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text))
    return marked if "`" in text else _COMMAND.sub(r"<code>\1</code>", marked)


def _captures(report: Json, files: Sequence[str]) -> str:
    names = ", ".join(f"<code>{escaped(one)}</code>" for one in files[:6])
    more = f" and {len(files) - 6} more" if len(files) > 6 else ""
    when = ""
    # Simulated captures start at 0, and damaged ones at any time.
    if 86_400 < report["start"] < 253_402_300_799:
        when = f", starting at {datetime.fromtimestamp(report['start'], UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{names}{more}: {words.plural(report['packets'], 'packet')} in {words.seconds(report['seconds'])}{when}"


def _nothing(report: Json) -> str:
    return "The captures contain no packets." if not report["packets"] else "The captures contain no TCP connection."


def _warnings(report: Json) -> str:
    if not report["warnings"]:
        return ""
    rows = "".join(f"<p><b>Warning:</b> {escaped(one)}</p>" for one in report["warnings"][:20])
    return f'<div class="warnings">{rows}</div>'


def _index(report: Json) -> str:
    """A table of connections, if there are several."""
    connections = report["connections"]
    if len(connections) < 2:
        return ""
    rows = []
    for number, one in enumerate(connections[:LISTED]):
        data = one["data"][words.sending(one)]
        ends = f"{escaped(one['client'])} → {escaped(one['server'])}"
        link = f'<a href="#connection-{number + 1}">{ends}</a>' if number < CONNECTIONS else ends
        names = ", ".join(escaped(verdict_names.title(verdict["name"])) for verdict in one["verdicts"][:2])
        rows.append(
            f'<tr><td>{number + 1}</td><td class="text">{link}</td>'
            f'<td class="text">{words.PROTOCOLS[one["protocol"]]}</td><td>{words.size(data["bytes"])}</td>'
            f'<td>{words.rate(data["goodput"])}</td><td class="wide">{names}</td></tr>'
        )
    more = len(connections) - len(rows) + report["omitted_connections"]
    note = f'<p class="soft">and {more:,} more (<code>--json</code>)</p>' if more else ""
    head = '<th>#<th class="text">connection<th class="text">protocol<th>data<th>goodput<th class="text">verdicts'
    return (
        f'<div class="scroll"><table><caption>{len(connections):,} connections</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _connection(connection: Json, number: int, count: int, files: Sequence[str]) -> str:
    side = words.sending(connection)
    data = connection["data"][side]
    version = f" version {connection['version']}" if connection["protocol"] == "mptcp" and connection["version"] else ""
    which = f"Connection {number + 1}: " if count > 1 else ""
    place = "captured at both ends" if connection["has_both_ends"] else words.PLACES[connection["place"]]
    ends = f"{escaped(connection['client'])} → {escaped(connection['server'])}"
    drawn = charts(connection)
    bar = limits(connection)
    return f"""<section class="connection" id="connection-{number + 1}">
<h2>{which}{words.PROTOCOLS[connection["protocol"]]}{version}, {ends}</h2>
<ul class="facts"><li>{place}</li><li>the {connection["sender"]} sent <b>{words.size(data["bytes"])}</b> in
<b>{words.seconds(data["seconds"])}</b></li><li>goodput <b>{words.rate(data["goodput"])}</b></li></ul>
{_used(connection, data)}
<div class="verdicts">{"".join(_verdict(one, files) for one in connection["verdicts"])}</div>
{f'<h3>Over time</h3><div class="charts">{drawn}{bar}</div>' if drawn else bar}
<div class="tables">{_subflows(connection, side)}{_data(data) if connection["protocol"] == "mptcp" else ""}</div>
<div class="columns">{ladder(connection, files)}
<div>{_announced(connection, files)}{_events(connection, files)}</div></div>
</section>
"""


def _used(connection: Json, data: Json) -> str:
    """A bar of the goodput as a share of the potential, if the capture shows it."""
    if any(one["name"] == "cannot-tell" for one in connection["verdicts"]) or not data["potential"]:
        return ""
    part = min(1.0, data["goodput"] / data["potential"])
    text = f"{words.percent(part)} of the {words.rate(data['potential'])} that its open subflows could carry"
    return (
        f'<div class="used"><div class="track" role="img" aria-label="{text}"><span style="width:{part:.1%}"></span>'
        f"</div><p>{text}</p></div>"
    )


def _verdict(one: Json, files: Sequence[str]) -> str:
    level = verdict_names.level(one)
    cost, _, rest = words.cost(one).replace("% of", "%, of", "about" in words.cost(one)).partition(", ")
    price = f'<p class="cost">{cost}{f" <small>{rest}</small>" if rest else ""}</p>' if cost else ""
    proof = "".join(
        f"<li><code>{escaped(words.packet(it['packet'], files))}</code> "
        f'<span class="time">at {words.at(it["time"])}</span>: {escaped(words.proof_text(it, files))}</li>'
        for it in one["evidence"][:EVIDENCE]
    )
    advice = "".join(f"<li>{_advice(it)}</li>" for it in one["advice"])
    return f"""<article class="verdict {level}"><header>
<svg viewBox="0 0 24 24" aria-hidden="true">{_ICONS[level]}</svg>
<div><h3>{escaped(verdict_names.title(one["name"]))}</h3>
<p><span class="level">{verdict_names.WORDS[level]}</span> · <code>{escaped(one["name"])}</code></p></div>
{price}</header>
<div class="body"><p>{escaped(_sentence(one["summary"]))}</p>
{f"<div><h4>Packets that prove it</h4><ul>{proof}</ul></div>" if proof else ""}
{f"<div><h4>What to try</h4><ul>{advice}</ul></div>" if advice else ""}</div></article>
"""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


_NUMBERS = (
    "share",
    "rate",
    "capacity",
    "RTT min [ms]",
    "median [ms]",
    "95% [ms]",
    "lost",
    "retransmitted",
    "timeouts",
)
"""Columns of numbers of a subflow. On a narrow screen, each number has its name next to it."""


def _subflows(connection: Json, side: int) -> str:
    total = connection["data"][side]
    rows = []
    for number, one in enumerate(connection["subflows"][:SUBFLOWS]):
        data = one["data"][side]
        sent = data["bytes"] > 0
        cells = [
            words.percent(data["share"]) if sent else "–",
            words.rate(words.subflow_rate(data, total)) if sent else "–",
            words.rate(data["capacity"]) if data["capacity"] is not None else "–",
            *(words.milliseconds(data[key]).replace("-", "–") for key in ("base_rtt", "median_rtt", "p95_rtt")),
            words.loss(data["loss_rate"]) if sent else "–",
            f"{data['retransmissions']:,}",
            f"{data['timeouts']:,}",
        ]
        reset = f"<br><small>reset by the {one['reset_by']}: {escaped(one['reset'])}</small>" if one["reset"] else ""
        rows.append(
            f'<tr><td class="text"><i class="area {colour(connection, number)}"></i>{number + 1}</td>'
            f'<td class="text">{escaped(words.role(one, number))}</td>'
            f'<td class="text">{escaped(words.ends(one))}{reset}</td>'
            + "".join(f'<td data-label="{label}">{cell}</td>' for label, cell in zip(_NUMBERS, cells, strict=True))
            + "</tr>"
        )
    more = len(connection["subflows"]) - len(rows)
    note = f'<p class="soft">and {more:,} more (<code>--json</code>)</p>' if more > 0 else ""
    head = '<th class="text">#<th class="text">role<th class="text">path' + "".join(f"<th>{one}" for one in _NUMBERS)
    return (
        f'<div class="scroll"><table class="cards"><caption>Subflows</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _data(data: Json) -> str:
    values = {
        "largest receive window": words.size(data["largest_window"]),
        "most data in flight": words.size(data["largest_flight"]),
        "most data out of order": words.size(data["largest_out_of_order"]),
        "reinjected": words.size(data["reinjected"]),
        "longest time without progress": words.seconds(data["longest_stall"]),
    }
    return f'<ul class="facts">{"".join(f"<li>{name} <b>{value}</b></li>" for name, value in values.items())}</ul>'


def _announced(connection: Json, files: Sequence[str]) -> str:
    rows = []
    for one in connection["announced"][:EVENTS]:
        state = ["confirmed" if one["is_echoed"] else "not confirmed", "used" if one["is_used"] else "not used"]
        state += ["removed later"] if one["is_removed"] else []
        rows.append(
            f'<tr><td class="text">{escaped(one["address"])}</td><td class="text">{one["by"]}</td><td>{one["id"]}</td>'
            f'<td class="text"><code>{escaped(words.packet(one["packet"], files))}</code></td>'
            f'<td class="wide">{", ".join(state)}</td></tr>'
        )
    head = '<th class="text">address<th class="text">by<th>ID<th class="text">packet<th class="text">state'
    return _table("Announced addresses", head, rows)


def _events(connection: Json, files: Sequence[str]) -> str:
    rows = [
        f'<tr><td>{words.at(one["time"])}</td><td>{one["subflow"] + 1}</td><td class="wide">{escaped(one["what"])}</td>'
        f'<td class="text"><code>{escaped(words.packet(one["packet"], files))}</code></td></tr>'
        for one in connection["events"][:EVENTS]
    ]
    return _table("Events", '<th>time<th>subflow<th class="text">event<th class="text">packet', rows)


def _table(title: str, head: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    return (
        f'<h3>{title}</h3><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _hosts(hosts: Sequence[Json]) -> str:
    if not hosts:
        return ""
    return f'<h3>Hosts</h3><div class="hosts">{"".join(_host(one) for one in hosts)}</div>'


def _host(one: Json) -> str:
    title = one["side"] or "host of the capture"
    lines = list(_host_lines(one))
    lines += [
        f"<code>{escaped(name)}</code> {value:,}: {escaped(COUNTERS.get(name, ''))}"
        for name, value in (one["counters"] or {}).items()
    ]
    items = "".join(f"<li>{line}</li>" for line in lines)
    files = ", ".join(escaped(Path(name).name) for name in one["files"])
    return f'<div class="host"><b>{title}</b> <span class="soft">({files})</span><ul>{items}</ul></div>'


def _host_lines(one: Json) -> Iterator[str]:
    if one["subflow_limit"] is not None:
        yield f"limits: subflows {one['subflow_limit']}, add_addr_accepted {one['add_addr_accepted']}"
    if one["endpoints"] is not None:
        own = ", ".join(escaped(f"{end['address']} {' '.join(end['flags'])}".strip()) for end in one["endpoints"][:20])
        yield f"endpoints: {own or 'none'}"
    if one["mptcp_sockets"] is not None:
        fallen = f", {one['fallback_sockets']} after fallback" if one["fallback_sockets"] else ""
        yield f"{words.plural(one['mptcp_sockets'], 'MPTCP socket')} in ss{fallen}"


def _footer(report: Json) -> str:
    notes = [f"{count:,} packets {words.SKIPPED[why]}" for why, count in report["skipped"].items() if count]
    unused = f"Packets that were not used: {', '.join(notes)}. " if notes else ""
    copies = f"{words.plural(report['copies'], 'packet')} captured twice. " if report["copies"] else ""
    return (
        f"<footer><p>{unused}{copies}Times are seconds after the first packet. Packets have the numbers of Wireshark "
        "(<code>frame.number</code>). The potential is the rate that all open subflows together could carry, as far as "
        f"the capture shows.</p><p>mptcplab {escaped(__version__)}</p></footer>"
    )
