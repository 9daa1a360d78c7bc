"""The command `mptcplab`: finds the subcommand, parses its arguments, runs it and reports errors.

Owns arguments, exit codes and error messages. The codes are 0 for success, 1 for a failed run or claim, 2 for bad input
and 130 for Ctrl-C. An error is one line without a traceback, except an exception in a policy of the user. The commands
are in `commands` and in plugins.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from mptcplab import ScenarioError, __version__
from mptcplab.cli.commands import MODULES, command, commands
from mptcplab.cli.common import BadInput, RunFailed
from mptcplab.cli.settings import check_quoted
from mptcplab.policies.errors import policy_error
from mptcplab.util.files import NO_SPACE, BadFile, release
from mptcplab.util.interruption import was_interrupted
from mptcplab.util.optional_packages import OPTIONAL, missing
from mptcplab.util.user_input import BadResult, brief, nearest, shown

if TYPE_CHECKING:
    from mptcplab.plugins import Command

TRACEBACK = "MPTCPLAB_TRACEBACK"
"""The environment variable that shows the traceback of an internal error."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one short line."""

    def error(self, message: str) -> NoReturn:
        """Prints the error and exits with 2."""
        super().error(brief(message))

    def unknown(self, words: Sequence[str], hint: str) -> NoReturn:
        """Rejects unknown arguments; suggests the nearest option."""
        word = words[0].partition("=")[0]
        if not word.startswith("-"):
            self.error(f"unexpected argument {shown(word)}{hint}")
        options = [name for action in self._actions for name in action.option_strings]
        near = None if len(word) < len("--x") else nearest(word, options)
        self.error(f"unknown option {shown(word)}{f'; did you mean {near}?' if near and not hint else hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Rejects an unknown value; suggests the nearest choice."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = nearest(str(value), known)
        hint = f"did you mean {near}? " if near else ""
        if action.dest == "command":
            raise argparse.ArgumentError(None, f"unknown command {shown(str(value))}; {hint}run mptcplab for a list")
        raise argparse.ArgumentError(
            action, f"invalid value {shown(str(value))}; {hint}choose from: {', '.join(known)}"
        )


VERSION = "--version"
"""The option that prints the version."""


def parser(wanted: str | None = None) -> Parser:
    """The arguments of the command `wanted` of mptcplab, or of all commands. `VERSION` needs no command."""
    top = Parser(
        prog="mptcplab",
        description="Simulate, study and run Multipath TCP.",
        epilog="example: mptcplab run handoff.toml --seed 7 --output results",
    )
    top.add_argument(VERSION, action="version", version=f"mptcplab {__version__}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for one in _commands(wanted):
        own = subparsers.add_parser(
            one.NAME,
            help=one.HELP,
            description=one.HELP[0].upper() + one.HELP[1:] + ".",
            epilog=f"example: {one.EXAMPLE.replace('%%', '%')}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        one.arguments(own)
        own.set_defaults(execute=one.execute, given_to=own, hint=getattr(one, "UNKNOWN", ""))
    return top


def _commands(wanted: str | None = None) -> list[Command]:
    """The command `wanted` of mptcplab, or all commands of it and of plugins; prints the problems of plugins."""
    if wanted == VERSION:
        return []
    if wanted in MODULES:
        return [command(wanted)]
    from mptcplab import plugins

    added, problems = plugins.commands(MODULES)
    for problem in problems.values():
        print(problem, file=sys.stderr)
    return [*commands(), *added.values()]


RENAMED = {"gather": "group", "interrupt": "udp-interference", "links": "link-stats"}
"""Former names of commands, which work for one release."""


def _with_new_name(arguments: Sequence[str]) -> Sequence[str]:
    """The same arguments with the present name of the command; a former name prints a warning."""
    if not arguments or arguments[0] not in RENAMED:
        return arguments
    old, new = arguments[0], RENAMED[arguments[0]]
    print(f"mptcplab: {old} is now called {new}; the old name will be removed in the next release", file=sys.stderr)
    return [new, *arguments[1:]]


def _without_inner(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The arguments of the command, and those of the other command that its option `INNER` introduces.

    argparse would end the inner arguments at `--`.
    """
    option = getattr(command(arguments[0]), "INNER", None) if arguments[0] in MODULES else None
    if option is None or option not in arguments:
        return arguments, []
    end = arguments.index(option) + 1
    return arguments[:end], arguments[end:]


def _parsed(arguments: Sequence[str]) -> argparse.Namespace | None:
    """The parsed arguments; None if there were none and the overview was printed."""
    if arguments:
        check_quoted(arguments)
        arguments, inner = _without_inner(arguments)
        given, others = parser(arguments[0]).parse_known_args(arguments)
        given.inner, given.main, given.all_commands = inner, main, parser
        if others:
            given.given_to.unknown(others, "" if "--" in arguments else given.hint)
        return given
    from mptcplab.cli.overview import overview

    print(overview({one.NAME: one.HELP for one in _commands()}), end="")
    sys.stdout.flush()
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    _write_anything()
    warnings.showwarning = _print_warning
    try:
        given = _parsed(_with_new_name(sys.argv[1:] if arguments is None else arguments))
        if given is None:
            return 0
        code: int = given.execute(given)
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit:
        raise
    except BrokenPipeError:
        # The reader closed the pipe.
        _close_output()
        return 141
    except BaseException as error:
        if (text := policy_error(error)) and not was_interrupted(error):
            print(text, file=sys.stderr)
            return 1
        code, output = _explain(error)
        if not output:
            raise
        # Names in the message may contain control characters, such as line ends: escape them.
        print("".join(one if one.isprintable() else ascii(one)[1:-1] for one in brief(output)), file=sys.stderr)
        _flush_or_close()
    finally:
        release()
    return code


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Prints a warning as one line."""
    print(f"mptcplab: warning: {message}", file=sys.stderr)


def _explain(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of an error; no message if the traceback should be shown."""
    if isinstance(error, ScenarioError | BadInput):
        return 2, str(error)
    if isinstance(error, BadResult | BadFile):
        return 2, f"mptcplab: {error}"
    if isinstance(error, RunFailed):
        return 1, f"mptcplab: {error}"
    if was_interrupted(error):
        words = str(error) if isinstance(error, KeyboardInterrupt) else ""
        return 130, f"mptcplab: {words or 'interrupted'}"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return 1 if error.errno in NO_SPACE else 2, f"mptcplab: {where}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return 1, "mptcplab: out of memory; reduce the size of the run (longer sampling interval, fewer results)"
    if isinstance(error, ModuleNotFoundError) and error.name in OPTIONAL:
        return 2, f"mptcplab: {missing(error.name)}"
    if os.environ.get(TRACEBACK) or isinstance(error, GeneratorExit):
        return 1, ""
    if str(error).startswith("Key backend:"):
        backend = shown(os.environ.get("MPLBACKEND", ""))
        return 2, f"mptcplab: MPLBACKEND = {backend}: matplotlib has no such backend; unset it, or set it to agg"
    what = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"
    return 1, f"mptcplab: internal error, please report it: {what} (set {TRACEBACK}=1 for a traceback)"


def _write_anything() -> None:
    """Escapes characters that the terminal cannot show, instead of raising an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush_or_close() -> None:
    """Flushes the output; closes it if that fails."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        _close_output()


def _close_output() -> None:
    """Redirects the standard output to /dev/null, so that Python does not flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
