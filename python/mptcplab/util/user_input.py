"""Parsing of user input on the command line: names, times, sizes and rates.

Owns the errors that suggest valid input. Imports only the standard library, so that each command starts quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SHOWN = 200
"""Maximum characters of a value in a message."""


def shown(value: str) -> str:
    """A quoted value for a message, shortened if it is long."""
    text = readable(value)
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


def brief(message: str) -> str:
    """A message, shortened: words above 2 × `SHOWN` characters and messages above 20 × `SHOWN` lose their middle."""
    words = (f"{word[:SHOWN]}…{word[-SHOWN // 4 :]}" if len(word) > 2 * SHOWN else word for word in message.split(" "))
    text = " ".join(words)
    return text if len(text) <= 20 * SHOWN else f"{text[: 16 * SHOWN]} … {text[-SHOWN:]}"


def time_text(seconds: float) -> str:
    """A duration in scenario syntax, to the nanosecond, in the largest unit that gives an integer."""
    nanoseconds = round(seconds * 1e9)
    for unit, scale in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if nanoseconds % scale == 0:
            return f"{nanoseconds // scale}{unit}"
    return f"{nanoseconds}ns"


class BadResult(ValueError):
    """Unusable input: a value, name or result directory. The message lists the alternatives."""


def seconds(text: str) -> float:
    """Parses a duration in scenario syntax, in seconds: a number and ns, us, ms, s, min or h."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("h", 3600.0), ("s", 1.0)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * scale
            except ValueError:
                break
    raise BadResult(
        f"{shown(text)} is not a duration; write a number with its unit (ns, us, ms, s, min, h), for example 500ms or "
        "2s"
    )


_SIZES = {"kB": 10**3, "KB": 2**10, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "B": 1}
_WRITTEN = {name: _SIZES[name] for name in ("MB", "MiB", "kB", "KB", "B")}
"""Units of sizes in output; the first unit that gives an integer is used, as in the core."""
_RATES = {"kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "bit": 1}


def size_text(count: int) -> str:
    """A size in scenario syntax: 61,440 bytes are 60KB, 2,000,000 are 2MB."""
    unit = next(unit for unit, scale in _WRITTEN.items() if count % scale == 0)
    return f"{count // _WRITTEN[unit]}{unit}"


def size_like(count: float, like: int) -> str:
    """An approximate size, in the unit that `size_text` uses for the size `like`."""
    unit = next(unit for unit, scale in _WRITTEN.items() if like % scale == 0)
    unit = "kB" if unit == "B" else unit
    value = count / _WRITTEN[unit]
    return f"{value:.0f}{unit}" if value >= 9.5 else f"{value:.2g}{unit}"


def size(text: str) -> int:
    """Parses a size in scenario syntax, in bytes."""
    return _scaled(text, _SIZES, "size", "200KB or 4GiB")


def rate(text: str) -> int:
    """Parses a rate in scenario syntax, in bit/s."""
    return _scaled(text, _RATES, "rate", "500kbit or 8Mbit")


def _scaled(text: str, units: Mapping[str, float], what: str, example: str) -> int:
    for unit, scale in units.items():
        if text.endswith(unit):
            try:
                found = float(text.removesuffix(unit)) * scale
            except ValueError:
                break
            if 1 <= found < 2**63:
                return int(found)
            break
    known = ", ".join(sorted(units, key=units.__getitem__))
    raise BadResult(f"{shown(text)} is not a {what}; write a number with its unit ({known}), for example {example}")


def readable(text: str) -> str:
    """Text of the command line as Unicode; in an ASCII locale, it has undecoded UTF-8 bytes."""
    for errors in ("strict", "surrogateescape"):
        try:
            return text.encode("utf-8", errors).decode("utf-8", "replace")
        except UnicodeEncodeError:
            continue
    return text.encode("utf-8", "replace").decode("utf-8")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of `names`; None if none is similar."""
    # Imported late: only a wrong name needs it.
    import difflib

    near = difflib.get_close_matches(name, list(names), 1, 0.5)
    return near[0] if near else None


def choose(name: str, names: Iterable[str], what: str, where: str = "") -> str:
    """`name`, if it is among `names`. Otherwise raises `BadResult`, with the nearest name and all names."""
    known, name = list(names), readable(name)
    if name in known:
        return name
    near = nearest(name, known)
    hint = f"did you mean {near}? " if near else ""
    place = f"{where}: " if where else ""
    raise BadResult(f"{place}unknown {what} {shown(name)}; {hint}choose from: {', '.join(known) or 'none'}")
