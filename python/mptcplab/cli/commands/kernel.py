"""`mptcplab kernel`: loads LIA, OLIA or BALIA as BPF programs into the kernel of this machine.

Linux's MPTCP has no coupled congestion control of its own. Owns arguments and output; `kernel_policies` loads the
programs.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput, RunFailed, print_json
from mptcplab.emulation.namespaces import ENDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mptcplab.kernel_policies.controllers import CannotLoad, State

NAME = "kernel"
HELP = "load coupled congestion control into the kernel, unload it, show its status"
EXAMPLE = "mptcplab kernel congestion load lia -- mptcplab run two.toml --backend kernel --closest"

_RULES = ("lia", "olia", "balia")
_PR_SET_PDEATHSIG = 1
"""The option of prctl(2) by which a child gets a signal when its parent ends."""


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the words after `--` as a command; argparse loses these words after some options."""

    # The signature of argparse has overloads for other namespace types.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Like argparse, but the words after `--` are in `words` of the result."""
        own = list(args or ())
        at = own.index("--") if "--" in own else len(own)
        given, others = super().parse_known_args(own[:at], namespace)
        given.words = own[at + 1 :]
        return given, others


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    subjects = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    congestion = subjects.add_parser("congestion", help="LIA, OLIA and BALIA as congestion controllers of the kernel")
    verbs = congestion.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)

    load = verbs.add_parser(
        "load",
        usage="mptcplab kernel congestion load [-h] [--pin] [--cgroup DIR] RULE [-- COMMAND ...]",
        help="load a controller while COMMAND runs, until Ctrl-C, or permanently (--pin)",
        epilog=f"example: {EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    load.add_argument("rule", choices=_RULES, metavar="RULE", help="lia, olia or balia")
    load.add_argument("--pin", action="store_true", help="keep the controller loaded until `unload` removes it")
    load.add_argument(
        "--cgroup", type=Path, metavar="DIR", help="use the controller for the subflows of programs in this cgroup"
    )
    load.set_defaults(verb_execute=_load)

    unload = verbs.add_parser(
        "unload",
        help=("unload a controller that load --pin loaded"),
        epilog="example: mptcplab kernel congestion unload lia",
    )
    unload.add_argument("rule", choices=_RULES, metavar="RULE", help="lia, olia or balia")
    unload.set_defaults(verb_execute=_unload)

    status = verbs.add_parser(
        "status",
        help="show which controllers are loaded, who loaded them, and which are used",
        epilog="example: mptcplab kernel congestion status --json",
    )
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(verb_execute=_status)


def execute(given: argparse.Namespace) -> int:
    """Runs the subcommand."""
    if sys.platform != "linux":
        raise BadInput(f"mptcplab: kernel policies need Linux; this is {sys.platform}")
    if given.words and given.verb != "load":
        raise BadInput("mptcplab: only `load` accepts a COMMAND")
    from mptcplab.kernel_policies.controllers import CannotLoad

    try:
        code: int = given.verb_execute(given)
    except CannotLoad as error:
        raise RunFailed(_with_log(getattr(given, "rule", ""), error)) from error
    return code


def _load(given: argparse.Namespace) -> int:
    from mptcplab.kernel_policies import controllers

    if given.pin and given.words:
        raise BadInput(
            "mptcplab: --pin keeps the controller loaded, but the end of COMMAND unloads it; remove one of them"
        )
    if given.words and shutil.which(given.words[0]) is None:
        raise BadInput(f"mptcplab: command {given.words[0]!r} not found; install it, or give its path")
    links = controllers.load(given.rule, given.cgroup)
    name = controllers.kernel_name(given.rule)
    if given.pin:
        path = controllers.pin(given.rule, links)
        print(f"{name} stays loaded at {path}; to unload it: mptcplab kernel congestion unload {given.rule}")
        return 0
    if given.words:
        return _during(given.words)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    print(f"{name} is loaded until Ctrl-C", flush=True)
    signal.sigwait(ENDING)
    for link in links:
        os.close(link)
    return 0


def _during(words: list[str]) -> int:
    """Runs a command, and returns its exit code. The command does not inherit the descriptors of the BPF program."""
    parent = os.getpid()
    libc = ctypes.CDLL(None)

    def end_with_us() -> None:
        # The command ends if this process is killed.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)

    with subprocess.Popen(words, preexec_fn=end_with_us) as command:  # noqa: PLW1509 - there is one thread
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: command.send_signal(number))
        code = None
        while code is None:
            # Ctrl-C reaches the command directly; wait for its end.
            with suppress(KeyboardInterrupt):
                code = command.wait()
    return code if code >= 0 else 128 - code


def _unload(given: argparse.Namespace) -> int:
    from mptcplab.kernel_policies import controllers

    print(controllers.unload(given.rule))
    return 0


def _status(given: argparse.Namespace) -> int:
    from mptcplab.kernel_policies import controllers

    states = [controllers.status(rule) for rule in controllers.RULES]
    if given.json:
        print_json([asdict(state) for state in states])
        return 0
    for state in states:
        print(f"{state.name:<15} {_as_text(state)}")
    if (why := controllers.why_not()) is not None:
        print(why)
    return 0


def _as_text(state: State) -> str:
    if not state.loaded:
        return "not loaded"
    if state.ours is None:
        return f"loaded; only root can see who loaded it{_used(state)}"
    if not state.ours:
        return "name taken by a controller that mptcplab did not load"
    by = [f"pinned at {state.pinned}"] if state.pinned else []
    by += [f"held by {holder}" for holder in state.held_by]
    return f"loaded, {', '.join(by)}{_used(state)}"


def _used(state: State) -> str:
    return "" if state.sockets is None else f"; {state.sockets} sockets of this network namespace use it"


def _with_log(rule: str, error: CannotLoad) -> str:
    """The error as one line; writes the output of the kernel's BPF verifier to a file."""
    if not error.message:
        return str(error)
    from mptcplab.util.files import write_text

    path = Path(f"mptcplab_{rule}.verifier.txt")
    try:
        write_text(path, error.message)
    except OSError as problem:
        return f"{error} (cannot write {path}: {problem.strerror})"
    return f"{error} (the end of the verifier's output is in {path})"
