"""`mptcplab host setup`, `monitor` and `export`: the set-up works, is undone completely, and is monitored."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from mptcplab.emulation import namespaces
from mptcplab.host import journal
from mptcplab.host.setup_steps import CannotChange
from two_hosts import PEER, Hosts

MPTCP = socket.IPPROTO_MPTCP if hasattr(socket, "IPPROTO_MPTCP") else 262


def _sent(hosts: Hosts) -> list[int]:
    shown = (json.loads(hosts.client.ip(f"-j -s link show eth{at}")) for at in (1, 2))
    return [int(one[0]["stats64"]["tx"]["bytes"]) for one in shown]


def test_what_is_set_up_uses_both_paths_and_is_taken_back_whole(hosts: Hosts, serving: Any) -> None:
    before = hosts.state()
    assert "no router" not in hosts.host("setup", "--dry-run").stderr
    assert hosts.state() == before, "a dry run changes nothing"
    done = hosts.host("setup", "--apply", "--gateway", "eth2=10.0.2.2")
    assert done.returncode == 0, done.stderr
    assert hosts.check() == {}
    serving(262)
    send = f"""
        import socket, time
        with socket.socket(2, 1, {MPTCP}) as one:
            one.connect(("{PEER}", 5000))
            one.sendall(bytes(100_000))
            time.sleep(0.5)
            one.sendall(bytes(20_000_000))
    """
    began = _sent(hosts)
    subprocess.run(hosts.client.command(sys.executable, "-c", textwrap.dedent(send)), check=True, timeout=60)
    carried = [now - then for now, then in zip(_sent(hosts), began, strict=True)]
    assert min(carried) > 500_000, carried
    again = hosts.host("setup", "--apply", "--gateway", "eth2=10.0.2.2")
    assert again.stdout == "nothing to do\n"
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before
    assert "nothing to undo" in hosts.host("setup", "--undo").stdout


KILLS = """#!/bin/sh
case "$*" in
*" add "* | *" set "*)
    echo x >> {count}
    if [ "$(wc -l < {count})" = {number} ]; then
        {before}
        {ip} "$@"
        kill -9 $PPID
        exit 0
    fi
    ;;
esac
exec {ip} "$@"
"""


@pytest.mark.parametrize("number", [1, 4, 6])
@pytest.mark.parametrize("early", [True, False])
def test_a_kill_in_the_middle_is_taken_back(hosts: Hosts, tmp_path: Path, number: int, early: bool) -> None:
    before = hosts.state()
    kills = "kill -9 $PPID; exit 0" if early else ""
    script = KILLS.format(count=tmp_path / "count", number=number, ip=namespaces._IP, before=kills)
    (tmp_path / "ip").write_text(script)
    (tmp_path / "ip").chmod(0o755)
    done = hosts.host("setup", "--apply", "--gateway", "eth2=10.0.2.2", path=str(tmp_path))
    assert done.returncode == -9
    assert early or hosts.state() != before
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before


def test_a_step_that_is_refused_leaves_nothing(hosts: Hosts, tmp_path: Path) -> None:
    before = hosts.state()
    script = (
        f'#!/bin/sh\ncase "$*" in *"endpoint add"*) echo "Error: no" >&2; exit 2;; esac\nexec {namespaces._IP} "$@"\n'
    )
    (tmp_path / "ip").write_text(script)
    (tmp_path / "ip").chmod(0o755)
    done = hosts.host("setup", "--apply", "--gateway", "eth2=10.0.2.2", path=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.strip().endswith("Error: no; all changes were undone")
    assert hosts.state() == before
    assert "nothing to undo" in hosts.host("setup", "--undo").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["setup", "--apply"], "several paths need two interfaces that are up"),
        (["setup", "--dry-run", "eth1", "eth2"], "add --gateway eth2=ADDRESS"),
        (["setup", "--dry-run", "eth1", "wlan7"], "wlan7: no interface with this name is up"),
        (["setup", "--dry-run", "--gateway", "eth2"], "expected DEVICE=ADDRESS"),
        (["check", "--peer", "10.0.0.1:0"], "expected HOST or HOST:PORT"),
        (["check", "--peer", "no..host"], "--peer no..host: invalid host name"),
    ],
)
def test_what_cannot_be_is_one_line(hosts: Hosts, words: list[str], says: str) -> None:
    done = hosts.host(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{",
        "{}",
        '[{"do": "ip rule add x", "undo": "ip rule del x"}]',
        '[{"do": ["rm", "-rf", "x"], "undo": ["rm", "x"]}]',
        '[{"do": ["sysctl", "-w", "net.../../x=1"], "undo": ["sysctl", "-w", "net.../../x=1"]}]',
        '[{"do": ["ip", "rule", "add", "x"], "undo": [""]}]',
        '[{"do": ["ip", "netns", "del", "x"], "undo": ["ip", "netns", "add", "x"]}]',
    ],
)
def test_a_list_of_steps_that_is_none_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    file = tmp_path / "steps.json"
    file.write_text(text)
    monkeypatch.setattr(journal, "place", lambda: file)
    with pytest.raises(CannotChange, match="remove the file if nothing is left to undo"):
        journal.undo()
    assert file.exists()


GATEWAY = ("--gateway", "eth2=10.0.2.2")


def test_what_others_have_done_stays(hosts: Hosts) -> None:
    table = int(hosts.host("setup", "--dry-run", *GATEWAY).stdout.split("table ")[1].split()[0])
    hosts.client.ip(f"rule add from 10.0.2.1 lookup {table} priority {table}")
    before = hosts.state()
    assert hosts.host("setup", "--apply", *GATEWAY).returncode == 0, "what is there is not missing"
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before


def test_what_was_changed_since_is_left_and_said(hosts: Hosts) -> None:
    applied = hosts.host("setup", "--apply", *GATEWAY)
    assert applied.returncode == 0
    [route] = [line for line in applied.stdout.splitlines() if "route add default via 10.0.2.2" in line]
    table = route.split("table ")[1].split()[0]
    hosts.client.batch(
        [
            f"route replace default via 10.0.2.77 dev eth2 table {table}",
            "mptcp limits set subflow 4 add_addr_accepted 1",
            "mptcp endpoint delete id 2",
            "mptcp endpoint add 10.0.2.1 dev eth2 id 2 subflow fullmesh",
        ]
    )
    done = hosts.host("setup", "--undo")
    assert done.returncode == 0
    assert done.stderr.count("not undone, because this setting was changed or removed later") == 3
    assert f"removed later: {route}" in done.stderr
    assert "via 10.0.2.2 " not in done.stdout, "nothing is said to be taken back that is gone"
    assert "via 10.0.2.77" in hosts.client.ip(f"route show table {table}")
    assert "fullmesh" in hosts.client.ip("mptcp endpoint")
    assert "add_addr_accepted 1 subflows 4" in hosts.client.ip("mptcp limits")
    assert "lookup 8" not in hosts.client.ip("rule")


def test_a_link_that_went_and_came_is_set_up_again(hosts: Hosts) -> None:
    before = hosts.state()
    assert hosts.host("setup", "--apply", *GATEWAY).returncode == 0
    hosts.client.batch(["link set eth2 down", "link set eth2 up"])
    again = hosts.host("setup", "--apply", *GATEWAY)
    assert again.returncode == 0, again.stderr
    assert "route add default" in again.stdout
    assert hosts.host("setup", "--undo").returncode == 0
    assert sorted(hosts.state().splitlines()) == sorted(before.splitlines())


def test_without_ip_nothing_is_said_to_be_undone(hosts: Hosts) -> None:
    before = hosts.state()
    assert hosts.host("setup", "--apply", *GATEWAY).returncode == 0
    command = hosts.client.command(sys.executable, "-m", "mptcplab", "host", "setup", "--undo")
    narrow = os.environ | {"PATH": "/nonexistent"}
    command[0] = namespaces._IP
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=narrow)
    assert done.returncode == 2, done.stdout
    assert "ip is not installed" in done.stderr
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before


def test_several_at_once_take_turns(hosts: Hosts) -> None:
    before = hosts.state()
    command = hosts.client.command(sys.executable, "-m", "mptcplab", "host", "setup", "--apply", *GATEWAY)
    every = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    output = [one.communicate(timeout=60)[0] for one in every]
    assert [one.returncode for one in every] == [0, 0, 0]
    assert output.count("nothing to do\n") == 2
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before


PAIR = """
import socket, sys
waits, one = (socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) for _ in range(2))
with waits, one:
    waits.bind(("127.0.0.1", 0))
    waits.listen()
    one.connect(waits.getsockname())
    other, _ = waits.accept()
    one.send(b"x")
    other.send(other.recv(1))
    one.recv(1)
    print("ready", flush=True)
    sys.stdin.read(1)
    other.close()
"""


def test_connections_are_told_as_they_come_and_go(hosts: Hosts) -> None:
    def start(*words: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(hosts.client.command(sys.executable, *words), stdin=pipe, stdout=pipe, text=True)

    with start("-c", PAIR) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "ready\n"
        watch = ["-m", "mptcplab", "host", "monitor", "--json", "--states", "--count", "6"]
        with start(*watch) as monitor:
            assert monitor.stdout is not None
            states = [json.loads(monitor.stdout.readline()) for _ in range(2)]
            exported = hosts.host("export").stdout
            with start("-c", PAIR) as second:
                assert second.stdout is not None
                assert second.stdout.readline() == "ready\n"
                second.communicate("\n")
            events = [json.loads(line) for line in monitor.communicate(timeout=60)[0].splitlines()]
        first.communicate("\n")
    assert {one["event"] for one in states} == {"STATE"}
    assert all(one["bytes_received"] == 1 for one in states)
    assert all(one["receive_rate"] == one["send_rate"] == 0 for one in states)
    assert len({one["token"] for one in states}) == 2
    kinds = [one["event"] for one in events]
    assert kinds.count("CREATED") == 2
    assert kinds.count("ESTABLISHED") == 2
    tokens = {one["token"] for one in events if "token" in one}
    assert len(tokens) == 2
    assert "mptcp_connections 2\n" in exported
    for one in states:
        assert f'mptcp_subflow_bytes_received_total{{token="{one["token"]}",id="0",' in exported


def test_two_addresses_of_an_interface_have_one_table(hosts: Hosts) -> None:
    hosts.client.ip("addr add 10.0.2.3/24 dev eth2")
    hosts.client.batch(["mptcp endpoint add 10.0.2.1 dev eth2 subflow", "mptcp endpoint add 10.0.2.3 dev eth2 subflow"])
    before = hosts.state()
    assert hosts.host("setup", "--apply", *GATEWAY).returncode == 0
    assert "route-source" not in hosts.check()
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before


def test_a_router_beyond_the_own_network_is_on_the_link(hosts: Hosts) -> None:
    hosts.client.batch(["addr del 10.0.2.1/24 dev eth2", "addr add 10.7.0.1/32 dev eth2"])
    before = hosts.state()
    done = hosts.host("setup", "--apply", *GATEWAY)
    assert done.returncode == 0, done.stderr
    assert "via 10.0.2.2 onlink" in done.stdout
    assert hosts.host("setup", "--undo").returncode == 0
    assert hosts.state() == before
