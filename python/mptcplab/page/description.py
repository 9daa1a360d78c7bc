"""Describes a scenario for the page.

Owns the message; the core converts the scenario.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mptcplab._core import Scenario


def loaded(scenario: Scenario) -> dict[str, Any]:
    """`Loaded` of web/src/engine/types.ts."""
    from mptcplab import _core

    return {"toml": scenario.to_toml(), "description": json.loads(_core.describe(scenario))}
