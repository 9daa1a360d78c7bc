"""Statements of summaries and `why` agree with the queues, drops and windows of the simulated network."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.cli.commands.example import FOLDER
from mptcplab.results.model import events
from mptcplab.results.run import Runs
from mptcplab.results.text import reasons, repeated_runs
from mptcplab.results.text.summary import summary
from mptcplab.util.user_input import size_like, size_text
from mptcplab.why.explain import explain

ASYMMETRIC = """
duration = "12s"
warmup = "2s"
[paths.wifi]
rate = "5Mbit"
rtt = "30ms"
queue = "20p"
[paths.lte]
rate = "20Mbit"
rtt = "50ms"
queue = "100p"
[paths.lte.forward]
rate = "{back}"
[flows.download]
direction = "download"
rcvbuf = "4MB"
sndbuf = "4MB"
"""
UPLOAD = """
[flows.upload]
transport = "tcp"
direction = "upload"
paths = ["lte"]
congestion = "cubic"
rcvbuf = "4MB"
sndbuf = "4MB"
"""


@pytest.mark.parametrize(("back", "upload"), [("5Mbit", UPLOAD), ("100kbit", "")])
def test_acknowledgements_that_wait_in_a_queue_are_a_cause(back: str, upload: str) -> None:
    """An upload, or the acknowledgements themselves, fill the queue of the other direction."""
    run = Scenario.parse(ASYMMETRIC.format(back=back) + upload).run(trace=events.REASONS)
    row = run.flow("download")
    path = next(path for path in row["paths"] if path["path"] == "lte")
    assert sum(path["limits"].values()) == pytest.approx(1)
    assert path["limits"]["ack_queue"] > 0.2
    assert path["ack_queue"] == "lte forward"
    assert path["ack_wait_s"] is not None
    assert path["ack_wait_s"] == pytest.approx(path["mean_srtt_s"] - 0.05, rel=0.35), "the RTT shows it"
    assert (first := reasons.findings(row)[0]).cause == "ack_queue"
    assert first.path == "lte"
    output = run.summary()
    assert re.search(r"acknowledgements waited in the queue of lte forward for \d+ ms on average, which left", output)
    assert "the queue of lte held data" not in output


def test_acknowledgements_that_wait_nowhere_cost_nothing() -> None:
    row = Scenario.parse(ASYMMETRIC.format(back="5Mbit")).run(trace=events.REASONS).flow("download")
    for path in row["paths"]:
        assert path["limits"]["ack_queue"] < 0.02
        assert path["ack_wait_s"] is not None
        assert path["ack_wait_s"] < 0.005


QUEUED = """
duration = "8s"
warmup = "1s"
[paths.fast]
rate = "10Mbit"
rtt = "10ms"
queue = "30p"
[paths.slow]
rate = "5Mbit"
rtt = "150ms"
queue = "30p"
[flows.f]
stack = "linux"
blocks = "256KB"
rate = "9Mbit"
"""


def test_data_in_the_queue_of_another_subflow_is_no_lack_of_data() -> None:
    """Linux gives data to a subflow ahead of its window: the other path is idle by its scheduler's choice."""
    run = Scenario.parse(QUEUED).run(trace=events.REASONS)
    row = run.flow("f")
    fast = next(path for path in row["paths"] if path["path"] == "fast")
    waits = row["limits"]["congestion_window"]
    assert waits > 0.5, "data waited in queues for windows"
    assert fast["sender_limits"]["application"] <= 1 - waits + 0.02
    assert fast["limits"]["scheduler"] > 0.05


def test_a_small_segment_that_waits_for_more_fills_no_window() -> None:
    """Nagle's algorithm delays less than a segment: the application has written no more."""
    text = QUEUED.replace('rate = "5Mbit"', 'rate = "50Mbit"').replace("150ms", "20ms").replace("30p", "200p")
    row = Scenario.parse(text.replace("256KB", "64KB").replace("9Mbit", "40Mbit")).run(trace=events.REASONS).flow("f")
    assert all(path["sender_limits"]["application"] > 0.9 for path in row["paths"])
    assert row["limits"]["application"] > 0.9


CALL = """
duration = "6s"
warmup = "1s"
[paths.wifi]
rate = "10Mbit"
rtt = "20ms"
loss = "1%"
[paths.lte]
rate = "10Mbit"
rtt = "60ms"
[flows.call]
blocks = "10KB"
rate = "4Mbit"
deadline = "60ms"
baselines = true
"""


def test_several_seeds_tell_what_one_seed_tells(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "call.toml").write_text(CALL)
    output = cli("run", "call.toml", "--seeds", "3").stdout
    spread = r"\d+(\.\d+)? ± \d+(\.\d+)?"
    assert re.search(rf"call: goodput {spread} Mb/s of {spread} Mb/s that its links could carry", output)
    for path in ("wifi", "lte"):
        assert re.search(rf"{path} +{spread} Mb/s, {spread}% of the data, RTT {spread} ms", output), output
    assert re.search(rf"median {spread} ms, p95 {spread} ms, p99 {spread} ms", output)
    assert re.search(rf"{spread}% of the blocks took longer than the deadline", output)
    assert re.search(rf"aggregation benefit -?{spread}", output)


def test_a_path_without_a_subflow_is_named_with_several_seeds(cli: Cli, tmp_path: Path) -> None:
    text = CALL.replace('rtt = "60ms"', 'rtt = "60ms"\nloss = "100%"').replace("baselines = true", "")
    (tmp_path / "call.toml").write_text(text)
    assert "no subflow joined over lte" in cli("run", "call.toml", "--seeds", "2").stdout


def test_sizes_are_written_as_in_scenario_files() -> None:
    assert [size_text(count) for count in (61_440, 2_000_000, 245_760, 16_777_216, 1500)] == [
        "60KB",
        "2MB",
        "240KB",
        "16MiB",
        "1500B",
    ]
    assert [size_like(423_000, like) for like in (61_440, 2_000_000, 60_000, 1501)] == [
        "413KB",
        "0.42MB",
        "423kB",
        "423kB",
    ]


def test_the_smallest_buffer_that_suffices_is_suggested() -> None:
    two = Scenario.load(FOLDER / "two.toml").vary({"duration": "8s", "warmup": "2s", "paths.lte.loss": "0%"})
    [answer] = explain(two.vary({"flows.download.rcvbuf": "60KB"}), seeds=[1, 2])
    output = " ".join(answer.sentences())
    assert "(buffer 60KB, RFC 6182 recommends " in output
    assert set(re.findall(r"\d+ ?([kKM]i?B)\b", output)) == {"KB"}, output
    assert answer.remedy is not None
    assert "the smallest sufficient size of 120KB, 240KB" in output
    [small] = [trial for trial in answer.tried if trial.settings == {"rcvbuf": "413KB"}]
    assert answer.remedy.goodput.mean >= 0.97 * small.goodput.mean
    # Where twice the buffer is enough, four times is not suggested.
    [enough] = explain(two.vary({"flows.download.rcvbuf": "200KB"}), seeds=[1, 2])
    assert enough.remedy is None or 'rcvbuf = "400KB"' in enough.remedy.change


HANDSHAKE = """
duration = "20s"
[paths.dsl]
rate = "16Mbit"
rtt = "40ms"
up = false
[paths.lte]
rate = "24Mbit"
rtt = "60ms"
[flows.download]
paths = ["dsl", "lte"]
[[events]]
at = "5s"
path = "dsl"
set = { up = true }
"""


def test_a_sweep_tells_of_a_long_handshake(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(HANDSHAKE)
    vary = ("--vary", "flows.*.scheduler=minrtt,ontime")
    output = cli("sweep", "late.toml", *vary, "--seeds", "2", "--compare", "flows.*.scheduler=minrtt").stdout
    assert re.search(
        r"goodput of download counts from the end of the handshake, which took up to \d\.\d\d s in 4 of 4 runs; "
        "bytes_received has what arrived in the whole time",
        output,
    )
    assert "from the end of the handshake" not in cli("sweep", "late.toml", *vary, "--metric", "bytes_received").stdout
    output = cli("run", "late.toml", "--seeds", "2").stdout
    assert re.search(r"goodput [\d.]+ ± [\d.]+ Mb/s after a handshake of [\d.]+ ± [\d.]+ s", output)


def test_why_counts_a_long_handshake() -> None:
    """Or the path that opens at once would be no better than the one that does not."""
    [answer] = explain(Scenario.parse(HANDSHAKE), seeds=[1])
    row = answer.runs[0].flow("download")
    assert answer.goodput.mean == pytest.approx(reasons.rate_of_life(row) / 1e6)
    assert "including its handshake of" in answer.sentences()[0]
    assert answer.remedy is not None
    assert answer.remedy.change.startswith('paths = ["lte"')


def test_what_m1_sends_twice_is_no_fault_of_the_scheduler() -> None:
    """A call near the capacity of its paths: `why` blames the copies of M1, and finds that without M1 less is late."""
    changed = {"flows.call.rate": "20Mbit", "flows.call.blocks": "16KB", "flows.call.deadline": "50ms"}
    call = Scenario.load(FOLDER / "call.toml").vary({**changed, "duration": "15s"})
    (answer,) = explain(call, seeds=range(1, 3), quiet=True)
    assert answer.findings[0].cause == "copies"
    assert "data that opportunistic retransmission (M1) sent twice cost" in str(answer.findings[0])
    assert answer.remedy is not None
    assert answer.remedy.settings == {"opportunistic_retransmission": False}
    once = call.vary({"flows.call.opportunistic_retransmission": False}).run(trace=events.REASONS)
    assert "copies" not in {finding.cause for finding in reasons.findings(once.flow())}


OUTAGE = """
duration = "30s"
[paths.ethernet]
rate = "10Mbit"
delay = "1ms"
queue = "10p"
[paths.wifi]
rate = "4Mbit"
delay = "10ms"
queue = "50p"
[flows.bulk]
[[events]]
at = "10s"
path = "ethernet"
how = "blackhole"
set = { up = false }
[[events]]
at = "20s"
path = "ethernet"
how = "blackhole"
set = { up = true }
"""


def test_no_queueing_delay_is_longer_than_the_longest_queue() -> None:
    """Ten packets at 10 Mb/s are 12 ms, and acknowledgements wait, too."""
    run = Scenario.parse(OUTAGE).run(trace=events.REASONS)
    path = next(path for path in run.flow()["paths"] if path["path"] == "ethernet")
    assert path["longest_wait_s"] < 0.02
    assert reasons.queueing_delay(path) <= path["longest_wait_s"]
    assert "the queue of ethernet held data" not in run.summary()


def test_no_queue_is_suggested_that_is_shorter_than_an_initial_window() -> None:
    """Two packets are the bandwidth-delay product of 10 Mb/s and 2 ms, and drop most of a burst of ten segments."""
    output = Scenario.parse(OUTAGE.replace('"10p"', '"200p"')).run(trace=events.REASONS).summary()
    assert "is 2 packets, and queue =" in output
    assert 'queue = "10p" would shorten its RTT' in output


def test_plain_tcp_goes_on_when_its_link_is_back() -> None:
    """As on Linux: that the host knows of it ends no connection."""
    told = OUTAGE.replace('how = "blackhole"\n', "").replace("[flows.bulk]", '[flows.bulk]\ntransport = "tcp"')
    row = Scenario.parse(told).run().flow()
    assert row["closed"] is None
    late = Scenario.parse(told.replace('at = "10s"', 'at = "1s"').replace('at = "20s"', 'at = "5s"')).run().flow()
    assert late["goodput"] > 6e6


FILE = """
duration = "30s"
[paths.dsl]
rate = "10Mbit"
rtt = "20ms"
[paths.lte]
rate = "20Mbit"
rtt = "60ms"
[flows.file]
direction = "download"
bytes = "5MB"
deadline = "3s"
baselines = true
"""


def test_a_flow_that_ends_before_the_warm_up_has_no_rate(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_text(FILE)
    late = ("--set", "warmup=10s")
    row = Scenario.parse(FILE).vary({"warmup": "10s"}).run(trace=events.REASONS).flow("file")
    assert row["measured_s"] == 0
    assert row["capacity"] is None
    assert row["best_capacity"] is None
    assert [(path["capacity"], path["best_capacity"]) for path in row["paths"]] == [(None, None)] * 2
    output = cli("run", "file.toml", *late, "--output", "one").stdout
    assert re.search(r"file \(MPTCP\): it was complete after \d\.\d+ s, before the warm-up ended: no rate", output), (
        output
    )
    assert not re.search(r"nan|goodput|aggregation|-\d", output), output
    assert "the transfer was complete within the deadline" in output
    output = cli("run", "file.toml", *late, "--seeds", "3", "--output", "three").stdout
    assert re.search(
        r"file: with 3 of 3 seeds, the flow was complete after [\d.]+ ± [\d.]+ s, before the warm-up ended", output
    )
    assert not re.search(r"nan|goodput|aggregation", output), output
    output = cli("sweep", "file.toml", *late, "--vary", "flows.file.scheduler=minrtt,ontime", "--seeds", "2").stdout
    assert "file ended before the warm-up was over in 4 of 4 runs, which have no goodput" in output
    assert not re.search(r"nan|0\.00|changed no mean", output), output
    output = cli("why", "file.toml", *late, "--seeds", "1").stdout
    assert re.search(
        r"file: it was complete after \d\.\d+ s, before the warm-up ended: no rate was measured", output
    ), output
    assert "Plain TCP" not in output


def test_plain_tcp_that_ends_before_the_warm_up_is_not_compared() -> None:
    run = Scenario.parse(FILE).run(trace=events.REASONS)
    output = summary(run, {"file": {"dsl": math.nan, "lte": 5e6}})
    assert "plain TCP alone: dsl not measured, because the transfer ended before the warm-up, lte 5.00 Mb/s" in output
    assert "aggregation benefit" not in output
    again = Scenario.parse(FILE).vary({"warmup": "1s"}).run(trace=events.REASONS)
    output = repeated_runs.summary(Runs([run, again]), {"file": {"dsl": [math.nan] * 2, "lte": [5e6, math.nan]}})
    assert (
        "dsl not measured, because the transfer ended before the warm-up, lte 5.00 Mb/s (with 1 of 2 seeds)" in output
    )
    assert "aggregation benefit" not in output


@pytest.mark.parametrize("stop", ["10s", "15s"])
def test_a_flow_that_stops_is_measured_to_its_last_byte(stop: str) -> None:
    scenario = Scenario.load(FOLDER / "two.toml").vary({"flows.download.stop": stop})
    row = scenario.run(trace=events.REASONS).flow("download")
    assert row["measured_s"] + scenario.core.warmup > float(stop[:-1]), "its backlog takes time"
    assert row["capacity"] is not None
    assert row["goodput"] <= row["capacity"]


def test_a_flow_that_cannot_deliver_its_backlog_is_measured_to_the_end() -> None:
    down = "".join(f'[[events]]\nat = "10s"\npath = "{path}"\nset = {{ up = false }}\n' for path in ("dsl", "lte"))
    text = FILE.replace('bytes = "5MB"\ndeadline = "3s"', 'stop = "10s"') + down
    row = Scenario.parse(text).run(trace=events.REASONS).flow("file")
    assert row["measured_s"] == pytest.approx(30, abs=0.1)


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("file", {"flows.file.bytes": "50MB", "warmup": "5s"}),
        ("two", {"paths.lte.delay": "500ms"}),
    ],
)
def test_what_had_arrived_before_the_warm_up_ended_is_told(base: str, changes: dict[str, str]) -> None:
    """It is read after it, and counts in goodput: more than links carry in that time."""
    scenario = Scenario.parse(FILE) if base == "file" else Scenario.load(FOLDER / "two.toml")
    scenario = scenario.vary(changes)
    run = scenario.run(trace=events.REASONS)
    [row] = run.flow_rows
    arrived = row["unique_bytes_arrived"]
    assert arrived is not None
    assert row["capacity"] is not None
    assert row["bytes_received"] > arrived
    assert arrived <= sum(path["bytes_arrived"] for path in row["paths"])
    assert arrived * 8 / row["measured_s"] <= row["capacity"] * 1.001
    assert reasons.comparable_rate(row) <= row["capacity"] * 1.001
    output = run.summary()
    assert re.search(r"Mb/s excluding \d.* that had arrived out of order before the warm-up ended\)", output), output


def test_no_flow_carries_more_than_its_links() -> None:
    scenario = Scenario.parse(FILE).vary({"flows.file.bytes": "50MB", "warmup": "5s"})
    [answer] = explain(scenario, seeds=[1])
    output = " ".join(answer.sentences())
    assert "that had arrived out of order before the warm-up ended" in output
    assert answer.capacity is not None
    assert answer.goodput.mean <= answer.capacity
    parts = [int(part) for part in re.findall(r"(\d+)% of the [\d.]+ Mb/s that its links", output)]
    assert parts
    assert max(parts) <= 100


def test_round_trips_are_those_of_the_flow() -> None:
    """However long the run goes on after the file is complete."""
    found = []
    for changes in ({}, {"duration": "60s"}, {"until_done": "true"}):
        row = Scenario.parse(FILE).vary(changes).run(trace=events.REASONS).flow("file")
        found.append([path["mean_srtt_s"] for path in row["paths"]])
    assert found[0] == found[1] == found[2]
    assert found[0][0] < 0.45
    brief = Scenario.parse(FILE).vary({"flows.file.bytes": "20KB"}).run().flow("file")
    assert brief["paths"][0]["mean_srtt_s"] > 0.019, "no sample was taken before its end"
