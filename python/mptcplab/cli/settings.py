"""Scenario values on the command line: `--set KEY=VALUE` and `--vary KEY=V1,V2`.

Both options change a scenario without an edit of its file. Owns their grammar, and rejects duplicate keys. The core
resolves keys, including `*` and braces.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from mptcplab.scenario.definition import Scenario

_OPEN, _CLOSE = "[{", "]}"


def add_set(parser: argparse.ArgumentParser) -> None:
    """Adds `--set`."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a scenario value, such as paths.wifi.loss=1%%; accepts * and {}",
    )


def over(scenario: Scenario, texts: Iterable[str]) -> Scenario:
    """The scenario with the values of `--set`."""
    values = dict[str, str]()
    for text in texts:
        key, value = _pair("--set", text, "KEY=VALUE, for example paths.wifi.loss=1%")
        if key in values:
            raise BadInput(f"mptcplab: --set {key} is given twice: {values[key]} and {value}")
        values[key] = value
    return scenario.vary(values, origin="--set") if values else scenario


def variations(texts: Sequence[str]) -> dict[str, list[str]]:
    """The keys and values of `--vary`."""
    vary = dict[str, list[str]]()
    for text in texts:
        key, values = _pair("--vary", text, "KEY=VALUE,VALUE, for example paths.wifi.loss=0%,1%,5%")
        chosen = split(values)
        if not all(chosen):
            raise BadInput(f"mptcplab: --vary {text}: a value is empty; write KEY=VALUE,VALUE")
        if key in vary:
            raise BadInput(f"mptcplab: --vary {key} is given twice; write all values in one option: {key}=V1,V2,V3")
        for other in vary:
            if same_key(key, other):
                raise BadInput(f"mptcplab: --vary {key} and --vary {other} set the same key; remove one of them")
        twice = [value for at, value in enumerate(chosen) if value in chosen[:at]]
        if twice:
            raise BadInput(f"mptcplab: --vary {text}: {twice[0]} is given twice")
        vary[key] = chosen
    return vary


def same_key(one: str, other: str) -> bool:
    """Whether two keys with `*` and braces can match the same key. Compares part by part."""
    mine, its = (key.split(".") for key in (one, other))
    return len(mine) == len(its) and all(map(_same_part, mine, its))


def check_quoted(arguments: Sequence[str]) -> None:
    """Rejects a value whose braces the shell has expanded, and prints the quoted form."""
    for at, option in enumerate(arguments[:-2]):
        words = list(itertools.takewhile(lambda word: "=" in word and word[0] != "-", arguments[at + 1 :]))
        if option in ("--set", "--vary") and len(words) > 1:
            raise BadInput(
                f"mptcplab: {option}: the shell expanded braces here; quote the argument: {option} '{_joined(words)}'"
            )


def _joined(words: Sequence[str]) -> str:
    """The brace expression that expands to these words."""
    before = _alike(words)
    before = before[: max(before.rfind(one) for one in ".=") + 1]
    rests = [word[len(before) :] for word in words]
    after = _alike([rest[::-1] for rest in rests])[::-1]
    ends = [place for one in ".=" if (place := after.find(one)) >= 0]
    after = after[min(ends) :] if ends else ""
    return f"{before}{{{','.join(rest[: len(rest) - len(after)] for rest in rests)}}}{after}"


def _alike(words: Sequence[str]) -> str:
    """The common prefix."""
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*words, strict=False))
    return "".join(letters[0] for letters in same)


def _same_part(one: str, other: str) -> bool:
    return "*" in (one, other) or not _choices(one).isdisjoint(_choices(other))


def _choices(part: str) -> set[str]:
    """The alternatives in braces; any other text is returned as it is."""
    if part.startswith("{") and part.endswith("}"):
        return {choice.strip() for choice in part[1:-1].split(",")}
    return {part}


def point(scenario: Scenario, values: Mapping[str, str]) -> Scenario:
    """The scenario at one point of a sweep; errors name `--vary`."""
    from mptcplab import ScenarioError

    try:
        return scenario.vary(values, origin="--vary")
    except ScenarioError as error:
        raise BadInput(str(error)) from error


def split(values: str) -> list[str]:
    """Splits values at commas, except within brackets, braces or quotes."""
    parts, depth, quote, current = list[str](), 0, "", ""
    for letter in values:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        if letter == "," and depth <= 0 and not quote:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return [*parts, current.strip()]


def _pair(option: str, text: str, grammar: str) -> tuple[str, str]:
    from mptcplab.util.user_input import readable

    key, equals, value = readable(text).partition("=")
    if not equals or not key.strip() or not value.strip():
        raise BadInput(f"mptcplab: {option} {text}: write {grammar}")
    return key.strip(), value.strip()
