"""The first second of the command: Ctrl-C while modules load, words that a shell has changed, words that are long."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab.cli.settings import same_key, variations
from mptcplab.util.user_input import SHOWN, brief, shown, time_text

AT = """
import sys
from importlib.abc import MetaPathFinder

class Interrupts(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == wanted:
            import os, signal
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000): pass
        return None

wanted = sys.argv[1]
sys.meta_path.insert(0, Interrupts())
from mptcplab.start import main
sys.argv[1:] = sys.argv[2:]
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module",
    [
        "mptcplab.cli.main", "mptcplab._core", "mptcplab.cli.commands", "mptcplab.cli.commands.run", "argparse",
        "mptcplab.run.batch", "numpy", "numpy.lib", "numpy._core.multiarray",
        "mptcplab.results.run", "mptcplab.scenario.definition", "pyarrow", "pyarrow.lib", "pyarrow.parquet",
        "matplotlib", "matplotlib.ft2font", "mptcplab.results.write.export",
    ],
)  # fmt: skip
def test_ctrl_c_while_a_module_loads_is_one_line(scenario_file: Path, tmp_path: Path, module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT, module, "run", str(scenario_file), "--output", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "mptcplab: interrupted\n")


def test_what_starts_the_command_loads_nothing_before_it_listens() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="mptcplab")
    assert [one.value for one in scripts] == ["mptcplab.start:main"]
    text = "import sys; before = set(sys.modules); import mptcplab.start; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"mptcplab", "mptcplab.start", "mptcplab.util",
                                        "mptcplab.util.interruption", "typing", "importlib", "__future__", "re",
                                        "collections", "functools", "enum", "operator", "keyword", "reprlib",
                                        "itertools", "types", "copyreg", "contextlib", "warnings", "_collections",
                                        "_functools", "_operator", "_sre", "_typing", "collections.abc",
                                        "importlib._bootstrap", "importlib._bootstrap_external", "re._casefix",
                                        "re._compiler", "re._constants", "re._parser", "typing.io", "typing.re",
                                        "_warnings"}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("flows.*.rcvbuf", "flows.bulk.rcvbuf", True),
        ("flows.{a,b}.rcvbuf", "flows.{b,c}.rcvbuf", True),
        ("flows.{a, b}.rcvbuf", "flows.b.rcvbuf", True),
        ("flows.{a,b}.rcvbuf", "flows.{c,d}.rcvbuf", False),
        ("flows.a.{rcvbuf,sndbuf}", "flows.a.{mss,sndbuf}", True),
        ("flows.a.rcvbuf", "flows.a", False),
        (".".join(["{a,b}"] * 400), ".".join(["{c,b}"] * 400), True),
        (".".join(["{a,b}"] * 400), ".".join(["{c,b}"] * 399 + ["d"]), False),
    ],
)
def test_keys_that_mean_the_same(one: str, other: str, same: bool) -> None:
    """Each part of a key is chosen by itself: 2^400 products of braces are never made."""
    assert same_key(one, other) is same
    assert same_key(other, one) is same


def test_two_keys_of_many_braces_end(cli: Cli, scenario_file: Path) -> None:
    key = ".".join(["{a,b}"] * 24)
    output = cli("sweep", scenario_file, "--vary", f"{key}=1,2", "--vary", f"{key[:-5]}{{b,c}}=1,2", expect=2).stderr
    assert "set the same key" in output
    assert variations([f"{key}=1,2", "paths.a.loss=1%"]).keys() == {key, "paths.a.loss"}


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["flows.*.rcvbuf=50KB,1MB", "flows.*.sndbuf=50KB,1MB"], "flows.*.{rcvbuf,sndbuf}=50KB,1MB"),
        (["paths.wifi.loss=1%", "paths.3g.loss=1%"], "paths.{wifi,3g}.loss=1%"),
        (["paths.wifi.queue=kind=codel", "paths.wifi.queue=target=5ms"], "paths.wifi.queue={kind=codel,target=5ms}"),
        (["a.x=1", "a.y=1", "a.z=1"], "a.{x,y,z}=1"),
    ],
)
@pytest.mark.parametrize("option", ["--vary", "--set"])
def test_braces_that_a_shell_expanded(
    cli: Cli, scenario_file: Path, words: list[str], output: str, option: str
) -> None:
    command = "sweep" if option == "--vary" else "run"
    for arguments in ([command, scenario_file, option, *words], [command, option, *words, scenario_file]):
        assert cli(*arguments, expect=2).stderr == (
            f"mptcplab: {option}: the shell expanded braces here; quote the argument: {option} '{output}'\n"
        )


@pytest.mark.parametrize(("typed", "meant"), [("rnu", "run"), ("swep", "sweep"), ("repoduce", "reproduce")])
def test_a_misspelt_command(cli: Cli, typed: str, meant: str) -> None:
    output = cli(typed, expect=2).stderr
    assert output.splitlines()[-1].endswith(f"unknown command '{typed}'; did you mean {meant}? run mptcplab for a list")


LONG = "x" * 50_000


@pytest.mark.parametrize(
    "arguments",
    [
        [LONG], ["run", LONG], ["run", "two.toml", "--set", f"{LONG}=1"], ["run", "two.toml", "--set", f"a={LONG}"],
        ["run", "two.toml", "--backend", LONG], ["run", "two.toml", LONG], ["run", "two.toml", "--seed", LONG],
        ["run", "two.toml", "--trace", LONG], ["run", "two.toml", "--trace", "loss", "--trace-from", LONG],
        ["sweep", "two.toml", "--vary", LONG], ["sweep", "two.toml", "--vary", f"{LONG}=1,2"],
        ["sweep", "two.toml", "--vary", "paths.wifi.loss=1%", "--metric", LONG], ["plot", LONG],
        ["sweep", "two.toml", "--vary", "paths.wifi.loss=1%,2%", "--compare", f"a={LONG}"],
        ["study", LONG], ["study", f"cs244-rcvbuf/{LONG}"], ["reproduce", LONG], ["example", LONG],
        ["udp-interference", "two.toml", "--steady", LONG], ["udp-interference", "two.toml", "--every", LONG],
        ["verify", LONG], ["verify", "two.toml", "--most", LONG], ["why", "two.toml", "--flow", LONG],
        ["survey", "--kind", LONG], ["survey", "--policy", LONG], ["emulate", LONG], ["send", LONG, "two.toml"],
        ["receive", "--listen", LONG], ["host", LONG], ["bench", LONG], ["cdf", f"{LONG}:wifi"], ["link-stats", LONG],
        ["merge", LONG, "--output", "out"], ["group", LONG, "--by", LONG, "--output", "out"], ["completion", LONG],
        ["run", " ".join(["many words"] * 5000)], ["plot", "two.toml", "--size", LONG],
    ],
    ids=lambda arguments: " ".join(word[:20] for word in arguments),
)  # fmt: skip
def test_no_message_repeats_a_long_argument(cli: Cli, scenario_file: Path, arguments: list[str]) -> None:
    assert scenario_file.name == "two.toml"
    done = cli(*arguments, expect=2)
    assert len(done.stderr.splitlines()[-1]) <= 25 * SHOWN
    assert LONG[: 3 * SHOWN] not in done.stderr + done.stdout


def test_what_is_short_is_said_whole() -> None:
    text = "mptcplab: " + "/".join(["directory"] * 20) + ": there is no such file"
    assert brief(text) == text
    assert shown("größe") == "'größe'"
    assert shown("x" * 1000) == repr("x" * SHOWN + "…")


@pytest.mark.parametrize(("seconds", "text"), [(1e-9, "1ns"), (30.0, "30s"), (0.5, "500ms"), (1e-5, "10us"), (0, "0s")])
def test_times_are_written_without_an_exponent(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_an_interrupt_test_that_is_too_short_is_the_option_s_fault(cli: Cli, scenario_file: Path) -> None:
    output = cli("udp-interference", scenario_file, "--every", "1ns", expect=2).stderr
    assert output == "mptcplab: a period of 1ns is too short; it must be at least 10ms\n"


def test_a_backend_that_matplotlib_does_not_know(process: Cli, scenario_file: Path) -> None:
    os.environ["MPLBACKEND"] = "nonsense"
    try:
        output = process("run", scenario_file, "--output", "out", expect=2).stderr
    finally:
        del os.environ["MPLBACKEND"]
    assert output == ("mptcplab: MPLBACKEND = 'nonsense': matplotlib has no such backend; unset it, or set it to agg\n")
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
