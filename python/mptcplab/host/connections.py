"""Lists the subflows of this machine's MPTCP connections, for `mptcplab host monitor` and `host export`.

Owns the parsing of the lines of `ss` (iproute2), and rates between two reads.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mptcplab.host.sockets import rows

_ULP = re.compile(r"tcp-ulp-mptcp flags:(?P<flags>\S*) token:\S+/(?P<token>[0-9a-f]+)\(id:(?P<number>\d+)\)")


@dataclass(frozen=True)
class Subflow:
    """A subflow of an MPTCP connection."""

    token: str
    """The local token of the connection, eight hexadecimal digits."""
    number: int
    """The identifier of the local address."""
    state: str
    local: str
    remote: str
    backup: bool
    srtt: float | None
    """Seconds."""
    cwnd: int | None
    """Segments."""
    bytes_acked: int
    bytes_received: int
    retransmits: int


def subflows() -> Iterator[Subflow]:
    """All subflows, read incrementally. Raises `CannotLook`."""
    return read(rows())


def read(message: Iterable[str]) -> Iterator[Subflow]:
    """The subflows in lines of `ss -OtinH`; excludes plain TCP."""
    for row in message:
        words, ulp = row.split(), _ULP.search(row)
        if ulp is None or len(words) < 5:
            continue
        facts = dict(word.split(":", 1) for word in words[5:] if ":" in word)
        rtt = facts.get("rtt", "").partition("/")[0]
        yield Subflow(
            token=ulp["token"].zfill(8),
            number=int(ulp["number"]),
            state=words[0],
            local=words[3],
            remote=words[4],
            # ss: "B" for a backup announced by the peer, "b" for one requested (iproute2, misc/ss.c).
            backup=bool(set(ulp["flags"]) & set("bB")),
            srtt=float(rtt) / 1e3 if rtt else None,
            cwnd=_number(facts, "cwnd"),
            bytes_acked=_number(facts, "bytes_acked") or 0,
            bytes_received=_number(facts, "bytes_received") or 0,
            retransmits=int(facts.get("retrans", "0/0").partition("/")[2]),
        )


@dataclass(frozen=True)
class Rates:
    """The rate of a subflow between two reads of the kernel's counters."""

    send_rate: float | None
    """Payload that the peer acknowledged, bit/s; None for a new subflow."""
    receive_rate: float | None
    """Payload received, bit/s; None for a new subflow."""


class Counted:
    """The counters of all subflows at one time, the start of a rate measurement."""

    def __init__(self, found: Iterable[Subflow]) -> None:
        """Stores two counters of each subflow."""
        self.began = time.monotonic()
        self._bytes = {_key(one): (one.bytes_acked, one.bytes_received) for one in found}

    def rates(self, found: Iterable[Subflow]) -> Iterator[tuple[Subflow, Rates]]:
        """Each subflow in `found`, with its rates since the start."""
        seconds = max(time.monotonic() - self.began, 1e-3)
        for one in found:
            before = self._bytes.get(_key(one))
            now = (one.bytes_acked, one.bytes_received)
            if before is None:
                yield one, Rates(None, None)
            else:
                sent, received = (8 * max(0, later - first) / seconds for first, later in zip(before, now, strict=True))
                yield one, Rates(sent, received)


def _key(one: Subflow) -> tuple[str, str, str]:
    return one.token, one.local, one.remote


def _number(facts: dict[str, str], key: str) -> int | None:
    return int(facts[key]) if facts.get(key, "").isdecimal() else None
