"""Steps of `host setup`, each one command with its undo command.

Owns the execution of a step, and the check that the step is still in effect. `setup_plan` selects the steps, `journal`
records them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.host.machine import CannotLook, Machine, sysctl, sysctl_file

_GONE = ("No such", "not found", "Cannot find", "does not exist")
"""Errors of `ip` for an object that does not exist."""
_KEY = re.compile(r"net\.[a-z0-9_]+\.[a-z0-9_]+(\.[^.\s]+\.[a-z_]+)?")
_VERBS = {("route", "add"), ("rule", "add"), ("route", "del"), ("rule", "del")}
_VERBS |= {("mptcp", "limits"), ("mptcp", "endpoint")}


class CannotChange(RuntimeError):
    """A rejected step or an invalid list of steps; the message names the problem and the state of the other steps."""


@dataclass(frozen=True)
class Step:
    """A command and its undo, as words."""

    do: tuple[str, ...]
    undo: tuple[str, ...]

    @classmethod
    def of(cls, do: str, undo: str) -> Step:
        """A step from two commands whose words contain no spaces."""
        return cls(tuple(do.split()), tuple(undo.split()))

    def stands(self) -> bool:
        """Whether the step is still in effect. If the setting was changed later, `journal` does not undo the step."""
        words = self.do
        if words[0] == "sysctl":
            key, _, value = words[2].partition("=")
            return (sysctl(key) or "").split() == value.split()
        machine = Machine.read()
        if words[1:3] == ("mptcp", "limits"):
            lines = dict(zip(words[4::2], words[5::2], strict=False))
            return lines == {"subflow": str(machine.subflows), "add_addr_accepted": str(machine.accepted)}
        if words[1:3] == ("mptcp", "endpoint"):
            address, device, number = words[4], words[6], words[8]
            return any(
                (str(one.address), one.device, str(one.number)) == (address, device, number)
                and one.flags == frozenset(words[9:])
                for one in machine.endpoints
            )
        return _is_there(words)

    def undo_step(self) -> str | None:
        """Undoes the step; returns the error, or None. A missing object is no error."""
        problem = run(self.undo)
        return None if problem is not None and any(word in problem for word in _GONE) else problem


def _is_there(words: Sequence[str]) -> bool:
    """Whether a route or a rule exists as its command specified it; true if this cannot be determined."""
    asked = ["show" if word == "add" else word for word in words]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False, process_group=0)
    except (OSError, subprocess.TimeoutExpired):
        return True
    if done.returncode != 0:
        # `ip route show` for a table without routes.
        return "table does not exist" not in done.stderr
    return bool(done.stdout.strip())


def typed(words: Sequence[str]) -> str:
    """The command as typed in a shell."""
    return shlex.join(words)


def read(row: object) -> Step:
    """Parses a step of the journal file."""
    match row:
        case {"do": [*do], "undo": [*undo]} if all(isinstance(word, str) and word for word in (*do, *undo)):
            step = Step(tuple(do), tuple(undo))
            if _is_ours(step.do) and _is_ours(step.undo):
                return step
    raise CannotChange(f"{str(row)[:200]} is not a step of mptcplab host setup")


def _is_ours(words: tuple[str, ...]) -> bool:
    if len(words) == 3 and words[:2] == ("sysctl", "-w"):
        return bool(_KEY.fullmatch(words[2].partition("=")[0])) and "/" not in words[2].partition("=")[2]
    plain = tuple(word for word in words if word != "-6")
    return len(plain) > 3 and plain[0] == "ip" and plain[1:3] in _VERBS


def run(words: Sequence[str]) -> str | None:
    """Runs a command; returns its error, or None."""
    if words[0] == "sysctl":
        key, _, value = words[2].partition("=")
        try:
            sysctl_file(key).write_text(value)
        except OSError as error:
            return error.strerror or str(error)
        return None
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False, process_group=0)
    except FileNotFoundError:
        raise CannotLook("ip is not installed or not in PATH: install iproute2") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"outcome unknown: {error}"
    message = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else (message[0] if message else f"exit code {done.returncode}")
