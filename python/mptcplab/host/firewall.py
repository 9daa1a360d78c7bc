"""Rules of this machine's packet filter that name Multipath TCP's option.

Reads what nft and iptables list, where they are installed and may be asked. Any other rule is nobody's business here.
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
    """Whether a rule, as nft or iptables list it, takes the option away, or packets that have it."""
    bare = _REMARKS.sub("", rule)
    return bool(_STRIPS.search(bare) or (_NAMED.search(bare) and _DROPS.search(bare)))


def of_filter() -> Iterator[Finding]:
    """Rules that take the option away, or packets that have it."""
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
                    f"the packet filter takes Multipath TCP's option or what has it away ({command[0]}): {rule[:200]}"
                )
                yield Finding("firewall", what)
