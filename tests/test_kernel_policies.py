"""`mptcplab kernel congestion`: our controllers in the kernel of this machine, and nothing of them afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli, need
from emulated import TWO_PATHS, Machine, cannot, machine
from mptcplab.cli import main as command_line
from mptcplab.emulation import emulated_network
from mptcplab.kernel_policies import bpf_objects, controllers, libbpf

__all__ = ["machine"]

COMMAND = [sys.executable, "-m", "mptcplab", "kernel", "congestion"]
LIA = controllers.kernel_name("lia")
PINS = controllers.pins()
PATIENCE = 20.0
"""Seconds after which what should have happened has not."""

NETWORK = (
    TWO_PATHS
    + """[flows.bulk]
opportunistic_retransmission = false
scheduler = "minrtt"
autotuning = true
"""
)

# Holds a controller of that name, and is not mptcplab.
STRANGER = """
import sys, time
from mptcplab.kernel_policies import bpf_objects, libbpf
from mptcplab.kernel_policies import controllers
name = controllers.kernel_name("lia")
link = libbpf.Library().load(bpf_objects.build("lia", controllers.prefix()), name)
print("there", flush=True)
sys.stdin.read()
"""

# Both ends of an MPTCP connection and of a TCP connection in a cgroup, and their lines of `ss`.
BOTH_ENDS = """
import os, socket, subprocess, sys
from pathlib import Path
(Path(sys.argv[1]) / "cgroup.procs").write_text(str(os.getpid()))
for protocol in (socket.IPPROTO_MPTCP, 0):
    with socket.socket(type=socket.SOCK_STREAM, proto=protocol) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.socket(type=socket.SOCK_STREAM, proto=protocol) as near:
            near.connect(listener.getsockname())
            with listener.accept()[0] as far:
                near.sendall(b"!")
                far.recv(1)
                port = listener.getsockname()[1]
                ss = ["ss", "-tinH", f"sport = {port} or dport = {port}"]
                said = subprocess.run(ss, capture_output=True, text=True, check=True)
                print(sum(sys.argv[2] in line.split() for line in said.stdout.splitlines()))
"""


def loaded() -> list[str]:
    """The controllers of mptcplab in the kernel."""
    return [rule for rule in controllers.RULES if controllers.kernel_name(rule) in controllers.available()]


def gone() -> bool:
    """Whether no controller of mptcplab is left before the timeout; the kernel takes a moment."""
    limit = time.monotonic() + PATIENCE
    while loaded() and time.monotonic() < limit:
        time.sleep(0.01)
    return not loaded()


@pytest.fixture
def able() -> Iterator[None]:
    """A machine that can compile and load them; afterwards it has none."""
    if (why := controllers.why_not()) is not None:
        cannot(why)
    if os.geteuid() != 0:
        cannot("loading a controller takes root")
    need("clang")
    try:
        libbpf.Library()
        bpf_objects.build("lia", controllers.prefix())
    except (libbpf.NoLibrary, bpf_objects.CannotBuild) as error:
        cannot(str(error))
    assert not loaded(), "others have loaded them here"
    yield
    assert gone()


@contextlib.contextmanager
def started(command: list[str], directory: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has said its first line, and that is ended."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=directory, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline(), process.stderr.read() if process.stderr else ""
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("rule", list(controllers.RULES))
def test_it_is_there_while_a_command_runs(cli: Cli, rule: str) -> None:
    script = (
        "import socket, sys\n"
        "with socket.socket() as own:\n"
        "    own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())\n"
        "    print(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode())\n"
        "sys.exit(7)"
    )
    name = controllers.kernel_name(rule)
    done = cli("kernel", "congestion", "load", rule, "--", sys.executable, "-c", script, name, expect=7)
    assert done.stdout.strip() == name
    assert gone()
    with socket.socket() as own, pytest.raises(FileNotFoundError):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


@pytest.mark.usefixtures("able")
def test_who_holds_it_is_said(cli: Cli, tmp_path: Path) -> None:
    with started([*COMMAND, "load", "lia"], tmp_path) as process:
        known = json.loads(cli("kernel", "congestion", "status", "--json").stdout)
        lia = next(one for one in known if one["rule"] == "lia")
        assert lia["loaded"]
        assert lia["ours"]
        assert lia["pinned"] is None
        assert [holder["pid"] for holder in lia["held_by"]] == [process.pid]
        output = cli("kernel", "congestion", "status").stdout.splitlines()
        assert output[0].startswith(f"{LIA:<15} loaded, held by process {process.pid}"), output
        assert [line.split()[1:] for line in output[1:]] == [["not", "loaded"]] * 2
        # It is unloaded with the process that holds it.
        assert (
            f"it will be unloaded when process {process.pid}"
            in cli("kernel", "congestion", "unload", "lia", expect=1).stderr
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    assert gone()
    assert f"{LIA} is not loaded" in cli("kernel", "congestion", "unload", "lia", expect=1).stderr


@pytest.mark.usefixtures("able")
def test_it_is_loaded_once(cli: Cli, tmp_path: Path) -> None:
    with started([*COMMAND, "load", "lia"], tmp_path) as process:
        done = cli("kernel", "congestion", "load", "lia", "--", "true", expect=1)
        assert f"{LIA} is already loaded by process {process.pid}" in done.stderr
        assert done.stderr.count("\n") == 1
        # Another one does not mind.
        cli("kernel", "congestion", "load", "olia", "--", "true")
        assert loaded() == ["lia"]


@pytest.mark.usefixtures("able")
def test_nothing_is_left_of_one_that_is_killed(tmp_path: Path) -> None:
    with started([*COMMAND, "load", "balia"], tmp_path) as process:
        assert loaded() == ["balia"]
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        assert gone()
    # Nor of one that is killed somewhere on its way, and the command goes, too.
    for part in range(6):
        waiting = [*COMMAND, "load", "lia", "--", "sleep", "1000"]
        with subprocess.Popen(waiting, cwd=tmp_path) as process:
            time.sleep(0.1 * part)
            process.kill()
        assert gone()


@pytest.mark.usefixtures("able")
def test_the_name_may_be_taken_by_others(cli: Cli, tmp_path: Path) -> None:
    with started([sys.executable, "-c", STRANGER], tmp_path):
        done = cli("kernel", "congestion", "load", "lia", "--", "true", expect=1)
        assert f"the name {LIA} belongs to a controller that mptcplab did not load" in done.stderr
        assert done.stderr.count("\n") == 1
        assert "did not load" in cli("kernel", "congestion", "status").stdout
        cli("kernel", "congestion", "unload", "lia", expect=1)
        assert loaded() == ["lia"]


@pytest.mark.usefixtures("able")
def test_it_takes_rights(tmp_path: Path) -> None:
    need("setpriv")
    powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    done = subprocess.run(
        [*powerless, *COMMAND, "load", "lia"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done
    assert done.stderr == "mptcplab: loading a controller requires root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)\n"
    # Looking takes none, but does not see all.
    with started([*COMMAND, "load", "lia"], tmp_path):
        for verb, code, says in (
            ("status", 0, "loaded; only root can see who loaded it"),
            ("unload", 1, "only root may unload it"),
        ):
            words = [*powerless, *COMMAND, verb, *(["lia"] if verb == "unload" else [])]
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == code
            assert says in done.stdout + done.stderr


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(bpf_objects.CannotBuild, match="is not installed: install clang and libbpf-dev"):
        bpf_objects.build("lia", controllers.prefix())


def test_what_clang_misses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = tmp_path / "clang"
    output = "kernel.h:14:10: fatal error: 'bpf/bpf_helpers.h' file not found"
    clang.write_text(f'#!/bin/sh\necho "{output}" >&2\nexit 1\n')
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(bpf_objects.CannotBuild, match="the headers of libbpf are missing: install libbpf-dev"):
        bpf_objects.build("lia", controllers.prefix())


def test_a_kernel_that_cannot_is_told_from_one_that_can(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("it is Linux's")
    btf = tmp_path / "btf"
    assert f"has no type information: {btf} is missing" in str(controllers.why_not(btf))
    names = ["bpf_struct_ops_tcp_congestion_ops", "bpf_struct_ops_link", "bpf_rdonly_cast", "mptcp_subflow_context"]
    for missing in names:
        btf.write_bytes(b"\0".join([b"", *(name.encode() for name in names if name != missing), b""]))
        why = controllers.why_not(btf)
        assert why is not None
        assert "\n" not in why
    btf.write_bytes(b"\0".join([b"", *(name.encode() for name in names), b""]))
    assert controllers.why_not(btf) is None


@pytest.mark.usefixtures("able")
def test_what_the_verifier_refuses_is_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sources = tmp_path / "bpf"
    shutil.copytree(bpf_objects.SOURCES, sources)
    # One that writes where none may.
    glue = sources / "controller.h"
    glue.write_text(glue.read_text().replace("tp->snd_cwnd = ", "tp->mss_cache = "))
    monkeypatch.setattr(bpf_objects, "SOURCES", sources)
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["kernel", "congestion", "load", "lia", "--", "true"]) == 1
    output = capfd.readouterr().err
    assert output.startswith("mptcplab: the kernel's verifier rejects lia: "), output
    assert output.count("\n") == 1
    assert "the end of the verifier's output is in mptcplab_lia.verifier.txt" in output
    assert (tmp_path / "mptcplab_lia.verifier.txt").read_text().strip()


@pytest.mark.usefixtures("able")
def test_a_pinned_one_stays_until_it_is_unloaded(tmp_path: Path) -> None:
    need("unshare")
    ours = " ".join(COMMAND)
    # In a file system of BPF of its own, which goes with the last process in it.
    script = f"""
        while umount /sys/fs/bpf 2>/dev/null; do :; done
        {ours} load lia --pin; echo "code $?"
        mount -t bpf bpf /sys/fs/bpf || exit 3
        {ours} load lia --pin && {ours} status && {ours} load lia --pin; echo "code $?"
        {ours} unload lia && {ours} status; {ours} unload lia; echo "code $?"; ls /sys/fs/bpf
    """
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    out, err = done.stdout.splitlines(), done.stderr.splitlines()
    assert err == [
        "mptcplab: the BPF file system for pins is not mounted; to mount it: mount -t bpf bpf /sys/fs/bpf",
        f"mptcplab: {LIA} is already loaded and pinned; to unload it: mptcplab kernel congestion unload lia",
        f"mptcplab: {LIA} is not loaded",
    ]
    assert [line for line in out if line.startswith("code")] == ["code 1"] * 3
    assert f"{LIA} stays loaded at {PINS}/lia" in out[1]
    assert out[2].startswith(f"{LIA:<15} loaded, pinned at {PINS}/lia"), out
    assert f"{LIA} is unloaded" in out
    assert f"{LIA:<15} not loaded" in out


def test_names_in_the_kernel_are_ours_unless_others_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(controllers.OWN_PREFIX)
    names = [controllers.kernel_name(rule) for rule in controllers.RULES]
    assert names == ["mptcplab_lia", "mptcplab_olia", "mptcplab_balia"]
    assert str(controllers.pins()) == "/sys/fs/bpf/mptcplab"
    monkeypatch.setenv(controllers.OWN_PREFIX, "own_")
    assert controllers.kernel_name("lia") == "own_lia"
    for wrong in ("1a", "A", "../x", "a b", "elevenchars"):
        monkeypatch.setenv(controllers.OWN_PREFIX, wrong)
        with pytest.raises(controllers.CannotLoad, match="must have at most 10 characters of a-z"):
            controllers.kernel_name("lia")


def test_a_wrong_prefix_is_a_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(controllers.OWN_PREFIX, "../x")
    for verb in (["status"], ["load", "lia"], ["unload", "lia"]):
        assert cli("kernel", "congestion", *verb, expect=1).stderr.startswith("mptcplab: MPTCPLAB_CONTROLLERS='../x': ")


def test_pin_and_a_command_do_not_go_together(cli: Cli) -> None:
    assert "remove one of them" in cli("kernel", "congestion", "load", "lia", "--pin", "--", "true", expect=2).stderr


@pytest.mark.usefixtures("able")
def test_the_kernel_s_subflows_use_it(machine: Machine, cli: Cli) -> None:
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    (machine.directory / "network.toml").write_text(NETWORK)
    run = [sys.executable, "-m", "mptcplab", "run", "network.toml", "--backend", "kernel", "--closest"]
    output = cli("kernel", "congestion", "load", "lia", "--", *run, "--output", "out").stdout
    report = json.loads((machine.directory / "out" / "kernel.json").read_text())[0]
    assert [flow["congestion"] for flow in report["flows"]] == [LIA], output
    assert [lack["what"] for lack in report["lacks"]] == ["scheduler minrtt"]
    # Both paths carry data, and losses are repaired.
    assert "bulk (MPTCP): goodput" in output
    without = cli("run", "network.toml", "--backend", "kernel", expect=2).stderr
    assert "congestion lia (nearest: reno)" in without
    assert "mptcplab kernel congestion load lia -- COMMAND loads the controller" in without


@pytest.fixture
def cgroup() -> Iterator[Path]:
    """A cgroup of version 2."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    root = next((Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"), None)
    if root is None:
        cannot("there is no file system of cgroups of version 2")
        raise AssertionError
    made = root / f"mptcplab-test-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as error:
        cannot(f"{made}: {error}")
    yield made
    limit = time.monotonic() + PATIENCE
    while (made / "cgroup.procs").read_text() and time.monotonic() < limit:
        time.sleep(0.01)
    made.rmdir()


@pytest.mark.usefixtures("able")
def test_subflows_of_a_cgroup_use_it_without_being_asked(cli: Cli, cgroup: Path) -> None:
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    need("ss")
    ends = [sys.executable, "-c", BOTH_ENDS, str(cgroup), controllers.kernel_name("olia")]
    output = cli("kernel", "congestion", "load", "olia", "--cgroup", cgroup, "--", *ends).stdout.split()
    # Both ends of Multipath TCP, and none of TCP.
    assert output == ["2", "0"]
    no_group = cli(
        "kernel", "congestion", "load", "olia", "--cgroup", cgroup.parent / "nowhere", "--", "true", expect=1
    )
    assert "is not a version 2 cgroup" in no_group.stderr
