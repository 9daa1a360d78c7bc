"""Writes time-sequence graphs for xplot: one for each subflow and direction, and one of the data of a connection.

Owns the format, which tcptrace and mptcptrace also write: white arrows for segments, red ones for retransmissions, and
a green line for acknowledgements. Segments are streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mptcplab.doctor import words
from mptcplab.doctor.segments import Batch, Flow, batches, files_of
from mptcplab.util.files import only_writer, replacing

CONNECTIONS, SUBFLOWS = 20, 64
"""Connections and subflows with graphs, at most; each graph is an open file."""
COLOURS = ("white", "blue", "orange", "pink", "purple", "magenta", "yellow")
"""Colours of subflows in the graph of the data."""
_SYN, _FIN, _RST, _ACK = 0x02, 0x01, 0x04, 0x10


def write(
    report: Mapping[str, Any],
    captures: Sequence[Path],
    directory: Path,
    progress: Callable[[int], bool] = lambda _: True,
) -> tuple[int, int]:
    """Writes the graphs; returns the numbers of graphs and of omitted subflows."""
    with only_writer(directory) as target, ExitStack() as stack:
        graphs = _Graphs(report, target, stack)
        count = 0
        for batch in batches(captures, report):
            graphs.take(batch)
            count += len(batch.columns["time"])
            progress(count)
        graphs.finish()
        return len(graphs.written), graphs.omitted


@dataclass
class _Line:
    """A sequence space of 32 bits, counted without wrapping from its first number."""

    last: int | None = None
    position: int = 0

    def place(self, number: int) -> int:
        """The position of a number, relative to the first one."""
        if self.last is None:
            self.last = number
        difference = (number - self.last) & 0xFFFF_FFFF
        self.position += difference - (difference >> 31 << 32)
        self.last = number
        return self.position


@dataclass
class _Graph:
    """One file: the segments of one sender, and the acknowledgements of its peer."""

    file: IO[bytes]
    line: _Line = field(default_factory=_Line)
    highest: int = 0
    acknowledged: tuple[float, int] | None = None
    previous: tuple[int, ...] = ()

    def write(self, *lines: str) -> None:
        """Writes lines."""
        self.file.write(("\n".join(lines) + "\n").encode())

    def segment(self, time: float, number: int, length: int, colour: str) -> bool:
        """Draws bytes; those that were sent before are red. Returns whether they are new."""
        low = self.line.place(number)
        is_new = low + length > self.highest or self.highest == 0
        self.highest = max(self.highest, low + length)
        high = low + length
        self.write(
            colour if is_new else "red",
            f"line {time:.6f} {low} {time:.6f} {high}",
            f"darrow {time:.6f} {low}",
            f"uarrow {time:.6f} {high}",
        )
        if not is_new:
            self.write(f"atext {time:.6f} {high}", "R")
        return is_new

    def acknowledge(self, time: float, number: int) -> None:
        """Continues the line of acknowledgements."""
        if self.line.last is None:
            return
        # The line of acknowledgements follows the data, so its numbers are placed next to the last data.
        place = self.line.position + _signed(number - self.line.last)
        before = self.acknowledged
        if before is not None and place < before[1]:
            return
        if before is not None and place > before[1]:
            self.write(
                "green",
                f"line {before[0]:.6f} {before[1]} {time:.6f} {before[1]}",
                f"line {time:.6f} {before[1]} {time:.6f} {place}",
            )
        if before is None or place > before[1]:
            self.acknowledged = (time, place)


def _signed(number: int) -> int:
    number &= 0xFFFF_FFFF
    return number - (number >> 31 << 32)


class _Graphs:
    """All graphs, by connection, subflow (None for the data) and sender."""

    def __init__(self, report: Mapping[str, Any], target: Path, stack: ExitStack) -> None:
        """Opens no file yet; a graph without data is not written."""
        self._report, self._target, self._stack = report, target, stack
        self._files = [files_of(one) for one in report["connections"][:CONNECTIONS]]
        self._graphs: dict[tuple[int, int | None, int], _Graph] = {}
        self._start = report["start"]
        self.written: list[str] = []
        self._beyond: set[tuple[int, int | None]] = set()

    @property
    def omitted(self) -> int:
        """Subflows beyond the maximum."""
        return len(self._beyond)

    def take(self, batch: Batch) -> None:
        """Draws the segments of a batch."""
        names = ("time", "file", "flow", "sequence", "acknowledgment", "flags", "payload", "data_sequence",
                 "data_length", "data_ack", "timestamp", "window")  # fmt: skip
        columns: Iterable[Sequence[int]] = (batch.columns[name].tolist() for name in names)
        for row in zip(*columns, strict=True):
            flow = batch.flows[row[2]]
            if flow.connection is None or flow.connection >= CONNECTIONS or row[1] not in self._files[flow.connection]:
                continue
            self._draw(flow, row)

    def _draw(self, flow: Flow, row: tuple[int, ...]) -> None:
        moment, _, _, sequence, acknowledgment, flags, payload, data, length, data_ack, *_ = row
        connection, subflow, side = flow.connection, flow.subflow, flow.side
        if connection is None or subflow is None or side is None:
            return
        time = moment / 1e9
        if payload or flags & (_SYN | _FIN):
            graph = self._graph(connection, subflow, side)
            if graph is None:
                return
            # A copy on a second device of the host is no retransmission.
            if row[2:] == graph.previous:
                return
            graph.previous = row[2:]
            graph.segment(time, sequence, payload + bool(flags & _SYN) + bool(flags & _FIN), "white")
        if flags & _ACK and (other := self._graphs.get((connection, subflow, 1 - side))):
            other.acknowledge(time, acknowledgment)
        if length and payload:
            graph = self._graph(connection, None, side)
            if graph and graph.previous != (subflow, data, length):
                graph.previous = (subflow, data, length)
                graph.segment(time, data & 0xFFFF_FFFF, length, COLOURS[subflow % len(COLOURS)])
        if data_ack and (other := self._graphs.get((connection, None, 1 - side))):
            other.acknowledge(time, data_ack & 0xFFFF_FFFF)

    def _graph(self, connection: int, subflow: int | None, side: int) -> _Graph | None:
        key = (connection, subflow, side)
        if key not in self._graphs:
            if subflow is not None and sum(one[1] is not None for one in self._graphs) >= 2 * SUBFLOWS:
                self._beyond.add((connection, subflow))
                return None
            sender = ("client", "server")[side]
            part = "data" if subflow is None else f"subflow-{subflow + 1}"
            name = f"connection-{connection + 1}-{part}-from-{sender}.xpl"
            one = self._report["connections"][connection]
            ends = (one["client"], one["server"]) if subflow is None else one["subflows"][subflow]["ends"]
            graph = _Graph(self._stack.enter_context(replacing(self._target / name)))
            what = "data sequence" if subflow is None else "sequence"
            title = words.shown(f"{ends[0]} - {ends[1]}, {part} from the {sender}")
            graph.write("timeval double", "title", title, "xlabel", "time", "ylabel", f"{what} number")
            self._graphs[key] = graph
            self.written.append(name)
        return self._graphs[key]

    def finish(self) -> None:
        """Ends the files."""
        for graph in self._graphs.values():
            graph.write("go")
