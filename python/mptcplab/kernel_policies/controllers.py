"""Our congestion controllers in the kernel: whether they can be, are, stay and go.

Owns their names, where they are pinned, and each reason why something cannot be done, as one line. What is compiled is
`bpf_objects`, what is called is `libbpf`. A controller that is loaded is there for all network namespaces, for what
asks for it by name.
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
"""What there is, by the names that scenarios use."""
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BTF = Path("/sys/kernel/btf/vmlinux")
MOUNTED = Path("/sys/fs/bpf")
"""The file system of BPF."""
PREFIX = "mptcplab_"
"""How the names in the kernel begin, which has one name for all its network namespaces and containers."""
OWN_PREFIX = "MPTCPLAB_CONTROLLERS"
"""The variable of the environment that says another one, where several load controllers of their own."""
_NEEDED = {
    "bpf_struct_ops_tcp_congestion_ops": "takes no congestion controller from BPF (CONFIG_BPF_JIT, Linux 5.6)",
    "bpf_struct_ops_link": "has no links for struct_ops (Linux 6.4)",
    "bpf_rdonly_cast": "lets no program follow a pointer (bpf_rdonly_cast, Linux 6.2)",
    "mptcp_subflow_context": "has no Multipath TCP (CONFIG_MPTCP)",
}
"""What the kernel's description of itself must name, and what is wrong where it does not."""
_LOADING = " kernel congestion load "
"""What the command of a process that holds one of ours has in it."""
_A_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,9}")
_LOG = "-- BEGIN PROG LOAD LOG --"
_COUNTERS = ("processed ", "verification time ", "stack depth ")
"""How the last lines of a verifier begin, which only count."""
_LAST = 40
"""Lines of what a verifier says that are kept."""


class CannotLoad(RuntimeError):
    """It cannot be loaded, or unloaded; the message says why and what would help."""

    def __init__(self, why: str, said: str = "") -> None:
        """`said` is what the kernel's verifier said, its last lines."""
        super().__init__(why)
        self.said = said


@dataclass(frozen=True)
class Holder:
    """A process that holds a controller."""

    pid: int
    user: int
    command: str
    """Its first words."""

    def __str__(self) -> str:
        """In words."""
        return f"process {self.pid} of user {self.user} ({textwrap.shorten(self.command, 100, placeholder='…')})"


@dataclass(frozen=True)
class State:
    """How one of ours is."""

    rule: str
    name: str
    loaded: bool
    pinned: str | None = None
    """The name that holds it."""
    held_by: tuple[Holder, ...] = ()
    sockets: int | None = None
    """TCP sockets of this network namespace that use it; None where nobody can say."""
    ours: bool | None = True
    """False when the name is taken by what mptcplab did not load, None where this process may not look."""


def kernel_name(rule: str) -> str:
    """By what sockets ask for it; shorter than TCP_CA_NAME_MAX."""
    return f"{prefix()}{rule}"


def prefix() -> str:
    """How names of this process's controllers begin."""
    own = os.environ.get(OWN_PREFIX) or PREFIX
    if not _A_PREFIX.fullmatch(own):
        raise CannotLoad(f"{OWN_PREFIX}={own!r}: wanted are at most 10 of a-z, 0-9 and _, and a letter first")
    return own


def pins() -> Path:
    """Where they are pinned, such as /sys/fs/bpf/mptcplab."""
    return MOUNTED / prefix().rstrip("_")


def available() -> list[str]:
    """The controllers of the kernel."""
    try:
        return AVAILABLE.read_text().split()
    except OSError:
        return []


def why_not(btf: Path = BTF) -> str | None:
    """What this kernel lacks; `btf` is its description of itself."""
    if sys.platform != "linux":
        return f"controllers for the kernel are Linux's; this is {sys.platform}"
    kernel = f"this kernel ({platform.release()})"
    try:
        text = btf.read_bytes()
    except OSError:
        return f"{kernel} does not describe itself: {btf} is missing (CONFIG_DEBUG_INFO_BTF)"
    return next((f"{kernel} {why}" for name, why in _NEEDED.items() if b"\0%b\0" % name.encode() not in text), None)


def load(rule: str, cgroup: Path | None = None) -> list[int]:
    """Loads it; returns the descriptors that hold it: with these, it goes, unless they are pinned.

    The subflows of a `cgroup` use it from then on, those that are connected or accepted later.
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
    """Keeps it after this process; returns the name that holds it."""
    path = pins() / rule
    if (why := _why_no_pin()) is not None:
        raise CannotLoad(why)
    try:
        pins().mkdir(exist_ok=True)
        for link, name in zip(links, (path, _chooser(rule)), strict=False):
            Library().pin(link, name)
    except OSError as error:
        # All of it, or nothing.
        for name in (path, _chooser(rule)):
            with suppress(OSError):
                name.unlink()
        raise CannotLoad(f"{path}: {error.strerror}") from error
    return path


def unload(rule: str) -> str:
    """Removes the name that holds it; returns what became of it."""
    path, name = pins() / rule, kernel_name(rule)
    state = status(rule)
    if state.ours is None:
        raise CannotLoad(f"{name} is loaded, and only root may unload it: run it as root")
    if state.pinned is None:
        if not state.loaded:
            raise CannotLoad(f"{name} is not loaded")
        if state.held_by:
            raise CannotLoad(f"{name} is not pinned: it goes with {state.held_by[0]}")
        raise CannotLoad(f"{name} was not loaded by mptcplab load --pin, and stays")
    try:
        _chooser(rule).unlink(missing_ok=True)
        path.unlink()
        with suppress(OSError):
            pins().rmdir()
    except OSError as error:
        raise CannotLoad(f"{path}: {error.strerror}") from error
    if state.held_by:
        return f"{name} is not pinned any more, and goes with {state.held_by[0]}"
    if state.sockets:
        return f"{name} is unloaded; {state.sockets} sockets use it until they are closed"
    return f"{name} is unloaded"


def status(rule: str) -> State:
    """How it is."""
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
    """What holds the link to a cgroup."""
    return pins() / f"{rule}-cgroup"


def _opened(cgroup: Path | None) -> int | None:
    """The descriptor of a cgroup."""
    if cgroup is None:
        return None
    if not (cgroup / "cgroup.controllers").exists():
        raise CannotLoad(f"{cgroup} is no cgroup of version 2, such as a directory below /sys/fs/cgroup")
    return os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)


def _taken(rule: str) -> str:
    state = status(rule)
    if state.pinned:
        return f"{state.name} is loaded already, pinned: mptcplab kernel congestion unload {rule}"
    if state.ours is None:
        return f"{state.name} is loaded already"
    if state.held_by and state.ours:
        return f"{state.name} is loaded already by {state.held_by[0]}"
    return f"the name {state.name} is taken by a controller that mptcplab did not load"


def _refusal(rule: str, error: Refused) -> CannotLoad:
    if error.errno == errno.EEXIST:
        # Somebody was faster.
        return CannotLoad(_taken(rule))
    if _LOG in error.said:
        # Each program that was refused has a log, and the last is the one that counts.
        lines = error.said.rpartition(_LOG)[2].splitlines()[1:]
        log = [line for line in lines if not line.startswith(("-- END", "libbpf:"))]
        reasons = [line.strip() for line in log if line.strip() and not line.startswith(_COUNTERS)]
        why = reasons[-1] if reasons else error.strerror
        return CannotLoad(f"the kernel's verifier refuses {rule}: {why}", "\n".join(log[-_LAST:]) + "\n")
    if error.errno in (errno.EPERM, errno.EACCES):
        return CannotLoad("loading takes rights: run it as root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)")
    last = [line.removeprefix("libbpf: ") for line in error.said.splitlines() if line.strip()]
    return CannotLoad(f"the kernel does not take {rule}: {last[-1] if last else error.strerror}")


def _why_no_pin() -> str | None:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    if any(mount[1] == str(MOUNTED) and mount[2] == "bpf" for mount in mounts):
        return None
    return f"the file system of BPF, which pins are in, is not mounted: mount -t bpf bpf {MOUNTED}"


def _holders(link: int) -> list[Holder]:
    """The processes that hold a link; this one is not among them."""
    found = []
    others = (process for process in Path("/proc").glob("[0-9]*") if process.name != str(os.getpid()))
    for process in others:
        # Processes end while they are looked at, and some are not ours to look at.
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
