"""The page that `mptcplab` prints without a command: first steps, and the commands by task.

A new user finds the right command here. Owns the groups; the descriptions come from the commands.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence

GROUPS: Sequence[tuple[str, Sequence[str]]] = (
    (
        "Simulate a scenario",
        ("example", "page", "run", "why", "predict", "sweep", "survey", "udp-interference", "convert-trace", "schema"),
    ),
    ("Look at results", ("plot", "cdf", "analyse", "events", "link-stats", "select", "merge", "group")),
    ("Reproduce published studies", ("list", "study", "reproduce")),
    (
        "Send real packets",
        ("info", "host", "measure", "kernel", "emulate", "validate", "send", "receive", "doctor", "verify", "bench"),
    ),
)

FIRST = """\
Simulate, study and run Multipath TCP.

First steps:
  mptcplab example > two.toml         write an example scenario with two paths
  mptcplab run two.toml               simulate it, and print rates and limiting factors
  mptcplab why two.toml               compare it with plain TCP, and test changes
  mptcplab reproduce --quick          check five published studies in half a minute
"""

LAST = """\
mptcplab COMMAND --help prints the options and an example.
"""


def overview(commands: Mapping[str, str], width: int | None = None) -> str:
    """The page; `commands` are names with descriptions. Commands without a group come last."""
    width = shutil.get_terminal_size((100, 24)).columns if width is None else width
    known = {name for _, names in GROUPS for name in names}
    groups = [*GROUPS, ("Other", [name for name in commands if name not in known])]
    parts = [FIRST]
    for title, names in groups:
        there = [name for name in names if name in commands]
        if there:
            parts.append("\n".join([f"{title}:", *_lines(((name, commands[name]) for name in there), width)]) + "\n")
    return "\n".join([*parts, LAST])


def _lines(rows: Iterable[tuple[str, str]], width: int) -> Iterable[str]:
    for name, message in rows:
        yield from textwrap.wrap(
            message.replace("%%", "%"),
            max(40, min(width, 110)),
            initial_indent=f"  {name:<16}  ",
            subsequent_indent=" " * 20,
        )
