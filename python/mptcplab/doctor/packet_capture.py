"""Captures packets of a network namespace to pcap or pcapng files, as `tcpdump` and `dumpcap` do (packet(7)).

The planted captures of Linux need it, because those tools may be missing. Run it inside the namespace:
`python -m mptcplab.doctor.packet_capture FILE --interface eth0 --interface wwan0`. Without an interface it captures all
of them, as `tcpdump -i any`. It prints one line when it is ready, and ends with SIGTERM. Owns the file headers and the
cooked link-layer headers.
"""

from __future__ import annotations

import argparse
import errno
import gzip
import selectors
import signal
import socket
import struct
from pathlib import Path
from typing import IO, cast

ETHERNET, RAW, SLL, SLL2 = 1, 101, 113, 276
_ALL = 0x0003
"""ETH_P_ALL."""
_SO_TIMESTAMPNS, _SO_RCVBUFFORCE = 35, 33
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_ARPHRD_ETHER = 1
_BUFFER = 64 << 20
_PENDING = 4_096
"""Packets that may still be waiting in the socket when the capture ends."""

PacketAddress = tuple[str, int, int, int, bytes]
"""Interface, protocol, packet type, hardware type, hardware address."""


class CaptureWriter:
    """A pcap or pcapng file."""

    def __init__(self, file: Path, snap: int, interfaces: list[tuple[str, int]]) -> None:
        """Writes the file header; `interfaces` are names and link types. pcap has only the first one."""
        # `close` closes it.
        opened = gzip.open(file, "wb") if file.suffix == ".gz" else file.open("wb")  # noqa: SIM115
        self._stream = cast("IO[bytes]", opened)
        self._blocks = ".pcapng" in file.suffixes
        self.packets = 0
        if self._blocks:
            self._block(0x0A0D0D0A, struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1))
            for name, link in interfaces:
                text = name.encode()
                options = struct.pack("=HH", 2, len(text)) + text + bytes(-len(text) % 4)
                # if_tsresol: nanoseconds.
                options += struct.pack("=HHB3x", 9, 1, 9) + bytes(4)
                self._block(1, struct.pack("=HHI", link, 0, snap) + options)
        else:
            self._stream.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, interfaces[0][1]))

    def packet(self, interface: int, nanoseconds: int, frame: bytes, original: int) -> None:
        """Appends a packet of the interface with this number."""
        self.packets += 1
        if self._blocks:
            high, low = nanoseconds >> 32, nanoseconds & 0xFFFFFFFF
            head = struct.pack("=IIIII", interface, high, low, len(frame), original)
            self._block(6, head + frame + bytes(-len(frame) % 4))
        else:
            seconds, rest = divmod(nanoseconds, 10**9)
            self._stream.write(struct.pack("=IIII", seconds, rest // 1000, len(frame), original) + frame)

    def _block(self, kind: int, body: bytes) -> None:
        length = len(body) + 12
        self._stream.write(struct.pack("=II", kind, length) + body + struct.pack("=I", length))

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()


def cooked(link: int, address: PacketAddress) -> bytes:
    """The header of a packet that was captured on any interface (LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2)."""
    device, protocol, direction, hardware, source = address
    if link == SLL:
        return struct.pack(">HHH8sH", direction, hardware, len(source), source[:8].ljust(8, b"\0"), protocol)
    index = socket.if_nametoindex(device)
    return struct.pack(">HHIHBB8s", protocol, 0, index, hardware, direction, len(source), source[:8].ljust(8, b"\0"))


def _opened(device: str | None) -> socket.socket:
    """A packet socket of one interface, with link-layer headers; of all interfaces without them."""
    kind = socket.SOCK_DGRAM if device is None else socket.SOCK_RAW
    made = socket.socket(socket.AF_PACKET, kind, socket.htons(_ALL) if device is None else 0)
    made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    if device is not None:
        made.bind((device, _ALL))
    return made


def _link_type(device: str) -> int:
    hardware = int(Path(f"/sys/class/net/{device}/type").read_text())
    return ETHERNET if hardware == _ARPHRD_ETHER else RAW


class _Reader:
    """Reads the packets of one socket into one buffer."""

    def __init__(self, device: str | None, number: int, link: int, snap: int) -> None:
        self.socket = _opened(device)
        self._number, self._link = number, link
        self._buffer = bytearray(snap)

    def take(self, writer: CaptureWriter) -> None:
        """Writes the next packet to a file."""
        try:
            length, extra, _, address = self.socket.recvmsg_into([self._buffer], 64, socket.MSG_TRUNC)
        except OSError as error:
            if error.errno != errno.ENETDOWN:
                raise
            # An interface goes down; the other ones, and this one later, still have packets.
            return
        seconds, rest = struct.unpack("=qq", extra[0][2][:16])
        head = b""
        if self._link in (SLL, SLL2):
            head = cooked(self._link, cast("PacketAddress", address))
            length += len(head)
        frame = (head + self._buffer)[: min(length, len(self._buffer))]
        writer.packet(self._number, seconds * 10**9 + rest, frame, length)

    def dropped(self) -> int:
        """Packets that the kernel dropped because this process was too slow."""
        _, drops = struct.unpack("=II", self.socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        return int(drops)


def capture(file: Path, devices: list[str], snap: int, any_link: int) -> None:
    """Captures until SIGTERM. Prints the number of packets, and of packets lost by the kernel, at the end."""
    over: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: over.append(number))
    kinds = [(name, _link_type(name)) for name in devices] or [("any", any_link)]
    readers = [_Reader(name if devices else None, number, link, snap) for number, (name, link) in enumerate(kinds)]
    writer = CaptureWriter(file, snap, kinds)
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader.socket, selectors.EVENT_READ, reader)
        print("ready", flush=True)
        while not over:
            for key, _ in selector.select(0.05):
                cast("_Reader", key.data).take(writer)
        for _ in range(_PENDING):
            ready = selector.select(0)
            if not ready:
                break
            for key, _ in ready:
                cast("_Reader", key.data).take(writer)
    writer.close()
    print(writer.packets, sum(reader.dropped() for reader in readers), flush=True)


def main() -> None:
    """Reads the arguments and captures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", type=Path, help="the capture: .pcap or .pcapng, perhaps with .gz")
    parser.add_argument("--interface", action="append", default=[], help="an interface (default: all of them)")
    parser.add_argument("--snap", type=int, default=262_144, help="maximum bytes of a packet (default: 262144)")
    parser.add_argument("--sll", action="store_true", help="write the older cooked header, as libpcap before 1.10")
    given = parser.parse_args()
    capture(given.file, given.interface, given.snap, SLL if given.sll else SLL2)


if __name__ == "__main__":
    main()
