"""`mptcplab doctor` with hostile names, texts, pipes and rates."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from pathlib import Path
from typing import IO, cast

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.doctor import fit, host_texts, inputs
from mptcplab.doctor.fitted_plan import Link, Plan
from mptcplab.doctor.host_texts import parse
from mptcplab.util.user_input import BadResult


def test_a_strange_name_of_a_capture_stays_in_its_comment(cli: Cli, tmp_path: Path) -> None:
    paths = {"dsl": {"rate": "12Mbit", "rtt": "30ms", "queue": "60p"}}
    flows = {"bulk": {"direction": "download"}}
    Scenario(duration="2s", warmup="0s", paths=paths, flows=flows).run(seed=3, captures=tmp_path / "pcap")
    strange = tmp_path / os.fsdecode(b"x\nseed = 7\n\x1b\xff.pcap")
    shutil.copy(min((tmp_path / "pcap").glob("client*")), strange)
    fitted = tmp_path / "fitted.toml"
    cli("doctor", strange, "--scenario", fitted, "--quiet")
    first = fitted.read_text().splitlines()[0]
    assert first.endswith(r"x\nseed = 7\n\x1b\udcff.pcap.")
    Scenario.load(fitted)


def plan_of(rate: float) -> Plan:
    link = Link("path1", rate, 0.02, 100, 0.0, 0.0, True, goodput=rate)
    return Plan([link], rate, 30.0, False, False, 1e6, 1e6, None, None)


def test_a_fit_is_bounded_by_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plan_of(1e7).document()["duration"] == "30.00s"
    assert plan_of(100e9).document()["duration"] == "0.24s"
    monkeypatch.setattr(fit, "plan", lambda *_: plan_of(101e9))
    with pytest.raises(BadResult, match="101 Gb/s; no scenario is fitted above 100 Gb/s"):
        fit.fit({}, 0)


def test_hostile_texts_take_linear_time() -> None:
    endpoints = [{"address": f"10.0.{at >> 8}.{at & 255}", "id": 1} for at in range(20_000)]
    began = time.monotonic()
    parse("#ip -" * 50_000 + "\nadd_addr_accepted 0 subflows 0\n", "a")
    assert len(parse(json.dumps(endpoints), "b").endpoints or ()) == 20_000
    assert len(parse(json.dumps([{f"Tcp{at}": 1} for at in range(20_000)]), "c").counters or ()) == 20_000
    assert time.monotonic() < began + 3
    assert parse("Tcp: a\nTcp: \u00b2\nTcp: a\nTcp: " + "9" * 5000, "d").counters is None
    assert "ip mptcp limits" in parse("# ip -6 -j mptcp limits show", "e").commands


def test_an_endless_pipe_is_read_to_its_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Endless(io.RawIOBase):
        count = 0

        def read(self, size: int = -1) -> bytes:
            self.count += size
            return b"\x0a\x0d\x0d\x0a" if size == 4 else b"a" * size

    monkeypatch.setattr(inputs, "_MOST_COPIED", 5 << 20)
    copy = io.BytesIO()
    with pytest.raises(BadResult, match="a: more than 0 GB"):
        inputs._copied(cast("IO[bytes]", Endless()), b"", copy, tmp_path, "a")
    assert len(copy.getvalue()) == 5 << 20
    inputs._copied(cast("IO[bytes]", Endless()), b"text", text_copy := io.BytesIO(), tmp_path, "a")
    assert len(text_copy.getvalue()) == host_texts.MOST_BYTES + 1
