"""The commands, one module each: NAME, HELP, EXAMPLE, `arguments(parser)`, `execute(arguments)`.

A command is imported when it runs, and all of them for the overview. Heavy modules are imported when a command runs,
so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mptcplab.plugins import Command

MODULES = {
    "list": "list_studies",
    "study": "study",
    "reproduce": "reproduce",
    "example": "example",
    "convert-trace": "convert_trace",
    "page": "page",
    "run": "run",
    "why": "why",
    "doctor": "doctor",
    "predict": "predict",
    "sweep": "sweep",
    "compare": "compare",
    "udp-interference": "udp_interference",
    "emulate": "emulate",
    "validate": "validate",
    "analyse": "analyse",
    "plot": "plot",
    "cdf": "cdf",
    "events": "events",
    "link-stats": "link_stats",
    "select": "select",
    "merge": "merge",
    "new": "new",
    "group": "group",
    "bench": "bench",
    "survey": "survey",
    "schema": "schema",
    "send": "send",
    "receive": "receive",
    "verify": "verify",
    "kernel": "kernel",
    "host": "host",
    "measure": "measure",
    "info": "info",
    "completion": "completion",
}
"""The module of each command by the name of the command, in the order of `mptcplab --help`."""


def command(name: str) -> Command:
    """The command of this name, one of `MODULES`."""
    return cast("Command", importlib.import_module(f"{__name__}.{MODULES[name]}"))


def commands() -> list[Command]:
    """All commands of mptcplab."""
    return [command(name) for name in MODULES]
