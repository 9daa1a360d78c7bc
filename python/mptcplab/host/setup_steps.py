"""Steps of setting a host up: what is typed, what takes it back, and whether it still stands.

Owns how a step is done and looked at. Which steps there are, `preparing` says; that none is forgotten, `journal`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.host.machine import CannotLook, Machine, sysctl, sysctl_file

_GONE = ("No such", "not found", "Cannot find", "does not exist")
"""What `ip` says of something that is not there any more, or never came to be."""
_KEY = re.compile(r"net\.[a-z0-9_]+\.[a-z0-9_]+(\.[^.\s]+\.[a-z_]+)?")
_VERBS = {("route", "add"), ("rule", "add"), ("route", "del"), ("rule", "del")}
_VERBS |= {("mptcp", "limits"), ("mptcp", "endpoint")}


class CannotChange(RuntimeError):
    """The kernel refuses a step, or a list of steps is none; the message says which, and what became of the others."""


@dataclass(frozen=True)
class Step:
    """A command and the one that takes it back, as words."""

    do: tuple[str, ...]
    undo: tuple[str, ...]

    @classmethod
    def of(cls, do: str, undo: str) -> Step:
        """Of two commands whose words have no blanks in them."""
        return cls(tuple(do.split()), tuple(undo.split()))

    def stands(self) -> bool:
        """Whether what was done is still so: what somebody changed since is theirs."""
        words = self.do
        if words[0] == "sysctl":
            key, _, value = words[2].partition("=")
            return (sysctl(key) or "").split() == value.split()
        machine = Machine.read()
        if words[1:3] == ("mptcp", "limits"):
            told = dict(zip(words[4::2], words[5::2], strict=False))
            return told == {"subflow": str(machine.subflows), "add_addr_accepted": str(machine.accepted)}
        if words[1:3] == ("mptcp", "endpoint"):
            address, device, number = words[4], words[6], words[8]
            return any(
                (str(one.address), one.device, str(one.number)) == (address, device, number)
                and one.flags == frozenset(words[9:])
                for one in machine.endpoints
            )
        return _is_there(words)

    def take_back(self) -> str | None:
        """Takes it back; what went wrong, or None. What is gone already is no fault."""
        problem = run(self.undo)
        return None if problem is not None and any(word in problem for word in _GONE) else problem


def _is_there(words: Sequence[str]) -> bool:
    """Whether a route or a rule is there with all that the command that added it says."""
    asked = ["show" if word == "add" else word for word in words]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False, process_group=0)
    except (OSError, subprocess.TimeoutExpired):
        return True
    if done.returncode != 0:
        # `ip route show` of a table without any route.
        return "table does not exist" not in done.stderr
    return bool(done.stdout.strip())


def typed(words: Sequence[str]) -> str:
    """A command as one types it."""
    return shlex.join(words)


def read(row: object) -> Step:
    """A step of its form in a file."""
    match row:
        case {"do": [*do], "undo": [*undo]} if all(isinstance(word, str) and word for word in (*do, *undo)):
            step = Step(tuple(do), tuple(undo))
            if _is_ours(step.do) and _is_ours(step.undo):
                return step
    raise CannotChange(f"{str(row)[:200]} is no step of ours")


def _is_ours(words: tuple[str, ...]) -> bool:
    if len(words) == 3 and words[:2] == ("sysctl", "-w"):
        return bool(_KEY.fullmatch(words[2].partition("=")[0])) and "/" not in words[2].partition("=")[2]
    plain = tuple(word for word in words if word != "-6")
    return len(plain) > 3 and plain[0] == "ip" and plain[1:3] in _VERBS


def run(words: Sequence[str]) -> str | None:
    """Runs a command; what it said when it failed, or None."""
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
        raise CannotLook("ip is not installed, or not in PATH: install iproute2") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"outcome unknown: {error}"
    said = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else (said[0] if said else str(done.returncode))
