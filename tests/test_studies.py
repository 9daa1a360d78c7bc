"""The studies run, judge and report. Their results are tested elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Run
from mptcplab.cli import main as commands
from mptcplab.reproduce import verdict_record
from mptcplab.reproduce.runner import Reproduction, reproduce
from mptcplab.stats import formulas
from mptcplab.studies import STUDIES
from mptcplab.studies.abdrabou_heterogeneous import network as pairs
from mptcplab.studies.base import Effort, Experiment, Key
from mptcplab.studies.cs244_rcvbuf.network import MAIN, mptcp, paths
from mptcplab.studies.ro_bottleneck import cause, contest, network
from mptcplab.studies.ucl_wifi import figures, mobility, sharing
from mptcplab.studies.ucl_wifi.network import DUAL, Setup, interface, mbps, single
from mptcplab.studies.verdicts import VERDICTS

KEYS = [
    "study", "experiment", "fact", "origin", "statement", "published", "measured", "verdict", "reason", "checks",
    "quotes",
]  # fmt: skip
EXPERIMENTS = [experiment for study in STUDIES.values() for experiment in study.experiments]


@pytest.fixture(scope="module")
def found() -> Reproduction:
    return reproduce(list(STUDIES.values()), Effort("quick"), quiet=True)


def test_every_agreed_fact_is_judged(found: Reproduction) -> None:
    judged = [fact.fact for fact in found.facts]
    assert len(judged) == len(set(judged))
    gone = {"A-2.9", "C-1.2"}
    assert set(judged) == set(verdict_record.agreed()) - gone


def test_facts_are_complete(found: Reproduction) -> None:
    for fact in found.facts:
        assert fact.verdict in VERDICTS
        assert fact.statement
        assert fact.published
        assert fact.measured
        assert "nan" not in fact.measured
        assert fact.checks, f"{fact.fact} has a verdict without a check"
        assert (fact.verdict == "contradicted") == (fact.exclusion is not None)


def test_no_bound_is_wider_than_the_agreed_one(found: Reproduction) -> None:
    assert verdict_record.too_wide(verdict_record.rows(found.facts)) == []


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
            enough = 3 if experiment.study == "ro-bottleneck" else 5  # there a run takes minutes of 100 Mb/s
            assert not random[key] or len(several) >= enough, (experiment.name, key)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: f"{experiment.study}-{experiment.name}")
def test_a_block_of_seeds_is_that_block_and_no_more(experiment: Experiment) -> None:
    seeds: dict[Key, set[int]] = {}
    for point in experiment.points(Effort("default", first=21, exactly=7, times=2)):
        seeds.setdefault(point.key, set()).add(point.seed)

    def stands_beside(key: Key) -> bool:
        if key[0] in cause.CONTROLLERS:
            return not cause.is_judged(str(key[0]), int(key[1]))
        return key[0] in contest.CONTROLS.values()

    # Study D's controls decide nothing, and have fewer.
    block, few = set(range(21, 28)), set(range(21, 21 + network.CONTROL_SEEDS))
    controls = {key for key in seeds if experiment.study == network.NAME and stands_beside(key)}
    assert {key: some for key, some in seeds.items() if some != (few if key in controls else block)} == {}


def test_the_report(
    found: Reproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The fixture provides the runs.
    monkeypatch.setattr("mptcplab.reproduce.runner.reproduce", lambda *_, **__: found)
    assert commands.main(["reproduce", "--quick", "--output", str(tmp_path / "out")]) == 0
    assert "cs244-rcvbuf:" in capsys.readouterr().out
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    assert all(list(fact) == KEYS for fact in facts)
    assert any(fact["verdict"] == "fails" for fact in facts)
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
    """Retransmitted segments relative to sent segments, both over the whole run (a row's bytes exclude the warm-up)."""
    _, again = run.series("retransmits", flow=flow, path=path)
    _, rates = run.series("throughput", flow=flow, path=path)
    return float(again[-1] * formulas.MSS * 8 / rates.sum())


def test_coupling_takes_one_share_on_one_queue_and_two_by_ports() -> None:
    effort = Effort("default")
    ratios = {name: contest.ratio(network.scenario(network.VARIANTS[name], effort).run()) for name in network.VARIANTS}
    assert ratios["LIA"] < 1.2
    assert ratios["no coupling"] > 1.4
    assert ratios["LIA, ports in turn"] == pytest.approx(2, abs=0.1)
    assert ratios["no coupling, ports in turn"] == pytest.approx(2, abs=0.1)


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


def test_the_spike_of_the_window_s_curve_lasts_until_wifi_loses() -> None:
    """As the caption says: 7.4 Mb/s at 175 KB for as long as the study measures, then what its neighbours have."""
    rates = {}
    for size in (165, 175, 180):
        run = mptcp(paths(MAIN), "none", size).vary({"duration": "100s"}).run(trace="loss")
        lost = [row["time_s"] for row in run.events.to_pylist() if row["path"] == "wifi" and row["time_s"] > 1]
        assert (40 < lost[0] < 45) if size == 175 else (5 < lost[0] < 10), lost
        times, goodput = run.series("goodput", flow="bulk")
        rates[size] = [goodput[(times > start) & (times <= start + 30)].mean() / 1e6 for start in (10, 60)]
    assert rates[175][0] > 7 > 5 > max(rates[165][0], rates[180][0])
    assert rates[175][1] == pytest.approx((rates[165][1] + rates[180][1]) / 2, rel=0.2)


def test_with_small_buffers_only_small_queues_leave_something_to_wifi() -> None:
    def share(stack: pairs.Stack) -> float:
        return pairs.share(pairs.Setup("802.11g", buffer=20, stack=stack).scenario().run())

    assert share("two packets") > 25
    assert share("128 KB") < 20


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
    run = Setup("apart", "download", singles=(), seconds=15).scenario().run()
    found = figures.split(run, 2.0)
    assert len(found) == 5
    assert ((found >= 0.5) & (found <= 1)).all()
    one = Setup("apart", "download", singles=(), seconds=15, station={"rate": "6Mbit"}).scenario()
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
