"""Numbers of seeds: more for undecided claims, blocks of seeds that agree, and comparison runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mptcplab.reproduce import runner as reproduction
from mptcplab.reproduce.runner import reproduce
from mptcplab.scenario.definition import Scenario
from mptcplab.stats.statistics import interval
from mptcplab.studies.base import Effort, Experiment, Measured, Outcome, Point, Study
from mptcplab.studies.verdicts import Bound, Check, Origin


def test_more_seeds_where_nothing_is_decided_and_other_blocks() -> None:
    assert list(Effort("default").seeds(2, 5, 20)) == [1, 2, 3, 4, 5]
    assert list(Effort("default", first=21, times=2).seeds(2, 5, 20)) == list(range(21, 31))
    assert len(Effort("default", times=100).seeds(2, 5, 20)) == 10
    assert len(Effort("full", times=100).seeds(2, 5, 10)) == 40
    assert len(Effort("full", times=100).seeds(2, 5, 40)) == 80
    assert len(Effort("quick", times=100).seeds(2, 5, 20)) == 2


def test_what_stands_beside_the_judged_network_gets_no_more_seeds() -> None:
    assert len(Effort("default", times=2).seeds(2, 5, 20, comparison=True)) == 5
    assert len(Effort("quick").seeds(3, 5, 20, comparison=True)) == 2
    assert len(Effort("quick").seeds(1, 5, 20, comparison=True)) == 1
    assert list(Effort("full", first=21, exactly=20).seeds(2, 5, 20, comparison=True)) == list(range(21, 41))


class Lucky(Experiment):
    """The measured value is higher for the first seeds, and constant for later ones."""

    study, name, title, setup = "toy", "lucky", "Luck", ""

    def points(self, effort: Effort) -> Iterator[Point]:
        path, flow = '[paths.one]\nrate = "1Mbit"\n', '[flows.flow]\ntransport = "tcp"\npaths = ["one"]\n'
        scenario = Scenario.parse(f'duration = "1s"\n{path}{flow}')
        return (Point(("it",), scenario, seed) for seed in effort.seeds(1, 1, 1))

    def evaluate(self, measured: Measured, effort: Effort) -> Outcome:
        until = self.until if effort.name == "full" else self.shorter
        values = [1.0 if seed < until else 0.4 for seed in effort.seeds(1, 1, 1)]
        assert len(measured.runs("it")) == len(values)
        spread = [value + at / 1000 for at, value in enumerate(values)]
        return Outcome([self.fact("T-1", "it is", published="0.5", checks=[Check("it", interval(spread), AT_LEAST)])])

    def __init__(self, until: int, shorter: int = 99) -> None:
        self.until, self.shorter = until, shorter


AT_LEAST = Bound("it", low=0.5)


@pytest.mark.parametrize(
    ("until", "verdict", "words"),
    [
        (99, "holds", ""),
        (1, "fails", ""),
        (5, "undecided", "holds, holds, fails; all seeds together: undecided"),
        (3, "undecided", "holds, fails, fails"),
    ],
)
def test_in_full_blocks_of_seeds_have_to_agree(
    until: int, verdict: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduction, "BLOCK", 2)
    toy = Study("toy", "T", "Toy", "", "", [Lucky(until)])
    (fact,) = reproduce([toy], Effort("full"), workers=1, quiet=True).facts
    assert fact.verdict == verdict, fact.reason
    assert words in fact.reason
    assert ("disagree" in fact.reason) == bool(words)


@pytest.mark.parametrize(
    ("until", "shorter", "verdict", "words"),
    [
        (99, 99, "holds", ""),
        (1, 1, "fails", ""),
        (99, 5, "undecided", "holds, holds, fails; longer runs: holds"),
        (1, 99, "fails", "With shorter runs, all blocks of seeds agree on: holds."),
    ],
)
def test_blocks_of_shorter_runs_qualify_what_longer_ones_say(
    until: int, shorter: int, verdict: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduction, "BLOCK", 2)
    toy = Study("toy", "T", "Toy", "", "", [Lucky(until, shorter)], short_blocks=True)
    (fact,) = reproduce([toy], Effort("full"), workers=1, quiet=True).facts
    assert fact.verdict == verdict, fact.reason
    assert words in fact.reason
    assert ("locks of " in fact.reason) == bool(words)


@pytest.mark.parametrize(("origin", "runs"), [("published", 2), ("ours", 1)])
def test_by_default_more_seeds_are_for_what_was_published(origin: Origin, runs: int) -> None:
    class Alone(Lucky):
        name = "alone"

        def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
            spread = [float(at) for at in range(len(measured.runs("it")))]
            check = Check("it", interval(spread), AT_LEAST)
            return Outcome([self.fact("T-1", "it is", published="0.5", checks=[check], origin=origin)])

    found = reproduce([Study("toy", "T", "Toy", "", "", [Alone(1)])], Effort("default"), workers=1, quiet=True)
    assert found.facts[0].verdict == "undecided"
    assert len(found.runs) == runs


def test_who_interrupts_while_something_is_judged_gets_what_was_judged_before() -> None:
    class Interrupting(Lucky):
        name = "interrupted"

        def evaluate(self, measured: Measured, effort: Effort) -> Outcome:  # noqa: ARG002
            raise KeyboardInterrupt

    settled: list[Outcome] = []
    first = Lucky(99)
    toy = Study("toy", "T", "Toy", "", "", [first, Interrupting(99)])
    found = reproduce([toy], Effort("default"), workers=1, quiet=True, settled=settled.append)
    assert list(found.outcomes) == [("toy", "lucky")]
    assert found.missing == 1
    assert settled == list(found.outcomes.values())
