"""Captures of Linux's own MPTCP with one planted cause of low goodput each, to test `mptcplab doctor`.

`doctor` must name the planted cause first. `tools/planted-linux` uses it. Owns the kinds of causes, their random
parameters, and the comparison with the answers of `doctor`; `planted_network` runs a case.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mptcplab.doctor.planted_ends import EndOptions
from mptcplab.doctor.planted_network import FRAME, Capture, Outcome, Setting, Uplink, record

RATES = (5e6, 40e6)
"""Bit/s."""
TRIPS = (10e-3, 100e-3)
"""Minimum RTT, seconds."""
QUEUES = (1.0, 2.0)
"""Range of queues in bandwidth-delay products, unless the queue is the cause."""
SECONDS = (5.0, 8.0)
_SMALLEST_QUEUE = 25
_UNREACHABLE = "10.99.0.5"
"""An address of the server that the gateway does not forward, as the private address of a host behind a NAT."""
_SNAP = 128
_WHOLE = 262_144
_CLIENT, _SERVER = "client", "server"
_FORMS = (
    ("any", "pcap", False),
    ("any", "pcap", True),
    ("any", "pcapng", True),
    ("any", "pcap.gz", False),
    ("multi", "pcapng", False),
    ("multi", "pcapng.gz", False),
    ("each", "pcap", False),
    ("each", "pcapng", False),
)
"""Form, suffix, and whether the cooked header is the older one."""


@dataclass(frozen=True)
class PlantedCase:
    """A case: a setting, its kind, and the verdict that it must have."""

    number: int
    kind: str
    expected: str
    subject: str | None
    """The interface of the laptop that the verdict concerns; None for the whole connection."""
    setting: Setting


@dataclass(frozen=True)
class Judged:
    """The answer of `doctor` to a case."""

    number: int
    kind: str
    expected: str
    found: str
    """The name of the first verdict; a message in parentheses if `doctor` failed."""

    @property
    def right(self) -> bool:
        """Whether the first verdict is the planted cause."""
        return self.found == self.expected


class _Draw:
    """The random parameters of one case."""

    def __init__(self, *seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.bad = int(self.chance.integers(2))
        """The path with the cause."""

    def between(self, least: float, most: float) -> float:
        """A logarithmically uniform value."""
        return float(math.exp(self.chance.uniform(math.log(least), math.log(most))))

    def uplinks(
        self,
        rates: tuple[float, float] = RATES,
        trips: tuple[float, float] = TRIPS,
        queues: tuple[float, float] = QUEUES,
    ) -> tuple[Uplink, Uplink]:
        """Two paths with values from these ranges."""
        found = []
        for name, device in (("dsl", "eth0"), ("lte", "wwan0")):
            rate, rtt = self.between(*rates), self.between(*trips)
            queue = max(_SMALLEST_QUEUE, round(self.between(*queues) * rate * rtt / 8 / FRAME))
            found.append(Uplink(name, device, rate, rtt, queue))
        return found[0], found[1]

    def captures(self, vantage: str) -> tuple[Capture, ...]:
        """Captures on `client`, `server`, `both`, or `any` one of these."""
        if vantage == "any":
            vantage = str(self.chance.choice([_CLIENT, _SERVER, "both"]))
        hosts = (_CLIENT, _SERVER) if vantage == "both" else (vantage,)
        return tuple(self._capture(host) for host in hosts)

    def _capture(self, host: str) -> Capture:
        form, suffix, sll = _FORMS[int(self.chance.integers(len(_FORMS)))]
        return Capture(host, form, suffix, _SNAP if self.chance.random() < 0.5 else _WHOLE, sll)

    def setting(
        self, vantage: str = "any", *, upload: bool | None = None, uplinks: tuple[Uplink, ...] | None = None
    ) -> Setting:
        """A network without a fault, whose endpoints the laptop uses."""
        up = bool(self.chance.random() < 0.5) if upload is None else upload
        options = EndOptions(
            address="",
            seconds=round(float(self.chance.uniform(*SECONDS)), 1),
            upload=up,
            congestion=str(self.chance.choice(["cubic", "reno"])),
        )
        own = self.uplinks() if uplinks is None else uplinks
        return Setting(uplinks=own, options=options, captures=self.captures(vantage))

    def sender(self, *, upload: bool) -> str:
        """A vantage point that includes the sender."""
        return str(self.chance.choice(["both", _CLIENT if upload else _SERVER]))


Kind = Callable[[_Draw], tuple[Setting, str, int | None]]
"""Returns the setting, the expected verdict, and the number of the path that it concerns."""


def _changed(paths: tuple[Uplink, ...], at: int, **values: Any) -> tuple[Uplink, ...]:
    return tuple(replace(one, **values) if number == at else one for number, one in enumerate(paths))


def _with_options(base: Setting, **values: Any) -> Setting:
    """The same setting with other options of the ends."""
    return replace(base, options=replace(base.options, **values))


def _rules(where: str, *lines: str) -> str:
    """nft rules for forwarded packets of the gateway (`forward`) or for packets to the server (`input`)."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"table inet planted {{\n  chain c {{\n    type filter hook {where} priority -150;\n{body}\n  }}\n}}"


def _healthy(draw: _Draw) -> tuple[Setting, str, None]:
    return draw.setting(), "healthy", None


def _blackhole(draw: _Draw) -> tuple[Setting, str, None]:
    rules = _rules("forward", "tcp flags & (syn | ack) == syn tcp option mptcp subtype 0 drop")
    sysctls = {"net.mptcp.syn_retrans_before_tcp_fallback": str(draw.chance.integers(1, 3))}
    return (
        replace(draw.setting(_CLIENT), gateway_rules=rules, client_sysctls=sysctls),
        "blackhole",
        None,
    )


def _blackhole_known(draw: _Draw) -> tuple[Setting, str, None]:
    """The kernel met a black hole in an earlier connection, and opens this one as TCP."""
    rules = (
        "  chain c {\n    type filter hook forward priority -150;\n"
        "    tcp flags & (syn | ack) == syn tcp option mptcp subtype 0 drop\n  }"
    )
    sysctls = {"net.mptcp.syn_retrans_before_tcp_fallback": "1"}
    return replace(draw.setting(_CLIENT), first_rules=rules, client_sysctls=sysctls), "blackhole", None


def _plain_peer(draw: _Draw) -> tuple[Setting, str, None]:
    base = draw.setting()
    return _with_options(base, server_protocol=6), "fallback", None


def _stripped_syn(draw: _Draw) -> tuple[Setting, str, None]:
    rules = _rules("forward", "tcp flags & (syn | ack) == syn reset tcp option mptcp")
    return replace(draw.setting(str(draw.chance.choice([_CLIENT, "both"]))), gateway_rules=rules), "fallback", None


def _stripped_synack(draw: _Draw) -> tuple[Setting, str, None]:
    rules = _rules("forward", "tcp flags & (syn | ack) == (syn | ack) reset tcp option mptcp")
    return replace(draw.setting(), gateway_rules=rules), "fallback", None


def _stripped_data(draw: _Draw) -> tuple[Setting, str, None]:
    rules = _rules("forward", "tcp flags & syn == 0 reset tcp option mptcp")
    return replace(draw.setting(), gateway_rules=rules), "fallback", None


def _join_stripped(draw: _Draw) -> tuple[Setting, str, int]:
    # A SYN with MP_JOIN arrives at the server as the SYN of a new TCP connection.
    rules = _rules("forward", "iifname lan1 tcp flags & (syn | ack) == syn reset tcp option mptcp")
    return replace(draw.setting(str(draw.chance.choice([_CLIENT, "both"]))), gateway_rules=rules), "join-stripped", 1


def _join_stripped_back(draw: _Draw) -> tuple[Setting, str, int]:
    rules = _rules("forward", "oifname lan1 tcp flags & (syn | ack) == (syn | ack) reset tcp option mptcp")
    return replace(draw.setting(str(draw.chance.choice([_CLIENT, "both"]))), gateway_rules=rules), "join-stripped", 1


def _join_dropped(draw: _Draw) -> tuple[Setting, str, int]:
    rules = _rules("forward", "tcp option mptcp subtype 1 tcp flags & syn == syn drop")
    return replace(draw.setting(str(draw.chance.choice([_CLIENT, "both"]))), gateway_rules=rules), "join-unanswered", 1


def _no_source_rule(draw: _Draw) -> tuple[Setting, str, int]:
    """The packets of the second address leave by the first interface, whose gateway drops foreign sources."""
    rules = _rules("forward", "iifname lan0 ip saddr != 192.168.1.0/24 drop")
    return replace(draw.setting(_CLIENT), gateway_rules=rules, source_rules=False), "join-unanswered", 1


def _announced_unreachable(draw: _Draw) -> tuple[Setting, str, None]:
    """The server announces its private address, which nobody outside reaches; the laptop has one uplink."""
    base = draw.setting(str(draw.chance.choice([_CLIENT, "both"])))
    rules = _rules("forward", f"ip daddr {_UNREACHABLE} drop")
    one = replace(base, uplinks=base.uplinks[:1], endpoints=(), gateway_rules=rules)
    return replace(one, extra_address=_UNREACHABLE, signals=(_UNREACHABLE,)), "join-unanswered", None


def _listener_closed(draw: _Draw) -> tuple[Setting, str, int]:
    base = draw.setting()
    return _with_options(base, close_listener=True), "join-refused", 1


def _server_limit(draw: _Draw) -> tuple[Setting, str, int]:
    return replace(draw.setting(), server_limits=(0, 0)), "join-refused", 1


def _join_rejected(draw: _Draw) -> tuple[Setting, str, int]:
    rules = _rules("forward", "tcp option mptcp subtype 1 tcp flags & syn == syn reject with tcp reset")
    rules = rules.replace("priority -150", "priority 0")
    return replace(draw.setting(str(draw.chance.choice([_CLIENT, "both"]))), gateway_rules=rules), "join-refused", 1


def _not_accepted(draw: _Draw) -> tuple[Setting, str, None]:
    base = draw.setting()
    return (
        replace(base, endpoints=(), signals=("10.87.2.2",), client_limits=(4, 0)),
        "add-addr-unanswered",
        None,
    )


def _no_endpoints(draw: _Draw) -> tuple[Setting, str, None]:
    return replace(draw.setting(), endpoints=()), "one-subflow", None


def _no_subflows(draw: _Draw) -> tuple[Setting, str, None]:
    return replace(draw.setting(), client_limits=(0, 0)), "one-subflow", None


def _need(setting: Setting) -> float:
    """The aggregate rate times the largest RTT, bytes."""
    return sum(one.rate for one in setting.uplinks) * max(one.rtt for one in setting.uplinks) / 8


def _receive_buffer(draw: _Draw) -> tuple[Setting, str, None]:
    base = draw.setting(uplinks=draw.uplinks((10e6, 40e6), (40e-3, 100e-3)))
    size = round(max(16e3, _need(base) * draw.between(0.1, 0.3)))
    key = "server_receive_buffer" if base.options.upload else "client_receive_buffer"
    return _with_options(base, **{key: size}), "receive-window", None


def _receive_limit(draw: _Draw) -> tuple[Setting, str, None]:
    """The maximum of the receive buffer's autotuning is small."""
    base = draw.setting(uplinks=draw.uplinks((10e6, 40e6), (40e-3, 100e-3)))
    most = round(max(32e3, _need(base) * draw.between(0.2, 0.5)))
    sysctls = {"net.ipv4.tcp_rmem": f"4096\t{min(most, 131_072)}\t{most}"}
    if base.options.upload:
        return replace(base, server_sysctls=sysctls), "receive-window", None
    return replace(base, client_sysctls=sysctls), "receive-window", None


def _send_buffer(draw: _Draw) -> tuple[Setting, str, None]:
    upload = bool(draw.chance.random() < 0.5)
    paths = draw.uplinks((10e6, 40e6), (40e-3, 100e-3))
    base = draw.setting(draw.sender(upload=upload), upload=upload, uplinks=paths)
    size = round(max(8e3, _need(base) * draw.between(0.08, 0.2)))
    key = "client_send_buffer" if upload else "server_send_buffer"
    return _with_options(base, **{key: size}), "send-buffer", None


def _head_of_line(draw: _Draw) -> tuple[Setting, str, int]:
    """A slow path with a long delay blocks a receive buffer that suffices for the fast path."""
    fast, slow = draw.uplinks()
    fast = replace(fast, rate=draw.between(20e6, 40e6), rtt=draw.between(10e-3, 20e-3))
    slow = replace(slow, rate=draw.between(3e6, 6e6), rtt=draw.between(200e-3, 400e-3))
    fast = replace(fast, queue=max(_SMALLEST_QUEUE, round(1.5 * fast.rate * fast.rtt / 8 / FRAME)))
    slow = replace(slow, queue=max(60, round(2 * slow.rate * slow.rtt / 8 / FRAME)))
    base = draw.setting(uplinks=(fast, slow))
    size = round((2.5 * fast.rate * fast.rtt + slow.rate * slow.rtt) / 8)
    key = "server_receive_buffer" if base.options.upload else "client_receive_buffer"
    return _with_options(base, **{key: size}), "head-of-line", 1


def _backup(draw: _Draw) -> tuple[Setting, str, int]:
    paths = draw.uplinks()
    faster = replace(paths[1], rate=max(paths[1].rate, paths[0].rate))
    base = draw.setting(uplinks=(paths[0], faster))
    return replace(base, endpoints=("subflow", "subflow backup")), "backup", 1


def _dead_path(draw: _Draw) -> tuple[Setting, str, int]:
    at = draw.bad
    base = draw.setting()
    begin = float(draw.chance.uniform(1.0, 2.0))
    until = begin + float(draw.chance.uniform(2.5, 8.0))
    return replace(base, uplinks=_changed(base.uplinks, at, silent=(begin, until))), "dead-path", at


def _loss(draw: _Draw) -> tuple[Setting, str, int]:
    at = draw.bad
    paths = draw.uplinks((10e6, 40e6), (30e-3, 100e-3))
    base = draw.setting(uplinks=_changed(paths, at, loss=draw.between(0.008, 0.05)))
    return base, "loss", at


def _policer(draw: _Draw) -> tuple[Setting, str, int]:
    at = draw.bad
    paths = draw.uplinks((10e6, 40e6), (20e-3, 80e-3))
    rate = paths[at].rate * draw.between(0.2, 0.5)
    burst = round(max(6 * FRAME, rate / 8 * draw.between(4e-3, 40e-3)))
    base = draw.setting(uplinks=_changed(paths, at, police=(rate, burst)))
    return base, "policer", at


def _bufferbloat(draw: _Draw) -> tuple[Setting, str, int]:
    at = draw.bad
    paths = draw.uplinks()
    rate = draw.between(5e6, 15e6)
    queue = round(rate * draw.between(0.8, 2.0) / 8 / FRAME)
    base = draw.setting(uplinks=_changed(paths, at, rate=rate, queue=queue))
    return _with_options(base, seconds=8.0), "bufferbloat", at


def _application(draw: _Draw) -> tuple[Setting, str, None]:
    upload = bool(draw.chance.random() < 0.5)
    base = draw.setting(draw.sender(upload=upload), upload=upload)
    rate = sum(one.rate for one in base.uplinks) * draw.between(0.1, 0.5)
    interval = draw.between(0.01, 0.2)
    paced = replace(base.options, write_bytes=round(rate * interval / 8), write_interval=interval)
    return replace(base, options=paced), "application", None


def _tiny(draw: _Draw) -> tuple[Setting, str, None]:
    """A transfer that is too short to say anything."""
    base = draw.setting()
    return (
        _with_options(base, total_bytes=int(draw.chance.integers(500, 8_000))),
        "cannot-tell",
        None,
    )


KINDS: dict[str, Kind] = {
    "healthy": _healthy,
    "SYNs with MP_CAPABLE are dropped": _blackhole,
    "plain TCP server": _plain_peer,
    "second address leaves by the first interface": _no_source_rule,
    "random loss": _loss,
    "small receive buffer": _receive_buffer,
    "no endpoints": _no_endpoints,
    "SYNs with MP_JOIN are dropped": _join_dropped,
    "bufferbloat": _bufferbloat,
    "healthy, again": _healthy,
    "application-limited": _application,
    "backup path": _backup,
    "path goes silent": _dead_path,
    "options are removed from SYNs": _stripped_syn,
    "policer": _policer,
    "announced address is not accepted": _not_accepted,
    "head-of-line blocking": _head_of_line,
    "server closes its listener": _listener_closed,
    "MP_JOIN is removed from SYNs": _join_stripped,
    "small send buffer": _send_buffer,
    "healthy, a third time": _healthy,
    "black hole of an earlier connection": _blackhole_known,
    "options are removed from data": _stripped_data,
    "limit of 0 subflows at the server": _server_limit,
    "small limit of the receive buffer": _receive_limit,
    "limit of 0 subflows at the client": _no_subflows,
    "announced address is unreachable": _announced_unreachable,
    "options are removed from SYN/ACKs": _stripped_synack,
    "SYNs with MP_JOIN are rejected": _join_rejected,
    "MP_JOIN is removed from SYN/ACKs": _join_stripped_back,
    "transfer of a few bytes": _tiny,
}
"""The kinds of cases. Case N has kind N, modulo their number."""


def cases(seed: int, count: int) -> Iterator[PlantedCase]:
    """The cases of a seed."""
    kinds = list(KINDS)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        setting, expected, at = KINDS[kind](_Draw(seed, number))
        subject = None if at is None else setting.uplinks[at].device
        yield PlantedCase(number, kind, expected, subject, setting)


def make(case: PlantedCase, folder: Path) -> dict[str, Any]:
    """Runs a case, and writes its captures, texts and `case.json` to a folder. Returns the content of that file."""
    outcome = record(case.setting, folder, case.number)
    described = description(case, outcome, folder)
    (folder / "case.json").write_text(json.dumps(described, indent=1) + "\n")
    return described


def description(case: PlantedCase, outcome: Outcome, folder: Path) -> dict[str, Any]:
    """The content of `case.json`. `files` are the captures and the texts of the vantage point."""
    hosts = {one.host for one in case.setting.captures}
    names = [file.relative_to(folder).as_posix() for file in outcome.files]
    own = [name for name in names if any(host in name for host in hosts)]
    others = [name for name in names if name not in own]
    uplinks = case.setting.uplinks
    subject = next((number for number, one in enumerate(uplinks) if one.device == case.subject), None)
    return {
        "number": case.number,
        "kind": case.kind,
        "expected": case.expected,
        "subject": None
        if subject is None
        else {
            "interface": case.subject,
            "address": f"192.168.{subject + 1}.10",
            "address_behind_nat": f"10.87.{subject + 1}.1",
        },
        "files": own,
        "other_files": others,
        "direction": "upload" if case.setting.options.upload else "download",
        "vantage": sorted(hosts),
        "goodput_mbps": round(8e-6 * outcome.received / outcome.seconds, 3) if outcome.seconds else None,
        "capacity_mbps": round(sum(one.rate for one in uplinks) / 1e6, 3),
        "received_bytes": outcome.received,
        "connected_s": outcome.connected,
        "lost_by_capture": outcome.lost_by_capture,
        "note": outcome.note,
        "setting": asdict(case.setting),
    }


def judge(described: dict[str, Any], folder: Path) -> Judged:
    """Asks `mptcplab doctor` about the files of a case."""
    command = [sys.executable, "-m", "mptcplab", "doctor", "--json", *described["files"]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return Judged(
        described["number"], described["kind"], described["expected"], first_verdict(done.stdout, done.stderr)
    )


def first_verdict(answer: str, errors: str) -> str:
    """The first verdict on the connection with the most bytes, from the output of `mptcplab doctor --json`."""
    try:
        connections = json.loads(answer)["connections"]
        largest = max(connections, key=lambda one: int(one.get("bytes", 0)))
        return str(largest["verdicts"][0]["name"])
    except (ValueError, KeyError, IndexError, TypeError):
        return f"({errors.strip().splitlines()[-1] if errors.strip() else 'no verdict'})"
