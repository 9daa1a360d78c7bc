"""The page with real connections: a person unplugs a path on the page, and the transfer continues on the other."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from emulated import Machine, cannot, machine, python
from mptcplab.emulation import emulated_network, namespaces
from mptcplab.host.socket_diag import SocketDiag
from namespace import Namespace, namespace
from page_client import Page, built, command
from test_wire import A, receiver, words
from two_links import TWO

__all__ = ["machine", "namespace"]

WIFI, LTE = 0, 1
STRIDE, UP, SENT = 9, 5, 8
"""Values per direction of a link in a frame, and the positions of two of them."""

RECEIVE = """
import hashlib, socket
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as own:
    own.bind(("0.0.0.0", 5001))
    own.listen()
    with own.accept()[0] as stream:
        digest = hashlib.sha256()
        while data := stream.recv(65536):
            digest.update(data)
        stream.sendall(digest.hexdigest().encode())
"""
SEND_FILE = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as own:
    own.connect(("server", 5001))
    own.sendfile(open(sys.argv[1], "rb"))
    own.shutdown(socket.SHUT_WR)
    print(own.recv(64, socket.MSG_WAITALL).decode())
"""


def value(frame: dict[str, Any], link: int, field: int, direction: int = 0) -> float:
    """A value of one direction of a link."""
    number: float = frame["directions"][(2 * link + direction) * STRIDE + field]
    return number


@contextmanager
def started(arguments: list[str], directory: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running command, and the URL of its page."""
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, cwd=directory, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "page at http://127.0.0.1:" in line, line + process.stderr.read()
            yield process, line.split()[-1]
        finally:
            if process.poll() is None:
                process.terminate()


def test_a_transfer_continues_when_a_path_is_unplugged_on_the_page(machine: Machine) -> None:
    if (why := emulated_network.why_no_mptcp()) is not None:
        cannot(why)
    data = words(5_000_000)
    (machine.directory / "sent").write_bytes(data)
    (machine.directory / "network.toml").write_text(TWO)
    arguments = command(
        built(machine.directory / "page"),
        *("page", "--no-browser", "--live", "emulate", "network.toml", "--quiet", "--peer"),
        f"{sys.executable} -c '{RECEIVE}'",
        *("--", *python(SEND_FILE, "sent")),
    )
    with started(arguments, machine.directory) as (process, url), Page(url) as page:
        machine.started.append(process.pid)
        loaded = page.next()["loaded"]
        assert [link["name"] for link in loaded["description"]["links"]] == ["wifi", "lte"]
        assert "[paths.wifi]" in loaded["toml"]
        page.until(lambda frame: frame["type"] == "frame" and value(frame, WIFI, SENT) > 200_000)
        both = page.until(lambda frame: len(frame["flows"][0]["subflows"]) == 2)
        assert both["flows"][0]["multipath"]
        assert {one["path"] for one in both["flows"][0]["subflows"]} == {WIFI, LTE}
        assert all(one["cwnd"] > 0 and one["srtt"] > 0.03 for one in both["flows"][0]["subflows"])
        answer = page.act(1, {"kind": "link", "link": "wifi", "set": {"up": False}})
        assert answer == {"type": "done", "id": 1}
        down = page.until(lambda frame: frame["type"] == "frame" and value(frame, WIFI, UP) == 0)
        frames = []
        while not (last := page.next())["finished"]:
            frames.append(last)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.strip() == hashlib.sha256(data).hexdigest()
    assert "Traceback" not in err
    assert len(frames) > 20, "the transfer takes seconds on the other path"
    assert all(value(frame, WIFI, UP) == 0 and value(frame, LTE, UP) == 1 for frame in frames)
    # One reading of the counters may be older than the change.
    assert value(last, WIFI, SENT) - value(down, WIFI, SENT) < 100_000
    assert value(last, LTE, SENT) - value(down, LTE, SENT) > 1_000_000
    assert {one["path"] for one in frames[-10]["flows"][0]["subflows"]} == {LTE}
    received = [frame["flows"][0]["received"] for frame in [both, down, *frames]]
    assert received == sorted(received)
    assert received[-1] > 0.9 * len(data)


def test_sliders_change_the_emulated_links(machine: Machine) -> None:
    (machine.directory / "network.toml").write_text(TWO)
    arguments = command(
        built(machine.directory / "page"),
        *("emulate", "network.toml", "--page", "--no-browser", "--quiet", "--", "sleep", "60"),
    )
    with started(arguments, machine.directory) as (process, url), Page(url) as page:
        machine.started.append(process.pid)
        wanted = {"rate": 1_234_567, "delay": 0.0505, "loss": 0.001, "queueFrames": 7}
        assert page.act(1, {"kind": "link", "link": "lte", "set": wanted})["type"] == "done"
        frame = page.until(lambda frame: frame["type"] == "frame" and value(frame, LTE, 2) == 1_234_567)
        assert [value(frame, LTE, field, direction=1) for field in (3, 4)] == pytest.approx([0.0505, 0.001])
        assert page.act(2, {"kind": "link", "link": "lte", "how": "blackhole", "set": {"up": False}})["type"] == "done"
        assert page.act(3, {"kind": "link", "link": "lte", "set": {"up": True}})["type"] == "done"
        process.terminate()
        assert page.until(lambda frame: frame.get("finished"))
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err


def test_flows_of_the_kernel_backend_have_subflows(machine: Machine) -> None:
    if (why := emulated_network.why_no_mptcp() or emulated_network.why_no_paths()) is not None:
        cannot(why)
    (machine.directory / "network.toml").write_text(TWO.replace("60s", "3s"))
    arguments = command(
        built(machine.directory / "page"),
        *("run", "network.toml", "--backend", "kernel", "--closest", "--json", "--page", "--no-browser"),
    )
    with started(arguments, machine.directory) as (process, url), Page(url) as page:
        machine.started.append(process.pid)
        rows = 0
        while not (message := page.next()).get("finished"):
            rows += len(message.get("samples", {}).get("time", []))
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    [flow] = message["flows"]
    # The last look is a moment before the end of the run.
    total = json.loads(out)["end"]["sum_received"]["bytes"]
    assert flow["received"] == pytest.approx(total, rel=0.2)
    assert rows > 100


# The page is in the namespace of the command, so that its client has to be there, too.
CLIENT = """
import json, sys
sys.path.insert(0, sys.argv[2])
from page_client import Page
with Page(sys.argv[1]) as page:
    names = [one["name"] for one in page.next()["loaded"]["description"]["links"]]
    paths = lambda frame: frame.get("flows") and {one["path"] for one in frame["flows"][0]["subflows"]}
    page.until(lambda frame: paths(frame) == {0, 1})
    answer = page.act(1, {"kind": "link", "link": "a1", "set": {"up": False}})
    refused = page.act(2, {"kind": "link", "link": "a1", "set": {"rate": 1e6}})
    page.until(lambda frame: paths(frame) == {1})
    print("unplugged", flush=True)
    last = page.until(lambda frame: frame.get("finished"))
print(json.dumps([names, answer, refused, last["flows"]]))
"""


def test_a_transfer_of_mptcplab_s_own_stack_is_shown(namespace: Namespace, tmp_path: Path) -> None:
    data = words(6_000_000)
    pipe = subprocess.PIPE
    with namespace.background(*receiver("--output", "got", "--json"), says="listening on 10.88.11.2") as process:
        arguments = command(
            built(tmp_path / "page"), *("send", "-", "10.88.11.2:5001", *A, "--quiet", "--page", "--no-browser")
        )
        with started(namespace.command(*arguments), tmp_path) as (sender, url):
            assert sender.stdin is not None
            sender.stdin.write(data[:3_000_000].decode())
            sender.stdin.flush()
            watch = namespace.command(sys.executable, "-c", CLIENT, url, str(Path(__file__).parent))
            with subprocess.Popen(watch, stdout=pipe, stderr=pipe, text=True) as client:
                assert client.stdout is not None
                assert client.stdout.readline() == "unplugged\n"
                sender.stdin.write(data[3_000_000:].decode())
                sender.stdin.close()
                shown, problem = client.communicate(timeout=60)
                assert client.returncode == 0, problem
            assert sender.wait(60) == 0
        process.wait(60)
    names, answer, refused, [flow] = json.loads(shown)
    assert names == ["a1", "a2"]
    assert answer == {"type": "done", "id": 1}
    assert "can only be set up or down, not its rate" in refused["problem"]["message"]
    assert flow["received"] == len(data)
    assert flow["multipath"]
    assert (tmp_path / "got").read_bytes() == data


@pytest.mark.usefixtures("machine")
def test_sockets_of_a_namespace_are_read() -> None:
    script = (
        "import socket, sys\n"
        "a = socket.create_server(('127.0.0.1', 7001)); b = socket.create_connection(('127.0.0.1', 7001))\n"
        "c = a.accept()[0]; b.sendall(bytes(5000)); c.recv(5000, socket.MSG_WAITALL)\n"
        "print('ready', flush=True); sys.stdin.read()\n"
    )
    with namespaces.namespace("diag") as made:
        diag = SocketDiag(made.name)
        assert diag.tcp() == []
        pipe = subprocess.PIPE
        with subprocess.Popen(made.command(*python(script)), stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            found = {one.local[1]: one for one in diag.tcp()}
            process.communicate()
        diag.close()
    assert len(found) == 2
    accepted = found.pop(7001)
    [opened] = found.values()
    assert (opened.remote, accepted.remote) == (accepted.local, opened.local)
    assert accepted.bytes_received == opened.bytes_sent == 5000
    assert opened.token is None
    assert opened.srtt is not None
    assert opened.cwnd >= opened.mss > 0


def test_a_run_on_our_stack_shows_its_subflows(tmp_path: Path) -> None:
    (tmp_path / "wire.toml").write_text(
        'duration = "4s"\nsample = "200ms"\n[paths.wifi]\nrate = "8Mbit"\nrtt = "20ms"\n'
        '[paths.lte]\nrate = "4Mbit"\nrtt = "40ms"\n[flows.both]\n[flows.back]\ndirection = "download"\n',
        encoding="utf-8",
    )
    arguments = command(built(tmp_path / "page"), "run", "wire.toml", "--backend", "wire", "--page", "--no-browser")
    with started(arguments, tmp_path) as (_, url), Page(url) as page:
        loaded = page.next()["loaded"]["description"]
        assert [flow["sender"] for flow in loaded["flows"]] == ["client", "server"]
        rows: set[tuple[int, int, str]] = set()
        best: list[dict[str, Any]] = []
        while not (frame := page.next()).get("finished"):
            samples = frame["samples"]
            names = [loaded["metrics"][number]["name"] for number in samples["metric"]]
            rows |= set(zip(samples["flow"], samples["path"], names, strict=True))
            if all(len(flow["subflows"]) == 2 for flow in frame["flows"]):
                best = frame["flows"]
        assert {subflow["path"] for flow in best for subflow in flow["subflows"]} == {WIFI, LTE}
        assert all(flow["received"] > 0 and flow["multipath"] for flow in best)
        for flow in (0, 1):
            for path in (WIFI, LTE):
                assert {(flow, path, name) for name in ("cwnd", "srtt", "goodput", "throughput")} <= rows
