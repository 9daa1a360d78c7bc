"""Surveys: networks drawn, policies by name, the bound, the command."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from mptcplab.cli.main import main
from mptcplab.results.run import Run, Runs
from mptcplab.results.text.summary import summary
from mptcplab.run.batch import Interrupted
from mptcplab.scenario.definition import HISTORICAL, Scenario
from mptcplab.survey.measure import Measured, Policy, remeasure, survey
from mptcplab.survey.networks import DISCIPLINES, FRAME, KINDS, Change, Link, Network, draw
from mptcplab.survey.policies import policy
from mptcplab.survey.report import distribution, sentence, times
from mptcplab.survey.short_flows import Load, Timed, short
from mptcplab.survey.upper_bound import MOST_PAYLOAD, PAYLOAD, bound, earliest, joins
from mptcplab.survey.worst_case import search_worst
from mptcplab.util.user_input import BadResult

Floats = NDArray[np.float64]
SMALL = Network("small", (Link(2e6, 0.02, 10), Link(1e6, 0.05, 10)), 200_000)


def test_a_network_is_a_function_of_seed_number_and_kind() -> None:
    assert draw(7, 3) == draw(7, 3)
    assert len({str(draw(seed, number)) for seed in (1, 2) for number in range(20)}) == 40


@pytest.mark.parametrize("kind", KINDS)
def test_networks_lie_in_the_distribution_that_is_described(kind: str) -> None:
    networks = [draw(11, number, kind) for number in range(400)]
    links = [link for network in networks for link in network.links]
    assert {len(network.links) for network in networks} == {2, 3, 4}
    far = 5 if kind == "far" else 1
    assert all(1e6 <= link.rate <= 100e6 and 5e-3 <= link.rtt / far <= 0.4 and link.queue >= 10 for link in links)
    most = [
        20
        if kind == "short"
        else max(10.5, link.rate / 8 / FRAME + 1)
        if kind == "fading"
        else far * max(10.5, 5 * link.bdp / far / FRAME + 1)
        for link in links
    ]
    assert all(link.queue <= here for link, here in zip(links, most, strict=True))
    lossy = kind == "lossy"
    least, most_lossy = {"lossy": (1, 1), "fading": (0, 0)}.get(kind, (0.2, 0.3))
    assert least <= np.mean([link.loss > 0 for link in links]) <= most_lossy
    assert all(link.loss == 0 or 1e-4 <= link.loss <= (5e-2 if lossy else 2e-2) for link in links)
    assert 0.4 < np.mean([network.buffer is None for network in networks]) < 0.6
    assert all(network.buffer is None or 200e3 <= network.buffer <= 4e6 for network in networks)
    networks[0].scenario({"transport": "mptcp"})


def test_each_kind_has_what_it_is_called_for() -> None:
    def drawn(kind: str) -> tuple[list[Link], dict[str, Any], str]:
        network = draw(3, 5, kind)
        text = network.scenario({"transport": "mptcp"}).to_toml()
        return list(network.links), tomllib.loads(text), str(network)

    links, table, text = drawn("reorder")
    assert all(path["reorder"] for path in table["paths"].values())
    assert all(0 < link.jitter <= link.rtt / 20 for link in links)
    assert "with reordering" in text
    links, table, text = drawn("managed")
    assert {path["queue"]["kind"] for path in table["paths"].values()} <= set(DISCIPLINES)
    assert links[0].discipline in text
    links, table, text = drawn("asymmetric")
    assert all(64e3 <= link.back <= max(64e3, link.rate / 20) for link in links)
    assert all(path["backward"]["rate"] != path["forward"]["rate"] for path in table["paths"].values())
    links, table, text = drawn("changing")
    ((name, link),) = [(f"path{at}", link) for at, link in enumerate(links, 1) if link.changes]
    low, high = link.changes
    assert link.rate / 10 <= low.rate <= link.rate / 2
    assert high.rate == link.rate
    assert [(event["at"], event["path"]) for event in table["events"]] == [("12s", name), ("20s", name)]
    assert f"{low.rate / 1e6:.3g} Mb/s from 12 s, {link.rate / 1e6:.3g} Mb/s from 20 s" in text
    links, table, text = drawn("fading")
    (fades,) = [link for link in links if link.changes]
    assert fades.rate / 250 <= fades.changes[0].rate <= fades.rate / 2
    assert all(link.loss == 0 for link in links)
    seconds = [link.queue * FRAME * 8 / link.rate for link in links if link.queue > 10]
    assert all(0.019 <= time <= 1.01 for time in seconds)
    links, table, text = drawn("steps")
    assert [event["at"] for event in table["events"]] == ["12s", "20s"]
    assert all(set(event["set"]) == {"delay"} for event in table["events"])
    first = next(link for link in links if link.changes and link.changes[0].at == 12)
    assert 1.009 <= max(first.changes[0].rtt / first.rtt, first.rtt / first.changes[0].rtt) <= 1.501
    links, table, text = drawn("competing")
    assert (table["flows"]["flow"]["start"], table["duration"], table["warmup"]) == ("10s", "40s", "15s")
    others = [
        flow["paths"] for name, flow in table["flows"].items() if name != "flow" and flow["start"] in ("0s", "500ms")
    ]
    assert others == [[f"path{at}"] for at, link in enumerate(links, 1) for _ in range(link.others)]
    # Frames come at any time within one's time on the line.
    spread = [float(path["jitter"].removesuffix("us")) for path in table["paths"].values()]
    assert spread == [pytest.approx(FRAME * 8e6 / link.rate / 2, abs=1) for link in links]
    assert "competing flows" in text
    assert "events" not in draw(3, 5).scenario({"transport": "mptcp"}).to_toml()


def test_a_burst_loses_as_much_as_is_said() -> None:
    table = Link(10e6, 0.02, 20, loss=0.01, burst=5).table()["gilbert_elliott"]
    p, r = (float(table[key].removesuffix("%")) / 100 for key in ("p", "r"))
    assert p / (p + r) == pytest.approx(0.01, rel=0.01)
    assert 1 / r == pytest.approx(5, rel=0.01)


def test_policies_have_the_names_of_their_parts() -> None:
    assert policy("default").keys == {}
    assert policy("historical").keys == HISTORICAL
    assert policy("historical+cubic").keys == {**HISTORICAL, "congestion": "cubic"}
    assert (policy("cubic").reference, policy("olia").reference) == ("cubic", "reno")
    with pytest.raises(BadResult, match="unknown policy 'fast'; choose from default, historical"):
        policy("fast")


def test_the_historical_keys_are_keys_of_flows() -> None:
    paths = {"one": {"rate": "1Mbit"}}
    Scenario(duration="1s", paths=paths, flows={"f": {}}, defaults=HISTORICAL)


def test_the_bound_uses_a_far_path_only_where_the_window_reaches() -> None:
    near, far = Link(10e6, 0.01, 10), Link(10e6, 0.4, 100)
    payload = PAYLOAD / FRAME
    assert bound(Network("wide", (near, far), 4_000_000)) == pytest.approx(20e6 * payload)
    assert bound(Network("narrow", (near, far), 200_000)) == pytest.approx(10e6 * payload)
    assert bound(Network("far", (far,), 200_000)) == pytest.approx(4e6)
    # The near path brings the far one's acknowledgements home.
    small = Link(1e6, 0.01, 10)
    assert bound(Network("home", (small, far), 200_000)) == pytest.approx(200_000 * 8 / 0.205)


def test_a_file_is_there_no_sooner_than_its_paths_can_have_brought_it() -> None:
    near, far = Link(10e6, 0.02, 40), Link(10e6, 0.2, 100)

    def alone(link: Link, size: int) -> float:
        return earliest(Network("alone", (link,), None), size)

    # The handshake, half of a round trip, and the segments at the rate of the line.
    rate = 10e6 / 8 * MOST_PAYLOAD / FRAME
    assert alone(near, 10 * MOST_PAYLOAD) == pytest.approx(0.03 + 10 * MOST_PAYLOAD / rate, rel=1e-3)
    # Ten, twenty and forty segments in 0.2 s each, and then 80.
    assert alone(far, 71 * MOST_PAYLOAD) == pytest.approx(0.3 + 3 * 0.2 + MOST_PAYLOAD / rate, rel=1e-3)
    assert alone(far, 1_000_000) > alone(near, 1_000_000) + 0.5
    # Opened on the far one, the near one begins after two round trips there and two of its own.
    both = earliest(Network("both", (far, near), None), 1_000_000)
    assert alone(near, 1_000_000) + 0.2 < both < alone(near, 1_000_000) + 2 * 0.2 + 0.02


def test_what_no_sender_could_is_said() -> None:
    far_first = Network("far first", (Link(1e6, 0.4, 100), Link(20e6, 0.02, 40)), None)
    load = Load(file=1_000_000)
    timed = [Timed(far_first, Policy("default"), load, time, [9.0, 0.55]) for time in (1.4, 0.5)]
    timed.append(Timed(far_first, Policy("default"), load, 5.0, [9.0, 4.0]))
    rows = {row["beside"]: row for row in times(timed)}
    assert (rows["best path"]["late"], rows["best path"]["excused"]) == (2, 1)
    assert (rows["first path"]["late"], rows["first path"]["excused"]) == (0, 0)


def test_what_only_the_join_makes_late_is_said() -> None:
    slow_first = Network("slow first", (Link(1e6, 0.1, 100), Link(20e6, 0.02, 40)), None)
    assert joins(slow_first) == pytest.approx([0, 0.22])
    load = Load(file=5_000_000)
    # TCP takes 3 s on the second path, 3.22 s once that has been joined; the line would have it there after 2.3.
    timed = [Timed(slow_first, Policy("default"), load, time, [50.0, 3.0]) for time in (3.1, 3.3, 3.5)]
    assert timed[0].joined == pytest.approx(3.22)
    rows = {row["beside"]: row for row in times(timed)}
    assert (rows["best path"]["late"], rows["best path"]["excused"], rows["best path"]["join"]) == (2, 0, 1)
    # On the first one nothing has to be joined.
    assert Timed(slow_first, Policy("default"), load, 3.0, [2.0, 1.9]).joined == 2.0


def test_what_options_make_late_is_said() -> None:
    full = Network("full", (Link(4.25e6, 0.02, 10), Link(4.25e6, 0.03, 10)), None)
    blocks = Load(rate=4e6)
    late = [
        Timed(full, Policy("default"), blocks, time, [0.1, 0.3], with_options=[0.4, 0.2]) for time in (0.15, 0.2, 0.3)
    ]
    timed = [*late, Timed(full, Policy("default"), blocks, 0.1, [0.1, 0.3])]
    (row,) = times(timed)
    assert (row["late"], row["excused"], row["join"], row["with_options"]) == (3, 0, 0, 2)
    file = Timed(full, Policy("default"), Load(file=30_000), 0.35, [0.1, 0.3], with_options=[0.4, 0.2])
    assert times([file])[0]["with_options"] == 1, "on the first path"


def test_late_ones_are_held_against_one_path_with_options() -> None:
    # Blocks of 4 Mb/s are 4.19 Mb/s with TCP's headers, and 4.25 with the options of mappings.
    line = Network("line", (Link(4.22e6, 0.03, 10), Link(20e6, 0.4, 200)), None)
    blocks, far = Load(rate=4e6), Policy("far", {"paths": ["path2"]})
    fast = Network("fast", (Link(20e6, 0.03, 40), Link(20e6, 0.03, 40)), None)
    late, sound = short([line, fast], [far], [blocks], seeds=1, workers=1, quiet=True)
    assert late.is_late
    assert late.with_options[0] > 2 * late.alone[0], "a line that options fill"
    assert late.with_options[1] < 1.1 * late.alone[1]
    assert not sound.is_late
    assert not sound.with_options, "nobody asks"


def test_a_survey_holds_policies_against_each_path() -> None:
    ours, old = survey([SMALL], [Policy("default"), policy("historical")], workers=1, quiet=True)
    assert list(ours.alone) == list(old.alone)
    assert ours.alone[0] > ours.alone[1] > 0
    assert ours.best == max(ours.alone)
    assert 0.95 < ours.of_best < 2
    assert ours.of_oracle <= 1.001
    figures = distribution([ours])
    assert figures["networks"] == 1
    assert figures["below_0.95"] == 0
    assert "of plain TCP over the best path" in sentence(ours)


def test_the_command_writes_the_worst_networks_as_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["survey", "--networks", "1", "--seed", "12", "--seeds", "1", "--quiet"]
    assert main([*arguments, "--output", str(tmp_path), "--json"]) == 0
    (figures,) = json.loads(capsys.readouterr().out)
    assert (figures["policy"], figures["networks"]) == ("default", 1)
    table = pq.read_table(tmp_path / "survey.parquet").to_pylist()
    assert table[0]["of_best"] == pytest.approx(figures["worst"])
    scenario = Scenario.load(tmp_path / "worst" / "default-01.toml")
    assert scenario.run(1).flow("flow")["goodput"] / table[0]["best_path"] == pytest.approx(figures["worst"], rel=0.2)


def test_more_runs_are_for_networks_that_the_first_leave_open() -> None:
    wide = Network("wide", (Link(4e6, 0.02, 40), Link(4e6, 0.02, 40, loss=0.001)), 400_000)
    beside = Network("beside", (Link(8e6, 0.02, 40), Link(1e6, 0.4, 10, loss=0.02)), 200_000)
    found = survey([SMALL, wide, beside], [Policy("default")], seeds=4, workers=1, quiet=True)
    assert [one.runs for one in found] == [1, 2, 4]


def test_an_interrupted_survey_keeps_what_is_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(networks: list[Network], policies: list[Policy], **_: object) -> Iterator[Measured]:
        yield from survey(networks[:1], policies, seeds=1, workers=1, quiet=True)
        raise Interrupted(Runs([]), 1)

    monkeypatch.setattr("mptcplab.survey.measure.survey", interrupted)
    assert main(["survey", "--networks", "3", "--seed", "12", "--quiet", "--output", str(tmp_path)]) == 130
    output = capsys.readouterr().err
    assert f"interrupted after 1 of 3 networks; 1 finished networks are in {tmp_path}/" in output
    assert pq.read_table(tmp_path / "survey.parquet").num_rows == 1


def test_the_command_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["survey", "--kind", "wild"]) == 2
    assert main(["survey", "--kind", "jitter", "--kind", "burst"]) == 2
    assert "choose from bulk, burst, jitter, competing" in capsys.readouterr().err
    assert main(["survey", "--policy", "fast"]) == 2
    assert "unknown policy 'fast'" in capsys.readouterr().err


def test_a_hunt_only_becomes_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mptcplab.survey.worst_case.DRAWN", 2)
    monkeypatch.setattr("mptcplab.survey.worst_case.CHANGED", 1)
    monkeypatch.setattr(
        "mptcplab.survey.worst_case.draw", lambda _, number: Network(f"n{number}", SMALL.links, 200_000)
    )
    found = [one.of_best for one in search_worst(Policy("default"), 0.5, seeds=1, workers=1)]
    assert found
    assert found == sorted(found, reverse=True)


def test_what_a_hunt_finds_counts_as_other_seeds_say(monkeypatch: pytest.MonkeyPatch) -> None:
    lossy = Network("lossy", (Link(20e6, 30e-3, 60, 0.005), Link(5e6, 60e-3, 60, 0.01)), 300_000)
    monkeypatch.setattr("mptcplab.survey.worst_case.DRAWN", 1)
    monkeypatch.setattr("mptcplab.survey.worst_case.draw", lambda *_: lossy)
    found = next(search_worst(Policy("default"), 30, seeds=2, workers=1))
    assert found.runs == 10
    (other,) = survey([lossy], [Policy("default")], seeds=2, workers=1, quiet=True)
    assert found.goodput != other.goodput
    assert remeasure(lossy, Policy("default"), range(3, 13), workers=1) == found


def test_what_is_late_or_may_be_is_doubtful() -> None:
    lossy, sound = Network("l", (Link(20e6, 30e-3, 60, 0.005),), None), Network("s", SMALL.links[:1], None)
    load = Load(rate=1e6)

    def doubtful(time: float, errors: tuple[float, ...], network: Network = lossy) -> bool:
        return Timed(network, Policy("default"), load, time, [1.0], 5, errors).is_doubtful

    assert doubtful(0.92, ())
    assert not doubtful(0.9, ())
    assert doubtful(0.6, (0.4, 0.1)), "0.6 with an error of 0.25"
    assert not doubtful(0.6, (0.1, 0.1)), "0.6 with one of 0.08"
    assert doubtful(1.6, (0.1, 0.1)), "five seeds may have the same error by chance"
    assert not doubtful(1.1, (0.4, 0.1), sound)


def test_a_flow_below_its_best_path_is_warned_of_with_the_cause() -> None:
    paths = {
        "dsl": {"rate": "50Mbit", "rtt": "20ms", "queue": "50ms"},
        "lte": {"rate": "30Mbit", "rtt": "60ms", "jitter": "15ms", "queue": "1s"},
    }
    buffers = {"rcvbuf": "900KB", "sndbuf": "900KB"}
    for keys, warned in (({}, False), (HISTORICAL, True)):
        run = Scenario(duration="15s", warmup="5s", sample="1s", paths=paths, flows={"bulk": buffers | keys}).run()
        output = summary(run, {"bulk": {"dsl": 47.8e6, "lte": 28.7e6}})
        assert ("slower than plain TCP over dsl alone" in output) is warned
        assert ("(M2) had halved its window" in output) is warned


def test_files_are_held_against_the_first_path_and_long_ones_against_the_best() -> None:
    slow_first = Network("slow first", (Link(1e6, 0.1, 20), Link(8e6, 0.02, 40)), 400_000)
    loads = [Load(file=20_000), Load(file=2_000_000), Load(rate=2e6), Load(rate=7e6)]
    found = list(short([slow_first], [Policy("default")], loads, seeds=1, workers=1, quiet=True))
    assert [str(one.load) for one in found] == ["20 kB", "2 MB", "blocks at 2 Mb/s"], "7 Mb/s is more than it carries"
    first, second, blocks = found
    assert not first.load.is_long(slow_first)
    assert second.load.is_long(slow_first)
    assert second.of_first < 0.2 < 0.9 < second.of_best
    assert second.least < second.time < 1.2 * second.least
    # The path that is opened on is too slow for these blocks: they wait there for most of the run.
    assert blocks.alone[0] > 1 > 0.1 > blocks.time
    rows = times(found)
    assert [(row["load"], row["beside"], row["networks"]) for row in rows] == [
        ("20 kB", "first path", 1),
        ("20 kB", "best path", 0),
        ("2 MB", "first path", 1),
        ("2 MB", "best path", 1),
        ("blocks at 2 Mb/s", "best path", 1),
    ]
    assert rows[3]["worst"] == second.of_best


ENDS = """
duration = "30s"
sample = "1s"
[paths.path1]
rate = "8Mbit"
rtt = "20ms"
queue = "40p"
[flows.flow]
transport = "tcp"
blocks = "8192B"
rate = "2Mbit"
[[events]]
at = "AT"
path = "path1"
set = { up = false }
"""


def test_blocks_that_never_come_count() -> None:
    """Of 610 blocks that are due in the 20 s six may be missing; those took until the end at least."""
    load = Load(rate=2e6)
    whole = load.time(Scenario.parse(ENDS.replace("AT", "29s")).run())
    assert 0.01 < whole < 0.1
    few = Scenario.parse(ENDS.replace("AT", "24.9s")).run()
    written, _ = few.block_columns(0)
    assert 24.8 < written[-1] < 24.95, "three are missing"
    assert load.time(few) == pytest.approx(whole, rel=0.1)
    assert math.isinf(load.time(Scenario.parse(ENDS.replace("AT", "24.5s")).run()))
    assert math.isinf(load.time(Scenario.parse(ENDS.replace("AT", "4s")).run())), "only the opening came"
    assert math.isinf(load.time(Scenario.parse(ENDS.replace("AT", "0s")).run())), "nothing came"


def test_a_missing_block_took_until_the_end() -> None:
    """Five of 610 never arrived, which is allowed, and four took longer than the others so far."""
    interval = 8 * 8192 / 2e6
    due = np.arange(0, 25, interval)

    class Few:
        flow_names = ("flow",)

        def block_columns(self, _: int) -> tuple[Floats, Floats]:
            came = due[:-5]
            return came, np.where(came >= came[-4], 9.0, 0.02)

    assert Load(rate=2e6).time(cast("Run", Few())) == pytest.approx(5.1, rel=0.02)
    due += 10
    assert Load(rate=2e6).time(cast("Run", Few()), 10) == pytest.approx(5.1, rel=0.02), "a flow that began at 10 s"


def test_a_mean_near_the_limit_is_asked_again() -> None:
    lossy = Network("lossy", (Link(10e6, 0.02, 40, 0.001), Link(5e6, 0.02, 40)), None)
    file, rate = Load(file=30_000), Load(rate=1e6)

    def doubtful(network: Network, load: Load, time: float) -> bool:
        return Timed(network, Policy("default"), load, time, [1.0, 2.0]).is_doubtful

    assert [doubtful(lossy, file, time) for time in (0.9, 0.92, 1.2, 1.22)] == [False, True, True, True]
    assert doubtful(lossy, rate, 1.0)
    assert not doubtful(lossy, rate, 0.5)
    assert not doubtful(SMALL, file, 1.0), "there is no chance"


def test_doubtful_ones_have_four_times_as_many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    lossy = Network("lossy", (Link(10e6, 0.02, 40, 0.01), Link(5e6, 0.02, 40)), None)
    monkeypatch.setattr("mptcplab.survey.short_flows.DOUBT", 100.0)
    (asked,) = short([lossy], [Policy("default")], [Load(file=30_000)], seeds=2, workers=1, quiet=True)
    monkeypatch.setattr("mptcplab.survey.short_flows.DOUBT", 0.01)
    (once,) = short([lossy], [Policy("default")], [Load(file=30_000)], seeds=2, workers=1, quiet=True)
    monkeypatch.setattr("mptcplab.survey.short_flows.DOUBT", 100.0)
    (sure,) = short([SMALL], [Policy("default")], [Load(file=30_000)], seeds=2, workers=1, quiet=True)
    assert (asked.runs, once.runs, sure.runs) == (8, 2, 1)


def test_what_neither_carries_is_not_measured() -> None:
    never = Timed(SMALL, Policy("default"), Load(rate=1e6), math.inf, [math.inf, math.inf])
    late = Timed(SMALL, Policy("default"), Load(rate=1e6), math.inf, [0.1, math.inf])
    assert times([never]) == [
        {"policy": "default", "load": "blocks at 1 Mb/s", "beside": "best path", "networks": 0, "not_measured": 1}
    ]
    (row,) = times([never, late])
    assert (row["networks"], row["not_measured"], row["late"], row["worst"]) == (1, 1, 1, math.inf)


def test_the_command_says_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = [Timed(SMALL, Policy("default"), Load(rate=1e6), math.inf, [0.1, 0.2])]
    monkeypatch.setattr("mptcplab.survey.short_flows.short", lambda *_, **__: found)
    assert main(["survey", "--networks", "1", "--blocks", "1Mbit"]) == 0
    output = capsys.readouterr().out
    assert "latency of 8 KiB blocks after the first 5 s, divided by that of plain TCP" in output
    assert "not measured" in output
    [*_, values, legend] = output.splitlines()
    assert values.split()[-1] == "never"
    assert legend.startswith("infeasible: ")
    with pytest.raises(SystemExit):
        main(["survey", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "after the first 5 s" in told
    assert [kind for kind in KINDS if kind not in told] == []


def test_the_command_tells_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["survey", "--networks", "2", "--seeds", "1", "--quiet", "--output", str(tmp_path)]
    assert main([*arguments, "--files", "10kB,30kB"]) == 0
    output = capsys.readouterr().out
    assert "completion time, divided by that of plain TCP" in output
    assert output.count("first path") == 2
    assert pq.read_table(tmp_path / "short.parquet").num_rows == 4
    assert main([*arguments, "--blocks", "1Mbit", "--json"]) == 0
    assert [row["beside"] for row in json.loads(capsys.readouterr().out)] == ["best path"]
    with pytest.raises(SystemExit):
        main([*arguments, "--blocks", "8"])
    assert "'8' is not a rate" in capsys.readouterr().err


def test_what_follows_a_change_is_measured_by_itself() -> None:
    # The faster path is slow for a while: Multipath TCP goes on over the other one and comes back.
    fades = Link(8e6, 0.02, 40, changes=(Change(12, rate=1e5), Change(20, rate=8e6)))
    (one,) = survey([Network("fades", (fades, Link(2e6, 0.05, 20)))], [Policy("default")], quiet=True)
    assert len(one.after) == 2
    assert one.least == min(one.of_best, *one.after)
    assert 0 <= one.silence < 18
    assert 0 <= one.back < 10
    (steady,) = survey([SMALL], [Policy("default")], quiet=True)
    assert (steady.after, steady.least) == ((), steady.of_best)
    figures = distribution([one])
    assert figures["silent"] == (one.silence > 2)
    assert figures["left_unused"] == (one.back > 3)
    assert "In the 10 s after each change" in sentence(one)
    assert "silent" not in distribution([steady])
