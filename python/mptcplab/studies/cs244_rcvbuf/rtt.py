"""Experiment C3: long round trips on WiFi, the wider path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mptcplab import plots
from mptcplab.results import Run
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Picture, Point, goodput
from mptcplab.studies.cs244_rcvbuf.network import NAME, READINGS, judge, mptcp, paths, tcp

BUFFER = 500
TIGHT = 100
"""KB that limit the flow, so that M2 has something to do."""
RTTS = (20, 50, 100, 150, 200, 300, 400, 600)
CELLULAR_RTT = 150

Curves = Mapping[str, Mapping[int, float]]


class RoundTrip(Experiment):
    """The study's RTT sensitivity."""

    study = NAME
    name = "C3"
    title = "RTT sensitivity"
    setup = (
        "As C1 with buffers of 500 KB and the round trip of WiFi from 20 to 600 ms; queues and 3G stay. MPTCP "
        "with M1 and M2, and with M1 alone, against the sum of TCP over each path measured alone "
        "(aggregate TCP). The study states neither the round trips nor the buffer; C-3.3 is tested with 100 KB, too, "
        "for M2 acts only where the window is full."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Readings × round trips × curves; nothing is random."""
        for reading in READINGS:
            for rtt in _rtts(effort):
                both = paths(reading, rtt=f"{rtt}ms")
                yield Point((reading, "wifi", rtt), tcp(both, "wifi", BUFFER))
                for mechanisms in ("M1+M2", "M1"):
                    yield Point((reading, mechanisms, rtt), mptcp(both, mechanisms, BUFFER))
                for mechanisms in ("M1+M2", "M1"):
                    yield Point((reading, mechanisms, rtt, TIGHT), mptcp(both, mechanisms, TIGHT))
            yield Point((reading, "3g"), tcp(paths(reading), "3g", BUFFER))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        """Facts C-3.1 to C-3.3."""
        rtts = _rtts(effort)
        curves: dict[str, Curves] = {}
        checks: dict[str, tuple[tuple[bool, str], tuple[bool, str], tuple[bool, str]]] = {}
        for reading in READINGS:
            cellular = measured.mean(goodput, reading, "3g")
            rates = {
                name: {rtt: measured.mean(goodput, reading, name, rtt) for rtt in rtts}
                for name in ("wifi", "M1+M2", "M1")
            }
            rates["sum"] = {rtt: rate + cellular for rtt, rate in rates["wifi"].items()}
            curves[reading] = rates
            checks[reading] = (_gap(rates), _shape(rates), _without_m2(measured, reading, rtts))
        statements = [
            ("C-3.1", "MPTCP stays more than 5 % below aggregate TCP at an intermediate round trip",
             "a gap between MPTCP and aggregate TCP"),
            ("C-3.2", "the gap grows first and shrinks again: largest strictly inside the range",
             "the gap decreases once the RTT increases to a certain level"),
            ("C-3.3", "without M2 the gap is narrower at some round trip where WiFi measures slower than 3G",
             "M2 is unnecessarily penalising the WiFi subflow (an explanation of the study, not measured there)"),
        ]  # fmt: skip
        outcome = Outcome()
        for at, (fact, statement, published) in enumerate(statements):
            verdict, reason = judge({reading: checks[reading][at][0] for reading in READINGS})
            if fact == "C-3.3":
                reason = (
                    f"{reason} Judged with buffers of {TIGHT} KB: with {BUFFER} KB the window is rarely full.".strip()
                )
            text = "; ".join(f"[{reading}] {checks[reading][at][1]}" for reading in READINGS)
            outcome.facts.append(
                self.fact(fact, statement, published=published, measured=text, verdict=verdict, reason=reason)
            )
        outcome.pictures.append(_picture(curves, rtts))
        return outcome


def _gap(rates: Curves) -> tuple[bool, str]:
    inner = list(rates["sum"])[1:-1]
    gaps = {rtt: 1 - rates["M1+M2"][rtt] / rates["sum"][rtt] for rtt in inner}
    return max(gaps.values()) > 0.05, ", ".join(f"{rtt} ms {gap:.0%}" for rtt, gap in gaps.items())


def _shape(rates: Curves) -> tuple[bool, str]:
    gaps = {rtt: total - rates["M1+M2"][rtt] for rtt, total in rates["sum"].items()}
    widest = max(gaps, key=lambda rtt: gaps[rtt])
    ends = (min(gaps), max(gaps))
    return widest not in ends and gaps[widest] > max(gaps[end] for end in ends), (
        f"widest at {widest} ms with {gaps[widest]:.2f} Mb/s; {gaps[ends[0]]:.2f} at {ends[0]} ms, "
        f"{gaps[ends[1]]:.2f} at {ends[1]} ms"
    )


def _wifi_is_slower(run: Run) -> bool:
    """Whether the measured round trip of WiFi, queue and all, exceeds that of 3G."""
    wifi, cellular = run.path("wifi"), run.path("3g")
    return wifi is not None and cellular is not None and wifi["mean_srtt_s"] > cellular["mean_srtt_s"]


def _without_m2(measured: Measured, reading: str, rtts: Sequence[int]) -> tuple[bool, str]:
    """What leaving M2 out changes where WiFi is the slower path, with tight and with wide buffers."""
    words, narrower = [], False
    for size in (TIGHT, BUFFER):
        tight = (TIGHT,) if size == TIGHT else ()
        gains = {}
        for rtt in rtts:
            both = measured.one(reading, "M1+M2", rtt, *tight)
            if rtt > CELLULAR_RTT and _wifi_is_slower(both):
                gains[rtt] = measured.mean(goodput, reading, "M1", rtt, *tight) - goodput(both)
        narrower = narrower or (size == TIGHT and any(gain > 0.05 for gain in gains.values()))
        text = ", ".join(f"{rtt} ms {gain:+.2f}" for rtt, gain in gains.items()) or "WiFi never slower"
        words.append(f"{size} KB: {text}")
    return narrower, "change in Mb/s without M2, where WiFi is slower: " + "; ".join(words)


def _rtts(effort: Effort) -> tuple[int, ...]:
    return effort.pick((20, 100, 200, 300, 400, 600), RTTS, (20, 50, 75, 100, 125, 150, 175, 200, 250, *RTTS[5:]))


def _picture(curves: Mapping[str, Curves], rtts: tuple[int, ...]) -> Picture:
    figure, both = plots.new_figure(2, width=5.0, height=3.9, share_y=True)
    names = {
        "sum": ("aggregate TCP", plots.LOOKS["sum"]),
        "M1+M2": ("MPTCP with M1 and M2", plots.LOOKS["mptcp"]),
        "M1": ("MPTCP with M1", plots.LOOKS["reno"]),
        "wifi": ("TCP over WiFi", plots.LOOKS["wifi"]),
    }
    for axes, (reading, rates) in zip(both, curves.items(), strict=True):
        for name, (label, look) in names.items():
            plots.curve(axes, rtts, [rates[name][rtt] for rtt in rtts], label, look, markers=20)
        axes.axvline(CELLULAR_RTT, color="#999999", linewidth=0.8, linestyle=":", label="round trip of 3G")
        first = reading == next(iter(READINGS))
        plots.finish(
            axes,
            x="round trip of WiFi without queue [ms]",
            y="goodput [Mb/s]" if first else "",
            title=f"queues of {reading}",
            legend=None if first else "upper right",
            top=10.5,
        )
    caption = (
        "Goodput against the round trip of WiFi. The study saw a gap between MPTCP and aggregate TCP that opens with "
        "the round trip and closes when the queue of WiFi is too short for TCP itself."
    )
    return Picture("c3-rtt", caption, figure)
