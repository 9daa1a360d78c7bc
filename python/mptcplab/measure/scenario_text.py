"""Writes measured links as a scenario file, with comments on how sure each value is.

Owns the text; `estimates` has the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mptcplab.measure.estimates import Direction, Policer
from mptcplab.measure.plan import Measured

_DURATION = "20s"
_VISIBLE_JITTER = 0.0003
"""Jitter below this, in seconds, is that of the two hosts and of the clock."""
_OVERTAKEN = 0.001
"""Share of packets that overtake another one from which `reorder` is set."""


def scenario_text(links: Sequence[Measured], problems: Iterable[str], when: str) -> str:
    """The scenario file; `problems` are links that could not be measured."""
    peers = ", ".join(dict.fromkeys(one.peer for one in links))
    lines = [
        f"# Measured by mptcplab measure, {when}, with the peer {peers}.",
        "# forward is from this host to the peer (upload), backward is the download.",
        "# Links were measured one after another, so a bottleneck that they share is not visible here.",
        *(f"# Not measured: {one}" for one in problems),
        'name = "measured"',
        f'duration = "{_DURATION}"',
        "",
    ]
    for link in links:
        lines += _path(link)
    return "\n".join([*lines, "[flows.download]", 'direction = "download"', ""])


def _path(link: Measured) -> list[str]:
    megabytes = (link.sent_bytes / 1e6, link.received_bytes / 1e6)
    idle = link.delay
    serialization = sum(8 * 100 / max(one.rate.value, 1.0) for one in (link.up, link.down))
    jitters = [_visible(one.jitter_s) for one in (link.up, link.down)]
    base = max(0.0, idle.minimum - serialization) + sum(jitters)
    lines = [
        f"[paths.{link.name}]",
        f"# {link.where} to {link.peer}, in {link.seconds:.1f} s with {megabytes[0]:.1f} MB sent and "
        f"{megabytes[1]:.1f} MB received",
        f"# RTT without load: minimum {_ms(idle.minimum)}, median {_ms(idle.median)}, 95th percentile "
        f"{_ms(idle.high)}, of {idle.count} echoes, {idle.lost} lost; equal delays in both directions are assumed",
        f'rtt = "{_time(base)}"',
        "",
    ]
    for name, one, jitter in (("forward", link.up, jitters[0]), ("backward", link.down, jitters[1])):
        lines += [f"[paths.{link.name}.{name}]", *_direction(one, jitter), ""]
    return lines


def _direction(one: Direction, jitter: float) -> list[str]:
    rate = one.rate
    lines = [f"# 80% of the intervals of 100 ms had {rate.low / 1e6:.2f} to {rate.high / 1e6:.2f} Mb/s"]
    if one.is_rate_bound:
        lines.append("# A lower bound: no train filled the link, or this host or the peer could not send faster")
    if one.policer is not None:
        return [*lines, *_policed(one, one.policer), *_loss(one), *_jitter(one, jitter)]
    if one.own_queue:
        lines.append("# The queue of this host's own interface filled, so it is the bottleneck, and its queue counts")
    lines.append(f'rate = "{rate.value / 1e3:.0f}kbit"')
    lines += _queue(one)
    return [*lines, *_loss(one), *_jitter(one, jitter)]


def _loss(one: Direction) -> list[str]:
    share = one.loss
    many = f"{one.loss_lost} of {one.loss_sent} packets lost at a low rate"
    lines = [f"# {many}: {share.low:.2%} to {share.high:.2%} with 95% confidence"]
    return [*lines, f'loss = "{100 * share.value:.2f}%"'] if one.loss_lost else lines


def _jitter(one: Direction, jitter: float) -> list[str]:
    if not jitter:
        return []
    lines = ["# Half the range of the one-way delay of echoes", f'jitter = "{_time(jitter)}"']
    return [*lines, "reorder = true"] if one.overtaken > _OVERTAKEN * one.loss_sent else lines


def _policed(one: Direction, found: Policer) -> list[str]:
    """The keys of a direction with a token bucket that drops packets."""
    return [
        "# Packets were dropped without a queue, while bursts arrived faster: this looks like a policer.",
        "# The link rate is that of the bursts, a lower bound",
        f'rate = "{found.peak / 1e3:.0f}kbit"',
        f'queue = {{ kind = "police", rate = "{one.rate.value / 1e3:.0f}kbit", burst = "{found.burst_bytes}B" }}',
    ]


def _queue(one: Direction) -> list[str]:
    """The queue of a direction, in full packets."""
    if one.queue_s is None or one.queue_packets is None:
        return ["# The queue is unknown: too few packets arrived from the train that filled the link"]
    extra = f"{_ms(one.queue_s.value)} of queueing delay"
    if one.is_rate_bound:
        return ["# The queue is unknown: the train did not fill the link"]
    if one.is_queue_bound:
        said = f"# A lower bound: {extra}, and no packet was dropped"
    else:
        said = (
            f"# Full at {extra} (10th percentile {_ms(one.queue_s.low)}, maximum {_ms(one.queue_s.high)}); drop-tail "
            "is assumed"
        )
    return [said, f'queue = "{one.queue_packets}p"']


def _visible(jitter: float) -> float:
    return jitter if jitter >= _VISIBLE_JITTER else 0.0


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms"


def _time(seconds: float) -> str:
    return f"{max(0, round(seconds * 1e6))}us"
