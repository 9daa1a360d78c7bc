"""Captures of every link type, damaged ones, and wrong tokens: how much verify reads, and its results."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import struct
import tracemalloc
from collections.abc import Iterable
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import TWO_PATHS, Cli
from mptcplab import Scenario
from mptcplab.captures import dss_mappings
from mptcplab.captures.capture_file import ETHERNET, LOOP, NULL, RAW, SLL, SLL2, BadCapture, Source, packets
from mptcplab.captures.packets import Segment, read, stream
from mptcplab.captures.verify import Verifier, verify

SLOW = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packets that a server captured in a small transfer over two paths with DSS checksums."""
    where = tmp_path_factory.mktemp("captures")
    text = TWO_PATHS.replace("baselines = true", 'bytes = "60kB"\nchecksum = true')
    Scenario.parse(text).run(1, captures=where)
    return where / "server-any.pcapng"


def ip_of(file: Path) -> list[bytes]:
    """The IP packets of a capture that mptcplab wrote."""
    with file.open("rb") as stream:
        return [packet for _, _, packet in packets(Source(stream, file))]


def as_pcap(frames: Iterable[bytes], link: int, file: Path) -> Path:
    """Frames as a pcap."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    for at, frame in enumerate(frames):
        data += struct.pack("<IIII", at, 0, len(frame), len(frame)) + frame
    file.write_bytes(data)
    return file


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A block of pcapng."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


LINKS = {
    "raw": (RAW, b""),
    "Ethernet": (ETHERNET, bytes(12) + b"\x08\x00"),
    "VLAN": (ETHERNET, bytes(12) + b"\x81\x00\x00\x07\x08\x00"),
    "VLAN in VLAN": (ETHERNET, bytes(12) + b"\x88\xa8\x00\x07\x81\x00\x00\x08\x08\x00"),
    "cooked": (SLL, b"\0\0\0\1\0\6" + bytes(8) + b"\x08\x00"),
    "cooked, version 2": (SLL2, b"\x08\x00\0\0\0\0\0\2\0\1\0\6" + bytes(8)),
    "cooked, version 2, VLAN": (SLL2, b"\x81\x00\0\0\0\0\0\2\0\1\0\6" + bytes(8) + b"\x00\x07\x08\x00"),
    "loopback of a small machine": (NULL, b"\2\0\0\0"),
    "loopback of a large one": (NULL, b"\0\0\0\2"),
    "loopback of OpenBSD": (LOOP, b"\0\0\0\2"),
}


@pytest.mark.parametrize("name", LINKS)
def test_every_link_gives_the_same_segments(cli: Cli, server: Path, tmp_path: Path, name: str) -> None:
    link, header = LINKS[name]
    plain = json.loads(cli("verify", server, "--json").stdout)
    file = as_pcap((header + packet for packet in ip_of(server)), link, tmp_path / "link.pcap")
    assert json.loads(cli("verify", file, "--json").stdout) == plain
    # The same in pcapng of the other byte order.
    data = block(0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1), ">")
    data += block(1, struct.pack(">HHI", link, 0, 0), ">")
    for at, packet in enumerate(ip_of(server)):
        frame = header + packet
        data += block(6, struct.pack(">IIIII", 0, 0, at, len(frame), len(frame)) + frame, ">")
    (tmp_path / "link.pcapng").write_bytes(data)
    assert json.loads(cli("verify", tmp_path / "link.pcapng", "--json").stdout) == plain


@pytest.mark.parametrize("link", [127, 147, 195, 65535])
def test_a_link_that_is_not_known_is_an_error(cli: Cli, server: Path, tmp_path: Path, link: int) -> None:
    file = as_pcap(ip_of(server), link, tmp_path / "odd.pcap")
    output = cli("verify", file, expect=2).stderr
    assert f"unknown link type {link}; supported:" in output
    assert "Linux cooked (113, 276)" in output


def test_no_segment_is_no_success(cli: Cli, tmp_path: Path) -> None:
    # A UDP datagram, an ARP request, and nothing at all.
    udp = bytes.fromhex("4500001c00000000401100000a0000010a000002000100020008 0000".replace(" ", ""))
    for frames in ([udp], [bytes(12) + b"\x08\x06" + bytes(28)], []):
        link = RAW if frames == [udp] else ETHERNET
        file = as_pcap(frames, link, tmp_path / "none.pcap")
        assert "no TCP segments" in cli("verify", file, expect=2).stderr


def test_a_wrong_token_is_found(cli: Cli, server: Path, tmp_path: Path) -> None:
    data = bytearray(server.read_bytes())
    # The SYN of a join: kind 30, 12 bytes, subtype 1, then its token.
    at = data.index(b"\x1e\x0c\x10")
    data[at + 4] ^= 1
    (tmp_path / "token.pcapng").write_bytes(data)
    done = cli("verify", tmp_path / "token.pcapng", "--json", expect=1)
    output = json.loads(done.stdout)
    assert output["checks"]["token"] == {"right": 0, "wrong": 1, "unknown": 0}
    assert "the HMAC of this join belongs to the connection with the tokens" in output["faults"][0]["what"]


def test_a_wrong_token_that_nobody_answered_is_found(server: Path) -> None:
    segments = read([server])
    join = next(at for at, one in enumerate(segments) if any(option[0] >> 4 == 1 for option in one.mptcp))
    pair = {segments[join].source, segments[join].destination}
    alone = [one for one in segments if {one.source, one.destination} != pair]
    option = bytearray(segments[join].mptcp[0])
    option[2] ^= 1
    lost = Segment(**{**vars(segments[join]), "mptcp": (bytes(option),)})
    assert verify([*alone[:20], lost]).checks["token", "wrong"] == 1
    # Where a connection began before the capture, the token may be of its key.
    late = [one for one in alone[:20] if not one.syn]
    other = [Segment(**{**vars(one), "destination": (one.destination[0], 9)}) for one in late if one.mptcp]
    other = [Segment(**{**vars(one), "source": (one.source[0], 9)}) for one in other]
    assert verify([*other, *alone[:20], lost]).checks["token", "unknown"] == 1
    # Packets were passed over, or subflows forgotten: the key may have been there.
    assert verify([*alone[:20], lost], lambda: False).checks["token", "unknown"] == 1
    verifier = Verifier()
    for segment in [*alone[:20], lost]:
        verifier.take(segment)
    verifier.findings.forgotten = 1
    assert verifier.finish().checks["token", "unknown"] == 1
    # Nothing else was captured: nothing is known.
    assert verify([lost]).checks["token", "unknown"] == 1


def test_what_waits_for_its_bytes_is_bounded() -> None:
    half = dss_mappings.Half()
    given_up, every = 0, dss_mappings.MOST_CHUNKS + 500
    for at in range(every):
        mapping = dss_mappings.Mapping("here", at, 1 + at * 1000, 60_000, 60_000, at & 0xFFFF)
        given_up += half.map(mapping) is not None
        half.take(10_000_000 + at * 2_000, bytes(1_000))
        assert half.complete() == []
    assert given_up == every - dss_mappings.MOST_WAITING == every - len(half.waiting)
    assert half.kept <= dss_mappings.MOST_KEPT
    assert len(half.chunks) <= dss_mappings.MOST_CHUNKS


def test_payload_comes_in_any_order_and_around_the_end() -> None:
    data = bytes(range(100))
    half = dss_mappings.Half()
    start = 2**32 - 30
    half.map(dss_mappings.Mapping("first", 0, start, 100, 100, 0))
    for begin, end in ((60, 100), (0, 20), (10, 50), (40, 70)):
        half.take((start + begin) % 2**32, data[begin:end])
    (done,) = half.complete()
    assert bytes(done.received) == data
    assert (half.waiting, half.kept, len(half.chunks)) == ([], 0, 0)


def test_payload_is_held_against_the_mappings_near_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    filled = 0
    fill = dss_mappings.Mapping.fill

    def count(self: dss_mappings.Mapping, begin: int, data: bytes) -> None:
        nonlocal filled
        filled += 1
        fill(self, begin, data)

    monkeypatch.setattr(dss_mappings.Mapping, "fill", count)
    half = dss_mappings.Half()
    # A capture that has lost the first half of every second segment; 2 KB and more apart.
    for at in range(2_000):
        half.map(dss_mappings.Mapping(str(at), at, 1 + at * 2_048, 1_000, 1_000, 0))
        half.take(1 + at * 2_048 + (500 if at % 2 else 0), bytes(500 if at % 2 else 1_000))
        half.complete()
    assert len(half.waiting) == dss_mappings.MOST_WAITING
    assert filled < 2_000 * 100


class Counting(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


def check(data: bytes, where: Path) -> None:
    """Reads and verifies any bytes: segments or a reason, and each byte once."""
    stream = Counting(data)
    found = 0
    with contextlib.suppress(BadCapture):
        for _, _, packet in packets(Source(stream, where)):
            found += len(packet)
    assert stream.count <= len(data)
    assert found <= len(data)
    where.write_bytes(data)
    try:
        segments = read([where])
    except BadCapture:
        return
    verify(segments)


@SLOW
@given(data=st.data())
def test_any_change_of_a_capture(server: Path, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(("pcapng", "pcap", "cooked")))
    if kind == "pcapng":
        content = bytearray(server.read_bytes())
    else:
        link, header = (RAW, b"") if kind == "pcap" else LINKS["cooked, version 2"]
        file = as_pcap((header + packet for packet in ip_of(server)[:60]), link, server.with_name("any.pcap"))
        content = bytearray(file.read_bytes())
    # Most faults are at the start.
    places = st.one_of(st.integers(0, min(600, len(content))), st.integers(0, len(content)))
    for _ in range(data.draw(st.integers(1, 6))):
        at = min(data.draw(places), len(content))
        how = data.draw(st.sampled_from(("cut", "flip", "flip", "flip", "insert", "drop", "large")))
        if how == "cut":
            del content[at:]
        elif how == "drop":
            del content[at : at + data.draw(st.integers(1, 20))]
        elif how == "insert":
            content[at:at] = data.draw(st.binary(min_size=1, max_size=8))
        elif how == "large":
            content[at : at + 4] = b"\xff\xff\xff\x7f"
        elif at < len(content):
            content[at] ^= 1 << data.draw(st.integers(0, 7))
    check(bytes(content), server.with_name("changed"))


@SLOW
@given(st.binary(max_size=400), st.sampled_from([b"", b"\x0a\x0d\x0d\x0a", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d"]))
def test_any_bytes(server: Path, data: bytes, start: bytes) -> None:
    check(start + data, server.with_name("random"))


OPTION = st.one_of(
    st.binary(min_size=1, max_size=38),
    st.tuples(st.integers(0, 15), st.binary(max_size=30)).map(lambda both: bytes([both[0] << 4]) + both[1]),
)


@SLOW
@given(st.data())
def test_any_options(data: st.DataObject) -> None:
    ends = [(IPv4Address(number), number) for number in (1, 2, 3)]
    segments = []
    for number in range(data.draw(st.integers(1, 12))):
        source, destination = data.draw(st.permutations(ends))[:2]
        options = tuple(data.draw(st.lists(OPTION, max_size=3)))
        flags = data.draw(st.sampled_from([2, 18, 16, 16, 24]))
        sequence = data.draw(st.sampled_from([0, 1, 1000, 2**32 - 1]))
        payload = data.draw(st.binary(max_size=40))
        segments.append(Segment(f"{number}", float(number), source, destination, sequence, 0, flags, options, payload))
    findings = verify(segments)
    assert sum(findings.options.values()) == sum(len(one.mptcp) for one in segments)


def test_more_than_anybody_wants_in_memory_is_refused(cli: Cli, server: Path) -> None:
    output = cli("verify", server, server, "--most", "100KB", expect=2).stderr
    assert "raise the limit with --most" in output
    assert "TCP segments" in cli("verify", server, "--most", "1GiB").stdout


def syn(number: int) -> bytes:
    """A SYN of MPTCP version 1 from an address of its own."""
    option = b"\x1e\x04\x01\x01"
    tcp = struct.pack("!HHIIBBHHH", 1024 + number % 60_000, 80, number, 0, 0x60, 2, 65535, 0, 0) + option
    addresses = struct.pack("!II", 0x0A000000 + number // 60_000, 0x0AFF0001)
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + addresses + tcp


def peak(file: Path) -> int:
    """The most memory that verifying takes, bytes."""
    tracemalloc.start()
    try:
        found = verify(stream([file]))
        assert found.segments
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_a_flood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SYN each without an answer: the stored state is bounded for any number of them."""
    monkeypatch.setattr("mptcplab.captures.verify.MOST_OPENING", 500)
    few = as_pcap(map(syn, range(1_500)), RAW, tmp_path / "few.pcap")
    many = as_pcap(map(syn, range(9_000)), RAW, tmp_path / "many.pcap")
    assert peak(many) < 1.3 * peak(few)
    found = verify(stream([many]))
    assert (found.segments, found.forgotten) == (9_000, 8_500)


def test_memory_does_not_grow_with_connections_that_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mptcplab.captures.verify.MOST_OPEN", 500)

    def answered(number: int) -> list[bytes]:
        opening = syn(number)
        tcp = opening[22:24] + opening[20:22] + struct.pack("!IIBBHHH", 7, number + 1, 0x80, 0x12, 65535, 0, 0)
        key = struct.pack("!Q", number + 1)
        tcp += b"\x1e\x0c\x01\x01" + key
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0)
        return [opening, header + opening[16:20] + opening[12:16] + tcp]

    few, many = (
        as_pcap((one for at in range(count) for one in answered(at)), RAW, tmp_path / f"{count}.pcap")
        for count in (1_500, 5_000)
    )
    assert peak(many) < 1.3 * peak(few)


def test_what_gzip_has_packed_is_read(cli: Cli, server: Path, tmp_path: Path) -> None:
    packed = tmp_path / "server.pcapng.gz"
    packed.write_bytes(gzip.compress(server.read_bytes()))
    assert cli("verify", packed).stdout == cli("verify", server).stdout
    packed.write_bytes(gzip.compress(server.read_bytes())[:-2000])
    assert "in the middle of a packet; only the packets before it were verified" in cli("verify", packed).stderr
    large = as_pcap([bytes(60_000)] * 100, RAW, tmp_path / "large.pcap")
    packed.write_bytes(gzip.compress(large.read_bytes()))
    assert "more than 1000000 bytes" in cli("verify", packed, "--most", "1MB", expect=2).stderr
    damaged = bytearray(gzip.compress(server.read_bytes()))
    damaged[len(damaged) // 2] ^= 0xFF
    packed.write_bytes(damaged)
    assert "verify: " in cli("verify", packed, expect=None).stderr


def test_headers_that_a_capture_has_cut_are_counted(cli: Cli, server: Path, tmp_path: Path) -> None:
    """As with `tcpdump -s 68`: missing parts are reported, and unseen values never count as correct."""
    frames = [bytes(12) + b"\x08\x00" + packet for packet in ip_of(server)]
    file = as_pcap((frame[:68] for frame in frames), ETHERNET, tmp_path / "cut.pcap")
    done = cli("verify", file, expect=None)
    lost = sum(len(frame) > 68 and 34 + (frame[46] >> 4) * 4 > 68 for frame in frames)
    assert f"{lost} packets cut off in their TCP header" in done.stdout
    assert "capture whole packets (tcpdump -s 0)" in done.stdout
    # Where nothing could be verified, that is no success.
    file = as_pcap((frame[:54] for frame in frames), ETHERNET, tmp_path / "bare.pcap")
    assert "nothing could be verified; capture whole packets" in cli("verify", file, expect=2).stderr


def test_a_capture_from_the_middle_says_why_it_knows_little(cli: Cli, server: Path, tmp_path: Path) -> None:
    packets_of = ip_of(server)
    file = as_pcap(packets_of[len(packets_of) // 2 :], RAW, tmp_path / "late.pcap")
    output = cli("verify", file).stdout
    assert "MPTCP subflows started before the capture; without their keys" in output
