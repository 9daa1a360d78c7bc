"""Finds rules of this machine's packet filter that remove the MPTCP option, for `mptcplab host check`.

Such a rule makes connections fall back to TCP, or drops their packets. Reads the rules of nft and iptables, if they
are installed and readable.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

from mptcplab.host.findings import Finding

_LISTS = (("nft", "list", "ruleset"), ("iptables-save",), ("ip6tables-save",))
_REMARKS = re.compile(r"""(--comment +)?("(\\.|[^"\\])*"|'[^']*')|--comment +\S+""")
_NAMED = re.compile(r"tcp option (mptcp|30)\b(?! missing)|(?<!! )--tcp-option 30\b")
_DROPS = re.compile(r"(?<!jump )(?<!goto )(?<![\w.-])(drop|reject)(?![\w.-])|-j (DROP|REJECT)\b")
_STRIPS = re.compile(
    r"\breset tcp option (mptcp|30)\b|-j TCPOPTSTRIP --strip-options (\S+,)*(30|mptcp)(,|\s|$)", re.IGNORECASE
)


def takes(rule: str) -> bool:
    """Whether a rule, as nft or iptables lists it, removes the option or drops packets with it."""
    bare = _REMARKS.sub("", rule)
    return bool(_STRIPS.search(bare) or (_NAMED.search(bare) and _DROPS.search(bare)))


def of_filter() -> Iterator[Finding]:
    """Rules that remove the option or drop packets with it."""
    for command in _LISTS:
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        for line in done.stdout.splitlines():
            rule = line.strip()
            if takes(rule):
                what = (
                    f"the packet filter removes the MPTCP option or drops packets with it ({command[0]}): {rule[:200]}"
                )
                yield Finding("firewall", what)
