"""TUN devices of this machine, through which mptcplab's own MPTCP endpoint sends real packets.

Owns the queries to the kernel (ioctl, /proc, /sys), and the errors with the `ip` command that helps. Changes only the
offload of a device, on request.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

TUN = Path("/dev/net/tun")
CAP_NET_ADMIN = 12

# linux/sockios.h, linux/if.h
_SIOCGIFFLAGS, _SIOCGIFADDR, _SIOCGIFMTU, _SIOCGIFNETMASK = 0x8913, 0x8915, 0x8921, 0x891B
_IFF_UP = 0x1

IPInterface = ipaddress.IPv4Interface | ipaddress.IPv6Interface


class BadDevice(ValueError):
    """An unusable device; the message names a solution."""


@dataclass(frozen=True)
class Device:
    """A network interface, and the kernel's addresses on it."""

    name: str
    up: bool
    mtu: int
    tun: bool
    openable: bool
    """Whether it is a TUN device that this user may open without CAP_NET_ADMIN."""
    addresses: list[IPInterface] = field(default_factory=list)


def _ask(name: str, request: int) -> bytes | None:
    """The 24-byte answer to an interface ioctl; None if the ioctl fails."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            return fcntl.ioctl(any_socket, request, struct.pack("16s24x", name.encode()))[16:]
        except OSError:
            return None


def find(name: str) -> Device | None:
    """The device with this name; None if there is none."""
    flags = _ask(name, _SIOCGIFFLAGS) if len(name.encode()) < 16 else None
    if flags is None:
        return None
    addresses: list[IPInterface] = []
    address, mask = _ask(name, _SIOCGIFADDR), _ask(name, _SIOCGIFNETMASK)
    if address and mask:
        # A sockaddr_in: family, port, address.
        texts = [socket.inet_ntoa(answer[4:8]) for answer in (address, mask)]
        addresses.append(ipaddress.IPv4Interface("/".join(texts)))
    addresses += _six(name)
    mtu = struct.unpack_from("i", _ask(name, _SIOCGIFMTU) or bytes(24))[0]
    up = bool(struct.unpack_from("H", flags)[0] & _IFF_UP)
    owner = _tun_owner(name)
    return Device(name, up, mtu, owner is not None, owner in (-1, os.geteuid()), addresses)


def _tun_owner(name: str) -> int | None:
    """The owner of a TUN device, -1 for any user; None for other devices."""
    try:
        return int(Path(f"/sys/class/net/{name}/owner").read_text())
    except OSError:
        return None


def _six(name: str) -> list[ipaddress.IPv6Interface]:
    """The IPv6 addresses of a device, without link-local ones."""
    try:
        lines = Path("/proc/self/net/if_inet6").read_text().splitlines()
    except OSError:
        return []
    rows = [line.split() for line in lines]
    all_of_it = [ipaddress.IPv6Interface((int(row[0], 16), int(row[2], 16))) for row in rows if row[5] == name]
    return [address for address in all_of_it if not address.is_link_local]


def no_offload(name: str, *, gro: bool = False) -> None:
    """Turns off checksum and segmentation offload, like `ethtool -K`, and generic receive offload (GRO) on or off."""
    import ctypes
    import fcntl

    siocethtool = 0x8946
    # linux/ethtool.h: ETHTOOL_STSO, SGSO, STXCSUM, SRXCSUM, SGRO.
    for command, on in ((0x1F, False), (0x24, False), (0x17, False), (0x15, False), (0x2C, gro)):
        value = ctypes.create_string_buffer(struct.pack("II", command, on), 8)
        request = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, siocethtool, request)


def everything() -> list[Device]:
    """All devices, in the kernel's order."""
    found = (find(name) for _, name in socket.if_nameindex())
    return [device for device in found if device is not None]


def may_administrate() -> bool:
    """Whether this process has CAP_NET_ADMIN."""
    status = Path("/proc/self/status").read_text()
    effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> CAP_NET_ADMIN & 1)


def why_no_tun() -> str | None:
    """Why this process cannot use TUN devices, with a solution; None if it can."""
    if not TUN.exists():
        return f"{TUN} is missing; load the module (modprobe tun), or pass the device to the container"
    if not os.access(TUN, os.R_OK | os.W_OK):
        return f"{TUN} cannot be opened; run as root, or allow reading and writing it"
    if not may_administrate() and not any(device.openable for device in everything()):
        return (
            "CAP_NET_ADMIN is missing, and this user owns no TUN device; run as root, or create a TUN device for this "
            "user"
        )
    return None


def setup(name: str, address: str = "10.88.0.1/24") -> str:
    """The shell commands that create a TUN device."""
    return f"ip tuntap add {name} mode tun && ip addr add {address} dev {name} && ip link set {name} up txqueuelen 2000"


def endpoint_addresses(text: str, taken: Collection[str]) -> tuple[str, list[str]]:
    """Parses NAME[=ADDRESS[,ADDRESS]] as a device and the endpoint's addresses on it.

    Without an address, uses the next free host address of the device's subnet, one per IP version.
    """
    name, _, given = text.partition("=")
    if not name:
        raise BadDevice(f"{text!r} names no device; write NAME or NAME=ADDRESS, for example mptcp0=10.88.0.2")
    device = find(name)
    if device is not None and not device.tun:
        raise BadDevice(f"{name} is not a TUN device; create one: {setup('mptcp0')}")
    if given:
        addresses = [_checked(part, name, device) for part in given.split(",")]
    elif device is None:
        raise BadDevice(f"device {name} does not exist; create it: {setup(name)}")
    elif not device.addresses:
        raise BadDevice(
            f"{name} has no address; add an address for the kernel (ip addr add 10.88.0.1/24 dev {name}), or give the "
            f"endpoint's address ({name}=10.88.0.2)"
        )
    else:
        addresses = [_next_free(address, taken) for address in _one_each(device.addresses)]
    if device is not None and not device.up:
        raise BadDevice(f"{name} is down; set it up: ip link set {name} up")
    return name, addresses


def _checked(text: str, name: str, device: Device | None) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise BadDevice(f"{text!r} is not an IP address; write {name}=ADDRESS, for example {name}=10.88.0.2") from None
    if device is not None and any(known.ip == address for known in device.addresses):
        raise BadDevice(f"{text} is the kernel's address on {name}; the endpoint needs another address of its subnet")
    return str(address)


def _one_each(addresses: list[IPInterface]) -> list[IPInterface]:
    """The first address of each IP version."""
    return list({address.version: address for address in reversed(addresses)}.values())


def _next_free(address: IPInterface, taken: Collection[str]) -> str:
    """The next free host address after the kernel's; wraps around at the end of the subnet."""
    network = address.network
    first, end = 1, network.num_addresses - (1 if network.version == 4 else 0)
    if network.prefixlen >= network.max_prefixlen - 1:
        first, end = 0, network.num_addresses
    own = int(address.ip) - int(network.network_address)
    for step in range(1, min(end - first, 65_536) + 1):
        offset = first + (own - first + step) % (end - first)
        candidate = str(network[offset])
        if offset != own and candidate not in taken:
            return candidate
    raise BadDevice(f"{network} has no free address for the endpoint; use a larger subnet, such as a /24")
