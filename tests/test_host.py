"""`mptcplab host check`: faults planted one at a time in a host of two paths, and named; nobody else accused."""

from __future__ import annotations

import ipaddress
import itertools
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from mptcplab.captures.packets import read
from mptcplab.cli.commands.host import line_of
from mptcplab.emulation.namespaces import Namespace, namespace
from mptcplab.host.connections import Counted, Subflow, subflows
from mptcplab.host.firewall import takes
from mptcplab.host.fixes import SETUP_FIXES
from mptcplab.host.machine import CannotLook, Endpoint, Interface, Machine
from mptcplab.host.peer_probe import _Asked, _of_tcp
from mptcplab.host.routing import Source
from two_hosts import PEER, Hosts

MPTCP = socket.IPPROTO_MPTCP if hasattr(socket, "IPPROTO_MPTCP") else 262


def test_nobody_is_accused_where_all_is_well(healthy: Hosts) -> None:
    assert healthy.check() == {}
    assert healthy.check("--peer", PEER) == {}
    assert "no MPTCP problems found" in healthy.host("check").stdout
    healthy.client.sysctl("net.ipv4.conf.all.rp_filter", "1")
    assert not healthy.check()["rp-filter"]["problem"], "routes by source are right under a strict filter"


FAULTS = {
    "limit-subflows": "mptcp limits set subflow 0",
    "no-endpoint": "mptcp endpoint flush",
    "no-second-path": "mptcp endpoint flush; rule del from 10.0.2.1; route flush table 102",
    "route-source": "rule del from 10.0.2.1 lookup 102",
    "route-source empty table": "route flush table 102",
    "route-source wrong device": "route replace default via 10.0.1.2 dev eth1 table 102",
    "route-missing": "route replace unreachable default table 102",
    "route-connected": "route del 10.0.2.0/24 dev eth2 table 102; route del 10.0.2.0/24 dev eth2 table main; "
    "route replace default via 10.0.1.2 dev eth1 table 102",
    "rp-filter": "rule del from 10.0.2.1; route add default via 10.0.2.2 dev eth2 metric 600; "
    "sysctl net.ipv4.conf.eth2.rp_filter 1",
    "disabled": "sysctl net.mptcp.enabled 0",
    "path-manager": "sysctl net.mptcp.pm_type 1",
    "window-scaling": "sysctl net.ipv4.tcp_window_scaling 0",
    "joins": "sysctl net.mptcp.allow_join_initial_addr_port 0",
    "mtu": "link set eth2 mtu 1000",
    "address": "mptcp endpoint add 10.0.9.9 subflow",
    "device": "mptcp endpoint delete id 2; mptcp endpoint add 10.0.2.1 dev eth1 subflow",
    "device-down": "link set eth2 down",
}
"""By finding (the first word): the command that causes it on the client."""


def _plant(host: Namespace, commands: str) -> None:
    for command in commands.split(";"):
        words = command.split()
        if words[0] == "sysctl":
            host.sysctl(words[1], words[2])
        else:
            host.ip(command)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(healthy: Hosts, fault: str) -> None:
    _plant(healthy.client, FAULTS[fault])
    found = healthy.check()
    wanted = fault.split(maxsplit=1)[0]
    problems = {name for name, one in found.items() if one["problem"]}
    assert wanted in problems, found
    # One fault may have two consequences that are seen; it has no third.
    assert len(problems) <= 2, found
    assert found[wanted]["fix"]


@pytest.mark.parametrize(
    "fault", ["limit-subflows", "disabled", "path-manager", "window-scaling", "joins", "rp-filter"]
)
def test_what_is_suggested_mends_it(healthy: Hosts, fault: str) -> None:
    _plant(healthy.client, FAULTS[fault])
    fixes = healthy.host("check", "--fix-suggestions").stdout
    subprocess.run(healthy.client.command("sh", "-ec", fixes), check=True, capture_output=True, text=True)
    assert not any(one["problem"] for one in healthy.check().values())


@pytest.mark.parametrize("fault", FAULTS)
def test_setup_runs_what_check_suggests_and_check_says_what_it_does_not_fix(healthy: Hosts, fault: str) -> None:
    """`SETUP_FIXES` names exactly the problems that `setup --apply` ends; for these, both have the same commands."""
    _plant(healthy.client, FAULTS[fault])
    wanted = fault.split(maxsplit=1)[0]
    told, suggested = healthy.host("check").stdout, set(healthy.check()[wanted]["fix"])
    # No default route names the router behind eth2 here.
    router = ["--gateway", "eth2=10.0.2.2"] if any("GATEWAY" in fix for fix in suggested) else []
    suggested = {fix.replace("GATEWAY", "10.0.2.2") for fix in suggested}
    done = healthy.host("setup", "--dry-run", *router)
    planned = set(done.stdout.splitlines())
    if wanted in SETUP_FIXES:
        assert ("--gateway eth2=ADDRESS" in told) == bool(router)
        assert suggested <= planned, (suggested, planned)
        assert any(line.startswith("mptcplab host setup --apply") and wanted in line for line in told.splitlines())
    else:
        [output] = [line for line in told.splitlines() if line.startswith("host setup does not fix: ")]
        assert wanted in output.partition(";")[0]
    if done.returncode == 0:
        healthy.host("setup", "--apply", *router)
    left = {name for name, one in healthy.check().items() if one["problem"]}
    assert (wanted not in left) == (wanted in SETUP_FIXES), left


def test_a_host_that_opens_its_subflows_needs_no_addresses_of_the_peer(healthy: Hosts) -> None:
    healthy.client.ip("mptcp limits set subflow 2 add_addr_accepted 0")
    assert healthy.check() == {}
    healthy.client.ip("mptcp endpoint flush")
    assert "limit-add-addr" in healthy.check()


def test_states_have_rates_between_two_looks_at_the_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(acked: int, received: int, remote: str = "10.0.1.2:5000") -> Subflow:
        return Subflow("0000abcd", 0, "ESTAB", "10.0.1.1:40000", remote, False, 0.02, 10, acked, received, 0)

    clock = iter([10.0, 12.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    before = Counted([one(1_000, 500)])
    [known, new] = before.rates([one(251_000, 1_500), one(7, 7, "10.0.2.2:5000")])
    assert (known[1].send_rate, known[1].receive_rate) == (1e6, 4e3)
    assert (new[1].send_rate, new[1].receive_rate) == (None, None)
    line = line_of({"event": "STATE", "srtt": 0.02, "send_rate": 1e6})
    assert line.endswith("STATE] srtt=20ms send_rate=1.00Mb/s")


def test_a_name_that_a_shell_would_run_is_one_word_of_what_is_suggested(healthy: Hosts) -> None:
    name = "e;reboot"
    for command in ("set eth2 down", f"set eth2 name {name}", f"set {name} mtu 1000 up"):
        healthy.client.ip(f"link {command}")
    found = healthy.check()
    fixes = [shlex.split(fix) for one in found.values() for fix in one["fix"]]
    assert {"mtu", "route-source"} <= set(found)
    assert any(name in words for words in fixes)
    assert not any("reboot" in word and word != name for words in fixes for word in words)


@pytest.mark.parametrize("peer", ["fe80::1%lo", "[fe80::1]:80", "169.254.0.7"])
def test_a_peer_of_one_link_alone_is_refused(cli: Cli, peer: str) -> None:
    assert "a link-local address is reachable" in cli("host", "check", "--peer", peer, expect=2).stderr


def test_what_ss_says_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ss = tmp_path / "ss"
    # A few of a list without end.
    ss.write_text("#!/bin/sh\nyes 'ESTAB 0 0 10.0.0.1:5 10.0.0.2:6 tcp-ulp-mptcp flags:B token:0/a1(id:3) cwnd:10'\n")
    ss.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    first, second = itertools.islice(subflows(), 2)
    assert first == second
    assert (first.token, first.number, first.cwnd, first.backup) == ("000000a1", 3, 10, True)
    ss.write_text("#!/bin/sh\necho no netlink >&2\nexit 1\n")
    with pytest.raises(CannotLook, match="ss -OtinH: no netlink"):
        list(subflows())


def test_a_black_hole_for_long_packets_is_found_by_asking(healthy: Hosts) -> None:
    healthy.server.ip("link set eth2 mtu 1280")
    assert "mtu-black-hole" not in healthy.check()
    found = healthy.check("--peer", PEER)
    assert "10.0.2.1 (eth2)" in found["mtu-black-hole"]["what"]
    assert list(found) == ["mtu-black-hole"]


def test_a_path_that_leads_to_nobody_is_found_by_asking(healthy: Hosts) -> None:
    healthy.server.ip("route add blackhole 10.0.2.1/32")
    found = healthy.check("--peer", PEER)
    assert "10.0.2.1 (eth2)" in found["peer-path"]["what"]


@pytest.mark.parametrize(("protocol", "problem"), [(0, True), (262, False)])
def test_a_peer_that_speaks_tcp_is_named(healthy: Hosts, serving: Any, protocol: int, problem: bool) -> None:
    serving(protocol)
    assert ("peer-tcp" in healthy.check("--peer", f"{PEER}:5000")) is problem


TAKES_SYNS = """
import fcntl, os, struct
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"tun0", 0x1001))
print("ready", flush=True)
def add(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
while True:
    packet = os.read(tun, 2000)
    if packet[0] != 0x45 or packet[9] != 6 or packet[33] != 2:
        continue
    options, kinds = packet[40 : 20 + (packet[32] >> 4) * 4], []
    while options and options[0]:
        kinds.append(options[0])
        options = options[1:] if options[0] == 1 else options[options[1] :]
    if 30 in kinds:
        continue
    ports, number = packet[22:24] + packet[20:22], struct.unpack_from("!I", packet, 24)[0] + 1 & 0xFFFFFFFF
    addresses = packet[16:20] + packet[12:16]
    answer = ports + struct.pack("!IIBBHHH", 1, number, 0x50, 0x12, 65535, 0, 0)
    answer = answer[:16] + struct.pack("!H", add(addresses + struct.pack("!HH", 6, 20) + answer)) + answer[18:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + addresses
    os.write(tun, header[:10] + struct.pack("!H", add(header)) + header[12:] + answer)
"""
"""A peer behind a TUN device that answers SYNs of TCP, and none that have Multipath TCP's option."""


@pytest.fixture
def dropping(healthy: Hosts) -> Iterator[Hosts]:
    """A peer 10.50.0.2 behind tun0 that answers TCP alone."""
    client = healthy.client
    process = subprocess.Popen(client.command(sys.executable, "-c", TAKES_SYNS), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        client.batch(["addr add 10.50.0.1/24 dev tun0", "link set tun0 up"])
        yield healthy
    finally:
        process.kill()
        process.communicate()


def _counters(host: Namespace) -> dict[str, int]:
    """The counters of MPTcpExt in a namespace."""
    shown = subprocess.run(host.command("cat", "/proc/net/netstat"), capture_output=True, text=True, check=True)
    names, values = (line.split()[1:] for line in shown.stdout.splitlines() if line.startswith("MPTcpExt:"))
    return dict(zip(names, map(int, values), strict=True))


@pytest.mark.parametrize("retransmissions", ["0", "1", "2"])
def test_asking_a_peer_leaves_no_black_hole(dropping: Hosts, serving: Any, retransmissions: str) -> None:
    """The kernel opens all connections as TCP for an hour once it has seen a black hole: no check makes it see one."""
    client = dropping.client
    client.sysctl("net.mptcp.syn_retrans_before_tcp_fallback", retransmissions)
    serving(MPTCP)
    found = dropping.check("--peer", "10.50.0.2:80")
    assert "stay unanswered, but TCP SYNs are answered" in found["peer-drops-mptcp"]["what"], found
    assert "blackhole" not in found
    after = _counters(client)
    assert after.get("Blackhole", 0) == 0
    assert after.get("MPCapableSYNTXDrop", 0) == 0
    # The next application, on a link that is well, gets Multipath TCP.
    assert "peer-tcp" not in dropping.check("--peer", f"{PEER}:5000")
    assert "blackhole" not in dropping.check()
    assert _counters(client).get("MPCapableSYNTXDisabled", 0) == 0


def test_what_was_asked_is_gone_afterwards(healthy: Hosts, serving: Any) -> None:
    serving(MPTCP)
    assert healthy.check("--peer", f"{PEER}:5000") == {}
    for host in healthy:
        shown = subprocess.run(
            host.command("ss", "-Htan", "state", "established"), capture_output=True, text=True, check=True
        )
        assert shown.stdout == ""


def test_one_path_that_takes_the_option_away_is_told_from_the_peer() -> None:
    """The same peer speaks Multipath TCP on the other path."""
    links = [Interface(f"eth{at}", up=True, mtu=1500, direct=False) for at in (1, 2)]
    owns = [ipaddress.ip_interface(f"10.0.{at}.1/24") for at in (1, 2)]
    first, second = (Source(link, own, bound=False) for link, own in zip(links, owns, strict=True))
    output = _of_tcp(ipaddress.ip_address(PEER), 80, "10.0.2.1 (eth2)", [first], _Asked("TCP")).what
    assert "it answers 10.0.1.1 (eth1) with MPTCP, so a middlebox on this path" in output
    assert "the server does not use MPTCP" in _of_tcp(second.own.ip, 80, "here", [], _Asked("TCP")).what


def test_endpoints_that_only_announce_are_a_server_s(healthy: Hosts) -> None:
    healthy.client.batch(
        [
            "mptcp endpoint flush",
            "mptcp endpoint add 10.0.1.1 dev eth1 signal",
            "mptcp endpoint add 10.0.2.1 dev eth2 signal",
        ]
    )
    assert not healthy.check()["endpoint-role"]["problem"], "a server's endpoints are like that"
    found = healthy.check("--peer", PEER)["endpoint-role"]
    assert found["problem"], "with a peer, this host opens connections"
    subprocess.run(healthy.client.command("sh", "-ec", "\n".join(found["fix"])), check=True, capture_output=True)
    assert healthy.check("--peer", PEER) == {}


def test_a_full_mesh_beyond_the_limit_is_named(healthy: Hosts) -> None:
    healthy.client.batch(
        [
            "mptcp endpoint flush",
            "mptcp endpoint add 10.0.1.1 dev eth1 fullmesh",
            "mptcp endpoint add 10.0.2.1 dev eth2 fullmesh",
        ]
    )
    found = healthy.check()
    assert list(found) == ["limit-fullmesh"], found
    assert "up to 5 further subflows" in found["limit-fullmesh"]["what"]
    subprocess.run(
        healthy.client.command("sh", "-ec", found["limit-fullmesh"]["fix"][0]), check=True, capture_output=True
    )
    assert healthy.check() == {}


def test_connections_that_go_as_tcp_since_a_black_hole_are_told(healthy: Hosts) -> None:
    client = healthy.client
    process = subprocess.Popen(client.command(sys.executable, "-c", TAKES_SYNS), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        client.batch(["addr add 10.50.0.1/24 dev tun0", "link set tun0 up"])
        client.sysctl("net.mptcp.syn_retrans_before_tcp_fallback", "1")
        connect = f"import socket; socket.socket(2, 1, {MPTCP}).connect(('10.50.0.2', 80))"
        subprocess.run(client.command(sys.executable, "-c", connect), check=True, timeout=60)
    finally:
        process.kill()
        process.communicate()
    found = healthy.check()["blackhole"]
    assert found["problem"], found
    assert len(found["fix"]) == 1
    subprocess.run(client.command(*found["fix"][0].split()), check=True, capture_output=True)
    assert not healthy.check()["blackhole"]["problem"]


def test_a_filter_that_takes_the_option_away_is_named(healthy: Hosts, tmp_path: Path) -> None:
    nft = tmp_path / "nft"
    nft.write_text("#!/bin/sh\necho '  tcp option mptcp exists drop'\necho '  tcp dport 22 accept'\n")
    nft.chmod(0o755)
    done = healthy.host("check", path=str(tmp_path))
    assert "problem: firewall: " in done.stdout
    assert "exists drop" in done.stdout


def _with_six(hosts: Hosts) -> None:
    """Addresses of IPv6 on both links, endpoints bound to them, and no rules."""
    for at in (1, 2):
        hosts.client.ip(f"addr add fd00:{at}::1/64 dev eth{at} nodad")
        hosts.server.ip(f"addr add fd00:{at}::2/64 dev eth{at} nodad")
        hosts.client.ip(f"-6 route add default via fd00:{at}::2 dev eth{at} metric {at}00")
        hosts.client.ip(f"mptcp endpoint add fd00:{at}::1 dev eth{at} subflow")


def test_a_bound_endpoint_of_ipv6_needs_no_rule(healthy: Hosts) -> None:
    _with_six(healthy)
    assert healthy.check() == {}
    healthy.client.ip("-6 route del default dev eth2")
    assert "fd00:2::1 (eth2)" in healthy.check()["route-source"]["what"]


def test_a_router_of_ipv6_that_says_too_big_is_no_black_hole(healthy: Hosts) -> None:
    _with_six(healthy)
    with namespace("far") as far:
        for one in (healthy.server, far):
            # Their addresses of the link are asked with, and are to be there at once.
            one.sysctl("net.ipv6.conf.all.accept_dad", "0")
            one.sysctl("net.ipv6.conf.default.accept_dad", "0")
        healthy.server.ip(f"link add far type veth peer name eth0 netns {far.name}")
        healthy.server.batch(["addr add fd00:9::2/64 dev far nodad", "link set far mtu 1300", "link set far up"])
        far.batch(["addr add fd00:9::1/64 dev eth0 nodad", "link set eth0 up", "route add fd00::/16 via fd00:9::2"])
        healthy.server.sysctl("net.ipv6.conf.all.forwarding", "1")
        found = healthy.check("--peer", "fd00:9::1")
    assert list(found) == ["route-mtu"], found
    assert not found["route-mtu"]["problem"]


def test_a_connection_is_bound_as_its_endpoint_is(healthy: Hosts, serving: Any) -> None:
    serving(262)
    _plant(healthy.client, "rule del from 10.0.2.1; route add default via 10.0.2.2 dev eth2 metric 600")
    healthy.server.sysctl("net.ipv4.conf.eth1.rp_filter", "1")
    assert healthy.check("--peer", f"{PEER}:5000") == {}


def test_a_peer_is_not_blamed_for_a_kernel_that_opens_nothing(healthy: Hosts) -> None:
    healthy.client.sysctl("net.mptcp.enabled", "0")
    assert list(healthy.check("--peer", f"{PEER}:5000")) == ["disabled"]


def test_a_peer_of_another_family_is_told(healthy: Hosts) -> None:
    assert "no IPv6 address" in healthy.check("--peer", "2001:db8:9::1")["peer-family"]["what"]


@pytest.mark.parametrize(
    "holds",
    [
        "addr add 10.98.0.1/32 dev lo",
        "link add br0 type bridge; addr add 10.98.0.1/32 dev br0; link set br0 up",
        "addr add 10.98.0.1/32 dev eth1 preferred_lft 0",
        "addr add 10.98.0.1/32 dev eth1 scope link",
    ],
)
def test_an_endpoint_is_found_wherever_its_address_is(healthy: Hosts, holds: str) -> None:
    _plant(healthy.client, f"{holds}; mptcp endpoint add 10.98.0.1 signal")
    assert "address" not in healthy.check()


def test_a_bridge_counts_where_a_default_route_uses_it() -> None:
    own = ipaddress.ip_interface("10.0.1.1/24")
    devices = [
        Interface(name, True, 1500, False, (own,), frozenset({own.ip}), kind)
        for name, kind in (("br0", "bridge"), ("br1", "bridge"), ("eth1", ""))
    ]
    routes = ({"dst": "default", "dev": "br0", "family": 4},)
    machine = Machine(True, tuple(devices), (Endpoint(1, own.ip, "eth1", frozenset()),), routes=routes)
    assert [one.name for one in machine.usable()] == ["br0", "eth1"]
    held = [machine.holder(own.ip, name) for name in ("br1", None)]
    assert [one and one.name for one in held] == ["br1", "eth1"], "its own device is preferred"


def test_an_address_of_this_host_is_no_neighbour(healthy: Hosts) -> None:
    _plant(
        healthy.client,
        "addr add 10.0.2.9/24 dev eth2; rule add from 10.0.2.9 lookup 102; "
        "mptcp endpoint add 10.0.2.9 dev eth2 subflow",
    )
    assert healthy.check() == {}


def test_routes_of_the_addresses_of_nobody_accuse_nobody(healthy: Hosts) -> None:
    for network in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"):
        healthy.client.ip(f"route add blackhole {network}")
        assert healthy.check() == {}


@pytest.mark.parametrize(
    ("rule", "does"),
    [
        ("tcp option mptcp exists drop", True),
        ("tcp option mptcp exists counter packets 0 bytes 0 reject with tcp reset", True),
        ("reset tcp option mptcp", True),
        ("tcp option mptcp missing drop", False),
        ('tcp option mptcp exists accept comment "do not drop"', False),
        ("tcp option mptcp exists jump drop", False),
        ("-A INPUT -p tcp -m tcp --tcp-option 30 -j DROP", True),
        ("-A INPUT -p tcp -m tcp ! --tcp-option 30 -j DROP", False),
        ('-A INPUT -p tcp -m tcp --tcp-option 30 -m comment --comment "was -j DROP" -j ACCEPT', False),
        ("-A FORWARD -p tcp -j TCPOPTSTRIP --strip-options 4,30", True),
        ("-A FORWARD -p tcp -j TCPOPTSTRIP --strip-options 4,5", False),
        ("-A FORWARD -p tcp -m tcp --tcp-option 30 -j TCPOPTSTRIP --strip-options 4", False),
    ],
)
def test_only_rules_that_take_the_option_are_named(rule: str, does: bool) -> None:
    assert takes(rule) is does


@pytest.mark.parametrize(
    ("name", "plants"),
    [
        ("no-endpoint", "mptcp endpoint delete id 2"),
        ("endpoint-flags", "mptcp endpoint delete id 2; mptcp endpoint add 10.0.2.1 dev eth2"),
        (
            "limit-subflows",
            "mptcp endpoint delete id 1; addr add 10.0.2.9/24 dev eth2; rule add from 10.0.2.9 lookup 102; "
            "mptcp endpoint add 10.0.2.9 dev eth2 subflow; mptcp limits set subflow 1",
        ),
    ],
)
def test_endpoints_that_open_too_little_are_named(healthy: Hosts, name: str, plants: str) -> None:
    healthy.client.ip("mptcp limits set subflow 1")
    assert healthy.check() == {}, "the endpoint that connections begin on is beside the limit"
    _plant(healthy.client, plants)
    found = healthy.check()
    assert list(found) == [name], found
    subprocess.run(healthy.client.command("sh", "-ec", "\n".join(found[name]["fix"])), check=True, capture_output=True)
    assert healthy.check() == {}


CACHES = ("MPCapableSYNTXDrop", "Blackhole", "MPCapableSYNTXDisabled")
"""Counters of MPTcpExt that show a black hole."""


def _all_state(hosts: Hosts) -> dict[str, str]:
    """All state of the client's network that lasts; caches, counters of packets and closed sockets are none."""
    client = hosts.client
    words = [
        "addr show",
        "rule show",
        "route show table all",
        "-6 route show table all",
        "mptcp endpoint",
        "mptcp limits",
    ]
    words += ["link show", "maddr show", "tunnel show"]
    found = {one: client.ip(one) for one in words}
    settings = subprocess.run(client.command("sysctl", "-a"), capture_output=True, text=True, check=False).stdout
    found["sysctls"] = "\n".join(
        line for line in settings.splitlines() if line.startswith("net.") and "nf_conntrack_count" not in line
    )
    found["black hole"] = str({name: _counters(client).get(name, 0) for name in CACHES})
    for name in ("nft list ruleset", "ss -Htan state established"):
        found[name] = subprocess.run(client.command(*name.split()), capture_output=True, text=True, check=False).stdout
    return found


@pytest.mark.parametrize("peer", ["10.50.0.2:80", f"{PEER}:5000", "10.0.1.99:9", None])
def test_a_check_changes_nothing(dropping: Hosts, serving: Any, peer: str | None) -> None:
    """A peer that drops MPTCP, one that speaks it, an absent host, and no peer."""
    serving(MPTCP)
    before = _all_state(dropping)
    dropping.host("check", *(("--peer", peer) if peer else ()))
    assert _all_state(dropping) == before


def test_no_syn_with_the_option_is_repeated(dropping: Hosts, serving: Any, tmp_path: Path) -> None:
    """The kernel repeats a SYN after 1 s, at last without the option, and then it sees a black hole."""
    serving(MPTCP)
    file = tmp_path / "all.pcap"
    capture = dropping.client.command(sys.executable, "-m", "mptcplab.doctor.packet_capture", file)
    with subprocess.Popen(capture, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for peer in ("10.50.0.2:80", f"{PEER}:5000"):
            dropping.check("--peer", peer)
        process.terminate()
        process.wait(30)
    syns: dict[Any, list[bool]] = {}
    for one in read([file]):
        if one.syn and not one.ack and one.source[0] != ipaddress.ip_address(PEER):
            syns.setdefault(one.source, []).append(bool(one.mptcp))
    asked = [found for found in syns.values() if any(found)]
    assert len(asked) >= 4, "two tries at the peer that drops them, and one on each path to the other peer"
    assert all(found == [True] for found in asked), syns
