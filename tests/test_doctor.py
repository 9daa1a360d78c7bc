"""`mptcplab doctor`: each output on captures of simulated connections, texts of hosts, and hostile files."""

from __future__ import annotations

import gzip
import json
import os
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import ROOT, Cli
from mptcplab import Scenario
from mptcplab.doctor import charts, connection_charts, host_facts, html_page, ladder, verdict_names, words
from mptcplab.doctor.host_texts import HostText, parse
from mptcplab.doctor.text import text

NETWORK = """
name = "doctor"
duration = "3s"
warmup = "0s"
[paths.wifi]
rate = "10Mbit"
rtt = "20ms"
queue = "40p"
[paths.lte]
rate = "5Mbit"
rtt = "60ms"
queue = "60p"
[flows.file]
direction = "download"
"""

NSTAT = """#kernel
TcpActiveOpens                  1                  0.0
TcpExtTCPSynRetrans             2                  0.0
MPTcpExtMPCapableSYNTX          1                  0.0
MPTcpExtMPCapableSYNTXDrop      1                  0.0
MPTcpExtMPJoinRejected          0                  0.0
MPTcpExtBlackhole               1                  0.0
"""

NETSTAT = """TcpExt: SyncookiesSent TCPTimeouts ListenOverflows
TcpExt: 0 3 7
MPTcpExt: MPCapableSYNRX MPJoinRejected
MPTcpExt: 4 2
"""

SS = """Netid State Recv-Q Send-Q      Local Address:Port  Peer Address:PortProcess
tcp   ESTAB 0      0      192.168.2.10%wwan0:60781    10.87.1.2:5001
\t reno wscale:10,10 rto:228 mss:1448 cwnd:10 tcp-ulp-mptcp flags:Jjecv token:ed3b83ce(id:0)/2bd13e07(id:2)
tcp   ESTAB 0      0            192.168.1.10:57440    10.87.1.2:5001
\t reno wscale:10,10 rto:224 cwnd:10 tcp-ulp-mptcp flags:Mmecv token:0000(id:0)/2bd13e07(id:0)
tcp   ESTAB 0      0            192.168.1.10:22       10.87.1.9:40000
\t cubic wscale:10,10 rto:224
mptcp ESTAB 76032  0            192.168.1.10:57440    10.87.1.2:5001
\t subflows_max:4 add_addr_accepted_max:4 fallback token:c613dda8 write_seq:19ffb7c10f047e00
"""

HOST = f"""$ ip mptcp limits show
add_addr_accepted 0 subflows 4 

$ ip mptcp endpoint show

$ ss -tiM
{SS}
$ nstat -asz
{NSTAT}"""  # noqa: W291


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The captures of both hosts of a download over two paths."""
    where = tmp_path_factory.mktemp("doctor")
    Scenario.parse(NETWORK).run(1, captures=where)
    return where


@pytest.fixture(scope="module")
def server(both: Path) -> Path:
    """The capture of the server."""
    return both / "server-any.pcapng"


@pytest.fixture(scope="module")
def report(both: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The JSON report of the server's capture."""
    done = subprocess.run(
        [sys.executable, "-m", "mptcplab", "doctor", "--json", str(both / "server-any.pcapng")],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path_factory.mktemp("report"),
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def plain_tcp(directory: Path) -> Path:
    """The capture of the client of a TCP connection."""
    Scenario.parse(NETWORK + 'transport = "tcp"\npaths = ["wifi"]\n').run(1, captures=directory)
    return directory / "client-wifi.pcapng"


def test_the_text_is_short_and_starts_with_the_verdicts(cli: Cli, server: Path) -> None:
    output = cli("doctor", server).stdout
    lines = output.splitlines()
    assert len(lines) < 60
    assert max(map(len, lines)) <= 130
    assert "MPTCP v1, 10." in output
    assert output.index("\n1. ") < output.index("subflow  role") < output.index("data: largest receive window")
    assert re.search(r"1 +initial +\d+% .* 10\.0\.\d\.1:\d+ → 10\.1\.0\.1:5001", output)
    assert cli("doctor", server, "--quiet").stdout == ""


def test_a_verdict_names_its_cost_its_packets_and_a_remedy(cli: Cli, tmp_path: Path) -> None:
    scenario = Scenario.parse(NETWORK + 'rcvbuf = "40kB"\nopportunistic_retransmission = false\npenalisation = false\n')
    scenario.run(1, captures=tmp_path / "small")
    output = cli("doctor", *sorted((tmp_path / "small").glob("*.pcapng"))).stdout
    assert "captured at both ends" in output
    assert re.search(r"1\. (receive-window|head-of-line): ", output)
    assert re.search(r"costs +[\d.]+ Mb/s, \d+% of the potential", output)
    assert re.search(r"proof +\S+\.pcapng:\d+ at \d\.\d{3} s: ", output)
    assert "tcp_rmem" in output


def test_json_has_the_names_of_its_schema(cli: Cli, report: dict[str, Any]) -> None:
    schema = json.loads(cli("doctor", "--schema").stdout)
    assert set(schema["required"]) <= set(report)
    assert set(report) <= set(schema["properties"])
    connection = schema["$defs"]["ConnectionReport"]["properties"]
    assert set(report["connections"][0]) <= set(connection)
    assert report["connections"][0]["verdicts"][0]["name"] in verdict_names.TITLES
    assert report["hosts"] == []


def test_tables_have_every_segment(cli: Cli, both: Path, tmp_path: Path) -> None:
    files = sorted(both.glob("*.pcapng"))
    found = json.loads(cli("doctor", *files, "--json", "--parquet", "tables").stdout)
    tables = {file.stem: pq.read_table(file) for file in (tmp_path / "tables").glob("*.parquet")}
    assert set(tables) == {"connections", "subflows", "verdicts", "data_series", "subflow_series", "segments"}
    segments = tables["segments"].to_pandas()
    assert len(segments) == found["segments"] > 1000
    assert set(segments["connection"]) == {0}
    assert set(segments["subflow"]) == {0, 1}
    assert set(segments["sender"]) == {"client", "server"}
    assert segments["time"].is_monotonic_increasing
    own = segments[(segments["file"] == files.index(both / "server-any.pcapng")) & (segments["sender"] == "server")]
    subflows = tables["subflows"].to_pandas().query("sender == 'server'")
    assert own["payload"].sum() >= subflows["bytes"].sum() > 1e6
    assert own["data_ack"].notna().any()
    assert tables["connections"].num_rows == 1
    assert tables["connections"]["verdict"][0].as_py() == found["connections"][0]["verdicts"][0]["name"]
    goodput = tables["data_series"].to_pandas().query("sender == 'server'")["goodput"]
    assert goodput.mean() == pytest.approx(found["connections"][0]["data"][1]["goodput"], rel=0.1)


SHAPE = re.compile(r"line \S+ \d+ \S+ \d+|[ud]arrow \S+ \d+|atext \S+ \d+|R|go|white|red|green|blue|timeval double")


def test_graphs_of_xplot_end_at_the_last_byte(cli: Cli, both: Path, tmp_path: Path) -> None:
    files = sorted(both.glob("*.pcapng"))
    found = json.loads(cli("doctor", *files, "--json", "--xpl", "graphs").stdout)["connections"][0]
    graphs = {file.name: file.read_text().splitlines() for file in (tmp_path / "graphs").iterdir()}
    assert {"connection-1-data-from-server.xpl", "connection-1-subflow-2-from-client.xpl"} <= set(graphs)
    for name, lines in graphs.items():
        assert lines[0] == "timeval double"
        assert lines[1] == "title"
        assert lines[-1] == "go"
        assert all(SHAPE.fullmatch(line) for line in lines[7:]), name
    data = graphs["connection-1-data-from-server.xpl"]
    assert max(int(line.split()[2]) for line in data if line.startswith("uarrow")) == found["data"][1]["bytes"]
    for number, subflow in enumerate(found["subflows"], 1):
        lines = graphs[f"connection-1-subflow-{number}-from-server.xpl"]
        arrows = [int(line.split()[2]) for line in lines if line.startswith("uarrow")]
        # The SYN has a number, too.
        assert max(arrows) == subflow["data"][1]["bytes"] + 1
        assert lines.count("R") == pytest.approx(subflow["data"][1]["retransmissions"], abs=2)


def test_the_page_is_complete_and_needs_no_network(cli: Cli, both: Path, tmp_path: Path) -> None:
    cli("doctor", *sorted(both.glob("*.pcapng")), "--html", "report.html", "--quiet")
    page = (tmp_path / "report.html").read_text()
    for part in (
        "Rate by subflow",
        "Time-sequence",
        "Data in flight",
        "RTT",
        "Time per limit",
        "Handshakes",
        "Subflows",
    ):
        assert part in page, part
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert page.count("<figure") == page.count("</figure>") == 5
    assert all('aria-label="' in svg for svg in re.findall(r"<svg [^>]*role=\"img\"[^>]*>", page))
    for values in re.findall(r'<script type="application/json">(.*?)</script>', page):
        assert json.loads(values)


EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[31m&lt;"


def poisoned(value: Any, key: str = "") -> Any:
    """The report with hostile text in each place where text of the core, of files or of hosts can be."""
    if isinstance(value, dict):
        return {one: poisoned(inner, one) for one, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(one, key) for one in value]
    fixed = {"protocol", "place", "sender", "from", "by", "opener", "limit", "side", "reset_by"}
    return EVIL if isinstance(value, str) and key not in fixed else value


def test_no_text_reaches_the_page_or_the_terminal_unescaped(cli: Cli, report: dict[str, Any], tmp_path: Path) -> None:
    host = host_facts.Host("client", (parse(HOST, "host.txt"),)).document()
    announced = {"by": "server", "id": 1, "address": "10.0.0.9:1", "time": 0.1, "packet": {"file": 0, "number": 3}}
    full = json.loads(json.dumps(report)) | {"hosts": [host], "warnings": ["a"]}
    connection = full["connections"][0]
    connection["announced"] = [announced | {"is_echoed": True, "is_used": False, "is_removed": True}]
    connection["events"] = [{"time": 0.1, "packet": {"file": 0, "number": 3}, "subflow": 0, "what": "a"}]
    connection["subflows"][1] |= {"reset": "a", "reset_by": "server"}
    connection["verdicts"].append(
        connection["verdicts"][0]
        | {"evidence": [{"packet": {"file": 0, "number": 1}, "time": 0.1, "what": "a"}], "advice": ["a `b` c"]}
    )
    evil = poisoned(full)
    for page in (html_page.page(evil), html_page.page(evil | {"connections": evil["connections"] * 3})):
        own = (ROOT / "python/mptcplab/doctor/doctor.js").read_text()
        rest = page.replace(own, "")
        assert "<script>alert" not in rest
        assert "<img" not in rest
        assert "\x1b" not in rest
        assert "\u202e" not in rest
        assert rest.count("<script>") == 1
        assert page.count("&lt;img src=x onerror=alert(1)&gt;") > 20
    assert "\x1b" not in text(evil, 0, 100)
    name = tmp_path / "<b>\x1b[31m.pcap"
    name.write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(20))
    output = cli("doctor", name, "--html", "page.html").stdout
    assert "\x1b" not in output
    assert "<b>" not in (tmp_path / "page.html").read_text().replace("<b></b>", "")


def test_several_connections_are_listed_and_one_is_chosen(cli: Cli, tmp_path: Path) -> None:
    text = NETWORK + '[flows.other]\ntransport = "tcp"\npaths = ["lte"]\n'
    Scenario.parse(text).run(1, captures=tmp_path / "two")
    file = tmp_path / "two" / "server-any.pcapng"
    first, second = cli("doctor", file).stdout, cli("doctor", file, "--connection", "2").stdout
    assert "Connection 1 of 2: MPTCP v1" in first
    assert re.search(r"\n +2 +TCP +\S+ → \S+ +[\d.]+ MB", first)
    assert "Connection 2 of 2: TCP, " in second
    assert "must be between 1 and 2" in cli("doctor", file, "--connection", "3", expect=2).stderr


@pytest.mark.parametrize("as_text", [NSTAT, json.dumps({"kernel": {"MPTcpExtBlackhole": 1, "TcpInSegs": 5}}), HOST])
def test_a_black_hole_is_known_from_counters(cli: Cli, tmp_path: Path, as_text: str) -> None:
    capture = plain_tcp(tmp_path / "tcp")
    assert "blackhole" not in cli("doctor", capture).stdout
    (tmp_path / "counters.txt").write_text(as_text)
    for arguments in ((capture, "counters.txt"), (capture, "--host", "counters.txt")):
        output = cli("doctor", *arguments).stdout
        assert re.search(r"^1\. blackhole: the SYN has no MP_CAPABLE", output, re.MULTILINE)
        assert "MPTcpExtBlackhole 1: SYNs with MPTCP vanished" in output
        assert f"{capture.name}:1 at " in output


def test_texts_of_hosts_are_recognised_by_content() -> None:
    limits = parse("add_addr_accepted 1 subflows 4 \n", "a")
    assert (limits.subflow_limit, limits.add_addr_accepted, limits.types) == (4, 1, {"limits"})
    endpoints = parse("192.168.2.10 id 2 subflow backup dev wwan0 \n10.0.0.1 port 5001 id 1 signal\n", "b").endpoints
    assert endpoints is not None
    assert [(one.address, one.number, one.flags) for one in endpoints] == [
        ("192.168.2.10", 2, ("subflow", "backup")),
        ("10.0.0.1", 1, ("signal",)),
    ]
    assert parse("2001:db8::1 id 9 signal dev eth0", "c").addresses == {"2001:db8::1"}
    nstat = parse(NSTAT, "d").counters
    assert nstat is not None
    assert nstat["MPTcpExtBlackhole"] == 1
    netstat = parse(NETSTAT, "e").counters
    assert netstat == {
        "TcpExtSyncookiesSent": 0, "TcpExtTCPTimeouts": 3, "TcpExtListenOverflows": 7,
        "MPTcpExtMPCapableSYNRX": 4, "MPTcpExtMPJoinRejected": 2,
    }  # fmt: skip
    sockets = parse(SS, "f").sockets
    assert sockets is not None
    assert [(one.is_mptcp, one.is_fallback) for one in sockets] == [
        (True, False), (True, False), (False, False), (True, True),
    ]  # fmt: skip
    assert parse(SS, "f").addresses == {"192.168.1.10", "192.168.2.10"}
    one_line = " ".join(SS.replace("\n\t", " ").splitlines()[1:2])
    assert [one.is_mptcp for one in parse(one_line, "g").sockets or ()] == [True]
    assert parse(HOST, "h").types == {"limits", "endpoints", "counters", "sockets"}
    assert parse(HOST, "h").endpoints == []
    assert parse("", "client-endpoints.txt").types == {"endpoints"}
    assert parse("Netid State Recv-Q Send-Q Local Address:Port\n", "i").types == {"sockets"}
    limits_json = parse('[{"add_addr_accepted":2,"subflows":3}]', "j")
    assert (limits_json.subflow_limit, limits_json.add_addr_accepted) == (3, 2)
    endpoint = parse('[{"address":"10.0.0.1","id":1,"subflow":true,"dev":"eth0"}]', "k").endpoints
    assert endpoint is not None
    assert endpoint[0].flags == ("subflow",)


@pytest.mark.parametrize(
    "strange",
    [
        "", "hello\nworld", "[" * 100_000, "{}", "[1, 2]", '{"a": {"MPTcpExtX": -1}}', "id id id", "1.2.3.4 id 5000 x",
        "TcpExt: a b\nTcpExt: 1", "MPTcpExtX 99999999999999999999999 0.0", "\x00", "[]", '{"subflows": true}',
    ],
)  # fmt: skip
def test_strange_texts_are_not_recognised(strange: str) -> None:
    assert parse(strange, "name").types == set()


def test_texts_belong_to_the_host_of_their_name_or_addresses() -> None:
    clients, servers = frozenset({"192.168.1.10", "192.168.2.10"}), frozenset({"10.87.1.2"})
    limits = HostText("limits.txt", subflow_limit=4, add_addr_accepted=0)
    [alone] = host_facts.hosts([limits], clients, servers)
    assert alone.side is None
    [client] = host_facts.hosts([limits, parse(SS, "ss.txt")], clients, servers)
    assert client.side == "client"
    assert len(client.texts) == 2
    other = HostText("limits2.txt", subflow_limit=0, add_addr_accepted=8)
    two = host_facts.hosts([parse(HOST, "one.txt"), other], clients, servers)
    assert [(one.side, one.files) for one in two] == [("client", ["one.txt"]), ("server", ["limits2.txt"])]
    facts = json.loads(host_facts.core_facts(two) or "")
    assert facts == {
        "blackhole_active": True,
        "expects_mptcp": True,
        "subflow_limit": 0,
        "add_addr_accepted": 0,
        "endpoints": 0,
    }
    named = host_facts.hosts([HostText("dir-client/server.txt", endpoints=[])], clients, servers)
    assert named[0].side == "server"
    # A server without endpoints is no fault.
    assert "endpoints" not in json.loads(host_facts.core_facts(named) or "")


def test_errors_name_the_file_and_the_remedy(cli: Cli, server: Path, tmp_path: Path) -> None:
    def error(*arguments: str | Path) -> str:
        return cli("doctor", *arguments, expect=2).stderr

    (tmp_path / "server.pcapng").write_bytes(server.read_bytes())
    (tmp_path / "hello.txt").write_text("hello")
    (tmp_path / "random.bin").write_bytes(bytes(range(1, 200)))
    (tmp_path / "empty.pcap").write_bytes(b"")
    (tmp_path / "endpoint.txt").write_text("")
    (tmp_path / "n.txt").write_text(NSTAT)
    (tmp_path / "folder").mkdir()
    assert "give at least one capture" in error()
    assert "servr.pcapng: no such file; did you mean server.pcapng?" in error("servr.pcapng")
    assert "a directory; give files" in error("folder")
    assert "this text was not recognised" in error("hello.txt")
    assert "neither a capture nor a text (the first bytes are 01 02 03 04)" in error("random.bin")
    assert "an empty file" in error("empty.pcap")
    assert "only texts of hosts were given (endpoint.txt)" in error("endpoint.txt")
    assert "a capture; --host requires the text" in error("server.pcapng", "--host", "server.pcapng")
    assert "must be between 1 and 1" in error("server.pcapng", "--connection", "7")
    assert "this is a capture" in error("server.pcapng", "--html", "server.pcapng")
    assert "a device, not a file" in error("/dev/zero")
    os.mkfifo(tmp_path / "silent")
    assert "no process writes into this pipe" in error("silent")
    assert (tmp_path / "server.pcapng").read_bytes() == server.read_bytes()


def test_a_file_given_twice_is_read_once(cli: Cli, server: Path) -> None:
    output = cli("doctor", server, server).stdout
    assert "given twice, read once" in output
    assert "captured at the server" in output


def without_files(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    del found["files"]
    return found


def zstd(data: bytes) -> bytes:
    """A zstd frame of uncompressed blocks (RFC 8878)."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(data))
    pieces = [data[at : at + 100_000] for at in range(0, len(data), 100_000)]
    for number, piece in enumerate(pieces):
        frame += struct.pack("<I", len(piece) << 3 | (number + 1 == len(pieces)))[:3] + piece
    return frame


def test_compressed_files_and_pipes_give_the_same_report(cli: Cli, server: Path, tmp_path: Path) -> None:
    expected = without_files(cli("doctor", server, "--json"))
    data = server.read_bytes()
    (tmp_path / "a.pcapng.gz").write_bytes(gzip.compress(data))
    (tmp_path / "b.pcapng.zst").write_bytes(zstd(data))
    for name in ("a.pcapng.gz", "b.pcapng.zst"):
        assert without_files(cli("doctor", name, "--json")) == expected, name
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,), daemon=True).start()
    assert without_files(cli("doctor", "pipe", "--json", "--xpl", "graphs")) == expected
    command = [sys.executable, "-m", "mptcplab", "doctor", "-", "--json"]
    done = subprocess.run(command, input=data, capture_output=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout)["files"] == ["standard input"]


def test_damaged_captures_never_raise(cli: Cli, server: Path, tmp_path: Path) -> None:
    data = server.read_bytes()
    pcap = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    files = {f"cut{at}": data[:at] for at in (4, 5, 30, 100, 333, 5_000, len(data) - 3)}
    files |= {f"changed{at}": data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :] for at in range(0, 600, 53)}
    files["long"] = pcap + struct.pack("<IIII", 1, 0, 0xFFFFFFFF, 0xFFFFFFFF) + bytes(100)
    files["zeros"] = pcap + bytes(10_000)
    files["gz"] = gzip.compress(data)[:2_000]
    files["link"] = pcap[:20] + struct.pack("<I", 9999) + struct.pack("<IIII", 1, 0, 4, 4) + b"abcd"
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        done = cli("doctor", name, "--html", "page.html", "--xpl", "graphs", expect=None)
        assert done.returncode in (0, 2), (name, done.stderr)
        assert done.stdout or done.stderr.startswith("mptcplab doctor: "), name
        assert "internal error" not in done.stderr, done.stderr


def flood(file: Path, count: int) -> Path:
    """A capture of one connection that sends `count` segments of no payload, and as many SYNs of others."""
    packets = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for number in range(count):
        tcp = struct.pack(">HHIIBBHHH", 1 + number % 500, 80, number, 1, 0x50, 0x10 if number % 2 else 2, 9, 0, 0)
        packet = (
            struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, number & 0xFFFF, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2") + tcp
        )
        packets.append(struct.pack("<IIII", number // 1000, number % 1000, 40, 40) + packet)
    file.write_bytes(b"".join(packets))
    return file


MEASURED = """
import resource, sys
from mptcplab.cli.main import main
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_capture(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        file = flood(tmp_path / f"{count}.pcap", count)
        options = ["--quiet", "--parquet", "tables", "--xpl", "graphs", "--html", "page.html"]
        command = [sys.executable, "-c", MEASURED, "doctor", str(file), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        return int(done.stdout)

    small, large = peak(70_000), peak(280_000)
    # 210,000 segments more have 12 MB in the file, and 30 MB as columns.
    assert large - small < 20_000, (small, large)


def test_all_verdicts_have_a_title_and_a_row_in_the_documentation() -> None:
    page = (ROOT / "docs/doctor.md").read_text()
    section = page[page.index("## Verdicts") : page.index("## Outputs")]
    listed = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
    assert listed == list(verdict_names.TITLES)
    names = set()
    for file in (ROOT / "crates/doctor/src/diagnosis").glob("*.rs"):
        names |= set(re.findall(r"verdict\(\s*\"([a-z-]+)\"", file.read_text()))
    assert len(names) > 15
    assert names <= set(listed)


def test_levels_have_words_and_healthy_is_good() -> None:
    def level(name: str, share: float) -> str:
        return verdict_names.level({"name": name, "share": share})

    assert [level("loss", 0.5), level("loss", 0.1), level("plain-tcp", 0.0), level("healthy", 0.0)] == [
        "high", "some", "note", "good",
    ]  # fmt: skip
    assert verdict_names.title("unknown-name") == "unknown-name"


def test_charts_keep_totals_and_have_readable_axes() -> None:
    assert charts.nice(37.0) == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert charts.nice(0.0) == [0.0, 1.0]
    assert charts.nice(1.0)[-1] == pytest.approx(1.0)
    grid = (0.0, 0.4, 5)
    same = charts.resampled([1.0, 2.0, 3.0, 4.0], 0.1, 0.4, grid)
    assert sum(same) * 0.4 == pytest.approx(10.0 * 0.4)
    assert charts.binned([1.0, None, 3.0], 0.0, 0.2, (0.0, 0.4, 2), max) == [1.0, 3.0]
    line = charts.Series("a <b>", "s1", "line", [1.0, None, 2.0])
    drawn = charts.draw(charts.Chart("A & B", "<s>", 0.0, 1.0, [line], lambda value: f"</script>{value}"))
    assert "A &amp; B" in drawn
    assert "<b>" not in drawn.replace("<b></b>", "")
    assert drawn.count("</script>") == 1
    assert charts.draw(charts.Chart("empty", "s", 0.0, 1.0, [], str)) == ""


def test_a_connection_with_many_subflows_stays_bounded(report: dict[str, Any]) -> None:
    many = json.loads(json.dumps(report))
    connection = many["connections"][0]
    connection["subflows"] = [connection["subflows"][number % 2] for number in range(500)]
    many["connections"] = [connection] * 300
    assert len(connection_charts.charted(connection)) == connection_charts.SUBFLOWS
    one = len(html_page.page(many | {"connections": [connection]}))
    assert len(html_page.page(many)) < 25 * one
    assert len(text(many, 0, 100).splitlines()) < 80


def test_options_are_in_words() -> None:
    assert ladder.in_words("SYN, MP_CAPABLE v1, 0 keys") == "SYN, MP_CAPABLE version 1 (no key yet)"
    assert ladder.in_words("ACK, DSS 8-byte DATA_ACK") == "ACK, DSS (8-byte DATA_ACK)"
    assert "address ID 2" in ladder.in_words("SYN, MP_JOIN token 0x12345678, address 2")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (words.size(1), "1 byte"), (words.size(999), "999 bytes"), (words.size(12_345_678), "12.3 MB"),
        (words.rate(0.0), "0"), (words.rate(0.05), "50 kb/s"), (words.rate(12.34), "12.3 Mb/s"),
        (words.rate(None), "-"),
        (words.seconds(0.0042), "4.2 ms"), (words.seconds(0.42), "420 ms"), (words.seconds(4.2), "4.2 s"),
        (words.percent(0.0), "0%"), (words.percent(0.00001), "<0.01%"), (words.percent(0.004), "0.40%"),
        (words.loss(0.0123), "1.2%"), (words.plural(1, "packet"), "1 packet"), (words.shown("a\x1bb"), "a\\x1bb"),
    ],
)  # fmt: skip
def test_numbers_are_short_and_have_units(found: str, expected: str) -> None:
    assert found == expected


def test_files_of_the_same_name_are_told_apart_by_their_directory() -> None:
    assert words.file_names(["a/x.pcap", "b/x.pcap", "c/y.pcap"]) == ["a/x.pcap", "b/x.pcap", "y.pcap"]


def test_a_fitted_scenario_gives_the_goodput_of_the_capture(tmp_path: Path, cli: Cli) -> None:
    scenario = Scenario(
        duration="6s",
        warmup="0s",
        paths={
            "dsl": {"rate": "12Mbit", "rtt": "30ms", "queue": "60p"},
            "lte": {"rate": "6Mbit", "rtt": "60ms", "loss": "0.5%"},
        },
        flows={"bulk": {"direction": "download", "rcvbuf": "16MB", "sndbuf": "16MB"}},
    )
    run = scenario.run(seed=3, captures=tmp_path / "pcap")
    fitted = tmp_path / "fitted.toml"
    cli("doctor", *sorted((tmp_path / "pcap").glob("client*")), "--scenario", fitted, "--quiet")
    again = Scenario.load(fitted).run(seed=2)
    assert again.flow("captured")["goodput"] == pytest.approx(run.flow("bulk")["goodput"], rel=0.15)
