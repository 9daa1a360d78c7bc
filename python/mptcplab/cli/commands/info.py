"""`mptcplab info`: shows what mptcplab can use on this machine, and why a backend cannot run."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

from mptcplab import __version__
from mptcplab.cli.common import print_json

NAME = "info"
HELP = "show kernel, MPTCP, TUN devices, privileges and available backends"
EXAMPLE = "mptcplab info --json"

TOOLS = ("ip", "tc", "tshark")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(given: argparse.Namespace) -> int:
    """Prints the capabilities."""
    known = look()
    if given.json:
        print_json(known)
    else:
        print(_text(known))
    return 0


def look() -> dict[str, Any]:
    """The capabilities as JSON."""
    linux = sys.platform == "linux"
    from mptcplab.emulation.emulated_network import why_no_mptcp

    kernel_reason = why_no_mptcp() if linux else "this machine does not run Linux"
    wire_reason: str | None = "TUN devices need Linux"
    found: list[dict[str, Any]] = []
    if linux:
        from mptcplab.live import devices

        wire_reason = devices.why_no_tun()
        found = [
            {
                "name": device.name,
                "tun": device.tun,
                "up": device.up,
                "mtu": device.mtu,
                "addresses": [str(address) for address in device.addresses],
            }
            for device in devices.everything()
        ]
    return {
        "mptcplab": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "root": linux and os.geteuid() == 0,
        "mptcp_sysctls": _sysctls(),
        "tools": {tool: shutil.which(tool) for tool in TOOLS},
        "devices": found,
        "backends": {
            "sim": {"runs": True, "reason": None},
            "wire": {"runs": wire_reason is None, "reason": wire_reason},
            "kernel": {"runs": kernel_reason is None, "reason": kernel_reason},
        },
    }


def _sysctls() -> dict[str, str]:
    values = {}
    for file in sorted(Path("/proc/sys/net/mptcp").glob("*")):
        try:
            values[file.name] = file.read_text().strip()
        except OSError:
            # Some settings are write-only.
            continue
    return values


def _text(known: dict[str, Any]) -> str:
    meaning = {
        "sim": "simulator, used by run, sweep and reproduce",
        "wire": "mptcplab's stack on real packets, used by send and receive",
        "kernel": "Linux's MPTCP, used by emulate, or as peer of mptcplab's stack",
    }
    who = "root" if known["root"] else "not root"
    lines = [
        f"mptcplab {known['mptcplab']}, Python {known['python']}, {known['system']}, {known['cores']} cores, {who}",
        "backends",
    ]
    for name, backend in known["backends"].items():
        verdict = "can run" if backend["runs"] else f"cannot run: {backend['reason']}"
        lines.append(f"  {name:<8} {verdict} ({meaning[name]})")
    lines.append("tools")
    lines += [f"  {tool:<8} {path or 'not installed'}" for tool, path in known["tools"].items()]
    lines.append("devices" if known["devices"] else "devices: none")
    for device in known["devices"]:
        kind = "TUN" if device["tun"] else "not TUN"
        state = "up" if device["up"] else "down"
        addresses = ", ".join(device["addresses"]) or "no address"
        lines.append(f"  {device['name']:<15} {kind}, {state}, MTU {device['mtu']}, {addresses}")
    if known["mptcp_sysctls"]:
        lines.append("net.mptcp")
        lines += [f"  {name:<34} {value}" for name, value in known["mptcp_sysctls"].items()]
    return "\n".join(lines)
