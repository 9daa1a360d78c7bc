"""Report text on the sensitivity of verdicts: which planted errors and other seeds change the verdict on a claim.

Owns a table of errors and studies, and a line for each claim of a publication. `sensitivity` owns the record of the
verdicts with and without each planted error.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache

from mptcplab.reproduce import sensitivity
from mptcplab.reproduce.mutants import MUTANTS
from mptcplab.reproduce.sensitivity import Record
from mptcplab.studies.base import Fact
from mptcplab.util.user_input import BadResult


@cache
def _record() -> Record | None:
    """The record that mptcplab ships; None if it is missing."""
    try:
        return sensitivity.read(sensitivity.SHIPPED)
    except BadResult:
        return None


def words(name: str) -> str:
    """The description of a planted error; its name if no mutant has this name."""
    return MUTANTS[name].words if name in MUTANTS else name


def of_claim(fact: str) -> str:
    """The errors that make a claim fail, as HTML."""
    record = _record()
    if record is None or fact not in record["before"]:
        return "not recorded"
    turned = sensitivity.turned_by(record, fact)
    if turned is None:
        return f"not tested; verdict without errors: {html.escape(record['before'][fact])}"
    if not turned:
        return f'<span class="none">none of {len(record["turned"])} errors makes this claim fail</span>'
    return ", ".join(f'<span title="{html.escape(words(name))}">{html.escape(name)}</span>' for name in turned)


def of_seeds(fact: str) -> str:
    """The verdicts of a claim by blocks of seeds, if they differ; otherwise empty."""
    found = sensitivity.by_seeds().get(fact)
    if not found or len(set(found.values())) < 2:
        return ""
    listed = ", ".join(f"{html.escape(verdict)} with seeds from {first}" for first, verdict in found.items())
    return f"the verdict depends on the seeds: {listed}"


def how(record: Record) -> str:
    """The effort and seeds of a record."""
    run = record["run"]
    seeds = f", {run['seeds']} seeds per point" if "seeds" in run else ""
    return f"effort {run['effort']}{seeds}, seeds from {run['seeds_from']}"


def _unnoticed(record: Record, silent: Sequence[str]) -> str:
    """The planted errors that make no claim of this report fail, and which of them other experiments notice."""
    if not silent:
        return "Each error makes at least one claim fail."
    nobody = sensitivity.unnoticed(record)
    elsewhere = [name for name in silent if name not in nobody]
    message = f"No claim of this report fails with: {', '.join(map(html.escape, silent))}."
    if not elsewhere:
        return message
    which = "these" if len(elsewhere) == len(silent) else ", ".join(map(html.escape, elsewhere))
    return f"{message} Claims of other experiments fail with {which}."


def section(facts: Sequence[Fact]) -> str:
    """The folded table of errors and studies."""
    record = _record()
    if record is None:
        return ""
    studies = {fact.fact: fact.study for fact in facts}
    table = sensitivity.matrix(record, studies)
    names = list(dict.fromkeys(studies.values()))
    held = [fact for fact, verdict in record["before"].items() if verdict == "holds" and fact in studies]
    silent = [fact for fact in held if not sensitivity.turned_by(record, fact)]
    head = "".join(f'<th class="number">{html.escape(name)}</th>' for name in names)
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(words(name))}</td>"
        + "".join(f'<td class="number">{row[study] or "–"}</td>' for study in names)
        + f'<td class="number">{sum(row.values())}</td></tr>'
        for name, row in table.items()
    )
    message = _unnoticed(record, [name for name, row in table.items() if not sum(row.values())])
    alone = (
        f"{len(silent)} of the {len(held)} claims that hold do not fail with any of these errors: "
        f"{', '.join(silent) or 'none'}."
    )
    return (
        f"<details><summary>{len(table)} planted errors, and the claims that fail with them</summary>"
        f"<p>Each error was planted in every scenario ({html.escape(how(record))}). The numbers count claims that held "
        f"without the error and fail with it. {message} {alone}</p>"
        f'<div class="wide"><table><thead><tr><th>error</th><th>change in every scenario</th>{head}'
        f'<th class="number">all</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )
