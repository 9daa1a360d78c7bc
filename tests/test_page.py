"""`mptcplab page`: the server and its bounds, over loopback and with a source that the test controls."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.emulation.link_control import LinkControl
from mptcplab.page import messages, security, static_files
from mptcplab.page import server as server_module
from mptcplab.page.frames import History, frame
from mptcplab.page.live_network import LiveNetwork, Unreadable
from mptcplab.page.live_source import Moment
from mptcplab.page.live_transfer import LiveTransfer
from mptcplab.page.messages import LinkChange, Refused
from mptcplab.page.server import CannotServe, PageServer
from page_client import Page, built, command
from test_console import NetworkLinks
from two_links import TWO

DOWN = {"kind": "link", "link": "wifi", "set": {"up": False}}


class Source:
    """A live run whose state the test decides."""

    def __init__(self) -> None:
        self.links = ["wifi", "lte"]
        self.changes = 0
        self.changed: list[LinkChange] = []
        self.looks = 0
        self.padding = 0
        self.fails = False

    def loaded(self) -> dict[str, Any]:
        return {"toml": "", "description": {"links": self.links}}

    def look(self) -> Moment:
        self.looks += 1
        if self.fails:
            raise RuntimeError("the emulator has stopped")
        flow = {"written": self.looks, "padding": "x" * self.padding}
        return Moment(self.looks / 20, [0.0, math.nan], [flow], [(self.looks / 20, 0, 0, 0, 1e6)])

    def change(self, change: LinkChange) -> None:
        if change.link == "lte":
            raise Refused("link lte: it is recorded")
        self.changed.append(change)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def server(tmp_path: Path, source: Source) -> Iterator[PageServer]:
    scenario = {"toml": 'name = "x"', "seed": 3}
    with PageServer(static_files.files(built(tmp_path / "page")), scenario=scenario, source=source) as running:
        yield running


def get(server: PageServer, target: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """The response to a GET request; `Host` is right unless given."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("GET", target, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read()


def eventually(holds: Callable[[], bool]) -> None:
    """Waits until the server answers again: it notices the end of connections a moment later."""
    deadline = time.monotonic() + 10
    while True:
        with suppress(ConnectionError, InvalidStatus):
            if holds():
                return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_static_files_have_security_headers(server: PageServer) -> None:
    status, headers, body = get(server, "/")
    assert (status, body) == (200, b"<!doctype html><title>page</title>")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    rules = headers["Content-Security-Policy"]
    assert "default-src 'none'" in rules
    assert "'wasm-unsafe-eval'" in rules
    assert "http" not in rules, "no other server is allowed"
    status, headers, body = get(server, "/assets/core.wasm?v=1")
    assert (status, headers["Content-Type"], len(body)) == (200, "application/wasm", 4000)
    assert get(server, "/nothing")[1]["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "target",
    ["/../server.py", "/%2e%2e/server.py", "/assets/../../server.py", "/assets/", "/assets", "/evil", "/.", "/\\"],
)
def test_no_other_file_is_served(server: PageServer, target: str) -> None:
    assert get(server, target)[0] == 404


def test_links_out_of_the_folder_are_left_out(tmp_path: Path) -> None:
    folder = built(tmp_path / "page")
    (tmp_path / "secret").write_text("secret")
    (folder / "evil.txt").symlink_to(tmp_path / "secret")
    assert sorted(static_files.files(folder)) == ["/", "/assets/core.wasm", "/index.html"]


def test_the_scenario_requires_the_token(server: PageServer) -> None:
    status, headers, body = get(server, f"/scenario?token={server.token}")
    assert (status, json.loads(body)) == (200, {"toml": 'name = "x"', "seed": 3})
    assert headers["Content-Type"] == "application/json"
    for query in ("", "?token=", "?token=x", f"?token={server.token}x", f"?token=x&token={server.token}", "?token=%ff"):
        status, headers, body = get(server, "/scenario" + query)
        assert status in (400, 403), query
        assert b"name" not in body.replace(b"repeat a name", b"")
        assert "Content-Security-Policy" in headers


def test_foreign_names_and_pages_are_refused(server: PageServer) -> None:
    port = server.port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
        assert get(server, "/", Host=host)[0] == 403, host
    assert get(server, "/", Host=f"LOCALHOST:{port}")[0] == 200
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"):
        assert get(server, "/", Origin=origin)[0] == 403, origin
        with pytest.raises(InvalidStatus) as refusal:
            Page(server.url, origin=origin)
        assert refusal.value.response.status_code == 403
    with Page(server.url, origin=f"http://127.0.0.1:{port}") as page:
        assert page.next()["type"] == "loaded"


def test_a_live_page_requires_the_token(server: PageServer) -> None:
    for query in ("", "?token=x"):
        with pytest.raises(InvalidStatus) as refusal:
            Page(f"http://127.0.0.1:{server.port}/{query or '?'}")
        assert refusal.value.response.status_code == 403
    assert get(server, f"/live?token={server.token}")[0] in (400, 426), "no WebSocket"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\0" * 100 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 1000,
        b"GET /" + b"a" * 20_000,
        b"POST / HTTP/1.1\r\n\r\n",
    ],
)
def test_no_http_ends_the_connection(server: PageServer, request_bytes: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as stranger:
        stranger.sendall(request_bytes)
        try:
            while stranger.recv(4096):
                pass
        except ConnectionResetError:
            pass
    assert get(server, "/")[0] == 200


def test_only_some_connections_are_open_at_once(server: PageServer) -> None:
    opened = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(100)]
    try:
        time.sleep(0.2)
        alive = 0
        for one in opened:
            one.settimeout(0.01)
            try:
                alive += one.recv(1) != b""
            except TimeoutError:
                alive += 1
            except ConnectionError:
                pass
        assert alive == security.MAX_CONNECTIONS
    finally:
        for one in opened:
            one.close()
    eventually(lambda: get(server, "/")[0] == 200)


def test_frames_continue_where_the_last_one_ended(server: PageServer, source: Source) -> None:
    with Page(server.url) as page:
        assert page.next() == {"type": "loaded", "loaded": source.loaded()}
        first, *later = [page.next() for _ in range(10)]
    assert first["restarted"]
    assert not any(one["restarted"] for one in later)
    times = [time for one in [first, *later] for time in one["samples"]["time"]]
    assert times == sorted(set(times))
    assert times[0] == 1 / 20, "all samples since the start"
    assert first["directions"] == [0.0, None]
    assert first["packets"] == []
    assert set(first["samples"]) == {"time", "flow", "path", "metric", "value"}
    assert len(first["events"]["numbers"]) == 3


def test_a_page_gets_at_most_twenty_frames_per_second(server: PageServer) -> None:
    with Page(server.url) as page:
        page.next()
        page.next()
        began = time.monotonic()
        for _ in range(20):
            page.next()
        assert time.monotonic() - began > 0.9


def test_actions_are_answered(server: PageServer, source: Source) -> None:
    with Page(server.url) as page:
        assert page.act(1, DOWN) == {"type": "done", "id": 1}
        assert source.changed == [LinkChange("wifi", {}, up=False, how="admin")]
        assert page.act(2, {"kind": "link", "link": "lte", "set": {"rate": 1e6}}) == {
            "type": "refused",
            "id": 2,
            "problem": {"message": "link lte: it is recorded", "line": None, "column": None},
        }


def link(**wanted: object) -> dict[str, object]:
    return {"type": "act", "id": 1, "action": {"kind": "link", "link": "wifi", "set": wanted}}


BAD: list[tuple[object, str]] = [
    ("", "invalid JSON"),
    ("{", "invalid JSON"),
    ("[" * 30_000, "invalid JSON"),
    ('{"type": "act", "id": 1, "id": 2}', "repeats a key"),
    ('{"id": NaN}', "NaN"),
    ("9" * 5000, "invalid JSON"),
    (5, "message = 5: must be an object"),
    ({"type": "act"}, "id = null"),
    ({"type": "act", "id": True}, "id = true"),
    ({"type": "act", "id": -1}, "id = -1"),
    ({"type": "act", "id": 2**60}, "id = "),
    ({"type": "run", "id": 1}, "unknown type"),
    ({"type": ["act"], "id": 1}, "type = a list"),
    ({"type": "act", "id": 1, "action": 5}, "action = 5"),
    ({"type": "act", "id": 1, "action": DOWN, "more": 1}, "unknown key of message"),
    ({"type": "act", "id": 1, "action": {**DOWN, "kind": "addFlow"}}, "only changes of links"),
    ({"type": "act", "id": 1, "action": {**DOWN, "kind": "lnk"}}, "did you mean link?"),
    ({"type": "act", "id": 1, "action": {**DOWN, "link": "wfi"}}, "did you mean wifi?"),
    ({"type": "act", "id": 1, "action": {**DOWN, "link": "w" * 60_000}}, "unknown"),
    ({"type": "act", "id": 1, "action": {**DOWN, "how": "route"}}, "action.how"),
    ({"type": "act", "id": 1, "action": {**DOWN, "direction": "forward"}}, "omit direction"),
    (link(), "action.set is empty"),
    (link(up=1), "must be true or false"),
    (link(up=None), "must be true or false"),
    (link(rate=0), "between 1 and 1e+12 bit/s"),
    (link(rate="8Mbit"), "must be a number"),
    (link(rate=True), "must be a number"),
    ('{"type": "act", "id": 1, "action": {"kind": "link", "link": "wifi", "set": {"rate": 1e999}}}', "between 1"),
    (link(delay=-1), "between 0 and 3600 s"),
    (link(loss=1.5), "between 0 and 1"),
    (link(queueFrames=1.5), "must be an integer"),
    (link(distance=3), "distance of a station"),
    (link(colour="red"), "unknown key of action.set"),
]


@pytest.mark.parametrize(("message", "says"), BAD)
def test_bad_messages_are_refused(message: object, says: str) -> None:
    text = message if isinstance(message, str) else json.dumps(message)
    began = time.monotonic()
    with pytest.raises(Refused) as refusal:
        messages.read(text, ["wifi", "lte"])
    assert says in str(refusal.value)
    assert len(str(refusal.value)) < 600
    assert time.monotonic() - began < 5


def test_a_refusal_has_the_number_of_its_message(server: PageServer, source: Source) -> None:
    with Page(server.url) as page:
        page.say(link(rate=-1))
        answer = page.until(lambda message: message["type"] == "refused")
        assert answer["id"] == 1
        assert answer["problem"]["message"].startswith("action.set.rate = -1: must be a number between")
        page.say("nonsense")
        assert page.until(lambda message: message["type"] == "refused")["id"] is None
    assert not source.changed


def closed(page: Page) -> int:
    """The code with which the server closes a connection."""
    try:
        for _ in range(1000):
            page.next()
    except ConnectionClosed as end:
        return end.rcvd.code if end.rcvd else 0
    pytest.fail("the server does not close the connection")


def test_many_bad_messages_end_the_connection(server: PageServer) -> None:
    with Page(server.url) as page:
        for _ in range(security.MAX_BAD + 1):
            page.say("nonsense")
        assert closed(page) == 1008


def test_too_fast_messages_end_the_connection(server: PageServer, source: Source) -> None:
    with Page(server.url) as page:
        for _ in range(security.MAX_MESSAGES + 10):
            try:
                page.say(link(up=True))
            except ConnectionClosed:
                break
        assert closed(page) == 1008
    assert len(source.changed) <= security.MAX_MESSAGES


def test_long_and_binary_messages_end_the_connection(server: PageServer) -> None:
    with Page(server.url) as page:
        page.say("x" * (security.MAX_MESSAGE + 1))
        assert closed(page) == 1009
    with Page(server.url) as page:
        page.say(b"{}")
        assert closed(page) == 1003


def flood(page: Page) -> None:
    for _ in range(100_000):
        page.socket.ping(os.urandom(120))


def test_a_flood_of_control_frames_resets_the_connection(server: PageServer) -> None:
    with Page(server.url) as page:
        with pytest.raises(ConnectionClosed):
            flood(page)
        assert get(server, "/")[0] == 200


def is_admitted(server: PageServer) -> bool:
    with Page(server.url) as page:
        return bool(page.next()["type"] == "loaded")


def test_one_page_too_many_is_refused(server: PageServer) -> None:
    pages = [Page(server.url) for _ in range(security.MAX_CLIENTS)]
    try:
        for page in pages:
            page.next()
        with pytest.raises(InvalidStatus) as refusal:
            Page(server.url)
        assert refusal.value.response.status_code == 503
    finally:
        for page in pages:
            page.close()
    eventually(lambda: is_admitted(server))


def test_a_page_that_reads_nothing_is_dropped_and_delays_no_other(
    server: PageServer, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "SLOW", 0.5)
    source.padding = 1_000_000
    request = (
        f"GET /live?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    with socket.socket() as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.connect(("127.0.0.1", server.port))
        stalled.sendall(request.encode())
        source_before = source.looks
        with Page(server.url, max_size=None) as other:
            for _ in range(20):
                other.next()
        assert source.looks > source_before + 15
        time.sleep(1.0)
        stalled.settimeout(10)
        received = 0
        with suppress(ConnectionError):
            while data := stalled.recv(1 << 20):
                received += len(data)
    assert received < 20 << 20, "frames are skipped, not queued"


def test_a_failed_look_is_reported(server: PageServer, source: Source) -> None:
    with Page(server.url) as page:
        source.fails = True
        message = page.until(lambda message: message["type"] == "failure")
        assert "the emulator has stopped" in message["message"]
        assert closed(page) == 1011


def test_a_page_that_opens_after_a_failure_learns_it(server: PageServer, source: Source) -> None:
    source.fails = True
    time.sleep(0.3)
    with Page(server.url) as page:
        assert [page.next()["type"] for _ in range(2)] == ["loaded", "failure"]


def test_an_emulator_without_counters_has_no_samples() -> None:
    class Emulator:
        def snapshot(self) -> dict[str, object]:
            return {"elapsed_s": 0.0, "links": []}

    class Connections:
        def look(self, _time: float, _sampler: object) -> list[dict[str, object]]:
            return []

    scenario, control = Scenario.parse(TWO).core, LinkControl(NetworkLinks())
    live = LiveNetwork(scenario, Emulator(), control, Connections())  # type: ignore[arg-type]
    moment = live.look()
    assert moment.rows == []
    assert len(moment.directions) == 4 * 9, "two links with two directions"


def test_the_last_frame_is_finished(tmp_path: Path, source: Source) -> None:
    with PageServer(static_files.files(built(tmp_path / "page")), source=source) as server:
        page = Page(server.url)
        page.next()
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < 3
        assert page.until(lambda message: message.get("finished"))["speed"] == 0
        assert closed(page) == 1000


def test_the_last_frame_follows_one_that_is_sent_slowly(
    tmp_path: Path, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, sending = server_module._send, threading.Event()

    async def slow(connection: Any, message: Mapping[str, Any]) -> None:
        await send(connection, message)
        if message["type"] == "frame" and not message["finished"]:
            sending.set()
            await asyncio.sleep(0.3)

    monkeypatch.setattr(server_module, "_send", slow)
    with PageServer(static_files.files(built(tmp_path / "page")), source=source) as server, Page(server.url) as page:
        assert sending.wait(10)
        server.close()
        assert page.until(lambda message: message.get("finished"))
        assert closed(page) == 1000


def test_a_port_in_use_is_reported(tmp_path: Path, server: PageServer) -> None:
    with pytest.raises(CannotServe, match="choose another port"):
        PageServer(static_files.files(built(tmp_path / "other")), port=server.port).start()


def test_the_history_is_bounded() -> None:
    history = History(10)
    history.add([(float(number), 0, 0, 0, 0.0) for number in range(8)])
    rows, position, restarted = history.since(None)
    assert (len(rows), position, restarted) == (8, 8, True)
    history.add([(8.0, 0, 0, 0, 0.0)])
    assert history.since(position) == ([(8.0, 0, 0, 0, 0.0)], 9, False)
    history.add([(float(number), 0, 0, 0, 0.0) for number in range(9, 30)])
    rows, position, restarted = history.since(9)
    assert (len(rows), rows[0][0], position, restarted) == (10, 20.0, 30, True), "a page that missed rows gets all"


def test_missing_numbers_are_null() -> None:
    text = messages.written(frame(Moment(1.0, [math.nan, math.inf, 2.0], [], []), [], restarted=True))
    assert json.loads(text)["directions"] == [None, None, 2.0]


def test_the_console_and_the_page_know_the_same_states() -> None:
    control = LinkControl(NetworkLinks())
    control.set_state("wifi", "silent")
    control.set_quantity("lte", "rate", "2Mbit")
    assert control.states() == {"wifi": "silent", "lte": "up"}


class BrokenLinks(NetworkLinks):
    """Links with one quantity that cannot be changed, and hosts that cannot be notified."""

    broken = ""

    def set_link(self, link: str, key: str, value: str) -> None:
        if key == self.broken:
            raise RuntimeError("the emulator has stopped")
        super().set_link(link, key, value)

    def set_up(self, link: str, *, up: bool) -> None:
        if self.broken == "hosts":
            raise OSError("no such device")
        super().set_up(link, up=up)


def live(text: str, wires: NetworkLinks) -> LiveNetwork:
    """A network whose links are `wires`."""
    return LiveNetwork(Scenario.parse(text).core, object(), LinkControl(wires), Unreadable(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("link_text", "numbers", "says"),
    [
        ('rate = "8Mbit"\nqueue = { kind = "codel" }', {"loss": 0.1, "queueFrames": 7.0}, "needs a drop-tail queue"),
        ('trace = "link.csv"', {"loss": 0.1, "rate": 1e6}, "must not be set where the link has a trace"),
    ],
)
def test_a_refused_change_changes_nothing(tmp_path: Path, link_text: str, numbers: dict[str, float], says: str) -> None:
    (tmp_path / "link.csv").write_text("time_s,rate_mbit\n0,8\n1,4\n")
    file, wires = tmp_path / "two.toml", NetworkLinks()
    file.write_text(TWO.replace('rate = "8Mbit"\ndelay = "20ms"\nqueue = "100p"', link_text))
    network = LiveNetwork(Scenario.load(file).core, object(), LinkControl(wires), Unreadable(1))  # type: ignore[arg-type]
    with pytest.raises(Refused, match=f"link wifi: .*{says}"):
        network.change(LinkChange("wifi", numbers, None, "admin"))
    assert (wires.done, network.changes) == ([], 0)
    network.change(LinkChange("lte", {"loss": 0.1, "queueFrames": 7.0}, None, "admin"))
    assert (len(wires.done), network.changes) == (2, 1)


@pytest.mark.parametrize(("key", "value"), [("rate", 1e6), ("delay", 0.1)])
def test_the_cell_determines_values_of_a_station(key: str, value: float) -> None:
    wires = NetworkLinks()
    wires.links = ["wlan0", "wlan1"]
    network = live((ROOT / "docs/examples/wifi.toml").read_text(encoding="utf-8"), wires)
    with pytest.raises(Refused, match=f"{key} = .*: a station has no {key} of its own"):
        network.change(LinkChange("wlan0", {key: value, "loss": 0.1}, None, "admin"))
    assert (wires.done, network.changes) == ([], 0)


def test_a_change_that_fails_midway_names_the_applied_values() -> None:
    wires = BrokenLinks()
    wires.broken = "loss"
    network = live(TWO, wires)
    with pytest.raises(Refused, match="the emulator has stopped; already changed: rate, delay"):
        network.change(LinkChange("wifi", {"rate": 1e6, "delay": 0.1, "loss": 0.1}, False, "admin"))
    assert network.changes == 1, "the link has changed"
    wires.broken = "rate"
    with pytest.raises(RuntimeError):
        network.change(LinkChange("wifi", {"rate": 1e6}, None, "admin"))
    assert network.changes == 1


def test_a_failed_change_of_a_link_keeps_its_state() -> None:
    wires = BrokenLinks()
    control = LinkControl(wires)
    wires.broken = "up"
    with pytest.raises(RuntimeError):
        control.set_state("wifi", "down")
    assert control.states()["wifi"] == "up"
    wires.broken = "hosts"
    with pytest.raises(OSError, match="no such device"):
        control.set_state("wifi", "down")
    assert control.states()["wifi"] == "up"
    wires.broken = ""
    control.set_state("wifi", "up")
    assert wires.done[-1] == ("wifi", "plugged"), "a host may have been notified"


def test_refused_changes_of_a_transfer_are_not_counted() -> None:
    class Driver:
        addresses = (SimpleNamespace(device="a1", interface=1),)

        def set_interface(self, _interface: int, *, up: bool) -> None:
            if not up:
                raise OSError("the driver has stopped")

    names = {"multipath": True, "scheduler": "default", "congestion": "lia"}
    config = SimpleNamespace(**names, opportunistic_retransmission=True, penalisation=False)
    transfer = LiveTransfer(Driver(), config, sending=True)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="has stopped"):
        transfer.change(LinkChange("a1", {}, False, "admin"))
    assert transfer.changes == 0
    transfer.change(LinkChange("a1", {}, True, "admin"))
    assert transfer.changes == 1


def test_the_command_line_of_the_browser_has_no_token(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(
        '#!/bin/sh\necho "$1" > "$0.url"; cp "${1#file://}" "$0.html"; stat -c %a "${1#file://}" > "$0.mode"\n'
    )
    browser.chmod(0o700)
    environment = {**os.environ, "DISPLAY": ":9", "BROWSER": f"{browser} %s"}
    arguments = command(built(tmp_path / "page"), "page")
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, env=environment, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        token = process.stderr.readline().strip().rpartition("token=")[2]
        limit = time.monotonic() + 20
        while not (tmp_path / "browser.mode").is_file() and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    url = (tmp_path / "browser.url").read_text()
    assert url.startswith("file://")
    assert token not in url
    assert token in (tmp_path / "browser.html").read_text()
    assert (tmp_path / "browser.mode").read_text().strip() == "600"
    assert not Path(url.strip().removeprefix("file://")).exists(), "it ends with the server"


def test_a_missing_page_names_the_command(tmp_path: Path) -> None:
    done = subprocess.run(command(tmp_path, "page"), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "index.html is missing: the page is not built. In a checkout, run make page" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["page", "--port", "65536"], "is not a port"),
        (["page", "--port", "-1"], "is not a port"),
        (["page", "--live"], "--live expects a command; choose from: emulate, run, send, receive"),
        (["page", "--live", "emulte"], "did you mean emulate?"),
        (["page", "x.toml", "--live", "emulate", "x.toml"], "write the scenario after the command"),
        (["page", "no-such.toml"], "no-such.toml"),
        (["run", "tiny.toml", "--page"], "--page needs --backend kernel or wire"),
    ],
)
def test_wrong_arguments_are_explained(cli: Cli, arguments: list[str], says: str) -> None:
    done = cli(*arguments, expect=2)
    assert says in done.stderr


def test_the_command_serves_a_scenario_until_it_is_interrupted(tmp_path: Path) -> None:
    folder = built(tmp_path / "page")
    (tmp_path / "x.toml").write_text('name = "x"\nduration = "1s"\n[paths.a]\nrate = "1Mbit"\n[flows.f]\n')
    arguments = command(folder, "page", "--no-browser", "--seed", "7", str(tmp_path / "x.toml"))
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        port, token = int(url.split(":")[2].partition("/")[0]), url.partition("token=")[2]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", f"/scenario?token={token}")
        document = json.loads(connection.getresponse().read())
        process.send_signal(2)
        assert process.wait(10) == 130
    assert document == {"toml": (tmp_path / "x.toml").read_text(), "seed": 7}
