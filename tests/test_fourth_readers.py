"""Regression tests from a usability review: summaries, `why`, and kernel runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mptcplab import Scenario
from mptcplab.backends import kernel_backend
from mptcplab.results.model import events
from mptcplab.results.run import Run
from mptcplab.results.text import reasons, summary
from mptcplab.results.text.summary import long_queues
from mptcplab.stats.statistics import estimate
from mptcplab.why.answer import Answer, Trial
from mptcplab.why.causes import proven
from mptcplab.why.explain import explain

if TYPE_CHECKING:
    from mptcplab._core import FlowRow, PathRow

TCP = '[flows.f]\ntransport = "tcp"\ndirection = "download"\n'
BURSTS = """
duration = "20s"
warmup = "2s"
[paths.p]
rate = "{rate}"
delay = "{delay}"
queue = "60p"
gilbert_elliott = {{ p = "{p}", r = "{r}" }}
"""
ACKS = """
duration = "15s"
[paths.p]
delay = "22ms"
queue = "60p"
backward = {{ rate = "31Mbit" }}
forward = {{ rate = "9Mbit", {loss} }}
"""
HOLE = """
duration = "10s"
[paths.a]
rate = "10Mbit"
delay = "15ms"
queue = "40p"
[paths.b]
rate = "30Mbit"
delay = "25ms"
queue = "100p"
{mtu}
[flows.f]
direction = "download"
"""


def _observed(text: str, seed: int = 1) -> FlowRow:
    return Scenario.parse(text).run(seed, trace=events.REASONS).flow()


def _limits(text: str, path: str, seed: int = 1) -> dict[str, float]:
    [limits] = [row["limits"] for row in _observed(text, seed)["paths"] if row["path"] == path]
    return limits


@pytest.mark.parametrize(
    "change",
    [
        {"rate": "30Mbit", "delay": "4ms", "p": "0.5%", "r": "20%"},
        {"rate": "12Mbit", "delay": "30ms", "p": "0.3%", "r": "10%"},
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_bursts_of_losses_on_a_constant_delay_are_random_loss(change: dict[str, str], seed: int) -> None:
    limits = _limits(BURSTS.format(**change) + TCP, "p", seed)
    assert limits["loss"] + limits["ack_loss"] > 0.5
    assert limits["delay_change"] == 0
    assert limits["spurious"] < 0.03


@pytest.mark.parametrize("loss", ["8%", "12%"])
def test_the_cause_of_a_later_timeout_is_its_own(loss: str) -> None:
    """A window of one segment is not reduced any more; a timeout may have lost an acknowledgement."""
    text = f'duration = "30s"\n[paths.p]\nrate = "20Mbit"\ndelay = "6ms"\nqueue = "60p"\nloss = "{loss}"\n{TCP}'
    limits = _limits(text, "p")
    assert limits["loss"] > 0.5
    assert limits["ack_loss"] > 0.01
    assert limits["delay_change"] == 0
    assert limits["spurious"] < 0.01


@pytest.mark.parametrize(("p", "r"), [("0.3%", "0.9%"), ("1%", "0.4%")])
def test_lost_acknowledgements_are_random_loss_of_acknowledgements(p: str, r: str) -> None:
    row = _observed(ACKS.format(loss=f'gilbert_elliott = {{ p = "{p}", r = "{r}" }}') + TCP)
    assert row["paths"][0]["limits"]["ack_loss"] > 0.3
    assert row["paths"][0]["limits"]["delay_change"] == 0
    assert "random loss of acknowledgements" in reasons.sentences(row)[0]


@pytest.mark.parametrize("path", ["a", "b"])
@pytest.mark.parametrize("mtu", [1300, 1440])
def test_packets_larger_than_a_path_mtu_are_named_and_smaller_ones_are_tried(path: str, mtu: int) -> None:
    text = HOLE.format(mtu="").replace(f"[paths.{path}]", f"[paths.{path}]\npath_mtu = {mtu}\nicmp = false")
    row = _observed(text)
    first = reasons.findings(row)[0]
    assert (first.cause, first.path) == ("path_mtu", path)
    assert first.share > 0.9
    [answer] = explain(Scenario.parse(text), seeds=[1])
    assert answer.findings[0].cause == "path_mtu"
    tried = [trial.change for trial in answer.tried]
    assert 'mtu_probing = "blackhole"' in tried
    assert answer.remedy is not None
    assert answer.remedy.cause == "path_mtu"
    assert answer.remedy.goodput.mean > 1.5 * answer.goodput.mean


def test_a_path_mtu_of_which_the_sender_is_told_costs_nothing() -> None:
    limits = _limits(HOLE.format(mtu="path_mtu = 1300"), "b")
    assert limits["path_mtu"] == 0
    assert limits["bottleneck"] > 0.5


@pytest.mark.parametrize("buffer", ["16KB", "64KB"])
def test_a_proxy_that_acknowledges_early_is_a_middlebox(buffer: str) -> None:
    box = f'[middleboxes.m]\npath = "b"\nkind = "early-ack"\nbuffer = "{buffer}"\n'
    row = _observed(HOLE.format(mtu="") + box)
    [path] = [path for path in row["paths"] if path["path"] == "b"]
    assert path["limits"]["middlebox"] > 0.3
    assert path["limits"]["delay_change"] == path["limits"]["spurious"] == 0
    assert any("middlebox" in sentence for sentence in reasons.sentences(row))


@pytest.mark.parametrize(("jitter", "delay"), [("5ms", "6ms"), ("20ms", "20ms")])
def test_segments_that_overtake_others_are_reordering(jitter: str, delay: str) -> None:
    text = f'duration = "15s"\n[paths.p]\nrate = "25Mbit"\ndelay = "{delay}"\njitter = "{jitter}"\nqueue = "8p"\n'
    limits = _limits(text + "reorder = true\n" + TCP, "p")
    assert limits["reordering"] > 0.3
    assert limits["delay_change"] == 0
    assert max(limits, key=lambda cause: limits[cause] * (cause != "bottleneck")) == "reordering"


def test_a_delay_that_changes_is_a_change_of_delay() -> None:
    """The delay grows from 5 to 300 ms: timeouts are spurious, and the window is too small afterwards."""
    text = 'duration = "10s"\n[paths.p]\nrate = "20Mbit"\ndelay = "5ms"\nqueue = "60p"\n'
    step = '[[events]]\nat = "3s"\npath = "p"\nset = { delay = "300ms" }\n'
    changed, constant = _limits(text + TCP + step, "p"), _limits(text + TCP, "p")
    assert changed["delay_change"] > 0.2
    assert constant["delay_change"] == constant["spurious"] == 0


@pytest.mark.parametrize("change", ["up = false", 'loss = "100%"'])
@pytest.mark.parametrize("warmup", ["1s", "2.4s", "3.1s", "4.2s"])
def test_a_stall_across_the_end_of_the_warm_up_has_shares_of_its_own_time(change: str, warmup: str) -> None:
    """The shares are those of the whole stall, which begins before the warm-up ends, and ends after it."""
    back = change.replace("false", "true").replace("100%", "0%")
    text = f"""
    duration = "7s"
    warmup = "{{warmup}}"
    [paths.p]
    rate = "10Mbit"
    delay = "20ms"
    queue = "50p"
    [[events]]
    at = "2s"
    path = "p"
    set = {{{{ {change} }}}}
    [[events]]
    at = "4.5s"
    path = "p"
    set = {{{{ {back} }}}}
    {TCP}
    """
    [path] = _observed(text.format(warmup=warmup))["paths"]
    [first] = _observed(text.format(warmup="500ms"))["paths"]
    silence, known = path["silence"], first["silence"]
    assert sum(silence.values()) <= 1 + 1e-9
    assert all(silence.get(cause, 0) == pytest.approx(known.get(cause, 0), abs=0.03) for cause in silence | known)
    assert max(silence, key=lambda cause: silence[cause]) == ("down" if "up" in change else "loss")


def test_several_subflows_of_a_path_spend_a_stall_once() -> None:
    text = 'duration = "6s"\n[paths.p]\nrate = "10Mbit"\ndelay = "20ms"\nqueue = "50p"\n[flows.f]\n'
    text += 'path_manager = "ndiffports"\nsubflows = 3\n[[events]]\nat = "2s"\npath = "p"\nset = { loss = "100%" }\n'
    text += '[[events]]\nat = "4s"\npath = "p"\nset = { loss = "0%" }\n'
    row = _observed(text)
    assert row["longest_silence_s"] > 1
    assert all(sum(path["silence"].values()) <= 1 + 1e-9 for path in row["paths"])


def _longest_wait(run: Run, link: str, direction: str) -> float:
    [row] = [row for row in run.link_rows if (row["link"], row["direction"]) == (link, direction)]
    return 8 * row["longest_queue"] / (row["capacity"] or math.nan)


def test_a_queueing_delay_is_that_of_the_queue_and_no_rest_of_a_round_trip() -> None:
    """Uploads fill the queue of the acknowledgements, and the queue of the data is nearly empty."""
    text = """
    duration = "15s"
    warmup = "1s"
    [paths.p]
    delay = "8ms"
    forward = { rate = "2Mbit", queue = "120p" }
    backward = { rate = "30Mbit", queue = "90p" }
    [flows.down]
    direction = "download"
    [flows.up]
    direction = "upload"
    """
    run = Scenario.parse(text).run(trace=events.REASONS)
    [down], [up] = run.flow("down")["paths"], run.flow("up")["paths"]
    assert reasons.queueing_delay(down) <= _longest_wait(run, "p", "backward") + 1e-3
    assert down["mean_srtt_s"] - (down["base_rtt_s"] or math.nan) > 3 * reasons.queueing_delay(down)
    assert 0.2 < reasons.queueing_delay(up) <= _longest_wait(run, "p", "forward") + 1e-3
    assert up["queue_at"] == "p forward"


@pytest.mark.parametrize(("low", "queue"), [("1Mbit", 100_000), ("3Mbit", 600_000)])
def test_a_queueing_delay_after_a_lower_rate_is_that_of_the_lower_rate(low: str, queue: int) -> None:
    """The mean over the time of the run: half of it at a rate at which the full queue lasts for about a second."""
    text = f"""
    duration = "22s"
    warmup = "2s"
    [paths.p]
    rate = "60Mbit"
    delay = "10ms"
    queue = "{queue}B"
    {TCP}
    rcvbuf = "8MB"
    congestion = "cubic"
    [[events]]
    at = "12s"
    path = "p"
    set = {{ rate = "{low}" }}
    """
    run = Scenario.parse(text).run(trace=events.REASONS)
    row = run.flow()
    rate = float(low.removesuffix("Mbit")) * 1e6
    assert 0.25 * queue * 8 / rate < reasons.queueing_delay(row["paths"][0]) < 0.6 * queue * 8 / rate
    assert any("bufferbloat" in sentence for sentence in reasons.sentences(row))
    assert long_queues(run, row)


NECK = """
duration = "12s"
warmup = "2s"
[links.access]
ends = ["host", "r1"]
rate = "100Mbit"
delay = "3ms"
[links.neck]
ends = ["r1", "srv"]
rate = "10Mbit"
delay = "7ms"
{neck}
[flows.t]
from = "host"
to = "srv"
"""
OTHER = """
[links.c]
ends = ["other", "r1"]
rate = "100Mbit"
[flows.u]
from = "other"
to = "srv"
transport = "tcp"
congestion = "cubic"
"""
ALONE = """
duration = "12s"
warmup = "2s"
[paths.access]
rate = "10Mbit"
delay = "10ms"
queue = "600p"
[flows.t]
"""


def test_a_long_queue_behind_the_access_link_is_that_of_its_own_link() -> None:
    runs = [Scenario.parse(text).run(trace=events.REASONS) for text in (NECK.format(neck='queue = "600p"'), ALONE)]
    behind, same = (reasons.queueing_delay(run.flow()["paths"][0]) for run in runs)
    assert behind == pytest.approx(same, rel=0.05)
    row = runs[0].flow()
    assert "data waited long in the queue of neck" in "; ".join(reasons.sentences(row))
    [note] = long_queues(runs[0], row)
    assert note.startswith("the queue of neck may hold 600 packets")
    assert note.endswith('queue = "17p" would shorten its RTT')


@pytest.mark.parametrize(
    ("neck", "more", "output"),
    [
        ('queue = "4p"', "", "drops in the queue of neck left"),
        ('loss = "3%"', "", "random loss on neck left"),
        ("", '[[events]]\nat = "6s"\nlink = "neck"\nset = { rate = "2Mbit" }\n', "the link rate of neck was lower"),
        ("", OTHER, "other flows took"),
        ("path_mtu = 1200\nicmp = false", "", "packets larger than the path MTU of neck"),
        ("", '[[events]]\nat = "4s"\nlink = "neck"\nset = { up = false }\n', "neck was down"),
    ],
)
def test_sentences_name_the_link_and_not_the_first_one_of_the_path(neck: str, more: str, output: str) -> None:
    said_of = reasons.sentences(_observed(NECK.format(neck=neck) + more))
    assert output in said_of[0]
    assert "neck" in said_of[0]


def test_what_two_paths_share_is_said_once() -> None:
    """Two paths over one slow link, with other traffic there and a long queue."""
    second = '[links.b]\nends = ["host", "r1"]\nrate = "100Mbit"\n[flows.t]'
    text = NECK.format(neck='queue = "700p"').replace("[flows.t]", second) + OTHER
    output = reasons.sentences(_observed(text))
    assert sum("other flows took" in sentence for sentence in output) == 1
    assert sum("bufferbloat" in sentence for sentence in output) == 1
    assert all("neck" in sentence for sentence in output)


@pytest.mark.parametrize("line", ["100Mbit", "40Mbit", "unlimited"])
@pytest.mark.parametrize("kind", ["tbf", "police"])
def test_a_link_carries_what_its_shaper_or_policer_lets_through(line: str, kind: str) -> None:
    """Headers take 5% of the rate of the bucket."""
    queue = f'queue = {{ kind = "{kind}", rate = "17.9Mbit", burst = "23KB" }}'
    text = f'duration = "16s"\nwarmup = "3s"\n[paths.p]\ndelay = "12ms"\nrate = "{line}"\n{queue}\n{TCP}'
    row = _observed(text + 'congestion = "cubic"\n')
    [path] = row["paths"]
    assert path["best_capacity"] == pytest.approx(17.9e6)
    assert reasons.capacity(row) == pytest.approx(17.9e6 * 0.95, rel=0.03)
    carried = path["bytes_arrived"] * 8 / row["measured_s"] / (reasons.capacity(row) or math.nan)
    assert path["limits"]["bottleneck"] == pytest.approx(carried, abs=0.03)
    if kind == "police":
        assert path["limits"]["policer"] > 0.1
        assert path["limits"]["queue_overflow"] == 0
        assert reasons.sentences(row)[0].startswith("drops of the policer of p left")


def test_a_policer_behind_the_access_link_is_named() -> None:
    neck = 'queue = { kind = "police", rate = "5Mbit", burst = "8KB" }'
    row = _observed(NECK.format(neck=neck))
    assert row["paths"][0]["best_capacity"] == pytest.approx(5e6)
    assert reasons.sentences(row)[0].startswith("drops of the policer of neck left")


def test_a_lower_rate_above_that_of_the_shaper_costs_nothing() -> None:
    queue = 'queue = { kind = "tbf", rate = "8Mbit", burst = "23KB" }'
    text = f'duration = "8s"\n[paths.p]\ndelay = "12ms"\nrate = "50Mbit"\n{queue}\n{TCP}'
    text += '[[events]]\nat = "3s"\npath = "p"\nset = { rate = "20Mbit" }\n'
    [path] = _observed(text)["paths"]
    assert path["best_capacity"] == pytest.approx(8e6)
    assert path["limits"]["lower_rate"] == 0


def test_what_linux_retransmits_and_what_arrives_twice_have_words_of_their_own() -> None:
    """Linux counts a timeout's data at the sender, and duplicate segments at the receiver, of which there are more."""
    scenario = Scenario.parse(HOLE.format(mtu="")).vary({"duration": "2s", "flows.f.stack": "linux"})
    run = scenario.run()
    row: FlowRow = {**run.flow(), "reinjected": 84_000, "duplicates": None}
    [line] = summary._reinjected(Run(scenario.core, 1, run._results, backend="kernel"), row)
    report = kernel_backend.Report(1, "", "6.18", [], [], None, None, {"client": {"MPTcpExt": {"DuplicateData": 4978}}})
    assert line.startswith("retransmitted by MPTCP after a timeout: 84 kB")
    assert "another path" not in line
    assert "twice" not in line
    assert "duplicate segments in the whole run, counted by the receiver: 4978" in kernel_backend.report_text(report)
    [simulated] = summary._reinjected(run, {**row, "duplicates": 0})
    assert simulated.startswith("also queued on another path")


def test_a_backup_is_no_fault_of_the_scheduler() -> None:
    run = Scenario.parse(HOLE.format(mtu="") + 'backup = ["b"]\n').run(trace=events.REASONS)
    assert reasons.sentences(run.flow())[0].startswith("b is an unused backup: ")
    assert "scheduler" not in run.summary()
    assert "an unused backup 9" in run.summary()


def test_the_flows_that_pay_for_a_change_are_named() -> None:
    """More congestion control of this flow takes the rate of the other one on its path."""
    text = """
    duration = "10s"
    warmup = "2s"
    [paths.a]
    rate = "10Mbit"
    delay = "20ms"
    queue = "100p"
    [flows.f]
    rcvbuf = "8KB"
    [flows.other]
    transport = "tcp"
    """
    [answer] = explain(Scenario.parse(text), seeds=[1])
    assert answer.remedy is not None
    [loser] = answer.remedy.losers
    before, after = answer.runs[0].flow("other")["goodput"] / 1e6, float(loser.split()[2])
    assert after < before
    assert loser == f"other gets {after:.2f} instead of {before:.2f} Mb/s"
    assert f"Other flows lose goodput: {loser}." in answer.sentences()[2]
    [alone] = explain(Scenario.parse(text.partition("[flows.other]")[0]), seeds=[1])
    assert alone.remedy is not None
    assert "Other flows lose" not in alone.sentences()[2]


def test_a_scheduler_of_linux_is_not_tried_and_that_is_told() -> None:
    finding = reasons.Finding("scheduler", "a", 0.5, 1e6)
    runs = [Scenario.parse(HOLE.format(mtu="")).vary({"duration": "1s"}).run()]
    answer = Answer("f", runs, estimate([1.0]), {"a": estimate([1.0])}, [finding], on_linux=True)
    assert answer.sentences()[1].endswith("Linux has no other scheduler, so none was tested.")
    assert "Linux" not in replace(answer, on_linux=False).sentences()[1]
    assert "Linux" not in replace(answer, findings=[replace(finding, is_backup=True)]).sentences()[1]


def test_a_full_buffer_stays_the_cause_where_both_must_be_larger() -> None:
    text = HOLE.format(mtu="") + 'sndbuf = "20KB"\nrcvbuf = "13KB"\nscheduler = "roundrobin"\n'
    run = Scenario.parse(text).run(trace=events.REASONS)
    [answer] = explain(Scenario.parse(text), seeds=[1])
    assert answer.findings[0].cause == reasons.findings(run.flow())[0].cause
    assert answer.remedy is not None
    assert set(answer.remedy.settings) == {"rcvbuf", "sndbuf"}


def test_a_cause_that_a_change_proves_comes_with_the_one_of_the_run() -> None:
    run = reasons.Finding("receive_window", None, 0.28, 2.6e6, "buffer 200KB")
    trial = Trial('scheduler = "ontime"', estimate([9.4]), "scheduler")
    answer = Answer("f", [], estimate([6.8]), {}, [run], capacity=9.41, tried=[trial])
    [first] = proven(answer)
    assert first.cause == "scheduler"
    assert "in a run without changes, the receive window was full, which cost 28% of capacity" in str(first)


def test_no_other_path_is_suggested_where_all_are_down() -> None:
    down = "".join(f'[[events]]\nat = "0s"\npath = "{path}"\nset = {{ up = false }}\n' for path in "ab")
    output = Scenario.parse(HOLE.format(mtu="") + down).run(trace=events.REASONS).summary()
    assert "another first path" not in output
    assert "so were all other paths" in output
    one = Scenario.parse(HOLE.format(mtu="") + down.partition("\n[[events]]")[0] + "\n").run(trace=events.REASONS)
    assert "with another first path, the connection may open" in one.summary()


@pytest.mark.parametrize(
    ("count", "output"), [(1, "1 retransmission, 1 timeout"), (2, "2 retransmissions, 2 timeouts")]
)
def test_one_retransmission_has_no_plural(count: int, output: str) -> None:
    row = Scenario.parse(HOLE.format(mtu="")).vary({"duration": "1s"}).run().flow()
    path: PathRow = {**row["paths"][0], "retransmits": count, "timeouts": count}
    assert summary._path_lines(row, path, None)[0].endswith(output)


def test_penalties_are_told_where_nothing_was_reinjected_and_small_amounts_are_no_0_kb() -> None:
    run = Scenario.parse(HOLE.format(mtu="")).vary({"duration": "1s"}).run()
    row: FlowRow = {**run.flow(), "reinjected": 0, "duplicates": 0, "penalties": 7}
    assert summary._reinjected(run, row) == ["windows halved by penalisation (M2) in the whole run: 7"]
    assert summary._reinjected(run, {**row, "penalties": 0}) == []
    [line] = summary._reinjected(run, {**row, "reinjected": 120, "opportunistic": 0})
    assert line.startswith("reinjected on another path: 120 B, 0% of the data")


@pytest.mark.parametrize("kind", ["strip-options", "nat"])
def test_a_path_that_no_subflow_joins_is_told_with_its_middlebox(kind: str) -> None:
    box = f'[middleboxes.m]\npath = "b"\nkind = "{kind}"\n'
    output = Scenario.parse(HOLE.format(mtu="") + box).run(trace=events.REASONS).summary()
    assert ("no subflow joined over b, behind the middlebox m (strip-options)" in output) == (kind == "strip-options")


def test_what_a_redundant_scheduler_sends_twice_is_told() -> None:
    run = Scenario.parse(HOLE.format(mtu="") + 'scheduler = "redundant"\n').run(trace=events.REASONS)
    row = run.flow()
    assert row["reinjected"] == 0
    assert f"sent on several paths at once: {(row['duplicates'] or 0) / 1e3:.0f} kB arrived twice" in run.summary()
    assert (row["duplicates"] or 0) > 5e6
    once = Scenario.parse(HOLE.format(mtu="") + 'scheduler = "minrtt"\n').run(trace=events.REASONS)
    assert "sent on several paths at once" not in once.summary()
