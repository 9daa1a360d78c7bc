"""The server of `mptcplab measure --serve`: answers probes, records trains, and sends trains on request.

Owns sessions and their bounds. An unknown address gets only answers that are not longer than its request. A session
needs a cookie that was sent to its address, has a budget of bytes and seconds, and receives trains only while it
confirms them. The numbers of sessions and of remembered addresses are bounded.
"""

from __future__ import annotations

import ipaddress
import secrets
import select
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mptcplab.measure import messages
from mptcplab.measure.datagrams import Ancillary, Arrival, Datagrams
from mptcplab.measure.messages import Cookies, Kind, Message, packed
from mptcplab.measure.trains import MOST_PACKETS, Incoming, Outgoing

FEEDBACK_INTERVAL = 0.05
MOST_TRAINS = 32
"""Trains of a session that the server records."""
_ARRIVALS_AT_ONCE = 64
_LEAST_BYTES = 100_000
"""Bytes below which the remaining budget of an address suffices for no measurement."""


@dataclass(frozen=True)
class ServerLimits:
    """The bounds of a server."""

    sessions: int = 8
    """Sessions at the same time; further clients are refused."""
    session_bytes: int = 250_000_000
    """Bytes that the server sends in a session."""
    address_bytes: int = 1_000_000_000
    """Bytes that the server sends to an address within `address_seconds`."""
    address_seconds: float = 3600.0
    addresses: int = 1_000
    """Addresses whose bytes the server remembers; the oldest one is forgotten."""
    session_seconds: float = 120.0
    idle_seconds: float = 10.0


@dataclass
class Session:
    """A client with a valid cookie."""

    number: bytes
    to: tuple[Any, ...]
    owned: str
    """The address whose bytes count."""
    local: Ancillary
    version: int
    opened: float
    heard: float
    sent_bytes: int = 0
    stored: int = 0
    """Arrivals stored in all trains."""
    incoming: dict[int, Incoming] = field(default_factory=dict)
    outgoing: Outgoing | None = None
    sent: dict[int, int] = field(default_factory=dict)
    """By train: packets that the server sent."""


def owner(address: str) -> str:
    """The address whose bytes count: a host owns a whole /64 network of IPv6."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


@dataclass
class _Address:
    """The bytes sent to an address."""

    since: float
    sent_bytes: int = 0


class Server:
    """Serves clients on one socket, in one thread."""

    def __init__(
        self,
        own: Datagrams,
        limits: ServerLimits | None = None,
        report: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`report` gets a line for each session that opens or ends."""
        self._own, self._clock = own, clock
        self.limits = ServerLimits() if limits is None else limits
        self._report = report if report is not None else lambda _: None
        self._cookies = Cookies(secrets.token_bytes(32))
        self.sessions: dict[tuple[Any, ...], Session] = {}
        self._addresses: OrderedDict[str, _Address] = OrderedDict()

    def serve(self, until: Callable[[], bool] = lambda: False) -> None:
        """Serves until `until` returns true."""
        while not until():
            self.turn()

    def turn(self, longest: float = 0.2) -> None:
        """Waits for the next datagram or packet of a train, and handles all that are due."""
        now = self._clock()
        waits = [one.outgoing.wait(now) for one in self.sessions.values() if one.outgoing is not None]
        select.select([self._own.socket], [], [], min([longest, *waits]))
        for _ in range(_ARRIVALS_AT_ONCE):
            arrival = self._own.receive()
            if arrival is None:
                break
            self.handle(arrival)
        now = self._clock()
        for session in list(self.sessions.values()):
            self._send_due(session, now)
            if now > session.heard + self.limits.idle_seconds or now > session.opened + self.limits.session_seconds:
                self._end(session)

    def handle(self, arrival: Arrival) -> None:
        """Handles one datagram."""
        message = messages.parsed(arrival.data)
        # Nobody can answer port 0 (RFC 768).
        if message is None or not arrival.source[1]:
            return
        if message.kind in (Kind.HELLO, Kind.OPEN):
            if len(arrival.data) >= messages.HELLO_SIZE:
                self._greet(message, arrival)
            return
        session = self.sessions.get(arrival.source)
        if session is None or session.number != message.session:
            return
        session.heard = self._clock()
        handler = _HANDLERS.get(message.kind)
        if handler is not None:
            handler(self, session, message, arrival)

    def _greet(self, message: Message, arrival: Arrival) -> None:
        """Answers a client without a session; the answer is never longer than its request."""
        address, port = str(arrival.source[0]), int(arrival.source[1])
        now = self._clock()
        if message.kind == Kind.HELLO:
            answer = packed(Kind.COOKIE, self._cookies.issue(address, port, now))
            self._own.send(answer, arrival.source, arrival.local)
            return
        if not self._cookies.is_valid(message.session, address, port, now):
            return
        session = self.sessions.get(arrival.source)
        if session is None:
            if len(self.sessions) >= self.limits.sessions or self._left(owner(address), now) < _LEAST_BYTES:
                self._own.send(packed(Kind.REFUSED, message.session), arrival.source, arrival.local)
                return
            version = 4 if "." in address else 6
            session = Session(secrets.token_bytes(8), arrival.source, owner(address), arrival.local, version, now, now)
            self.sessions[arrival.source] = session
            self._report(f"{session.owned}: session opened")
        most = min(self.limits.session_bytes, self._left(owner(address), now))
        body = messages.ACCEPT.pack(int.from_bytes(session.number, "big"), most >> 10, int(self.limits.session_seconds))
        self._own.send(packed(Kind.ACCEPT, message.session, body), arrival.source, arrival.local)

    def _left(self, owned: str, now: float) -> int:
        """The bytes that the server may still send to an address (see `owner`)."""
        known = self._addresses.get(owned)
        if known is None or now > known.since + self.limits.address_seconds:
            known = self._addresses[owned] = _Address(now)
            self._addresses.move_to_end(owned)
            while len(self._addresses) > self.limits.addresses:
                self._addresses.popitem(last=False)
        return self.limits.address_bytes - known.sent_bytes

    def _send(self, session: Session, data: bytes) -> bool:
        """Sends to a session within its budget; returns whether the datagram was sent."""
        if session.sent_bytes + len(data) > self.limits.session_bytes:
            return False
        if self._left(session.owned, self._clock()) < len(data):
            return False
        session.sent_bytes += len(data)
        self._addresses[session.owned].sent_bytes += len(data)
        return self._own.send(data, session.to, session.local)

    def _send_due(self, session: Session, now: float) -> None:
        train = session.outgoing
        if train is None:
            return
        for _ in range(train.due(now)):
            body = messages.DATA.pack(train.number, train.sent, time.time_ns())
            # A packet that this host could not send counts as not sent, and its number is used again.
            if not self._send(session, packed(Kind.DATA, session.number, body, train.size)):
                break
            train.sent += 1
        session.sent[train.number] = train.sent
        if train.over(now):
            session.outgoing = None

    def _end(self, session: Session) -> None:
        del self.sessions[session.to]
        self._report(f"{session.owned}: session ended, {session.sent_bytes / 1e6:.1f} MB sent")

    def _ping(self, session: Session, message: Message, arrival: Arrival) -> None:
        values = messages.PING.unpack(message.body)
        if values is not None:
            number, at = values
            body = messages.PONG.pack(number, at, arrival.time_ns, time.time_ns())
            self._send(session, packed(Kind.PONG, session.number, body))

    def _request(self, session: Session, message: Message, _: Arrival) -> None:
        values = messages.SEND.unpack(message.body)
        # A repeated request does not start a train twice.
        if values is None or values[0] in session.sent or len(session.sent) >= MOST_TRAINS:
            return
        session.outgoing = Outgoing.checked(values, session.version, self._clock())
        session.sent[values[0]] = 0

    def _data(self, session: Session, message: Message, arrival: Arrival) -> None:
        values = messages.DATA.unpack(message.body)
        if values is None:
            return
        train = session.incoming.get(values[0])
        if train is None:
            if len(session.incoming) >= MOST_TRAINS:
                return
            train = session.incoming[values[0]] = Incoming(values[0])
        if session.stored < MOST_PACKETS:
            session.stored += 1
            train.add(values[1], values[2], arrival.time_ns)
        now = self._clock()
        if now >= train.told + FEEDBACK_INTERVAL:
            train.told = now
            body = messages.FEEDBACK.pack(train.number, len(train), train.highest, train.last_delay)
            self._send(session, packed(Kind.FEEDBACK, session.number, body))

    def _confirm(self, session: Session, message: Message, _: Arrival) -> None:
        values = messages.FEEDBACK.unpack(message.body)
        train = session.outgoing
        if values is not None and train is not None and values[0] == train.number:
            train.heard = self._clock()

    def _stop(self, session: Session, message: Message, _: Arrival) -> None:
        values = messages.STOP.unpack(message.body)
        if values is not None and session.outgoing is not None and values[0] == session.outgoing.number:
            session.outgoing = None

    def _fetch(self, session: Session, message: Message, _: Arrival) -> None:
        values = messages.FETCH.unpack(message.body)
        if values is None:
            return
        number, first = values
        train = session.incoming.get(number) or Incoming(number)
        some = range(first, min(first + messages.RECORDS, len(train)))
        body = messages.ARRIVALS.pack(number, len(some), first, len(train), session.sent.get(number, 0))
        body += b"".join(messages.ARRIVAL.pack(train.numbers[at], train.times[at]) for at in some)
        self._send(session, packed(Kind.ARRIVALS, session.number, body))

    def _bye(self, session: Session, _message: Message, _: Arrival) -> None:
        self._end(session)


_HANDLERS: dict[Kind, Callable[[Server, Session, Message, Arrival], None]] = {
    Kind.PING: Server._ping,  # noqa: SLF001
    Kind.SEND: Server._request,  # noqa: SLF001
    Kind.DATA: Server._data,  # noqa: SLF001
    Kind.FEEDBACK: Server._confirm,  # noqa: SLF001
    Kind.STOP: Server._stop,  # noqa: SLF001
    Kind.FETCH: Server._fetch,  # noqa: SLF001
    Kind.BYE: Server._bye,  # noqa: SLF001
}
