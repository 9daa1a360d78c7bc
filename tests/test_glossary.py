"""The glossary: short, found from where its terms are first used, and with the terms that summaries print."""

from __future__ import annotations

import re
from pathlib import Path

from mptcplab.results.text import reasons

ROOT = Path(__file__).parents[1]
GLOSSARY = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
TERMS = [row.split(" | ")[0].removeprefix("| ") for row in GLOSSARY.splitlines() if row.startswith("| ")][1:]
MOST = 60


def test_the_glossary_is_short_and_has_the_terms_that_readers_asked_for() -> None:
    asked = "subflow DSN DSS DATA_ACK scheduler reinjection Nagle M1 M2 LIA OLIA BALIA goodput throughput capacity BDP"
    assert len(TERMS) <= MOST
    assert TERMS[:-1] == sorted(TERMS[:-1], key=str.lower)
    words = " ".join(TERMS)
    phrases = (
        "bufferbloat",
        "path manager",
        "head-of-line blocking",
        "coupled congestion control",
        "receive window",
        "send buffer",
    )
    printed = (reasons.WORDS["bottleneck"], "sender's view", "aggregation benefit")
    assert [term for term in (*asked.split(), *phrases, *printed) if term not in words] == []


def test_pages_lead_to_the_glossary_and_the_readme_explains_m1_and_m2_at_once() -> None:
    for page in ("README.md", "docs/guide.md"):
        assert "glossary.md)" in (ROOT / page).read_text(encoding="utf-8"), page
    readme = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    for name, long in (("M1", "opportunistic retransmission"), ("M2", "penalisation")):
        assert f"{name} ({long})" in readme[readme.index(name) : readme.index(name) + 60]


def test_a_word_with_two_meanings_has_both() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    [entry] = [line for line in glossary.splitlines() if line.startswith("| utilisation |")]
    assert "Of a link" in entry
    assert "Of a path" in entry


def test_the_readme_says_what_works_on_which_system() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Operating systems") : readme.index("## License")]
    words = ("Linux", "WSL2", "macOS", "Windows", "make other-systems", "untested")
    assert [word for word in words if word not in section] == []
