"""The report of a reproduction: one page that needs nothing else, figures, facts, data.

Owns files and HTML. Judges nothing, computes nothing.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mptcplab import __version__
from mptcplab.drawing import draw
from mptcplab.export import write_json, write_parquet
from mptcplab.files import folder, write_bytes, write_text
from mptcplab.reproduce import Reproduction
from mptcplab.studies.base import Experiment, Fact, Outcome, Picture, Study

VERDICTS = ("holds", "contradicted", "fails")
MEANING = {
    "holds": "hold",
    "contradicted": "where the sources contradict each other",
    "fails": "fail",
}


def facts_rows(found: Reproduction) -> list[dict[str, Any]]:
    """The facts as facts.json has them."""
    return [asdict(fact) for fact in found.facts]


def write_report(found: Reproduction, directory: Path) -> None:
    """Writes `index.html facts.json figures/ data/`."""
    figures, data = folder(directory, "figures"), folder(directory, "data")
    pictures = [picture for outcome in found.outcomes.values() for picture in outcome.pictures]
    drawn = draw({picture.name: picture.figure for picture in pictures})
    for name, drawing in drawn.items():
        write_bytes(figures / f"{name}.svg", drawing.svg)
        write_bytes(figures / f"{name}.png", drawing.png)
    write_json(facts_rows(found), directory / "facts.json")
    write_parquet(found.runs.flows, data / "flows.parquet")
    write_parquet(found.runs.paths, data / "paths.parquet")
    write_text(directory / "index.html", page(found, {name: drawing.svg for name, drawing in drawn.items()}))


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
real Multipath TCP in a simulated network; every statement that its authors made is held against what was measured
here.</p>
{unfinished}
<section class="cards">{cards}</section>
{studies}
<footer class="small soft">
<p>mptcplab {html.escape(__version__)}, effort <code>{found.effort.name}</code>: {len(found.runs)} runs,
{found.data_packets / 1e6:.1f} million data packets. The same command gives the same numbers on every machine:
<code>mptcplab reproduce</code>. Beside this page: <a href="facts.json">facts.json</a>, <code>figures/</code> (SVG and
PNG), <code>data/</code> (Parquet, a row for each run).</p>
<p>A fact <b>holds</b> when its test holds on the measurements. It is <b>contradicted</b> when the sources exclude each
other, so that no network can meet both; then each was run, and the reason says which meets what. It <b>fails</b>
otherwise.</p>
</footer>
</main>
</body>
</html>
"""


def _of(facts: Sequence[Fact], study: Study) -> list[Fact]:
    return [fact for fact in facts if fact.study == study.name]


def _counts(facts: Sequence[Fact]) -> str:
    count = {verdict: sum(fact.verdict == verdict for fact in facts) for verdict in VERDICTS}
    bar = "".join(
        f'<span class="{verdict}" style="width:{100 * number / len(facts):.2f}%"></span>'
        for verdict, number in count.items()
        if number
    )
    words = "".join(
        f'<span class="{verdict}"><b>{number}</b> {MEANING[verdict]}</span>'
        for verdict, number in count.items()
        if number or verdict != "contradicted"
    )
    return f'<div class="bar" aria-hidden="true">{bar}</div><div class="counts">{words}</div>' if facts else ""


def _card(study: Study, facts: Sequence[Fact]) -> str:
    return (
        f'<div class="card"><h3><a class="title" href="#{study.name}">{study.letter}: {_text(study.title)}</a></h3>'
        f'<div class="small soft">{_text(study.source)}</div>{_counts(facts)}</div>'
    )


def _study(study: Study, found: Reproduction, pictures: dict[str, bytes]) -> str:
    shown = [
        (experiment, found.outcomes[study.name, experiment.name])
        for experiment in study.experiments
        if (study.name, experiment.name) in found.outcomes
    ]
    links = " · ".join(
        f'<a href="#{_anchor(experiment)}">{experiment.name} {_text(experiment.title)}</a>' for experiment, _ in shown
    )
    sections = "".join(_experiment(experiment, outcome, pictures) for experiment, outcome in shown)
    return (
        f'<section id="{study.name}"><h2>{study.letter}: {_text(study.title)}</h2>'
        f'<p class="lead">{_text(study.summary)}</p><nav class="small">{links}</nav>{sections}</section>'
    )


def _experiment(experiment: Experiment, outcome: Outcome, pictures: dict[str, bytes]) -> str:
    figures = "".join(_figure(picture, pictures[picture.name]) for picture in outcome.pictures)
    facts = "".join(_fact(fact) for fact in outcome.facts)
    wide = any(picture.figure.get_figwidth() > 8 for picture in outcome.pictures)
    body = (
        f'<div class="beside">{figures}<div class="columns">{facts}</div></div>'
        if wide
        else f'<div class="beside narrow"><div class="stays">{figures}</div><div>{facts}</div></div>'
    )
    return (
        f'<article class="experiment" id="{_anchor(experiment)}"><h3>{experiment.name}: {_text(experiment.title)}</h3>'
        f'<p class="soft">{_text(experiment.setup)}</p>{body}</article>'
    )


def _anchor(experiment: Experiment) -> str:
    return f"{experiment.study}-{experiment.name}".lower()


def _figure(picture: Picture, drawing: bytes) -> str:
    encoded = base64.b64encode(drawing).decode("ascii")
    return (
        f'<figure><img alt="{_text(picture.caption)}" src="data:image/svg+xml;base64,{encoded}">'
        f'<figcaption>{_text(picture.caption)} <a href="figures/{picture.name}.svg">SVG</a> '
        f'<a href="figures/{picture.name}.png">PNG</a></figcaption></figure>'
    )


def _fact(fact: Fact) -> str:
    reason = f"<dt>why</dt><dd>{_text(fact.reason)}</dd>" if fact.reason else ""
    return (
        f'<div class="fact {fact.verdict}"><p><span class="badge {fact.verdict}">{fact.verdict}</span>'
        f'<b>{fact.fact}</b> <span class="soft small">{_text(fact.experiment)}</span></p>'
        f"<p>{_text(fact.statement[0].upper() + fact.statement[1:])}.</p><dl><dt>published</dt>"
        f"<dd>{_text(fact.published)}</dd><dt>measured</dt><dd>{_lines(fact.measured)}</dd>{reason}</dl></div>"
    )


def _text(text: str) -> str:
    return html.escape(text)


def _lines(measured: str) -> str:
    """What was measured, a line for each variant in brackets."""
    return _text(measured).replace("; [", "<br>[")
