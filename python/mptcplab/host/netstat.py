"""The kernel's counters of TCP and Multipath TCP.

Owns the form of /proc/net/netstat and /proc/net/snmp. What each counter means is Linux's to say: net/mptcp/mib.c,
Documentation/networking/snmp_counter.rst.
"""

from __future__ import annotations

import itertools

Counters = dict[str, dict[str, int]]
"""By group, such as `MPTcpExt`, and name."""


def counters(text: str) -> Counters:
    """Pairs of lines, names above values, each after its group; what has another form is left out."""
    found: Counters = {}
    for names, values in itertools.pairwise(text.splitlines()):
        (group, _, first), (same, _, second) = names.partition(":"), values.partition(":")
        labels, numbers = first.split(), second.split()
        if group == same and len(labels) == len(numbers) and all(number.lstrip("-").isdigit() for number in numbers):
            found[group] = dict(zip(labels, map(int, numbers), strict=True))
    return found
