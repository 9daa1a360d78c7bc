"""Every MPTCP option that the endpoint sends on real packets, in both versions: read by Wireshark, verified by us."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conftest import Cli, need
from namespace import Namespace, namespace
from test_capture import expert, tshark

__all__ = ["namespace"]

# Two endpoints of two devices each in one process: joins, an announced address, one that is a backup, one that goes,
# a join that is refused, and connections that end in order and at once.
SCRIPT = """
import sys, time
from mptcplab.live.driver import Config, Driver, Interface

version, pcap = sys.argv[1:]
config = Config(version=version, checksum=True)
ours = [Interface("a1", ["10.88.1.2", "fd88:1::2"]), Interface("a2", ["10.88.2.2", "fd88:2::2"])]
theirs = [Interface("b1", ["10.88.11.2", "fd88:11::2"]), Interface("b2", ["10.88.12.2", "fd88:12::2"])]


def until(what, holds):
    limit = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < limit, what
        time.sleep(0.01)


def paths(stream):
    return [path for path in stream.info()["paths"] if path["state"] == "ESTAB"]


def talk(a, b):
    a.sendall(b"abcdefgh" * 1000)
    left = 8000
    while left:
        left -= len(b.recv(left))
    b.sendall(b"!")
    assert a.recv(1) == b"!"


with Driver(ours, pcap=pcap) as near, Driver(theirs) as far:
    listener = far.listen(5001, config)
    for host in ("10.88.11.2", "fd88:11::2"):
        stream = near.connect(host, 5001, config, timeout=10)
        peer, _ = listener.accept()
        talk(stream, peer)
        until("four subflows", lambda: len(paths(stream)) == 4)
        number = 2 if ":" not in host else 3
        near.set_backup(number, backup=True)
        far.set_backup(number, backup=True)
        talk(stream, peer)
        near.set_interface(number, up=False)
        until("two subflows", lambda: len(paths(peer)) == 2)
        talk(stream, peer)
        near.set_interface(number, up=True)
        near.set_backup(number, backup=False)
        far.set_backup(number, backup=False)
        until("four subflows again", lambda: len(paths(stream)) == 4)
        if ":" in host:
            stream.abort()
            until("the end", lambda: peer.info()["closed"] is not None)
        else:
            stream.close()
            assert peer.recv(1) == b""
            peer.close()
    alone = far.listen(5002, Config(version=version, checksum=True, max_subflows=0))
    stream = near.connect("10.88.11.2", 5002, config, timeout=10)
    peer, _ = alone.accept()
    talk(stream, peer)
    until("a join is refused", lambda: any(path["closed_by"] for path in stream.info()["paths"]))
    stream.close()
    peer.close()
    assert near.drain(20) and far.drain(20)
"""
# Subtypes; MP_TCPRST is of version 1. MP_FAIL needs somebody who changes content: below.
SUBTYPES = {"v0": {0, 1, 2, 3, 4, 5, 7}, "v1": {0, 1, 2, 3, 4, 5, 7, 8}}


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_every_option(namespace: Namespace, cli: Cli, tmp_path: Path, version: str) -> None:
    need("tshark")
    namespace.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    for device, subnet in (("a1", 1), ("a2", 2), ("b1", 11), ("b2", 12)):
        namespace.ip(f"addr add fd88:{subnet}::1/64 dev {device} nodad")
    file = tmp_path / "every.pcapng"
    namespace.run(sys.executable, "-c", SCRIPT, version, file)

    fields = tshark("-r", file, "-T", "fields", "-e", "tcp.options.mptcp.subtype").replace(",", " ").split()
    assert {int(field, 0) for field in fields} == SUBTYPES[version]
    assert tshark("-r", file, "-Y", "_ws.malformed") == ""
    assert expert(file, "error") == []
    output = json.loads(cli("verify", file, "--json").stdout)
    assert output["faults"] == []
    checks = output["checks"]
    for check in ("token", "MP_JOIN HMAC", "DSS checksum", "MP_FASTCLOSE key", "data sequence"):
        assert checks[check]["right"] > 0, (check, checks)
    assert ("ADD_ADDR HMAC" in checks) == (version == "v1")
    assert all(verdicts["unknown"] == 0 for verdicts in checks.values()), checks


SCENARIO = """
duration = "10s"

[paths.wifi]
rate = "8Mbit"
delay = "10ms"
queue = "100p"

[middleboxes.gateway]
path = "wifi"
kind = "rewrite-payload"

[flows.bulk]
bytes = "300kB"
checksum = true
version = "{version}"
"""


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_mp_fail(cli: Cli, tmp_path: Path, version: str) -> None:
    need("tshark")
    (tmp_path / "gateway.toml").write_text(SCENARIO.format(version=version))
    # The application gets what the box wrote, and the run says so.
    assert "DATA DAMAGED" in cli("run", "gateway.toml", "--pcap", "--output", "out", expect=1).stdout
    files = list((tmp_path / "out" / "pcap").glob("*.pcapng"))
    assert len(files) == 2
    for file in files:
        fields = tshark("-r", file, "-T", "fields", "-e", "tcp.options.mptcp.subtype").replace(",", " ").split()
        assert 6 in {int(field, 0) for field in fields}, file.stem
        assert tshark("-r", file, "-Y", "_ws.malformed") == ""
        assert expert(file, "error") == []
    # The sent bytes were correct and the received ones were not, because the box is between the captures.
    sent, received = sorted(files, key=lambda file: file.stem)
    assert json.loads(cli("verify", sent, "--json").stdout)["faults"] == []
    assert "DSS checksum" in cli("verify", received, expect=1).stdout
