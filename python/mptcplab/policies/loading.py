"""Finds the class of a policy by its name in a scenario: `module:Class`, `file.py:Class`, or a registered class.

Owns the names of classes that were passed as objects, such as those of a notebook, and their transfer to other
processes. The core calls `load`; a `PolicyError` becomes the text of a `ScenarioError` with file and line.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mptcplab.policies.base import CongestionControl, Scheduler
from mptcplab.util.user_input import nearest

BASES: dict[str, type[Any]] = {"scheduler": Scheduler, "congestion": CongestionControl}
WORDS = {"scheduler": "scheduler", "congestion": "congestion controller"}
NEEDED = {"scheduler": ("choose",), "congestion": ("on_ack", "on_sample")}
"""Methods of which a class must define one."""

_registered: dict[str, type[Any]] = {}
_files: dict[Path, ModuleType] = {}
_directories: list[Path] = []
"""Directories of loaded scenarios, where `file.py` is looked up after the current directory; the latest first."""


class PolicyError(ValueError):
    """A class that cannot be a policy, and the reason."""


def look_in(directory: Path) -> None:
    """Also looks up `file.py` in this directory, that of a scenario."""
    directory = directory.resolve()
    if directory in _directories:
        _directories.remove(directory)
    _directories.insert(0, directory)


def register(policy: type[Any]) -> str:
    """Registers a class under its name `module:Class`, and returns the name for scenarios."""
    name = f"{policy.__module__}:{policy.__qualname__}"
    _registered[name] = policy
    return name


def is_policy(value: object) -> bool:
    """Whether a value is a class that scenarios can use."""
    return isinstance(value, type) and issubclass(value, tuple(BASES.values()))


def load(key: str, name: str, values: dict[str, Any]) -> tuple[type[Any], set[str], bool]:
    """The class `name` for the flow key `key`, the names of its methods, and whether it needs ECN."""
    found, base = find(name), BASES[key]
    if not isinstance(found, type) or not issubclass(found, base):
        raise PolicyError(f"{name} is not a subclass of mptcplab.{base.__name__}")
    known = [method for method in vars(base) if method in ("choose", "copies") or method.startswith("on_")]
    methods = {method for method in known if getattr(found, method) is not getattr(base, method)}
    for method in dir(found):
        if method.startswith("on_") and method not in known:
            near = nearest(method, known)
            raise PolicyError(
                f"{name} defines {method}, which a {WORDS[key]} does not have; "
                + (f"did you mean {near}?" if near else f"there are: {', '.join(known)}")
            )
    if not methods.intersection(NEEDED[key]):
        own = [word for word in vars(found) if callable(getattr(found, word)) and nearest(word, NEEDED[key])]
        hint = f"; did you mean {nearest(own[0], NEEDED[key])} instead of {own[0]}?" if own else ""
        raise PolicyError(f"{name} defines no {' or '.join(NEEDED[key])}, so it decides nothing{hint}")
    for method in methods:
        _check_signature(name, method, getattr(found, method), getattr(base, method))
    try:
        found(**values)
    except Exception as error:
        given = ", ".join(f"{key}={value!r}" for key, value in values.items())
        raise PolicyError(f"{name}({given}) fails: {type(error).__name__}: {error}{_place(error)}") from error
    return found, methods, bool(getattr(found, "needs_ecn", False))


def find(name: str) -> object:
    """The object that `module:Class` names."""
    if name in _registered:
        return _registered[name]
    place, _, path = name.rpartition(":")
    module = _module(place)
    found: object = module
    for part in path.split("."):
        if not hasattr(found, part):
            names = [
                key for key, value in vars(found).items() if is_policy(value) and value.__module__ == module.__name__
            ]
            near = nearest(part, names)
            hint = f"did you mean {near}?" if near else f"its policies: {', '.join(names) or 'none'}"
            raise PolicyError(f"{place} has no {part}; {hint}")
        found = getattr(found, part)
    return found


def payload(names: list[str]) -> bytes:
    """The classes of these names, for `install` in another process. Classes of the user's modules go by value."""
    import cloudpickle

    classes = {name: find(name) for name in names}
    own = {module for found in classes.values() if (module := inspect.getmodule(found)) and not _is_installed(module)}
    own = {module for module in own if module.__name__ != "__main__"}
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(classes))
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def install(classes: bytes) -> None:
    """Registers the classes of a `payload` in this process."""
    import cloudpickle

    _registered.update(cloudpickle.loads(classes))


def _is_installed(module: ModuleType) -> bool:
    """Whether a module belongs to the Python installation, so that other processes have it too."""
    file = getattr(module, "__file__", None)
    return file is None or "site-packages" in Path(file).parts or Path(file).is_relative_to(sys.base_prefix)


def _module(place: str) -> ModuleType:
    if place.endswith(".py"):
        return _file_module(Path(place))
    if place in sys.modules:
        return sys.modules[place]
    # A command has its own directory in the path instead of the current one.
    if str(Path.cwd()) not in sys.path and "" not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name and (place == error.name or place.startswith(error.name + ".")):
            raise PolicyError(f"no module {place} in {Path.cwd()} or the Python path") from None
        raise PolicyError(f"cannot import {place}: {error}{_place(error)}") from error
    except Exception as error:
        raise PolicyError(f"cannot import {place}: {type(error).__name__}: {error}{_place(error)}") from error


def _file_module(given: Path) -> ModuleType:
    places = [Path.cwd(), *_directories]
    file = next((place / given for place in places if (place / given).is_file()), None)
    if file is None:
        where = "" if given.is_absolute() else f" in {' or '.join(str(place) for place in dict.fromkeys(places[:2]))}"
        raise PolicyError(f"no file {given}{where}")
    file = file.resolve()
    if file in _files:
        return _files[file]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise PolicyError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PolicyError(f"cannot import {file}: {type(error).__name__}: {error}{_place(error)}") from error
    _files[file] = module
    return module


def _check_signature(name: str, method: str, found: Any, base: Any) -> None:
    expected = list(inspect.signature(base).parameters)
    try:
        inspect.signature(found).bind(*expected)
    except TypeError:
        raise PolicyError(f"{name}.{method} must accept ({', '.join(expected)})") from None


def _place(error: BaseException) -> str:
    """File and line of the innermost frame of an exception outside of this module."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}, line {error.lineno})"
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__ and "importlib" not in file:
            place = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place
