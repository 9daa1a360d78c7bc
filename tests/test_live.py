"""The Python API on real packets, and its requirements on devices."""

from __future__ import annotations

import importlib
import ipaddress
import signal
import sys
from pathlib import Path

import pytest

from mptcplab.live import devices
from namespace import Namespace, ends, namespace

__all__ = ["namespace"]

API = """
import socket, threading, time
from mptcplab.live.driver import Address, Config, Driver, Interface

with (
    Driver([Interface("a1", "10.88.1.2"), Interface("a2", ["10.88.2.2"])], pcap="api.pcapng") as near,
    Driver([Interface("b1", "10.88.11.2")]) as far,
):
    assert near.addresses == [Address(0, "10.88.1.2", "a1", 1500), Address(1, "10.88.2.2", "a2", 1500)]
    config = Config(congestion="cubic", scheduler="roundrobin", receive_buffer=200_000, checksum=True, nodelay=True)
    with far.listen(config=config, backlog=4) as listener:
        host, port = listener.getsockname()
        assert (host, port > 0) == ("0.0.0.0", True)
        listener.settimeout(0.05)
        try:
            listener.accept()
        except TimeoutError:
            pass
        else:
            raise AssertionError("nobody connects yet")
        try:
            far.listen(port)
        except OSError as error:
            assert "has a listener already" in str(error)
        else:
            raise AssertionError("the port is taken")
        listener.settimeout(10)
        with near.connect("10.88.11.2", port, config, timeout=5) as us:
            them, peer = listener.accept()
            assert peer == us.getsockname() and us.getpeername() == ("10.88.11.2", port)
            us.settimeout(0)
            try:
                us.recv(10)
            except BlockingIOError:
                pass
            else:
                raise AssertionError("nothing is there")
            us.settimeout(10)
            them.settimeout(10)
            data = bytes(range(256)) * 20_000
            sender = threading.Thread(target=us.sendall, args=(memoryview(data),))
            sender.start()
            received, room = bytearray(), bytearray(70_000)
            while len(received) < len(data):
                received += room[: them.recv_into(room)]
            sender.join()
            assert received == data
            try:
                them.recv_into(b"constant")
            except BufferError:
                pass
            else:
                raise AssertionError("bytes cannot be written")
            info = us.info()
            assert (info["congestion"], info["scheduler"], info["checksum"]) == ("cubic", "roundrobin", True)
            assert info["remote_token"] == them.info()["token"]
            assert [path["interface"] for path in info["paths"]] == [0, 1]
            # A new path is on probation for a while.
            limit = time.monotonic() + 20
            while not all(path["bytes_acked"] > 0 for path in us.info()["paths"]):
                assert time.monotonic() < limit, us.info()["paths"]
                us.sendall(data[:50_000])
                left = 50_000
                while left:
                    left -= them.recv_into(room)
            us.set_congestion("balia")
            us.set_scheduler("minrtt")
            us.set_nodelay(False)
            assert (us.info()["congestion"], us.info()["scheduler"]) == ("balia", "minrtt")
            try:
                us.set_congestion("vegas")
            except ValueError as error:
                assert "lia" in str(error)
            else:
                raise AssertionError("there is no vegas")
            near.set_backup(1, backup=True)
            assert us.info()["paths"][1]["backup"]
            near.set_interface(1, up=False)
            gone = us.info()["paths"][1]
            assert gone["closed_by"] == "interface gone" and gone["closed_at_s"] > gone["opened_at_s"]
            us.shutdown(socket.SHUT_WR)
            assert them.recv(1) == b""
            them.sendall(b"bye")
            them.close()
            assert us.recv(10) == b"bye" and us.recv(10) == b""
            try:
                them.recv(1)
            except OSError as error:
                assert "closed" in str(error)
            else:
                raise AssertionError("it is closed")
        with near.connect("10.88.11.2", port, timeout=5) as us:
            them, _ = listener.accept()
            us.abort()
            try:
                them.recv(1)
            except ConnectionResetError:
                pass
            else:
                raise AssertionError("it was reset")
    assert near.drain(5) and near.counters()["sent"] > 0
    try:
        near.connect("10.88.11.2", port, timeout=5)
    except ConnectionRefusedError:
        print("done")
"""


def test_python_api(namespace: Namespace, tmp_path: Path) -> None:
    assert namespace.run(sys.executable, "-c", API).stdout == b"done\n"
    assert (tmp_path / "api.pcapng").stat().st_size > 5_000_000


WAITING = """
import signal, sys
from mptcplab.live.driver import Driver, Interface
signal.signal(signal.SIGINT, signal.default_int_handler)
with Driver([Interface("a1", "10.88.1.2")]) as driver, driver.listen(5001) as listener:
    try:
        print("waiting", file=sys.stderr, flush=True)
        listener.accept()
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_ends_waiting(namespace: Namespace) -> None:
    with namespace.background(sys.executable, "-c", WAITING, says="waiting") as process:
        process.send_signal(signal.SIGINT)
        assert ends(process)[0] == b"interrupted\n"


def test_other_systems_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delitem(sys.modules, "mptcplab.live.driver", raising=False)
    with pytest.raises(ImportError, match=r"needs TUN devices and thus Linux; this is darwin.*mptcplab run"):
        importlib.import_module("mptcplab.live.driver")


@pytest.mark.parametrize(
    ("address", "taken", "free"),
    [
        ("10.88.0.1/24", [], "10.88.0.2"),
        ("10.88.0.1/24", ["10.88.0.2"], "10.88.0.3"),
        ("10.88.0.254/24", [], "10.88.0.1"),
        ("10.88.0.1/31", [], "10.88.0.0"),
        ("fd88::1/64", [], "fd88::2"),
    ],
)
def test_the_next_free_address(monkeypatch: pytest.MonkeyPatch, address: str, taken: list[str], free: str) -> None:
    device = devices.Device("tun9", True, 1500, True, True, [ipaddress.ip_interface(address)])
    monkeypatch.setattr(devices, "find", lambda _: device)
    assert devices.endpoint_addresses("tun9", taken) == ("tun9", [free])


def test_a_subnet_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    device = devices.Device("tun9", True, 1500, True, True, [ipaddress.ip_interface("10.0.0.1/30")])
    monkeypatch.setattr(devices, "find", lambda _: device)
    with pytest.raises(devices.BadDevice, match="use a larger subnet"):
        devices.endpoint_addresses("tun9", ["10.0.0.2"])
