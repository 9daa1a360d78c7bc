"""Arguments, devices, settings and errors that `send` and `receive`, the ends of a transfer, share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab import _core
from mptcplab.cli import page_options
from mptcplab.cli.common import BadInput, RunFailed, add_trace, trace

if TYPE_CHECKING:
    from mptcplab._core import MptcpStream
    from mptcplab.live.driver import Config, Driver
    from mptcplab.page.live_transfer import LiveTransfer

PIECE = 1 << 20
"""Bytes per read or write."""
PATIENCE = 0.2
"""Seconds between two reads of the path statistics."""
LAST_WORDS = 0.5
"""Seconds to wait for the last acknowledgements after both sides have ended."""

_UNITS = {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "B": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that both commands share."""
    names = _core.policy_names()
    parser.add_argument(
        "--interface",
        action="append",
        required=True,
        metavar="NAME[=ADDRESS]",
        help="TUN device and the endpoint's address on it; repeat it for each path",
    )
    parser.add_argument(
        "--congestion",
        metavar="NAME",
        help=f"congestion control: {one_of(names['congestion'])} (default: lia; reno with --tcp)",
    )
    parser.add_argument(
        "--scheduler",
        default="ontime",
        metavar="NAME",
        help=f"scheduler: {one_of(names['scheduler'])} (default: ontime)",
    )
    parser.add_argument("--rcvbuf", type=buffer, default=6 << 20, metavar="SIZE", help="receive buffer (default: 6MiB)")
    parser.add_argument("--sndbuf", type=buffer, default=4 << 20, metavar="SIZE", help="send buffer (default: 4MiB)")
    parser.add_argument(
        "--v0", action="store_true", help="use MPTCP version 0 (RFC 6824); a receiver accepts both versions"
    )
    parser.add_argument("--checksum", action="store_true", help="require DSS checksums")
    parser.add_argument("--tcp", action="store_true", help="use plain TCP instead of MPTCP")
    parser.add_argument("--pcap", type=Path, metavar="FILE", help="write every packet to FILE (pcapng)")
    add_trace(parser, "write events of these kinds")
    parser.add_argument(
        "--trace-output",
        type=Path,
        default=Path("events.parquet"),
        metavar="FILE",
        help="file for the events of --trace (default: events.parquet)",
    )
    page_options.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="print neither progress nor summary")


def one_of(names: list[str]) -> str:
    """Joins names, as in `a, b or c`."""
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def buffer(text: str) -> int:
    """A buffer size with its unit, in bytes."""
    size = 0.0
    for unit, scale in _UNITS.items():
        if text.endswith(unit):
            with suppress(ValueError):
                size = float(text.removesuffix(unit)) * scale
            break
    if not 2048 <= size <= 1 << 30:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a buffer size; write a number with its unit, 2KiB to 1GiB, for example 200KB or 4MiB"
        )
    return int(size)


def config(given: argparse.Namespace) -> Config:
    """The endpoint settings that the arguments select."""
    from mptcplab.live.driver import Config
    from mptcplab.util.user_input import choose

    congestion = given.congestion or ("reno" if given.tcp else "lia")
    names = _core.policy_names()
    choose(congestion, names["congestion"], "congestion control", "--congestion")
    choose(given.scheduler, names["scheduler"], "scheduler", "--scheduler")
    return Config(
        multipath=not given.tcp,
        version="v0" if given.v0 else "v1",
        checksum=given.checksum,
        congestion=congestion,
        scheduler=given.scheduler,
        receive_buffer=given.rcvbuf,
        send_buffer=given.sndbuf,
    )


def place(text: str, *, empty: str | None = None) -> tuple[str, int]:
    """Parses HOST:PORT or [ADDRESS]:PORT; `empty` replaces a missing host."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or (empty or "")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise BadInput(f"mptcplab: invalid address {text!r}; write HOST:PORT, such as 10.88.0.1:5001 or [fd88::1]:5001")
    return host, int(port)


@contextmanager
def endpoint(given: argparse.Namespace) -> Iterator[Driver]:
    """A running endpoint on the devices of the arguments."""
    if sys.platform != "linux":
        raise BadInput(f"mptcplab: real packets need TUN devices and thus Linux; this is {sys.platform}")
    from mptcplab.live.devices import TUN, BadDevice, endpoint_addresses, find, setup
    from mptcplab.live.driver import Driver, Interface

    if not TUN.exists():
        raise BadInput(
            f"mptcplab: {TUN} is missing; load the module (modprobe tun), or pass the device to the container"
        )
    from mptcplab.live.event_writer import tracing

    wanted = trace(given)
    interfaces: list[Interface] = []
    try:
        for text in given.interface:
            taken = [address for one in interfaces for address in one.addresses]
            interfaces.append(Interface(*endpoint_addresses(text, taken)))
    except BadDevice as error:
        raise BadInput(f"mptcplab: --interface {text}: {error}") from error
    made = [one.device for one in interfaces if find(one.device) is None]
    driver = Driver(interfaces, pcap=given.pcap)
    for name in made:
        print(f"mptcplab: created {name}; now assign it an address: {setup(name).split(' && ', 1)[1]}", file=sys.stderr)
    with driver:
        if given.trace is None:
            yield driver
            return
        with tracing(driver, wanted, given.trace_output):
            yield driver


@contextmanager
def shown(given: argparse.Namespace, driver: Driver, config: Config, *, sending: bool) -> Iterator[LiveTransfer | None]:
    """Shows a transfer on the page; None without `--page`."""
    if not given.page:
        yield None
        return
    from mptcplab.page.live_transfer import LiveTransfer

    source = LiveTransfer(driver, config, sending=sending)
    with page_options.shown(given, source):
        yield source


def devices(driver: Driver) -> dict[int, str]:
    """Device names by interface number."""
    return {known.interface: known.device for known in driver.addresses}


def lost(error: OSError, stream: MptcpStream, done: int) -> RunFailed:
    """The message for a connection that was lost."""
    from mptcplab.live.transfers import size

    how = stream.info()["closed"] or str(error)
    return RunFailed(f"the connection was lost after {size(done)}: {how}")
