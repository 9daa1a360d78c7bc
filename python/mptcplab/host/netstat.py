"""Parses the kernel's counters of TCP and Multipath TCP, which show fallbacks, failed joins and duplicate data.

Owns the format of /proc/net/netstat and /proc/net/snmp. For the counters, see Linux: net/mptcp/mib.c and
Documentation/networking/snmp_counter.rst.
"""

from __future__ import annotations

import itertools
import re

_NUMBER = re.compile(r"-?[0-9]{1,20}")

Counters = dict[str, dict[str, int]]
"""Counters by group, such as `MPTcpExt`, and name."""


def counters(text: str) -> Counters:
    """Parses pairs of lines, names above values, each after its group; skips other lines."""
    found: Counters = {}
    for names, values in itertools.pairwise(text.splitlines()):
        (group, _, first), (same, _, second) = names.partition(":"), values.partition(":")
        labels, numbers = first.split(), second.split()
        if group == same and len(labels) == len(numbers) and all(map(_NUMBER.fullmatch, numbers)):
            found[group] = dict(zip(labels, map(int, numbers), strict=True))
    return found
