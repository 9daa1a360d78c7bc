"""Base classes of schedulers and congestion controllers written in Python.

Owns the methods that a policy can define, and their documentation. The core creates one object of the class for each
connection and calls its methods; docs/python-policies.md is the tutorial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mptcplab import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from mptcplab._core import CongestionPath, CongestionView, SendPath, SendView


class Policy:
    """The common part of schedulers and congestion controllers."""

    @property
    def rng(self) -> np.random.Generator:
        """The random generator of this object; its seed follows from the seed of the run."""
        generator: np.random.Generator | None = self.__dict__.get("_rng")
        if generator is None:
            import numpy as np

            generator = self.__dict__["_rng"] = np.random.default_rng(_core.policy_seed())
        return generator


class Scheduler(Policy):
    """Chooses the subflow for the next data. Define `choose`; keyword parameters of `__init__` come from the scenario.

    class LowestRtt(Scheduler):
        def choose(self, view):
            return min(view.available, key=lambda path: path.srtt)
    """

    def choose(self, view: SendView) -> SendPath | int | None:
        """Returns the path for the next segment: an entry of `view.paths`, its index, or None to wait.

        The core calls `choose` while two or more subflows could send and at least one has space. With `subflow_queues`,
        possibly none has space, because data waits in the queues of subflows. Otherwise, a path without space
        counts as None. With nothing in flight, None has no effect: the available path with the smallest RTT sends.
        """
        raise NotImplementedError

    def copies(self, view: SendView, chosen: SendPath) -> Iterable[SendPath | int]:
        """Returns further paths for the segment that is sent on `chosen`; `view` is the state before the segment.

        A copy is sent before other new data, and dropped if its path has no space by then. Not called with
        `subflow_queues`.
        """
        raise NotImplementedError


class CongestionControl(Policy):
    """Sets the congestion windows of all paths of a connection. Define at least `on_ack` or `on_sample`.

    Methods write `cwnd`, `ssthresh` and `pacing` of any path. Windows are in bytes. A method that is not defined is
    never called, and its default costs nothing.

    class Aimd(CongestionControl):
        def on_ack(self, view, path, acked):
            rest = path.slow_start(acked)
            path.cwnd += path.mss * rest / path.cwnd
    """

    needs_ecn: ClassVar[bool] = False
    """Whether subflows negotiate ECN and report each mark (RFC 8257 section 3.2)."""

    def on_ack(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
        """`acked` bytes of new data were acknowledged on `path` while its window was full."""
        raise NotImplementedError

    def on_progress(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
        """`acked` bytes were acknowledged on `path`, whether or not its window was full; called before `on_ack`."""
        raise NotImplementedError

    def on_loss(self, view: CongestionView, path: CongestionPath) -> float | None:
        """A loss on `path`, once per congestion event. Returns the new `ssthresh` in bytes; None for half of `cwnd`.

        A result below two segments becomes two segments (RFC 5681 equation 4).
        """
        raise NotImplementedError

    def on_mark(self, view: CongestionView, path: CongestionPath) -> float | None:
        """An ECN mark on `path`, once per congestion event. Returns the new `ssthresh`; default: as `on_loss`."""
        raise NotImplementedError

    def on_timeout(self, view: CongestionView, path: CongestionPath) -> None:
        """The retransmission timer of `path` expired; called after `on_loss`."""
        raise NotImplementedError

    def on_sample(self, view: CongestionView, path: CongestionPath, sample: dict[str, Any]) -> None:
        """A delivery rate sample, the last call for an acknowledgement.

        A class that defines `on_sample` sets the window alone: `on_ack` is not called, and recovery leaves the window.
        The keys of `sample` follow draft-cheng-iccrg-delivery-rate-estimation:

        - bytes: `delivered`, `delivered_before`, `total_delivered`, `newly_delivered`, `newly_lost`, `lost`,
          `in_flight`
        - bytes per second or None: `rate`
        - seconds or None: `rtt`
        - flags: `app_limited`, `window_limited`, `in_recovery`
        """
        raise NotImplementedError

    def on_lost(self, view: CongestionView, path: CongestionPath, lost: float) -> None:
        """A segment of `lost` bytes was marked lost; only with `on_sample`."""
        raise NotImplementedError

    def on_restart(self, view: CongestionView, path: CongestionPath, idle: float) -> None:
        """New data is about to be sent on `path` after `idle` seconds with nothing in flight."""
        raise NotImplementedError

    def on_undo(self, view: CongestionView, path: CongestionPath) -> None:
        """The last loss was spurious; the core has restored `cwnd` and `ssthresh`."""
        raise NotImplementedError

    def on_path_change(self, view: CongestionView, path: CongestionPath) -> None:
        """A path was opened or closed (`path.active`). A later path may reuse the index, so drop its state."""
        raise NotImplementedError
