"""Progress inside a run: how far it is, at which rate, and an end in its middle."""

from __future__ import annotations

import io
import time

import pytest

from conftest import TWO_PATHS
from mptcplab import Scenario, _core
from mptcplab.run.batch import Progress, progress_text

LONG = Scenario.parse(TWO_PATHS + '[limits]\nmemory = "100GB"\nevents = 100000000000\n')


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_batch_says_how_far_it_is_and_ends_in_the_middle() -> None:
    job = LONG.vary({"duration": "20000s", "sample": "100s", "warmup": "0s"}).core
    running = _core.Batch([(job, 1, None)], 1)
    seen: list[float] = []
    while len(seen) < 3:
        assert running.next(0.05) is None
        seen += [reached for at, reached in running.under_way() if at == 0 and reached > max(seen, default=0.0)]
    assert seen == sorted(seen)
    assert seen[-1] < 20000
    running.cancel()
    running.join()
    assert running.under_way() == []


def test_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_text(0, 1, 25.0, 100.0, 5.0) == (0.25, "25% of 1 min 40 s simulated, 5 times real time, 15 s left")
    assert progress_text(0, 30, 5232.6, 30780.0, 5.13)[1].startswith(
        "0 of 30, 17% of 8 h 33 min simulated, 1,020 times real time"
    )
    assert progress_text(1, 4, 0.0, 0.0, 5.0) == (0.25, "1 of 4, 15 s left")
    assert progress_text(0, 4, 0.0, 40.0, 5.0)[1].endswith("…")
    now = time.monotonic()
    for out, quiet, shows in ((Terminal(), False, True), (Terminal(), True, False), (io.StringIO(), False, False)):
        progress = Progress(1, "runs", quiet=quiet, out=out, length=100.0)
        monkeypatch.setattr(time, "monotonic", lambda: now + 30)
        progress.tick(0, 25.0)
        assert ("25% of 1 min 40 s simulated" in out.getvalue()) == shows
        monkeypatch.undo()
