"""The view of `mptcplab host top`: connections and subflows with their rates, and the limiting factor of each subflow.

Owns the arithmetic between two looks at the kernel's sockets, and the text. The data of a subflow waits in the MPTCP
connection. Therefore `rwnd_limited` of `tcp_info` stays 0 with a full receive window, and `sndbuf_limited` grows in
healthy transfers. Several samples per interval decide instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mptcplab.host.socket_diag import ESTABLISHED, MptcpSocket, TcpSocket

IDLE, CWND, RECEIVE_WINDOW, SEND_BUFFER, APPLICATION, OTHER = (
    "idle", "congestion window", "receive window", "send buffer", "application", "scheduler",
)  # fmt: skip
"""Limiting factors. `scheduler` means that data waits in the connection although the subflow could send."""
_FULL = 0.9
"""A window is full from this share on."""
_BUFFER_FULL = 0.6
"""A send buffer: the kernel wakes the application when a third of it is free (sk_stream_is_writeable)."""

Key = tuple[int, tuple[str, int], tuple[str, int]]
"""Token, local and remote address of a subflow."""


@dataclass(frozen=True)
class SubflowRow:
    """A subflow in an interval. Rates are bit/s."""

    local: str
    remote: str
    device: str | None
    backup: bool
    established: bool
    send_rate: float
    """Payload that the peer acknowledged."""
    receive_rate: float
    retransmitted: float
    """Retransmitted segments per second."""
    rtt_s: float | None
    cwnd_bytes: int
    busy: float
    """Share of the interval with data in flight."""
    limits: dict[str, float]
    """Shares of the samples by limiting factor; empty if this end sends nothing."""


@dataclass(frozen=True)
class ConnectionRow:
    """A connection in an interval."""

    token: str
    fallback: bool
    send_rate: float
    receive_rate: float
    reinjected_rate: float
    """Data retransmitted on the connection level, bit/s."""
    subflows: list[SubflowRow]


@dataclass(frozen=True)
class Sample:
    """The sockets of MPTCP at one time."""

    time: float
    subflows: dict[Key, TcpSocket]
    connections: dict[int, MptcpSocket]

    @classmethod
    def of(cls, time: float, tcp: Iterable[TcpSocket], mptcp: Iterable[MptcpSocket]) -> Sample:
        """Sorts the sockets; excludes plain TCP."""
        known = {one.token: one for one in mptcp}
        found = {(one.token, one.local, one.remote): one for one in tcp if one.token is not None}
        return cls(time, found, known)

    def of_connection(self, token: int) -> list[TcpSocket]:
        """The established subflows of a connection."""
        return [one for key, one in self.subflows.items() if key[0] == token and one.state == ESTABLISHED]


def limiting_factor(one: TcpSocket, others: list[TcpSocket], connection: MptcpSocket | None) -> str:
    """The limiting factor of a subflow at one time; `others` are all established subflows of its connection."""
    if not one.in_flight and not one.not_sent and not (connection and connection.unacked):
        return IDLE
    if one.cwnd - one.in_flight < 2 * one.mss:
        return CWND
    flying = sum(each.in_flight for each in others)
    # The receive window belongs to the connection; every subflow reports it.
    window = max((each.peer_window for each in others), default=0)
    if flying >= _FULL * window:
        return RECEIVE_WINDOW
    if connection is None or connection.fallback:
        return APPLICATION if not one.not_sent else OTHER
    waiting = connection.unacked - flying - sum(each.not_sent for each in others)
    if waiting > 2 * one.mss:
        return OTHER
    return SEND_BUFFER if connection.send_queued >= _BUFFER_FULL * connection.send_buffer else APPLICATION


@dataclass
class Interval:
    """The samples of an interval, from its first to its last one."""

    first: Sample
    last: Sample = field(init=False)
    counts: dict[Key, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Starts with one sample."""
        self.last = self.first

    def add(self, sample: Sample) -> None:
        """Takes a further sample."""
        self.last = sample
        for key, one in sample.subflows.items():
            if one.state == ESTABLISHED:
                factor = limiting_factor(one, sample.of_connection(key[0]), sample.connections.get(key[0]))
                self.counts.setdefault(key, Counter())[factor] += 1

    def rows(self, device: Callable[[str], str | None]) -> list[ConnectionRow]:
        """The connections, those with the highest rates first. `device` returns the interface of an address."""
        tokens = dict.fromkeys([*self.last.connections, *(key[0] for key in self.last.subflows)])
        rows = [self._connection(token, device) for token in tokens]
        return sorted(rows, key=lambda one: -one.send_rate - one.receive_rate)

    def _connection(self, token: int, device: Callable[[str], str | None]) -> ConnectionRow:
        subflows = [self._subflow(key, one, device) for key, one in self.last.subflows.items() if key[0] == token]
        now, before = self.last.connections.get(token), self.first.connections.get(token)
        return ConnectionRow(
            token=f"{token:08x}",
            fallback=bool(now and now.fallback),
            send_rate=sum(one.send_rate for one in subflows),
            receive_rate=sum(one.receive_rate for one in subflows),
            reinjected_rate=self._rate(
                now.bytes_retransmitted if now else 0, before.bytes_retransmitted if before else 0
            ),
            subflows=sorted(subflows, key=lambda one: (one.local, one.remote)),
        )

    def _subflow(self, key: Key, now: TcpSocket, device: Callable[[str], str | None]) -> SubflowRow:
        before = self.first.subflows.get(key)
        seconds = max(self.last.time - self.first.time, 1e-3)
        sends = now.bytes_acked > (before.bytes_acked if before else 0) or now.unacked > 0
        counts = self.counts.get(key, Counter())
        return SubflowRow(
            local=_place(now.local),
            remote=_place(now.remote),
            device=device(now.local[0]),
            backup=now.backup,
            established=now.state == ESTABLISHED,
            send_rate=self._rate(now.bytes_acked, before.bytes_acked if before else 0),
            receive_rate=self._rate(now.bytes_received, before.bytes_received if before else 0),
            retransmitted=max(0, now.retransmits - (before.retransmits if before else 0)) / seconds,
            rtt_s=now.srtt,
            cwnd_bytes=now.cwnd,
            busy=min(1.0, max(0.0, now.busy - (before.busy if before else 0.0)) / seconds),
            limits={name: count / counts.total() for name, count in counts.most_common()} if sends else {},
        )

    def _rate(self, now: int, before: int) -> float:
        return 8 * max(0, now - before) / max(self.last.time - self.first.time, 1e-3)


def _place(end: tuple[str, int]) -> str:
    return f"[{end[0]}]:{end[1]}" if ":" in end[0] else f"{end[0]}:{end[1]}"


_TITLES = ("CONNECTION, SUBFLOW", "SEND", "RECEIVE", "RETR/S", "RTT", "CWND", "BUSY", "LIMITED BY")


def text(rows: list[ConnectionRow], width: int, height: int | None = None) -> list[str]:
    """The table, in lines of at most `width` characters, and in at most `height` lines."""
    cells = [list(_TITLES)]
    for one in rows:
        name = f"{one.token}{' fell back to TCP' if one.fallback else ''}"
        again = f"{_rate(one.reinjected_rate)} reinjected" if one.reinjected_rate else ""
        cells.append([name, _rate(one.send_rate), _rate(one.receive_rate), "", "", "", "", again])
        cells += [_cells(each) for each in one.subflows]
    if len(cells) == 1:
        return ["no MPTCP connections"]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_TITLES) - 1)]
    lines = []
    for row in cells:
        parts = [row[0].ljust(widths[0])]
        parts += [cell.rjust(wide) for cell, wide in zip(row[1:-1], widths[1:], strict=True)]
        lines.append("  ".join([*parts, row[-1]])[:width].rstrip())
    if height is not None and len(lines) > height:
        hidden = len(lines) - height + 1
        lines = [*lines[: height - 1], f"and {hidden} more lines"[:width]]
    return lines


def _cells(one: SubflowRow) -> list[str]:
    marks = [one.device or "", "backup" if one.backup else "", "" if one.established else "not established"]
    words = " ".join(filter(None, [f"  {one.local} > {one.remote}", *marks]))
    return [
        words,
        _rate(one.send_rate),
        _rate(one.receive_rate),
        f"{one.retransmitted:.0f}" if one.retransmitted else "",
        "" if one.rtt_s is None else f"{1e3 * one.rtt_s:.1f} ms",
        f"{one.cwnd_bytes / 1e3:.0f} kB",
        f"{one.busy:.0%}",
        _limits(one.limits),
    ]


def _limits(limits: Mapping[str, float]) -> str:
    """The two most frequent limiting factors."""
    return ", ".join(f"{name} {share:.0%}" for name, share in list(limits.items())[:2])


def _rate(value: float) -> str:
    if value < 1e3:
        return "" if not value else f"{value:.0f} b/s"
    return f"{value / 1e6:.2f} Mb/s" if value >= 1e6 else f"{value / 1e3:.1f} kb/s"
