"""The studies run, judge and report. What they find is their own business, and that of the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Run, models
from mptcplab.reproduce import Reproduction, reproduce
from mptcplab.statistics import Estimate
from mptcplab.studies import STUDIES
from mptcplab.studies.abdrabou_heterogeneous import network as pairs
from mptcplab.studies.abdrabou_heterogeneous import parts
from mptcplab.studies.abdrabou_heterogeneous import single as alone
from mptcplab.studies.base import Effort, Experiment, Key, assume
from mptcplab.studies.cs244_rcvbuf.network import READINGS, judge
from mptcplab.studies.ro_bottleneck import contest, network
from mptcplab.studies.ucl_wifi import figures, mobility, sharing
from mptcplab.studies.ucl_wifi.network import DUAL, Setup, interface, mbps, single

KEYS = ["study", "experiment", "fact", "statement", "published", "measured", "verdict", "reason"]
EXPERIMENTS = [experiment for study in STUDIES.values() for experiment in study.experiments]


@pytest.fixture(scope="module")
def found() -> Reproduction:
    return reproduce(list(STUDIES.values()), Effort("quick"), quiet=True)


def test_every_published_fact_is_judged(found: Reproduction) -> None:
    judged = {fact.fact for fact in found.facts}
    wanted = {"A-1": 6, "A-2": 5, "A-3": 4, "C-1": 5, "C-2": 3, "C-3": 3, "C-4": 1, "D-1": 5, "D-2": 3, "D-5": 3}
    wanted |= {"B-1": 4, "B-2": 3, "B-3ab": 4, "B-3c": 4, "B-4": 5}
    wanted |= {"E-1": 3, "E-2": 2, "E-3": 2, "E-4": 2, "E-5": 3, "E-6": 3, "E-7": 2, "E-8": 5, "E-9": 5, "E-10": 2}
    wanted |= {"E-11": 2, "E-12": 4}
    for group, last in wanted.items():
        for number in range(1, last + 1):
            assert f"{group}.{number}" in judged
    assert {"B-5", "C-1.6a", "C-1.6b"} <= judged
    assert {"D-3.1", "D-3.2", "D-3.3a", "D-3.3b", "D-3.4", "D-4.1a", "D-4.1b", "D-4.1c"} <= judged


def test_facts_are_complete(found: Reproduction) -> None:
    for fact in found.facts:
        assert fact.verdict in ("holds", "fails", "contradicted")
        assert fact.statement
        assert fact.published
        assert fact.measured
        assert "nan" not in fact.measured
        assert fact.verdict != "contradicted" or fact.reason


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: f"{experiment.study}-{experiment.name}")
def test_more_effort_means_more_runs(experiment: Experiment) -> None:
    quick, default, full = (len(list(experiment.points(Effort(name)))) for name in ("quick", "default", "full"))
    assert 0 < quick <= default <= full


def test_where_something_is_random_five_seeds_or_more() -> None:
    for experiment in EXPERIMENTS:
        seeds: dict[Key, set[int]] = {}
        random: dict[Key, bool] = {}
        for point in experiment.points(Effort("default")):
            seeds.setdefault(point.key, set()).add(point.seed)
            random[point.key] = re.search(r'loss = "0*[1-9.]', point.scenario.to_toml()) is not None
        for key, several in seeds.items():
            assert not random[key] or len(several) >= 5, (experiment.name, key)


def test_the_report(cli: Cli, tmp_path: Path) -> None:
    done = cli("reproduce", "--quick", "--output", "out", expect=None)
    assert "cs244-rcvbuf:" in done.stdout
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert all(list(fact) == KEYS for fact in facts)
    assert done.returncode == int(any(fact["verdict"] == "fails" for fact in facts))
    page = (tmp_path / "out" / "index.html").read_text()
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert page.count("<figure>") == len(list((tmp_path / "out" / "figures").glob("*.svg"))) >= 10
    assert all(fact["fact"] in page for fact in facts)


def test_one_study_alone_and_the_same_report_twice(cli: Cli, tmp_path: Path) -> None:
    for name, workers in (("one", "1"), ("two", "2")):
        cli("reproduce", "cs244-wireless", "--quick", "--workers", workers, "--output", name, "--quiet", expect=None)
    first, second = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert first == second
    assert {fact["study"] for fact in json.loads(first["facts.json"])} == {"cs244-wireless"}


def test_judging_readings_that_exclude_each_other() -> None:
    first, second = READINGS
    assert judge({first: True, second: True}) == ("holds", "")
    assert judge({first: False, second: False})[0] == "fails"
    verdict, reason = judge({first: True, second: False})
    assert verdict == "contradicted"
    assert f"queues of {first} meet" in reason


def test_judging_where_the_source_is_silent() -> None:
    assert assume({"cubic": True, "lia": False}, "cubic", "the default") == (
        "holds",
        "Judged with cubic: the default. Not met with lia.",
    )
    assert assume({"cubic": False, "lia": True}, "cubic", "the default")[0] == "fails"


def test_judging_where_paper_and_theory_exclude_each_other() -> None:
    held = {"LIA": False, "Reno on each subflow": True}
    verdict, reason = contest.judge(held, contest.THEORY)
    assert verdict == "contradicted"
    assert "Met with: Reno on each subflow. Not met with: LIA." in reason
    assert "Explanation:" in reason
    assert contest.judge(held, "")[0] == "fails"
    assert contest.judge({"LIA": False, "Reno on each subflow": False}, contest.THEORY)[0] == "fails"
    assert contest.judge({"LIA": True, "Reno on each subflow": False}, contest.THEORY)[0] == "holds"


@pytest.mark.parametrize(
    ("means", "does"),
    [([2.0, 1.5, 1.0], True), ([2.0, 1.0, 1.15], True), ([2.0, 1.0, 1.4], False), ([1.0, 1.0, 1.0], False)],
)
def test_falling_means_never_rising_beyond_the_intervals(means: list[float], does: bool) -> None:
    assert contest.falls({at: Estimate(mean, 0.1, 5) for at, mean in enumerate(means)}) is does


def test_the_shared_bottleneck_delays_and_loses_where_it_should() -> None:
    lia, effort = network.VARIANTS["LIA"], Effort("quick")
    run = network.scenario(lia, effort, rtt=200, one_sided=True).run()
    first, second = (run.path(path, "mptcp") for path in (network.FIRST, network.SECOND))
    assert first is not None
    assert second is not None
    assert 0.2 <= first["mean_srtt_s"] < 0.25
    assert second["mean_srtt_s"] < 0.02
    assert run.path(network.SINGLE, "tcp") is not None
    lossy = network.scenario(lia, effort, loss=0.03, one_sided=True).run()
    lost = [lost_share(lossy, *row) for row in (("mptcp", "nic1"), ("mptcp", "nic2"), ("tcp", "nic"))]
    assert lost[0] == pytest.approx(0.03, rel=0.2)
    assert max(lost[1:]) < 0.01


def lost_share(run: Run, flow: str, path: str) -> float:
    """Segments sent again to segments sent, both over the whole run (a row's bytes leave the warm-up out)."""
    _, again = run.series("retransmits", flow=flow, path=path)
    _, rates = run.series("throughput", flow=flow, path=path)
    return float(again[-1] * models.MSS * 8 / rates.sum())


def test_coupling_takes_one_share_and_none_two() -> None:
    effort = Effort("default")
    ratios = {name: contest.ratio(network.scenario(network.VARIANTS[name], effort).run()) for name in network.VARIANTS}
    assert ratios["LIA"] < 1.2
    assert ratios["Reno on each subflow"] > 1.4
    assert ratios["LIA, ports in turn"] == pytest.approx(2, abs=0.1)


def test_each_pair_uses_the_wifi_of_all_and_a_link_of_its_own() -> None:
    run = pairs.Setup().scenario().run()
    for pair in pairs.PAIRS:
        used = {row["path"] for row in run.flow(f"pair{pair}")["paths"] if row["bytes_acked"]}
        assert used == {f"wifi{pair}", f"own{pair}"}
        assert pairs.transfer_time(run, pair) < run.scenario.duration
    assert pairs.wifi(run) + pairs.dedicated(run) == pytest.approx(pairs.total(run))
    assert pairs.share(run) == pytest.approx(100 * pairs.wifi(run) / pairs.total(run))
    alone = pairs.Setup(dedicated=None).scenario().run()
    assert pairs.dedicated(alone) == 0


def test_what_6_mbit_carry_by_each_reading() -> None:
    """By the DCF model 4.6 to 4.85 Mb/s of TCP at that PHY rate; headers alone take from a token bucket."""
    rates = {
        reading: pairs.total(pairs.Setup(wifi=False, dedicated=reading).scenario().run()) for reading in pairs.READINGS
    }
    assert rates["PHY rate"] == pytest.approx(4.7, rel=0.05)
    assert rates["token bucket"] == pytest.approx(6 * 1428 / 1514, rel=0.02)


def test_with_small_buffers_only_small_queues_leave_something_to_wifi() -> None:
    def share(stack: pairs.Stack) -> float:
        return pairs.share(pairs.Setup("802.11g", buffer=20, stack=stack).scenario().run())

    assert share("two packets") > 25
    assert share("128 KB") < 20


def test_figures_of_one_study_exclude_each_other_only_where_both_are_met() -> None:
    held: dict[tuple[str, int], bool] = {
        (reading, buffer): buffer == alone.SMALL for reading in pairs.READINGS for buffer in alone.BUFFERS
    }
    assert alone.judge(held, 10.0, figure_5=True)[0] == "contradicted"
    assert alone.judge(held, 8.0, figure_5=False)[0] == "fails"
    assert alone.judge(dict.fromkeys(held, False), 10.0, figure_5=True)[0] == "fails"
    assert alone.judge(dict.fromkeys(held, True), 10.0, figure_5=True)[0] == "holds"


@pytest.mark.parametrize(
    ("means", "rises", "grows"),
    [([1.0, 1.5, 2.0], True, True), ([1.0, 2.0, 1.9], False, True), ([1.0, 2.0, 1.5], False, False)],
)
def test_rising_at_each_step_and_growing_within_the_intervals(means: list[float], rises: bool, grows: bool) -> None:
    row = {at: Estimate(mean, 0.1, 5) for at, mean in enumerate(means)}
    assert parts.rises(row) is rises
    assert parts.grows(row) is grows


def test_coupled_is_fair_downlink_and_not_uplink() -> None:
    share = {}
    for way in ("upload", "download"):
        setup = sharing.setup_of("apart", way, "lia", Effort("default"))
        runs = setup.scenario().runs([1, 2, 3])
        flows = [sum(mbps(flow)(run) for run in runs) for flow in (DUAL, single("1"), single("2"))]
        share[way] = flows[0] / sum(flows)
    assert share["upload"] > 0.46
    assert share["download"] < 0.41


def test_the_split_of_the_traffic_is_the_larger_part() -> None:
    run = Setup("apart", "download", singles=(), seconds=20).scenario().run()
    found = figures.split(run, 2.0)
    assert len(found) == 5
    assert ((found >= 0.5) & (found <= 1)).all()
    one = Setup("apart", "download", singles=(), seconds=20, station={"rate": "6Mbit"}).scenario()
    faster = one.vary({f"stations.{interface('2')}.rate": "54Mbit"}).run()
    assert figures.split(faster, 2.0).mean() > 0.7


def test_the_walk_goes_from_one_access_point_to_the_other_and_back() -> None:
    places = [mobility.place(time) for time in (0, 29, 35, 45, 75, 100, 115, 149)]
    assert places == [-4, -4, -2, 0, 2, 4, 2, 0]
    run = mobility.walk(mobility.MAIN).run()
    shares = [mobility.share_at(run, stop) for stop in range(4)]
    assert shares[0] > 0.8
    assert shares[2] < 0.2
    assert shares[1] == pytest.approx(0.5, abs=0.15)
    assert shares[3] == pytest.approx(0.5, abs=0.15)
    assert mobility.longest_silence(run) <= 2
