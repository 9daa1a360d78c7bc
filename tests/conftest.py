"""Fixtures of all tests: scenarios, the command line, capabilities."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from command import here, processed
from mptcplab import Scenario
from two_hosts import healthy, hosts, serving

__all__ = ["healthy", "hosts", "serving"]

ROOT = Path(__file__).parent.parent
BROKEN = sorted((ROOT / "crates" / "lab" / "tests" / "broken").glob("*.toml"))

TWO_PATHS = """
name = "two paths"
duration = "6s"
warmup = "1s"
sample = "500ms"

[paths.wifi]
rate = "8Mbit"
rtt = "20ms"
queue = "53p"
loss = "0.5%"

[paths.3g]
rate = "2Mbit"
rtt = "150ms"
queue = "333p"

[flows.bulk]
transport = "mptcp"
baselines = true
"""

TRACED = """
name = "two"
duration = "2s"
[paths.wifi]
rate = "10Mbit"
delay = "10ms"
queue = "50p"
[paths.lte]
rate = "8Mbit"
delay = "30ms"
loss = "1%"
[flows.a]
"""

MACHINE = {
    "emulate", "every_option", "host", "host_persist", "host_setup", "host_top", "kernel_backend", "kernel_policies",
    "kernel_tools", "live", "measure", "namespaces", "page_live", "planted_linux", "sockets", "validate", "wire",
}  # fmt: skip
"""Test files that create namespaces, devices or kernel controllers; they run one after the other, because each checks
for leftovers.
"""

# Names of controllers are the machine's, and other tests may run on it: in another process, or in another container.
os.environ["MPTCPLAB_CONTROLLERS"] = f"t{secrets.token_hex(4)}_"

# A shell without job control makes background commands ignore Ctrl-C, and so would the tested commands.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Schedules the tests of a file to one process, because they share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        name = Path(nodeid.partition("::")[0]).stem
        return "machine" if name.removeprefix("test_") in MACHINE else name


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """Not xdist_group: pytest-xdist 3.8.0 does not see it with pytest 9.2."""
    return Scheduling(config, log)


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    """A scenario of two paths with loss, so that the seed matters."""
    path = tmp_path / "two.toml"
    path.write_text(TWO_PATHS)
    return path


@pytest.fixture(scope="session")
def two_paths() -> Scenario:
    """The same, loaded."""
    return Scenario.parse(TWO_PATHS, "two.toml")


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The saved result of a run of `TRACED` with all of its events; nobody writes there."""
    directory = tmp_path_factory.mktemp("traced") / "out"
    Scenario.parse(TRACED).run(trace="all").save(directory)
    return directory


@pytest.fixture
def cli(tmp_path: Path, request: pytest.FixtureRequest) -> Cli:
    """Runs `mptcplab` in an empty directory; `expect` is the exit code, None for any.

    In this process, but where a test is of the machine: threads there change namespaces, and commands start others.
    """
    apart = request.path.stem.removeprefix("test_") in MACHINE
    return _cli(processed if apart else here, tmp_path)


@pytest.fixture
def process(tmp_path: Path) -> Cli:
    """The same in a process of its own each time."""
    return _cli(processed, tmp_path)


def _cli(execute: Callable[[Sequence[str], Path], subprocess.CompletedProcess[str]], directory: Path) -> Cli:
    def run(*arguments: str | Path, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = execute([*map(str, arguments)], directory)
        assert expect in (None, done.returncode), f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    return run


def need(tool: str) -> None:
    """Skips without a tool; in continuous integration, where everything has to be there, fails."""
    if shutil.which(tool) is None:
        message = f"{tool} is not installed"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
