"""Loads studies and commands of other packages, which register them as entry points.

An unusable entry point becomes a message that names its package, and does not affect the other ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    import argparse

    from mptcplab.studies.base import Study

STUDIES = "mptcplab.studies"
"""The group of entry points for `Study` objects."""
COMMANDS = "mptcplab.commands"
"""The group of entry points for modules with `NAME HELP EXAMPLE arguments execute`."""

T = TypeVar("T")


class Command(Protocol):
    """A command of mptcplab, usually a module."""

    NAME: str
    HELP: str
    EXAMPLE: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the arguments of the command."""

    def execute(self, given: argparse.Namespace) -> int:
        """Runs the command; returns the exit code."""


def studies(taken: Iterable[str]) -> tuple[dict[str, Study], dict[str, str]]:
    """Usable studies by name, and problems of the other entry points by name. The names `taken` are rejected."""
    from mptcplab.studies.base import Experiment, Study

    def name_of(found: Any) -> str:
        if not isinstance(found, Study):
            raise TypeError(f"the object is {_kind(found)}, not a mptcplab.studies.Study")
        strange = [one for one in found.experiments if not isinstance(one, Experiment)]
        if strange:
            raise TypeError(f"one of its experiments is {_kind(strange[0])}, not a mptcplab.studies.base.Experiment")
        return found.name

    return _load(STUDIES, "study", taken, name_of)


def commands(taken: Iterable[str]) -> tuple[dict[str, Command], dict[str, str]]:
    """Usable commands by name, and problems of the other entry points by name. The names `taken` are rejected."""

    def name_of(found: Any) -> str:
        missing = [name for name in ("NAME", "HELP", "EXAMPLE") if not isinstance(getattr(found, name, None), str)]
        missing += [name for name in ("arguments", "execute") if not callable(getattr(found, name, None))]
        if missing:
            raise TypeError(f"the module has no {', '.join(missing)}")
        return cast(Command, found).NAME

    return _load(COMMANDS, "command", taken, name_of)


def _load(
    group: str, what: str, taken: Iterable[str], name_of: Callable[[Any], str]
) -> tuple[dict[str, T], dict[str, str]]:
    known = set(taken)
    found: dict[str, T] = {}
    problems: dict[str, str] = {}
    # Sorted, because the order of installation differs between machines.
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        try:
            name, loaded = _named(point, name_of, known, what)
        except Exception as error:  # noqa: BLE001 - a foreign module may raise any exception
            problems[point.name] = (
                f"mptcplab: the {what} {point.name!r} of the package {_package(point)} cannot be used: {_why(error)}"
            )
        else:
            known.add(name)
            found[name] = loaded
    return found, problems


def _named(point: EntryPoint, name_of: Callable[[Any], str], known: set[str], what: str) -> tuple[str, Any]:
    loaded = point.load()
    name = name_of(loaded)
    if name in known:
        raise ValueError(f"a {what} named {name!r} already exists")
    return name, loaded


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else f"that provides {point.value}"


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _why(error: Exception) -> str:
    message = str(error).strip().partition("\n")[0][:300]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
