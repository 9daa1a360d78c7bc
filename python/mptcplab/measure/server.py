"""The server of `mptcplab measure --serve`: answers probes, records trains, and sends trains on request.

Owns sessions and their bounds. An unknown address gets only answers that are not longer than its request. A session
needs a cookie that was sent to its address, and has a budget of bytes and seconds. Its bytes are bounded by those that
it confirms with secrets of received packets. The numbers of sessions and of remembered addresses are bounded.
"""

from __future__ import annotations

import hashlib
import hmac
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
_UNCONFIRMED = 256_000
"""Bytes that a session gets before it confirms any."""
_PER_CONFIRMED = 5
"""Bytes that a session gets for each confirmed byte, so that a train on a link with a large RTT seldom pauses."""
_PER_RECEIVED = 2
"""Bytes that a session gets for each byte from its client; a PONG is longer than its PING."""
_ARRIVALS_AT_ONCE = 64
_LEAST_BYTES = 100_000
"""Bytes below which the remaining budget of an address suffices for no measurement."""


@dataclass(frozen=True)
class ServerLimits:
    """The bounds of a server."""

    sessions: int = 8
    """Sessions at the same time; further clients are refused."""
    address_sessions: int = 2
    """Sessions of an address (see `owner`) at the same time."""
    session_bytes: int = 250_000_000
    """Bytes that the server sends in a session."""
    address_bytes: int = 1_000_000_000
    """Bytes that the server sends to an address within `address_seconds`."""
    total_bytes: int = 10_000_000_000
    """Bytes that the server sends to all addresses within `address_seconds`."""
    address_seconds: float = 3600.0
    addresses: int = 10_000
    """Addresses whose bytes the server remembers for `address_seconds`; further ones are refused."""
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
    received_bytes: int = 0
    confirmed_bytes: int = 0
    """Bytes of trains up to the highest packet that the client proved to have received."""
    stored: int = 0
    """Arrivals stored in all trains."""
    incoming: dict[int, Incoming] = field(default_factory=dict)
    outgoing: Outgoing | None = None
    trains: dict[int, Outgoing] = field(default_factory=dict)
    """The trains of the server, by number."""

    @property
    def may_send(self) -> int:
        """The bytes that the server may send before the client sends or confirms more."""
        allowed = _UNCONFIRMED + _PER_CONFIRMED * self.confirmed_bytes + _PER_RECEIVED * self.received_bytes
        return allowed - self.sent_bytes


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
        self._secret = secrets.token_bytes(32)
        self._cookies = Cookies(secrets.token_bytes(32))
        self.sessions: dict[tuple[Any, ...], Session] = {}
        self._addresses: OrderedDict[str, _Address] = OrderedDict()
        """In the order in which their hours began."""
        self._all = _Address(self._clock())

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
        session.received_bytes += len(arrival.data)
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
            if self._is_full(owner(address)) or self._left(owner(address), now) < _LEAST_BYTES:
                self._own.send(packed(Kind.REFUSED, message.session), arrival.source, arrival.local)
                return
            version = 4 if "." in address else 6
            session = Session(secrets.token_bytes(8), arrival.source, owner(address), arrival.local, version, now, now)
            self.sessions[arrival.source] = session
            self._report(f"{session.owned}: session opened")
        most = min(self.limits.session_bytes, self._left(owner(address), now))
        body = messages.ACCEPT.pack(int.from_bytes(session.number, "big"), most >> 10, int(self.limits.session_seconds))
        self._own.send(packed(Kind.ACCEPT, message.session, body), arrival.source, arrival.local)

    def _is_full(self, owned: str) -> bool:
        """Whether there are too many sessions, of this address (see `owner`) or in total."""
        own = sum(one.owned == owned for one in self.sessions.values())
        return len(self.sessions) >= self.limits.sessions or own >= self.limits.address_sessions

    def _left(self, owned: str, now: float) -> int:
        """The bytes that the server may still send to an address (see `owner`)."""
        if now > self._all.since + self.limits.address_seconds:
            self._all = _Address(now)
        left = self.limits.total_bytes - self._all.sent_bytes
        known = self._addresses.get(owned)
        if known is None or now > known.since + self.limits.address_seconds:
            if known is None and not self._has_room(now):
                return 0
            known = self._addresses[owned] = _Address(now)
            self._addresses.move_to_end(owned)
        return min(left, self.limits.address_bytes - known.sent_bytes)

    def _has_room(self, now: float) -> bool:
        """Forgets an address if necessary, whose hour is over and which has no session; returns whether one fits."""
        if len(self._addresses) < self.limits.addresses:
            return True
        live = {one.owned for one in self.sessions.values()}
        for owned, known in self._addresses.items():
            if now <= known.since + self.limits.address_seconds:
                break
            if owned not in live:
                del self._addresses[owned]
                return True
        return False

    def _send(self, session: Session, data: bytes) -> bool:
        """Sends to a session within its budget; returns whether the datagram was sent."""
        if len(data) > min(session.may_send, self.limits.session_bytes - session.sent_bytes):
            return False
        if self._left(session.owned, self._clock()) < len(data):
            return False
        if not self._own.send(data, session.to, session.local):
            return False
        session.sent_bytes += len(data)
        self._addresses[session.owned].sent_bytes += len(data)
        self._all.sent_bytes += len(data)
        return True

    def _packet_secret(self, session: Session, train: int, number: int) -> int:
        """The secret of a packet of a train, which FEEDBACK must return."""
        packet = session.number + train.to_bytes(2, "big") + number.to_bytes(4, "big")
        return int.from_bytes(hmac.digest(self._secret, packet, hashlib.sha256)[:8], "big")

    def _send_due(self, session: Session, now: float) -> None:
        train = session.outgoing
        if train is None:
            return
        for _ in range(train.due(now)):
            if session.may_send < train.size:
                train.hold(now)
                break
            secret = self._packet_secret(session, train.number, train.sent)
            body = messages.DATA.pack(train.number, train.sent, time.time_ns(), secret)
            # A packet that this host could not send counts as not sent, and its number is used again.
            if not self._send(session, packed(Kind.DATA, session.number, body, train.size)):
                break
            train.sent += 1
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
        if values is None or values[0] in session.trains or len(session.trains) >= MOST_TRAINS:
            return
        session.outgoing = Outgoing.checked(values, session.version, self._clock())
        session.trains[values[0]] = session.outgoing

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
            body = messages.FEEDBACK.pack(train.number, len(train), train.highest, train.last_delay, 0)
            self._send(session, packed(Kind.FEEDBACK, session.number, body))

    def _confirm(self, session: Session, message: Message, _: Arrival) -> None:
        values = messages.FEEDBACK.unpack(message.body)
        train = None if values is None else session.trains.get(values[0])
        if values is None or train is None:
            return
        number, _received, highest, _delay, secret = values
        # Only a new packet counts, so that repeated messages keep no train alive.
        if train.confirmed <= highest < train.sent and secret == self._packet_secret(session, number, highest):
            session.confirmed_bytes += (highest + 1 - train.confirmed) * train.size
            train.confirmed = highest + 1
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
        own = session.trains.get(number)
        body = messages.ARRIVALS.pack(number, len(some), first, len(train), 0 if own is None else own.sent)
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
