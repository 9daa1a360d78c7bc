"""Experiment F3 of study F (hands-on lab of the SIGCOMM 2020 tutorial): subflows by path manager.

Owns the runs and the verdicts on the lab's third section.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mptcplab.results.run import Run
from mptcplab.scenario.definition import Flow, Path, Scenario
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Point, goodput
from mptcplab.studies.literature.sigcomm20_tutorial.network import CONTROLLER, NAME, STACK
from mptcplab.studies.verdicts import Bound, Check, every

PATH = Path(rate="25Mbit", rtt="20ms", queue="50p")
OPENS = {"back": Flow(from_="server", to="client", transport="tcp", bytes="1kB")}
"""A short connection of the server, because a simulated host has an address per link only if it opens connections."""


def subflows(run: Run) -> float:
    """Number of subflows of the connection."""
    return float(sum(path["subflows"] for path in run.flow("iperf")["paths"]))


def networks() -> dict[str, tuple[dict[str, Any], int]]:
    """The networks of the lab with their path managers, and the number of subflows that the lab describes."""
    one = {"paths": {"a": PATH}}
    two = {"paths": {"a": PATH, "b": PATH}}
    client = {"ends": ["client", "router"], "rate": "25Mbit", "rtt": "20ms", "queue": "50p"}
    server = {"ends": ["router", "server"], "rate": "50Mbit", "rtt": "10ms", "queue": "50p"}
    mesh = {"links": {"a": client, "b": client, "c": server, "d": server}}
    return {
        "one path, fullmesh": (one | {"manager": "fullmesh"}, 1),
        "one path, ndiffports": (one | {"manager": "ndiffports"}, 2),
        "two client paths, fullmesh": (two | {"manager": "fullmesh"}, 2),
        "two client and two server paths, fullmesh": (mesh | {"manager": "fullmesh"}, 4),
    }


class PathManagers(Experiment):
    """Section 3 of the lab."""

    study = NAME
    name = "F3"
    title = "Subflows by path manager"
    setup = (
        "A bulk flow runs for 5 s in three networks: one path of 25 Mb/s and 20 ms, two such paths, and a mesh. In the "
        "mesh, two such paths lead to a router with two links of 50 Mb/s and 10 ms to the server."
    )

    def points(self, effort: Effort) -> Iterator[Point]:
        """Networks × seeds."""
        for name, (network, _) in networks().items():
            keys = STACK | {"congestion": CONTROLLER, "path_manager": network["manager"]}
            scenario = Scenario(
                name=name,
                duration="5s",
                sample="1s",
                flows={"iperf": Flow(more=keys)} | (OPENS if "links" in network else {}),
                **{key: value for key, value in network.items() if key != "manager"},
            )
            for seed in effort.seeds(2, 5, 20):
                yield Point((name,), scenario, seed)

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
        """Claims F-3.1 to F-3.3."""

        def count(name: str) -> Check:
            number = networks()[name][1]
            return every(f"{name}", measured.values(subflows, name), Bound(name, number, number), "subflows")

        names = list(networks())
        both = measured.ratio(goodput, (names[2],), goodput, (names[0],))
        facts = [
            self.fact(
                "F-3.1",
                "over one path, fullmesh opens one subflow and ndiffports opens two",
                published="one subflow and two subflows",
                checks=[count(name) for name in names[:2]],
            ),
            self.fact(
                "F-3.2",
                "fullmesh opens one subflow per pair of addresses: 2 of two and one, 4 of two and two",
                published="a subflow between each pair of addresses",
                checks=[count(name) for name in names[2:]],
            ),
            self.fact(
                "F-3.3",
                "over two client paths, fullmesh gets at least 160% of the goodput over one path",
                published="no statement; the lab asks for the goodput",
                origin="ours",
                checks=[Check("two paths / one path", both, Bound("gain", low=1.6))],
            ),
        ]
        return Outcome(facts)
