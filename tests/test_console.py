"""Commands of the console of an emulated network: their grammar, and their effect on the links."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from mptcplab.emulation.console import HELP, Console, Lines
from mptcplab.emulation.link_control import LinkControl
from mptcplab.util.user_input import BadResult


class NetworkLinks:
    """Links that write down what was asked of them."""

    def __init__(self) -> None:
        self.links = ["wifi", "lte"]
        self.done: list[tuple[str, ...]] = []

    def set_link(self, link: str, key: str, value: str) -> None:
        self.done.append((link, key, value))

    def set_up(self, link: str, *, up: bool) -> None:
        self.done.append((link, "plugged" if up else "pulled"))

    def delivered_bytes(self) -> Mapping[str, tuple[int, int]]:
        return {"wifi": (1_500_000, 20_000), "lte": (0, 0)}


def test_a_cable_is_pulled_and_plugged_in() -> None:
    wires = NetworkLinks()
    prompt = Console(LinkControl(wires))
    assert prompt.do("link wifi down") == "wifi: down"
    assert wires.done == [("wifi", "up", "false"), ("wifi", "pulled")]
    assert "wifi: down, → 1.50 MB, ← 20.00 kB" in prompt.do("status")
    assert prompt.do("link wifi down") == "wifi: down", "twice is once for the hosts"
    assert prompt.do("  link wifi up   # again") == "wifi: up"
    assert wires.done[2:] == [("wifi", "up", "false"), ("wifi", "up", "true"), ("wifi", "plugged")]


def test_no_host_sees_a_silent_link() -> None:
    wires = NetworkLinks()
    prompt = Console(LinkControl(wires))
    prompt.do("link lte silent")
    prompt.do("link lte up")
    assert wires.done == [("lte", "up", "false"), ("lte", "up", "true")]
    prompt.do("link lte down")
    prompt.do("link lte silent")
    assert wires.done[-1] == ("lte", "plugged"), "a silent link has a device that is up"


@pytest.mark.parametrize(("what", "value"), [("rate", "2Mbit"), ("delay", "50ms"), ("loss", "1%"), ("queue", "100p")])
def test_quantities_are_changed_as_scenarios_write_them(what: str, value: str) -> None:
    wires = NetworkLinks()
    assert Console(LinkControl(wires)).do(f"link lte {what} {value}") == f"lte: {what} {value}"
    assert wires.done == [("lte", what, value)]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("lnik wifi down", "did you mean link"),
        ("link wfi down", "did you mean wifi"),
        ("link wifi dwon", "did you mean down"),
        ("link wifi", "write link NAME down"),
        ("link wifi rate", "write link wifi rate VALUE"),
        ("link wifi rate 2 Mbit", "write link wifi rate VALUE"),
        ("wait", "write the time to wait, such as wait 2s"),
        ("wait 5", "is not a duration"),
        ("wait 25h", "must be between 0s and 24h"),
        ("status now", "takes no arguments"),
        ("quit now", "takes no arguments"),
    ],
)
def test_what_is_no_command_is_said_and_changes_nothing(line: str, says: str) -> None:
    wires = NetworkLinks()
    prompt = Console(LinkControl(wires))
    with pytest.raises(BadResult, match=says):
        prompt.do(line)
    assert (wires.done, prompt.over) == ([], False)


def test_help_names_every_command_and_quit_ends() -> None:
    prompt = Console(LinkControl(NetworkLinks()))
    assert prompt.do("help") == HELP
    assert prompt.do("") == prompt.do("# a comment") == ""
    assert prompt.do("wait 1500ms") == ""
    assert prompt.waits == 1.5
    assert prompt.do("quit") == ""
    assert prompt.over


def test_lines_are_read_without_waiting() -> None:
    reads, writes = os.pipe()
    lines = Lines(reads)
    assert lines.next() is None
    os.write(writes, b"link wi")
    assert lines.next() is None
    os.write(writes, b"fi down\nstatus\nqu")
    assert [lines.next(), lines.next(), lines.next()] == ["link wifi down", "status", None]
    assert not lines.ended
    os.write(writes, b"it")
    os.close(writes)
    assert lines.next() == "quit"
    assert lines.next() is None
    assert lines.ended
    os.close(reads)
