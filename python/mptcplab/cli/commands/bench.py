"""`mptcplab bench`: measures the speed of the simulator, or of mptcplab's stack and Linux's on real packets.

Developers see whether a change makes mptcplab slower. Owns arguments and output; the package `bench` measures.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.cli.common import BadInput, RunFailed, at_most, print_json, table

if TYPE_CHECKING:
    from mptcplab.bench.live_bench import Row

NAME = "bench"
HELP = "measure the speed of the simulator, or of the stacks of mptcplab and Linux"
EXAMPLE = "mptcplab bench S1 --json"
REPETITIONS = 3
WIRE = "wire"
SCALE = "scale"
HEADER = [
    *("sender", "receiver", "device", "transport", "paths", "frames", "block", "Gb/s", "min", "max"),
    *("CPU s/GB", "sending", "receiving", "retrans", "reinjected", "of Linux"),
]
"""The columns of `bench wire`."""
NOTES = [
    "1500 B: no offload, each frame crosses the link alone; GRO: the receiving end of veth joins frames",
    "CPU s/GB: both ends, including the kernel; sending and receiving are its user and system time",
    "retrans: TcpRetransSegs; reinjected: MPTCPRetrans, or MB of mptcplab",
    "of Linux: median of the ratios to Linux to Linux in the same round",
]
"""Explanations of the columns."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "scenarios",
        nargs="*",
        metavar="SCENARIO",
        help="S1 to S4 (default), scenario files, scale (connections) or wire (real packets)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: a list with one entry per scenario")
    parser.add_argument(
        "--repetitions",
        type=at_most(1000),
        default=REPETITIONS,
        metavar="N",
        help=f"runs of each scenario (default: {REPETITIONS}); prints the best, or for wire the median",
    )
    parser.add_argument(
        "--seconds",
        type=at_most(1000),
        default=2,
        metavar="S",
        help="duration of each run of wire, in seconds (default: 2)",
    )


def execute(given: argparse.Namespace) -> int:
    """Runs the benchmarks and prints the results."""
    if WIRE in given.scenarios:
        if given.scenarios != [WIRE]:
            raise BadInput("mptcplab: `bench wire` measures real packets and takes no scenarios")
        return _wire(given)
    if SCALE in given.scenarios:
        if given.scenarios != [SCALE]:
            raise BadInput("mptcplab: `bench scale` has scenarios of its own and takes no others")
        return _scale(given)
    from mptcplab.bench.simulator import STANDARD, measure

    measured = []
    for name in given.scenarios or list(STANDARD):
        file = STANDARD.get(name.upper())
        path = file if file is not None else Path(name)
        if not path.is_file():
            raise BadInput(f"mptcplab: {name!r} is neither a built-in benchmark ({', '.join(STANDARD)}) nor a file")
        try:
            label = name.upper() if file is not None else path.stem
            measured.append(measure(label, path, given.repetitions))
        except RuntimeError as error:
            raise RunFailed(str(error)) from error
    if given.json:
        print_json(measured)
        return 0
    rows = [["scenario", "data packets", "wall time s", "packets/s", "goodput Mb/s", "peak RSS MB"]]
    rows += [
        [
            row["scenario"],
            f"{row['packets']:,}".replace(",", " "),
            f"{row['wall_s']:.4f}",
            f"{row['packets_per_s'] / 1e6:.2f} M",
            f"{row['goodput_mbps']:.2f}",
            f"{row['peak_rss_mb']:.0f}",
        ]
        for row in measured
    ]
    print(table(rows))
    print(f"values: the best of {given.repetitions} runs on one core, each in its own process")
    return 0


def _scale(given: argparse.Namespace) -> int:
    from mptcplab.bench.scale import DURATION_S, measure

    try:
        measured = measure()
    except RuntimeError as error:
        raise RunFailed(str(error)) from error
    if given.json:
        print_json(measured)
        return 0
    rows = [["transport", "connections", "data packets", "CPU ns/packet", "relative", "kB/connection"]]
    for row in measured:
        first = next(one for one in measured if one["transport"] == row["transport"])
        memory = row["bytes_per_connection"]
        rows.append(
            [
                row["transport"],
                str(row["connections"]),
                str(row["packets"]),
                f"{row['cpu_ns_per_packet']:.0f}",
                f"{row['cpu_ns_per_packet'] / first['cpu_ns_per_packet']:.1f}",
                "" if memory is None else f"{memory / 1e3:.1f}",
            ]
        )
    print(table(rows))
    print(f"one run of {DURATION_S} s over 1 Gb/s on one core; kB: both ends, with packets in flight and results")
    return 0


def _wire(given: argparse.Namespace) -> int:
    from mptcplab.bench.live_bench import BLOCKS, CannotMeasure, cases, measure
    from mptcplab.cli.commands.emulate import ended_by_signals
    from mptcplab.emulation.namespaces import CannotMake
    from mptcplab.run.batch import Progress

    try:
        chosen = cases()
        progress = Progress(len(chosen) * len(BLOCKS) * given.repetitions, "bench wire", quiet=given.json)
        try:
            with ended_by_signals():
                measured = measure(given.repetitions, given.seconds, 0.5, chosen, progress.tick)
        finally:
            progress.close()
    except CannotMake as error:
        raise BadInput(f"mptcplab bench wire: {error}") from error
    except CannotMeasure as error:
        raise RunFailed(str(error)) from error
    if given.json:
        print_json(measured)
        return 0
    print(table([HEADER, *map(_cells, measured)]))
    print(f"Gb/s: median of {given.repetitions} rounds of {given.seconds} s with the fastest block size")
    print(f"device: that of mptcplab; all senders use {measured[0]['congestion']}")
    print(*NOTES, sep="\n")
    if any(row["unsteady"] for row in measured):
        print("*: max is more than twice min, also in a second measurement")
    if failed := sum(row["failed"] for row in measured):
        print(f"{failed} measurements of Linux to Linux failed, and were repeated")
    return 0


def _cells(row: Row) -> list[str]:
    """A line of the table of `bench wire`."""
    names = {"ours": "mptcplab", "linux": "Linux"}
    sender = f"{row['sender_user_s_per_gb']:.2f}+{row['sender_system_s_per_gb']:.2f}"
    receiver = f"{row['receiver_user_s_per_gb']:.2f}+{row['receiver_system_s_per_gb']:.2f}"
    reinjected = f"{row['reinjected'] / 1e6:.1f} MB" if row["sender"] == "ours" else str(row["reinjected"])
    return [
        names[row["sender"]],
        names[row["receiver"]],
        row["device"],
        row["transport"],
        str(row["paths"]),
        "offload" if row["offload"] else "1500 B" + " GRO" * row["gro"],
        f"{row['block'] >> 10} KiB",
        f"{row['gbps']:.2f}",
        f"{row['gbps_least']:.2f}",
        f"{row['gbps_most']:.2f}{'*' if row['unsteady'] else ''}",
        f"{row['cpu_s_per_gb']:.2f}",
        sender,
        receiver,
        str(row["retransmitted"]),
        reinjected if row["transport"] == "mptcp" else "",
        "" if row["of_linux"] is None else f"{row['of_linux']:.2f}",
    ]
