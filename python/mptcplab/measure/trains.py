"""Trains of packets at a constant rate, and the record of their arrivals.

The client and the server of `mptcplab measure` send and record them in the same way. Owns the pace and the bounds.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from mptcplab.measure.messages import FRAME_HEADER, LARGEST, OVERHEAD, SMALLEST

MOST_RATE = 2_000_000_000
"""The highest rate of a train, bit/s."""
MOST_PACKETS = 200_000
"""The largest number of packets in a train."""
MOST_SECONDS = 30.0
BURST = 32
"""Packets that are sent before the sender looks for arrivals again."""
ALIVE = 2.0
"""Seconds without FEEDBACK after which a train of the server ends."""

_HOLD = 0.002
"""Seconds until a train that has to pause tries again."""


def frame_bytes(payload: int, version: int) -> int:
    """The bytes of a packet with this UDP payload that scenarios count."""
    return payload + OVERHEAD[version] + FRAME_HEADER


@dataclass
class Outgoing:
    """A train that this host sends."""

    number: int
    size: int
    """Bytes of the UDP payload."""
    frame: int
    """Bytes of the frame."""
    rate: float
    """Bit/s of frames."""
    count: int
    seconds: float
    began: float
    sent: int = 0
    held: float = 0.0
    """Seconds for which the train paused, because its receiver had confirmed too few packets."""
    confirmed: int = 0
    """Packets up to the highest one that the receiver confirmed."""
    heard: float = float("inf")
    """When the last FEEDBACK arrived; infinite for a train that does not need it."""

    @classmethod
    def checked(cls, values: tuple[int, ...], version: int, now: float) -> Outgoing:
        """The train of a SEND message, with values in the permitted ranges."""
        number, size, rate, count, milliseconds = values
        size = min(max(size, SMALLEST), LARGEST)
        return cls(
            number=number,
            size=size,
            frame=frame_bytes(size, version),
            rate=float(min(max(rate, 1_000), MOST_RATE)),
            count=min(count, MOST_PACKETS),
            seconds=min(milliseconds / 1000, MOST_SECONDS),
            began=now,
            heard=now,
        )

    def due(self, now: float) -> int:
        """The number of packets to send now, at most `BURST`."""
        elapsed = min(now - self.began - self.held, self.seconds)
        if elapsed < 0:
            return 0
        wanted = min(self.count, int(elapsed * self.rate / 8 / self.frame) + 1)
        return max(0, min(wanted - self.sent, BURST))

    def over(self, now: float) -> bool:
        """Whether all packets are sent, or the receiver is silent."""
        return self.sent >= self.count or now > self.began + self.seconds or now > self.heard + ALIVE

    def wait(self, now: float) -> float:
        """Seconds until the next packet."""
        return max(0.0, self.began + self.held + self.sent * 8 * self.frame / self.rate - now)

    def hold(self, now: float) -> None:
        """Delays the next packet, and later ones as much, so that no burst follows."""
        self.held = now + _HOLD - self.began - self.sent * 8 * self.frame / self.rate


class Incoming:
    """The arrivals of a train at this host."""

    def __init__(self, number: int, most: int = MOST_PACKETS) -> None:
        """`most` is the number of arrivals that it stores."""
        self.number = number
        self._most = most
        self.numbers = array("I")
        self.times = array("Q")
        self.departures = array("Q")
        self.highest = 0
        self.secret = 0
        """That of the packet with the highest number."""
        self.last_delay = 0
        self.told = 0.0
        """When FEEDBACK was last sent."""

    def add(self, number: int, departure: int, arrival: int, secret: int = 0) -> None:
        """Records an arrival."""
        if len(self.numbers) >= self._most or number >= MOST_PACKETS:
            return
        self.numbers.append(number)
        self.times.append(arrival)
        self.departures.append(departure)
        if number >= self.highest:
            self.highest, self.secret = number, secret
        self.last_delay = arrival - departure & 0xFFFFFFFFFFFFFFFF

    def __len__(self) -> int:
        """The number of arrivals."""
        return len(self.numbers)


@dataclass(frozen=True)
class TrainLog:
    """A finished train. Delays contain the unknown difference of the clocks of both hosts."""

    frame: int
    """Bytes of each frame."""
    rate: float
    """The rate at which it was requested, bit/s."""
    sent: int
    numbers: tuple[int, ...]
    departures: tuple[int, ...]
    """Nanoseconds of the sender's clock, of each packet that arrived."""
    arrivals: tuple[int, ...]
    """Nanoseconds of the receiver's clock."""
    full_at_sender: int = 0
    """How often the queue of the sending host was full."""

    @property
    def delays(self) -> list[int]:
        """The delays of the arrivals, nanoseconds."""
        return [to - start for start, to in zip(self.departures, self.arrivals, strict=True)]

    @property
    def lost(self) -> int:
        """Packets that did not arrive; duplicates count once."""
        return self.sent - len(set(self.numbers))

    def overtaken(self) -> int:
        """Packets that arrived after a packet with a higher number."""
        count, highest = 0, -1
        for number in self.numbers:
            count += number < highest
            highest = max(highest, number)
        return count
