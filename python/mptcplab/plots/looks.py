"""Looks of curves and bars: colour, line style, marker and hatch. No two series of a figure share a look.

Colours stay apart for readers with colour vision deficiency, and the pairs of marker and line style stay apart in grey.
Never draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["HATCHES", "LINES", "LOOKS", "Look", "looks", "related_looks"]


@dataclass(frozen=True)
class Look:
    """Colour, line and marker of a curve, and the hatch of a bar."""

    color: str
    line: Any = "-"
    """A line style of matplotlib: a name, or an offset and lengths in points."""
    marker: str = "o"
    hatch: str = ""
    is_filled: bool = False
    """Whether markers of sweeps are filled. Open markers show the curves behind them."""

    @property
    def curve(self) -> tuple[Any, ...]:
        """The parts that distinguish curves."""
        return self.color, self.line, self.marker, self.is_filled

    @property
    def bar(self) -> tuple[str, str]:
        """The parts that distinguish bars and boxes."""
        return self.color, self.hatch


# Most of the colours are those of Okabe and Ito.
LOOKS: Mapping[str, Look] = {
    "mptcp": Look("#0b5394", "-", "o", ""),
    "wifi": Look("#d55e00", "--", "s", "///"),
    "3g": Look("#009e73", ":", "^", "..."),
    "ethernet": Look("#8a3ffc", "-.", "D", "xxx"),
    "lia": Look("#0b5394", "-", "o", ""),
    "olia": Look("#d55e00", "--", "s", "///"),
    "balia": Look("#009e73", ":", "^", "..."),
    "wvegas": Look("#8a3ffc", "-.", "D", "xxx"),
    "reno": Look("#cc79a7", "-.", "v", "\\\\\\"),
    "cubic": Look("#666666", (0, (5, 1, 1, 1)), "P", "++"),
    "model": Look("#222222", "--", "", ""),
    "model 2": Look("#777777", ":", "", ""),
    "sum": Look("#222222", "-", "", ""),
}
"""Names with the same look in every figure."""

COLOURS = ("#0b5394", "#d55e00", "#009e73", "#8a3ffc", "#e69f00", "#56b4e9", "#222222")
"""Colours of all other names."""
MARKERS = ("o", "P", "s", "X", "^", "<", "D", "d", "v", ">")
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "---")


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name: known names keep their looks, others get the remaining ones. All looks differ."""
    kept: dict[str, Look] = {}
    for name in names:
        if name in LOOKS and LOOKS[name] not in kept.values():
            kept[name] = LOOKS[name]
    spare = _remaining(list(kept.values()))
    return {name: kept[name] if name in kept else next(spare) for name in dict.fromkeys(names)}


def related_looks(names: Sequence[str], others: Sequence[str]) -> dict[tuple[str, str], Look]:
    """Looks for all pairs: colour and marker follow the first name, line style, filling and hatch the second."""
    main = looks(names)
    return {
        (name, other): replace(
            main[name],
            line=LINES[at % len(LINES)],
            hatch=HATCHES[at % len(HATCHES)],
            is_filled=at >= len(LINES),
        )
        for name in main
        for at, other in enumerate(others)
    }


def _remaining(kept: Sequence[Look]) -> Iterator[Look]:
    """Looks that differ from those in `kept`, first those with further colours."""
    colours = {look.color for look in kept}
    curves, bars = {look.curve[1:3] for look in kept}, {look.bar for look in kept}
    first = sorted(range(len(COLOURS)), key=lambda at: COLOURS[at] in colours)
    for at in itertools.chain(first, itertools.count(len(COLOURS))):
        look = _numbered(at)
        if look.curve[1:3] not in curves and look.bar not in bars:
            yield look


def _numbered(at: int) -> Look:
    """Look number `at`. Of the first 50, all differ in marker or line style, and as bars; of 35, in colour or line."""
    turn, line = divmod(at, len(LINES))
    marker = MARKERS[(turn + 2 * line) % len(MARKERS)]
    return Look(COLOURS[at % len(COLOURS)], LINES[line], marker, HATCHES[at % len(HATCHES)])
