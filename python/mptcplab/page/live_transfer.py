"""A connection of mptcplab's own stack on TUN devices, as the page shows it (`mptcplab send` and `receive`).

Each device is a link between this host and its peer. Its rate and delay are
unknown. A person can only set a device down or up, which the peer learns by REMOVE_ADDR.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mptcplab import _core
from mptcplab.page.live_source import Moment
from mptcplab.page.messages import LinkChange, Refused
from mptcplab.page.own_stack import EMPTY, sample, view
from mptcplab.page.sampling import Sampler

if TYPE_CHECKING:
    from mptcplab._core import ConnectionInfo, MptcpStream, SubflowInfo
    from mptcplab.live.driver import Config, Driver

HERE, PEER = "this host", "peer"


class LiveTransfer:
    """The connection of a transfer, as soon as it exists."""

    def __init__(self, driver: Driver, config: Config, *, sending: bool) -> None:
        """Shows the first connection that `show` gives."""
        self._driver, self._sending = driver, sending
        addresses = driver.addresses
        # An interface with several addresses is one link.
        self._names = dict.fromkeys(known.device for known in addresses)
        self.links = list(self._names)
        places = {name: number for number, name in enumerate(self.links)}
        self._paths = {known.interface: places[known.device] for known in addresses}
        self._up = dict.fromkeys(self.links, True)
        self.changes = 0
        self._stream: MptcpStream | None = None
        self._last: ConnectionInfo | None = None
        self._sampler = Sampler(0.1)
        self._began = time.monotonic()
        self._description = _description(self.links, config, sending=sending)

    def show(self, stream: MptcpStream) -> None:
        """Shows this connection."""
        self._stream = stream

    def end(self, info: ConnectionInfo) -> None:
        """Shows this last state of the connection."""
        self._stream, self._last = None, info

    def loaded(self) -> dict[str, Any]:
        """A description without a scenario text."""
        return {"toml": "", "description": self._description}

    def look(self) -> Moment:
        """The state of the connection; its last state after the stream is closed."""
        now = time.monotonic() - self._began
        if (stream := self._stream) is not None:
            # A closed stream has no state; the transfer gives the last one to `end`.
            with suppress(OSError):
                found = stream.info()
                self._last = found if self._stream is stream else self._last
        is_due = self._sampler.begin(now)
        info = self._last
        paths = [] if info is None else info["paths"]
        directions: list[float] = []
        for number, link in enumerate(self.links):
            mine = [one for one in paths if self._paths.get(one["interface"]) == number]
            sent, received = sum(one["bytes_sent"] for one in mine), sum(one["bytes_received"] for one in mine)
            for count in (sent, received):
                unknown = math.nan
                directions += [0, 0, unknown, unknown, unknown, float(self._up[link]), 0, 0, count]
        flows = [EMPTY]
        if info is not None:
            flows = [view(info, self._path, sending=self._sending)]
            if is_due:
                sample(self._sampler, 0, len(self.links), info, self._path, sending=self._sending)
        return Moment(now, directions, flows, self._sampler.rows() if is_due else [])

    def _path(self, one: SubflowInfo) -> int | None:
        return self._paths.get(one["interface"])

    def change(self, change: LinkChange) -> None:
        """Sets a device down or up."""
        if change.numbers:
            names = ", ".join(change.numbers)
            raise Refused(f"link {change.link}: a device of a transfer can only be set up or down, not its {names}")
        if change.how != "admin":
            raise Refused(f"how = {change.how!r}: a device of a transfer goes down visibly for both hosts (admin)")
        wanted = bool(change.up)
        for interface, path in self._paths.items():
            if self.links[path] == change.link:
                self._driver.set_interface(interface, up=wanted)
        self._up[change.link] = wanted
        self.changes += 1


def _description(links: list[str], config: Config, *, sending: bool) -> dict[str, Any]:
    """`Description` of types.ts."""
    unknown = {"rate": None, "delay": 0.0, "loss": 0.0, "queueFrames": None, "queueBytes": None, "discipline": None}
    link = {
        "kind": "link", "ends": [HERE, PEER], "cell": None, "recorded": False, "distance": None, "forward": unknown,
        "backward": unknown,
    }  # fmt: skip
    flow = {
        "name": "transfer", "transport": "mptcp" if config.multipath else "tcp", "from": HERE if sending else PEER,
        "to": PEER if sending else HERE, "sender": HERE if sending else PEER, "paths": links,
        "scheduler": config.scheduler, "congestion": config.congestion, "start": 0.0, "stop": None,
    }  # fmt: skip
    return {
        "name": "transfer",
        "description": "A transfer by mptcplab's own stack on real packets.",
        "duration": 0.0,
        "sample": 0.1,
        "warmup": 0.0,
        "nodes": [{"name": HERE, "kind": "host"}, {"name": PEER, "kind": "host"}],
        "links": [{"name": name, **link} for name in links],
        "flows": [flow],
        "middleboxes": [],
        "cells": [],
        "paths": links,
        "hosts": [HERE, PEER],
        "metrics": [{"name": name, "unit": unit} for name, unit in _core.metrics()],
    }
