"""The subflows of this machine's connections, as `ss` lists them.

Owns how its lines are read. Changes nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from mptcplab.host.machine import CannotLook

_ULP = re.compile(r"tcp-ulp-mptcp flags:(?P<flags>\S*) token:\S+/(?P<token>[0-9a-f]+)\(id:(?P<number>\d+)\)")


@dataclass(frozen=True)
class Subflow:
    """A subflow of an MPTCP connection."""

    token: str
    """Of the connection, at this end; eight hexadecimal digits."""
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


def subflows() -> list[Subflow]:
    """All of them."""
    if shutil.which("ss") is None:
        raise CannotLook("ss is not installed: install iproute2")
    command = ["ss", "-OtinH"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        raise CannotLook("ss -OtinH: no answer") from None
    if done.returncode:
        raise CannotLook(f"ss -OtinH: {done.stderr.strip()}")
    return list(read(done.stdout))


def read(text: str) -> Iterator[Subflow]:
    """Those in what `ss -OtinH` said; plain TCP is left out."""
    for row in text.splitlines():
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
            # ss: "B" for backup as told, "b" as asked (iproute2, misc/ss.c).
            backup=bool(set(ulp["flags"]) & set("bB")),
            srtt=float(rtt) / 1e3 if rtt else None,
            cwnd=_number(facts, "cwnd"),
            bytes_acked=_number(facts, "bytes_acked") or 0,
            bytes_received=_number(facts, "bytes_received") or 0,
            retransmits=int(facts.get("retrans", "0/0").partition("/")[2]),
        )


def _number(facts: dict[str, str], key: str) -> int | None:
    return int(facts[key]) if facts.get(key, "").isdecimal() else None
