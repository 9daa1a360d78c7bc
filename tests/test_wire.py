"""Real packets: the commands and the Python API, among ourselves and with Linux's MPTCP."""

from __future__ import annotations

import hashlib
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli, need
from mptcplab.bench import live_bench, live_end
from mptcplab.cli.commands import bench
from namespace import Namespace, ends, namespace

__all__ = ["namespace"]

A, B = ("--interface", "a1", "--interface", "a2"), ("--interface", "b1", "--interface", "b2")

# What a Linux peer does: it listens or connects, sends its argument back and forth, prints a digest.
LINUX_SERVER = """
import hashlib, socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as server:
    server.bind(("10.88.1.1", 5001))
    server.listen()
    print("listening", file=sys.stderr, flush=True)
    with server.accept()[0] as stream:
        digest = hashlib.sha256()
        while piece := stream.recv(65536):
            digest.update(piece)
        print(digest.hexdigest())
"""
LINUX_CLIENT = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as stream:
    stream.connect(("10.88.11.2", 5001))
    stream.sendall(sys.stdin.buffer.read())
    stream.shutdown(socket.SHUT_WR)
    assert stream.recv(1) == b""
"""


def words(count: int) -> bytes:
    """Bytes that no dissector takes for a protocol of its own."""
    return bytes(random.Random(1).choices(b"abcdefghijklmnopqrstuvwxyz \n", k=count))  # noqa: S311


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def receiver(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "mptcplab", "receive", "--listen", ":5001", *B, *arguments)


def test_a_sender_behind_nat_opens_all_its_subflows(namespace: Namespace, tmp_path: Path) -> None:
    need("nft")
    data = words(2_000_000)
    (tmp_path / "sent").write_bytes(data)
    namespace.run("nft", "add", "table", "ip", "lab")
    namespace.run("nft", "add", "chain", "ip", "lab", "nat", "{ type nat hook postrouting priority srcnat; }")
    namespace.run("nft", "add rule ip lab nat ip saddr { 10.88.1.0/24, 10.88.2.0/24 } oifname { b1, b2 } masquerade")
    with namespace.background(*receiver("--output", "got", "--json"), says="listening on 10.88.11.2") as process:
        sent = json.loads(namespace.mptcplab("send", "sent", "10.88.11.2:5001", *A, "--json").stdout)
        received = json.loads(ends(process)[0])
    assert (tmp_path / "got").read_bytes() == data
    assert sent["connection"]["mode"] == "mptcp"
    assert {path["device"] for path in sent["connection"]["paths"]} == {"a1", "a2"}
    seen = {path["remote"].rsplit(":", 1)[0] for path in received["connection"]["paths"]}
    assert seen <= {"10.88.11.1", "10.88.12.1"}, "the address of the uplink, and none of the sender"


def test_send_and_receive(namespace: Namespace, tmp_path: Path) -> None:
    data = words(5_000_000)
    (tmp_path / "sent").write_bytes(data)
    with namespace.background(*receiver("--output", "got", "--json"), says="listening on 10.88.11.2") as process:
        sent = json.loads(namespace.mptcplab("send", "sent", "10.88.11.2:5001", *A, "--json").stdout)
        received = json.loads(ends(process)[0])
    assert (tmp_path / "got").read_bytes() == data
    for end, local in ((sent, {"a1", "a2"}), (received, {"b1", "b2"})):
        assert end["bytes"] == len(data)
        assert end["sha256"] == sha256(data)
        assert end["connection"]["mode"] == "mptcp"
        assert end["connection"]["version"] == "v1"
        assert {path["device"] for path in end["connection"]["paths"]} == local
        assert sum(path["share"] for path in end["connection"]["paths"]) == pytest.approx(1)
    assert received["peer"] == sent["connection"]["paths"][0]["local"]
    assert sent["connection"]["token"] == received["connection"]["remote_token"]


def test_summaries_for_people(namespace: Namespace) -> None:
    # Nobody reads from the receiver before the sender has ended, and a pipe holds 16 pieces of any length for sure.
    data = words(20_000)
    with namespace.background(*receiver("--output", "-"), says="listening") as process:
        command = ("send", "-", "10.88.11.2:5001", *A, "--congestion", "olia")
        told = namespace.mptcplab(*command, given=data).stdout.decode()
        out, err = ends(process)
    assert out == data
    assert "sent 20.00 kB" in told
    assert "MPTCP v1, olia, ontime" in told
    assert f"SHA-256 {sha256(data)}" in told
    assert "received 20.00 kB" in err.decode()
    assert "b1 " in err.decode()


def test_wireshark_reads_the_capture(namespace: Namespace, tmp_path: Path) -> None:
    need("tshark")
    (tmp_path / "sent").write_bytes(words(1_000_000))
    with namespace.background(*receiver("--pcap", "b.pcapng"), says="listening") as process:
        namespace.mptcplab("send", "sent", "10.88.11.2:5001", *A, "--pcap", "a.pcapng")
        ends(process)

    def tshark(file: str, *arguments: str) -> str:
        command = ["tshark", "-r", str(tmp_path / file), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    for file, names in (("a.pcapng", {"a1", "a2"}), ("b.pcapng", {"b1", "b2"})):
        assert tshark(file, "-Y", "_ws.malformed") == ""
        experts = [line for line in tshark(file, "-q", "-z", "expert,warn").splitlines() if line[:1] == " "]
        rows = [line.split() for line in experts if line.split()[0].isdigit()]
        assert all(row[1] == "Sequence" for row in rows), experts
        assert tshark(file, "-q", "-z", "expert,error").count("Errors") == 0
        assert set(tshark(file, "-T", "fields", "-e", "frame.interface_name").split()) == names
        assert set(tshark(file, "-T", "fields", "-e", "mptcp.stream").split()) == {"0"}
        times = [line.split(".")[1] for line in tshark(file, "-T", "fields", "-e", "frame.time_epoch").split()]
        assert any(not time.endswith("000") for time in times), "nanoseconds"


@pytest.mark.parametrize(
    ("arguments", "mode", "fallback"),
    [
        ((), "mptcp", False),
        (("--checksum",), "mptcp", False),
        (("--tcp",), "tcp", False),
        # Linux speaks version 1 only.
        (("--v0",), "tcp", True),
    ],
)
def test_send_to_linux(namespace: Namespace, arguments: tuple[str, ...], mode: str, fallback: bool) -> None:
    data = words(2_000_000)
    with namespace.background(sys.executable, "-c", LINUX_SERVER, says="listening") as process:
        command = ("send", "-", "10.88.1.1:5001", *A, "--json", *arguments)
        sent = json.loads(namespace.mptcplab(*command, given=data).stdout)
        assert ends(process)[0].decode().strip() == sha256(data) == sent["sha256"]
    connection = sent["connection"]
    assert (connection["mode"], connection["fallback"]) == (mode, fallback)
    assert connection["checksum"] == ("--checksum" in arguments)
    assert len({path["device"] for path in connection["paths"]}) == (2 if mode == "mptcp" else 1)
    assert connection["congestion"] == ("reno" if "--tcp" in arguments else "lia")


def test_receive_from_linux(namespace: Namespace) -> None:
    data = words(2_000_000)
    with namespace.background(*receiver("--output", "got", "--json"), says="listening") as process:
        namespace.run(sys.executable, "-c", LINUX_CLIENT, given=data)
        received = json.loads(ends(process)[0])
    assert received["sha256"] == sha256(data)
    assert received["connection"]["mode"] == "mptcp"
    assert (namespace.directory / "got").read_bytes() == data


@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "says"),
    [
        ("", ("--interface", "lo"), 2, "lo is not a TUN device; create one: ip tuntap add mptcp0"),
        ("", ("--interface", "nothing"), 2, "device nothing does not exist; create it: ip tuntap add nothing mode tun"),
        ("", ("--interface", "a1=10.88.1.1"), 2, "the kernel's address"),
        ("", ("--interface", "a1=here"), 2, "'here' is not an IP address"),
        ("", ("--interface", "=10.88.1.2"), 2, "names no device"),
        ("addr flush dev a1", ("--interface", "a1"), 2, "a1 has no address"),
        ("link set a1 down", ("--interface", "a1"), 2, "ip link set a1 up"),
        ("", ("--interface", "a1", "--congestion", "cubik"), 2, "did you mean cubic?"),
        ("", ("--interface", "a1", "--scheduler", "fast"), 2, "minrtt"),
        ("", ("--interface", "a1", "--rcvbuf", "12"), 2, "write a number with its unit"),
        ("", ("--interface", "a1", "--rcvbuf", "12B"), 2, "2KiB to 1GiB"),
        ("", ("--interface", "a1", "--pcap", "no/such/file"), 2, "cannot write the capture no/such/file"),
        ("", ("--interface", "a1"), 1, "10.88.1.1:5001 refused the connection"),
        ("", ("--interface", "a1", "--connect-timeout", "10s"), 1, "refused"),
    ],
)
def test_what_is_wrong_and_what_would_be_right(
    namespace: Namespace, prepare: str, arguments: tuple[str, ...], code: int, says: str
) -> None:
    if prepare:
        namespace.ip(prepare)
    (namespace.directory / "file").write_bytes(b"content")
    done = namespace.mptcplab("send", "file", "10.88.1.1:5001", *arguments, expect=code)
    assert says in done.stderr.decode()
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("to", "code", "says"),
    [
        ("10.88.1.99:5001", 1, "no answer from 10.88.1.99:5001 in 0.1 s"),
        ("10.88.1.1", 2, "write HOST:PORT"),
        ("10.88.1.1:99999", 2, "write HOST:PORT"),
        ("[fd00::1]:5001", 2, "is unreachable: the endpoint has only IPv4"),
        ("no.such.name.invalid:5001", 2, "a name that resolves on this machine"),
    ],
)
def test_places_that_cannot_be_reached(namespace: Namespace, to: str, code: int, says: str) -> None:
    command = ("send", "-", to, "--interface", "a1", "--connect-timeout", "100ms")
    assert says in namespace.mptcplab(*command, expect=code).stderr.decode()


def test_what_only_one_can_have(namespace: Namespace) -> None:
    with namespace.background(*receiver(), says="listening"):
        taken = namespace.mptcplab("receive", "--listen", ":5001", "--interface", "b1", expect=2)
        assert "another process has it open" in taken.stderr.decode()
    other = namespace.mptcplab("receive", "--listen", "10.88.1.1:5001", "--interface", "a1", expect=2)
    assert "10.88.1.1 is no address of the endpoint: it has 10.88.1.2" in other.stderr.decode()


def test_without_privileges(namespace: Namespace) -> None:
    need("capsh")
    namespace.ip("tuntap add other mode tun user 12345")
    namespace.ip("addr add 10.88.9.1/24 dev other")
    namespace.ip("link set other up")
    command = f"{sys.executable} -m mptcplab send - 10.88.9.1:5001 --interface other"
    done = namespace.run("capsh", "--drop=cap_net_admin", "--", "-c", command, expect=2)
    assert "run as root or with CAP_NET_ADMIN" in done.stderr.decode()


def test_a_peer_that_resets(namespace: Namespace) -> None:
    server = LINUX_SERVER.replace("while piece := stream.recv(65536):", "stream.recv(1)\n        if False:")
    with namespace.background(sys.executable, "-c", server, says="listening"):
        command = ("send", "-", "10.88.1.1:5001", "--interface", "a1")
        done = namespace.mptcplab(*command, given=words(3_000_000), expect=1)
    assert "the connection was lost after" in done.stderr.decode()
    assert "reset by peer" in done.stderr.decode()


ETHERNET = """
import sys
from mptcplab.live.driver import Config, Driver, Interface
interface = Interface("e0", ["10.88.21.2", "fd88:21::2"], next_hop=sys.argv[1])
with Driver([interface]) as driver:
    {}
"""
ETHERNET_CLIENT = ETHERNET.format("""
    with driver.connect(sys.argv[2], 5001, timeout=10) as stream:
        stream.sendall(sys.stdin.buffer.read())
        stream.shutdown(1)
        assert stream.recv(1) == b""
""")
ETHERNET_SERVER = ETHERNET.format("""
    import hashlib
    with driver.listen(5001) as listener:
        print("listening", file=sys.stderr, flush=True)
        stream, _ = listener.accept()
    digest = hashlib.sha256()
    while piece := stream.recv(65536):
        digest.update(piece)
    print(digest.hexdigest())
    stream.close()
    driver.drain(5)
""")


@pytest.fixture
def veth(namespace: Namespace) -> str:
    """A veth pair: `e0` for mptcplab, and the kernel's `e1`, whose Ethernet address is returned."""
    namespace.ip("link add e0 type veth peer name e1 address 02:00:00:00:00:01")
    namespace.ip("link set e0 up")
    namespace.ip("link set e1 up")
    for kernel, ours in (("10.88.21.1/24", "10.88.21.2"), ("fd88:21::1/64", "fd88:21::2")):
        namespace.ip(f"addr add {kernel} dev e1{' nodad' if ':' in kernel else ''}")
        namespace.ip(f"neigh add {ours} lladdr {live_bench.ETHERNET} dev e1 nud permanent")
    return "02:00:00:00:00:01"


@pytest.mark.parametrize("address", ["10.88.21.1", "fd88:21::1"])
@pytest.mark.parametrize("offload", [True, False])
def test_an_ethernet_interface_sends_to_linux(namespace: Namespace, veth: str, address: str, offload: bool) -> None:
    if not offload:
        without_offload(namespace)
    data = words(5_000_000)
    server = LINUX_SERVER.replace("10.88.1.1", address)
    if ":" in address:
        server = server.replace("socket.AF_INET,", "socket.AF_INET6,")
    with namespace.background(sys.executable, "-c", server, says="listening") as process:
        namespace.run(sys.executable, "-c", ETHERNET_CLIENT, veth, address, given=data)
        assert ends(process)[0].decode().strip() == sha256(data)


@pytest.mark.parametrize("offload", [True, False])
def test_an_ethernet_interface_receives_from_linux(namespace: Namespace, veth: str, offload: bool) -> None:
    if not offload:
        without_offload(namespace)
    data = words(5_000_000)
    with namespace.background(sys.executable, "-c", ETHERNET_SERVER, veth, says="listening") as process:
        namespace.run(sys.executable, "-c", LINUX_CLIENT.replace("10.88.11.2", "10.88.21.2"), given=data)
        assert ends(process)[0].decode().strip() == sha256(data)


def without_offload(namespace: Namespace) -> None:
    program = "from mptcplab.live.devices import no_offload; no_offload('e0'); no_offload('e1')"
    namespace.run(sys.executable, "-c", program)


@pytest.mark.parametrize(
    ("device", "next_hop", "says"),
    [
        ("nothing", "02:00:00:00:00:01", "interface nothing: No such device"),
        ("e0", "02:00:00:00:00", "must be an Ethernet address, such as 02:00:00:00:00:01"),
        ("e0", "02:00:00:00:00:xx", "must be an Ethernet address, such as 02:00:00:00:00:01"),
    ],
)
def test_an_ethernet_interface_that_cannot_be_opened(
    namespace: Namespace, veth: str, device: str, next_hop: str, says: str
) -> None:
    del veth
    program = ETHERNET_CLIENT.replace('"e0"', f'"{device}"')
    done = namespace.run(sys.executable, "-c", program, next_hop, "10.88.21.1", expect=None)
    assert done.returncode == 1
    assert says in done.stderr.decode()


def test_both_names_of_the_ethernet_address_agree() -> None:
    from mptcplab.live.driver import Interface

    assert live_bench.ETHERNET == Interface.ETHERNET


def test_info(cli: Cli, namespace: Namespace) -> None:
    known = json.loads(namespace.mptcplab("info", "--json").stdout)
    assert [name for name, backend in known["backends"].items() if backend["runs"]] == ["sim", "wire", "kernel"]
    found = {device["name"]: device for device in known["devices"]}
    assert found["a1"] == {"name": "a1", "tun": True, "up": True, "mtu": 1500, "addresses": ["10.88.1.1/24"]}
    assert not found["lo"]["tun"]
    assert "backends" in cli("info").stdout


def test_the_benchmark_measures_both_stacks(namespace: Namespace) -> None:
    case = live_bench.Case
    del namespace  # It skips where namespaces cannot be made.
    ticks: list[int] = []
    chosen = [
        case("linux", "linux", 2),
        case("ours", "linux", 2),
        case("linux", "ours", device="tun"),
        case("linux", "ours", 1, False, multipath=False, gro=True),
    ]
    rows = live_bench.measure(1, 0.2, 0.2, chosen, ticks.append, [65_536])
    assert [(row["sender"], row["receiver"], row["paths"]) for row in rows] == [
        ("linux", "linux", 2),
        ("ours", "linux", 2),
        ("linux", "ours", 1),
        ("linux", "ours", 1),
    ]
    assert [bench._cells(row)[5] for row in rows] == ["offload", "offload", "offload", "1500 B GRO"]
    assert all(row["gbps"] > 0 and row["block"] == 65_536 for row in rows)
    parts = ("sender_user_s_per_gb", "sender_system_s_per_gb", "receiver_user_s_per_gb", "receiver_system_s_per_gb")
    for row in rows:
        assert row["cpu_s_per_gb"] == pytest.approx(sum(row[part] for part in parts))  # type: ignore[literal-required]
        assert row["sender_system_s_per_gb"] > 0
        assert row["receiver_system_s_per_gb"] > 0
    assert rows[0]["of_linux"] is None
    assert rows[1]["of_linux"] is not None
    assert ticks == [0, 1, 2, 3, 4]
    assert {row["congestion"] for row in rows} == {live_bench.CONTROLLER}
    assert bench._cells(rows[0])[6] == "64 KiB"
    assert len(bench._cells(rows[0])) == len(bench.HEADER)


def test_linux_is_measured_with_the_controller_that_is_stated() -> None:
    """Any default of the machine: the socket has the requested controller, and a missing one is an error."""
    with socket.socket() as stream:
        for name in ("reno", live_bench.CONTROLLER):
            live_end._control(stream, name)
            has = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
            assert has == name
        with pytest.raises(RuntimeError, match="rejects the congestion controller no-such"):
            live_end._control(stream, "no-such")


@pytest.mark.parametrize("sender", ["linux", "ours"])
def test_an_end_that_fails_says_why(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch, sender: live_bench.Stack
) -> None:
    del namespace
    set_up, tried = live_bench._set_up, 0

    @contextmanager
    def to_nobody(case: live_bench.Case) -> Iterator[Any]:
        nonlocal tried
        tried += 1
        with set_up(case) as (near, far, (sending, receiving)):
            yield near, far, ({**sending, "peer": "192.0.2.1", "interfaces": []}, receiving)

    monkeypatch.setattr(live_bench, "_set_up", to_nobody)
    with pytest.raises(
        live_bench.CannotMeasure, match=rf"{sender} to linux over 1 paths: the sender failed: \w*Error: .+"
    ):
        live_bench.measure(1, 0.1, 0.1, [live_bench.Case(sender, "linux")], lambda _: None, [1])
    assert tried == (1 + live_bench.FAILURES if sender == "linux" else 1), "what is ours is tried once"


def results(monkeypatch: pytest.MonkeyPatch, *answers: float | live_bench.CannotMeasure) -> list[tuple[str, int]]:
    """Replaces measurements by these rates in Gb/s. Returns the sender and block size of each measurement."""
    left = iter(answers)
    asked: list[tuple[str, int]] = []

    def once(case: live_bench.Case, block: int, *_: object) -> live_bench.Measurement:
        asked.append((case.sender, block))
        if isinstance(answer := next(left), live_bench.CannotMeasure):
            raise answer
        return live_bench.Measurement(answer)

    monkeypatch.setattr(live_bench, "_once", once)
    return asked


def test_two_linux_hosts_that_fail_once_are_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    results(monkeypatch, 8.0, live_bench.CannotMeasure("it stands still"), 10.0)
    (row,) = live_bench.measure(2, 0.1, 0.1, [live_bench.Case("linux", "linux")], lambda _: None, [1])
    assert (row["gbps"], row["gbps_least"], row["failed"]) == (9.0, 8.0, 1)


def test_the_fastest_block_size_of_each_case_counts_and_rounds_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [live_bench.Case("linux", "linux"), live_bench.Case("ours", "linux")]
    # Linux with 1 and 2 bytes per call, then mptcplab; two rounds.
    asked = results(monkeypatch, 8.0, 10.0, 6.0, 5.0, 9.0, 12.0, 9.0, 2.0)
    linux, ours = live_bench.measure(2, 0.1, 0.1, cases, lambda _: None, [1, 2])
    assert asked == 2 * [("linux", 1), ("linux", 2), ("ours", 1), ("ours", 2)]
    assert (linux["block"], linux["gbps"], linux["of_linux"]) == (2, 11.0, None)
    assert (ours["block"], ours["gbps"]) == (1, 7.5)
    assert ours["of_linux"] == pytest.approx((6 / 10 + 9 / 12) / 2)


@pytest.mark.parametrize("second", [(10.0, 8.0, 11.0, 9.0), (10.0, 8.0, 11.0, 2.0)])
def test_an_unsteady_row_is_measured_again_with_its_reference(
    monkeypatch: pytest.MonkeyPatch, second: tuple[float, ...]
) -> None:
    other = live_bench.Case("linux", "ours", multipath=False)
    cases = [live_bench.Case("linux", "linux"), live_bench.Case("ours", "linux"), other]
    asked = results(monkeypatch, 20.0, 9.0, 7.0, 20.0, 3.0, 7.0, *second)
    linux, ours, steady = live_bench.measure(2, 0.1, 0.1, cases, lambda _: None, [1])
    assert len(asked) == 10
    assert (linux["gbps"], linux["unsteady"]) == (10.5, False), "the first measurements do not count"
    assert ours["unsteady"] == (second[-1] == 2.0)
    assert bench._cells(ours)[9].endswith("*") == ours["unsteady"]
    assert (steady["gbps"], steady["of_linux"], steady["unsteady"]) == (7.0, None, False)


def test_the_benchmark_leaves_no_namespace_when_it_is_ended(namespace: Namespace) -> None:
    from mptcplab.emulation import namespaces

    del namespace

    def made() -> list[str]:
        return [name for name in namespaces.ip("netns", "list").split() if f"-{process.pid}-" in name]

    command = [sys.executable, "-m", "mptcplab", "bench", "wire", "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 60
        while not made() and time.monotonic() < until:
            time.sleep(0.05)
        assert made()
        process.terminate()
        _, output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert not made()


def test_the_benchmark_takes_nothing_beside_it(cli: Cli) -> None:
    assert "takes no scenarios" in cli("bench", "wire", "S1", expect=2).stderr
