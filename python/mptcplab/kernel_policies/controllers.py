"""mptcplab's congestion controllers in the kernel: support, loading, status and unloading.

Linux's own TCP and MPTCP then have LIA, OLIA and BALIA, in all network namespaces, for sockets that select them by
name. A pin, a file in /sys/fs/bpf, keeps a controller loaded after the process ends. Owns names, pins and errors.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mptcplab.host.machine import CannotLook
from mptcplab.host.sockets import rows
from mptcplab.kernel_policies.bpf_objects import CannotBuild, build
from mptcplab.kernel_policies.libbpf import Library, Link, NoLibrary, Refused

RULES = {
    "lia": "linked increases (RFC 6356)",
    "olia": "opportunistic linked increases (Khalili et al., 2012)",
    "balia": "balanced linked adaptation (Peng et al., 2016)",
}
"""The controllers by their names in scenarios."""
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BTF = Path("/sys/kernel/btf/vmlinux")
MOUNTED = Path("/sys/fs/bpf")
"""The BPF file system."""
PREFIX = "mptcplab_"
"""The prefix of names in the kernel, which all network namespaces and containers share."""
OWN_PREFIX = "MPTCPLAB_CONTROLLERS"
"""The environment variable for another prefix, if several users load their own controllers."""
_NEEDED = {
    "bpf_struct_ops_tcp_congestion_ops": (
        "does not support congestion controllers from BPF (needs CONFIG_BPF_JIT, Linux 5.6)"
    ),
    "bpf_struct_ops_link": "has no BPF links for struct_ops (needs Linux 6.4)",
    "bpf_rdonly_cast": "does not let BPF programs follow pointers (needs bpf_rdonly_cast, Linux 6.2)",
    "mptcp_subflow_context": "has no Multipath TCP (needs CONFIG_MPTCP)",
}
"""Names that the kernel's type information must contain, and the error if one is missing."""
_LOADING = " kernel congestion load "
"""Part of the command line of a process that holds one of these controllers."""
_A_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,9}")
_LOG = "-- BEGIN PROG LOAD LOG --"
_COUNTERS = ("processed ", "verification time ", "stack depth ")
"""Prefixes of the statistics at the end of the verifier's output."""
_LAST = 40
"""Lines of the verifier's output that are kept."""


class CannotLoad(RuntimeError):
    """A controller cannot be loaded or unloaded; the message names the reason and a solution."""

    def __init__(self, why: str, message: str = "") -> None:
        """`message` is the end of the BPF verifier's output, or empty."""
        super().__init__(why)
        self.message = message


@dataclass(frozen=True)
class Holder:
    """A process that holds a controller."""

    pid: int
    user: int
    command: str
    """The first 400 characters of the command line."""

    def __str__(self) -> str:
        """The process as text."""
        return f"process {self.pid} of user {self.user} ({textwrap.shorten(self.command, 100, placeholder='…')})"


@dataclass(frozen=True)
class State:
    """The status of a controller."""

    rule: str
    name: str
    loaded: bool
    pinned: str | None = None
    """The path of the pin; None if the controller is not pinned."""
    held_by: tuple[Holder, ...] = ()
    sockets: int | None = None
    """Number of TCP sockets in this network namespace that use the controller; None if unknown."""
    ours: bool | None = True
    """Whether mptcplab loaded the controller; None if this process may not read the kernel's BPF links."""


def kernel_name(rule: str) -> str:
    """The name by which sockets select the controller; shorter than TCP_CA_NAME_MAX."""
    return f"{prefix()}{rule}"


def prefix() -> str:
    """The prefix of this process's controllers."""
    own = os.environ.get(OWN_PREFIX) or PREFIX
    if not _A_PREFIX.fullmatch(own):
        raise CannotLoad(
            f"{OWN_PREFIX}={own!r}: must have at most 10 characters of a-z, 0-9 and _, and start with a letter"
        )
    return own


def pins() -> Path:
    """The directory of the pins, such as /sys/fs/bpf/mptcplab."""
    return MOUNTED / prefix().rstrip("_")


def available() -> list[str]:
    """The congestion controllers of the kernel."""
    try:
        return AVAILABLE.read_text().split()
    except OSError:
        return []


def why_not(btf: Path = BTF) -> str | None:
    """The first feature that this kernel lacks, as text; None if it has all. `btf` is its type information."""
    if sys.platform != "linux":
        return f"kernel policies need Linux; this is {sys.platform}"
    kernel = f"this kernel ({platform.release()})"
    try:
        text = btf.read_bytes()
    except OSError:
        return f"{kernel} has no type information: {btf} is missing (needs CONFIG_DEBUG_INFO_BTF)"
    return next((f"{kernel} {why}" for name, why in _NEEDED.items() if b"\0%b\0" % name.encode() not in text), None)


def load(rule: str, cgroup: Path | None = None) -> list[int]:
    """Loads a controller; returns the descriptors that hold it. Closing them unloads it, unless it is pinned.

    Subflows that processes in `cgroup` open later use the controller.
    """
    if (why := why_not()) is not None:
        raise CannotLoad(why)
    if kernel_name(rule) in available():
        raise CannotLoad(_taken(rule))
    group = _opened(cgroup)
    try:
        return Library().load(build(rule, prefix()), kernel_name(rule), group)
    except (CannotBuild, NoLibrary) as error:
        raise CannotLoad(str(error)) from error
    except Refused as error:
        raise _refusal(rule, error) from error
    finally:
        if group is not None:
            os.close(group)


def pin(rule: str, links: list[int]) -> Path:
    """Pins a loaded controller, so that it outlives this process; returns the path of the pin."""
    path = pins() / rule
    if (why := _why_no_pin()) is not None:
        raise CannotLoad(why)
    try:
        pins().mkdir(exist_ok=True)
        for link, name in zip(links, (path, _chooser(rule)), strict=False):
            Library().pin(link, name)
    except OSError as error:
        # All pins or none.
        for name in (path, _chooser(rule)):
            with suppress(OSError):
                name.unlink()
        raise CannotLoad(f"{path}: {error.strerror}") from error
    return path


def unload(rule: str) -> str:
    """Removes the pin of a controller; returns the new state as text."""
    path, name = pins() / rule, kernel_name(rule)
    state = status(rule)
    if state.ours is None:
        raise CannotLoad(f"{name} is loaded, and only root may unload it; run this command as root")
    if state.pinned is None:
        if not state.loaded:
            raise CannotLoad(f"{name} is not loaded")
        if state.held_by:
            raise CannotLoad(f"{name} is not pinned; it will be unloaded when {state.held_by[0]} ends")
        raise CannotLoad(f"{name} was not loaded by mptcplab kernel congestion load --pin, and stays loaded")
    try:
        _chooser(rule).unlink(missing_ok=True)
        path.unlink()
        with suppress(OSError):
            pins().rmdir()
    except OSError as error:
        raise CannotLoad(f"{path}: {error.strerror}") from error
    if state.held_by:
        return f"{name} is no longer pinned, and will be unloaded when {state.held_by[0]} ends"
    if state.sockets:
        return f"{name} is unloaded; {state.sockets} sockets use it until they are closed"
    return f"{name} is unloaded"


def status(rule: str) -> State:
    """The status of a controller."""
    name = kernel_name(rule)
    loaded = name in available()
    if not loaded:
        return State(rule, name, loaded=False)
    pinned = pins() / rule
    links: list[Link] = []
    own: Link | None = None
    try:
        library = Library()
        links = [link for link in library.links() if link.name == name]
        if pinned.exists():
            own = library.pinned(pinned)
    except (NoLibrary, Refused):
        return State(rule, name, loaded=True, sockets=_sockets(name), ours=None)
    holders = tuple(holder for link in links for holder in _holders(link.number))
    return State(
        rule,
        name,
        loaded=True,
        pinned=str(pinned) if own is not None else None,
        held_by=holders,
        sockets=_sockets(name),
        ours=own is not None or any(_LOADING in holder.command for holder in holders),
    )


def _chooser(rule: str) -> Path:
    """The pin of the link to a cgroup whose subflows use the controller."""
    return pins() / f"{rule}-cgroup"


def _opened(cgroup: Path | None) -> int | None:
    """The descriptor of a cgroup."""
    if cgroup is None:
        return None
    if not (cgroup / "cgroup.controllers").exists():
        raise CannotLoad(f"{cgroup} is not a version 2 cgroup; give a directory below /sys/fs/cgroup")
    return os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)


def _taken(rule: str) -> str:
    state = status(rule)
    if state.pinned:
        return f"{state.name} is already loaded and pinned; to unload it: mptcplab kernel congestion unload {rule}"
    if state.ours is None:
        return f"{state.name} is already loaded"
    if state.held_by and state.ours:
        return f"{state.name} is already loaded by {state.held_by[0]}"
    return f"the name {state.name} belongs to a controller that mptcplab did not load"


def _refusal(rule: str, error: Refused) -> CannotLoad:
    if error.errno == errno.EEXIST:
        # Another process loaded it first.
        return CannotLoad(_taken(rule))
    if _LOG in error.message:
        # Each rejected program has a log; the last one counts.
        lines = error.message.rpartition(_LOG)[2].splitlines()[1:]
        log = [line for line in lines if not line.startswith(("-- END", "libbpf:"))]
        reasons = [line.strip() for line in log if line.strip() and not line.startswith(_COUNTERS)]
        why = reasons[-1] if reasons else error.strerror
        return CannotLoad(f"the kernel's verifier rejects {rule}: {why}", "\n".join(log[-_LAST:]) + "\n")
    if error.errno in (errno.EPERM, errno.EACCES):
        return CannotLoad("loading a controller requires root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)")
    last = [line.removeprefix("libbpf: ") for line in error.message.splitlines() if line.strip()]
    return CannotLoad(f"the kernel rejects {rule}: {last[-1] if last else error.strerror}")


def _why_no_pin() -> str | None:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    if any(mount[1] == str(MOUNTED) and mount[2] == "bpf" for mount in mounts):
        return None
    return f"the BPF file system for pins is not mounted; to mount it: mount -t bpf bpf {MOUNTED}"


def _holders(link: int) -> list[Holder]:
    """The processes that hold a link, except this one."""
    found = []
    others = (process for process in Path("/proc").glob("[0-9]*") if process.name != str(os.getpid()))
    for process in others:
        # Processes may end meanwhile, and some are not readable.
        with suppress(OSError):
            if any(_is_link(file, link) for file in (process / "fdinfo").iterdir()):
                words = (process / "cmdline").read_bytes().split(b"\0")
                command = " ".join(word.decode(errors="replace") for word in words if word)
                found.append(Holder(int(process.name), process.stat().st_uid, command[:400]))
    return found


def _is_link(file: Path, link: int) -> bool:
    try:
        return re.search(rf"^link_id:\s*{link}$", file.read_text(), re.MULTILINE) is not None
    except OSError:
        return False


def _sockets(name: str) -> int | None:
    try:
        return sum(name in row.split() for row in rows())
    except (CannotLook, OSError):
        return None
