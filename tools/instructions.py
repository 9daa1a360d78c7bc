#!/usr/bin/env python3
"""Counts the instructions per data packet, and compares them with tools/instructions.json.

Runs each scenario twice under callgrind, once with a tenth of its duration. The cost of a packet is the difference of
the instructions, divided by the difference of the packets. Start-up, input, output and Python cancel out. The counts
depend on the compiler, which rust-toolchain.toml pins, and not on the load of the machine.

    tools/instructions.py                          # fail if a count rose by more than 3%

    tools/instructions.py --update 'pacing costs'  # write the counts and the reason

    tools/instructions.py --whole                  # print the counts of S1 over 100 s instead of 20 s

    tools/instructions.py --attacks X7 X11         # print the counts of these attacks, at three sizes

    tools/instructions.py --attacks                # print the counts of all attacks (15 minutes)
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
# The shorter run ends after slow start, and the longer one is short enough for every commit.
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
"""Runs a scenario in the extension, without the package."""


class Count(NamedTuple):
    """Instructions and data packets of a run."""

    instructions: int
    packets: int


def extension() -> Path:
    """The path of the built extension."""
    found = sorted((ROOT / "python" / "mptcplab").glob("_core*.so"))
    if len(found) != 1:
        sys.exit("instructions: the extension is not built; run make build")
    return found[0]


def build(crate: str, example: str) -> Path:
    """The release build of an example."""
    command = ["cargo", "build", "--release", "--locked", "--message-format", "json"]
    command += ["-p", crate, "--example", example]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("instructions: the build of the example failed; see above")
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
        # No packages, no start-up file, the same hashes.
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
    """Instructions per data packet by scenario; durations in seconds."""
    # The longest runs start first.
    runs = [(name, f"{seconds * 1000 // part}ms") for part in (1, 10) for name, seconds in durations.items()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(runs, pool.map(lambda run: count(program, *run), runs), strict=True))
    costs = {}
    for name, seconds in durations.items():
        long, short = counts[name, f"{seconds * 1000}ms"], counts[name, f"{seconds * 100}ms"]
        costs[name] = round((long.instructions - short.instructions) / (long.packets - short.packets), 1)
    return costs


def attacks(names: list[str]) -> None:
    """Prints the instructions of the host per packet for each attack and size, and their growth."""
    program = build("mptcp-hostile", "attacks")
    print("| attack | size | packets | instructions per packet | growth |\n|---|--:|--:|--:|--:|")
    for name in names or list(dict.fromkeys(attack(line)[0] for line in played(program, []).stdout.splitlines()[2:])):
        before = None
        for at in "012":
            done = played(program, ["--at", at, name], "valgrind", "--tool=callgrind", "--toggle-collect=*clocked*")
            total = re.search(r"Collected : (\d+)", done.stderr)
            lines = [attack(line) for line in done.stdout.splitlines()[2:]]
            line = next((line for line in lines if line[0] == name), None)
            if done.returncode != 0 or total is None or line is None:
                sys.exit(f"instructions: attack {name!r} is unknown or failed\n{done.stdout}{done.stderr}")
            cost = int(total[1]) / max(int(line[2]), 1)
            growth = f"{cost / before:.2f}" if before else ""
            print(f"| {name} | {line[1]} | {line[2]} | {cost:,.0f} | {growth} |", flush=True)
            before = cost


def played(program: Path, arguments: list[str], *under: str) -> subprocess.CompletedProcess[str]:
    """Runs the example."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*under, str(program), *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def attack(line: str) -> list[str]:
    """The cells of a line of the example: name, size, packets, and the rest."""
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    return [cells[0].split(":")[0], *cells[1:]]


def missing() -> str | None:
    """The missing requirement, or `None`."""
    tools = [tool for tool in ("valgrind", "setarch") if shutil.which(tool) is None]
    if tools:
        return f"{' and '.join(tools)} is not installed"
    if platform.machine() != "x86_64":
        return f"the counts apply to x86_64, not to {platform.machine()}"
    return None


def judge(now: dict[str, float], kept: dict[str, float]) -> list[str]:
    """Prints a line for each scenario; returns the scenarios whose cost rose too much."""
    risen = []
    for name, cost in now.items():
        change = cost / kept[name] - 1
        print(f"{name}: {cost:.1f} instructions per data packet, {kept[name]:.1f} in {FILE.name}, {change:+.1%}")
        if change > MOST:
            risen.append(name)
        elif change < -MOST:
            print(f"{name} costs less than in {FILE.name}; keep it with --update REASON")
    return risen


def main() -> None:
    """Measures, and compares or writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--update", metavar="WHY", help="write the counts and this reason")
    parser.add_argument("--whole", action="store_true", help="run the complete scenarios; only print")
    parser.add_argument("--program", type=Path, help="measure this extension instead of that of make build")
    parser.add_argument("--attacks", nargs="*", metavar="NAME", help="count attacks on a host instead; only print")
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
        print("\n".join(f"{name}: {cost:.1f} instructions per data packet" for name, cost in now.items()))
        return
    if given.update:
        kept = {"compiler": compiler(), "why": given.update, "instructions_per_data_packet": now}
        FILE.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        print(f"{now} written to {FILE.name}")
        return
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    if kept["compiler"] != compiler():
        print(f"instructions: {FILE.name} was measured with rustc {kept['compiler']}, not with {compiler()}")
    if risen := judge(now, kept["instructions_per_data_packet"]):
        sys.exit(
            f"instructions: {', '.join(risen)} rose by more than {MOST:.0%}; to accept that, run "
            "tools/instructions.py --update REASON"
        )


if __name__ == "__main__":
    main()
