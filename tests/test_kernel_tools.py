"""`tools/three-goals` and `tools/on-kernel`: coupled controllers and studies, on the kernel and in the simulator."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from emulated import Machine, cannot, machine
from mptcplab.backends import kernel_backend
from mptcplab.backends.kernel_backend import Report
from mptcplab.emulation import emulated_network
from mptcplab.results.run import Run
from mptcplab.scenario.definition import Scenario
from mptcplab.studies.base import Effort, Measured, Point
from tools_loaded import load

__all__ = ["machine"]


@pytest.fixture(scope="module")
def goals() -> ModuleType:
    return load("three-goals")


@pytest.fixture(scope="module")
def on_kernel() -> ModuleType:
    return load("on-kernel")


@pytest.mark.parametrize("stack", ["sim", "linux"])
def test_what_is_coupled_takes_one_share_and_two_renos_take_two(goals: ModuleType, stack: str) -> None:
    coupled, alone = (goals.measure(stack, name, 2, 1)["do no harm"] for name in ("lia", "reno"))
    assert max(coupled) < 1.4 < min(alone)


def test_the_table_has_the_kernel_beside_both_simulations(
    goals: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stack, value in (("kernel", 0.9), ("linux", 0.6), ("wire", 0.7), ("sim", 1.2)):
        figures = {goal: [value, value] for goal in goals.GOALS}
        kept = {"stack": stack, "controller": "olia", "figures": figures}
        (tmp_path / f"{stack}.json").write_text(json.dumps(kept))
    goals.table(sorted(tmp_path.iterdir()))
    assert "| OLIA | do no harm | 0.90, 0.90 | 0.90 | 0.60 | 1.50 | 0.70 | 1.20 |" in capsys.readouterr().out


def test_what_is_the_same_on_the_kernel_runs_once(on_kernel: ModuleType) -> None:
    points = list(on_kernel.experiment("cs244-rcvbuf/C1").points(Effort("quick")))
    of_size = {point.key[1]: on_kernel.same(point) for point in points if point.key[2] == 100 and point.seed == 1}
    assert of_size["M1"] == of_size["M1+M2"] == of_size["none"]
    assert len(set(of_size.values())) == 3
    with pytest.raises(SystemExit, match="cs244-wireless/A1"):
        on_kernel.experiment("cs244-rcvbuf/C9")


def test_the_study_s_code_judges_what_the_kernel_did(
    on_kernel: ModuleType, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    del machine
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    ran = kernel_backend.run

    def whatever_else_the_machine_did(scenario: Scenario, seed: int, *, closest: bool) -> tuple[Run, Report]:
        run, report = ran(scenario, seed, closest=closest)
        return run, replace(report, doubts=None)

    monkeypatch.setattr(kernel_backend, "run", whatever_else_the_machine_did)
    rows = on_kernel.on_kernel(_two_short(on_kernel), 2)
    assert [run.backend for _, run in rows] == ["kernel", "kernel"]
    found = Measured([(point.key, run) for point, run in rows])
    # 5 KB in 20 ms; less on a machine that has other things to do.
    assert 0 < found.mean(lambda run: run.flow()["goodput"], "wifi") < 2.2e6


def test_what_is_doubtful_runs_again_and_is_left_out_in_the_end(
    on_kernel: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def late(scenario: Scenario, seed: int, *, closest: bool) -> tuple[Run, Report]:
        assert closest
        asked.append(seed)
        doubts = "it stood still" if seed == 1 or asked.count(2) < 2 else None
        return scenario.run(seed), Report(seed, "", "6.18", [], [], None, doubts)

    monkeypatch.setattr(kernel_backend, "run", late)
    rows = on_kernel.on_kernel(_two_short(on_kernel), 1)
    assert asked == [1, 1, 1, 2, 2]
    assert [point.seed for point, _ in rows] == [2]
    assert "2 runs on the kernel for 2 points, 1 doubtful each time" in capsys.readouterr().out


def _two_short(on_kernel: ModuleType) -> list[Point]:
    """Two runs of two seconds."""
    first = next(iter(on_kernel.experiment("cs244-rcvbuf/C1").points(Effort("quick"))))
    short = first.scenario.vary({"duration": "2s", "warmup": "1s", "sample": "500ms"})
    return [Point(("wifi",), short, seed) for seed in (1, 2)]
