"""The cost of policies written in Python: packets per second of the simulator, compared with built-in ones.

Run it: `python -m mptcplab.bench.python_policies`. The Python classes have the rules of `minrtt` and of NewReno, so
both runs of a row simulate about the same packets. docs/python-policies.md shows the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mptcplab.policies.base import CongestionControl, Scheduler
from mptcplab.scenario.definition import Flow, Path, Scenario

if TYPE_CHECKING:
    from mptcplab._core import CongestionPath, CongestionView, SendPath, SendView

REPETITIONS = 3
DURATION = "20s"


class LowestRtt(Scheduler):
    """The rule of `minrtt`."""

    def choose(self, view: SendView) -> SendPath:
        """The available path with the smallest RTT."""
        return min(view.available, key=lambda path: path.srtt)


class Reno(CongestionControl):
    """NewReno."""

    def on_ack(self, view: CongestionView, path: CongestionPath, acked: float) -> None:  # noqa: ARG002 - unused view
        """Slow start, or one segment for each RTT."""
        rest = path.slow_start(acked)
        path.cwnd += path.mss * rest / path.cwnd

    def on_loss(self, view: CongestionView, path: CongestionPath) -> float:  # noqa: ARG002 - unused view
        """Half of the window."""
        return path.cwnd / 2


def packets_per_second(paths: int, **policies: object) -> float:
    """Data packets for each second of wall-clock time, the best of some repetitions; each path has 10 Mb/s."""
    scenario = Scenario(
        duration=DURATION,
        paths={f"p{at}": Path(rate="10Mbit", rtt=f"{20 + 10 * at}ms", queue="60p") for at in range(paths)},
        flows={"bulk": Flow(more=policies)},
        defaults={"baselines": False, "coupling_scope": "all"},
    )
    runs = [scenario.runs(seeds=[1], workers=1)[0] for _ in range(REPETITIONS)]
    return max(run.data_packets / run.wall_s for run in runs)


def main() -> None:
    """Prints the table."""
    print("| paths | built in | scheduler in Python | controller in Python | both |")
    print("|--:|--:|--:|--:|--:|")
    for paths in (1, 2, 8):
        native = packets_per_second(paths, scheduler="minrtt", congestion="reno")
        found = [
            packets_per_second(paths, scheduler=LowestRtt, congestion="reno"),
            packets_per_second(paths, scheduler="minrtt", congestion=Reno),
            packets_per_second(paths, scheduler=LowestRtt, congestion=Reno),
        ]
        cells = [f"{rate:,.0f} ({native / rate:.1f} times)" for rate in found]
        print(f"| {paths} | {native:,.0f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
