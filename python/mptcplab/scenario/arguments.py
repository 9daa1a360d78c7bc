"""Checks of arguments of the Python API, so that a wrong call fails with an error in Python's terms.

Raises `TypeError` for a wrong type, `ValueError` for a wrong value. Each names the argument, the value and valid
choices. The Rust core (`_core`) checks the contents of a scenario.
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
from mptcplab.policies.loading import is_policy, register
from mptcplab.util.user_input import nearest, shown

MOST_SEED = 2**64 - 1

_T = TypeVar("_T")


def name_fields(made: type[_T]) -> type[_T]:
    """A class decorator: constructor errors suggest the nearest field, such as for `Flow(cc="lia")`."""
    init: Callable[..., None] = vars(made)["__init__"]

    @functools.wraps(init)
    def checked(self: Any, *positions: Any, **values: Any) -> None:
        names = [field.name for field in fields(cast("Any", made))]
        if positions:
            raise TypeError(
                f"{made.__name__}({_text(positions[0])}): arguments must be named; write "
                f"{made.__name__}({names[0]}=...)"
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
    """Rejects unknown arguments of a function; `instead` maps some of them to other calls."""
    for name in others:
        near = nearest(name, names)
        known = f"did you mean {near}?" if near else f"there are: {', '.join(names)}"
        hint = f"call {instead[name]}" if name in instead else known
        raise TypeError(f"{function}() has no argument {name}; {hint}")


def seed(value: object, name: str = "seed") -> int:
    """Checks a seed."""
    number = whole(value, name)
    if not 0 <= number <= MOST_SEED:
        raise ValueError(f"{name} = {number}: must be between 0 and {MOST_SEED}")
    return number


def seeds(values: object) -> list[int]:
    """Checks the seeds of several runs."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"seeds = {_text(values)}: must be several integers, such as range(1, 6)")
    found = [seed(value, f"seeds[{at}]") for at, value in enumerate(values)]
    if not found:
        raise ValueError("seeds = []: must not be empty; use for example range(1, 6)")
    return found


def workers(value: object) -> int | None:
    """Checks the number of workers; None means all cores."""
    if value is None:
        return None
    number = whole(value, "workers")
    if number < 1:
        raise ValueError(f"workers = {number}: must be at least 1, or None for all cores")
    return number


def whole(value: object, name: str) -> int:
    """An integer, also from NumPy."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} = {_text(value)}: must be an integer, not {_type(value)}")
    return int(value.__index__())


def tables(values: object, name: str, kind: type) -> Mapping[str, Any]:
    """Checks named tables of a scenario: paths, flows, cells or stations."""
    what = kind.__name__
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} = {_text(values)}: must be a mapping of names, such as {{'a': {what}(...)}}")
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeError(f"{name}: the key {_text(key)} must be a string")
        if not isinstance(value, (Mapping, kind)):
            raise TypeError(f"{name}.{key} = {_text(value)}: must be {what}(...) or a mapping, not {_type(value)}")
    return values


def choices(vary: object) -> Mapping[str, Sequence[Any]]:
    """Checks the keys and values of a sweep."""
    if not isinstance(vary, Mapping):
        raise TypeError(f"vary = {_text(vary)}: must be a mapping from keys to values")
    found = dict[str, Sequence[Any]]()
    for key, values in vary.items():
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(f"vary: {key} = {_text(values)}: must be a list of values (try [{_text(values)}])")
        found[key] = list(values)
        if not found[key]:
            raise ValueError(f"vary: {key} = []: must not be empty")
    return found


def plain(value: Any, place: str) -> Any:
    """A scenario value as string, number, boolean, dict or list; omits keys whose value is None."""
    if is_dataclass(value) and not isinstance(value, type):
        more = getattr(value, "more", None) or {}
        if not isinstance(more, Mapping):
            raise TypeError(f"{place}.more = {_text(more)}: must be a mapping")
        # `from` is a Python keyword.
        own = {field.name.rstrip("_"): getattr(value, field.name) for field in fields(value) if field.name != "more"}
        return plain(own | dict(more), place)
    if isinstance(value, Mapping):
        return {str(key): plain(item, _below(place, key)) for key, item in value.items() if item is not None}
    if isinstance(value, PathLike) or is_policy(value):
        return fspath(value) if isinstance(value, PathLike) else register(value)
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
            f"{place} = {_text(value)}: must be a list, because its order must be fixed, not {_type(value)}"
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
