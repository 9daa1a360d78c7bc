"""Adds the classes of policies written in Python to jobs, so that other processes have them.

Owns the choice of the classes; `policies.loading` packs and unpacks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mptcplab.policies import loading

if TYPE_CHECKING:
    from mptcplab.run.jobs import Job


def with_policies(jobs: Sequence[Job]) -> Sequence[Job]:
    """The jobs, with a payload for those whose scenarios use policies written in Python."""
    payloads: dict[tuple[str, ...], bytes] = {}

    def packed(job: Job) -> Job:
        names = tuple(job.scenario.python_policies)
        if not names or job.payload:
            return job
        if names not in payloads:
            payloads[names] = loading.payload(list(names))
        return replace(job, payload=payloads[names])

    return [packed(job) for job in jobs]
