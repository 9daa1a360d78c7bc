"""Schedulers and congestion controllers written in Python: results, errors, determinism and cost."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

import mptcplab
from conftest import Cli
from mptcplab import CongestionControl, Flow, Scenario, ScenarioError, Scheduler
from mptcplab._core import CongestionPath, CongestionView, SendPath, SendView
from mptcplab.policies import loading
from mptcplab.policies.errors import policy_error
from mptcplab.run.local_processes import LocalProcesses


def scenario(**flow: object) -> Scenario:
    return Scenario(
        duration="4s",
        paths={
            "near": mptcplab.Path(rate="10Mbit", rtt="20ms", queue="50p"),
            "far": mptcplab.Path(rate="5Mbit", rtt="60ms", queue="100p"),
        },
        flows={"bulk": Flow(more=dict(flow))},
    )


class LowestRtt(Scheduler):
    """The rule of the built-in `minrtt`."""

    def choose(self, view: SendView) -> SendPath:
        return min(view.available, key=lambda path: path.srtt)


class LowestRttByArrays(Scheduler):
    """The rule of `minrtt` with arrays."""

    def choose(self, view: SendView) -> int:
        srtt = np.where(view.column("is_available") > 0, view.column("srtt"), np.inf)
        return int(np.argmin(srtt))


class Reno(CongestionControl):
    """NewReno in floating point."""

    def on_ack(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
        rest = path.slow_start(acked)
        path.cwnd += path.mss * rest / path.cwnd

    def on_loss(self, view: CongestionView, path: CongestionPath) -> float:
        return path.cwnd / 2


class Random(Scheduler):
    def choose(self, view: SendView) -> SendPath:
        return view.available[int(self.rng.integers(len(view.available)))]


def received(run: mptcplab.Run) -> int:
    return int(run.flow("bulk")["bytes_received_total"])


@pytest.mark.parametrize("policy", [LowestRtt, LowestRttByArrays])
def test_scheduler_with_the_rule_of_minrtt_gives_the_results_of_minrtt(policy: type[Scheduler]) -> None:
    built_in, own = (scenario(scheduler=name).run(seed=3) for name in ("minrtt", policy))
    assert received(own) == received(built_in)
    assert own.samples.column("value").equals(built_in.samples.column("value"))


class AllOpenWindows(Scheduler):
    """The rule of the built-in `opportunistic-redundant`."""

    def choose(self, view: SendView) -> SendPath:
        return min(view.available, key=lambda path: path.srtt)

    def copies(self, view: SendView, chosen: SendPath) -> list[SendPath]:
        return [path for path in view.available if path.index != chosen.index]


def test_scheduler_with_copies_gives_the_results_of_the_built_in_one() -> None:
    keys = {"bulk": False, "blocks": "10KB", "rate": "2Mbit"}
    built_in, own = (
        scenario(scheduler=name, **keys).run(seed=3) for name in ("opportunistic-redundant", AllOpenWindows)
    )
    assert own.samples.column("value").equals(built_in.samples.column("value"))
    assert own.samples.column("value") != scenario(scheduler=LowestRtt, **keys).run(seed=3).samples.column("value")


@pytest.mark.parametrize(("answer", "shown"), [([7], "7"), (["chosen"], r"SendPath\(.*\)"), (3, "3"), ([0.5], "0.5")])
def test_invalid_copy_is_an_error_with_method_and_value(answer: object, shown: str) -> None:
    class Wrong(LowestRtt):
        def copies(self, view: SendView, chosen: SendPath) -> object:  # type: ignore[override]
            return [chosen] if answer == ["chosen"] else answer

    with pytest.raises(ValueError, match=rf"Wrong\.copies returned {shown}; expected a path of view\.paths"):
        scenario(scheduler=Wrong).run(seed=1)


def test_view_has_the_offset_of_the_stream_and_the_queues_of_subflows() -> None:
    seen: list[tuple[int, float, bool]] = []

    class Watching(LowestRtt):
        def choose(self, view: SendView) -> SendPath:
            seen.append((view.offset, max(path.queued for path in view.paths), view.has_subflow_queues))
            assert view.column("queued").tolist() == [path.queued for path in view.paths]
            return min(view.paths, key=lambda path: (not path.is_available, path.queued, path.srtt))

    total = received(scenario(scheduler=Watching).run(seed=1))
    offsets = [offset for offset, _, _ in seen]
    assert offsets == sorted(offsets)
    assert 0.9 * total < offsets[-1] < 1.2 * total
    assert not any(queued or has for _, queued, has in seen)
    seen.clear()
    scenario(scheduler=Watching, subflow_queues=True).run(seed=1)
    assert all(has for _, _, has in seen)
    assert any(queued for _, queued, _ in seen)


def test_controller_with_the_rule_of_reno_is_close_to_reno() -> None:
    built_in, own = (
        scenario(congestion=name, coupling_scope="all").run(seed=3).flow("bulk")["goodput"] for name in ("reno", Reno)
    )
    assert own == pytest.approx(built_in, rel=0.03)


def test_run_with_a_random_policy_is_repeatable_and_depends_on_the_seed() -> None:
    one = scenario(scheduler=Random)
    assert received(one.run(seed=1)) == received(one.run(seed=1))
    assert received(one.run(seed=1)) != received(one.run(seed=2))


def test_parameters_reach_the_constructor() -> None:
    class Fixed(Scheduler):
        def __init__(self, path: int = 0) -> None:
            self.path = path

        def choose(self, view: SendView) -> int:
            return self.path

    sent = []
    for path in (0, 1):
        run = scenario(scheduler={"kind": Fixed, "path": path}).run(seed=1)
        sent.append([row["bytes_sent"] for row in run.flow("bulk")["paths"]])
    assert sent[0][0] > 10 * sent[0][1]
    assert sent[1][1] > 3 * sent[0][1]
    with pytest.raises(ScenarioError, match=r"flows\.bulk\.scheduler.*Fixed\(pth=1\) fails: TypeError.*pth"):
        scenario(scheduler={"kind": Fixed, "pth": 1})


def test_exception_has_the_traceback_of_the_policy() -> None:
    class Broken(Scheduler):
        def choose(self, view: SendView) -> int:
            if view.now > 1:
                raise LookupError("no path for me")
            return 0

    with pytest.raises(LookupError, match="no path for me") as caught:
        scenario(scheduler=Broken).run(seed=1)
    assert caught.traceback[-1].name == "choose"
    with pytest.raises(LookupError, match="no path for me"):
        scenario(scheduler=Broken).runs(seeds=[1, 2])


class NoPath(Exception):
    """An exception that cannot be unpickled, because its constructor has two parameters."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


def test_other_processes_run_the_class_and_return_its_exception() -> None:
    class Broken(Scheduler):
        def choose(self, view: SendView) -> int:
            raise LookupError("no path for me")

    class Unpicklable(Scheduler):
        def choose(self, view: SendView) -> int:
            raise NoPath("wifi", "no path for me")

    with LocalProcesses(2) as processes:
        one = scenario(scheduler=LowestRtt)
        runs = one.runs(seeds=[1, 2], executor=processes)
        assert [received(run) for run in runs] == [received(one.run(seed=seed)) for seed in (1, 2)]
        with pytest.raises(LookupError, match="no path for me") as caught:
            scenario(scheduler=Broken).runs(seeds=[1, 2], executor=processes)
        assert "in choose" in str(policy_error(caught.value))
        with pytest.raises(RuntimeError, match="NoPath: wifi: no path for me"):
            scenario(scheduler=Unpicklable).runs(seeds=[1, 2], executor=processes)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [(2, "2"), (-1, "-1"), (True + 1, "2"), ("near", "'near'"), (1.5, "1.5"), (float("nan"), "nan")],
)
def test_unknown_path_is_an_error_with_method_and_value(answer: object, shown: str) -> None:
    class Wrong(Scheduler):
        def choose(self, view: SendView) -> object:  # type: ignore[override]
            return answer

    expected = rf"Wrong\.choose returned {shown}; expected a path of view\.paths, its index \(0 to 1\), or None"
    with pytest.raises(ValueError, match=expected):
        scenario(scheduler=Wrong).run(seed=1)


@pytest.mark.parametrize("window", [float("nan"), -1.0, float("inf"), 1e13])
@pytest.mark.parametrize("key", ["cwnd", "ssthresh", "pacing"])
def test_invalid_window_is_an_error_with_method_and_value(key: str, window: float) -> None:
    class Wrong(CongestionControl):
        def on_ack(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
            setattr(path, key, window)

    if key != "cwnd" and window > 0:
        assert received(scenario(congestion=Wrong).run(seed=1)) > 0
        return
    with pytest.raises(ValueError, match=rf"Wrong\.on_ack set {key} of path \d to .*; expected a number"):
        scenario(congestion=Wrong).run(seed=1)


@pytest.mark.parametrize("answer", [float("nan"), -5.0, "half"])
def test_invalid_threshold_is_an_error(answer: object) -> None:
    class Wrong(Reno):
        def on_loss(self, view: CongestionView, path: CongestionPath) -> float:
            return answer  # type: ignore[return-value]

    with pytest.raises(ValueError, match=r"Wrong\.on_loss (set ssthresh of path \d to|returned) "):
        scenario(congestion=Wrong).run(seed=1)


def test_windows_have_bounds() -> None:
    """A window of zero becomes one segment, and a threshold of zero two segments."""

    class Minimal(CongestionControl):
        def on_ack(self, view: CongestionView, path: CongestionPath, acked: float) -> None:
            path.cwnd = 0

        def on_loss(self, view: CongestionView, path: CongestionPath) -> float:
            return 0.0

    assert received(scenario(congestion=Minimal).run(seed=1)) > 0


def test_rate_based_controller_sets_window_and_pacing() -> None:
    class Fixed(CongestionControl):
        def on_sample(self, view: CongestionView, path: CongestionPath, sample: dict[str, object]) -> None:
            path.cwnd, path.pacing = 100 * path.mss, 250e3

    run = scenario(congestion=Fixed, paths=["near"]).run(seed=1)
    assert run.flow("bulk")["goodput"] == pytest.approx(2e6, rel=0.06)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("class P(Scheduler):\n    pass", "defines no choose, so it decides nothing"),
        ("class P(Scheduler):\n    def choose(self): return 0", r"P\.choose must accept \(self, view\)"),
        ("class P(Scheduler):\n    def __init__(self): 1 / 0\n    def choose(self, view): return 0", "ZeroDivision"),
        ("class Q(Scheduler):\n    def choose(self, view): return 0", "has no P; its policies: Q$"),
        ("class P:\n    pass", "is not a subclass of mptcplab.Scheduler"),
        ("P = 3", "is not a subclass of mptcplab.Scheduler"),
        ("import nothing_here", r"cannot import .*No module named 'nothing_here' \(.*, line 2\)"),
        ("1 / 0", r"cannot import .*ZeroDivisionError: division by zero \(.*line 2\)"),
        ("class P(", r"cannot import .*SyntaxError"),
    ],
)
def test_class_that_cannot_be_a_policy(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"from mptcplab import Scheduler\n{text}\n")
    with pytest.raises(ScenarioError, match=r"flows\.bulk\.scheduler = .*" + problem):
        scenario(scheduler=f"{file}:P")


def test_misspelt_method_is_an_error() -> None:
    class Typo(Reno):
        def on_los(self, view: CongestionView, path: CongestionPath) -> None:
            pass

    with pytest.raises(ScenarioError, match=r"defines on_los, which a congestion controller does not have; did you"):
        scenario(congestion=Typo)


MODULE = """
    from mptcplab import CongestionControl, Scheduler


    class Last(Scheduler):
        def choose(self, view):
            return view.available[-1]


    class Broken(Scheduler):
        def choose(self, view):
            raise LookupError("no path for me")


    class Wrong(Scheduler):
        def choose(self, view):
            return 9
"""


def test_commands_accept_a_class(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "two.toml").write_text(scenario().to_toml())
    for name in ("mine.py:Last", "mine:Last"):
        cli("run", "two.toml", "--set", f"flows.bulk.scheduler={name}", "--trace", "schedule", "--output", "out")
        assert f'scheduler = "{name}"' in (tmp_path / "out" / "scenario.toml").read_text()
    failed = cli("run", "two.toml", "--set", "flows.bulk.scheduler=mine:Broken", expect=1).stderr
    assert 'raise LookupError("no path for me")' in failed
    assert "mptcplab/" not in failed
    assert "internal error" not in failed
    wrong = cli("run", "two.toml", "--set", "flows.bulk.scheduler=mine:Wrong", expect=1).stderr
    assert wrong.startswith("mptcplab: ValueError: mine:Wrong.choose returned 9; expected")
    assert wrong.count("\n") == 1
    missing = cli("run", "two.toml", "--set", "flows.bulk.scheduler=other:Last", expect=2).stderr
    assert "no module other in" in missing


def test_a_class_next_to_the_scenario_is_found(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "near.py").write_text(textwrap.dedent(MODULE))
    text = scenario().to_toml().replace('scheduler = "ontime"', 'scheduler = "near.py:Last"')
    assert "near.py:Last" in text
    (tmp_path / "lab" / "two.toml").write_text(text)
    assert "bulk (MPTCP)" in cli("run", "lab/two.toml").stdout
    cli("sweep", "lab/two.toml", "--vary", "paths.near.loss=0%,1%", "--seeds", "2", "--executor", "processes:2")
    missing = cli("run", "lab/two.toml", "--set", "flows.bulk.scheduler=gone.py:Last", expect=2).stderr
    assert "no file gone.py in" in missing
    assert str(tmp_path / "lab") in missing


def test_classes_move_to_other_processes_by_value(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text(textwrap.dedent(MODULE))
    name = f"{tmp_path / 'elsewhere.py'}:Last"
    built = loading.payload([name])
    (tmp_path / "elsewhere.py").unlink()
    loading._registered.pop(name, None)
    loading._files.clear()
    loading.install(built)
    try:
        assert loading.find(name).__name__ == "Last"  # type: ignore[attr-defined]
    finally:
        loading._registered.pop(name)


def test_both_classes_are_names_of_the_package() -> None:
    assert {"Scheduler", "CongestionControl"} <= set(mptcplab.__all__)
    assert issubclass(LowestRtt, mptcplab.Scheduler)


def test_policies_run_on_real_packets_and_end_a_run_with_their_exception(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "two.toml").write_text(scenario().to_toml().replace('duration = "4s"', 'duration = "1s"'))
    command = ("run", "two.toml", "--backend", "wire", "--set")
    assert "scheduler of bulk: mine.py:Last" in cli(*command, "flows.bulk.scheduler=mine.py:Last").stdout
    failed = cli(*command, "flows.bulk.scheduler=mine.py:Broken", expect=1)
    assert 'raise LookupError("no path for me")' in failed.stderr
    assert failed.stdout == ""
