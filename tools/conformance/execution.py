"""Run one variant on the stack of this repository, or on the kernel of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from variants import MODES, PROGRAM

if TYPE_CHECKING:
    from variants import Variant

HERE = Path(__file__).parent
LIMIT = 60.0


@dataclass(frozen=True)
class Target:
    """packetdrill, its library (None for the kernel), and the hash sockets if the kernel has none."""

    checkout: Path
    library: Path | None
    hashes: Path | None


@dataclass(frozen=True)
class Outcome:
    """The result of a variant, with the message of packetdrill."""

    variant: Variant
    passed: bool
    message: str


def kernel_hashes() -> bool:
    """Whether the kernel has the hash sockets that packetdrill computes tokens with."""
    try:
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as hashes:
            hashes.bind(("hash", "sha256"))
    except OSError:
        return False
    return True


def run(target: Target, variant: Variant) -> Outcome:
    """Run a variant in a network namespace of its own."""
    script = target.checkout / variant.path
    environment = dict(os.environ)
    # packetdrill reads struct tcp_info with libc: see crates/packetdrill/src/interface/preload.rs.
    preloaded = [str(library) for library in (target.hashes, target.library) if library is not None]
    environment["LD_PRELOAD"] = ":".join(preloaded)
    with tempfile.TemporaryDirectory(prefix="conformance-") as directory:
        command = [str(target.checkout / PROGRAM), "--send_omit_free", *MODES[variant.mode]]
        if target.library is not None:
            settings, counters = Path(directory, "settings"), Path(directory, "counters")
            environment["PATH"] = f"{HERE / 'stand-ins'}:{environment['PATH']}"
            environment["MPTCPLAB_SETTINGS"] = str(settings)
            environment["MPTCPLAB_COUNTERS"] = str(counters)
            flags = f"{variant.local},settings={settings},counters={counters}"
            command += [f"--so_filename={target.library}", f"--so_flags={flags}"]
        # unshare(1) keeps the user, and removes the namespace with its last process.
        namespace = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        if target.library is not None:
            namespace = ["unshare", "--net"]
        try:
            done = subprocess.run(
                [*namespace, *command, script.name],
                cwd=script.parent,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(variant, passed=False, message=f"no result after {LIMIT:.0f} s")
    lines = (line.strip() for line in (done.stdout + done.stderr).splitlines())
    kept = [line for line in lines if line and not line.startswith("sysctl: setting key")]
    message = "\n".join(kept) if kept else f"exit code {done.returncode}"
    return Outcome(variant, passed=done.returncode == 0, message=message)
