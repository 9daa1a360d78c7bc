"""`mptcplab measure`: its estimates, its server among hostile clients, and links whose values are known."""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from emulated import Machine, machine
from mptcplab.emulation.emulated_network import emulated
from mptcplab.measure import estimates, messages
from mptcplab.measure.client import CannotMeasure, Client, Ping
from mptcplab.measure.datagrams import Ancillary, Arrival, Datagrams, client_socket, server_socket
from mptcplab.measure.estimates import Delay, Direction, Policer, Range
from mptcplab.measure.messages import Cookies, Kind, Message, packed, parsed
from mptcplab.measure.plan import Measured
from mptcplab.measure.scenario_text import scenario_text
from mptcplab.measure.server import Server, ServerLimits, owner
from mptcplab.measure.trains import Outgoing, TrainLog
from mptcplab.scenario.definition import Scenario

__all__ = ["machine"]

VICTIM = ("192.0.2.9", 4000)
linux = pytest.mark.skipif(sys.platform != "linux", reason="interfaces are bound as Linux does it")


class FakeSocket(Datagrams):
    """A socket that stores what the server sends."""

    def __init__(self) -> None:
        self.out: list[tuple[bytes, Any]] = []

    def send(self, data: bytes, to: tuple[Any, ...] | None = None, local: Ancillary | None = None) -> bool:
        del local
        self.out.append((data, to))
        return True


class Bench:
    """A server whose clock and socket belong to the test."""

    def __init__(self, limits: ServerLimits | None = None) -> None:
        self.now = 1000.0
        self.socket = FakeSocket()
        self.server = Server(self.socket, limits, clock=lambda: self.now)

    def ask(self, data: bytes, source: tuple[Any, ...] = VICTIM) -> list[bytes]:
        """The answers to a datagram."""
        before = len(self.socket.out)
        self.server.handle(Arrival(data, 0, source, []))
        return [answer for answer, _ in self.socket.out[before:]]

    def opened(self, source: tuple[Any, ...] = VICTIM) -> bytes | None:
        """Opens a session; None if the server refuses."""
        [cookie] = self.ask(packed(Kind.HELLO, bytes(8), size=messages.HELLO_SIZE), source)
        [answer] = self.ask(packed(Kind.OPEN, cookie[8:16], size=messages.HELLO_SIZE), source)
        message = parsed(answer)
        assert message is not None
        return message.body[:8] if message.kind == Kind.ACCEPT else None

    def confirm(self, session: bytes, data: bytes, source: tuple[Any, ...] = VICTIM, *, wrong: int = 0) -> None:
        """Confirms a packet of a train."""
        values = messages.DATA.unpack(data[messages.HEAD :])
        assert values is not None
        train, number, _, secret = values
        self.ask(packed(Kind.FEEDBACK, session, messages.FEEDBACK.pack(train, 1, number, 0, secret ^ wrong)), source)

    def send_due(self, seconds: float, *, confirms: bool = False) -> int:
        """Lets time pass, with a client that confirms each packet or none; returns the bytes that the server sent."""
        before = len(self.socket.out)
        end = self.now + seconds
        while self.now < end:
            self.now += 0.001
            for session in list(self.server.sessions.values()):
                at = len(self.socket.out)
                self.server._send_due(session, self.now)
                if confirms and len(self.socket.out) > at:
                    self.confirm(session.number, self.socket.out[-1][0], session.to)
        return sum(len(data) for data, _ in self.socket.out[before:])


def request(session: bytes, *, train: int = 1, rate: int = 100_000_000, seconds: float = 30) -> bytes:
    """A request for a train."""
    return packed(Kind.SEND, session, messages.SEND.pack(train, 1452, rate, 10**6, round(1000 * seconds)))


def test_an_unknown_address_never_gets_more_than_it_sent() -> None:
    bench, chance = Bench(), np.random.default_rng(1)
    for _ in range(5000):
        kind = chance.integers(20)
        data = messages.MAGIC + bytes([int(kind)]) + chance.bytes(int(chance.integers(120)))
        data = chance.bytes(len(data)) if chance.random() < 0.2 else data
        assert sum(map(len, bench.ask(data))) <= len(data)
    assert not bench.server.sessions


@linux
@pytest.mark.parametrize(
    "source", [("127.0.0.1", 0), ("255.255.255.255", 9), ("240.0.0.1", 9), ("127.0.0.1", 9, "bad source")]
)
def test_an_address_that_cannot_be_answered_does_not_end_the_server(source: tuple[Any, ...]) -> None:
    own = server_socket(0, "127.0.0.1")
    # Type 8 is IP_PKTINFO; the address is that of another host.
    local: Ancillary = [(socket.IPPROTO_IP, 8, bytes(4) + bytes([192, 0, 2, 1]) * 2)] if len(source) > 2 else []
    hello = packed(Kind.HELLO, bytes(8), size=messages.HELLO_SIZE)
    Server(own).handle(Arrival(hello, 0, source[:2], local))
    assert not own.send(hello, source[:2], local)
    own.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        own.send(hello, source[:2], local)


def test_a_session_needs_the_cookie_of_its_own_address() -> None:
    bench = Bench()
    [cookie] = bench.ask(packed(Kind.HELLO, bytes(8), size=64))
    opening = packed(Kind.OPEN, cookie[8:16], size=64)
    assert bench.ask(packed(Kind.HELLO, bytes(8))) == [], "a short request gets no answer"
    assert bench.ask(opening, ("192.0.2.8", 4000)) == []
    assert bench.ask(opening, ("192.0.2.9", 4001)) == []
    bench.now += 61
    assert bench.ask(opening) == [], "the cookie has expired"
    assert bench.opened() is not None
    assert bench.ask(request(bytes(8))) == [], "and the session is secret"


def test_a_cookie_is_valid_for_half_a_minute_at_least() -> None:
    cookies = Cookies(b"secret")
    cookie = cookies.issue("2001:db8::1", 5, 29.9)
    assert cookies.is_valid(cookie, "2001:db8::1", 5, 59.9)
    assert not cookies.is_valid(cookie, "2001:db8::1", 5, 60.1)
    assert not Cookies(b"other").is_valid(cookie, "2001:db8::1", 5, 29.9)


def test_a_train_stops_when_nobody_confirms_it() -> None:
    bench = Bench()
    session = bench.opened()
    assert session is not None
    bench.ask(request(session))
    assert 250_000 < bench.send_due(10) <= 256_100 + 80
    assert bench.ask(request(session)) == [], "the same request does not start it twice"
    assert bench.send_due(1) == 0


def test_a_train_goes_on_only_with_the_secrets_of_new_packets() -> None:
    bench = Bench()
    session = bench.opened()
    assert session is not None
    bench.ask(request(session))
    bench.send_due(0.001)
    first = bench.socket.out[-1][0]
    for _ in range(30):
        bench.send_due(0.1)
        bench.confirm(session, first)
        bench.confirm(session, bench.socket.out[-1][0], wrong=1)
        bench.ask(packed(Kind.FEEDBACK, session, messages.FEEDBACK.pack(1, 2**32 - 1, 2**32 - 1, 0, 0)))
    assert bench.server.sessions[VICTIM].sent_bytes < 350_000
    assert bench.server.sessions[VICTIM].outgoing is None
    bench.confirm(session, bench.socket.out[-1][0])
    bench.ask(request(session, train=2))
    # Most bytes are sent at the rate of the train, as confirmations allow more.
    assert bench.send_due(4, confirms=True) == pytest.approx(4 * 100e6 / 8, rel=0.1)
    bench.ask(packed(Kind.STOP, session, messages.STOP.pack(2)))
    assert bench.send_due(1) == 0


def test_bytes_without_uploads_and_confirmations_are_bounded() -> None:
    bench = Bench()
    session = bench.opened()
    assert session is not None
    for number in range(100):
        data = messages.DATA.pack(1, number, 0, 0)
        bench.ask(packed(Kind.DATA, session, data))
    fetch = packed(Kind.FETCH, session, messages.FETCH.pack(1, 0))
    sent = sum(len(data) for _ in range(1000) for data in bench.ask(fetch))
    assert sent <= 256_000 + 2 * (1000 * len(fetch) + 100 * 64)


def test_addresses_are_forgotten_only_after_their_hour() -> None:
    bench = Bench(ServerLimits(addresses=2, sessions=9, total_bytes=700_000, address_bytes=400_000))
    for at in (1, 2):
        source = (f"192.0.2.{at}", 1)
        session = bench.opened(source)
        assert session is not None
        bench.ask(request(session, rate=10**9), source)
        bench.send_due(3, confirms=True)
        bench.ask(packed(Kind.BYE, session), source)
    assert sum(one.sent_bytes for one in bench.server._addresses.values()) <= 700_000
    assert bench.opened(("192.0.2.3", 1)) is None, "the bytes of both addresses are remembered"
    bench.now += 3601
    assert bench.opened(("192.0.2.3", 1)) is not None
    assert [bench.opened(("192.0.2.3", port)) is not None for port in (2, 3)] == [True, False]


def test_a_session_and_an_address_have_budgets() -> None:
    bench = Bench(ServerLimits(session_bytes=1_000_000, address_bytes=1_500_000))
    total = 0
    for port in (1, 2):
        session = bench.opened(("192.0.2.9", port))
        assert session is not None
        bench.ask(request(session, rate=10**9), ("192.0.2.9", port))
        total += bench.send_due(2, confirms=True)
        bench.ask(packed(Kind.BYE, session), ("192.0.2.9", port))
    assert 1_490_000 < total <= 1_500_000
    assert bench.opened(("192.0.2.9", 3)) is None
    bench.now += 3601
    assert bench.opened(("192.0.2.9", 3)) is not None


def test_the_number_of_sessions_is_bounded() -> None:
    bench = Bench(ServerLimits(sessions=2))
    assert [bench.opened((f"192.0.2.{at}", 1)) is not None for at in range(3)] == [True, True, False]
    assert bench.opened(("2001:db8::1", 1)) is None
    six = Bench(ServerLimits(address_bytes=1_000_000))
    session = six.opened(("2001:db8::1", 1, 0, 0))
    assert session is not None
    six.ask(request(session, rate=10**9), ("2001:db8::1", 1, 0, 0))
    six.send_due(1, confirms=True)
    assert six.opened(("2001:db8::2", 1, 0, 0)) is None, "both are in one network of 64 bits"
    assert owner("2001:db8:1:2:3::4") == owner("2001:db8:1:2::")
    assert owner("::ffff:192.0.2.7") == "192.0.2.7"


def test_hostile_messages_of_a_session_end_nothing() -> None:
    bench, chance = Bench(), np.random.default_rng(2)
    session = bench.opened()
    assert session is not None
    kinds = [kind for kind in Kind if kind != Kind.BYE]
    for _ in range(5000):
        body = chance.bytes(int(chance.integers(60)))
        bench.ask(packed(kinds[chance.integers(len(kinds))], session, body))
    sender = Outgoing.checked((1, 65_535, 2**63, 2**32 - 1, 2**32 - 1), 4, 0.0)
    assert sender.size <= messages.LARGEST
    assert sender.rate <= 2e9
    assert len(bench.server.sessions[VICTIM].incoming) <= 32


def flood(*, rate: float, queue: int, overload: float, seconds: float, loss: float = 0.0) -> TrainLog:
    """A train through a drop-tail queue, with a clock difference of a day."""
    chance, service = np.random.default_rng(3), 1494 * 8e9 / rate
    numbers, departures, arrivals = [], [], []
    free = 0.0
    count = int(seconds * overload * 1e9 / service)
    for number in range(count):
        at = number * service / overload
        if free - at > (queue - 1) * service:
            continue
        free = max(free, at) + service
        if chance.random() >= loss:
            numbers.append(number)
            departures.append(round(at))
            arrivals.append(round(free + 86_400e9 + 5e6))
    return TrainLog(1494, overload * rate, count, tuple(numbers), tuple(departures), tuple(arrivals))


def test_a_full_queue_shows_its_rate_and_length() -> None:
    log = flood(rate=10e6, queue=80, overload=2, seconds=1.5)
    rate = estimates.steady_rate(log)
    assert rate is not None
    assert rate.value == pytest.approx(10e6, rel=0.01)
    queue, seen = estimates.full_queue(log)
    assert seen
    assert queue is not None
    assert queue.value == pytest.approx(79 * 1494 * 8 / 10e6, rel=0.03)


def test_a_queue_that_never_fills_is_a_lower_bound() -> None:
    queue, seen = estimates.full_queue(flood(rate=10e6, queue=10_000, overload=2, seconds=1))
    assert not seen
    assert queue is not None
    assert queue.value == pytest.approx(1, rel=0.05)


def test_a_train_below_the_rate_of_the_link_gives_a_lower_bound() -> None:
    log = flood(rate=100e6, queue=100, overload=0.5, seconds=0.3)
    found = estimates.direction(log, log, [0] * 20, slow=False, fallback=1e6)
    assert found.is_rate_bound
    assert found.rate.value == pytest.approx(50e6, rel=0.01)
    full = estimates.direction(flood(rate=10e6, queue=80, overload=2, seconds=1), log, [0] * 20, slow=False, fallback=1)
    assert not full.is_rate_bound


def test_random_losses_do_not_count_as_a_full_queue() -> None:
    _, seen = estimates.full_queue(flood(rate=10e6, queue=10_000, overload=2, seconds=1, loss=0.08))
    assert not seen


def test_a_policer_is_told_from_a_short_queue() -> None:
    short = flood(rate=10e6, queue=4, overload=3, seconds=1)
    assert estimates.token_bucket(short, 10e6) is None
    numbers, arrivals, tokens, before = [], [], 30_000.0, 0
    for number in range(2000):
        at = number * 300_000
        tokens = min(30_000.0, tokens + (at - before) * 10e6 / 8e9)
        before = at
        if tokens >= 1494:
            tokens -= 1494
            numbers.append(number)
            arrivals.append(at)
    log = TrainLog(1494, 40e6, 2000, tuple(numbers), tuple(arrivals), tuple(arrivals))
    found = estimates.token_bucket(log, 10e6)
    assert found is not None
    assert found.burst_bytes == pytest.approx(30_000, rel=0.1)


def test_intervals_are_those_of_wilson() -> None:
    found = estimates.wilson(10, 1000)
    # Brown, Cai and DasGupta 2001, by R: binom.confint(10, 1000, methods = "wilson").
    assert (found.value, found.low, found.high) == pytest.approx((0.01, 0.0054423, 0.0183051), abs=1e-5)
    assert estimates.wilson(0, 1000).low == 0
    assert estimates.wilson(0, 0).high == 1


def test_delays_are_those_of_the_echoes() -> None:
    found = estimates.delay([Ping(at * 10**6, 0, 0) for at in range(20, 40)], 3)
    assert (found.minimum, found.count, found.lost) == (0.02, 23, 3)


def direction(**values: Any) -> Direction:
    one = Range(0.1, 0.05, 0.2)
    known: dict[str, Any] = {
        "rate": Range(10e6, 9e6, 11e6), "is_rate_bound": False, "queue_s": one, "queue_packets": 80,
        "is_queue_bound": False, "policer": None, "loss": Range(0.0, 0.0, 0.01), "loss_sent": 100,
        "loss_lost": 0, "jitter_s": 0.0, "overtaken": 0, "own_queue": 0,
    }  # fmt: skip
    return Direction(**{**known, **values})


def test_the_output_is_a_scenario() -> None:
    other = direction(loss=Range(0.02, 0.01, 0.03), loss_lost=2, jitter_s=0.004, overtaken=9)
    policed = direction(policer=Policer(30_000, 50e6))
    bound = direction(is_rate_bound=True, queue_s=None, queue_packets=None, own_queue=3)
    links = [
        Measured(name, "eth0", "192.0.2.1", Delay(0.02, 0.021, 0.03, 75, 1), up, down, 9.9, 10**6, 2 * 10**6)
        for name, up, down in (("dsl", direction(), other), ("lte-5g", policed, bound))
    ]
    text = scenario_text(links, ["wlan0: no answer"], "2026-01-01 00:00")
    scenario = Scenario.parse(text)
    assert scenario.core is not None
    for words in ('loss = "2.00%"', 'kind = "police"', "# Not measured: wlan0", "A lower bound", "reorder = true"):
        assert words in text


@contextmanager
def serving(address: str = "127.0.0.1") -> Iterator[int]:
    """A server on the loopback device; yields its port."""
    own = server_socket(0, address)
    over = threading.Event()
    thread = threading.Thread(target=Server(own).serve, args=(over.is_set,))
    thread.start()
    try:
        yield own.socket.getsockname()[1]
    finally:
        over.set()
        thread.join()
        own.close()


@linux
def test_it_needs_no_root_and_keeps_to_its_budget(cli: Cli) -> None:
    with serving() as port:
        done = cli("measure", "lo=127.0.0.1", "--peer", f"127.0.0.1:{port}", "--time", "3s", "--most", "5MB", "--json")
    [link] = json.loads(done.stdout)["links"]
    assert link["sent_bytes"] + link["received_bytes"] < 5e6
    assert link["delay"]["minimum"] < 0.01
    assert link["up"]["rate"]["value"] > 1e6


@contextmanager
def answered_by(answer: Callable[[Message], Iterator[bytes]]) -> Iterator[Client]:
    """A client of a hostile server, with an answer to each message."""
    own, over = server_socket(0, "127.0.0.1"), threading.Event()

    def serve() -> None:
        while not over.is_set():
            select.select([own.socket], [], [], 0.05)
            arrival = own.receive()
            message = None if arrival is None else parsed(arrival.data)
            if arrival is None or message is None:
                continue
            for data in answer(message):
                if over.is_set():
                    break
                own.send(data, arrival.source)

    thread = threading.Thread(target=serve)
    thread.start()
    client = Client(client_socket(own.socket.getsockname(), None, "127.0.0.1"), 4)
    try:
        yield client
    finally:
        client.close()
        over.set()
        thread.join()
        own.close()


@linux
def test_a_server_that_floods_holds_no_client() -> None:
    pongs = (packed(Kind.PONG, bytes(8), messages.PONG.pack(at, 0, 0, 0)) for at in range(2**32))
    with answered_by(lambda _: pongs) as client:
        began = time.monotonic()
        assert client.pings(10, 0.02) == ([], 10)
        assert time.monotonic() < began + 3
        client._deadline = time.monotonic() + 1
        with pytest.raises(CannotMeasure, match="takes too long"):
            client.open()
        assert time.monotonic() < began + 6


@linux
@pytest.mark.parametrize(("total", "step", "says"), [(2**32 - 1, 1, "4,294,967,295 arrivals"), (40, 2**55, "longer")])
def test_a_server_with_impossible_arrivals_is_refused(total: int, step: int, says: str) -> None:
    def answer(message: Message) -> Iterator[bytes]:
        if message.kind == Kind.FETCH:
            body = messages.ARRIVALS.pack(1, 40, 0, total, 0)
            body += b"".join(messages.ARRIVAL.pack(at, at * step) for at in range(40))
            yield packed(Kind.ARRIVALS, bytes(8), body)

    with answered_by(answer) as client, pytest.raises(CannotMeasure, match=says):
        client.upload(100, 1e9, 40, 0.1)


def test_the_bins_of_a_rate_are_bounded() -> None:
    log = TrainLog(1494, 1e6, 40, tuple(range(40)), (0,) * 40, tuple(at * 2**58 for at in range(40)))
    assert estimates.steady_rate(log) is not None


@linux
@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this host has no IPv6")
def test_it_measures_over_ipv6(cli: Cli) -> None:
    with serving("::1") as port:
        done = cli("measure", "lo=::1", "--peer", f"[::1]:{port}", "--time", "3s", "--most", "2MB", "--json")
    [link] = json.loads(done.stdout)["links"]
    assert link["up"]["rate"]["value"] > 1e6


@linux
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["lo"], 2, "one of the arguments --peer --serve is required"),
        (["--peer", "127.0.0.1"], 2, "name the links"),
        (["nothing0", "--peer", "127.0.0.1"], 2, "no such interface"),
        (["eth0.7=127.0.0.1", "--peer", "127.0.0.1"], 2, "names of paths"),
        (["a=127.0.0.1", "a=127.0.0.2", "--peer", "127.0.0.1"], 2, "same name"),
        (["lo=127.0.0.1", "--peer", "127.0.0.1:0"], 2, "not a port"),
        (["lo=127.0.0.1", "--peer", "127.0.0.1", "--time", "1s"], 2, "at least 3s"),
        (["lo=127.0.0.1", "--peer", "127.0.0.1", "--most", "1kB"], 2, "at least 200kB"),
        (["lo", "--serve"], 2, "takes no links"),
    ],
)
def test_bad_input(cli: Cli, arguments: list[str], code: int, says: str) -> None:
    assert says in cli("measure", *arguments, expect=code).stderr


@linux
def test_without_a_server_it_says_so(cli: Cli) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = cli("measure", "lo=127.0.0.1", "--peer", f"127.0.0.1:{port}", expect=1)
    assert "start mptcplab measure --serve on the peer" in done.stderr


KNOWN = """
name = "known"
duration = "120s"
[paths.dsl]
rtt = "30ms"
[paths.dsl.forward]
rate = "5Mbit"
queue = "60p"
loss = "2%"
[paths.dsl.backward]
rate = "20Mbit"
queue = "100p"
[paths.lte]
rtt = "60ms"
[paths.lte.forward]
rate = "10Mbit"
queue = "250p"
[paths.lte.backward]
rate = "30Mbit"
queue = "150p"
loss = "1%"
[flows.flow]
"""
TRUTH = {
    "dsl": (0.030, {"up": (5e6, 60, 0.02), "down": (20e6, 100, 0.0)}),
    "lte": (0.060, {"up": (10e6, 250, 0.0), "down": (30e6, 150, 0.01)}),
}


def test_known_links_are_measured(machine: Machine, tmp_path: Path) -> None:
    """Rates and RTTs within 10%, queues within 30%, losses within a 95% interval of twice its length."""
    del machine
    with emulated(Scenario.parse(KNOWN), 1) as network:
        network.start()
        client, server = network.host("client"), network.host("server")
        command = [sys.executable, "-m", "mptcplab", "measure"]
        serve = server.namespace.command(*command, "--serve", "5002")
        with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as serving:
            try:
                assert serving.stderr is not None
                assert serving.stderr.readline() == "listening on UDP port 5002\n"
                ask = client.namespace.command(*command, "dsl", "lte", "--peer", f"{server.address}:5002", "--json")
                done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
            finally:
                serving.terminate()
    assert done.returncode == 0, done.stderr
    for link in json.loads(done.stdout)["links"]:
        trip, directions = TRUTH[link["name"]]
        assert link["delay"]["minimum"] == pytest.approx(trip, rel=0.1)
        for name, (rate, queue, loss) in directions.items():
            found = link[name]
            assert not found["is_rate_bound"], link
            assert found["rate"]["value"] == pytest.approx(rate, rel=0.1), (link["name"], name)
            assert found["queue_packets"] == pytest.approx(queue, rel=0.3), (link["name"], name)
            low, high = found["loss"]["low"], found["loss"]["high"]
            assert low - (high - low) / 2 <= loss <= high + (high - low) / 2, (link["name"], name)
