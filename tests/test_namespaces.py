"""Namespaces of a run: none is left of it, and none of anybody else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import MACHINE
from emulated import cannot, made_by
from mptcplab.cli.commands import emulate
from mptcplab.emulation import namespaces
from mptcplab.emulation.namespaces import ENDING, FILES, CannotMake, namespace, sweep, uninterrupted

OTHER = "1.0badcafe"
"""Where no process of this machine is."""


@pytest.fixture(autouse=True)
def able() -> None:
    if (why := namespaces.why_not()) is not None:
        cannot(why)
    try:
        with namespace("probe"):
            pass
    except CannotMake as error:
        cannot(str(error))


@pytest.fixture
def nobody() -> int:
    """The number of a process that is no more."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def _made(name: str) -> Iterator[str]:
    namespaces.ip("netns", "add", name)
    yield name
    if (Path("/run/netns") / name).exists():
        namespaces.ip("netns", "del", name)


@pytest.fixture
def foreign(nobody: int) -> Iterator[str]:
    """A namespace whose maker nobody sees from here."""
    yield from _made(f"mptcplab-foreign-{nobody}-1-0-{OTHER}")


@pytest.fixture
def lost(nobody: int) -> Iterator[str]:
    """A namespace whose maker is no more."""
    yield from _made(f"mptcplab-lost-{nobody}-1-0-{namespaces._room()}")


def test_what_cannot_be_seen_is_not_taken_for_dead(foreign: str, lost: str) -> None:
    assert lost in namespaces.left()
    assert foreign not in namespaces.left()
    sweep()
    listed = namespaces.ip("netns", "list")
    assert foreign in listed
    assert lost not in listed


def test_sweeps_at_once_are_one_after_the_other(nobody: int) -> None:
    names = [f"mptcplab-lost-{nobody}-1-{number}-{namespaces._room()}" for number in range(5)]
    for name in names:
        namespaces.ip("netns", "add", name)
        (FILES / name).mkdir(parents=True)
    gone: list[str] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            gone.extend(sweep())
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(name for name in gone if name in names) == names, "each is removed once"
    assert not set(names) & set(namespaces.left())


def test_the_administrator_s_folder_stays() -> None:
    made = not FILES.exists()
    FILES.mkdir(exist_ok=True)
    with namespace("one") as one:
        (FILES / one.name).mkdir()
    assert FILES.exists()
    assert not (FILES / one.name).exists()
    if made:
        FILES.rmdir()


def test_a_signal_while_one_is_made_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = namespaces.ip
    held = []

    def interrupted(*words: str) -> str:
        output = whole(*words)
        if words[:2] in {("netns", "add"), ("netns", "del")}:
            held.append(words[1])
            signal.raise_signal(signal.SIGINT)
        return output

    monkeypatch.setattr(namespaces, "ip", interrupted)
    with pytest.raises(KeyboardInterrupt), namespace("one"):
        pytest.fail("the signal came before")
    assert held == ["add", "del"]
    assert not made_by(os.getpid())


def test_signals_wait_for_the_end_of_a_block() -> None:
    done = False
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done = True
        pytest.fail("the signal came at the end of the block")
    assert done


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with emulate.ended_by_signals(), uninterrupted():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.SIGHUP in ENDING


@pytest.mark.parametrize("deaf", [False, True])
def test_a_process_that_is_not_there_yet_ends_too(deaf: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulate, "ASKED", 0.1)
    script = "import signal, sys, time\n"
    script += "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if deaf else ""
    script += "print(flush=True)\ntime.sleep(600)"
    with namespace("one") as one:
        # As `ip netns exec` is before it has entered the namespace.
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        emulate._end(process, one)
    assert process.returncode == (-signal.SIGKILL if deaf else -signal.SIGTERM)
    process.stdout.close()


@pytest.mark.parametrize(
    ("value", "says"),
    [("4096 131072 4294967296", "the kernel rejects it"), ("nothing", "the kernel rejects it")],
)
def test_a_sysctl_that_is_refused_is_said(value: str, says: str) -> None:
    with namespace("one") as one, pytest.raises(CannotMake, match=says):
        one.sysctl("net.ipv4.tcp_rmem", value)


def test_a_sysctl_is_read_back() -> None:
    with namespace("one") as one:
        one.sysctl("net.ipv4.tcp_rmem", "2048 2048 2048")
        with pytest.raises(CannotMake, match=r"net.ipv4.ip_forward = 0x1: the kernel changed it to 1"):
            one.sysctl("net.ipv4.ip_forward", "0x1")


def test_what_makes_namespaces_goes_in_turn() -> None:
    files = {path.stem.removeprefix("test_"): path.read_text() for path in Path(__file__).parent.glob("test_*.py")}
    kinds = tuple(f"from {name} import" for name in ("emulated", "namespace", "two_hosts"))
    assert {
        name for name, text in files.items() if any(line.startswith(kinds) for line in text.splitlines())
    } == MACHINE
