"""Paths through a fat tree: the links between two hosts, by the names that `topology` gives them.

Al-Fares, Loukissas and Vahdat (SIGCOMM 2008): k pods, each with k/2 edge and k/2 aggregation switches, and k²/4 cores.
Hosts of different pods have k²/4 shortest paths, hosts of one pod k/2, and hosts of one edge switch one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Links = tuple[str, ...]
"""The links of a path, in order from the sending host."""


@dataclass(frozen=True)
class FatTree:
    """A fat tree of switches with `k` ports; `k` is even."""

    k: int

    @property
    def hosts(self) -> list[str]:
        """The names of the k³/4 hosts."""
        return [f"h{number + 1}" for number in range(self.k**3 // 4)]

    def edge_of(self, host: str) -> str:
        """The edge switch of a host."""
        pod, edge = self._place(int(host[1:]) - 1)
        return f"edge-{pod}-{edge}"

    def paths(self, source: str, destination: str) -> list[Links]:
        """All shortest paths between two hosts."""
        return list(self._paths(int(source[1:]) - 1, int(destination[1:]) - 1))

    def _paths(self, source: int, destination: int) -> Iterator[Links]:
        half = self.k // 2
        (pod, edge), (far_pod, far_edge) = self._place(source), self._place(destination)
        first, last = f"h{source + 1}-edge-{pod}-{edge}", f"h{destination + 1}-edge-{far_pod}-{far_edge}"
        if (pod, edge) == (far_pod, far_edge):
            yield first, last
            return
        for number in range(1, half + 1):
            up, down = f"edge-{pod}-{edge}-agg-{pod}-{number}", f"edge-{far_pod}-{far_edge}-agg-{far_pod}-{number}"
            if pod == far_pod:
                yield first, up, down, last
                continue
            for core in range((number - 1) * half + 1, number * half + 1):
                yield first, up, f"agg-{pod}-{number}-core-{core}", f"agg-{far_pod}-{number}-core-{core}", down, last

    def _place(self, host: int) -> tuple[int, int]:
        """The pod of a host (from 0), and its edge switch in the pod; both from 1."""
        half = self.k // 2
        return host // half**2 + 1, host % half**2 // half + 1
