"""Values that the command line puts over a scenario: `--set KEY=VALUE`, `--vary KEY=V1,V2`.

Owns their grammar, which key is given twice, and that errors name the option that was given. What keys mean, `*` and
braces in them too, is the core's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mptcplab.commands.common import BadInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mptcplab.scenario import Scenario

_OPEN, _CLOSE = "[{", "]}"


def add_set(parser: argparse.ArgumentParser) -> None:
    """`--set`."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="put a value over the scenario's, such as paths.wifi.loss=1%%; repeat it for more. * in a key stands "
        "for all, braces for several: flows.*.{rcvbuf,sndbuf}=1MB",
    )


def over(scenario: Scenario, texts: Iterable[str]) -> Scenario:
    """The scenario with the values of `--set`."""
    values = dict[str, str]()
    for text in texts:
        key, value = _pair("--set", text, "KEY=VALUE, for example paths.wifi.loss=1%")
        if key in values:
            raise BadInput(f"mptcplab: --set {key} is given twice: {values[key]} and {value}")
        values[key] = value
    return scenario.vary(values) if values else scenario


def variations(texts: Sequence[str]) -> dict[str, list[str]]:
    """Keys and their values, of `--vary`."""
    vary = dict[str, list[str]]()
    for text in texts:
        key, values = _pair("--vary", text, "KEY=VALUE,VALUE, for example paths.wifi.loss=0%,1%,5%")
        chosen = split(values)
        if not all(chosen):
            raise BadInput(f"mptcplab: --vary {text}: one of its values is empty; write KEY=VALUE,VALUE")
        if key in vary:
            raise BadInput(f"mptcplab: --vary {key} is given twice; write all of its values in one: {key}=V1,V2,V3")
        for other in vary:
            if same_key(key, other):
                raise BadInput(f"mptcplab: --vary {key} sets what --vary {other} sets, too; leave one of them out")
        twice = [value for at, value in enumerate(chosen) if value in chosen[:at]]
        if twice:
            raise BadInput(f"mptcplab: --vary {text}: {twice[0]} is there twice")
        vary[key] = chosen
    return vary


def same_key(one: str, other: str) -> bool:
    """Whether two keys, with `*` and braces, can mean the same."""

    def parts(key: str) -> Iterator[tuple[str, ...]]:
        before, brace, rest = key.partition("{")
        inside, closed, after = rest.partition("}")
        if not (brace and closed):
            yield tuple(key.split("."))
            return
        for choice in inside.split(","):
            yield from parts(f"{before}{choice.strip()}{after}")

    return any(
        len(mine) == len(its) and all(a == b or "*" in (a, b) for a, b in zip(mine, its, strict=True))
        for mine in parts(one)
        for its in parts(other)
    )


def point(scenario: Scenario, values: Mapping[str, str]) -> Scenario:
    """The scenario at one point of a sweep; errors say `--vary`."""
    from mptcplab import ScenarioError

    try:
        return scenario.vary(values)
    except ScenarioError as error:
        raise BadInput(str(error).replace("--set:", "--vary:", 1)) from error


def split(values: str) -> list[str]:
    """Values at their commas; those within brackets, braces or quotes are of the value."""
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
    from mptcplab.inputs import readable

    key, equals, value = readable(text).partition("=")
    if not equals or not key.strip() or not value.strip():
        raise BadInput(f"mptcplab: {option} {text}: write {grammar}")
    return key.strip(), value.strip()
