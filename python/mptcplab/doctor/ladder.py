"""The sequence diagram of a connection as HTML: an arrow for each segment, with its options in words.

Owns the words for options and the folding of equal segments. The core chose the segments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mptcplab.doctor import words
from mptcplab.doctor.connection_charts import colour

Json = Mapping[str, Any]

OPEN = 16
"""Arrows that are visible at once; the others can be unfolded."""

_KEYS = {"0": "no key yet", "1": "the sender's key", "2": "both keys"}


def in_words(what: str) -> str:
    """Flags and options of a segment, with keys and mappings in words."""
    text = re.sub(
        r"MP_CAPABLE v(\d+), (\d) keys", lambda it: f"MP_CAPABLE version {it[1]} ({_KEYS.get(it[2], it[2])})", what
    )
    text = re.sub(r"MP_JOIN token (\w+), address (\d+)", r"MP_JOIN (token \1, address ID \2)", text)
    text = re.sub(r"MP_JOIN address (\d+)", r"MP_JOIN (address ID \1)", text)
    text = re.sub(r"MP_JOIN HMAC", "MP_JOIN (HMAC)", text)
    text = re.sub(r"mapping of 1 bytes", "mapping of 1 byte", text)
    return re.sub(r"DSS ([^()]*)$", r"DSS (\1)", text)


def _folded(rungs: Sequence[Json]) -> Iterator[tuple[Json, int]]:
    """Segments with the number of equal ones that follow."""
    place = 0
    while place < len(rungs):
        first = rungs[place]
        keys = ("from", "subflow", "what")
        end = place + 1
        while end < len(rungs) and all(rungs[end][key] == first[key] for key in keys):
            end += 1
        yield first, end - place
        place = end


def ladder(connection: Json, files: Sequence[str]) -> str:
    """The diagram as HTML; empty without segments."""
    rungs = list(_folded(connection["ladder"]))
    if not rungs:
        return ""
    rows = [_rung(connection, one, count, files) for one, count in rungs]
    more = ""
    if len(rows) > OPEN:
        rest = "".join(rows[OPEN:])
        more = f"<details><summary>{len(rows) - OPEN} more segments</summary><ol>{rest}</ol></details>"
    client, server = words.escaped(connection["client"]), words.escaped(connection["server"])
    return f"""<section class="ladder"><h3>Handshakes and options</h3>
<div class="ends" aria-hidden="true"><span>client <small>{client}</small></span>
<span>server <small>{server}</small></span></div><ol>{"".join(rows[:OPEN])}</ol>{more}</section>"""


def _rung(connection: Json, one: Json, count: int, files: Sequence[str]) -> str:
    what = words.escaped(in_words(one["what"])) + (f" <b>×{count}</b>" if count > 1 else "")
    to = "server" if one["from"] == "client" else "client"
    where = words.escaped(words.packet(one["packet"], files))
    style = colour(connection, one["subflow"])
    return (
        f'<li class="from-{words.escaped(one["from"])} {style}"><span class="what">{what}</span>'
        f'<span class="arrow" role="img" aria-label="from {words.escaped(one["from"])} to {to}"></span>'
        f'<span class="where">{words.at(one["time"])}, subflow {one["subflow"] + 1}, <code>{where}</code></span></li>'
    )
