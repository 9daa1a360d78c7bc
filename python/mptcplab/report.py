"""The report of a reproduction: one page that needs nothing else, figures, facts, data.

Owns files and HTML. Judges nothing, computes nothing.
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
from mptcplab.drawing import Drawing, draw
from mptcplab.export import write_parquet
from mptcplab.files import folder, write_bytes, write_text
from mptcplab.json_files import write_json
from mptcplab.reproduce import Reproduction
from mptcplab.studies.base import Effort, Experiment, Fact, Outcome, Picture, Study
from mptcplab.studies.published import marked
from mptcplab.studies.verdicts import VERDICTS, Origin, Verdict, counted
from mptcplab.version import commit

MEANING: dict[Verdict, str] = {
    "fails": "fail",
    "undecided": "undecided",
    "depends": "depend on what the source does not say",
    "contradicted": "where two sentences of sources exclude each other",
    "holds": "hold",
}
LEGIBLE = 66
"""Pixels to an inch of a figure below which its letters are not read; a narrower screen moves it sideways."""
_OPTION, _KEPT = re.compile(r"(--\w+)"), r'<span class="whole">\1</span>'
"""An option is not broken into two lines."""
ORIGIN: dict[Origin, str] = {
    "published": "published",
    "ours": "ours: theory, controls, what goes beyond",
    "by construction": "true by construction of the model",
}


def facts_rows(found: Reproduction) -> list[dict[str, Any]]:
    """The facts as facts.json has them."""
    return [fact.row() for fact in found.facts]


def write_report(found: Reproduction, directory: Path, drawn: Mapping[str, Drawing] | None = None) -> None:
    """Writes `index.html facts.json figures/ data/`; draws what nobody has drawn."""
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
        write_text(scenarios / f"{where[1]}.toml", marked(first.scenario, experiments[where]).to_toml())
    write_parquet(found.runs.flows, data / "flows.parquet")
    write_parquet(found.runs.paths, data / "paths.parquet")
    write_text(directory / "index.html", page(found, {name: drawing.svg for name, drawing in have.items()}))


def dotted(effort: Effort) -> bool:
    """Whether figures are drawn as PNG, too: a look has the page."""
    return effort.name != "quick"


def page(found: Reproduction, pictures: dict[str, bytes]) -> str:
    """The page; `pictures` has each figure as SVG."""
    style = (Path(__file__).parent / "assets" / "report.css").read_text(encoding="utf-8")
    cards = "".join(_card(study, _of(found.facts, study)) for study in found.studies)
    studies = "".join(_study(study, found, pictures) for study in found.studies)
    unfinished = (
        f"<p><b>Interrupted:</b> {found.missing} experiments lack runs and are not shown.</p>" if found.missing else ""
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>mptcplab: published studies, run again</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>Published studies of Multipath TCP, run again</h1>
<p class="lead">Multipath TCP lets one connection use several networks at once. Each study below was run again with a
real Multipath TCP in a simulated network, one network for each study. What its authors said is held against intervals
over many runs: a fact <b>holds</b> or <b>fails</b> where the 95 % interval lies inside or outside of what the source
says, and is <b>undecided</b> where it straddles, or with <code>--full</code> where blocks of twenty seeds disagree. It
<b>depends</b> where the source is silent about something that decides. A fact that fails is a result, of the study, of
this program, or of what neither knows of the other.</p>
{_summary(found)}
{unfinished}
<section class="cards">{cards}</section>
{_weak(found)}
{studies}
<footer class="small soft">
<p>mptcplab {html.escape(__version__)}{_commit()}, effort <code>{found.effort.name}</code>, seeds from
{found.effort.first}: {len(found.runs)} runs,
{found.data_packets / 1e6:.1f} million data packets. The same command gives the same numbers on every machine:
<code>{html.escape(command(found))}</code>. Beside this page: <a href="facts.json">facts.json</a>, <code>figures/</code>
(SVG and PNG), <code>scenarios/</code> (the first scenario of each experiment), <code>data/</code> (Parquet, a row for
each run).</p>
<p>A fact is <b>contradicted</b> where two sentences of sources, both quoted, cannot be met by any network together.
What is <i>ours</i> was not published: theory, controls and what goes beyond. What is true by construction of the model
says nothing about the world, and is counted apart.</p>
</footer>
</main>
</body>
</html>
"""


def _of(facts: Sequence[Fact], study: Study) -> list[Fact]:
    return [fact for fact in facts if fact.study == study.name]


def _summary(found: Reproduction) -> str:
    rows = []
    for origin, words in ORIGIN.items():
        facts = [fact for fact in found.facts if fact.origin == origin]
        if facts:
            rows.append(f"<li><b>{len(facts)}</b> {words}: {_text(counted(facts))}{_held_out(found, facts)}</li>")
    return f"<ul>{''.join(rows)}</ul>"


def _held_out(found: Reproduction, facts: Sequence[Fact]) -> str:
    """Of what holds, how much no assumption was fitted on."""
    fitted = frozenset(fact for study in found.studies for fact in study.fitted)
    holding = [fact.fact for fact in facts if fact.verdict == "holds"]
    on = sum(fact in fitted for fact in holding)
    return (
        f" (of the claims that hold, {len(holding) - on} are held out and {on} were used for calibration)" if on else ""
    )


def _weak(found: Reproduction) -> str:
    """What a reader should know first: published facts that do not simply hold, by verdict."""
    parts = []
    for verdict in VERDICTS:
        facts = [fact for fact in found.facts if fact.origin == "published" and fact.verdict == verdict]
        if not facts or verdict == "holds":
            continue
        items = "".join(
            f'<li><a href="#{fact.study}-{fact.experiment.lower()}">{fact.fact}</a> {_text(fact.statement)}</li>'
            for fact in facts
        )
        parts.append(f'<h3><span class="badge {verdict}">{verdict}</span> {len(facts)} published</h3><ul>{items}</ul>')
    return f'<section class="card weak"><h2>Claims that do not hold</h2>{"".join(parts)}</section>' if parts else ""


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
    apart = "; ".join(f"{origin}: {counted(some)}" for origin, some in rest.items() if some)
    beside = f'<div class="small soft">{_text(apart)}</div>' if apart else ""
    return (
        f'<div class="bar" aria-hidden="true">{bar}</div><div class="counts">{words}</div>{beside}' if published else ""
    )


def _card(study: Study, facts: Sequence[Fact]) -> str:
    return (
        f'<div class="card"><h3><a class="title" href="#{study.name}">{study.letter}: {_text(study.title)}</a></h3>'
        f'<div class="small soft">{_text(study.source)}</div>{_counts(facts)}</div>'
    )


def command(found: Reproduction, *studies: str) -> str:
    """What to type for the same."""
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
    links = " · ".join(
        f'<a href="#{_anchor(experiment)}">{experiment.name} {_text(experiment.title)}</a>' for experiment, _ in shown
    )
    sections = "".join(_experiment(study, experiment, outcome, pictures, found) for experiment, outcome in shown)
    return (
        f'<section id="{study.name}"><h2>{study.letter}: {_text(study.title)}</h2>'
        f'<p class="lead">{_text(study.summary)}</p><nav class="small">{links}</nav>'
        f"{_assumptions(study)}{sections}</section>"
    )


def _assumptions(study: Study) -> str:
    if not study.assumptions:
        return ""
    rows = "".join(
        f"<tr><td>{_text(one.what)}</td><td>{_text(one.taken)}</td><td>{_text(one.why)}</td><td>"
        + ("before looking" if one.after is None else _after(one.after))
        + "</td></tr>"
        for one in study.assumptions
    )
    return (
        "<details><summary>What the source does not say, and what was taken for it</summary><table><thead><tr>"
        f"<th>open</th><th>taken</th><th>why</th><th>chosen</th></tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _provenance(study: Study, experiment: Experiment, found: Reproduction) -> str:
    """Scenario, command, seeds, duration, warm-up."""
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
        f"{len({point.key for point in points}) - 1} more; seeds {span(seeds)}, {fewest} or more at each point; "
        f"{at_most}{span(longest)} s, the first {span(warmup)} left out.</p>"
    )


def _experiment(
    study: Study, experiment: Experiment, outcome: Outcome, pictures: dict[str, bytes], found: Reproduction
) -> str:
    figures = "".join(
        _figure(study, experiment, picture, pictures[picture.name], found) for picture in outcome.pictures
    )
    facts = "".join(_fact(study, fact) for fact in outcome.facts)
    wide = any(picture.figure.get_figwidth() > 8 for picture in outcome.pictures)
    body = (
        f'<div class="beside">{figures}<div class="columns">{facts}</div></div>'
        if wide
        else f'<div class="beside narrow"><div class="stays">{figures}</div><div>{facts}</div></div>'
    )
    return (
        f'<article class="experiment" id="{_anchor(experiment)}"><h3>{experiment.name}: {_text(experiment.title)}</h3>'
        f'<p class="soft">{_OPTION.sub(_KEPT, _text(experiment.setup))}</p>'
        f"{_provenance(study, experiment, found)}{body}</article>"
    )


def _anchor(experiment: Experiment) -> str:
    return f"{experiment.study}-{experiment.name}".lower()


def _figure(study: Study, experiment: Experiment, picture: Picture, drawing: bytes, found: Reproduction) -> str:
    encoded = base64.b64encode(drawing).decode("ascii")
    least = LEGIBLE * picture.figure.get_figwidth()
    sentences = "".join(f"<li>{_text(sentence)}</li>" for sentence in picture.why)
    why = f'<div class="why"><b>Why, as measured</b><ul>{sentences}</ul></div>' if sentences else ""
    png = f' <a href="figures/{picture.name}.png">PNG</a>' if dotted(found.effort) else ""
    return (
        f'<figure><div class="drawing" tabindex="0"><img style="min-width:{least:.0f}px" '
        f'alt="{_text(picture.caption)}" src="data:image/svg+xml;base64,{encoded}"></div>'
        f'<figcaption>{_text(picture.caption)} <a href="figures/{picture.name}.svg">SVG</a>{png}</figcaption>'
        f"{why}{_again(study, experiment, found)}</figure>"
    )


def _again(study: Study, experiment: Experiment, found: Reproduction) -> str:
    """How to repeat a figure, and one of its runs."""
    where, file = f"{study.name}/{experiment.name}", f"{experiment.name}.toml"
    full = " --full" if found.effort.name == "full" else ""
    # `study` has no quick scenarios, and some differ in their duration.
    print_it = f"<code>mptcplab study {where}{full} --toml &gt; {file}</code>, then "
    return (
        f'<p class="again small soft">The figure again: <code>{_text(command(found, study.name))}</code>. '
        f'One of its runs, <a href="scenarios/{file}">{file}</a>: {"" if found.effort.name == "quick" else print_it}'
        f"<code>mptcplab run {file}</code>. All: <code>mptcplab study {where}{full} --output DIR</code>.</p>"
    )


def _fact(study: Study, fact: Fact) -> str:
    reason = f"<dt>why</dt><dd>{_text(fact.reason)}</dd>" if fact.reason else ""
    marks: list[str] = [] if fact.origin == "published" else [fact.origin]
    marks += ["fitted on"] if fact.fact in study.fitted else []
    mark = f' <span class="soft small">({"; ".join(marks)})</span>' if marks else ""
    both = (fact.exclusion.first, fact.exclusion.second) if fact.exclusion else ()
    quotes = "".join(f"<dt>{_text(quote.source)}</dt><dd>“{_text(quote.sentence)}”</dd>" for quote in both)
    return (
        f'<div class="fact {fact.verdict}"><p><span class="badge {fact.verdict}">{fact.verdict}</span>'
        f"<b>{fact.fact}</b>{mark}</p>"
        f"<p>{_text(fact.statement[0].upper() + fact.statement[1:])}.</p><dl><dt>published</dt>"
        f"<dd>{_text(fact.published)}</dd>{quotes}<dt>measured</dt><dd>{_lines(fact.measured)}</dd>{reason}</dl></div>"
    )


def _text(text: str) -> str:
    return html.escape(text)


def _lines(measured: str) -> str:
    """What was measured, a line for each variant in brackets."""
    return _text(measured).replace("; [", "<br>[")


def _after(facts: Sequence[str]) -> str:
    return f"after seeing results; calibrated on {_text(', '.join(facts))}"
