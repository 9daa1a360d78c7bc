"""Measures the speed of the simulator (`mptcplab bench`): data packets per second of wall-clock time on one core.

The benchmarks S1 to S4 are scenario files, which show the cost of a change of the code. Each repetition is a new
process that loads only the core, so that the peak memory of the process is that of the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

from mptcplab import _core

STANDARD = {name: Path(__file__).parents[1] / "scenarios" / f"{name.lower()}.toml" for name in ("S1", "S2", "S3", "S4")}


class Row(TypedDict):
    """The result of a benchmark."""

    scenario: str
    packets: int
    wall_s: float
    packets_per_s: float
    goodput_mbps: float
    peak_rss_mb: float


def measure(name: str, file: Path, repetitions: int) -> Row:
    """The fastest of several runs, each in its own process."""
    _core.Scenario.load(file)  # Report errors of the scenario once.
    rows = [_in_process(name, file) for _ in range(repetitions)]
    return min(rows, key=lambda row: row["wall_s"])


def _in_process(name: str, file: Path) -> Row:
    done = subprocess.run(
        [sys.executable, "-m", "mptcplab.bench.simulator", name, str(file)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"the benchmark {name} ended with exit code {done.returncode}")
    row: Row = json.loads(done.stdout)
    return row


def once(name: str, file: Path) -> Row:
    """Runs a scenario in this process."""
    results = _core.run(_core.Scenario.load(file), 1)
    # Rates of flows refer to different times; their sum could exceed the link rate.
    bits = 8 * sum(row["bytes_received"] for row in results.flows)
    return {
        "scenario": name,
        "packets": results.data_packets,
        "wall_s": results.wall_s,
        "packets_per_s": results.data_packets / results.wall_s,
        "goodput_mbps": bits / results.measured_s / 1e6 if results.measured_s else 0.0,
        "peak_rss_mb": peak_bytes() / 1e6,
    }


def peak_bytes() -> float:
    """The peak memory of this process in bytes. Unlike `ru_maxrss`, VmHWM of Linux excludes the time before exec."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    try:
        print(json.dumps(once(sys.argv[1], Path(sys.argv[2]))))
    except (RuntimeError, ValueError, OSError) as error:
        sys.exit(str(error))
