"""Access links as text: `dsl:50Mbit/10Mbit,20ms,loss=0.1%`, for `mptcplab predict`.

Owns the syntax, the defaults and the errors. A link becomes a path of a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mptcplab import ScenarioError
from mptcplab.scenario.definition import Scenario
from mptcplab.util.user_input import BadResult, choose, rate, seconds, shown

EXAMPLE = "dsl:50Mbit/10Mbit,20ms"
DEFAULTS = {"loss": "0%", "jitter": "1ms", "queue": "100ms"}
"""Values of the keys that a link does not have. The queue is the delay of a full queue at the rate of the link.

Without jitter, all seeds would give nearly the same run. The scenarios that were compared with Linux also have 1 ms.
"""
MAX_RATE = 10e9
"""Maximum link rate in bit/s."""
MAX_LINKS = 8
"""Maximum number of links, because Linux has at most eight MPTCP endpoints."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")


@dataclass(frozen=True)
class Link:
    """An access link of the client. Rates are in bit/s, the RTT is in seconds."""

    name: str
    down: float
    up: float
    rtt: float
    keys: dict[str, str] = field(default_factory=dict)
    """`loss`, `jitter` and `queue` in the syntax of scenarios, with the defaults."""

    def path(self) -> dict[str, Any]:
        """The path of a scenario, whose forward direction is the upload."""
        return {
            "rate": f"{self.down:.0f}bit",
            "rtt": f"{self.rtt * 1e9:.0f}ns",
            "forward": {"rate": f"{self.up:.0f}bit"},
        } | self.keys

    def __str__(self) -> str:
        """The link with all values, in one line."""
        rates = f"{mbit(self.down)} Mb/s" + (f" down, {mbit(self.up)} Mb/s up" if self.down != self.up else "")
        return ", ".join([rates, f"RTT {self.rtt * 1e3:g} ms", *(f"{key} {self.keys[key]}" for key in DEFAULTS)])


def mbit(rate_bps: float) -> str:
    """A rate in Mb/s with three significant digits."""
    return f"{rate_bps / 1e6:.3g}" if rate_bps < 1e9 else f"{rate_bps / 1e6:.0f}"


def read_link(text: str) -> Link:
    """Parses `NAME:DOWN[/UP],RTT[,KEY=VALUE...]`. Raises `BadResult` with the part that is wrong."""
    where = f"--link {shown(text)}"
    name, colon, rest = text.partition(":")
    if not colon:
        raise BadResult(f"{where}: has no name; write NAME:RATE,RTT, for example {EXAMPLE}")
    if not _NAME.fullmatch(name):
        raise BadResult(
            f"{where}: name {shown(name)}: must be a letter and up to 23 letters, digits, - or _; for example {EXAMPLE}"
        )
    fields = [part.strip() for part in rest.split(",")]
    plain = [part for part in fields if "=" not in part]
    if len(plain) > 2:
        raise BadResult(f"{where}: {shown(plain[2])}: has no key; write KEY=VALUE with one of {', '.join(DEFAULTS)}")
    given = _keys([part for part in fields if "=" in part], where)
    rtt = given.pop("rtt", None)
    if not plain or not plain[0]:
        raise BadResult(f"{where}: has no rate; write NAME:RATE,RTT, for example {EXAMPLE}")
    if len(plain) > 1 and rtt is not None:
        raise BadResult(f"{where}: has two RTTs, {plain[1]} and {rtt}; remove one of them")
    rtt = plain[1] if len(plain) > 1 else rtt
    if not rtt:
        raise BadResult(f"{where}: has no RTT; write NAME:RATE,RTT, for example {EXAMPLE}")
    down, slash, up = plain[0].partition("/")
    try:
        link = Link(name, rate(down), rate(up) if slash else rate(down), seconds(rtt), given)
    except BadResult as error:
        raise BadResult(f"{where}: {error}") from None
    if link.rtt <= 0:
        raise BadResult(f"{where}: RTT 0: must be above 0; write for example 20ms")
    # The jitter of a short link is at most its one-way delay.
    shortest = {} if link.rtt >= 2e-3 else {"jitter": f"{link.rtt / 2 * 1e9:.0f}ns"}
    link = replace(link, keys=DEFAULTS | shortest | given)
    for name, value in (("download", link.down), ("upload", link.up)):
        if value > MAX_RATE:
            raise BadResult(f"{where}: {name} rate: must be at most {MAX_RATE / 1e9:g}Gbit, to limit the time of a run")
    _check(link, where)
    return link


def read_links(texts: Sequence[str]) -> list[Link]:
    """All links of the command line; there must be at least two, with different names."""
    links = [read_link(text) for text in texts]
    if len(links) < 2:
        given = f"only one link, {links[0].name}" if links else "no link"
        raise BadResult(
            f"{given}; Multipath TCP needs at least two, for example --link {EXAMPLE} --link lte:30Mbit,60ms"
        )
    if len(links) > MAX_LINKS:
        raise BadResult(f"{len(links)} links; use at most {MAX_LINKS}, the number of MPTCP endpoints in Linux")
    names = [link.name for link in links]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise BadResult(f"--link {repeated}: two links have this name; rename one of them")
    return links


def _keys(parts: Sequence[str], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parts:
        key, _, value = (text.strip() for text in part.partition("="))
        choose(key, [*DEFAULTS, "rtt"], "key", where)
        if key in found:
            raise BadResult(f"{where}: has {key} twice, {found[key]} and {value}; remove one of them")
        if not value:
            example = {"loss": "0.5%", "jitter": "5ms", "queue": "100ms", "rtt": "20ms"}[key]
            raise BadResult(f"{where}: {key} has no value; write for example {key}={example}")
        found[key] = value
    return found


def _check(link: Link, where: str) -> None:
    """Rejects values that a scenario does not accept, and jitter above the delay."""
    try:
        Scenario(name="link", duration="1s", paths={link.name: link.path()}, flows={"flow": {}})
    except ScenarioError as error:
        message = str(error).removeprefix("link: ").removeprefix(f"paths.{link.name}.")
        raise BadResult(f"{where}: {message}") from None
    if seconds(link.keys["jitter"]) > link.rtt / 2 * (1 + 1e-9):
        half = f"{link.rtt / 2 * 1e3:g}ms"
        raise BadResult(f"{where}: jitter = {link.keys['jitter']}: must be at most half of the RTT, {half}")
