"""Commands on a Dask cluster of separate processes on loopback: identical files, killed workers, a killed scheduler."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pyarrow.parquet as pq
import pytest

from command import here
from conftest import Cli
from mptcplab import Scenario
from mptcplab.run import worker as worker_side
from mptcplab.run.batch import Unfinished, run_jobs
from mptcplab.run.dask_cluster import DaskCluster, NoCluster
from mptcplab.run.jobs import Job

distributed = pytest.importorskip("distributed") if not os.environ.get("CI") else __import__("distributed")

SCENARIO = """
name = "small"
duration = "3s"
[paths.a]
rate = "20Mbit"
rtt = "20ms"
loss = "1%"
[paths.b]
rate = "5Mbit"
rtt = "60ms"
[flows.f]
"""
SWEEP = ("sweep", "small.toml", "--vary", "flows.f.scheduler=minrtt,roundrobin", "--seeds", "30", "--quiet")
RUNS = 60
"""Of about 20 ms each."""
PART = 15
"""Runs of a part in tests of `--resume`."""


class Cluster:
    """A scheduler and workers, each a process."""

    def __init__(self, workers: int, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.place = f"127.0.0.1:{free.getsockname()[1]}"
        self._log = log.open("w")
        host, port = self.place.split(":")
        self.scheduler = self._start("scheduler", self._log, "--host", host, "--port", port, "--no-show")
        self.workers = [self.worker() for _ in range(workers)]

    @property
    def url(self) -> str:
        return f"dask://{self.place}"

    def worker(self) -> subprocess.Popen[str]:
        options = ("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--death-timeout", "60")
        return self._start("worker", self._log, f"tcp://{self.place}", *options)

    @staticmethod
    def _start(role: str, log: IO[str], *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--no-dashboard", *options]
        return subprocess.Popen(command, stdout=log, stderr=log, text=True)

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self._log.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers, shared by all tests that leave them alive."""
    found = Cluster(2, tmp_path_factory.mktemp("cluster") / "log")
    yield found
    found.end()


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers for a test that kills something."""
    found = Cluster(2, tmp_path / "log")
    yield found
    found.end()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SCENARIO)
    return tmp_path


def files(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the sweep on threads."""
    directory = tmp_path_factory.mktemp("threads")
    (directory / "small.toml").write_text(SCENARIO)
    done = here([*SWEEP, "--output", "out"], directory)
    assert done.returncode == 0, done.stderr
    found = files(directory / "out")
    assert {"flows.parquet", "samples.parquet", "run.json", "sweep.png"} <= set(found)
    return found


def started(directory: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command, with parts of `PART` runs, in a process of its own."""
    code = (
        "import sys; from mptcplab.cli import main; from mptcplab.run import sweep_plan; "
        f"sweep_plan.MOST_RUNS = {PART}; sys.exit(main.main(sys.argv[1:]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not holds():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def test_a_sweep_writes_the_same_files_everywhere(
    small: Path, cluster: Cluster, cli: Cli, expected: dict[str, bytes]
) -> None:
    for name, executor in (("processes", "processes:2"), ("dask", cluster.url)):
        cli(*SWEEP, "--executor", executor, "--output", name)
        assert files(small / name) == expected


def test_a_killed_worker_and_a_killed_scheduler(small: Path, own_cluster: Cluster, expected: dict[str, bytes]) -> None:
    """The loss of a worker changes nothing. That of the scheduler ends the sweep, and `--resume` completes it."""
    arguments = (*SWEEP, "--output", "out", "--executor", own_cluster.url)
    part = small / "out" / "parts" / "000000.json"
    sweep = started(small, *arguments)
    until(part.is_file, sweep)
    own_cluster.workers[0].send_signal(signal.SIGKILL)
    _, problems = sweep.communicate(timeout=120)
    assert (sweep.returncode, problems) == (0, "")
    assert own_cluster.workers[0].wait() == -signal.SIGKILL
    assert files(small / "out") == expected

    sweep = started(small, *arguments)
    until(part.is_file, sweep)
    own_cluster.scheduler.send_signal(signal.SIGKILL)
    _, problems = sweep.communicate(timeout=120)
    assert sweep.returncode == 1, problems
    assert "scheduler has ended" in problems
    assert "they are in out/, and --resume continues the sweep" in problems
    assert len(problems.splitlines()) == 1
    finished = int(problems.partition(f" of {RUNS} runs are finished")[0].rpartition("(")[2])
    assert PART <= finished < RUNS
    assert pq.read_table(small / "out" / "flows.parquet").num_rows == finished
    again = started(small, *SWEEP, "--output", "out", "--resume")
    assert again.communicate(timeout=120)[1] == ""
    assert files(small / "out") == expected


def test_other_commands_print_the_same_on_dask(small: Path, cluster: Cluster, cli: Cli) -> None:
    survey = ("survey", "--networks", "2", "--seeds", "1", "--quiet", "--json")
    assert cli(*survey, "--executor", cluster.url).stdout == cli(*survey).stdout
    run = ("run", "small.toml", "--seeds", "5", "--json")
    assert cli(*run, "--executor", cluster.url).stdout == cli(*run).stdout
    for name, executor in (("here", "threads"), ("there", cluster.url)):
        cli("validate", "small.toml", "--predict", f"{name}.json", "--executor", executor)
    assert (small / "here.json").read_bytes() == (small / "there.json").read_bytes()


def test_reproduce_judges_the_same_on_dask(tmp_path: Path, cluster: Cluster, cli: Cli) -> None:
    for name, executor in (("here", "threads"), ("there", cluster.url)):
        cli("reproduce", "cs244-rcvbuf/C1", "--quick", "--executor", executor, "--output", name, "--quiet", expect=None)
    assert (tmp_path / "here" / "facts.json").read_bytes() == (tmp_path / "there" / "facts.json").read_bytes()


@pytest.mark.usefixtures("small")
def test_a_missing_scheduler_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mptcplab.run.dask_cluster.ANSWER_S", 0.5)
    said = cli(*SWEEP, "--executor", "dask://127.0.0.1:1", expect=2).stderr
    assert said == (
        "mptcplab: --executor dask://127.0.0.1:1: no Dask scheduler answers; start one with: dask scheduler --port 1\n"
    )


def test_a_worker_with_another_mptcplab_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPTCPLAB_CORE", "another_core")
    with pytest.raises(NoCluster, match=r"the worker tcp://.* has mptcplab [0-9.]+ .*, but .*another_core"):
        DaskCluster(cluster.place)


def test_a_worker_with_another_build_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_side, "_build", lambda: "000000000000")
    with pytest.raises(NoCluster, match=r"\(build [0-9a-f]{12}\), but this process has .* \(build 0{12}\)"):
        DaskCluster(cluster.place)


def test_a_cluster_that_loses_all_workers_ends_the_batch(own_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mptcplab.run.dask_cluster.WITHOUT_WORKERS_S", 1.0)
    monkeypatch.setattr("mptcplab.run.dask_cluster.ANSWER_S", 5.0)

    def kill(_at: int, _run: object) -> None:
        for worker in own_cluster.workers:
            worker.kill()

    scenario = Scenario.parse(SCENARIO).core
    jobs = [Job(scenario, seed) for seed in range(1, 100)]
    with DaskCluster(own_cluster.place) as pool, pytest.raises(Unfinished, match=r"has had no worker for 1 s") as lost:
        run_jobs(jobs, executor=pool, quiet=True, on_result=kill)
    assert 1 <= lost.value.count < 99
    with pytest.raises(NoCluster, match=r"the scheduler has no worker; start one with: dask worker tcp://"):
        DaskCluster(own_cluster.place)
