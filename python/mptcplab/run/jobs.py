"""A job: a run of a batch. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab import _core
    from mptcplab.results.model.events import Trace
    from mptcplab.results.model.varied_values import Value


@dataclass(frozen=True)
class Job:
    """A scenario and a seed; `variant` distinguishes the runs of a batch."""

    scenario: _core.Scenario
    seed: int
    variant: str = ""
    trace: Trace | None = None
    """The events to keep; None keeps no events and observes nothing."""
    values: Mapping[str, Value] = field(default_factory=dict, compare=False)
    """The varied values of this run in a sweep, by key; they become columns of the tables."""
    payload: bytes = b""
    """Bytes that an executor's worker gives to `worker.prepare` before it builds the scenario."""
