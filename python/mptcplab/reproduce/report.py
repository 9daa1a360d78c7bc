"""The report of a reproduction: one self-contained page with figures, claims and data.

A reproduction runs the experiments of published studies and gives a verdict, such as *holds*, on each claim. Owns files
and HTML. Judges and computes nothing.
"""

from __future__ import annotations

import base64
import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mptcplab import __version__
from mptcplab.plots.parallel_drawing import Drawing, draw
from mptcplab.reproduce import sensitivity_text
from mptcplab.reproduce.runner import Reproduction
from mptcplab.results.write.export import write_parquet
from mptcplab.studies import all_studies, studies_by_default
from mptcplab.studies.base import Effort, Experiment, Fact, Outcome, Picture, Study
from mptcplab.studies.verdicts import VERDICTS, Origin, Verdict, counted
from mptcplab.util.files import folder, write_bytes, write_text
from mptcplab.util.git_commit import commit
from mptcplab.util.json_files import write_json

MEANING: dict[Verdict, str] = {
    "fails": "fail",
    "undecided": "undecided",
    "depends": "depend on an unspecified setting",
    "contradicted": "contradicted by another statement of the source",
    "holds": "hold",
}
LEGIBLE = 66
"""Pixels per inch of a figure below which its text is unreadable; on narrower screens, the figure scrolls."""
_OPTION, _KEPT = re.compile(r"(--\w+)"), r'<span class="whole">\1</span>'
"""Keeps an option on one line."""
ORIGIN: dict[Origin, str] = {
    "published": "published by the sources",
    "ours": "of mptcplab itself (theory, controls, extensions)",
    "by construction": "true by construction of the model",
}
MARK: dict[Origin, str] = {"published": "published", "ours": "mptcplab's own", "by construction": "by construction"}
"""The marks of claims in the report."""


def facts_rows(found: Reproduction) -> list[dict[str, Any]]:
    """The claims as rows of facts.json."""
    return [fact.row() for fact in found.facts]


def write_report(found: Reproduction, directory: Path, drawn: Mapping[str, Drawing] | None = None) -> None:
    """Writes `index.html facts.json figures/ scenarios/ data/`; draws the figures that `drawn` lacks."""
    figures, data = folder(directory, "figures"), folder(directory, "data")
    have = dict(drawn or {})
    have |= draw(
        {name: figure for name, figure in found.figures.items() if name not in have}, dots=dotted(found.effort)
    )
    for name, drawing in have.items():
        write_bytes(figures / f"{name}.svg", drawing.svg)
        if drawing.png is not None:
            write_bytes(figures / f"{name}.png", drawing.png)
    write_json(facts_rows(found), directory / "facts.json")
    scenarios = folder(directory, "scenarios")
    experiments = {(one.study, one.name): one for study in found.studies for one in study.experiments}
    for where, points in found.points.items():
        first = next((point for point in points if point.key[:1] == (experiments[where].judged,)), points[0])
        write_text(scenarios / f"{where[1]}.toml", experiments[where].mark(first.scenario).to_toml())
    write_parquet(found.runs.flows, data / "flows.parquet")
    write_parquet(found.runs.paths, data / "paths.parquet")
    write_text(directory / "index.html", page(found, {name: drawing.svg for name, drawing in have.items()}))


def dotted(effort: Effort) -> bool:
    """Whether figures are also drawn as PNG, which the quick effort omits."""
    return effort.name != "quick"


def page(found: Reproduction, pictures: dict[str, bytes]) -> str:
    """The HTML page; `pictures` has each figure as SVG."""
    style = (Path(__file__).with_name("report.css")).read_text(encoding="utf-8")
    cards = "".join(_card(study, _of(found.facts, study)) for study in found.studies)
    studies = "".join(_study(study, found, pictures) for study in found.studies)
    unfinished = (
        f"<p><b>Interrupted:</b> {found.missing} experiments are not shown, because some of their runs are missing.</p>"
        if found.missing
        else ""
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>mptcplab: studies of Multipath TCP, run again ({len(found.studies)})</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>Studies of Multipath TCP, run again</h1>
<p class="effort">{_effort(found)}</p>
<p class="lead">{sources(found.studies)} mptcplab ran their experiments in simulated networks and tested each claim
against 95% intervals over several runs.</p>
{unfinished}
{_summary(found)}
<section class="cards">{cards}</section>
{_verdicts_explained()}
{_weak(found)}
{sensitivity_text.section(found.facts)}
{studies}
<footer class="small soft">
<p>mptcplab {html.escape(__version__)}{_commit()}, effort <code>{found.effort.name}</code>, first seed
{found.effort.first}, {len(found.runs)} runs,
{found.data_packets / 1e6:.1f} million data packets. The same command gives the same numbers on every machine:
<code>{html.escape(command(found, *asked(found)))}</code>. This directory also has <a href="facts.json">facts.json</a>,
<code>figures/</code>
(SVG and PNG), <code>scenarios/</code> (the first scenario of each experiment), <code>data/</code> (Parquet, a row for
each run).</p>
</footer>
</main>
</body>
</html>
"""


EFFORTS: Mapping[str, str] = {
    "quick": "coarse grids of parameter values, 2 or 3 seeds per point, and many undecided claims",
    "default": "default grids of parameter values, 2 to 40 seeds per point",
    "full": "fine grids of parameter values, and blocks of 20 seeds that must agree",
}


def _effort(found: Reproduction) -> str:
    """The effort, seeds and number of runs, as text."""
    effort = found.effort
    words = EFFORTS[effort.name]
    if effort.exactly:
        words = f"{words.split(',')[0]}, exactly {effort.exactly} seeds per point"
    return f"Effort: <code>{effort.name}</code> ({_text(words)}). First seed {effort.first}; {len(found.runs):,} runs."


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sources(studies: Sequence[Study]) -> str:
    """The types of sources of some studies, in a sentence."""

    if not studies:
        return ""

    def number(count: int) -> str:
        return _NUMBERS[count] if count < len(_NUMBERS) else str(count)

    kinds = Counter(study.kind for study in studies)
    parts = []
    for kind, count in kinds.most_common():
        again = Counter(study.reproduces for study in studies if study.kind == kind and study.reproduces)
        of_it = "".join(
            f" ({number(many) if many < count else 'both' if count == 2 else 'all' if count > 2 else 'it'} "
            f"{'reproduces' if many == 1 else 'reproduce'} a paper of {_text(paper)})"
            for paper, many in again.items()
        )
        plural = "studies" if kind == "study" else f"{kind}s"
        parts.append(f"{number(count)} {plural if count > 1 else kind}{of_it}")
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    total = number(len(studies)).capitalize()
    return f"{total} source{'s' * (len(studies) > 1)}: {listed}."


def _verdicts_explained() -> str:
    return """<details><summary>How to read the verdicts</summary>
<p>A claim <b>holds</b> if its interval is inside the range that the source states, and <b>fails</b> if it is outside.
It is <b>undecided</b> if the interval contains a bound of the range, or if blocks of twenty seeds disagree
(<code>--full</code>). It <b>depends</b> if the verdict changes with a setting that the source does not specify.
It is <b>contradicted</b> if two quoted sentences exclude each other. A failed claim is a result. The cause is in the
study, in this program, or in a difference that the source does not state.</p>
<p>Claims marked <i>mptcplab's own</i> are controls and theory, and were not published. Claims marked <i>by
construction</i> follow from the model and show nothing about real networks.</p>
<p>Under each claim, <i>planted errors</i> lists the errors that make it fail: <code>mptcplab reproduce --mutate</code>
plants each error in every scenario. If no planted error makes a claim fail, the claim says little about the
protocol.</p></details>"""


def _of(facts: Sequence[Fact], study: Study) -> list[Fact]:
    return [fact for fact in facts if fact.study == study.name]


def _summary(found: Reproduction) -> str:
    rows = []
    for origin, words in ORIGIN.items():
        facts = [fact for fact in found.facts if fact.origin == origin]
        if facts:
            rows.append(
                f"<li><b>{len(facts)}</b> claims {words}: {_text(counted(facts))}{_held_out(found, facts)}</li>"
            )
    return f"<ul>{''.join(rows)}</ul>"


def _held_out(found: Reproduction, facts: Sequence[Fact]) -> str:
    """Of the claims that hold: the numbers of held-out ones and of those used for calibration."""
    fitted = frozenset(fact for study in found.studies for fact in study.fitted)
    holding = [fact.fact for fact in facts if fact.verdict == "holds"]
    on = sum(fact in fitted for fact in holding)
    return (
        f" (of the claims that hold, {len(holding) - on} are held out and {on} were used for calibration)" if on else ""
    )


def _weak(found: Reproduction) -> str:
    """The published claims that do not hold, by verdict."""
    parts = []
    for verdict in VERDICTS:
        facts = [fact for fact in found.facts if fact.origin == "published" and fact.verdict == verdict]
        if not facts or verdict == "holds":
            continue
        items = "".join(
            f'<li><a href="#{fact.study}-{fact.experiment.lower()}">{fact.fact}</a> {_text(fact.statement)}</li>'
            for fact in facts
        )
        parts.append(
            f'<h3><span class="badge {verdict}">{verdict}</span> {len(facts)} published claims</h3><ul>{items}</ul>'
        )
    if not parts:
        return ""
    number = sum(fact.origin == "published" and fact.verdict != "holds" for fact in found.facts)
    words = f"{number} published claims that do not hold"
    return f'<details class="weak"><summary>{words}</summary>{"".join(parts)}</details>'


def _counts(facts: Sequence[Fact]) -> str:
    published = [fact for fact in facts if fact.origin == "published"]
    count = {verdict: sum(fact.verdict == verdict for fact in published) for verdict in VERDICTS}
    bar = "".join(
        f'<span class="{verdict}" style="width:{100 * number / len(published):.2f}%"></span>'
        for verdict, number in count.items()
        if number
    )
    words = "".join(
        f'<span class="{verdict}"><b>{number}</b> {MEANING[verdict]}</span>'
        for verdict, number in count.items()
        if number
    )
    rest = {origin: [fact for fact in facts if fact.origin == origin] for origin in ORIGIN if origin != "published"}
    apart = "; ".join(f"{MARK[origin]}: {counted(some)}" for origin, some in rest.items() if some)
    comparison = f'<div class="small soft">{_text(apart)}</div>' if apart else ""
    return (
        f'<div class="bar" aria-hidden="true">{bar}</div><div class="counts">{words}</div>{comparison}'
        if published
        else ""
    )


def _card(study: Study, facts: Sequence[Fact]) -> str:
    return (
        f'<div class="card"><h3><a class="title" href="#{study.name}">{study.letter}: {_text(study.title)}</a></h3>'
        f'<div class="small soft">{_kind(study)}</div>{_counts(facts)}</div>'
    )


def _kind(study: Study) -> str:
    kind = study.kind[0].upper() + study.kind[1:]
    return f"{_text(kind)}{f', reproduces {_text(study.reproduces)}' if study.reproduces else ''}"


def asked(found: Reproduction) -> list[str]:
    """The selected studies and experiments; empty for all studies."""
    known, _ = all_studies()
    names = [name for study in found.studies for name in _parts(study)]
    return [] if names == list(studies_by_default(known)) else names


def _parts(study: Study) -> list[str]:
    """The name of a study, or the names of its selected experiments if not all are selected."""
    known, _ = all_studies()
    own = [experiment.name for experiment in study.experiments]
    if study.name not in known or own == [experiment.name for experiment in known[study.name].experiments]:
        return [study.name]
    return [f"{study.name}/{name}" for name in own]


def command(found: Reproduction, *studies: str) -> str:
    """The command that repeats this report."""
    words = ["mptcplab", "reproduce", *studies]
    words += [] if found.effort.name == "default" else [f"--{found.effort.name}"]
    words += [] if found.effort.first == 1 else ["--seeds-from", str(found.effort.first)]
    words += ["--seeds", str(found.effort.exactly)] if found.effort.exactly else []
    return " ".join(words)


def _commit() -> str:
    known = commit()
    return f" (commit {_text(known)})" if known else ""


def _study(study: Study, found: Reproduction, pictures: dict[str, bytes]) -> str:
    shown = [
        (experiment, found.outcomes[study.name, experiment.name])
        for experiment in study.experiments
        if (study.name, experiment.name) in found.outcomes
    ]
    sections = "".join(_experiment(study, experiment, outcome, pictures, found) for experiment, outcome in shown)
    return (
        f'<section id="{study.name}"><h2>{study.letter}: {_text(study.title)}</h2>'
        f'<p class="small soft">{_kind(study)}: {_text(study.source)}.</p>'
        f'<p class="lead">{_text(study.summary)}</p>'
        f"{_assumptions(study)}{sections}</section>"
    )


def _assumptions(study: Study) -> str:
    if not study.assumptions:
        return ""
    rows = "".join(
        f"<tr><td>{_text(one.what)}</td><td>{_text(one.taken)}</td><td>{_text(one.why)}</td><td>"
        + ("before seeing results" if one.after is None else _after(one.after))
        + "</td></tr>"
        for one in study.assumptions
    )
    return (
        "<details><summary>Settings that the source does not specify</summary><table><thead><tr><th>not "
        "specified</th><th>value "
        f"used</th><th>reason</th><th>time of the choice</th></tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _provenance(study: Study, experiment: Experiment, found: Reproduction) -> str:
    """Scenario, command, seeds, duration and warm-up."""
    points = found.points[study.name, experiment.name]
    seeds = sorted({point.seed for point in points})
    longest = sorted({point.scenario.duration for point in points})
    warmup = sorted({point.scenario.core.warmup for point in points})
    at_most = "at most " if any(point.scenario.core.until_done for point in points) else ""
    fewest = min(Counter(point.key for point in points).values())

    def span(values: Sequence[float]) -> str:
        return f"{values[0]:g}" if values[0] == values[-1] else f"{values[0]:g} to {values[-1]:g}"

    return (
        f'<p class="small soft">Scenario <a href="scenarios/{experiment.name}.toml">{experiment.name}.toml</a> and '
        f"{len({point.key for point in points}) - 1} further scenarios; seeds {span(seeds)}, at least {fewest} seeds "
        f"per point; runs of {at_most}{span(longest)} s, measured without the first {span(warmup)} s.</p>"
    )


def _experiment(
    study: Study, experiment: Experiment, outcome: Outcome, pictures: dict[str, bytes], found: Reproduction
) -> str:
    """An experiment: figures, verdict, claims with measurements, and set-up."""
    figures = "".join(_figure(picture, pictures[picture.name], found) for picture in outcome.pictures)
    facts = "".join(_fact(study, fact) for fact in outcome.facts)
    wide = any(picture.figure.get_figwidth() > 8 for picture in outcome.pictures)
    claims = f'<p class="verdict">{verdict_of(outcome.facts)}</p><div class="{"columns" if wide else ""}">{facts}</div>'
    body = (
        f'<div class="beside">{figures}<div>{claims}</div></div>'
        if wide
        else f'<div class="beside narrow"><div class="stays">{figures}</div><div>{claims}</div></div>'
    )
    how = (
        f'<details class="how"><summary>Setup, and how to repeat this experiment</summary><p>'
        f"{_OPTION.sub(_KEPT, _text(experiment.setup))}</p>"
        f"{_provenance(study, experiment, found)}{_again(study, experiment, found)}</details>"
    )
    return (
        f'<details class="experiment"><summary><b>{experiment.name}</b> {_text(experiment.title)} '
        f'<span class="tally">{_tally(outcome.facts)}</span></summary>'
        f'<div id="{_anchor(experiment)}">{body}{how}</div></details>'
    )


def _tally(facts: Sequence[Fact]) -> str:
    """The number of claims with each verdict, as badges."""
    count = {verdict: sum(fact.verdict == verdict for fact in facts) for verdict in VERDICTS}
    return "".join(
        f'<span class="badge {verdict}">{number} {verdict}</span>' for verdict, number in count.items() if number
    )


def verdict_of(facts: Sequence[Fact]) -> str:
    """The result of an experiment in a sentence."""
    published = [fact for fact in facts if fact.origin == "published"]
    some, words = (published, "published claim") if published else (facts, "control")
    if not some:
        return ""
    by = {verdict: [fact.fact for fact in some if fact.verdict == verdict] for verdict in reversed(VERDICTS)}
    verbs = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "depends": ("depends", "depend")}
    number = len(some)
    if len(by["holds"]) == number:
        return (
            f"{'Both' if number == 2 else 'The' if number == 1 else f'All {number}'} {words}{'s' * (number > 1)} "
            + ("holds." if number == 1 else "hold.")
        )

    def part(verdict: Verdict, names: Sequence[str]) -> str:
        verb = verbs.get(verdict, (f"is {verdict}", f"are {verdict}"))[len(names) != 1]
        return f"{len(names)} {verb}" + ("" if verdict == "holds" else f" ({', '.join(names)})")

    message = [part(verdict, names) for verdict, names in by.items() if names]
    listed = message[0] if len(message) == 1 else f"{', '.join(message[:-1])} and {message[-1]}"
    return f"Of {number} {words}{'s' * (number > 1)}, {listed}."


def _anchor(experiment: Experiment) -> str:
    return f"{experiment.study}-{experiment.name}".lower()


def _figure(picture: Picture, drawing: bytes, found: Reproduction) -> str:
    encoded = base64.b64encode(drawing).decode("ascii")
    least = LEGIBLE * picture.figure.get_figwidth()
    sentences = "".join(f"<li>{_text(sentence)}</li>" for sentence in picture.why)
    why = (
        f'<details class="why"><summary>Limiting factors, as measured</summary><ul>{sentences}</ul></details>'
        if sentences
        else ""
    )
    png = f' <a href="figures/{picture.name}.png">PNG</a>' if dotted(found.effort) else ""
    return (
        f'<figure><div class="drawing" tabindex="0"><img style="min-width:{least:.0f}px" '
        f'alt="{_text(picture.caption)}" src="data:image/svg+xml;base64,{encoded}"></div>'
        f'<figcaption>{_text(picture.caption)} <a href="figures/{picture.name}.svg">SVG</a>{png}</figcaption>'
        f"{why}</figure>"
    )


def _again(study: Study, experiment: Experiment, found: Reproduction) -> str:
    """The commands that repeat a figure and one of its runs."""
    where, file = f"{study.name}/{experiment.name}", f"{experiment.name}.toml"
    full = " --full" if found.effort.name == "full" else ""
    # `mptcplab study` prints no quick scenarios, which can have other durations.
    print_it = f"<code>mptcplab study {where}{full} --toml &gt; {file}</code>, then "
    return (
        f'<p class="again small soft">To draw the figure again: <code>{_text(command(found, *_parts(study)))}</code>. '
        f'To repeat one of its runs, <a href="scenarios/{file}">{file}</a>: '
        f"{'' if found.effort.name == 'quick' else print_it}"
        f"<code>mptcplab run {file}</code>. "
        f"To repeat all runs: <code>mptcplab study {where}{full} --output DIR</code>.</p>"
    )


def _fact(study: Study, fact: Fact) -> str:
    marks: list[str] = [] if fact.origin == "published" else [MARK[fact.origin]]
    marks += ["used for calibration"] if fact.fact in study.fitted else []
    mark = f' <span class="soft small">({"; ".join(marks)})</span>' if marks else ""
    both = (fact.exclusion.first, fact.exclusion.second) if fact.exclusion else ()
    quotes = "".join(f"<dt>{_text(quote.source)}</dt><dd>“{_text(quote.sentence)}”</dd>" for quote in both)
    rows = [("measured", _lines(fact.measured)), ("published", _text(fact.published))]
    rows += [("why", _text(fact.reason))] if fact.reason else []
    rows += [("planted errors", sensitivity_text.of_claim(fact.fact))]
    rows += [("other seeds", sensitivity_text.of_seeds(fact.fact))] if sensitivity_text.of_seeds(fact.fact) else []
    listed = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in rows)
    return (
        f'<div class="fact {fact.verdict}"><p><span class="badge {fact.verdict}">{fact.verdict}</span>'
        f"<b>{fact.fact}</b>{mark} {_text(fact.statement[0].upper() + fact.statement[1:])}.</p>"
        f"<dl>{quotes}{listed}</dl></div>"
    )


def _text(text: str) -> str:
    return html.escape(text)


def _lines(measured: str) -> str:
    """The measurements, with one line per variant in brackets."""
    return _text(measured).replace("; [", "<br>[")


def _after(facts: Sequence[str]) -> str:
    return f"after seeing results; calibrated on the claims {_text(', '.join(facts))}"
