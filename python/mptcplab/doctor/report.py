"""Examines captures with the core, and adds facts about the hosts.

Owns the JSON document that `mptcplab doctor --json` prints, and its schema. All other outputs start from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

from mptcplab import _core
from mptcplab.doctor.host_facts import core_facts, hosts
from mptcplab.doctor.inputs import Inputs
from mptcplab.util.user_input import BadResult

_SYN, _ACK = 0x02, 0x10
_BATCHES = 4
"""Batches of segments in which SYNs are looked for."""


def examine(inputs: Inputs, progress: Callable[[int], bool]) -> dict[str, Any]:
    """The report on the captures, with the entries `hosts` and `notes`."""
    try:
        found = hosts(inputs.texts, *_openers(inputs)) if inputs.texts else []
        text = _core.examine_captures(inputs.captures, core_facts(found), progress)
    except (OSError, ValueError) as error:
        raise BadResult(_named(str(error), inputs)) from error
    report: dict[str, Any] = json.loads(text)
    report["warnings"] = [_named(one, inputs) for one in report["warnings"]] + inputs.notes
    report["files"] = list(inputs.names)
    report["hosts"] = [one.document() for one in found]
    return report


def _named(message: str, inputs: Inputs) -> str:
    """A message about a copy of a pipe, with the name that the user gave."""
    for path, name in zip(inputs.captures, inputs.names, strict=True):
        if str(path) != name:
            message = message.replace(str(path), name)
    return message


def _openers(inputs: Inputs) -> tuple[frozenset[str], frozenset[str]]:
    """Addresses that sent and received SYNs near the start of the captures."""
    segments = _core.CapturedSegments(inputs.captures)
    clients, servers = set(), set()
    for batch in islice(iter(segments.next_batch, None), _BATCHES):
        flows = segments.flows
        is_syn = (batch["flags"] & (_SYN | _ACK)) == _SYN
        for number in set(batch["flow"][is_syn].tolist()):
            client, server = flows[number]
            clients.add(_host(client))
            servers.add(_host(server))
    return frozenset(clients - servers), frozenset(servers - clients)


def _host(end: str) -> str:
    return end.rpartition(":")[0].strip("[]")


def schema() -> dict[str, Any]:
    """The JSON Schema of the report with its entry `hosts`."""
    document: dict[str, Any] = json.loads(_core.capture_report_schema())
    document["properties"]["hosts"] = _HOSTS
    document["required"] = [*document.get("required", ()), "hosts"]
    return document


def _optional(kind: str, description: str) -> dict[str, Any]:
    return {"type": [kind, "null"], "description": description}


_HOSTS: dict[str, Any] = {
    "description": "The hosts whose texts were given.",
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "side": {"enum": ["client", "server", None], "description": "Its side; null if it is unknown."},
            "files": {"type": "array", "items": {"type": "string"}, "description": "The texts."},
            "subflow_limit": _optional("integer", "Limit of additional subflows (ip mptcp limits)."),
            "add_addr_accepted": _optional("integer", "Limit of announced addresses that it uses."),
            "endpoints": _optional("array", "Endpoints with address, id and flags."),
            "counters": _optional("object", "Counters of nstat that are not 0 and matter."),
            "mptcp_sockets": _optional("integer", "MPTCP connections and subflows in ss."),
            "fallback_sockets": _optional("integer", "Of these, connections that fell back to TCP."),
        },
        "required": [
            "side",
            "files",
            "subflow_limit",
            "add_addr_accepted",
            "endpoints",
            "counters",
            "mptcp_sockets",
            "fallback_sockets",
        ],
    },
}
