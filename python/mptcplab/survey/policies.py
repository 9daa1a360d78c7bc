"""Policies by name: sets of flow keys that a survey compares.

Owns the conversion of a name to flow keys. A name is `default`, `historical`, a congestion controller, a scheduler, or
several of these joined by `+`. `historical` sets the rules of the kernels of 2012 and 2013.
"""

from __future__ import annotations

from typing import Any

from mptcplab import _core
from mptcplab.scenario.definition import HISTORICAL
from mptcplab.survey.measure import Policy
from mptcplab.util.user_input import BadResult


def policy(name: str) -> Policy:
    """The policy of a name; raises `BadResult` for an unknown name."""
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
            raise BadResult(f"unknown policy {part!r}; choose from {', '.join(known)}, or join several with +")
    return Policy(name, keys)
