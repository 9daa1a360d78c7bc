"""Runs on executors: the same files as on threads, lost workers, chunks in flight, scenarios without their files."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from mptcplab import Interrupted, Run, Runs, Scenario
from mptcplab.run import executors, worker
from mptcplab.run.batch import Unfinished, run_jobs
from mptcplab.run.jobs import Job
from mptcplab.run.local_processes import LocalProcesses

SCENARIOS = sorted((Path(executors.__file__).parents[1] / "scenarios").glob("*.toml"))
SHORT = """
name = "short"
duration = "1s"
[paths.a]
rate = "8Mbit"
rtt = "20ms"
loss = "1%"
[paths.b]
rate = "2Mbit"
rtt = "60ms"
[flows.f]
"""

STOPS = """
[[events]]
at = "500ms"
path = "a"
set = { rate = "unlimited", delay = "0s", loss = "0%" }
"""
"""After this, the scenario makes no progress."""

unpickled = pickle.loads
"""Of bytes that a test has pickled."""


def _files(directory: Path) -> dict[str, bytes]:
    return {str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def _saved(runs: Run | Runs, directory: Path) -> dict[str, bytes]:
    runs.save(directory)
    return _files(directory)


def _jobs(count: int, text: str = SHORT) -> list[Job]:
    scenario = Scenario.parse(text).core
    return [Job(scenario, seed) for seed in range(1, count + 1)]


class Own(Executor):
    """Runs chunks in this thread when `work` is called, the last one first. All of these may be lost together."""

    def __init__(self, workers: int, lost: Callable[[set[int]], BaseException | None] = lambda _: None) -> None:
        self.num_workers = workers
        self.chunks: list[list[int]] = []
        """The seeds of each submitted chunk."""
        self.most = 0
        self._lost = lost
        self._waiting: list[tuple[list[int], Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.chunks.append([one.seed for group in unpickled(args[1]) for one in group.runs])
        self._waiting.append((self.chunks[-1], future, partial(fn, *args, **kwargs)))
        self.most = max(self.most, len(self._waiting))
        return future

    def work(self) -> None:
        waiting, self._waiting = self._waiting[::-1], []
        error = self._lost({seed for seeds, _, _ in waiting for seed in seeds})
        for _, future, call in waiting:
            if error is None:
                future.set_result(call())
            else:
                future.set_exception(error)


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors of `Own` work each time that nothing has arrived."""
    results = executors.Dispatch.results

    def also_works(dispatch: executors.Dispatch, _timeout: float) -> Any:
        for outcome in results(dispatch, 0.0):
            if outcome is None and isinstance(dispatch._executor, Own):
                dispatch._executor.work()
            yield outcome

    monkeypatch.setattr(executors.Dispatch, "results", also_works)


@pytest.mark.parametrize("file", SCENARIOS, ids=[file.stem for file in SCENARIOS])
def test_pickled_results_write_the_same_files(file: Path, tmp_path: Path) -> None:
    scenario = Scenario.load(file).vary({"duration": "3s", "warmup": "1s"})
    run = scenario.run(3, trace="loss")
    copy = unpickled(pickle.dumps(run))
    # Pickling takes no columns away, and the copy can be pickled as well.
    again = unpickled(pickle.dumps(copy))
    assert copy.iperf3() == run.iperf3() == again.iperf3()
    assert copy.summary() == run.summary()
    assert _saved(copy, tmp_path / "copy") == _saved(run, tmp_path / "run") == _saved(again, tmp_path / "again")


def test_latencies_of_blocks_are_pickled(tmp_path: Path) -> None:
    run = Scenario.packaged("call").vary({"duration": "3s"}).run()
    assert len(run.block_columns(0)[1]) > 10
    assert _saved(unpickled(pickle.dumps(run)), tmp_path / "copy") == _saved(run, tmp_path / "run")


def test_a_pickled_scenario_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two recordings have one name in two directories; an absent file must not be looked for."""
    for name, every in (("home", 3), ("train", 7)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lte.up").write_text("".join(f"{at}\n" for at in range(0, 900, every)))
        link = (
            f'[paths.{name}]\nforward = {{ trace = "lte.up", trace_start = "random" }}\nbackward = {{ rate = "1Gbit" }}'
        )
        (tmp_path / name / "path.toml").write_text(link)
    (tmp_path / "walk.csv").write_text("time_s,rate_mbit,delay_ms,loss_percent\n0,8,10,0\n0.3,2,40,1.7\n")
    (tmp_path / "s.toml").write_text(
        'include = ["home/path.toml", "train/path.toml"]\nduration = "2s"\n[paths.table]\ntrace = "walk.csv"\n'
        "trace_repeat = true\n[flows.f]\n"
    )
    scenario = Scenario.load(tmp_path / "s.toml")
    sent = pickle.dumps(scenario)
    here = [scenario.run(seed) for seed in (1, 2)]
    monkeypatch.chdir(tmp_path)
    for file in (tmp_path / "home" / "lte.up", tmp_path / "train" / "lte.up", tmp_path / "walk.csv"):
        file.unlink()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = unpickled(sent).runs((1, 2), executor=pool)
    rows = [[run.flow_rows, run.link_rows] for run in here]
    assert rows[0] != rows[1]
    plain = [Run(scenario.core, run.seed, run._results).link_rows for run in there]
    assert plain == [run.link_rows for run in here]
    # An override still names a file.
    with pytest.raises(ValueError, match="cannot be read"):
        unpickled(sent).vary({"paths.table.trace": "walk.csv"})


def test_a_sweep_on_processes_writes_the_files_of_threads(tmp_path: Path) -> None:
    scenario = Scenario.parse(SHORT)

    def swept(executor: Executor | None, name: str) -> dict[str, bytes]:
        points = {"paths.a.loss": ["0%", "2%"], "flows.f.scheduler": ["minrtt", "roundrobin"]}
        return _saved(scenario.sweep(points, seeds=range(1, 6), executor=executor), tmp_path / name)

    threads = swept(None, "threads")
    with LocalProcesses(2) as pool:
        assert swept(pool, "processes") == threads
        # A second batch uses the same processes.
        assert swept(pool, "again") == threads
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as library:
        assert swept(library, "library") == threads
    with ThreadPoolExecutor(3) as in_threads:
        assert swept(in_threads, "threads of the library") == threads


@pytest.mark.usefixtures("working")
def test_chunks_are_bounded_and_the_order_is_that_of_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CHUNK_S", 10.0)
    executor = Own(3)
    arrived: list[int] = []
    runs = run_jobs(_jobs(200), executor=executor, quiet=True, on_result=lambda at, _: arrived.append(at))
    assert [run.seed for run in runs] == list(range(1, 201))
    assert sorted(arrived) == list(range(200)) != arrived
    assert executor.most == executors.QUEUED * 3
    # The first ones measure, the last ones share the rest.
    sizes = [len(seeds) for seeds in executor.chunks]
    assert sizes[0] == 1 < max(sizes)
    assert sizes[-1] < max(sizes)
    assert sum(sizes) == 200 > 3 * len(sizes)


@pytest.mark.usefixtures("working")
def test_lost_runs_are_submitted_again() -> None:
    errors: list[BaseException | None] = [None, OSError("gone"), None, None, OSError("gone"), OSError("gone"), None]
    executor = Own(2, lambda _: errors.pop() if errors else None)
    runs = run_jobs(_jobs(20), executor=executor, quiet=True)
    assert not errors
    assert [run.seed for run in runs] == list(range(1, 21))
    assert [run.flow_rows for run in runs] == [run.flow_rows for run in run_jobs(_jobs(20), quiet=True)]


@pytest.mark.usefixtures("working")
def test_a_run_that_loses_every_worker_is_named() -> None:
    """It takes the runs in flight along, as in a pool that breaks, until it runs alone."""
    executor = Own(2, lambda seeds: BrokenExecutor("a process ended") if 6 in seeds else None)
    with pytest.raises(Unfinished, match=r"run short, seed 6: its worker was lost 4 times: BrokenExecutor") as error:
        run_jobs(_jobs(8), executor=executor, quiet=True)
    assert sum(6 in seeds for seeds in executor.chunks) == 1 + executors.RESUBMISSIONS
    assert executor.chunks[-1] == [6]
    assert [run.seed for run in error.value.finished] == [1, 2, 3, 4, 5, 7, 8]
    assert "(7 of 8 runs are finished)" in str(error.value)


@pytest.mark.parametrize("replaced", [True, False])
def test_a_killed_process(replaced: bool, tmp_path: Path) -> None:  # noqa: FBT001, RUF100
    """Local processes are replaced. A pool of the standard library accepts nothing more, and the error says so."""
    jobs = _jobs(30, SHORT.replace("1s", "3s"))
    killed: list[int] = []
    pool: Any = LocalProcesses(2) if replaced else ProcessPoolExecutor(2, mp_context=get_context("spawn"))

    def kill(_at: int, _run: Run) -> None:
        if not killed:
            processes = vars(pool._pool if replaced else pool)["_processes"]
            killed.append(next(iter(processes)))
            os.kill(killed[0], signal.SIGKILL)

    with pool:
        if replaced:
            there = run_jobs(jobs, executor=pool, quiet=True, on_result=kill)
            assert _saved(there, tmp_path / "a") == _saved(run_jobs(jobs, quiet=True), tmp_path / "b")
        else:
            # The refused chunk is a lost run, or the next chunk if the pool breaks before the sender notices a loss.
            said = r"run short, seed \d+( and the \d+ runs after it)?: the executor accepts no more runs: Broken"
            with pytest.raises(Unfinished, match=said) as lost:
                run_jobs(jobs, executor=pool, quiet=True, on_result=kill)
            assert 1 <= len(lost.value.finished) == lost.value.count < lost.value.total == 30
    assert killed


def test_ctrl_c_keeps_the_finished_runs() -> None:
    def stop(_at: int, run: Run) -> None:
        if run.seed == 4:
            raise KeyboardInterrupt

    with LocalProcesses(2) as pool, pytest.raises(Interrupted) as interrupted:
        run_jobs(_jobs(400), executor=pool, quiet=True, on_result=stop)
    found = [run.seed for run in interrupted.value.finished]
    assert 4 in found
    assert found == sorted(found)
    assert len(found) == interrupted.value.count < 400


def test_a_failing_run_fails_as_on_threads() -> None:
    jobs = _jobs(3, SHORT + STOPS)
    with pytest.raises(RuntimeError) as threads:
        run_jobs(jobs, workers=1, quiet=True)
    executor = ThreadPoolExecutor(1)
    with executor, pytest.raises(RuntimeError) as remote:
        run_jobs(jobs, executor=executor, quiet=True)
    assert str(remote.value) == str(threads.value)
    assert "run 0: " in str(remote.value)
    # It is no lost worker, and says where it happened there.
    assert not isinstance(remote.value, Unfinished)
    assert "Traceback" in remote.value.__notes__[0]


class OtherVersion(ThreadPoolExecutor):
    """Workers with another version."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(fn, "0.0.9", *args[1:], **kwargs)


def test_workers_with_another_version_are_refused() -> None:
    with OtherVersion(1) as executor, pytest.raises(Unfinished, match=r"0\.0\.9; install the same mptcplab"):
        run_jobs(_jobs(3), executor=executor, quiet=True)


_PREPARED: list[bytes] = []


def prepared(payload: bytes) -> None:
    _PREPARED.append(payload)


def test_a_payload_reaches_the_hooks_before_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "HOOKS", [f"{__name__}:prepared"])
    _PREPARED.clear()
    scenario = Scenario.parse(SHORT).core
    payloads: Sequence[bytes] = (b"one", b"", b"two")
    with ThreadPoolExecutor(1) as executor:
        run_jobs([Job(scenario, 1, payload=payload) for payload in payloads], executor=executor, quiet=True)
    assert _PREPARED == [b"one", b"two"]


def test_the_number_of_workers_of_an_executor() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert executors.workers_of(pool, None, 8) == 3
        assert executors.workers_of(pool, 5, 8) == 5
    assert executors.workers_of(Executor(), None, 8) == 8
