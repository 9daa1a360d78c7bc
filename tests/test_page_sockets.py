"""Linux's connections on the page, from sockets that the test controls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mptcplab.host.socket_diag import ESTABLISHED, MAX_SOCKETS, MptcpSocket, TcpSocket
from mptcplab.page import live_sockets
from mptcplab.page.live_sockets import Flow, LiveSockets
from mptcplab.page.sampling import Sampler

CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
ADDRESSES = {"client": {CLIENT: 0}, "server": {SERVER: 0}}
EMPTY = TcpSocket(
    state=ESTABLISHED, local=(CLIENT, 40_000), remote=(SERVER, 5001), token=None, backup=False, congestion="cubic",
    mss=1000, cwnd=10_000, ssthresh=None, in_flight=0, srtt=0.02, rttvar=0.01, min_rtt=0.02, retransmits=0,
    bytes_sent=0, bytes_acked=0, bytes_received=0, unacked=0, peer_window=65_536, receive_limited=0.0,
    send_buffer_limited=0.0, receive_buffer=100_000,
)  # fmt: skip


class Diag:
    """The sockets of a host, as the test decides."""

    def __init__(self) -> None:
        self.sockets: list[TcpSocket] = []
        self.connections: list[MptcpSocket] = []

    def tcp(self) -> list[TcpSocket]:
        return self.sockets

    def mptcp(self) -> list[MptcpSocket]:
        return self.connections


class Hosts:
    """A client that sends data to a server over plain TCP."""

    def __init__(self) -> None:
        self.client, self.server = Diag(), Diag()
        diags = {"client": self.client, "server": self.server}
        self.sockets = LiveSockets([Flow("client", "server", None)], diags, ADDRESSES, 1)
        self.time = 0.0

    def counts(self, acked: dict[int, int], sampler: Sampler | None = None) -> tuple[int, int]:
        """The flow's written and received bytes, for the acknowledged bytes of each client port."""
        self.client.sockets = [
            replace(EMPTY, local=(CLIENT, port), bytes_acked=count, bytes_sent=count) for port, count in acked.items()
        ]
        self.server.sockets = [
            replace(EMPTY, local=(SERVER, 5001), remote=(CLIENT, port), bytes_received=count)
            for port, count in acked.items()
        ]
        self.time += 0.1
        if sampler is not None:
            assert sampler.begin(self.time)
        [view] = self.sockets.look(self.time, sampler)
        return view["written"], view["received"]


def test_parallel_connections_count_once() -> None:
    hosts = Hosts()
    for number in range(1, 101):
        # Each of the connections has the most data in turn.
        first, second = 1000 * number, 1000 * number + (500 if number % 2 else -500)
        assert hosts.counts({1: first, 2: second}) == (first + second, first + second)


def test_closed_connections_stay_counted() -> None:
    hosts = Hosts()
    hosts.counts({1: 5000, 2: 3000})
    assert hosts.counts({2: 4000}) == (9000, 9000)
    assert hosts.counts({}) == (9000, 9000)
    assert hosts.counts({1: 100}) == (9100, 9100), "a new connection has the port of a closed one"


def test_known_connections_are_bounded() -> None:
    hosts = Hosts()
    for port in range(1, MAX_SOCKETS + 100):
        hosts.counts({port: 10})
    assert hosts.counts({}) == (10 * (MAX_SOCKETS + 99),) * 2
    assert len(hosts.sockets._totals[0].known) == MAX_SOCKETS


def test_rates_of_a_path_are_those_of_all_its_subflows() -> None:
    hosts, sampler = Hosts(), Sampler(0.1)
    hosts.counts({1: 0, 2: 0}, sampler)
    hosts.counts({1: 1000, 2: 3000}, sampler)
    rates = {(path, metric): value for _, _, path, metric, value in sampler.rows() if value == pytest.approx(320_000)}
    assert len(rates) == 4, "throughput and goodput, of the path and of the flow"


def test_subflows_of_a_connection_on_one_path_add_up() -> None:
    hosts, sampler = Hosts(), Sampler(0.1)
    connection = MptcpSocket(ESTABLISHED, 7, False, 0, 0, 0, 0, 100_000)
    for count in (0, 1000):
        hosts.client.sockets = [
            replace(EMPTY, local=(CLIENT, port), token=7, bytes_sent=port * count, bytes_acked=port * count)
            for port in (1, 3)
        ]
        hosts.client.connections = [replace(connection, bytes_acked=4 * count)]
        hosts.time += 0.1
        assert sampler.begin(hosts.time)
        hosts.sockets.look(hosts.time, sampler)
    of_path = [value for _, _, path, _, value in sampler.rows() if path == 0]
    assert sum(value == pytest.approx(320_000) for value in of_path) == 2


def test_an_open_query_is_closed_if_another_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Opened:
        def __init__(self, name: str) -> None:
            self.name = name
            if name == "b":
                raise OSError("no such namespace")

        def close(self) -> None:
            closed.append(self.name)

    monkeypatch.setattr(live_sockets, "SocketDiag", Opened)
    with pytest.raises(OSError, match="no such namespace"):
        live_sockets.opened({"client": "a", "server": "b"})
    assert closed == ["a"]
