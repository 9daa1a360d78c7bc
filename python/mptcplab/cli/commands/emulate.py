"""`mptcplab emulate`: runs any program and its peer over the network of a scenario, on Linux's own stacks.

Programs can be tested on links that this machine does not have. Owns the two processes and the console (`--prompt`);
the package `emulation` creates the network.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mptcplab.cli import page_options
from mptcplab.cli.common import BadInput, RunFailed, duration, natural
from mptcplab.emulation.namespaces import ENDING, CannotMake, Namespace, uninterrupted

if TYPE_CHECKING:
    from types import FrameType

    from mptcplab.emulation.emulated_network import Host, Network
    from mptcplab.emulation.link_control import LinkControl
    from mptcplab.emulation.traffic_report import Rates

NAME = "emulate"
HELP = "run a command and its peer over an emulated network, on the kernel's stacks"
EXAMPLE = "mptcplab emulate handoff.toml --peer 'iperf3 -s' -- iperf3 -c server"
UNKNOWN = "; write -- before the program, as in: mptcplab emulate FILE -- iperf3 -c server"
"""The hint for unknown options."""
USUAL_CONTROLLER = "cubic"
"""Congestion controller of flows with `stack = "linux"` that name none."""
SHELL_WORDS = ("cd", "exec", "export", "if", "for", "set", "source", ".", "ulimit", "umask", "unset", "while")
"""Words of a shell that are not programs; the error for them suggests `sh -c`."""
LISTENING = 2.0
"""Maximum seconds to wait until the peer listens."""
LOOK = 0.02
"""Seconds between two checks of the processes."""
ASKED = 2.0
"""Seconds between SIGTERM and SIGKILL."""
UNKILLED = 10.0
"""Seconds after SIGTERM until a process that still runs is reported as an error."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="scenario file; its links and events are used")
    command = parser.add_argument(
        "command",
        nargs="+",
        metavar="COMMAND",
        help=("program to run on the client; `server` is the host name of the peer"),
    )
    parser.add_argument(
        "--prompt",
        action=_prompted(command),
        help="read commands that change links from standard input, such as: link wifi down",
    )
    parser.add_argument("--peer", metavar="COMMAND", help="command to run on the server, quoted as one argument")
    parser.add_argument("--on", metavar="HOST", help="host of COMMAND (default: the host that opens the first flow)")
    parser.add_argument(
        "--peer-on", metavar="HOST", help=("host of the peer (default: the destination of the first flow)")
    )
    parser.add_argument("--peer-output", type=Path, metavar="FILE", help="write the output of the peer to FILE")
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="random seed of the network (default: 1)")
    parser.add_argument("--pcap", type=Path, metavar="FILE", help="write the packets of all devices to FILE (pcapng)")
    parser.add_argument(
        "--rates", type=duration, metavar="TIME", help="print link rates every TIME (default: 1s on a terminal)"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write link statistics to FILE (JSON)")
    parser.add_argument("--quiet", action="store_true", help="print only the output of the commands")
    page_options.add_arguments(parser)


def _prompted(command: argparse.Action) -> type[argparse.Action]:
    """The action of `--prompt`: makes COMMAND optional."""

    class Prompted(argparse.Action):
        def __init__(self, option_strings: list[str], dest: str, **kept: Any) -> None:
            super().__init__(option_strings, dest, nargs=0, default=False, **kept)

        def __call__(self, _parser: object, namespace: argparse.Namespace, *_: object) -> None:
            command.required = False
            setattr(namespace, self.dest, True)

    return Prompted


def execute(given: argparse.Namespace) -> int:
    """Creates the network, runs both commands, and removes the network."""
    if sys.platform != "linux":
        raise BadInput(f"mptcplab: emulated networks need Linux namespaces; this is {sys.platform}")
    from mptcplab.emulation.emulated_network import CannotEmulate, emulated, why_no_mptcp
    from mptcplab.scenario.definition import Scenario

    scenario = Scenario.load(given.file)
    for command in (given.command, _words(given.peer)):
        if command and shutil.which(command[0]) is None:
            hint = "install it, or give its path"
            if command[0] in SHELL_WORDS:
                hint = f"it is a shell builtin; write sh -c '{shlex.join(command)}'"
            raise BadInput(f"mptcplab: command {command[0]!r} not found; {hint}")
    if (why := why_no_mptcp()) is not None and not given.quiet:
        print(f"mptcplab: {why}; all other traffic works", file=sys.stderr)
    try:
        with ended_by_signals(), emulated(scenario, given.seed) as network:
            return _emulate(given, network)
    except CannotEmulate as error:
        raise BadInput(f"mptcplab: {error}") from error
    except CannotMake as error:
        raise RunFailed(str(error)) from error


def _emulate(given: argparse.Namespace, network: Network) -> int:
    """Runs the commands and prints the results; returns the exit code of COMMAND."""
    from mptcplab.emulation.links import plain_tcp_warnings
    from mptcplab.emulation.traffic_report import Rates, summary

    every = given.rates or (1.0 if sys.stderr.isatty() else None)
    if not given.quiet:
        _note([host.left_out() for host in network.hosts])
    code = _run(given, network, Rates(None if given.quiet else every))
    notes = [plain_tcp_warnings(_hosts(network, given.on, given.peer_on)[0]), _controller(network)]
    last = network.stop()
    if last is None:
        return code
    doubts = network.doubts()
    if given.report:
        _write(given.report, {**last, "doubts": doubts, "drops": _drops(network)})
    if not given.quiet:
        _note(notes)
        print(summary(last, doubts), file=sys.stderr)
    return code


def _controller(network: Network) -> str | None:
    """A note on the TCP congestion controller of this machine; None if it is the default of scenarios."""
    names = {host.namespace.read("/proc/sys/net/ipv4/tcp_congestion_control").strip() for host in network.hosts}
    if names == {USUAL_CONTROLLER}:
        return None
    return (
        f"congestion control: {', '.join(sorted(names))}, as on this host (net.ipv4.tcp_congestion_control). Flows "
        f'with stack = "linux" or --backend kernel use the controller of the scenario, by default {USUAL_CONTROLLER}'
    )


def _note(notes: list[str | None]) -> None:
    for note in filter(None, notes):
        print(f"mptcplab: {note}", file=sys.stderr)


def _run(given: argparse.Namespace, network: Network, rates: Rates) -> int:
    """Starts the processes; returns the exit code of COMMAND, or 0 after the console has ended the network."""
    from mptcplab.emulation.link_control import LinkControl
    from mptcplab.emulation.links import EmulatedLinks

    near, far = _hosts(network, given.on, given.peer_on)
    peer = None
    with ExitStack() as stack:
        message: IO[bytes]
        if given.peer_output:
            message = stack.enter_context(given.peer_output.open("w+b"))
        else:
            message = stack.enter_context(tempfile.TemporaryFile())
        # The network starts after the peer listens, because the times of events count from the start of COMMAND.
        if given.peer:
            peer = _start(stack, far, _words(given.peer), output=message)
            _until_it_listens(peer, message, given.peer)
        control = LinkControl(EmulatedLinks(network))
        stack.enter_context(_page(given, network, control))
        network.start(given.pcap)
        prompt = _Asked(control) if given.prompt else None
        command = _start(stack, near, given.command, unasked=prompt is not None) if given.command else None
        while (code := None if command is None else command.poll()) is None:
            network.check()
            rates.show(network.emulator.snapshot())
            if peer is not None and peer.poll():
                peer_output = _last_words(message)
                raise RunFailed(f"the peer ended with exit code {peer.returncode}{peer_output}")
            if prompt is not None and prompt.is_over(alone=command is None):
                return 0
            time.sleep(LOOK)
        return code if code >= 0 else 128 - code


class _Asked:
    """Reads commands from standard input while the network runs."""

    def __init__(self, control: LinkControl) -> None:
        from mptcplab.emulation.console import Console, Lines

        self._prompt = Console(control)
        self._lines = Lines(sys.stdin.fileno())
        self._resumes = 0.0
        self._person = sys.stdin.isatty()
        if self._person:
            print("mptcplab: type help for commands, quit to end", file=sys.stderr)

    def is_over(self, *, alone: bool) -> bool:
        """Executes the commands read so far; returns whether to end the network.

        It ends after `quit`. If there is no COMMAND (`alone`), it also ends with the input.
        """
        while not self._prompt.over and time.monotonic() >= self._resumes:
            line = self._lines.next()
            if line is None:
                return alone and self._lines.ended
            self._do(line)
            self._resumes, self._prompt.waits = time.monotonic() + self._prompt.waits, 0.0
        return self._prompt.over

    def _do(self, line: str) -> None:
        from mptcplab import ScenarioError
        from mptcplab.util.user_input import BadResult, brief

        try:
            answer = self._prompt.do(line)
        except (BadResult, ScenarioError) as error:
            if not self._person:
                # A script with one invalid line is invalid as a whole.
                raise BadInput(f"mptcplab: {line.strip()}: {error}") from error
            answer = brief(str(error))
        if answer:
            print(answer, flush=True)


@contextmanager
def _page(given: argparse.Namespace, network: Network, control: LinkControl) -> Iterator[None]:
    """Shows the network on a page while the block runs, if `--page` was given."""
    if not given.page:
        yield
        return
    from mptcplab.page.live_network import LiveNetwork, commands_of, kernel_policies

    near, far = _hosts(network, given.on, given.peer_on)
    policies = kernel_policies(network, congestion=True)
    with commands_of(network, (near.name, far.name)) as connections:
        source = LiveNetwork(network.scenario, network.emulator, control, connections, policies)
        with page_options.shown(given, source):
            yield


def _hosts(network: Network, on: str | None, peer_on: str | None) -> tuple[Host, Host]:
    """The hosts of COMMAND and its peer; by default both ends of the first flow."""
    opens, accepts = network.emulator.ends()[0]
    near = network.host(on or opens)
    other = accepts if near.name != accepts else opens
    return near, network.host(peer_on or other)


def _words(text: str | None) -> list[str]:
    if text is None:
        return []
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"mptcplab: --peer {text!r}: {error}; write it as in a shell, such as 'iperf3 -s'") from error
    if not words:
        raise BadInput("mptcplab: --peer is empty; write a command as in a shell, such as 'iperf3 -s'")
    return words


def _start(
    stack: ExitStack, host: Host, words: list[str], output: IO[bytes] | None = None, *, unasked: bool = False
) -> subprocess.Popen[bytes]:
    """Starts a process on a host, which is killed at exit. With `unasked` or `output`, its standard input is empty."""
    with uninterrupted():
        process = subprocess.Popen(
            host.namespace.command(*words),
            stdin=subprocess.DEVNULL if output or unasked else None,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
        )
        stack.callback(_end, process, host.namespace)
    return process


def _end(process: subprocess.Popen[bytes], namespace: Namespace) -> None:
    """Ends all processes in the namespace, and `process` itself, which may not have entered the namespace yet."""
    began = time.monotonic()
    namespace.clear()
    while process.poll() is None:
        waited = time.monotonic() - began
        if waited > UNKILLED:
            raise CannotMake(f"process {process.pid} in {namespace.name} does not end")
        if waited > ASKED:
            process.kill()
        else:
            process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)
        namespace.clear()


def _until_it_listens(peer: subprocess.Popen[bytes], message: IO[bytes], name: str) -> None:
    """Waits until a socket listens in the peer's namespace, or until the timeout."""
    until = time.monotonic() + LISTENING
    while time.monotonic() < until:
        if peer.poll() is not None:
            if peer.returncode:
                raise RunFailed(f"the peer ({name}) ended with exit code {peer.returncode}{_last_words(message)}")
            return
        with suppress(OSError):
            if _listens(peer.pid):
                return
        time.sleep(LOOK)


def _listens(process: int) -> bool:
    """Whether a TCP socket listens or a UDP socket is open in the namespace of a process (proc(5), net/tcp and
    net/udp).
    """
    if Path(f"/proc/{process}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
        # The process has not entered the namespace yet.
        return False
    tables = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
    for table, state in tables.items():
        path = Path(f"/proc/{process}/net/{table}")
        rows = path.read_text().splitlines()[1:] if path.exists() else []
        if any(row.split()[3] == state for row in rows):
            return True
    return False


def _last_words(message: IO[bytes]) -> str:
    message.flush()
    message.seek(0)
    lines = message.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _drops(network: Network) -> dict[str, int]:
    return {host.name: host.drops for host in network.hosts}


def _write(path: Path, document: object) -> None:
    from mptcplab.util.json_files import write_json

    write_json(document, path)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Handles SIGTERM and SIGHUP like Ctrl-C: everything is removed.

    Ignored signals stay ignored: under nohup(1), a run outlives its terminal.
    """

    def end(number: int, _frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt("" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}")

    before = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
