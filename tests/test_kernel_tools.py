"""`tools/three-goals` and `tools/on-kernel`: coupled controllers and studies, on the kernel and in the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from emulated import Machine, cannot, machine
from mptcplab import emulation
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


def test_the_study_s_code_judges_what_the_kernel_did(on_kernel: ModuleType, machine: Machine) -> None:
    del machine
    if (why := emulation.why_no_mptcp()) is not None:
        cannot(why)
    first = next(iter(on_kernel.experiment("cs244-rcvbuf/C1").points(Effort("quick"))))
    short = first.scenario.vary({"duration": "2s", "warmup": "1s", "sample": "500ms"})
    points = [Point(("wifi",), short, seed) for seed in (1, 2)]
    rows = on_kernel.on_kernel(points, 2)
    assert [run.backend for _, run in rows] == ["kernel", "kernel"]
    found = Measured([(point.key, run) for point, run in rows])
    # 5 KB in 20 ms.
    assert 0.5e6 < found.mean(lambda run: run.flow()["goodput"], "wifi") < 2.2e6
