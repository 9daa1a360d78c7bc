#!/usr/bin/env python3
"""Counts the instructions that a data packet costs, and holds them against tools/instructions.json.

A scenario runs under callgrind twice, in the extension that `make build` made, once with a tenth of its duration; what
the longer run took more, over the data packets that it carried more, is what a packet costs: start, reading and writing
drop out, and Python with them. The counts depend on the compiler, which rust-toolchain.toml pins, and not on what else
the machine does.

    tools/instructions.py                          measures; fails when a count rose by more than 3 %
    tools/instructions.py --update 'pacing costs'  writes what was measured, and why
    tools/instructions.py --whole                  S1 over its whole 100 s, not 20 s; only prints
    tools/instructions.py --attacks X7 X11         what a packet of these attacks costs, at three sizes; only prints
    tools/instructions.py --attacks                the same of all attacks (a quarter of an hour)
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tools" / "instructions.json"
SCENARIOS = ROOT / "python" / "mptcplab" / "scenarios"
# Long enough that slow start is over in the shorter run, short enough for every commit.
SECONDS = {"S1": 20, "S2": 100}
WHOLE = {"S1": 100, "S2": 100}
MOST = 0.03


RUN = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
_, extension, file, duration = sys.argv
loader = ExtensionFileLoader("mptcplab._core", extension)
core = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(core)
print(core.run(core.Scenario.load(file).with_values([("duration", duration)]), 1).data_packets, "data packets")
"""
"""Runs a scenario in the extension alone."""


class Count(NamedTuple):
    """What a run took."""

    instructions: int
    packets: int


def extension() -> Path:
    """The extension, built."""
    found = sorted((ROOT / "python" / "mptcplab").glob("_core*.so"))
    if len(found) != 1:
        sys.exit("instructions: there is no extension to count in: make build")
    return found[0]


def build(crate: str, example: str) -> Path:
    """The release build of an example."""
    command = ["cargo", "build", "--release", "--locked", "--message-format", "json"]
    command += ["-p", crate, "--example", example]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("instructions: the example cannot be built, see above")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return Path(next(m["executable"] for m in messages if m.get("target", {}).get("name") == example))


def compiler() -> str:
    """The version of the compiler."""
    said = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return said.split()[1]


def count(program: Path, name: str, duration: str) -> Count:
    """Instructions and data packets of one run."""
    with tempfile.TemporaryDirectory() as folder:
        # The same addresses and the same environment each time.
        command = ["setarch", platform.machine(), "--addr-no-randomize", "valgrind", "--tool=callgrind"]
        # Nothing but the extension: no packages, no start-up file, the same hashes.
        command += [f"--callgrind-out-file={folder}/out", sys.executable, "-I", "-S", "-B", "-c", RUN, str(program)]
        command += [str(SCENARIOS / f"{name.lower()}.toml"), duration]
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    total = re.search(r"Collected : (\d+)", done.stderr)
    packets = re.search(r"^(\d+) data packets$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or total is None or packets is None:
        sys.exit(f"instructions: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return Count(int(total[1]), int(packets[1]))


def measure(program: Path, durations: dict[str, int]) -> dict[str, float]:
    """Instructions a data packet, by scenario; durations in seconds."""
    # The long runs first: they last longest.
    runs = [(name, f"{seconds * 1000 // part}ms") for part in (1, 10) for name, seconds in durations.items()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(runs, pool.map(lambda run: count(program, *run), runs), strict=True))
    costs = {}
    for name, seconds in durations.items():
        long, short = counts[name, f"{seconds * 1000}ms"], counts[name, f"{seconds * 100}ms"]
        costs[name] = round((long.instructions - short.instructions) / (long.packets - short.packets), 1)
    return costs


def attacks(names: list[str]) -> None:
    """Prints for each attack, at each size, the instructions of the host for a packet, and their growth."""
    program = build("mptcp-hostile", "attacks")
    print("| attack | size | packets | instructions a packet | growth |\n|---|--:|--:|--:|--:|")
    for name in names or list(dict.fromkeys(attack(line)[0] for line in played(program, []).stdout.splitlines()[2:])):
        before = None
        for at in "012":
            done = played(program, ["--at", at, name], "valgrind", "--tool=callgrind", "--toggle-collect=*clocked*")
            total = re.search(r"Collected : (\d+)", done.stderr)
            lines = [attack(line) for line in done.stdout.splitlines()[2:]]
            line = next((line for line in lines if line[0] == name), None)
            if done.returncode != 0 or total is None or line is None:
                sys.exit(f"instructions: no attack {name!r}, or it failed\n{done.stdout}{done.stderr}")
            cost = int(total[1]) / max(int(line[2]), 1)
            growth = f"{cost / before:.2f}" if before else ""
            print(f"| {name} | {line[1]} | {line[2]} | {cost:,.0f} | {growth} |", flush=True)
            before = cost


def played(program: Path, arguments: list[str], *under: str) -> subprocess.CompletedProcess[str]:
    """The example, run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*under, str(program), *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def attack(line: str) -> list[str]:
    """A line that the example prints: name, size, packets, and the rest."""
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    return [cells[0].split(":")[0], *cells[1:]]


def missing() -> str | None:
    """What the machine lacks."""
    tools = [tool for tool in ("valgrind", "setarch") if shutil.which(tool) is None]
    if tools:
        return f"{' and '.join(tools)} not installed"
    if platform.machine() != "x86_64":
        return f"the counts are those of x86_64, and this is {platform.machine()}"
    return None


def judge(now: dict[str, float], kept: dict[str, float]) -> list[str]:
    """Prints a line for each scenario; what rose too much comes back."""
    risen = []
    for name, cost in now.items():
        change = cost / kept[name] - 1
        print(f"{name}: {cost:.1f} instructions a data packet, {kept[name]:.1f} in {FILE.name}, {change:+.1%}")
        if change > MOST:
            risen.append(name)
        elif change < -MOST:
            print(f"{name} costs less than {FILE.name} says: keep it with --update 'what made it faster'")
    return risen


def main() -> None:
    """Measures, and judges or writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--update", metavar="WHY", help="write what was measured, and the reason")
    parser.add_argument("--whole", action="store_true", help="run the whole scenarios, and only print")
    parser.add_argument("--program", type=Path, help="measure this extension, not that of make build")
    parser.add_argument("--attacks", nargs="*", metavar="NAME", help="count attacks on a host instead")
    given = parser.parse_args()
    if lacks := missing():
        if os.environ.get("CI"):
            sys.exit(f"instructions: {lacks}")
        print(f"instructions: skipped, {lacks}")
        return
    if given.attacks is not None:
        attacks(given.attacks)
        return
    now = measure(given.program or extension(), WHOLE if given.whole else SECONDS)
    if given.whole:
        print("\n".join(f"{name}: {cost:.1f} instructions a data packet" for name, cost in now.items()))
        return
    if given.update:
        kept = {"compiler": compiler(), "why": given.update, "instructions_per_data_packet": now}
        FILE.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        print(f"{now} written to {FILE.name}")
        return
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    if kept["compiler"] != compiler():
        print(f"instructions: {FILE.name} is of rustc {kept['compiler']}, this is {compiler()}")
    if risen := judge(now, kept["instructions_per_data_packet"]):
        sys.exit(
            f"instructions: {', '.join(risen)} rose by more than {MOST:.0%}. If that is worth it: "
            "tools/instructions.py --update 'why'"
        )


if __name__ == "__main__":
    main()
