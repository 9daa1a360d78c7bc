"""Reads events of the kernel's path manager, such as new and closed subflows, for `mptcplab host monitor`.

Owns the generic netlink socket and the parsing (linux/mptcp.h). The event names are those of `ip mptcp monitor`.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import struct
from collections.abc import Iterator
from typing import Any

from mptcplab.host.machine import CannotLook

# linux/netlink.h, linux/genetlink.h
_NETLINK_GENERIC, _SOL_NETLINK, _ADD_MEMBERSHIP = 16, 270, 1
_NLMSG_ERROR, _GENL_ID_CTRL, _REQUEST = 2, 16, 1
_CTRL_CMD_GETFAMILY, _FAMILY_ID, _FAMILY_NAME, _MCAST_GROUPS = 3, 1, 2, 7
_GROUP_NAME, _GROUP_ID = 1, 2
_NESTED = 0x3FFF

KINDS = {
    1: "CREATED",
    2: "ESTABLISHED",
    3: "CLOSED",
    6: "ANNOUNCED",
    7: "REMOVED",
    10: "SF_ESTABLISHED",
    11: "SF_CLOSED",
    13: "SF_PRIO",
    15: "LISTENER_CREATED",
    16: "LISTENER_CLOSED",
}
"""Event names by number."""
# Attributes by number: name and format of `struct`; "" is an IP address.
_FIELDS = {
    1: ("token", "=I"),
    2: ("family", "=H"),
    3: ("locid", "B"),
    4: ("remid", "B"),
    5: ("saddr4", ""),
    6: ("saddr6", ""),
    7: ("daddr4", ""),
    8: ("daddr6", ""),
    9: ("sport", "!H"),
    10: ("dport", "!H"),
    11: ("backup", "B"),
    12: ("error", "B"),
    13: ("flags", "=H"),
    14: ("timeout", "=I"),
    15: ("ifindex", "=i"),
    16: ("reset_reason", "=I"),
    17: ("reset_flags", "=I"),
    18: ("server_side", "B"),
}
_SHOWN: tuple[str, ...] = (
    "token",
    "remid",
    "locid",
    "saddr4",
    "saddr6",
    "daddr4",
    "daddr6",
    "sport",
    "dport",
    "backup",
    "error",
)
_SHOWN += ("flags", "timeout", "ifindex", "reset_reason", "reset_flags", "server_side")

Event = dict[str, Any]


def events() -> Iterator[Event]:
    """Yields events as they occur, without end. The first value is empty, and the kernel buffers events from then on.

    If the buffer overflows, the event `LOST` follows.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC) as own:
        own.bind((0, 0))
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        try:
            own.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, _group(own))
        except PermissionError:
            raise CannotLook("MPTCP events require root; run with sudo") from None
        yield {}
        while True:
            try:
                data = own.recv(1 << 16)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                yield {"event": "LOST"}
                continue
            for kind, body in _messages(data):
                if kind not in (_NLMSG_ERROR, _GENL_ID_CTRL) and body:
                    yield event(body)


def event(body: bytes) -> Event:
    """Parses a message: a generic header and attributes."""
    found: Event = {"event": KINDS.get(body[0], f"UNKNOWN {body[0]}")}
    for number, value in _attributes(body[4:]):
        name, form = _FIELDS.get(number, (f"attribute {number}", "?"))
        if form == "":
            found[name] = str(ipaddress.ip_address(value)) if len(value) in (4, 16) else value.hex()
        elif form == "?" or len(value) < struct.calcsize(form):
            found[name] = value.hex()
        else:
            found[name] = struct.unpack_from(form, value)[0]
    if isinstance(found.get("token"), int):
        found["token"] = f"{found['token']:08x}"
    return found


def line(one: Event) -> str:
    """An event in the format of `ip mptcp monitor`."""
    words = [f"{name}={one[name]}" for name in _SHOWN if name in one]
    return f"[{one['event']:>15}] {' '.join(words)}".rstrip()


def _group(own: socket.socket) -> int:
    """The multicast group of the events."""
    name = b"mptcp_pm\0"
    attribute = struct.pack("=HH", 4 + len(name), _FAMILY_NAME) + name.ljust(12, b"\0")
    body = struct.pack("=BBH", _CTRL_CMD_GETFAMILY, 1, 0) + attribute
    own.send(struct.pack("=IHHII", 16 + len(body), _GENL_ID_CTRL, _REQUEST, 1, 0) + body)
    for kind, answer in _messages(own.recv(1 << 16)):
        if kind != _GENL_ID_CTRL:
            continue
        for number, value in _attributes(answer[4:]):
            groups = _attributes(value) if number == _MCAST_GROUPS else ()
            for _, group in groups:
                message = dict(_attributes(group))
                if message.get(_GROUP_NAME, b"").rstrip(b"\0") == b"mptcp_pm_events":
                    return int(struct.unpack("=I", message[_GROUP_ID])[0])
    raise CannotLook("this kernel reports no MPTCP events; Linux 5.12 or later is required")


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 16:
        length, kind = struct.unpack_from("=IH", data)
        if not 16 <= length <= len(data):
            return
        yield kind, data[16:length]
        data = data[length + 3 & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        if not 4 <= length <= len(data):
            return
        yield number & _NESTED, data[4:length]
        data = data[length + 3 & ~3 :]
