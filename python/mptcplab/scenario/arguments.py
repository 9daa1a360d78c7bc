"""Arguments of the Python interface, checked before anything is made of them.

Owns the errors: `TypeError` for a value of a wrong type, `ValueError` for a wrong value of the right one, each with the
name of the argument, the value, and what would be right. What a scenario may say is the core's word.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from typing import Any, TypeVar, cast

from mptcplab import _core
from mptcplab.util.user_input import nearest, shown

MOST_SEED = 2**64 - 1

_T = TypeVar("_T")


def name_fields(made: type[_T]) -> type[_T]:
    """Has a dataclass name the field that was meant by one that it has not: `Flow(cc="lia")`."""
    init: Callable[..., None] = vars(made)["__init__"]

    @functools.wraps(init)
    def checked(self: Any, *positions: Any, **values: Any) -> None:
        names = [field.name for field in fields(cast("Any", made))]
        if positions:
            raise TypeError(
                f"{made.__name__}({_text(positions[0])}): values have names; write {made.__name__}({names[0]}=...)"
            )
        for name in values:
            if name not in names:
                near = _core.nearest_word(name, names)
                hint = f"; did you mean {near}?" if near else f"; there are: {', '.join(names)}"
                raise TypeError(f"{made.__name__} has no field {name}{hint}")
        init(self, **values)

    setattr(made, "__init__", checked)  # noqa: B010 - of the class, whatever its subclasses do
    return made


def none_of(others: Mapping[str, object], function: str, names: Sequence[str], instead: Mapping[str, str]) -> None:
    """Refuses arguments that a function does not have; `instead` has the calls that were meant by some of them."""
    for name in others:
        near = nearest(name, names)
        known = f"did you mean {near}?" if near else f"there are: {', '.join(names)}"
        hint = f"call {instead[name]}" if name in instead else known
        raise TypeError(f"{function}() has no argument {name}; {hint}")


def seed(value: object, name: str = "seed") -> int:
    """A seed."""
    number = whole(value, name)
    if not 0 <= number <= MOST_SEED:
        raise ValueError(f"{name} = {number}: must be between 0 and {MOST_SEED}")
    return number


def seeds(values: object) -> list[int]:
    """Seeds of several runs."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"seeds = {_text(values)}: must be several whole numbers, such as range(1, 6)")
    found = [seed(value, f"seeds[{at}]") for at, value in enumerate(values)]
    if not found:
        raise ValueError("seeds: there are none; name at least one, such as range(1, 6)")
    return found


def workers(value: object) -> int | None:
    """How many cores; None is all."""
    if value is None:
        return None
    number = whole(value, "workers")
    if number < 1:
        raise ValueError(f"workers = {number}: must be at least 1, or None for all cores")
    return number


def whole(value: object, name: str) -> int:
    """A whole number, of NumPy too."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} = {_text(value)}: must be a whole number, not {_type(value)}")
    return int(value.__index__())


def tables(values: object, name: str, kind: type) -> Mapping[str, Any]:
    """Named tables of a scenario: its paths, flows, cells or stations."""
    what = kind.__name__
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} = {_text(values)}: must be a mapping of names, such as {{'a': {what}(...)}}")
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeError(f"{name}: {_text(key)} is no name; names are strings")
        if not isinstance(value, (Mapping, kind)):
            raise TypeError(f"{name}.{key} = {_text(value)}: must be {what}(...) or a mapping, not {_type(value)}")
    return values


def choices(vary: object) -> Mapping[str, Sequence[Any]]:
    """What a sweep varies: keys, and the values of each."""
    if not isinstance(vary, Mapping):
        raise TypeError(f"vary = {_text(vary)}: must be a mapping of keys and their values")
    found = dict[str, Sequence[Any]]()
    for key, values in vary.items():
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(f"vary: {key} = {_text(values)}: must be several values (try [{_text(values)}])")
        found[key] = list(values)
        if not found[key]:
            raise ValueError(f"vary: {key} = []: has no value")
    return found


def plain(value: Any, place: str) -> Any:
    """A value of a scenario: a string, a number, true or false, or mappings and sequences of these."""
    if is_dataclass(value) and not isinstance(value, type):
        more = getattr(value, "more", None) or {}
        if not isinstance(more, Mapping):
            raise TypeError(f"{place}.more = {_text(more)}: must be a mapping")
        # `from` is a word of Python's.
        own = {field.name.rstrip("_"): getattr(value, field.name) for field in fields(value) if field.name != "more"}
        return plain(own | dict(more), place)
    if isinstance(value, Mapping):
        return {str(key): plain(item, _below(place, key)) for key, item in value.items() if item is not None}
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (str, bool)):
        return str(value) if isinstance(value, str) else value
    if hasattr(value, "__index__"):
        return _number(whole(value, place), place)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place} = {value}: must be a finite number")
        return float(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [plain(item, f"{place}[{at}]") for at, item in enumerate(value)]
    if isinstance(value, AbstractSet):
        raise TypeError(
            f"{place} = {_text(value)}: must be a list, whose order is the same each time, not {_type(value)}"
        )
    raise TypeError(f"{place} = {_text(value)}: must be a string, a number, True or False, not {_type(value)}")


def _number(value: int, place: str) -> int:
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{place} = {_text(value)}: must be less than 2^63")
    return value


def _below(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _text(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else shown(text)[1:80] + "…"  # noqa: PLR2004, RUF100


def _type(value: object) -> str:
    return "None" if value is None else type(value).__name__
