"""The client of `mptcplab measure`: one session with the server over one link.

Owns retransmissions of requests, the loops that send and receive trains, and the decision when a train has filled the
queue of the link. `plan` chooses the trains, `estimates` evaluates them.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from dataclasses import dataclass

from mptcplab.measure import messages
from mptcplab.measure.datagrams import Arrival, Datagrams
from mptcplab.measure.messages import Kind, Message, packed, parsed
from mptcplab.measure.trains import BURST, Incoming, Outgoing, TrainLog, frame_bytes

FEEDBACK_INTERVAL = 0.05
LONGEST = 120.0
"""Seconds of a session, as the server limits them by default."""
_TRIES, _TRY = 6, 0.5
"""Requests, and seconds to wait for an answer to each."""
_DRAIN = 0.4
"""Seconds without a packet after which a train is complete."""
_LONGEST_DRAIN = 5.0
_LONGEST_RTT = 60.0
_IN_FLIGHT = 16
"""Requests for arrivals at the same time."""
_LONGEST_FETCH = 15.0
_SLACK = 100
"""Arrivals above twice the packets sent, as networks may duplicate packets."""
_FULL_LOSS = 0.35
"""Share of lost packets between two looks that only a full queue or a policer causes. A train has at least twice the
rate of the link, so that these drop half of the packets.
"""
_LOOK = 0.1
"""Seconds between two looks at a train."""
_SETTLED = 0.6
"""Seconds for which a train goes on after the queue is full."""


class CannotMeasure(RuntimeError):
    """A link cannot be measured; the message names the reason."""


@dataclass(frozen=True)
class Ping:
    """An echo. Both one-way delays contain the difference of the clocks."""

    rtt: int
    """Nanoseconds, without the time at the server."""
    up: int
    down: int


@dataclass
class FillWatch:
    """Watches a train until it has filled the queue of the link."""

    shortest: float
    """Seconds that the train lasts at least, from the first packet on."""
    began: float | None = None
    """When the first packets had arrived."""
    received: int = 0
    highest: int = 0
    looked: float = 0.0
    first_delay: int | None = None
    growth: float = 0.0
    """Seconds by which the delay has grown."""
    full_since: float | None = None

    def look(self, now: float, received: int, highest: int, delay: int) -> None:
        """Takes the state of the receiver: packets, highest number, delay of the last packet in nanoseconds."""
        if now < self.looked + _LOOK or highest <= self.highest:
            return
        if self.began is None:
            self.began = now
        share = 1 - (received - self.received) / (highest - self.highest)
        if share >= _FULL_LOSS and self.full_since is None:
            self.full_since = now
        if self.first_delay is None:
            self.first_delay = delay
        # Delays are modulo 2^64, because the clocks of both hosts differ.
        self.growth = ((delay - self.first_delay + 2**63) % 2**64 - 2**63) / 1e9
        self.looked, self.received, self.highest = now, received, highest

    def enough(self, now: float) -> bool:
        """Whether the train may end."""
        full = self.full_since is not None and now > self.full_since + _SETTLED
        return full and self.began is not None and now > self.began + self.shortest

    def too_slow(self, now: float) -> bool:
        """Whether the train neither fills a queue nor loses packets, so that the link is faster."""
        elapsed = 0.0 if self.began is None else now - self.began
        return elapsed > 4 * _LOOK and self.full_since is None and self.growth < max(0.003, 0.1 * elapsed)


class Client:
    """A session over one link."""

    def __init__(self, own: Datagrams, version: int, longest: float = LONGEST) -> None:
        """Takes a connected socket, the IP version, and the seconds after which each request raises an error."""
        self._own, self._version = own, version
        self._deadline = time.monotonic() + longest
        self._session = bytes(8)
        self._trains = 0
        self._rtt = 0.0
        self.sent_bytes = 0
        self.received_bytes = 0
        self.granted = 0
        """Bytes that the server is willing to send."""

    def open(self) -> None:
        """Opens the session. Raises `CannotMeasure`."""
        cookie = self._ask(packed(Kind.HELLO, bytes(8), size=messages.HELLO_SIZE), (Kind.COOKIE,)).session
        request = packed(Kind.OPEN, cookie, size=messages.HELLO_SIZE)
        answer = self._ask(request, (Kind.ACCEPT, Kind.REFUSED))
        values = messages.ACCEPT.unpack(answer.body)
        if answer.kind == Kind.REFUSED or values is None:
            raise CannotMeasure("the server is busy, or has sent its limit of bytes to this address; try again later")
        self._session = values[0].to_bytes(8, "big")
        self.granted = values[1] << 10

    def close(self) -> None:
        """Ends the session."""
        self._send(packed(Kind.BYE, self._session))
        self._own.close()

    def pings(self, count: int, interval: float) -> tuple[list[Ping], int]:
        """Echoes, and the number of lost ones."""
        found: dict[int, Ping] = {}
        began = time.monotonic()
        for number in range(count):
            body = messages.PING.pack(number, time.time_ns())
            self._send(packed(Kind.PING, self._session, body))
            for arrival, message in self._until(began + (number + 1) * interval):
                self._pong(found, arrival, message, number + 1)
        longest = max((one.rtt for one in found.values()), default=10**9) / 1e9
        for arrival, message in self._until(time.monotonic() + min(1.0, 2 * longest + 0.1)):
            self._pong(found, arrival, message, count)
            if len(found) == count:
                break
        self._rtt = min((one.rtt / 1e9 for one in found.values()), default=self._rtt)
        return list(found.values()), count - len(found)

    @staticmethod
    def _pong(found: dict[int, Ping], arrival: Arrival, message: Message, sent_echoes: int) -> None:
        values = messages.PONG.unpack(message.body) if message.kind == Kind.PONG else None
        if values is not None and values[0] < sent_echoes:
            number, sent, came, answered = values
            up, down = came - sent, arrival.time_ns - answered
            if 0 <= up + down < _LONGEST_RTT * 1e9:
                found.setdefault(number, Ping(up + down, up, down))

    def upload(
        self, size: int, rate: float, count: int, seconds: float, watch: FillWatch | None = None
    ) -> tuple[TrainLog, bool]:
        """Sends a train; returns it, and whether it was too slow for the link (see `FillWatch.too_slow`)."""
        up, _, slow = self._exchange(self._outgoing(size, rate, count, seconds), None, watch)
        assert up is not None  # noqa: S101
        return up, slow

    def download(
        self, size: int, rate: float, count: int, seconds: float, watch: FillWatch | None = None
    ) -> tuple[TrainLog, bool]:
        """Receives a train; see `upload`."""
        _, down, slow = self._exchange(None, (size, rate, count, seconds), watch)
        assert down is not None  # noqa: S101
        return down, slow

    def both(self, size: int, rates: tuple[float, float], seconds: float) -> tuple[TrainLog, TrainLog]:
        """Trains in both directions at once; `rates` are those of the upload and the download."""
        frame = frame_bytes(size, self._version)
        counts = [int(rate * seconds / 8 / frame) for rate in rates]
        up, down, _ = self._exchange(
            self._outgoing(size, rates[0], counts[0], seconds), (size, rates[1], counts[1], seconds), None
        )
        assert up is not None  # noqa: S101
        assert down is not None  # noqa: S101
        return up, down

    def _outgoing(self, size: int, rate: float, count: int, seconds: float) -> Outgoing:
        self._trains += 1
        frame = frame_bytes(size, self._version)
        return Outgoing(self._trains, size, frame, rate, count, seconds, began=time.monotonic())

    def _exchange(
        self, out: Outgoing | None, request: tuple[int, float, int, float] | None, watch: FillWatch | None
    ) -> tuple[TrainLog | None, TrainLog | None, bool]:
        """Sends a train, receives one, or both."""
        coming: Incoming | None = None
        # The server may wait for a confirmation for as long as the RTT.
        loop = _Loop(longest=time.monotonic() + _TRIES * _TRY + _LONGEST_DRAIN, drain=_DRAIN + min(self._rtt, 2.0))
        asking = b""
        if request is not None:
            self._trains += 1
            coming = Incoming(self._trains)
            size, rate, count, seconds = request
            loop.count, loop.longest = count, loop.longest + seconds
            body = messages.SEND.pack(coming.number, size, round(rate), count, round(seconds * 1000))
            asking = packed(Kind.SEND, self._session, body)
        departures: list[int] = []
        slow, full_before = False, self._own.full
        while True:
            now = time.monotonic()
            if out is not None and not out.over(now):
                self._send_due(out, departures, now)
            if coming is not None and not len(coming) and now >= loop.asked + _TRY and loop.tries < _TRIES:
                loop.asked, loop.tries = now, loop.tries + 1
                self._send(asking)
            self._take(now, out, coming, watch, loop)
            if watch is not None and loop.stopped is None:
                # A full queue of this host is a bottleneck, too.
                slow = watch.too_slow(now) and self._own.full == full_before
                if slow or watch.enough(now):
                    loop.stopped = now
                    if out is not None:
                        out.count = out.sent
            if coming is not None:
                self._confirm(coming, loop, now)
            if (out is None or out.over(now)) and (coming is None or loop.is_complete(now)):
                break
        up = None if out is None else self._finished(out, departures, self._own.full - full_before)
        down = None
        if coming is not None and request is not None:
            _, sent = self._counts(coming.number)
            down = TrainLog(
                frame=frame_bytes(request[0], self._version),
                rate=request[1],
                sent=min(sent, request[2]),
                numbers=tuple(coming.numbers),
                departures=tuple(coming.departures),
                arrivals=tuple(coming.times),
            )
        return up, down, slow

    def _send_due(self, out: Outgoing, departures: list[int], now: float) -> None:
        for _ in range(out.due(now)):
            at = time.time_ns()
            body = messages.DATA.pack(out.number, out.sent, at, 0)
            if not self._send(packed(Kind.DATA, self._session, body, out.size)):
                break
            departures.append(at)
            out.sent += 1

    def _take(
        self, now: float, out: Outgoing | None, coming: Incoming | None, watch: FillWatch | None, loop: _Loop
    ) -> None:
        """Handles the datagrams that have arrived, and waits for the next packet."""
        wait = 0.02 if out is None or out.over(now) else min(0.02, out.wait(now))
        for arrival, message in self._until(now + wait, most=BURST):
            if message.kind == Kind.DATA and coming is not None:
                values = messages.DATA.unpack(message.body)
                if values is not None and values[0] == coming.number and values[1] < loop.count:
                    coming.add(values[1], values[2], arrival.time_ns, values[3])
                    loop.last = now
            elif message.kind == Kind.FEEDBACK and out is not None:
                values = messages.FEEDBACK.unpack(message.body)
                if values is not None and values[0] == out.number and watch is not None:
                    watch.look(now, *values[1:4])
        if coming is not None and watch is not None and len(coming):
            watch.look(now, len(coming), coming.highest, coming.last_delay)

    def _confirm(self, coming: Incoming, loop: _Loop, now: float) -> None:
        """Sends FEEDBACK, without which the server stops, or STOP."""
        # The server waits for confirmations at first, so that they are sent early.
        is_early = loop.stopped is None and coming.highest >= 2 * loop.told
        if not len(coming) or (now < coming.told + FEEDBACK_INTERVAL and not is_early):
            return
        coming.told, loop.told = now, max(1, coming.highest)
        if loop.stopped is not None:
            self._send(packed(Kind.STOP, self._session, messages.STOP.pack(coming.number)))
        else:
            body = messages.FEEDBACK.pack(coming.number, len(coming), coming.highest, coming.last_delay, coming.secret)
            self._send(packed(Kind.FEEDBACK, self._session, body))

    def _finished(self, out: Outgoing, departures: list[int], full: int) -> TrainLog:
        """Waits until the last packets have arrived, and fetches the arrivals."""
        before, began = -1, time.monotonic()
        while True:
            total, _ = self._counts(out.number)
            if total == before or total >= out.sent or time.monotonic() > began + _LONGEST_DRAIN:
                break
            before = total
            for _ in self._until(time.monotonic() + _DRAIN):
                pass
        if total > 2 * out.sent + _SLACK:
            raise CannotMeasure(f"the server reports {total:,} arrivals of {out.sent:,} packets")
        rows = [row for row in self._fetch_all(out.number, total) if row[0] < len(departures)]
        times = [at for _, at in rows]
        if times and max(times) - min(times) > (time.monotonic() - out.began + 1) * 1e9:
            raise CannotMeasure("the server reports arrivals over a longer time than the train took")
        return TrainLog(
            frame=out.frame,
            rate=out.rate,
            sent=out.sent,
            numbers=tuple(number for number, _ in rows),
            departures=tuple(departures[number] for number, _ in rows),
            arrivals=tuple(at for _, at in rows),
            full_at_sender=full,
        )

    def _counts(self, train: int) -> tuple[int, int]:
        """The packets of a train that arrived at the server, and those that the server sent."""
        for _ in range(_TRIES):
            self._send(packed(Kind.FETCH, self._session, messages.FETCH.pack(train, 0)))
            for _, message in self._until(time.monotonic() + 2 * _TRY):
                values = messages.ARRIVALS.unpack(message.body) if message.kind == Kind.ARRIVALS else None
                if values is not None and values[0] == train:
                    return values[3], values[4]
        raise CannotMeasure("the server no longer answers")

    def _fetch_all(self, train: int, total: int) -> list[tuple[int, int]]:
        """All arrivals of a train at the server, with several requests in flight."""
        missing = list(range(0, total, messages.RECORDS))
        found: dict[int, list[tuple[int, int]]] = {}
        deadline = time.monotonic() + _LONGEST_FETCH
        while missing and time.monotonic() < deadline:
            for first in missing[:_IN_FLIGHT]:
                self._send(packed(Kind.FETCH, self._session, messages.FETCH.pack(train, first)))
            wanted = set(missing[:_IN_FLIGHT])
            for _, message in self._until(time.monotonic() + _TRY):
                values = messages.ARRIVALS.unpack(message.body) if message.kind == Kind.ARRIVALS else None
                if values is not None and values[0] == train and values[2] in wanted:
                    found[values[2]] = _rows(message.body, min(values[1], messages.RECORDS))
                    wanted.discard(values[2])
                if not wanted:
                    break
            missing = [first for first in missing if first not in found]
        if missing:
            raise CannotMeasure("the server no longer answers")
        return [row for first in sorted(found) for row in found[first]]

    def _ask(self, request: bytes, kinds: tuple[Kind, ...]) -> Message:
        """Repeats a request until an answer arrives."""
        for _ in range(_TRIES):
            self._send(request)
            for _, message in self._until(time.monotonic() + _TRY):
                if message.kind in kinds:
                    return message
            if self._own.refused:
                raise CannotMeasure("no server on this port; start mptcplab measure --serve on the peer")
        raise CannotMeasure(
            "no answer; start mptcplab measure --serve on the peer, and check that no firewall drops UDP on its port"
        )

    def _send(self, data: bytes) -> bool:
        if not self._own.send(data):
            return False
        self.sent_bytes += len(data)
        return True

    def _until(self, deadline: float, *, most: int | None = None) -> Iterator[tuple[Arrival, Message]]:
        """The messages up to a deadline; with `most`, at most this number, and only up to the first pause."""
        count = 0
        while most is None or count < most:
            if time.monotonic() > self._deadline:
                raise CannotMeasure("the measurement takes too long; the server may be broken or hostile")
            arrival = self._own.receive()
            count += 1
            if arrival is not None:
                self.received_bytes += len(arrival.data)
                message = parsed(arrival.data)
                if message is not None:
                    yield arrival, message
                # A peer that never pauses must not hold the client.
                if most is None and time.monotonic() > deadline:
                    return
                continue
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._own.socket], [], [], left)[0]:
                return
            if most is not None:
                deadline = 0.0


def _rows(body: bytes, count: int) -> list[tuple[int, int]]:
    """The arrivals in the body of ARRIVALS."""
    rows = []
    for at in range(
        messages.ARRIVALS.size, messages.ARRIVALS.size + count * messages.ARRIVAL.size, messages.ARRIVAL.size
    ):
        row = messages.ARRIVAL.unpack(body[at:])
        if row is not None:
            rows.append((row[0], row[1]))
    return rows


@dataclass
class _Loop:
    """The state of `Client._exchange` for a train of the server."""

    longest: float
    """When the train ends at the latest."""
    count: int = 0
    """Packets that were requested."""
    asked: float = -1e9
    tries: int = 0
    last: float = 0.0
    """When the last packet arrived."""
    stopped: float | None = None
    told: int = 0
    """The highest number of the last FEEDBACK."""
    drain: float = _DRAIN

    def is_complete(self, now: float) -> bool:
        """Whether no further packet will arrive."""
        if now > self.longest:
            return True
        if not self.last:
            return self.tries >= _TRIES and now > self.asked + _TRY
        return now > self.last + self.drain
