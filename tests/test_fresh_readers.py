"""Regression tests from a usability review: wrong causes in summaries, and errors without a solution."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.cli.commands.example import FOLDER
from mptcplab.emulation.links import plain_tcp_in_words
from mptcplab.host.machine import Interface, Interfaced
from mptcplab.host.setup_plan import CannotPrepare, check_gateway
from mptcplab.results.model import events
from mptcplab.results.run import Runs
from mptcplab.results.text import repeated_runs
from mptcplab.results.text.summary import summary
from mptcplab.why.explain import explain
from mptcplab.why.figure import mean_limits, picture

UNEQUAL = """
duration = "12s"
warmup = "2s"
[paths.near]
rate = "20Mbit"
delay = "10ms"
[paths.far]
rate = "5Mbit"
delay = "100ms"
[flows.f]
stack = "linux"
sndbuf = "{send}"
rcvbuf = "{receive}"
"""


@pytest.mark.parametrize(
    ("send", "receive", "full", "other"),
    [("100kB", "4MB", "send_buffer", "receive_window"), ("4MB", "200kB", "receive_window", "send_buffer")],
)
def test_the_buffer_that_is_full_is_named(send: str, receive: str, full: str, other: str) -> None:
    """The oldest data is on the path with the long delay; only the full buffer is the cause."""
    run = Scenario.parse(UNEQUAL.format(send=send, receive=receive)).run(trace=events.REASONS)
    far = run.path("far")
    assert far is not None
    for limits in (far["sender_limits"], far["limits"]):
        assert limits[full] > 0.2, limits
        assert limits[other] < 0.05, limits
    assert f"the {full.replace('_', ' ')} was full" in run.summary() or "head-of-line" in run.summary()


def test_reinjections_count_after_the_warm_up_as_the_rates_next_to_them() -> None:
    text = UNEQUAL.format(send="100kB", receive="4MB").replace('rate = "', 'loss = "1%"\nrate = "')
    run = Scenario.parse(text).run(trace=events.REASONS)
    times, values = run.series("reinjected")
    before = values[times <= 2.0][-1]
    assert before > 0
    assert run.flow("f")["reinjected"] == values[-1] - before > 0
    assert "also queued on another path, as Linux counts reinjections" in run.summary()


def test_one_path_has_no_other_one_to_reinject_on() -> None:
    text = UNEQUAL.format(send="4MB", receive="4MB") + 'paths = ["near"]\n'
    run = Scenario.parse(text.replace('delay = "10ms"', 'delay = "10ms"\nloss = "3%"')).run(trace=events.REASONS)
    assert "another path" not in run.summary()


OUTAGE = """
duration = "20s"
[paths.wifi]
rate = "20Mbit"
delay = "10ms"
queue = "50p"
[paths.lte]
rate = "5Mbit"
delay = "50ms"
queue = "50p"
[[events]]
at = "5s"
path = "wifi"
set = {{ up = false }}
[[events]]
at = "12s"
path = "wifi"
set = {{ up = true }}
[flows.f]
paths = {paths}
{more}
"""


def test_a_silence_names_its_path_and_its_cause() -> None:
    run = Scenario.parse(OUTAGE.format(paths='["wifi"]', more="")).run(trace=events.REASONS)
    row = run.flow("f")
    assert row["longest_silence_s"] > 7
    [path] = row["paths"]
    shares = path["silence"]
    assert sum(shares.values()) == pytest.approx(1, abs=0.02)
    assert shares["down"] == pytest.approx(7 / row["longest_silence_s"], abs=0.05)
    assert re.search(r"although data was waiting: wifi was down for \d+% of that time", run.summary())
    both = Runs([run, run])
    assert "during the longest silence, wifi was down for" in repeated_runs.summary(both, {})


def test_a_silence_on_several_paths_says_what_each_did() -> None:
    """The other path is up, and its data waits at the receiver for the lost data of the first one."""
    text = OUTAGE.format(paths='["wifi", "lte"]', more="opportunistic_retransmission = false")
    text = text.replace("set = { up = false }", 'set = { up = false }\nhow = "blackhole"').replace("20Mbit", "4Mbit")
    run = Scenario.parse(text.replace('queue = "50p"', 'queue = "400p"')).run(trace=events.REASONS)
    row = run.flow("f")
    if row["longest_silence_s"] <= 1:
        pytest.fail(f"no silence: {row['longest_silence_s']}")
    paths = {path["path"]: path["silence"] for path in row["paths"]}
    assert paths["wifi"].get("down", 0.0) > 0.5
    assert sum(paths["lte"].values()) == pytest.approx(1, abs=0.02)
    line = next(line for line in run.summary().splitlines() if "nothing reached" in line)
    assert "wifi was down" in line
    assert "lte" in line.partition("wifi was down")[2]


def test_a_call_that_is_never_late_gets_one_sentence() -> None:
    call = Scenario.load(FOLDER / "call.toml").vary({"duration": "6s", "flows.call.deadline": "2s"})
    [answer] = explain(call, seeds=[1])
    assert answer.tried == []
    [sentence] = answer.sentences()
    assert "0.0% of the flow's blocks arrive after their deadline" in sentence
    assert sentence.endswith("No change is needed, and none was tested.")


def test_a_baseline_that_got_nothing_is_named_with_its_cause(cli: Cli, tmp_path: Path) -> None:
    text = OUTAGE.format(paths='["lte", "wifi"]', more="baselines = true").replace('"12s"', '"19.9s"')
    (tmp_path / "dead.toml").write_text(text.replace('"5s"', '"0s"'))
    for seeds in ("1", "2"):
        output = cli("run", "dead.toml", "--seeds", seeds).stdout
        assert "plain TCP over wifi alone delivered nothing: it never connected: wifi was down" in output
    taken = (tmp_path / "dead.toml").read_text().replace("up = false }", 'up = false }\nhow = "endpoint"')
    (tmp_path / "taken.toml").write_text(taken)
    output = cli("run", "taken.toml").stdout
    assert (
        "plain TCP over wifi alone delivered nothing: it never connected: no handshake was sent, because an event"
        in output
    )
    output = cli("why", "dead.toml", "--seeds", "1").stdout
    assert "Plain TCP over wifi alone delivers nothing: it never connected: wifi was down." in output


def test_plain_tcp_is_no_endpoint_of_multipath_tcp() -> None:
    """`ip mptcp endpoint del` takes nothing from plain TCP: the address stays."""
    text = OUTAGE.format(paths='["wifi"]', more='transport = "tcp"')
    text = text.replace("set = { up = false }", 'set = { up = false }\nhow = "endpoint"')
    row = Scenario.parse(text.replace("set = { up = true }", 'set = { up = true }\nhow = "endpoint"')).run().flow("f")
    assert row["goodput"] > 17e6
    assert row["longest_silence_s"] < 1


SLOWER = """
duration = "20s"
[paths.wifi]
rate = "20Mbit"
delay = "10ms"
[[events]]
at = "10s"
path = "wifi"
set = {{ rate = "{rate}" }}
[flows.call]
blocks = "25kB"
rate = "5Mbit"
"""


@pytest.mark.parametrize(
    ("rate", "lower", "application"),
    [
        # Half of the time 5 of 20 Mb/s, and half of it all of 3 Mb/s, which 20 Mb/s would not have been enough for.
        ("3Mbit", 0.425, 0.37),
        # The link carries all that there is: with its best rate it would be idle for longer.
        ("8Mbit", 0.0, 0.73),
    ],
)
def test_a_slower_link_is_blamed_where_it_carries_less_than_there_is(
    rate: str, lower: float, application: float
) -> None:
    path = Scenario.parse(SLOWER.format(rate=rate)).run(trace=events.REASONS).path("wifi")
    assert path is not None
    assert path["limits"]["lower_rate"] == pytest.approx(lower, abs=0.03)
    assert path["limits"]["application"] == pytest.approx(application, abs=0.03)


def interface(*addresses: str) -> Interface:
    return Interface("eth2", up=True, mtu=1500, direct=False, addresses=tuple(map(_interfaced, addresses)))


def _interfaced(text: str) -> Interfaced:
    return ipaddress.ip_interface(text)


@pytest.mark.parametrize(
    ("gateway", "addresses", "known", "says"),
    [
        ("10.9.9.9", ["192.168.2.7/24"], [], "must be in the subnet of eth2, 192.168.2.0/24 (try eth2=192.168.2.1)"),
        ("10.9.9.9", ["192.168.2.7/24"], ["192.168.2.254"], "(try eth2=192.168.2.254)"),
        ("192.168.2.7", ["192.168.2.7/24"], [], "this is the address of the interface"),
        ("192.168.2.1", ["192.168.2.7/24"], [], None),
        ("172.31.1.1", ["203.0.113.9/32"], [], None),
        ("fe80::1", ["2001:db8::7/64"], [], None),
    ],
)
def test_a_gateway_outside_the_subnet_of_its_interface_is_refused(
    gateway: str, addresses: list[str], known: list[str | None], says: str | None
) -> None:
    device = interface(*addresses)
    told = ipaddress.ip_address(gateway)
    if says is None:
        check_gateway(told, device, device.addresses[0], known)
        return
    with pytest.raises(CannotPrepare, match=re.escape(says)):
        check_gateway(told, device, device.addresses[0], known)


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    path = tmp_path / "slow.toml"
    path.write_text(SLOWER.format(rate="8Mbit").replace("20s", "4s").replace('"10s"', '"2s"'))
    return path


@pytest.mark.usefixtures("slow")
def test_the_capacity_of_links_can_be_swept(cli: Cli) -> None:
    output = cli("sweep", "slow.toml", "--vary", "paths.wifi.rate=10Mbit,20Mbit", "--metric", "capacity,late").stdout
    rows = [line.split() for line in output.splitlines() if line.startswith(("10Mbit", "20Mbit"))]
    assert [row[0] for row in rows] == ["10Mbit", "20Mbit"]
    assert float(rows[0][1]) < float(rows[1][1])
    assert "late was not measured in any run; these runs have" in output


@pytest.mark.usefixtures("slow")
def test_an_unknown_option_has_the_nearest_one_named(cli: Cli) -> None:
    assert "unknown option '--sed'; did you mean --seed?" in cli("run", "slow.toml", "--sed", "3", expect=2).stderr
    output = cli("emulate", "slow.toml", "iperf3", "-c", "server", expect=2).stderr
    assert "unknown option '-c'; write -- before the program" in output


def test_a_capture_that_is_not_there_has_a_near_one_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sender.pcapng").write_bytes(b"")
    output = cli("verify", "sendr.pcapng", expect=2).stderr
    assert output == "mptcplab verify: sendr.pcapng: no such file; did you mean sender.pcapng?\n"
    (tmp_path / "sender.pcapng").unlink()
    assert "no such file; . has no captures" in cli("verify", "sendr.pcapng", expect=2).stderr


def test_a_series_of_paths_needs_one_and_a_series_of_the_flow_none() -> None:
    run = Scenario.parse(OUTAGE.format(paths='["wifi", "lte"]', more="")).run()
    with pytest.raises(ValueError, match=r"cwnd is measured per path; add path=..., one of: wifi, lte"):
        run.series("cwnd")
    with pytest.raises(ValueError, match="send_queue is measured for the whole flow, not on wifi"):
        run.series("send_queue", path="wifi")
    assert run.series("cwnd", path="lte")[1].size
    with pytest.raises(TypeError, match=r"run\(\) has no argument seeds; call runs\(seeds=range\(1, 4\)\)"):
        Scenario.parse(OUTAGE.format(paths='["wifi"]', more="")).run(seeds=3)  # type: ignore[arg-type]


def test_round_trips_end_with_their_flow() -> None:
    text = OUTAGE.format(paths='["lte"]', more='bytes = "1MB"')
    run = Scenario.parse(text).run()
    done = run.flow("f")["completion_s"]
    assert done is not None
    times, _ = run.series("srtt", path="lte")
    assert 0 < times[-1] < done + 0.2
    assert run.series("cwnd", path="lte")[0][-1] > times[-1] or np.isclose(times[-1], done, atol=0.2)


@pytest.mark.usefixtures("slow")
def test_the_names_of_curves_are_in_the_error(cli: Cli) -> None:
    cli("run", "slow.toml", "--output", "res", "--quiet")
    output = cli("cdf", "res", "--metric", "latency", expect=2).stderr
    assert "write DIR:FLOW, because latency is measured per flow: res:call" in output
    output = cli("cdf", "res", expect=2).stderr
    assert "throughput is measured per path: res:wifi, res:total" in output


@pytest.mark.usefixtures("slow")
def test_no_p_value_is_printed_as_zero(cli: Cli) -> None:
    output = cli(
        "sweep", "slow.toml", "--vary", "flows.call.rate=2Mbit,4Mbit", "--seeds", "3", "--compare",
        "flows.call.rate=2Mbit",
    ).stdout  # fmt: skip
    assert "< 0.001" in output
    assert not re.search(r"\s0\s", output.partition("difference")[2].splitlines()[1])


def test_a_cause_has_one_pair_of_brackets() -> None:
    text = OUTAGE.format(paths='["wifi"]', more="").replace('queue = "50p"', 'queue = "2000p"')
    run = Scenario.parse(text).run(trace=events.REASONS)
    assert "(bufferbloat: queueing delay" in summary(run)
    assert ") (" not in summary(run)


def test_the_figure_of_why_is_a_mean_over_its_seeds() -> None:
    two = Scenario.load(FOLDER / "two.toml").vary({"duration": "6s", "paths.lte.loss": "2%"})
    [answer] = explain(two, seeds=[1, 2])
    shown = mean_limits(answer)
    for path, limits in shown.items():
        each = [run.path(path, "download") for run in answer.runs]
        shares = [one["limits"]["bottleneck"] for one in each if one is not None]
        assert limits["bottleneck"] == pytest.approx(sum(shares) / 2)
    assert picture(answer).axes[1].get_xlabel() == "share of time [%]"


@pytest.mark.parametrize(
    ("counted", "says"),
    [
        ({"MPCapableSYNTX": 0}, "plain TCP connections and none with MPTCP"),
        ({"MPCapableSYNTX": 2, "MPCapableSYNACKRX": 0}, "The program of the peer uses plain TCP; try --peer 'mptcpize"),
        ({"MPCapableSYNTX": 2, "MPCapableSYNACKRX": 1}, None),
    ],
)
def test_a_peer_that_speaks_plain_tcp_is_named(counted: dict[str, int], says: str | None) -> None:
    output = plain_tcp_in_words("client", {"Tcp": {"ActiveOpens": 2}, "MPTcpExt": counted})
    assert (output is None) if says is None else output is not None and says in output
