"""Flows and subflows of Linux's sockets in an emulated network, as the page shows them.

Owns the assignment of sockets to the flows of a scenario. A flow shows one connection at a time: of all open ones
between its hosts, the one with the most data. Byte counts add up over its connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mptcplab.host.socket_diag import ESTABLISHED, MptcpSocket, SocketDiag, TcpSocket, TooMany
from mptcplab.page.sampling import Sampler

PAUSE = 1.0
"""Seconds without queries of a host with too many sockets."""
FULL = 0.5
"""A subflow is limited by a window or buffer that was full for this share of the time since the last look."""


class Diag(Protocol):
    """Queries the sockets of a host."""

    def tcp(self) -> list[TcpSocket]:
        """All TCP connections and subflows."""

    def mptcp(self) -> list[MptcpSocket]:
        """All MPTCP connections."""


@dataclass(frozen=True)
class Flow:
    """The connections that a flow shows."""

    opens: str
    """The host that opens them."""
    accepts: str
    port: int | None
    """The port at the accepting host; None for all ports."""


@dataclass
class _End:
    """A connection as one of its hosts sees it."""

    subflows: list[TcpSocket]
    connection: MptcpSocket | None

    def acked(self) -> int:
        if self.connection is not None:
            return self.connection.bytes_acked
        return sum(one.bytes_acked for one in self.subflows)

    def received(self) -> int:
        if self.connection is not None:
            return self.connection.bytes_received
        return sum(one.bytes_received for one in self.subflows)

    def unacked(self) -> int:
        if self.connection is not None and not self.connection.fallback:
            return self.connection.unacked
        return sum(one.unacked for one in self.subflows)

    def is_multipath(self) -> bool:
        return any(one.token is not None for one in self.subflows) and not self.fell_back()

    def fell_back(self) -> bool:
        return self.connection is not None and self.connection.fallback


@dataclass
class _Total:
    """Counts of a flow over all its connections."""

    key: object = None
    """The present connection."""
    written: int = 0
    received: int = 0
    before: tuple[int, int] = (0, 0)
    """Both counts of earlier connections."""
    limited: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict)
    """By local address of a subflow: seconds with a full receive window and with a full send buffer."""


class LiveSockets:
    """The connections of all flows."""

    def __init__(
        self,
        flows: Sequence[Flow | None],
        diags: Mapping[str, Diag],
        addresses: Mapping[str, Mapping[str, int]],
        paths: int,
    ) -> None:
        """Shows these flows, in the order of the description; None is a flow that shows no connection.

        `diags` are by host, and `addresses` contain the path of each address of a host.
        """
        self._flows, self._diags, self._addresses, self._paths = flows, diags, addresses, paths
        self._totals = [_Total() for _ in flows]
        self._resume = dict.fromkeys(diags, 0.0)
        self._last = 0.0

    def look(self, time: float, sampler: Sampler | None) -> list[dict[str, Any]]:
        """`FlowView` of types.ts for each flow; adds samples if `sampler` is given."""
        span, self._last = time - self._last, time
        found = {host: self._sockets(host, time) for host in self._diags}
        return [self._flow(number, found, span, sampler) for number in range(len(self._flows))]

    def _sockets(self, host: str, time: float) -> dict[object, _End]:
        """The open connections of a host, by token or by the addresses of a TCP connection."""
        if time < self._resume[host]:
            return {}
        try:
            sockets = self._diags[host].tcp()
            multipath = any(one.token is not None for one in sockets)
            connections = {one.token: one for one in self._diags[host].mptcp()} if multipath else {}
        except TooMany:
            self._resume[host] = time + PAUSE
            return {}
        except OSError:
            # A kernel without this interface, or a namespace that is being removed: there is nothing to show.
            self._resume[host] = time + PAUSE
            return {}
        ends: dict[object, _End] = {}
        for one in sockets:
            key: object = one.token if one.token is not None else (one.local, one.remote)
            ends.setdefault(key, _End([], connections.get(one.token or 0))).subflows.append(one)
        return ends

    def _flow(
        self, number: int, found: Mapping[str, dict[object, _End]], span: float, sampler: Sampler | None
    ) -> dict[str, Any]:
        flow, total = self._flows[number], self._totals[number]
        if flow is None:
            return _view(total)
        opener = _busiest(found.get(flow.opens, {}), self._addresses[flow.accepts], flow.port)
        if opener is None:
            return _view(total, finished=total.key is not None)
        key, near = opener
        far = _peer(near, found.get(flow.accepts, {}).values())
        sender, receiver = (near, far) if far is None or near.acked() >= far.acked() else (far, near)
        if key != total.key:
            total.key, total.before, total.limited = key, (total.written, total.received), {}
        host = flow.opens if sender is near else flow.accepts
        total.written = total.before[0] + sender.acked() + sender.unacked()
        total.received = total.before[1] + (sender.acked() if receiver is None else receiver.received())
        subflows = [self._subflow(one, host, total, span) for one in sender.subflows if one.state == ESTABLISHED]
        if sampler is not None:
            self._sample(number, sender, host, total, sampler)
        return _view(total, sender=sender, receiver=receiver, subflows=[one for one in subflows if one is not None])

    def _subflow(self, one: TcpSocket, host: str, total: _Total, span: float) -> dict[str, Any] | None:
        path = self._addresses[host].get(one.local[0])
        if path is None:
            return None
        before = total.limited.get(one.local, (one.receive_limited, one.send_buffer_limited))
        total.limited[one.local] = (one.receive_limited, one.send_buffer_limited)
        limit = None
        if span > 0 and one.receive_limited - before[0] > FULL * span:
            limit = "receive_window"
        elif span > 0 and one.send_buffer_limited - before[1] > FULL * span:
            limit = "send_buffer"
        elif one.in_flight and one.in_flight >= one.cwnd:
            limit = "window"
        return {
            "path": path,
            "cwnd": one.cwnd,
            "ssthresh": one.ssthresh,
            "inFlight": one.in_flight,
            "srtt": one.srtt,
            "minRtt": one.min_rtt,
            "backup": one.backup,
            "limit": limit,
        }

    def _sample(self, flow: int, sender: _End, host: str, total: _Total, sampler: Sampler) -> None:
        everything = self._paths
        for one in sender.subflows:
            path = self._addresses[host].get(one.local[0])
            if path is None:
                continue
            sampler.rate(flow, path, "throughput", one.bytes_sent)
            sampler.rate(flow, path, "goodput", one.bytes_acked)
            sampler.value(flow, path, "cwnd", one.cwnd)
            sampler.value(flow, path, "ssthresh", one.ssthresh)
            sampler.value(flow, path, "srtt", one.srtt)
            sampler.value(flow, path, "rttvar", one.rttvar)
            sampler.value(flow, path, "in_flight", one.in_flight)
            sampler.value(flow, path, "retransmits", one.retransmits)
        sampler.rate(flow, everything, "goodput", total.received)
        sampler.rate(flow, everything, "throughput", sum(one.bytes_sent for one in sender.subflows))
        sampler.value(flow, everything, "send_queue", sender.unacked())
        sampler.value(flow, everything, "receive_window", _peer_window(sender))
        if sender.connection is not None:
            sampler.value(flow, everything, "reinjected", sender.connection.bytes_retransmitted)


def _busiest(ends: Mapping[object, _End], remote: Mapping[str, int], port: int | None) -> tuple[object, _End] | None:
    """The connection to a host with the most data, and its key."""
    mine = [
        (end.acked() + end.received(), number, key, end)
        for number, (key, end) in enumerate(ends.items())
        if any(one.remote[0] in remote and port in (None, one.remote[1]) for one in end.subflows)
    ]
    return max(mine)[2:] if mine else None


def _peer(near: _End, ends: Iterable[_End]) -> _End | None:
    """The other end of a connection."""
    mine = {(one.remote, one.local) for one in near.subflows}
    return next((end for end in ends if any((one.local, one.remote) in mine for one in end.subflows)), None)


def _peer_window(end: _End) -> int:
    return max((one.peer_window for one in end.subflows), default=0)


def _view(
    total: _Total,
    *,
    sender: _End | None = None,
    receiver: _End | None = None,
    subflows: list[dict[str, Any]] | None = None,
    finished: bool = False,
) -> dict[str, Any]:
    received_by = None
    if receiver is not None:
        received_by = receiver.connection or max(receiver.subflows, key=lambda one: one.bytes_received)
    return {
        "written": total.written,
        "received": total.received,
        "sendQueue": 0 if sender is None else sender.unacked(),
        "peerWindow": 0 if sender is None else _peer_window(sender),
        "outOfOrder": 0,
        "receiveBuffer": 0 if received_by is None else received_by.receive_buffer,
        "finished": finished,
        "multipath": sender is not None and sender.is_multipath(),
        "fellBack": "fell back to TCP" if sender is not None and sender.fell_back() else None,
        "subflows": subflows or [],
    }


def opened(namespaces: Mapping[str, str]) -> dict[str, SocketDiag]:
    """The queries of hosts, by the names of their namespaces. Raises `OSError`."""
    return {host: SocketDiag(name) for host, name in namespaces.items()}
