"""Policies by name.

Owns the way from what a person writes to the keys of a flow: `default`, `historical`, a congestion controller, a
scheduler, or several of these joined by `+`.
"""

from __future__ import annotations

from typing import Any

from mptcplab import _core
from mptcplab.scenario.definition import HISTORICAL
from mptcplab.survey.measure import Policy
from mptcplab.util.user_input import BadResult


def policy(name: str) -> Policy:
    """The policy of a name; raises `BadResult` when nothing is called so."""
    names = _core.policy_names()
    keys: dict[str, Any] = {}
    for part in name.split("+"):
        if part == "historical":
            keys |= HISTORICAL
        elif part in names["congestion"]:
            keys["congestion"] = part
        elif part in names["scheduler"]:
            keys["scheduler"] = part
        elif part != "default":
            known = ["default", "historical", *names["congestion"], *names["scheduler"]]
            raise BadResult(f"there is no policy {part!r}; there are {', '.join(known)}, and several joined by +")
    return Policy(name, keys)
