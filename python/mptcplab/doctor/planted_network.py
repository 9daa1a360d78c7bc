"""A laptop with two uplinks and a server, in network namespaces, for captures of Linux's own MPTCP.

Two veth devices join the laptop with a gateway, which forwards over the emulated links to the server, with NAT. The
firewall rules of the gateway and the server are those of nft. Owns addresses, routes, captures and the texts that a
user attaches (`ip mptcp`, `nstat`, `ss`).
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mptcplab.doctor.planted_ends import PORT, EndOptions
from mptcplab.emulation.emulated_network import CannotEmulate, Network, emulated
from mptcplab.emulation.namespaces import Namespace, namespace
from mptcplab.scenario.definition import NO_JITTER, Scenario

FRAME = 1514
"""Bytes of a full frame on an emulated link."""
_TABLES = 100
_GATEWAY_PRIORITY = 50
"""Priority of the routing rules of the gateway, before those of the emulated network."""
_NAT = """
table ip home {
  chain source {
    type nat hook postrouting priority 100;
    oifname != "lan*" masquerade
  }
}
"""
"""The emulated links know only the addresses of their ends, so the gateway translates those of the laptop."""
_PATIENCE = 30.0
"""Seconds that a transfer may last after the sender has stopped."""

_NO_IPV6 = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}

TEXTS = {
    "ip-mptcp-limits": "ip mptcp limits show",
    "ip-mptcp-endpoint": "ip mptcp endpoint show",
    "ss": "ss -tiM",
    "nstat": "nstat -asz",
}
"""Names of files, and the commands whose output they contain."""


@dataclass(frozen=True)
class Uplink:
    """One path: an interface of the laptop and its emulated link."""

    name: str
    device: str
    rate: float
    """Bit/s in both directions."""
    rtt: float
    """Propagation delay there and back, seconds."""
    queue: int
    """Packets."""
    loss: float = 0.0
    """Probability that a frame in the direction of the data is lost."""
    police: tuple[float, int] | None = None
    """Rate in bit/s and burst in bytes of a policer in the direction of the data, instead of the queue."""
    silent: tuple[float, float] | None = None
    """From and until when the link drops all packets, in seconds of the transfer."""

    def table(self, *, upload: bool) -> dict[str, Any]:
        """The path in a scenario."""
        data: dict[str, Any] = {}
        if self.loss:
            data["loss"] = f"{100 * self.loss:.3f}%"
        if self.police is not None:
            rate, burst = self.police
            data["queue"] = {"kind": "police", "rate": f"{rate / 1e3:.0f}kbit", "burst": f"{burst}B"}
        found: dict[str, Any] = {
            "rate": f"{self.rate / 1e3:.0f}kbit",
            "rtt": f"{self.rtt * 1e6:.0f}us",
            "queue": f"{self.queue}p",
        }
        return found | ({"forward" if upload else "backward": data} if data else {})


@dataclass(frozen=True)
class Capture:
    """How the packets are captured."""

    host: str
    """`client` or `server`."""
    form: str
    """`any` (one file of all interfaces), `multi` (one pcapng of several interfaces) or `each` (a file for each)."""
    suffix: str
    """`pcap` or `pcapng`, perhaps with `.gz`."""
    snap: int
    sll: bool
    """Whether captures of all interfaces have the older cooked header."""


@dataclass(frozen=True)
class Setting:
    """A network, its transfer and its faults."""

    uplinks: tuple[Uplink, ...]
    options: EndOptions
    captures: tuple[Capture, ...]
    source_rules: bool = True
    """Whether packets of each address of the laptop leave by its interface."""
    endpoints: tuple[str, ...] = ("subflow", "subflow")
    """The flags of the laptop's endpoint of each uplink; empty for no endpoint. Without source rules, the endpoints
    name no device, because the kernel would then use the route of that device.
    """
    signals: tuple[str, ...] = ()
    """Addresses that the server announces."""
    extra_address: str | None = None
    """An additional address of the server, which no client can reach."""
    client_limits: tuple[int, int] = (4, 4)
    """`subflows` and `add_addr_accepted`."""
    server_limits: tuple[int, int] = (4, 4)
    gateway_rules: str = ""
    """nft rules of the gateway. LAN0 and LAN1 are its interfaces to the laptop."""
    server_rules: str = ""
    first_rules: str = ""
    """Rules of the gateway during a first connection, which ends before the capture starts."""
    client_sysctls: dict[str, str] = field(default_factory=dict)
    server_sysctls: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a transfer."""

    files: tuple[Path, ...]
    received: int
    seconds: float
    connected: float | None
    """Seconds of the handshake."""
    lost_by_capture: int
    note: str | None


class Laboratory:
    """The running network."""

    def __init__(self, setting: Setting, network: Network, laptop: Namespace) -> None:
        """Joins the parts; `prepare` sets them up."""
        self._setting, self._network = setting, network
        self.laptop = laptop
        self.gateway = network.host("client").namespace
        self.server = network.host("server").namespace
        self._devices = [one["name"] for one in network.host("server").plan["devices"]]
        self.addresses = [one["address"] for one in network.host("server").plan["devices"]]
        """The addresses of the server."""

    def prepare(self) -> None:
        """Sets up devices, routes, endpoints, limits and rules."""
        setting = self._setting
        for key, value in {"net.ipv4.conf.all.rp_filter": "0", **_NO_IPV6, **setting.client_sysctls}.items():
            self.laptop.sysctl(key, value)
        self.gateway.sysctl("net.ipv4.ip_forward", "1")
        self.gateway.ip("mptcp endpoint flush")
        for number, uplink in enumerate(setting.uplinks):
            self._join(number, uplink)
        self.laptop.batch(self._laptop_lines())
        for key, value in setting.server_sysctls.items():
            self.server.sysctl(key, value)
        subflows, accepted = setting.server_limits
        lines = [f"mptcp limits set subflows {subflows} add_addr_accepted {accepted}"]
        if setting.extra_address:
            lines.append(f"addr add {setting.extra_address}/32 dev lo")
        lines += [f"mptcp endpoint add {address} signal" for address in setting.signals]
        self.server.batch(lines)
        self._rules(self.gateway, _NAT)
        self._rules(self.gateway, setting.gateway_rules)
        self._rules(self.server, setting.server_rules)

    def _join(self, number: int, uplink: Uplink) -> None:
        """A veth pair between the laptop and the gateway."""
        subnet = f"192.168.{number + 1}"
        self.laptop.ip(f"link add {uplink.device} type veth peer name lan{number} netns {self.gateway.name}")
        out = self._network.host("client").plan["devices"][number]["name"]
        self.gateway.batch(
            [
                f"addr add {subnet}.1/24 dev lan{number}",
                f"link set lan{number} up",
                f"rule add iif lan{number} lookup {_TABLES + number} pref {_GATEWAY_PRIORITY}",
                f"route replace default dev {out} table {_TABLES + number}",
            ]
        )

    def _laptop_lines(self) -> list[str]:
        setting = self._setting
        lines = []
        for number, uplink in enumerate(setting.uplinks):
            subnet = f"192.168.{number + 1}"
            lines += [
                f"addr add {subnet}.10/24 dev {uplink.device}",
                f"link set {uplink.device} up",
                f"route replace default via {subnet}.1 dev {uplink.device} metric {100 + number}",
            ]
            if setting.source_rules:
                lines += [
                    f"route replace default via {subnet}.1 dev {uplink.device} table {_TABLES + number}",
                    f"rule add from {subnet}.10 lookup {_TABLES + number}",
                ]
        subflows, accepted = setting.client_limits
        lines.append(f"mptcp limits set subflows {subflows} add_addr_accepted {accepted}")
        for number, flags in enumerate(setting.endpoints[: len(setting.uplinks)]):
            if flags:
                device = f" dev {setting.uplinks[number].device}" if setting.source_rules else ""
                lines.append(f"mptcp endpoint add 192.168.{number + 1}.10{device} {flags}")
        return lines

    def _rules(self, where: Namespace, text: str) -> None:
        """Loads nft rules; raises `CannotEmulate` if the kernel rejects them."""
        if not text:
            return
        command = where.command("nft", "-f", "-")
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode:
            raise CannotEmulate(f"nft: {done.stderr.strip()}")

    @contextmanager
    def first_rules(self) -> Iterator[None]:
        """The rules of the first connection, for the block."""
        self._rules(self.gateway, f"table inet first {{\n{self._setting.first_rules}\n}}")
        yield
        subprocess.run(self.gateway.command("nft", "delete", "table", "inet", "first"), check=True, timeout=30)

    @contextmanager
    def transfer(self, options: EndOptions) -> Iterator[tuple[subprocess.Popen[str], subprocess.Popen[str]]]:
        """Runs both ends: the server, then the client."""
        programs = []
        try:
            for role, where in (("server", self.server), ("client", self.laptop)):
                command = where.command(sys.executable, "-m", "mptcplab.doctor.planted_ends", role, options.words())
                one = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                programs.append(one)
                if role == "server" and (one.stdout is None or one.stdout.readline() != "listening\n"):
                    raise CannotEmulate(f"the server did not start: {one.stderr.read() if one.stderr else ''}")
            yield programs[0], programs[1]
        finally:
            for one in programs:
                one.kill()
                one.communicate()

    def capture(self, how: Capture, folder: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
        """Starts captures; they end with SIGTERM."""
        client = how.host == "client"
        where = self.laptop if client else self.server
        devices = [one.device for one in self._setting.uplinks] if client else self._devices
        groups: dict[str, list[tuple[str, list[str]]]] = {
            "any": [("", [])],
            "multi": [("", devices)],
            "each": [(f"-{one}", [one]) for one in devices],
        }
        for label, interfaces in groups[how.form]:
            file = folder / f"{how.host}{label}.{how.suffix}"
            command = [sys.executable, "-m", "mptcplab.doctor.packet_capture", str(file), "--snap", str(how.snap)]
            for one in interfaces:
                command += ["--interface", one]
            command += ["--sll"] if how.sll else []
            started = subprocess.Popen(where.command(*command), stdout=subprocess.PIPE, text=True)
            if started.stdout is None or started.stdout.readline() != "ready\n":
                raise CannotEmulate(f"the capture {file} did not start")
            yield file, started

    def text(self, host: str, command: str) -> str:
        """The output of a command on a host, after its command line."""
        where = self.laptop if host == "client" else self.server
        done = subprocess.run(where.command(*command.split()), capture_output=True, text=True, timeout=30, check=False)
        return f"$ {command}\n{done.stdout}"

    def silence(self, began: float, since: float, until: float) -> None:
        """Makes links silent, and lets them return, at their times between `since` and `until`; returns at the end."""
        changes = []
        for uplink in self._setting.uplinks:
            if uplink.silent is not None:
                changes += [(began + uplink.silent[0], uplink.name, "false")]
                changes += [(began + uplink.silent[1], uplink.name, "true")]
        for at, name, up in sorted(changes):
            if since <= at < until:
                time.sleep(max(0.0, at - time.monotonic()))
                self._network.emulator.change(name, "up", up)
        time.sleep(max(0.0, until - time.monotonic()))


@contextmanager
def laboratory(setting: Setting, seed: int) -> Iterator[Laboratory]:
    """The network of a setting, running; it is removed after the block."""
    scenario = Scenario(
        name="planted_linux",
        jitter=NO_JITTER,
        duration="60s",
        paths={one.name: one.table(upload=setting.options.upload) for one in setting.uplinks},
        flows={"flow": {}},
    )
    with ExitStack() as stack:
        network = stack.enter_context(emulated(scenario, seed))
        laptop = stack.enter_context(namespace("laptop"))
        made = Laboratory(setting, network, laptop)
        made.prepare()
        network.start()
        yield made
        network.check()


def record(setting: Setting, folder: Path, seed: int) -> Outcome:
    """Runs the transfer of a setting, and writes captures and texts to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with laboratory(setting, seed) as lab:
        if setting.first_rules:
            with lab.first_rules(), lab.transfer(_with(setting.options, lab, 0.2)) as (_, client):
                client.communicate(timeout=_PATIENCE)
        running = [one for how in setting.captures for one in lab.capture(how, folder)]
        options = _with(setting.options, lab, setting.options.seconds)
        texts: dict[tuple[str, str], str] = {}
        with lab.transfer(options) as (server, client):
            ready = client.stdout.readline() if client.stdout else ""
            began = time.monotonic()
            middle, end = began + 0.6 * options.seconds, began + options.seconds
            lab.silence(began, began, middle)
            for host in ("client", "server"):
                texts[host, "ss"] = lab.text(host, TEXTS["ss"])
            lab.silence(began, middle, end)
            said = [_said(one, end + _PATIENCE) for one in (client, server)]
        for host in ("client", "server"):
            for name in ("ip-mptcp-limits", "ip-mptcp-endpoint", "nstat"):
                texts[host, name] = lab.text(host, TEXTS[name])
        time.sleep(0.2)
        lost = 0
        for _, one in running:
            one.send_signal(signal.SIGTERM)
            lost += int(one.communicate(timeout=30)[0].split()[1])
    results = [json.loads(out.splitlines()[-1]) for out, _ in said if out.strip()]
    received = next((one for one in results if "bytes" in one), {"bytes": 0, "seconds": 0.0})
    failed = " ".join(error.strip().splitlines()[-1] for _, error in said if error.strip())
    return Outcome(
        files=(*(file for file, _ in running), *_written(texts, folder, seed)),
        received=int(received["bytes"]),
        seconds=received["seconds"],
        connected=json.loads(ready)["connected_s"] if ready else None,
        lost_by_capture=lost,
        note=failed or None,
    )


def _said(program: subprocess.Popen[str], until: float) -> tuple[str, str]:
    """Both outputs of an end, which is killed if it runs longer than `until`."""
    try:
        return program.communicate(timeout=max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        program.kill()
        out, error = program.communicate()
        return out, f"{error}the transfer did not end"


def _with(options: EndOptions, lab: Laboratory, seconds: float) -> EndOptions:
    return replace(options, address=options.address or lab.addresses[0], seconds=seconds)


def _written(texts: dict[tuple[str, str], str], folder: Path, seed: int) -> list[Path]:
    """Writes the texts: one file for each host, or one for each command."""
    files = []
    for host in ("client", "server"):
        own = {name: texts[host, name] for name in TEXTS}
        if seed % 2:
            files.append(folder / f"host-{host}.txt")
            files[-1].write_text("\n".join(own.values()))
        else:
            for name, text in own.items():
                files.append(folder / f"{host}-{name}.txt")
                # A file of one command has only its output.
                files[-1].write_text(text.partition("\n")[2])
    return files


__all__ = ["PORT", "Capture", "Laboratory", "Outcome", "Setting", "Uplink", "laboratory", "record"]
