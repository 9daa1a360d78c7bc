"""An emulated network with real packets, as the page shows it: links, queues, drops and connections.

Owns the conversion of the emulator's counters. Changes are applied by `LinkControl`, as for the console.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from mptcplab import _core
from mptcplab.page import description
from mptcplab.page.live_source import Moment
from mptcplab.page.messages import LinkChange, Refused
from mptcplab.page.own_stack import EMPTY, FIRST_PORT, OwnFlows
from mptcplab.page.sampling import Sampler
from mptcplab.util.user_input import BadResult

if TYPE_CHECKING:
    from mptcplab.emulation.emulated_network import Network
    from mptcplab.emulation.link_control import LinkControl

DIRECTIONS = ("forward", "backward")


class Connections(Protocol):
    """The connections of a network."""

    def look(self, time: float, sampler: Sampler | None) -> list[dict[str, Any]]:
        """`FlowView` of types.ts for each flow; adds samples if `sampler` is given."""


class Unreadable:
    """Flows whose sockets this system does not list."""

    def __init__(self, count: int) -> None:
        """For this number of flows."""
        self._count = count

    def look(self, _time: float, _sampler: Sampler | None) -> list[dict[str, Any]]:
        """Flows without data and subflows."""
        return [EMPTY] * self._count


class LiveNetwork:
    """A network that the emulator runs."""

    def __init__(
        self,
        scenario: _core.Scenario,
        emulator: _core.Emulator,
        control: LinkControl,
        connections: Connections | None,
        policies: Mapping[str, str] | None = None,
    ) -> None:
        """Shows this network; without `connections`, the flows are those of mptcplab's stack.

        `policies` replaces `scheduler` and `congestion` of all flows, where the kernel's apply.
        """
        self._emulator, self._control = emulator, control
        self._loaded = description.loaded(scenario)
        table = self._loaded["description"]
        for flow in table["flows"]:
            flow.update(policies or {})
        self._links = {link["name"]: link for link in table["links"]}
        self._paths = table["paths"]
        self._flows = len(table["flows"])
        senders = [flow["sender"] for flow in table["flows"]]
        self._connections = connections or OwnFlows(emulator, senders, self._paths)
        self._sampler = Sampler(table["sample"])
        self.links = list(control.links)
        self.changes = 0

    def loaded(self) -> dict[str, Any]:
        """Scenario and description."""
        return self._loaded

    def look(self) -> Moment:
        """The counters of the emulator, which are at most 50 ms old, and the sockets of the hosts."""
        now = self._emulator.snapshot()
        time = 0.0 if now is None else now["elapsed_s"]
        counters = {} if now is None else {(row["link"], row["direction"]): row for row in now["links"]}
        # The emulator counts nothing before its first turn.
        is_due = bool(counters) and self._sampler.begin(time)
        directions: list[float] = []
        for number, link in enumerate(self._paths):
            for direction in DIRECTIONS:
                directions += _values(counters.get((link, direction)))
            if is_due:
                self._sample_link(number, link, counters)
        flows = self._connections.look(time, self._sampler if is_due else None)
        return Moment(time, directions, flows, self._sampler.rows() if is_due else [])

    def _sample_link(self, path: int, link: str, counters: dict[tuple[str, str], _core.EmulatedLinkRow]) -> None:
        forward, backward = (counters[link, direction] for direction in DIRECTIONS)
        sampler, none = self._sampler, self._flows
        sampler.rate(none, path, "interface_throughput", forward["sent_bytes"])
        sampler.rate(none, path, "interface_received", backward["delivered_bytes"])
        sampler.value(none, path, "queue", forward["queue_bytes"])
        sampler.value(none, path, "queue_drops", forward["queue_drops"])
        sampler.value(none, path, "random_losses", forward["random_losses"])

    def change(self, change: LinkChange) -> None:
        """Changes a link as the console does: all values, or none if one of them is invalid."""
        texts = {
            "rate": lambda value: f"{value:.0f}bit",
            "delay": lambda value: f"{value * 1e9:.0f}ns",
            "loss": lambda value: f"{value * 100:.9f}%",
            "queueFrames": lambda value: f"{value:.0f}p",
        }
        keys = {"queueFrames": "queue"}
        state = _state(change)
        if state is not None and state not in self._control.possible:
            raise Refused('how = "admin": the hosts of this run cannot be notified; use how = "blackhole"')
        _check(self._links[change.link], change.numbers)
        applied: list[str] = []
        try:
            for key, value in change.numbers.items():
                self._control.set_quantity(change.link, keys.get(key, key), texts[key](value))
                applied.append(key)
            if state is not None:
                self._control.set_state(change.link, state)
                applied.append("up")
        except (_core.ScenarioError, BadResult) as error:
            raise Refused(f"link {change.link}: {error}{_already(applied)}") from error
        except Exception as error:
            # The emulator has stopped, or a host cannot be changed.
            if not applied:
                raise
            raise Refused(f"the change failed: {error}{_already(applied)}") from error
        finally:
            self.changes += bool(applied)


def _check(link: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
    """Raises `Refused` if the kind of a link excludes one of the values, as `Control` of crates/emulator does."""
    has_discipline = any(link[direction]["discipline"] is not None for direction in DIRECTIONS)
    for key, value in numbers.items():
        problem = None
        if key in ("rate", "delay") and link["kind"] == "station":
            problem = f"a station has no {key} of its own; the cell and the station's distance determine it"
        elif key == "rate" and link["recorded"]:
            problem = "must not be set where the link has a trace"
        elif key == "queueFrames" and has_discipline:
            problem = "needs a drop-tail queue; a discipline keeps its limit"
        if problem is not None:
            raise Refused(f"link {link['name']}: {key} = {value:g}: {problem}")


def _already(applied: Sequence[str]) -> str:
    """The values of a failed change that were applied, as the end of a message."""
    return f"; already changed: {', '.join(applied)}" if applied else ""


def _values(row: _core.EmulatedLinkRow | None) -> list[float]:
    """`DIRECTION_FIELDS` of types.ts for one direction of a link."""
    if row is None:
        return [0, 0, math.nan, math.nan, math.nan, 1, 0, 0, 0]
    rate, loss = row["rate"], row["loss"]
    return [
        row["queue_bytes"],
        row["queue_frames"],
        math.nan if rate is None else rate,
        row["delay_s"],
        math.nan if loss is None else loss,
        float(row["up"]),
        row["queue_drops"],
        row["random_losses"],
        row["sent_bytes"],
    ]


def _state(change: LinkChange) -> str | None:
    if change.up is None:
        return None
    if change.up:
        return "up"
    return "silent" if change.how == "blackhole" else "down"


def kernel_policies(network: Network, *, congestion: bool) -> dict[str, str]:
    """The scheduler of the first host's kernel; with `congestion`, also its default controller."""
    namespace = network.hosts[0].namespace
    found = {"scheduler": namespace.read("/proc/sys/net/mptcp/scheduler").strip() or "default"}
    if congestion:
        found["congestion"] = namespace.read("/proc/sys/net/ipv4/tcp_congestion_control").strip()
    return found


@contextmanager
def commands_of(network: Network, hosts: tuple[str, str]) -> Iterator[Connections]:
    """The connections of programs. A flow of the scenario shows those between its hosts, on all ports."""
    from mptcplab.page.live_sockets import Flow

    ends = network.emulator.ends()
    flows: list[Flow | None] = []
    seen: set[tuple[str, str]] = set()
    for opens, accepts in ends:
        # Programs have no flow of the scenario: the first flow between two hosts shows their connections.
        flows.append(None if (opens, accepts) in seen else Flow(opens, accepts, None))
        seen.add((opens, accepts))
    if flows and hosts not in seen:
        flows[0] = Flow(*hosts, None)
    with _sockets(network, flows) as found:
        yield found


@contextmanager
def flows_of(network: Network) -> Iterator[Connections]:
    """The connections of the flows of a scenario, which `run --backend kernel` opens."""
    from mptcplab.page.live_sockets import Flow

    ends = network.emulator.ends()
    flows = [Flow(*one, FIRST_PORT + number) for number, one in enumerate(ends)]
    with _sockets(network, flows) as found:
        yield found


@contextmanager
def _sockets(network: Network, flows: Sequence[Any]) -> Iterator[Connections]:
    from mptcplab.page.live_sockets import LiveSockets, opened

    paths = {link: number for number, link in enumerate(network.scenario.paths)}
    addresses = {
        host.name: {device["address"]: paths[device["link"]] for device in host.plan["devices"]}
        for host in network.hosts
    }
    with ExitStack() as stack:
        try:
            diags = opened({host.name: host.namespace.name for host in network.hosts})
        except OSError:
            # The kernel has no sock_diag: the page shows the links only.
            yield Unreadable(len(flows))
            return
        for diag in diags.values():
            stack.callback(diag.close)
        yield LiveSockets(flows, diags, addresses, len(paths))
