"""Conversion of measurements to recordings: formats of datasets, headers, units, errors, and the replay."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario
from mptcplab.recordings.conversion import convert
from mptcplab.recordings.datasets import DATASETS, Column, Layout
from mptcplab.util.user_input import BadResult

UCC = (
    "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,DL_bitrate,UL_bitrate,"
    "State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,PINGLOSS,CELLHEX,NODEHEX,LACHEX,RAWCELLID,NRxRSRP,NRxRSRQ\n"
)


def ucc(time: str, down: object, up: object, state: str = "D", ping: object = "-") -> str:
    """A made row of the 5G dataset of University College Cork."""
    return f"{time},-8.4,51.8,0,B,11,5G,-95,-12,4,9,-,{down},{up},{state},{ping},-,-,-,-,1,2,3,4,-,-\n"


def written(tmp_path: Path, text: str | bytes, name: str = "measured.csv") -> Path:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def rates(tmp_path: Path, text: str | bytes, layout: Layout) -> list[tuple[float, float]]:
    """Seconds and Mb/s."""
    found = convert(written(tmp_path, text), layout)
    return [(round(row.at, 6), round(row.values["rate"] / 1e6, 6)) for row in found.rows]


def test_the_5g_dataset_becomes_a_recording_that_a_scenario_replays(cli: Cli, tmp_path: Path) -> None:
    rows = [
        ucc("2019.12.14_10.16.29", "-", "-"),
        ucc("2019.12.14_10.16.30", 80000, 900, ping=40),
        ucc("2019.12.14_10.16.30", 60000, 900),
        ucc("2019.12.14_10.16.31", 20000, 700, state="I"),
        ucc("2019.12.14_10.16.32", 10000, 500, ping="60.0"),
        ucc("2019.12.14_10.17.32", 30000, 500),
    ]
    written(tmp_path, b"\xef\xbb\xbf" + (UCC + "".join(rows)).encode())
    done = cli("convert-trace", "measured.csv", "--dataset", "ucc-5g", "--where", "State=D", "--output", "down.csv")
    assert "4 rows" not in done.stdout
    assert "3 rows, 62.0 s, rate, delay" in done.stdout
    assert "1 gaps of more than 10 s, the longest 60 s" in done.stdout
    text = (tmp_path / "down.csv").read_text()
    assert text.splitlines() == [
        f"# Source: {DATASETS['ucc-5g'].source}",
        f"# Licence: {DATASETS['ucc-5g'].licence}",
        "# File: measured.csv, down, columns Timestamp, DL_bitrate, PINGAVG",
        "# Rows: State = D",
        "time_s,rate_mbit,delay_ms",
        "0,70,20",
        "2,10,30",
        "62,30,",
    ]
    cli("convert-trace", "measured.csv", "--dataset", "ucc-5g", "--direction", "up", "--output", "up.csv")
    (tmp_path / "s.toml").write_text(
        'duration = "60s"\n[paths.p]\nforward = { trace = "up.csv" }\nbackward = { trace = "down.csv" }\n'
        'queue = "100p"\n[flows.f]\ndirection = "download"\n'
    )
    loaded = tomllib.loads(Scenario.load(tmp_path / "s.toml").to_toml())
    assert loaded["paths"]["p"]["backward"]["trace"] == "down.csv"


@pytest.mark.parametrize(
    "times",
    [
        ("0", "1", "2.5"),
        ("1700000000", "1700000001", "1700000002.5"),
        ("1700000000000", "1700000001000", "1700000002500"),
        ("1700000000000000000", "1700000001000000000", "1700000002500000000"),
        ("2023-04-04 10:07:09 CDT", "2023-04-04 10:07:10 CDT", "2023-04-04 10:07:11.5 CDT"),
        ("2023-04-04T10:07:09Z", "2023-04-04T10:07:10Z", "2023-04-04T10:07:11.500Z"),
        ("2023-04-04T10:07:09+02:00", "2023-04-04T10:07:10+02:00", "2023-04-04T10:07:11.5+02:00"),
        ("10:07:09", "10:07:10", "10:07:11.5"),
        ("2020.02.13_13.03.24", "2020.02.13_13.03.25", "2020.02.13_13.03.26.5"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_times_of_datasets(tmp_path: Path, times: tuple[str, ...], separator: str) -> None:
    lines = [
        f"when{separator}place{separator}rate",
        *(f'{at}{separator}"x"{separator}{n}' for n, at in enumerate(times, 1)),
    ]
    found = rates(tmp_path, "\n".join(lines), Layout("when", rate=Column("rate", 1e6)))
    assert found == [(0.0, 1.0), (1.0, 2.0), (2.5, 3.0)]


def test_quoted_cells_other_encodings_and_comments(tmp_path: Path) -> None:
    text = b'# a drive\n\ntime,place,mbps\n0,"M\xfcnchen, Hbf",8\n1,x,N/A\n2,x,-999\n3,x,2\n'
    found = convert(written(tmp_path, text), Layout("time", rate=Column("mbps", 1e6)))
    assert [(row.at, row.values["rate"]) for row in found.rows] == [(0.0, 8e6), (3.0, 2e6)]
    assert found.negative == 1
    assert found.mean_rate() == 8e6


def test_probes_become_delay_and_loss_per_step(cli: Cli, tmp_path: Path) -> None:
    begin = 1705744800616897349
    cells = [
        ("40", "20", "20"),
        ("-1", "0", "0"),
        ("0", "0", "-1"),
        ("60", "30", "30"),
        ("0", "-1", "0"),
        ("50", "25", "25"),
    ]
    lines = [f"{begin + at * 250_000_000},{','.join(values)}" for at, values in enumerate(cells)]
    written(tmp_path, "timestamp,rtt,uplink,downlink\n" + "\n".join(lines) + "\n")
    done = cli("convert-trace", "measured.csv", "--dataset", "lens-irtt", "--output", "starlink.csv")
    assert "no rates: give the path a rate in the scenario" in done.stdout
    body = [line for line in (tmp_path / "starlink.csv").read_text().splitlines() if line[0] != "#"]
    assert body == ["time_s,delay_ms,loss_percent", "0,25,50", "1,25,0"]
    assert "# Licence: CC BY-SA 4.0" in (tmp_path / "starlink.csv").read_text()
    cli("convert-trace", "measured.csv", "--dataset", "lens-irtt", "--direction", "up", "--output", "up.csv")
    assert (tmp_path / "up.csv").read_text().splitlines()[-2:] == ["0,25,25", "1,25,50"]
    (tmp_path / "s.toml").write_text(
        'duration = "2s"\n[paths.p]\ntrace = "starlink.csv"\nrate = "100Mbit"\nqueue = "100p"\n[flows.f]\n'
    )
    cli("run", "s.toml")


def test_own_columns_need_units_source_and_licence(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "t;tput;owd;lost\n0;1.5;12000;0.5\n1000;0.5;9000;1\n")
    columns = ("--time", "t=ms", "--rate", "tput=MB/s", "--delay", "owd=us", "--loss", "lost=%")
    about = ("--source", "my drive", "--licence", "CC0 1.0")
    cli("convert-trace", "measured.csv", *columns, *about, "--output", "own.csv")
    assert (tmp_path / "own.csv").read_text().splitlines()[-2:] == ["0,12,12,0.5", "1,4,9,1"]
    for words, says in (
        (columns, "needs --dataset, or --source and --licence"),
        (about, "needs --dataset, or --time COL"),
        (("--time", "t", *about), "needs --rate, --delay, --rtt or --loss"),
        (("--time", "t", "--rate", "tput", *about), "--rate tput: write COL=UNIT with a unit of: bit/s"),
        (("--time", "t", "--rate", "tput=furlong", *about), "unknown unit 'furlong'; choose from: bit/s"),
        (("--time", "t", "--rate", "tputt=MB/s", *about), "unknown column 'tputt'; did you mean tput?"),
        (("--time", "t", "--delay", "owd=us", "--rtt", "owd=us", *about), "--delay and --rtt both give the delay"),
        (("--dataset", "ucc-6g"), "--dataset: unknown dataset 'ucc-6g'; did you mean ucc-"),
    ):
        assert says in cli("convert-trace", "measured.csv", *words, "--output", "no.csv", expect=2).stderr
    assert not (tmp_path / "no.csv").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("time,rate\n", "no row has values"),
        ("time,rate\n0,1\n5,2\n3,1\n", "line 4 with time = '3' is before the line above; sort the file"),
        ("time,rate\nsoon,1\n", "line 2 with time = 'soon': must be a number, an ISO 8601 date"),
        ("time,rate\n0,1\n10:00:00,1\n", "line 3 with time = '10:00:00': must have the format of the first time"),
        ("time,rate\n0,fast\n", "line 2 with time = '0': rate = 'fast' must be a number"),
        ("time,rate\n0,1,2\n", "line 2 has 3 values under 2 columns"),
        ("time,rate\n0,-1\n", "no row has values"),
    ],
)
def test_errors_name_line_and_correction(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadResult) as raised:
        convert(written(tmp_path, text), Layout("time", rate=Column("rate", 1e6)))
    assert says in str(raised.value)


def test_a_long_file_needs_a_step(tmp_path: Path) -> None:
    file = written(tmp_path, "time,rate\n" + "".join(f"{at / 100},{at % 7}\n" for at in range(100_002)))
    layout = Layout("time", rate=Column("rate", 1e6))
    with pytest.raises(BadResult, match=r"100002 rows exceed the maximum of 100000; use --step 0\.01s or more"):
        convert(file, layout)
    found = convert(file, layout, step=1.0)
    assert len(found.rows) == 1001
    assert found.rows[0].values["rate"] == pytest.approx(sum(at % 7 for at in range(100)) * 1e4)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (f"1,2\n{'9' * 400},3\n", r"line 3 with t = '9{40}': is too far from the first time"),
        (f"1,{'9' * 200_000}\n", r"line 2: field larger than field limit"),
        ("1,1e308\n", r"line 2 with t = '1': r = '1e308' is too large"),
        ("1e300,1\n1e308,2\n", r"line 3 .* is too far"),
        ("1,2\0\n", r"r = '2\\x00' must be a number"),
    ],
)
def test_extreme_values_are_errors_with_their_line(tmp_path: Path, rows: str, problem: str) -> None:
    with pytest.raises(BadResult, match=problem):
        convert(written(tmp_path, f"t,r\n{rows}"), Layout("t", rate=Column("r", 1e3)))


def test_seeds_select_the_position_and_policies_do_not(tmp_path: Path) -> None:
    """With equal seeds, all schedulers and controllers replay the recording from the same position."""
    written(tmp_path, "0,1\n" + "".join(f"{at},{1 + at * 7 % 13}\n" for at in range(1, 60)), "walk.csv")
    (tmp_path / "s.toml").write_text(
        'duration = "12s"\nsample = "1s"\n[paths.p]\ntrace = "walk.csv"\ntrace_start = "random"\nqueue = "20p"\n'
        '[paths.q]\nrate = "1Mbit"\nqueue = "20p"\n'
        "[flows.f]\n"
    )
    scenario = Scenario.load(tmp_path / "s.toml")

    def capacity(seed: int, **policies: str) -> float:
        changed = scenario.vary({f"flows.f.{key}": value for key, value in policies.items()})
        return next(row["capacity"] for row in changed.run(seed).link_rows if row["link"] == "p" and row["capacity"])

    found = {seed: capacity(seed) for seed in range(1, 7)}
    assert len(set(found.values())) >= 5
    for policies in ({"scheduler": "roundrobin"}, {"scheduler": "redundant"}, {"congestion": "cubic"}):
        assert {seed: capacity(seed, **policies) for seed in found} == found
