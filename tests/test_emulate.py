"""`mptcplab emulate`: real packets over the links of a scenario, and nothing left of it, however it ends."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Cli
from emulated import ECHO, PING, SEND, SINK, Machine, cannot, machine, made_by, python
from mptcplab import Scenario
from mptcplab.cli import main as command_line
from mptcplab.cli.commands import emulate
from mptcplab.emulation import emulated_network, namespaces
from two_links import TWO

__all__ = ["machine"]

MPTCP, TCP = 262, 0


def peer(script: str, *arguments: object) -> tuple[str, str]:
    return "--peer", shlex.join(python(script, *arguments))


def test_each_path_has_its_own_delay(machine: Machine) -> None:
    for name, least in (("server", 0.04), ("server.lte", 0.06)):
        out, err = machine.run(TWO, *peer(ECHO), "--", *python(PING, name, 20))
        # Later they may be: the processes at both ends run when the machine lets them.
        assert min(map(float, out.split())) >= least
        assert "added delay: median" in err
    sent = machine.links()
    assert sent["lte", "forward"]["delivered_frames"] == sent["lte", "backward"]["delivered_frames"] == 20
    assert sent["wifi", "forward"]["delivered_frames"] == 0


def test_tcp_gets_what_the_link_has(machine: Machine) -> None:
    began = time.monotonic()
    machine.run(TWO, *peer(SINK, TCP), "--", *python(SEND, TCP, 1_000_000))
    taken = time.monotonic() - began
    row = machine.links()["wifi", "forward"]
    assert row["delivered_bytes"] > 1_000_000
    assert taken > 1.0, "a megabyte takes a second at 8 Mb/s"
    assert machine.links()["lte", "forward"]["delivered_frames"] == 0


def test_the_kernel_s_mptcp_uses_both_paths(machine: Machine) -> None:
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    machine.run(TWO, *peer(SINK, MPTCP), "--", *python(SEND, MPTCP, 3_000_000))
    links = machine.links()
    both = [links[name, "forward"]["delivered_bytes"] for name in ("wifi", "lte")]
    assert sum(both) > 3_000_000
    assert min(both) > 300_000


def test_loss_is_that_of_the_scenario(machine: Machine) -> None:
    flood = "import socket\nwith socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:\n"
    flood += "    own.connect(('server', 5001))\n    for _ in range(4000): own.send(bytes(100))\n"
    toml = TWO.replace('rate = "8Mbit"', 'rate = "1Gbit"\nloss = "5%"').replace("100p", "10000p")
    silent = ECHO.replace("own.sendto(*own.recvfrom(2048))", "own.recvfrom(2048)")
    machine.run(toml, *peer(silent), "--", *python(flood + "    __import__('time').sleep(0.3)\n"))
    row = machine.links()["wifi", "forward"]
    drops = json.loads(machine.report.read_text())["drops"]
    assert row["offered_frames"] + drops["client"] == 4000
    # Five standard deviations of the binomial distribution.
    expected = row["offered_frames"] * 0.05
    assert abs(row["random_losses"] - expected) < 5 * (expected * 0.95) ** 0.5


def test_events_come_and_hosts_are_told(machine: Machine) -> None:
    toml = TWO + '\n[[events]]\nat = "2s"\npath = "wifi"\nset = { up = false }\n'
    toml += '[[events]]\nat = "6s"\npath = "wifi"\nset = { up = true }\n'
    look = "import subprocess, time\ndef up():\n"
    look += "    shown = subprocess.run(['ip', 'link', 'show', 'wifi'], capture_output=True, text=True).stdout\n"
    look += "    return 'UP' in shown.split('<')[1].split('>')[0].split(',')\n"
    look += (
        "for wanted in (True, False, True):\n    while up() != wanted:\n        time.sleep(0.05)\n    print(wanted)\n"
    )
    out, _ = machine.run(toml, "--", *python(look))
    assert out.split() == ["True", "False", "True"]


def test_what_was_sent_is_captured(machine: Machine) -> None:
    machine.run(TWO, "--pcap", "out.pcapng", *peer(ECHO), "--", *python(PING, "server", 3))
    data = (machine.directory / "out.pcapng").read_bytes()
    assert all(name in data for name in (b"client-wifi", b"client-lte", b"server-wifi"))
    # Each of three packets and three answers leaves a device and reaches one.
    assert data.count(b"x" * 100) == 12


def test_the_exit_code_is_the_command_s(machine: Machine) -> None:
    out, err = machine.run(TWO, "--quiet", "--", *python("import sys; print('said'); sys.exit(7)"), expect=7)
    assert (out, err) == ("said\n", "")


def until(holds: Callable[[], object]) -> None:
    limit = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


SLEEPER = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"


def _sleeping(machine: Machine) -> int:
    pid = machine.directory / "pid"
    until(lambda: pid.exists() and pid.read_text())
    return int(pid.read_text())


def _lives(process: int) -> bool:
    """Whether a process runs; one that waits to be asked how it ended does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_removes_everything(machine: Machine, number: signal.Signals) -> None:
    with machine.start(TWO, *peer(ECHO), "--", *python(SLEEPER)) as process:
        sleeper = _sleeping(machine)
        assert len(made_by(process.pid)) == 2
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert not _lives(sleeper)
    assert not made_by(process.pid)


def test_what_a_killed_run_left_goes_with_the_next(machine: Machine) -> None:
    with machine.start(TWO, *peer(ECHO), "--", *python(SLEEPER)) as process:
        sleeper = _sleeping(machine)
        process.kill()
        # Its children have its outputs.
        process.wait()
        left = made_by(process.pid)
        assert len(left) == 2
        machine.run(TWO, "--", "true")
    assert not made_by(process.pid)
    assert not _lives(sleeper)
    assert not any((namespaces.FILES / name).exists() for name in left)


def test_a_run_that_lives_keeps_what_it_has(machine: Machine) -> None:
    with machine.start(TWO, "--", *python(SLEEPER)) as process:
        _sleeping(machine)
        machine.run(TWO, "--", "true")
        assert len(made_by(process.pid)) == 2
        process.terminate()
        process.communicate(timeout=60)


WAIT = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)\n"


def test_a_run_that_stood_still_is_doubtful(machine: Machine) -> None:
    with machine.start(TWO, "--", *python("open('there', 'w').close()\n" + WAIT)) as process:
        until((machine.directory / "there").exists)
        process.send_signal(signal.SIGSTOP)
        until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        time.sleep(0.4)
        process.send_signal(signal.SIGCONT)
        (machine.directory / "go").touch()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    # No packet was in flight, and none was due.
    report = json.loads(machine.report.read_text())
    assert report["lateness"]["count"] == 0
    assert "the emulator stalled" in report["doubts"]
    assert "DOUBTFUL" in err


TRIANGLE = """
name = "three"
duration = "60s"
[links.left]
ends = ["a", "server"]
rate = "1Mbit"
[links.right]
ends = ["b", "server"]
rate = "1Mbit"
[flows.first]
from = "b"
to = "server"
[flows.second]
from = "a"
to = "server"
"""
HERE = "import socket, sys\nfor own in sys.argv[1:]: socket.socket().bind((own, 0))\nprint('here')\n"


def test_both_run_at_the_ends_of_the_first_flow(machine: Machine) -> None:
    out, _ = machine.run(TRIANGLE, "--", *python(HERE, "10.87.2.1"))
    assert out == "here\n"
    machine.run(TRIANGLE, "--peer", shlex.join(python(HERE, "10.87.1.2", "10.87.2.2")), "--", "true")
    machine.run(TRIANGLE, "--on", "server", "--peer", shlex.join(python(HERE, "10.87.2.1")), "--", "true")


def test_time_begins_when_the_peer_listens(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, scenario_file: Path
) -> None:
    del machine
    order: list[str] = []
    begin = emulated_network.Network.start

    def start(network: emulated_network.Network, pcap: Path | None = None) -> None:
        order.append("start")
        begin(network, pcap)

    monkeypatch.setattr(emulate, "_until_it_listens", lambda *_: order.append("listens"))
    monkeypatch.setattr(emulated_network.Network, "start", start)
    assert command_line.main(["emulate", str(scenario_file), "--quiet", "--peer", "sleep 60", "--", "true"]) == 0
    assert order == ["listens", "start"]


def test_nine_paths_have_eight_endpoints(machine: Machine) -> None:
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    paths = "".join(f'[paths.p{number}]\nrate = "1Mbit"\n' for number in range(9))
    out, err = machine.run(
        f'name = "nine"\nduration = "60s"\n{paths}[flows.bulk]\n', "--", *["ip", "mptcp", "endpoint"]
    )
    assert len(out.splitlines()) == 8
    assert "host client: the kernel allows 8 endpoints, so MPTCP does not use p8" in err


TWO_CORE = Scenario.parse(TWO).core


def test_a_host_that_could_not_be_told_ends_the_run() -> None:
    class Deaf:
        def notices(self) -> list[tuple[float, int, int, bool, str]]:
            return [(0.0, 0, 0, False, "admin")]

        def change(self, _number: int, _how: str, *, up: bool) -> None:
            raise ValueError(f"no such device, up={up}")

    network = emulated_network.Network(TWO_CORE, Deaf(), [Deaf()])  # type: ignore[arg-type, list-item]
    network._apply_events()
    with pytest.raises(emulated_network.CannotEmulate, match="no such device, up=False"):
        network.check()


MIDDLEBOX = TWO + '[middleboxes.home]\npath = "wifi"\nkind = "nat"\n'
NOT_THERE = TWO + '[[events]]\nat = "1s"\npath = "wify"\nset = { up = false }\n'


@pytest.mark.parametrize(
    ("toml", "arguments", "code", "says"),
    [
        (MIDDLEBOX, ["--", "true"], 2, "middleboxes work only in simulated networks"),
        (NOT_THERE, ["--", "true"], 2, "wify"),
        (TWO, ["--", "no-such-command"], 2, "command 'no-such-command' not found"),
        (TWO, ["--peer", "'", "--", "true"], 2, "write it as in a shell"),
        (TWO, ["--peer", "", "--", "true"], 2, "--peer is empty"),
        (TWO, ["--on", "mars", "--", "true"], 2, "no host 'mars'; choose from: client, server"),
        (TWO, ["--pcap", "no/such/file", "--", "true"], 2, "cannot write the capture no/such/file"),
        (TWO, ["--peer", "false", "--", "sleep", "5"], 1, "the peer (false) ended with exit code 1"),
        (TWO.replace("[paths.wifi]", "[paths.wifi]\nmtu = 60"), ["--", "true"], 2, "mtu"),
    ],
)
def test_what_is_wrong_is_one_line(machine: Machine, toml: str, arguments: list[str], code: int, says: str) -> None:
    _, err = machine.run(toml, *arguments, expect=code)
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_command_is_needed(cli: Cli, scenario_file: Path) -> None:
    assert "COMMAND" in cli("emulate", scenario_file, expect=2).stderr


def _says(capsys: pytest.CaptureFixture[str], file: Path, *, code: int) -> str:
    assert command_line.main(["emulate", str(file), "--", "true"]) == code
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    return err


def test_without_root(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scenario_file: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(emulated_network, "TUN", Path("/dev/null"))
    assert "network namespaces require root" in _says(capsys, scenario_file, code=2)


def test_without_tun(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scenario_file: Path) -> None:
    monkeypatch.setattr(emulated_network, "TUN", Path("/no/such/device"))
    assert "/no/such/device is missing; load the module (modprobe tun)" in _says(capsys, scenario_file, code=2)


def test_a_name_that_is_taken(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scenario_file: Path
) -> None:
    del machine
    with namespaces.namespace("host0") as taken:
        monkeypatch.setattr(namespaces, "_NUMBERS", itertools.count(int(taken.name.split("-")[-2])))
        assert f"{taken.name}" in _says(capsys, scenario_file, code=1)
        assert taken.name in namespaces.ip("netns", "list"), "it stays with whoever made it"


def test_a_kernel_without_mptcp_carries_the_rest(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scenario_file: Path
) -> None:
    del machine
    monkeypatch.setattr(emulated_network, "why_no_mptcp", lambda: "the kernel has no MPTCP sockets")
    assert command_line.main(["emulate", str(scenario_file), "--", "true"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("mptcplab: the kernel has no MPTCP sockets; all other traffic works\n")


def _prompted(directory: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `mptcplab emulate --prompt` with commands on its standard input."""
    if (why := emulated_network.why_not_emulate()) is not None:
        cannot(why)
    (directory / "two.toml").write_text(TWO)
    command = [sys.executable, "-m", "mptcplab", "emulate", "two.toml", "--prompt", *arguments]
    return subprocess.run(
        command, cwd=directory, input=script, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_script_pulls_a_cable(tmp_path: Path) -> None:
    """Packets that are sent while the link is down do not arrive, and the device is seen to be down."""
    script = "link wifi silent\nwait 500ms\nlink wifi up\nlink wifi delay 100ms\nwait 300ms\nstatus\nquit\n"
    done = _prompted(tmp_path, script, *peer(ECHO), "--", "sleep", "60")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == ["wifi: silent", "wifi: up", "wifi: delay 100ms"]
    assert done.stdout.splitlines()[3].startswith("wifi: up, → ")
    seen = _prompted(tmp_path, "link wifi down\nwait 2s\n", "--", "sh", "-c", "sleep 1; ip -br link show wifi")
    assert seen.returncode == 0, seen.stderr
    assert "DOWN" in seen.stdout


def test_a_link_that_was_slowed_down_is_slow(tmp_path: Path) -> None:
    """At 20 ms one way an echo takes 40 ms; with 200 ms it takes 400."""
    ping = python(PING, "server", 1)
    done = _prompted(tmp_path, "link wifi delay 200ms\n", *peer(ECHO), "--", "sh", "-c", f"sleep 1; {shlex.join(ping)}")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) >= 0.4


def test_a_script_that_is_wrong_ends_the_network(tmp_path: Path) -> None:
    done = _prompted(tmp_path, "link wfi down\n", "--", "sleep", "60")
    assert done.returncode == 2
    assert "mptcplab: link wfi down: unknown link 'wfi'; did you mean wifi?" in done.stderr
    done = _prompted(tmp_path, "link wifi rate 2\n")
    assert done.returncode == 2
    assert 'rate = "2": needs a unit' in done.stderr


def test_a_network_without_a_command_ends_with_its_script(tmp_path: Path) -> None:
    done = _prompted(tmp_path, "status\nwait 200ms\n")
    assert done.returncode == 0, done.stderr
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["wifi", "lte"]


def test_a_program_that_speaks_plain_tcp_is_told(machine: Machine) -> None:
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    _, err = machine.run(TWO, *peer(SINK, TCP), "--", *python(SEND, TCP, 10_000))
    assert "opened 1 plain TCP connections and none with MPTCP" in err
    assert "mptcpize run" in err
    assert "--mptcp of iperf3 3.19 or later" in err
    _, err = machine.run(TWO, *peer(SINK, MPTCP), "--", *python(SEND, MPTCP, 10_000))
    assert "mptcpize" not in err
    _, err = machine.run(TWO, *peer(SINK, TCP), "--", *python(SEND, MPTCP, 10_000))
    assert "The program of the peer uses plain TCP; try --peer 'mptcpize run COMMAND'" in err
