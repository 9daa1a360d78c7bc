"""Multipath TCP on real packets: an endpoint on TUN devices, on Linux.

    from mptcplab.live.driver import Config, Driver, Interface

    with Driver([Interface("mptcp0", "10.88.0.2")]) as driver:
        with driver.connect("10.88.0.1", 80, Config(congestion="olia"), timeout=5) as stream:
            stream.sendall(b"GET / HTTP/1.0\r\n\r\n")
            print(stream.recv(65536), stream.info()["paths"])

Python programs, `mptcplab send` and `receive` use it. Owns the settings; the endpoint is in Rust (`mptcplab._core`,
crate `live`). Blocking calls release the interpreter and handle Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Self

if sys.platform != "linux":
    raise ImportError(
        f"mptcplab.live.driver needs TUN devices and thus Linux; this is {sys.platform}. The simulator "
        "(mptcplab.Scenario, mptcplab run) also works on this system."
    )

from mptcplab import _core
from mptcplab._core import MptcpListener, MptcpStream
from mptcplab.results.model import events

if TYPE_CHECKING:
    import pyarrow as pa

    from mptcplab._core import ConfigTable, CounterRow
    from mptcplab.results.model.events import Trace

__all__ = ["Address", "Config", "Driver", "Interface", "MptcpListener", "MptcpStream"]

SOMAXCONN = 4096
"""Default backlog of connections that wait to be accepted."""
ANY = "0.0.0.0"  # noqa: S104
"""All addresses of the endpoint, of both IP versions."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of a connection before it is opened."""

    multipath: bool = True
    """Offer and accept Multipath TCP; plain TCP otherwise."""
    version: str = "v1"
    """`v1` (RFC 8684), or `v0` (RFC 6824), which accepts peers of both versions."""
    checksum: bool = False
    """Require the DSS checksum."""
    congestion: str = "lia"
    """One of `policy_names()["congestion"]`."""
    scheduler: str = "ontime"
    """One of `policy_names()["scheduler"]`."""
    opportunistic_retransmission: bool = True
    """M1: when the receive window is full, resend the oldest data in flight on a faster subflow."""
    penalisation: bool = False
    """M2: halve the window of the subflow that blocks the connection."""
    autotuning: bool = False
    """M3: tune buffers automatically."""
    cwnd_capping: bool = False
    """M4: cap the congestion window of a path with a long queue."""
    receive_buffer: int = 6 << 20
    """Receive buffer in bytes, the maximum of the window."""
    send_buffer: int = 4 << 20
    """Send buffer in bytes: written and unacknowledged data."""
    nodelay: bool = False
    """Send short segments immediately."""
    max_subflows: int = 8
    """Maximum number of subflows besides the initial one."""

    def table(self) -> ConfigTable:
        """The settings as the Rust core expects them."""
        return {
            "multipath": self.multipath,
            "version": self.version,
            "checksum": self.checksum,
            "congestion": self.congestion,
            "scheduler": self.scheduler,
            "opportunistic_retransmission": self.opportunistic_retransmission,
            "penalisation": self.penalisation,
            "autotuning": self.autotuning,
            "cwnd_capping": self.cwnd_capping,
            "receive_buffer": self.receive_buffer,
            "send_buffer": self.send_buffer,
            "nodelay": self.nodelay,
            "max_subflows": self.max_subflows,
        }


class Interface:
    """A TUN device, opened or created, or an Ethernet interface, and the endpoint's addresses on it."""

    ETHERNET = "02:6d:70:74:63:70"
    """The endpoint's Ethernet address on every Ethernet interface."""

    def __init__(
        self,
        device: str,
        addresses: str | Sequence[str],
        *,
        backup: bool = False,
        offload: bool = True,
        next_hop: str | None = None,
    ) -> None:
        """`addresses` belong to the endpoint, not to the kernel; a backup carries data only if no other path works.

        With `offload`, the kernel completes checksums, splits large segments into frames, and may leave its own
        checksums incomplete. With `next_hop`, the device is an Ethernet interface such as veth, opened by a packet
        socket, and all packets are sent to this Ethernet address.
        """
        self.device = device
        self.addresses = [addresses] if isinstance(addresses, str) else list(addresses)
        self.backup = backup
        self.offload = offload
        self.next_hop = next_hop


@dataclass(frozen=True)
class Address:
    """An address of a running endpoint."""

    interface: int
    """The position of the interface in the list of the driver."""
    address: str
    device: str
    mtu: int
    """MTU of the device, bytes."""


class Driver:
    """A running endpoint over TUN devices; stopping it resets open connections."""

    def __init__(self, interfaces: Iterable[Interface], *, pcap: str | PathLike[str] | None = None) -> None:
        """Opens the devices and starts; with `pcap`, writes every packet to this file (pcapng)."""
        rows = [(one.device, one.addresses, one.backup, one.offload, one.next_hop) for one in interfaces]
        self._core = _core.Driver(rows, pcap)
        self.events_dropped = 0
        """Number of events dropped so far because they exceeded the limit of `trace`."""

    def connect(
        self, host: str, port: int, config: Config | None = None, *, timeout: float | None = None
    ) -> MptcpStream:
        """Connects to an IP address, within `timeout` seconds (None: until TCP gives up)."""
        return self._core.connect(host, port, (config or Config()).table(), timeout)

    def listen(
        self,
        port: int = 0,
        config: Config | None = None,
        *,
        host: str = ANY,
        backlog: int = SOMAXCONN,
    ) -> MptcpListener:
        """Listens on one address of the endpoint, or on all; port 0 selects a free port."""
        return self._core.listen(host, port, (config or Config()).table(), backlog)

    @property
    def addresses(self) -> list[Address]:
        """The addresses of the endpoint."""
        return [Address(*row) for row in self._core.addresses()]

    def trace(self, kinds: str | Trace, *, limit: int = 1_000_000) -> None:
        """Keeps the events of later connections, at most `limit` between two calls of `take_events`."""
        self._core.trace(events.trace(kinds) if isinstance(kinds, str) else kinds, limit)

    def take_events(self) -> pa.Table:
        """The events since the last call, with the columns of a run; `flow` is the connection, `path` the device."""
        columns = self._core.take_events()
        self.events_dropped += 0 if columns is None else columns["dropped"]
        from mptcplab.results.model import event_table

        return (
            event_table.schema().empty_table() if columns is None else event_table.of_driver(columns, self._devices())
        )

    def _devices(self) -> list[str]:
        known = self.addresses
        several = {one.device for one in known if sum(other.device == one.device for other in known) > 1}
        return [f"{one.device} {one.address}" if one.device in several else one.device for one in known]

    def counters(self) -> CounterRow:
        """Packet counters."""
        return self._core.counters()

    def set_interface(self, interface: int, *, up: bool) -> None:
        """Sets an interface up or down for all connections (REMOVE_ADDR)."""
        self._core.set_interface(interface, up)

    def set_backup(self, interface: int, *, backup: bool) -> None:
        """Makes the subflows of an interface backups, or regular again (MP_PRIO)."""
        self._core.set_backup(interface, backup)

    def drain(self, timeout: float) -> bool:
        """Waits at most `timeout` seconds until closed connections have ended; returns whether all have."""
        return self._core.drain(timeout)

    def stop(self) -> None:
        """Resets open connections and stops; raises OSError if the capture could not be written."""
        self._core.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
