"""Verifies keys, tokens, HMACs and checksums of captured MPTCP against RFC 8684 and RFC 6824 (`mptcplab verify`).

Dissectors show these fields, but verify neither HMACs nor DSS checksums. The code is independent of the Rust stack. A
value that depends on uncaptured packets counts as unknown, never as correct. The token of a join is wrong if the HMAC
of the join belongs to the keys of another token. It is also wrong if the capture has every connection from its first
SYN, and no key has this token. Memory per subflow is bounded; a mapping that waits too long stays unknown.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from mptcplab.captures.dss_mappings import Half, Mapping
from mptcplab.captures.handshakes import Connection, Join, Subflow
from mptcplab.captures.packets import End, Segment

Verdict = Literal["right", "wrong", "unknown"]

CAPABLE, JOIN, DSS, ADD_ADDR, REMOVE_ADDR, PRIO, FAIL, FASTCLOSE, RST = range(9)
NAMES = {
    CAPABLE: "MP_CAPABLE",
    JOIN: "MP_JOIN",
    DSS: "DSS",
    ADD_ADDR: "ADD_ADDR",
    REMOVE_ADDR: "REMOVE_ADDR",
    PRIO: "MP_PRIO",
    FAIL: "MP_FAIL",
    FASTCLOSE: "MP_FASTCLOSE",
    RST: "MP_TCPRST",
}


MOST_JOINS, MOST_TRIED = 1000, 1000
"""Maximum joins with unknown tokens, and connections to compare them with."""
MOST_OPENING, MOST_OPEN = 4096, 16_384
"""Maximum subflows with only a SYN, and of all others; beyond that, the longest idle one is dropped."""
MOST_FAULTS = 10_000
"""Maximum stored faults; further ones are counted."""


@dataclass(frozen=True)
class Fault:
    """A violation of the standard."""

    where: str
    what: str


@dataclass
class Findings:
    """The findings in a capture."""

    options: Counter[str] = field(default_factory=Counter)
    """How often each option occurred."""
    checks: Counter[tuple[str, Verdict]] = field(default_factory=Counter)
    """How often each check had each verdict."""
    faults: list[Fault] = field(default_factory=list)
    segments: int = 0
    """The number of segments."""
    late: int = 0
    """MPTCP subflows that started before the capture, without known keys."""
    forgotten: int = 0
    """Subflows that were dropped because too many were open."""
    more_faults: int = 0
    """Faults beyond the stored ones."""

    def judge(self, where: str, check: str, right: bool | None, what: str) -> None:
        """Counts a check; `right` is None if the result is unknown. `what` describes the fault if it is False."""
        verdict: Verdict = "unknown" if right is None else "right" if right else "wrong"
        self.checks[check, verdict] += 1
        if right is False:
            if len(self.faults) < MOST_FAULTS:
                self.faults.append(Fault(where, what))
            else:
                self.more_faults += 1


class Verifier:
    """Processes segments in the order of time."""

    def __init__(self) -> None:
        """Starts without connections."""
        self.findings = Findings()
        self._subflows: OrderedDict[tuple[End, End], Subflow] = OrderedDict()
        self._opening: OrderedDict[tuple[End, End], Subflow] = OrderedDict()
        """Subflows with only a SYN."""
        self._tokens: dict[int, tuple[Connection, int]] = {}
        """By token: the connection and the host."""
        self._complete: dict[int, Connection] = {}
        """Connections with both keys, by identity: at most `MOST_TRIED`, to compare with joins of unknown tokens."""
        self._late = False
        """Whether a connection existed before the capture."""
        self._joins: list[Join] = []
        """Joins whose token belongs to no known key."""

    def take(self, segment: Segment) -> None:
        """Checks the options of a segment."""
        pair = (min(segment.source, segment.destination, key=str), max(segment.source, segment.destination, key=str))
        self.findings.segments += 1
        subflow = self._subflow(pair, segment)
        half = subflow.halves[0 if segment.source == subflow.opener else 1]
        if segment.syn:
            half.initial = segment.sequence
        for option in segment.mptcp:
            self._option(segment, subflow, half, option)
        self._payload(segment, half)

    def _subflow(self, pair: tuple[End, End], segment: Segment) -> Subflow:
        known = self._subflows.get(pair) or self._opening.get(pair)
        if (
            segment.syn
            and not segment.ack
            and (known is None or known.halves[0].initial not in (None, segment.sequence))
        ):
            self._subflows.pop(pair, None)
            known = self._opening[pair] = Subflow(segment.source)
            self._forget(self._opening, MOST_OPENING)
            return known
        if known is None:
            known = Subflow(segment.source)
            self._late |= bool(segment.mptcp)
            self.findings.late += bool(segment.mptcp)
        if not (segment.syn and not segment.ack):
            self._opening.pop(pair, None)
            self._subflows[pair] = known
            self._subflows.move_to_end(pair)
            self._forget(self._subflows, MOST_OPEN)
        return known

    def _forget(self, table: OrderedDict[tuple[End, End], Subflow], most: int) -> None:
        """Drops the longest idle subflow of a full table; with an initial subflow, also the keys of its connection."""
        if len(table) <= most:
            return
        _, subflow = table.popitem(last=False)
        self._leave(subflow)
        self.findings.forgotten += 1
        connection = subflow.connection
        if connection is not None and not subflow.nonces:
            self._complete.pop(id(connection), None)
            for side in (0, 1):
                token = connection.token(side)
                if token is not None and self._tokens.get(token, (None, 0))[0] is connection:
                    del self._tokens[token]

    def _leave(self, subflow: Subflow) -> None:
        """Counts the incomplete mappings of a subflow as unknown."""
        for mapping in (mapping for half in subflow.halves for mapping in half.waiting):
            self.findings.judge(mapping.where, "DSS checksum", None, "")

    def finish(self, *, is_whole: bool = True) -> Findings:
        """Ends the capture, and counts incomplete checks as unknown.

        A token without a key is wrong if all keys were captured. It is unknown if a connection started before the
        capture, packets were skipped (`is_whole` is false), or subflows or keys were dropped.
        """
        knows_all = is_whole and not self.findings.forgotten and len(self._complete) < MOST_TRIED
        for join in self._joins:
            fits = [one for one in self._complete.values() if join.is_of(one)]
            known = knows_all and not self._late and bool(self._complete)
            what = f"the token {join.token:#010x} belongs to no key in the capture"
            if fits:
                tokens = " and ".join(f"{token:#010x}" for side in (0, 1) if (token := fits[0].token(side)) is not None)
                what += f"; the HMAC of this join belongs to the connection with the tokens {tokens}"
            self.findings.judge(join.where, "token", False if fits or known else None, what)
        self._joins.clear()
        for subflow in self._subflows.values():
            self._leave(subflow)
        return self.findings

    def _option(self, segment: Segment, subflow: Subflow, half: Half, option: bytes) -> None:
        kind = option[0] >> 4
        self.findings.options[NAMES.get(kind, f"subtype {kind}")] += 1
        try:
            if kind == CAPABLE:
                self._capable(segment, subflow, half, option)
            elif kind == JOIN:
                self._join(segment, subflow, option)
            elif kind == DSS:
                self._dss(segment, subflow, half, option)
            elif kind == ADD_ADDR:
                self._add_addr(segment, subflow, option)
            elif kind == FASTCLOSE:
                self._fastclose(segment, subflow, option)
        except (struct.error, IndexError):
            self.findings.judge(
                segment.where, "length", False, f"{NAMES[kind]} of {len(option) + 2} bytes is too short"
            )

    def _learn(self, connection: Connection, side: int, key: int | None) -> None:
        """Stores the key of a host, and the token that follows from it."""
        connection.keys[side] = key
        token = connection.token(side)
        if token is not None:
            self._tokens[token] = (connection, side)
        if connection.both(0) and len(self._complete) < MOST_TRIED:
            self._complete[id(connection)] = connection

    def _capable(self, segment: Segment, subflow: Subflow, half: Half, option: bytes) -> None:
        version = option[0] & 15
        keys = [key for (key,) in struct.iter_unpack(">Q", option[2 : 2 + (len(option) - 2) // 8 * 8])]
        if segment.syn and not segment.ack:
            subflow.connection = Connection(version, [None, None])
            self._learn(subflow.connection, 0, keys[0] if keys else None)
            return
        connection = subflow.connection
        if connection is None:
            return
        if segment.syn:
            connection.version = version
            self._learn(connection, 0, connection.keys[0])
            self._learn(connection, 1, keys[0] if keys else None)
            return
        side = subflow.side(segment.source)
        for at, key in zip((side, 1 - side), keys, strict=False):
            known = connection.keys[at]
            if known is not None:
                same = known == key
                self.findings.judge(
                    segment.where,
                    "key repeated",
                    same,
                    f"the repeated key {key:#x} differs from the first one, {known:#x}",
                )
            else:
                self._learn(connection, at, key)
        rest = option[2 + 16 :]
        if len(keys) == 2 and len(rest) in (2, 4):
            first = connection.first(side)
            checksum = struct.unpack(">H", rest[2:])[0] if len(rest) == 4 else None
            length = struct.unpack_from(">H", rest)[0]
            if first is not None:
                self._map(segment, half, first, 1, length, length, checksum)

    def _join(self, segment: Segment, subflow: Subflow, option: bytes) -> None:
        if segment.syn and not segment.ack:
            token, nonce = struct.unpack_from(">II", option, 2)
            subflow.nonces[0] = nonce
            owner = self._tokens.get(token)
            if owner is None:
                if len(self._joins) < MOST_JOINS:
                    self._joins.append(Join(segment.where, token, subflow))
                else:
                    self.findings.judge(segment.where, "token", None, "")
                return
            self.findings.judge(segment.where, "token", True, "")
            subflow.connection = owner[0]
            subflow.opened_by = 1 - owner[1]
            return
        connection = subflow.connection
        keys = connection.both(subflow.side(segment.source)) if connection else None
        if segment.syn:
            given, nonce = option[2:10], struct.unpack_from(">I", option, 10)[0]
            subflow.nonces[1] = nonce
            subflow.answer = given
            order = (1, 0)
        else:
            given, order = option[2:22], (0, 1)
        right = None
        if connection and keys and len(subflow.nonces) == 2:
            message = b"".join(struct.pack(">I", subflow.nonces[at]) for at in order)
            right = connection.hmac(*keys, message)[: len(given)] == given
        self.findings.judge(segment.where, "MP_JOIN HMAC", right, f"the HMAC {given.hex()} does not match the keys")

    def _dss(self, segment: Segment, subflow: Subflow, half: Half, option: bytes) -> None:
        flags, at = option[1], 2
        if flags & 1:
            at += 8 if flags & 2 else 4
        if not flags & 4:
            return
        wide = bool(flags & 8)
        data = struct.unpack_from(">Q" if wide else ">I", option, at)[0]
        at += 8 if wide else 4
        start, length = struct.unpack_from(">IH", option, at)
        rest = option[at + 6 :]
        checksum = struct.unpack(">H", rest[:2])[0] if len(rest) >= 2 else None
        connection = subflow.connection
        first = connection.first(subflow.side(segment.source)) if connection else None
        if first is None:
            self.findings.judge(segment.where, "data sequence", None, "")
            return
        if not wide:
            data = first + (data - first) % 2**32
        near = (data - first) % 2**64 < 2**40
        what = f"data sequence number {data} is not near {first}, the initial number that the key determines"
        self.findings.judge(segment.where, "data sequence", near, what)
        payload = length - (1 if flags & 16 else 0)
        if length and near:
            self._map(segment, half, data % 2**64, start, length, payload, checksum)

    def _map(
        self, segment: Segment, half: Half, data: int, start: int, length: int, payload: int, checksum: int | None
    ) -> None:
        # A DATA_FIN without data has no subflow position, and needs no checksum.
        if checksum is None or not payload:
            return
        given_up = half.map(Mapping(segment.where, data, start, length, payload, checksum))
        if given_up is not None:
            self.findings.judge(given_up.where, "DSS checksum", None, "")

    def _payload(self, segment: Segment, half: Half) -> None:
        if half.initial is not None and segment.payload:
            half.take((segment.sequence + (1 if segment.syn else 0) - half.initial) % 2**32, segment.payload)
        for mapping in half.complete():
            what = f"the checksum {mapping.checksum:#06x} of {mapping.payload} bytes is wrong"
            self.findings.judge(mapping.where, "DSS checksum", mapping.is_right(), what)

    def _add_addr(self, segment: Segment, subflow: Subflow, option: bytes) -> None:
        connection = subflow.connection
        if connection is None or connection.version == 0 or option[0] & 1:
            return
        body = option[2:]
        size = 4 if len(body) in (12, 14) else 16
        address, port, given = body[:size], body[size:-8] or b"\0\0", body[-8:]
        keys = connection.both(subflow.side(segment.source))
        right = None
        if keys:
            right = connection.hmac(*keys, option[1:2] + address + port)[-8:] == given
        self.findings.judge(segment.where, "ADD_ADDR HMAC", right, f"the HMAC {given.hex()} does not match the keys")

    def _fastclose(self, segment: Segment, subflow: Subflow, option: bytes) -> None:
        connection = subflow.connection
        key = struct.unpack_from(">Q", option, 2)[0]
        known = connection.keys[1 - subflow.side(segment.source)] if connection else None
        right = None if known is None else key == known
        self.findings.judge(
            segment.where, "MP_FASTCLOSE key", right, f"the option has the key {key:#x}, which is not the receiver's"
        )


def verify(segments: Iterable[Segment], is_whole: Callable[[], bool] = lambda: True) -> Findings:
    """Verifies a capture; `is_whole` returns at the end whether no packet was skipped."""
    verifier = Verifier()
    for segment in segments:
        verifier.take(segment)
    return verifier.finish(is_whole=is_whole())
