"""What held a flow back, path by path: from measured shares of time to a finding and a sentence.

Owns the thresholds and the words. Measures nothing: the shares are the core's (docs/events.md, "The reason, by path").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab._core import FlowRow, PathRow

LEAST = {
    "never_joined": 0.9,
    "loss": 0.2,
    "head_of_line": 0.1,
    "receive_window": 0.15,
    "send_buffer": 0.15,
    "application": 0.2,
    "scheduler": 0.5,
    "penalty": 0.1,
    "pacing": 0.6,
    "local_queue": 0.6,
    "closed": 0.2,
}
"""Shares of a path's time below which a reason is none: every flow meets each of them now and then."""

WORDS = {
    "capacity": "its own rate",
    "window": "a congestion window that had room to grow",
    "loss": "loss",
    "head_of_line": "waiting for older data on another path",
    "receive_window": "the receive window",
    "send_buffer": "the send buffer",
    "application": "the application, which had nothing to send",
    "scheduler": "the scheduler, which left it unused",
    "penalty": "M2, which had halved its window",
    "pacing": "pacing",
    "local_queue": "this host's own queue",
    "joining": "a handshake that was not over, or had not begun",
    "closed": "nothing: it had no subflow",
}
"""Reasons in the order of the core's names, as "held back by ..."."""


@dataclass(frozen=True)
class Finding:
    """A reason why a flow did not send more, and its share of the time."""

    cause: str
    path: str | None
    """The path to blame; None where it is not a path's."""
    share: float

    def __str__(self) -> str:
        """A sentence."""
        part = f"{self.share:.0%} of the time"
        return {
            "never_joined": f"no subflow ever joined over {self.path}",
            "loss": f"loss kept {self.path} small {part}",
            "head_of_line": f"the other paths waited for older data on {self.path} {part}",
            "receive_window": f"the receive window was full {part}",
            "send_buffer": f"the send buffer was full {part}",
            "application": f"the application had nothing to send {part}",
            "scheduler": f"the scheduler left {self.path} unused {part}",
            "penalty": f"{self.path} ran with a window that M2 had halved {part}",
            "pacing": f"pacing held {self.path} back {part}",
            "local_queue": f"this host's own queue held {self.path} back {part}",
            "closed": f"{self.path} was down {part}",
        }[self.cause]


def findings(row: FlowRow) -> list[Finding]:
    """What held a flow back, the heaviest first; nothing where its paths carried what they could."""
    known = [path for path in row["paths"] if path.get("limits")]
    found = [finding for path in known for finding in _of_path(path)]
    if known:
        found += [Finding("never_joined", name, 1.0) for name in row["never_joined"]]
    for cause in ("receive_window", "send_buffer", "application"):
        # What concerns the whole connection is felt by the path that would send; not where others wait for that one.
        late = cause != "application"
        own = (path["limits"].get(cause, 0.0) - late * path.get("blamed", 0.0) for path in known)
        share = max(own, default=0.0)
        found.append(Finding(cause, None, share))
    enough = [finding for finding in found if finding.share >= LEAST[finding.cause]]
    if any(finding.cause == "application" for finding in enough):
        # A path that is left unused is not missed where there is too little to send.
        enough = [finding for finding in enough if finding.cause != "scheduler"]
    return sorted(enough, key=lambda finding: -_weight(finding))


def _weight(finding: Finding) -> float:
    # A path that is not there at all costs more than any share of one that is.
    return finding.share + (1.0 if finding.cause == "never_joined" else 0.0)


def _of_path(path: PathRow) -> list[Finding]:
    name, limits = path["path"], path["limits"]
    if _never_joined(path):
        return [Finding("never_joined", name, 1.0)]
    found = [Finding("head_of_line", name, path.get("blamed", 0.0))]
    own = ("loss", "scheduler", "penalty", "pacing", "local_queue", "closed")
    return found + [Finding(cause, name, limits.get(cause, 0.0)) for cause in own]


def _never_joined(path: PathRow) -> bool:
    absent = path["limits"].get("joining", 0.0) + path["limits"].get("closed", 0.0)
    return absent >= LEAST["never_joined"] and not path["bytes_acked"]


def sentences(row: FlowRow) -> list[str]:
    """What to say of a flow: what held it back, or that nothing did; empty where it was not observed."""
    if not any(path.get("limits") for path in row["paths"]):
        return []
    found = findings(row)
    if not found:
        return ["nothing held it back: its paths carried what they could"]
    return [str(finding) for finding in found[:4]]


def in_words(limits: Mapping[str, float], least: float = 0.05) -> str:
    """What held one path back, as shares of its time."""
    shares: Sequence[tuple[float, str]] = sorted(((s, name) for name, s in limits.items() if s >= least), reverse=True)
    return ", ".join(f"{WORDS.get(name, name)} {share:.0%}" for share, name in shares)
