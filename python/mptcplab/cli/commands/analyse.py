"""`mptcplab analyse`: writes metrics of a result by interface and in total, as tables in equal time steps.

Other programs, such as a spreadsheet, can read the tables. The command corresponds to mp-analyze of the UCL MSc report
"Wireless Interference and Multipath TCP" (2013).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.cli.common import BadInput, add_interval, print_json, table

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from mptcplab.results.read.result_reader import SavedRun

NAME = "analyse"
HELP = "write metrics in equal time steps, one table per interface and one in total"
EXAMPLE = "mptcplab analyse results --interval 500ms --output tables"

FORMATS = ("txt", "csv", "parquet")
SHOWN = ("throughput", "utilisation", "cwnd", "srtt", "send_queue", "retransmits")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="result of mptcplab run --output")
    add_interval(parser)
    parser.add_argument("--flow", metavar="F", help="only this flow (default: all flows together)")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="output directory (default: `analysis` in each result)"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="txt", help="file format; txt separates columns by spaces (default: txt)"
    )
    parser.add_argument("--means", action="store_true", help="print only the means, and write no tables")
    parser.add_argument("--json", action="store_true", help="print the means as JSON")


def execute(given: argparse.Namespace) -> int:
    """Writes a file for each interface and the total, unless `--means` is given; prints the means."""
    import pyarrow as pa

    from mptcplab.results.read.result_reader import load
    from mptcplab.stats import analysis
    from mptcplab.util.files import folder

    if given.means and given.output:
        raise BadInput("mptcplab: --means writes no tables; remove --output")
    summary: list[dict[str, Any]] = []
    written: list[Path] = []
    only = [name for name in SHOWN if name in analysis.COLUMNS] if given.means else list(analysis.COLUMNS)
    for directory in given.results:
        runs = load(directory)
        for run in runs:
            found = analysis.columns(run, given.interval, flow=given.flow, only=only)
            summary += [
                {"result": str(directory), "run": run.name, "seed": run.seed, "variant": run.variant,
                 "interface": name} | _means(columns, run.warmup)
                for name, columns in found.items()
            ]  # fmt: skip
            if given.means:
                continue
            target = _target(given, directory, run, alone=len(runs) == 1)
            folder(target)
            for name, columns in found.items():
                _write(_with_bit_rate(run, name, pa.table(columns)), target / f"{_slug(name)}.{given.format}")
            written.append(target)
    if given.json:
        print_json(summary)
        return 0
    rows = [["interface", "run", *(f"{name} [{analysis.unit(name)}]" for name in SHOWN)]]
    for row in summary:
        label = ", ".join(part for part in (row["run"], row["variant"], f"seed {row['seed']}") if part)
        rows.append([row["interface"], label, *(_number(row[name]) for name in SHOWN)])
    print(table(rows))
    print("all values are means after the warm-up, except retransmits: the total after the warm-up")
    for target in written:
        print(f"written to {target}/")
    return 0


def _target(given: argparse.Namespace, directory: Path, run: SavedRun, *, alone: bool) -> Path:
    from mptcplab.util.files import slug

    base: Path = given.output or directory / "analysis"
    if given.output and len(given.results) > 1:
        base = base / slug(str(directory))
    return base if alone else base / slug(f"{run.name} {run.variant} seed-{run.seed}")


def _slug(name: str) -> str:
    from mptcplab.util.files import slug

    return slug(name)


def _means(columns: dict[str, NDArray[np.float64]], warmup: float) -> dict[str, float]:
    """The mean of each column after the warm-up, or the total for counts; NaN without values."""
    import numpy as np

    from mptcplab.stats.analysis import COLUMNS

    first = int(np.searchsorted(columns["time_s"], warmup + 1e-9, side="right"))
    names = list(columns)[1:]
    late = np.array([columns[name][first:] for name in names])
    known = np.isfinite(late)
    number = known.sum(axis=1)
    means = {}
    for name, column, mine, n, total in zip(
        names, late, known, number.tolist(), late.sum(axis=1).tolist(), strict=True
    ):
        found = total if n == column.size else float(column[mine].sum())
        count = name in COLUMNS and COLUMNS[name].kind == "count"
        means[name] = float("nan") if not n else found if count else found / n
    return means


def _with_bit_rate(run: SavedRun, name: str, columns: pa.Table) -> pa.Table:
    """The table with the link rate of the scenario in Mb/s, if it is known."""
    import numpy as np

    rate = run.bit_rate(name)
    return columns.append_column("bit_rate", [np.full(columns.num_rows, float("nan") if rate is None else rate / 1e6)])


def _write(columns: pa.Table, path: Path) -> None:
    from mptcplab.results.write.export import write_parquet
    from mptcplab.stats.analysis import unit
    from mptcplab.util.files import write_text

    if path.suffix == ".parquet":
        write_parquet(columns, path)
        return
    between = " " if path.suffix == ".txt" else ","
    units = ["s", *(unit(name) for name in columns.column_names[1:-1]), "Mb/s"]
    names = [
        name if name == "time_s" else f"{name}[{of}]" for name, of in zip(columns.column_names, units, strict=True)
    ]
    rows = zip(*(column.to_pylist() for column in columns.columns), strict=True)
    lines = [between.join(names), *(between.join(f"{value:.6g}" for value in row) for row in rows)]
    write_text(path, "\n".join(lines) + "\n")


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"
