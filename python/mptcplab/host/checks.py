"""Runs all checks of `mptcplab host check`: kernel, interfaces, endpoints, routes, packet filter, and a peer.

The findings are reasons why MPTCP uses fewer paths than this machine has. Owns only the order of the checks.
"""

from __future__ import annotations

from mptcplab.host.findings import Finding, of_endpoints, of_families, of_interfaces, of_kernel
from mptcplab.host.firewall import of_filter
from mptcplab.host.machine import Address, Machine
from mptcplab.host.peer_probe import connection, echoes
from mptcplab.host.routing import begins, judged, of_routes, sources


def check(peers: list[Address], port: int | None = None) -> list[Finding]:
    """The findings, problems first. `peers` are addresses of one peer; with `port`, MPTCP connections are tested."""
    machine = Machine.read()
    names = judged(machine, peers)
    found = [
        *of_kernel(machine),
        *of_interfaces(machine),
        *of_endpoints(machine, names, begins(machine, peers), opens=bool(peers)),
    ]
    found += [*of_routes(machine, peers), *of_filter(), *of_families(machine, peers)]
    every = sources(machine, names)
    for peer in peers:
        found += echoes(every, peer)
        if port is not None and machine.speaks:
            found += connection(every, peer, port)
    return sorted(dict.fromkeys(found), key=lambda one: not one.problem)
