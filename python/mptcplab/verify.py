"""Whether a capture of Multipath TCP keeps what RFC 8684 and RFC 6824 say of keys, tokens, HMACs and checksums.

Owns the arithmetic of the standards, written apart from the Rust code on purpose: dissectors show these fields, but
verify neither HMACs nor DSS checksums. What a capture does not show (the keys of an earlier handshake) counts as
unknown, never as right.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from mptcplab.packets import End, Segment

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


@dataclass(frozen=True)
class Fault:
    """Something that is not as the standard says."""

    where: str
    what: str


@dataclass
class Findings:
    """What was found in a capture."""

    options: Counter[str] = field(default_factory=Counter)
    """How often each option was seen."""
    checks: Counter[tuple[str, Verdict]] = field(default_factory=Counter)
    """How often each check gave each verdict."""
    faults: list[Fault] = field(default_factory=list)

    def judge(self, where: str, check: str, right: bool | None, what: str) -> None:
        """Counts a check; None is for what cannot be known."""
        verdict: Verdict = "unknown" if right is None else "right" if right else "wrong"
        self.checks[check, verdict] += 1
        if right is False:
            self.faults.append(Fault(where, what))


@dataclass
class Connection:
    """Two hosts; 0 is the one that opened it."""

    version: int
    keys: list[int | None]

    def digest(self, data: bytes) -> bytes:
        """SHA-256, in version 0 SHA-1 (RFC 8684 section 3.1, RFC 6824 section 3.1)."""
        return hashlib.sha256(data).digest() if self.version else hashlib.sha1(data).digest()  # noqa: S324

    def hmac(self, first: int, second: int, message: bytes) -> bytes:
        """Keyed with both keys, in this order."""
        key = struct.pack(">QQ", first, second)
        return hmac.new(key, message, "sha256" if self.version else "sha1").digest()

    def both(self, side: int) -> tuple[int, int] | None:
        """A host's key and its peer's, where both are known."""
        mine, other = self.keys[side], self.keys[1 - side]
        return None if mine is None or other is None else (mine, other)

    def token(self, side: int) -> int | None:
        """What joins call a host by."""
        key = self.keys[side]
        return None if key is None else int.from_bytes(self.digest(struct.pack(">Q", key))[:4], "big")

    def first(self, side: int) -> int | None:
        """The data sequence number of a host's first byte."""
        key = self.keys[side]
        if key is None:
            return None
        return (int.from_bytes(self.digest(struct.pack(">Q", key))[-8:], "big") + 1) % 2**64


@dataclass
class Mapping:
    """A mapping whose payload is not complete yet."""

    where: str
    data: int
    start: int
    length: int
    payload: int
    checksum: int


@dataclass
class Half:
    """One direction of a subflow."""

    initial: int | None = None
    received: dict[int, int] = field(default_factory=dict)
    """Payload bytes by their offset, until their mapping was judged."""
    waiting: list[Mapping] = field(default_factory=list)
    judged: set[tuple[int, int, int]] = field(default_factory=set)


@dataclass
class Subflow:
    """A four-tuple."""

    opener: End
    connection: Connection | None = None
    opened_by: int = 0
    """The host of the connection that sent the SYN."""
    nonces: dict[int, int] = field(default_factory=dict)
    halves: tuple[Half, Half] = field(default_factory=lambda: (Half(), Half()))

    def side(self, sender: End) -> int:
        """Which host of the connection that is."""
        return self.opened_by if sender == self.opener else 1 - self.opened_by


class Verifier:
    """Takes segments in the order of time."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.findings = Findings()
        self._subflows: dict[tuple[End, End], Subflow] = {}
        self._connections: list[Connection] = []

    def take(self, segment: Segment) -> None:
        """Judges what a segment carries."""
        pair = (min(segment.source, segment.destination, key=str), max(segment.source, segment.destination, key=str))
        if segment.syn and not segment.ack:
            known = self._subflows.get(pair)
            if known is None or known.halves[0].initial not in (None, segment.sequence):
                self._subflows[pair] = Subflow(segment.source)
        subflow = self._subflows.get(pair)
        if subflow is None:
            subflow = self._subflows[pair] = Subflow(segment.source)
        half = subflow.halves[0 if segment.source == subflow.opener else 1]
        if segment.syn:
            half.initial = segment.sequence
        for option in segment.mptcp:
            self._option(segment, subflow, half, option)
        self._payload(segment, half)
        self._judge_complete(subflow, half)

    def finish(self) -> Findings:
        """What is still incomplete stays unknown."""
        for subflow in self._subflows.values():
            for mapping in (mapping for half in subflow.halves for mapping in half.waiting):
                self.findings.judge(mapping.where, "DSS checksum", None, "")
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
        except struct.error:
            self.findings.judge(
                segment.where, "length", False, f"{NAMES[kind]} of {len(option) + 2} bytes is too short"
            )

    def _capable(self, segment: Segment, subflow: Subflow, half: Half, option: bytes) -> None:
        version = option[0] & 15
        keys = [key for (key,) in struct.iter_unpack(">Q", option[2 : 2 + (len(option) - 2) // 8 * 8])]
        if segment.syn and not segment.ack:
            subflow.connection = Connection(version, [keys[0] if keys else None, None])
            self._connections.append(subflow.connection)
            return
        connection = subflow.connection
        if connection is None:
            return
        if segment.syn:
            connection.version = version
            connection.keys[1] = keys[0] if keys else None
            return
        side = subflow.side(segment.source)
        for at, key in zip((side, 1 - side), keys, strict=False):
            known = connection.keys[at]
            if known is not None:
                same = known == key
                self.findings.judge(segment.where, "key repeated", same, f"key {key:#x} was {known:#x} before")
            else:
                connection.keys[at] = key
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
            owners = [(one, side) for one in self._connections for side in (0, 1) if one.token(side) == token]
            self.findings.judge(segment.where, "token", True if owners else None, "")
            if owners:
                subflow.connection, owner = owners[-1]
                subflow.opened_by = 1 - owner
            return
        connection = subflow.connection
        keys = connection.both(subflow.side(segment.source)) if connection else None
        if segment.syn:
            given, nonce = option[2:10], struct.unpack_from(">I", option, 10)[0]
            subflow.nonces[1] = nonce
            order = (1, 0)
        else:
            given, order = option[2:22], (0, 1)
        right = None
        if connection and keys and len(subflow.nonces) == 2:
            message = b"".join(struct.pack(">I", subflow.nonces[at]) for at in order)
            right = connection.hmac(*keys, message)[: len(given)] == given
        self.findings.judge(segment.where, "MP_JOIN HMAC", right, f"the HMAC {given.hex()} is not that of the keys")

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
        what = f"data sequence number {data} is not near {first}, the first of the key"
        self.findings.judge(segment.where, "data sequence", near, what)
        payload = length - (1 if flags & 16 else 0)
        if length and near:
            self._map(segment, half, data % 2**64, start, length, payload, checksum)

    def _map(
        self, segment: Segment, half: Half, data: int, start: int, length: int, payload: int, checksum: int | None
    ) -> None:
        # A DATA_FIN alone stands at no place of the subflow, and needs no checksum.
        if checksum is None or not payload or (start, length, checksum) in half.judged:
            return
        half.judged.add((start, length, checksum))
        half.waiting.append(Mapping(segment.where, data, start, length, payload, checksum))

    def _payload(self, segment: Segment, half: Half) -> None:
        if half.initial is None or not segment.payload or not half.waiting:
            return
        begin = (segment.sequence + (1 if segment.syn else 0) - half.initial) % 2**32
        half.received.update(enumerate(segment.payload, begin))

    def _judge_complete(self, subflow: Subflow, half: Half) -> None:
        if subflow.connection is None:
            return
        for mapping in list(half.waiting):
            places = [(mapping.start + at) % 2**32 for at in range(mapping.payload)]
            if not all(place in half.received for place in places):
                continue
            half.waiting.remove(mapping)
            header = struct.pack(">QIHH", mapping.data, mapping.start, mapping.length, mapping.checksum)
            right = _sum(header + bytes(half.received[place] for place in places)) == 0xFFFF
            what = f"the checksum {mapping.checksum:#06x} of {mapping.payload} bytes is not right"
            self.findings.judge(mapping.where, "DSS checksum", right, what)
        if not half.waiting:
            half.received.clear()

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
        self.findings.judge(segment.where, "ADD_ADDR HMAC", right, f"the HMAC {given.hex()} is not that of the keys")

    def _fastclose(self, segment: Segment, subflow: Subflow, option: bytes) -> None:
        connection = subflow.connection
        key = struct.unpack_from(">Q", option, 2)[0]
        known = connection.keys[1 - subflow.side(segment.source)] if connection else None
        right = None if known is None else key == known
        self.findings.judge(segment.where, "MP_FASTCLOSE key", right, f"{key:#x} is not the receiver's key")


def _sum(data: bytes) -> int:
    """One's complement sum of 16-bit words (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def verify(segments: Iterable[Segment]) -> Findings:
    """Judges a capture."""
    verifier = Verifier()
    for segment in segments:
        verifier.take(segment)
    return verifier.finish()
