"""A scenario with two links and one flow, for tests with and without real packets."""

from __future__ import annotations

TWO = """
name = "two"
duration = "60s"
[paths.wifi]
rate = "8Mbit"
delay = "20ms"
queue = "100p"
[paths.lte]
rate = "4Mbit"
delay = "30ms"
queue = "100p"
[flows.bulk]
"""
