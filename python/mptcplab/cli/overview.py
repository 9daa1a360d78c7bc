"""What `mptcplab` without a command says: what there is, in the order in which people need it.

Owns the groups and the first steps. The sentences of the commands are their own.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence

GROUPS: Sequence[tuple[str, Sequence[str]]] = (
    ("A scenario of yours", ("example", "run", "why", "sweep", "survey", "schema")),
    ("What came out", ("plot", "cdf", "analyse", "events", "links", "select", "merge", "gather")),
    ("Published studies", ("list", "study", "reproduce")),
    ("Real packets", ("info", "kernel", "emulate", "validate", "send", "receive", "verify", "interrupt", "bench")),
)

FIRST = """\
Multipath TCP that you can run, study and change.

First steps:
  mptcplab example > two.toml         a scenario of two networks, to run and to change
  mptcplab run two.toml               what happened, and what held each path back
  mptcplab why two.toml               is it faster than the best path alone, and if not, why
  mptcplab reproduce --quick          a look at the experiments of five sources, in half a minute
"""

LAST = """\
mptcplab COMMAND --help says what each takes, with an example.
"""


def overview(commands: Mapping[str, str], width: int | None = None) -> str:
    """The page; `commands` are names with what they do. Those in no group stand last."""
    width = shutil.get_terminal_size((100, 24)).columns if width is None else width
    known = {name for _, names in GROUPS for name in names}
    groups = [*GROUPS, ("More", [name for name in commands if name not in known])]
    parts = [FIRST]
    for title, names in groups:
        there = [name for name in names if name in commands]
        if there:
            parts.append("\n".join([f"{title}:", *_lines(((name, commands[name]) for name in there), width)]) + "\n")
    return "\n".join([*parts, LAST])


def _lines(rows: Iterable[tuple[str, str]], width: int) -> Iterable[str]:
    for name, said in rows:
        yield from textwrap.wrap(
            said.replace("%%", "%"),
            max(40, min(width, 110)),
            initial_indent=f"  {name:<10}  ",
            subsequent_indent=" " * 14,
        )
