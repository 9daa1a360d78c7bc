"""Connections of mptcplab's own stack, as the page shows them: `FlowView` of types.ts, and samples.

Owns the conversion of `ConnectionInfo`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mptcplab.page.sampling import Sampler

if TYPE_CHECKING:
    from mptcplab._core import ConnectionInfo, Emulator, SubflowInfo

ESTABLISHED = "ESTAB"
FIRST_PORT = 5001
"""Port of the first flow of a scenario; the others follow (crates/emulator/src/flows)."""

PathOf = Callable[["SubflowInfo"], "int | None"]
"""The path of a subflow; None hides the subflow."""

EMPTY: dict[str, Any] = {
    "written": 0, "received": 0, "sendQueue": 0, "peerWindow": 0, "outOfOrder": 0, "receiveBuffer": 0,
    "finished": False, "multipath": False, "fellBack": None, "subflows": [],
}  # fmt: skip
"""The view of a flow without a connection."""


def view(info: ConnectionInfo, path_of: PathOf, *, sending: bool, peer: ConnectionInfo | None = None) -> dict[str, Any]:
    """The view of a flow, from the state of this host; `peer` is that of the other host, if it is known.

    `sending` tells whether this host sends the data.
    """
    receiver = peer if sending and peer is not None else info
    done = info["bytes_acked"] if sending and peer is None else receiver["bytes_received"]
    subflows = [(path_of(one), one) for one in info["paths"] if one["state"] == ESTABLISHED]
    return {
        "written": info["bytes_written"] if sending else done,
        "received": done,
        "sendQueue": info["send_queue"],
        "peerWindow": info["peer_window"],
        "outOfOrder": receiver["bytes_out_of_order"],
        "receiveBuffer": receiver["receive_buffer"],
        "finished": info["closed"] is not None,
        "multipath": info["mode"] == "mptcp" and not info["fallback"],
        "fellBack": "fell back to TCP" if info["fallback"] else None,
        "subflows": [_subflow(one, path) for path, one in subflows if path is not None],
    }


def _subflow(one: SubflowInfo, path: int) -> dict[str, Any]:
    return {
        "path": path,
        "cwnd": one["snd_cwnd"],
        "ssthresh": one["snd_ssthresh"],
        "inFlight": one["in_flight"],
        "srtt": one["rtt_s"],
        "minRtt": one["min_rtt_s"],
        "backup": one["backup"],
        "limit": "window" if one["in_flight"] >= one["snd_cwnd"] else None,
    }


def sample(
    sampler: Sampler,
    flow: int,
    paths: int,
    info: ConnectionInfo,
    path_of: PathOf,
    *,
    sending: bool,
    peer: ConnectionInfo | None = None,
) -> None:
    """Adds samples of a flow over `paths` paths; the other values are as in `view`."""
    receiver = peer if sending and peer is not None else info
    received = info["bytes_acked"] if sending and peer is None else receiver["bytes_received"]
    for number in range(paths):
        mine = [one for one in info["paths"] if path_of(one) == number]
        if not mine:
            continue
        sampler.rate(flow, number, "throughput", sum(one["bytes_sent"] for one in mine))
        arrived = sum(one["bytes_acked"] if sending else one["bytes_received"] for one in mine)
        sampler.rate(flow, number, "goodput", arrived)
        sampler.value(flow, number, "retransmits", sum(one["total_retrans"] for one in mine))
        for one in mine:
            if one["state"] == ESTABLISHED:
                sampler.value(flow, number, "cwnd", one["snd_cwnd"])
                sampler.value(flow, number, "ssthresh", one["snd_ssthresh"])
                sampler.value(flow, number, "srtt", one["rtt_s"])
                sampler.value(flow, number, "rttvar", one["rttvar_s"])
                sampler.value(flow, number, "in_flight", one["in_flight"])
    sampler.rate(flow, paths, "throughput", sum(one["bytes_sent"] for one in info["paths"]))
    sampler.rate(flow, paths, "goodput", received)
    sampler.value(flow, paths, "send_queue", info["send_queue"])
    sampler.value(flow, paths, "receive_window", info["peer_window"])
    sampler.value(flow, paths, "out_of_order", receiver["bytes_out_of_order"])
    sampler.value(flow, paths, "reinjected", info["bytes_retrans"])


class OwnFlows:
    """The flows of a scenario that the emulator runs on mptcplab's stack (`mptcplab run --backend wire`)."""

    def __init__(self, emulator: Emulator, senders: Sequence[str], links: Sequence[str]) -> None:
        """`senders` are the sending hosts of the flows, and `links` the paths of the page."""
        hosts = emulator.hosts()
        self._emulator, self._senders, self._links = emulator, senders, len(links)
        self._places = {host["name"]: number for number, host in enumerate(hosts)}
        paths = {link: number for number, link in enumerate(links)}
        opening = [host for host in hosts if host["opens"]]
        self._addresses = {one["address"]: paths[one["link"]] for host in opening for one in host["devices"]}
        self._last: dict[int, dict[str, Any]] = {}

    def look(self, _time: float, sampler: Sampler | None) -> list[dict[str, Any]]:
        """`FlowView` of types.ts for each flow; adds samples if `sampler` is given."""
        hosts = self._emulator.connections()
        return [self._flow(number, hosts, sampler) for number in range(len(self._senders))]

    def _flow(self, number: int, hosts: Sequence[Sequence[ConnectionInfo]], sampler: Sampler | None) -> dict[str, Any]:
        opens, accepts = self._emulator.ends()[number]
        port = f":{FIRST_PORT + number}"
        near = _found(hosts, self._places[opens], "remote", port)
        far = _found(hosts, self._places[accepts], "local", port)
        info, peer = (near, far) if self._senders[number] == opens else (far, near)
        if info is None:
            # A closed connection is no longer listed; its last state stays.
            known = self._last.get(number)
            return EMPTY if known is None else {**known, "finished": True, "subflows": []}
        if sampler is not None:
            sample(sampler, number, self._links, info, self._path, sending=True, peer=peer)
        self._last[number] = view(info, self._path, sending=True, peer=peer)
        return self._last[number]

    def _path(self, one: SubflowInfo) -> int | None:
        known: Mapping[str, int] = self._addresses
        ends = (one["local"].rpartition(":")[0], one["remote"].rpartition(":")[0])
        return next((known[end] for end in ends if end in known), None)


def _found(hosts: Sequence[Sequence[ConnectionInfo]], place: int, end: str, port: str) -> ConnectionInfo | None:
    """The connection of a host with this port at one end; the latest, if there are several."""
    own = hosts[place] if place < len(hosts) else []
    rows: list[tuple[ConnectionInfo, list[Any]]] = [(info, list(info["paths"])) for info in own]
    return next((info for info, paths in reversed(rows) if any(one[end].endswith(port) for one in paths)), None)
