"""Flows and subflows of Linux's sockets in an emulated network, as the page shows them.

Owns the assignment of sockets to the flows of a scenario. A flow shows one connection at a time: of all open ones
between its hosts, the one with the most data. Byte counts and rates add up over all its connections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from mptcplab.host.socket_diag import ESTABLISHED, MAX_SOCKETS, MptcpSocket, SocketDiag, TcpSocket, TooMany
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


@dataclass(frozen=True)
class _Connection:
    """An open connection of a flow."""

    key: object
    """The token at the opening host, or the addresses of a TCP connection."""
    near: _End
    """The end at the opening host."""
    far: _End | None
    opens: str
    accepts: str

    def amount(self) -> int:
        return self.near.acked() + self.near.received()

    def ends(self) -> tuple[str, _End, _End | None]:
        """The host that sends the most data, its end, and the end of the receiver."""
        if self.far is None or self.near.acked() >= self.far.acked():
            return self.opens, self.near, self.far
        return self.accepts, self.far, self.near


@dataclass(frozen=True)
class _Counts:
    """Bytes of a connection at the last look."""

    written: int = 0
    received: int = 0
    amount: int = 0
    """Acknowledged and received bytes at the opening host."""


@dataclass
class _Total:
    """Counts of a flow over all its connections."""

    known: dict[object, _Counts] = field(default_factory=dict)
    """The counts of the latest connections by key, at most `MAX_SOCKETS`; the last one was seen last."""
    written: int = 0
    received: int = 0
    """Both counts over all connections."""
    key: object = None
    """The shown connection."""
    limited: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict)
    """By local address of a subflow: seconds with a full receive window and with a full send buffer."""

    def add(self, connection: _Connection) -> None:
        """Counts the bytes of a connection since its last look."""
        _, sender, receiver = connection.ends()
        before = self.known.pop(connection.key, _Counts())
        amount = connection.amount()
        if isinstance(connection.key, tuple) and amount < before.amount:
            # A new connection has the addresses of an earlier one.
            before = _Counts()
        written = max(before.written, sender.acked() + sender.unacked())
        received = max(before.received, sender.acked() if receiver is None else receiver.received())
        self.written += written - before.written
        self.received += received - before.received
        self.known[connection.key] = _Counts(written, received, amount)
        if len(self.known) > MAX_SOCKETS:
            del self.known[next(iter(self.known))]


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
        connections = self._connections(flow, found)
        for one in connections:
            total.add(one)
        if not connections:
            return _view(total, finished=total.key is not None)
        shown = max(connections, key=_Connection.amount)
        if shown.key != total.key:
            total.key, total.limited = shown.key, {}
        host, sender, receiver = shown.ends()
        subflows = [self._subflow(one, host, total, span) for one in sender.subflows if one.state == ESTABLISHED]
        if sampler is not None:
            self._sample_rates(number, connections, total, sampler)
            self._sample_values(number, host, sender, sampler)
        return _view(total, sender=sender, receiver=receiver, subflows=[one for one in subflows if one is not None])

    def _connections(self, flow: Flow, found: Mapping[str, dict[object, _End]]) -> list[_Connection]:
        """The open connections of a flow."""
        remote = self._addresses[flow.accepts]
        accepted = {
            (one.remote, one.local): end for end in found.get(flow.accepts, {}).values() for one in end.subflows
        }
        connections = []
        for key, near in found.get(flow.opens, {}).items():
            if any(one.remote[0] in remote and flow.port in (None, one.remote[1]) for one in near.subflows):
                ends = (accepted.get((one.local, one.remote)) for one in near.subflows)
                far = next((end for end in ends if end is not None), None)
                connections.append(_Connection(key, near, far, flow.opens, flow.accepts))
        return connections

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

    def _sample_rates(self, flow: int, connections: Sequence[_Connection], total: _Total, sampler: Sampler) -> None:
        """Adds the rates of all connections of a flow."""
        sent, acked = dict[int, int](), dict[int, int]()
        all_sent = 0
        for connection in connections:
            host, sender, _ = connection.ends()
            for one in sender.subflows:
                all_sent += one.bytes_sent
                path = self._addresses[host].get(one.local[0])
                if path is not None:
                    sent[path] = sent.get(path, 0) + one.bytes_sent
                    acked[path] = acked.get(path, 0) + one.bytes_acked
        for path, count in sent.items():
            sampler.rate(flow, path, "throughput", count)
            sampler.rate(flow, path, "goodput", acked[path])
        sampler.rate(flow, self._paths, "goodput", total.received)
        sampler.rate(flow, self._paths, "throughput", all_sent)

    def _sample_values(self, flow: int, host: str, sender: _End, sampler: Sampler) -> None:
        """Adds the values of the shown connection."""
        retransmits = dict[int, int]()
        for one in sender.subflows:
            path = self._addresses[host].get(one.local[0])
            if path is None:
                continue
            sampler.value(flow, path, "cwnd", one.cwnd)
            sampler.value(flow, path, "ssthresh", one.ssthresh)
            sampler.value(flow, path, "srtt", one.srtt)
            sampler.value(flow, path, "rttvar", one.rttvar)
            sampler.value(flow, path, "in_flight", one.in_flight)
            retransmits[path] = retransmits.get(path, 0) + one.retransmits
        for path, count in retransmits.items():
            sampler.value(flow, path, "retransmits", count)
        everything = self._paths
        sampler.value(flow, everything, "send_queue", sender.unacked())
        sampler.value(flow, everything, "receive_window", _peer_window(sender))
        if sender.connection is not None:
            sampler.value(flow, everything, "reinjected", sender.connection.bytes_retransmitted)


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
    with ExitStack() as stack:
        diags = {}
        for host, name in namespaces.items():
            diags[host] = SocketDiag(name)
            stack.callback(diags[host].close)
        stack.pop_all()
    return diags
