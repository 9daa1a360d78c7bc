"""Several results as one, as mp-merge and mp-gather of the UCL study made it.

Owns which results belong together and how tables become one. Keeps every row and never changes a value: where two
runs would have the same name, the variant of the later one says where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa

from mptcplab.export import write_parquet
from mptcplab.files import folder, write_bytes
from mptcplab.inputs import BadResult, readable
from mptcplab.json_files import write_json
from mptcplab.reading import SAMPLES, read_scenario_text, read_table
from mptcplab.saved import WHO, SavedRun, describe, load

TABLES = ("samples", "flows", "paths", "links", "blocks")

Who = tuple[str, int, str]


def merge(directories: Sequence[str | Path], output: str | Path) -> list[Who]:
    """Writes the runs of all `directories` into one result; returns run, seed and variant of each.

    Raises `BadResult` when a directory holds no result, or is the output itself.
    """
    target = Path(output)
    for directory in directories:
        describe(directory)
        if Path(directory).resolve() == target.resolve():
            raise BadResult(f"{directory}: cannot be merged into itself; give another --output")
    if (target / "run.json").exists():
        raise BadResult(f"{target}: holds a result already; give another --output")
    folder(target)
    described: list[dict[str, Any]] = []
    found: dict[str, list[pa.Table]] = {table: [] for table in TABLES}
    for number, directory in enumerate(directories, 1):
        names = _distinct(
            describe(directory)["runs"], {_who(row) for row in described}, readable(str(directory)), number
        )
        described += _scenarios(directory, target, names, len(described))
        for table in TABLES:
            file = Path(directory) / f"{table}.parquet"
            if file.is_file():
                wanted = SAMPLES if table == "samples" else None
                found[table].append(_renamed(read_table(file, wanted), names))
    version = describe(directories[0])["mptcplab"]
    for table, parts in found.items():
        if parts:
            write_parquet(_joined(parts, table), target / f"{table}.parquet")
    backends = sorted({str(describe(directory).get("backend", "sim")) for directory in directories})
    write_json({"mptcplab": version, "backend": ", ".join(backends), "runs": described}, target / "run.json")
    return [_who(row) for row in described]


def gather(directories: Sequence[str | Path], by: Sequence[str], output: str | Path) -> dict[str, list[str]]:
    """Merges each group of results that are alike in all of `by` into a directory of its own below `output`.

    Returns the names of the groups and their members. `by` are keys of `RELATIONS`.
    """
    groups: dict[str, list[str]] = {}
    for directory in directories:
        runs = load(directory)
        alike = {", ".join(RELATIONS[key](run) for key in by) for run in runs}
        if len(alike) > 1:
            raise BadResult(
                f"{directory}: its runs belong to several groups ({'; '.join(sorted(alike))}); it is a merged result"
            )
        groups.setdefault(alike.pop() if alike else "empty", []).append(str(directory))
    for name, members in groups.items():
        merge(members, Path(output) / slug(name))
    return groups


def _same_scenario(run: SavedRun) -> str:
    """The scenario's name, and a digest of the rest: seeds are no part of it."""
    import hashlib

    text = repr(sorted(_flat(run.scenario)))
    return f"{run.name} {hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _flat(value: Any, key: str = "") -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [row for name, item in value.items() for row in _flat(item, f"{key}.{name}")]
    return [(key, repr(value))]


def channel_relation(run: SavedRun) -> str:
    """How the channels of a run's networks lie to each other; `BadResult` without channels.

    Interfaces in one cell are one network. `one channel` where there is only one, `cross band` where one is in the
    5 GHz band (32 and above) and one in the 2.4 GHz band (1 to 14), `same channel` where all are equal,
    `non-overlapping` where all of one band are 5 apart or more, otherwise `overlapping`.
    """
    networks = {str(run.line(path).get("cell", path)): run.channel(path) for path in run.paths}
    channels = [number for number in networks.values() if number is not None]
    if not channels:
        raise BadResult(f"{run.source or run.name}: its scenario has no radio cells, so no interface has a channel")
    if len(channels) == 1:
        return "one channel"
    if len({number > 14 for number in channels}) > 1:
        return "cross band"
    if len(set(channels)) == 1:
        return "same channel"
    # Channels of 2.4 GHz are 5 MHz apart and 20 MHz wide; those of 5 GHz are numbered by 5 MHz too.
    apart = min(abs(one - other) for one, other in combinations(channels, 2))
    return "non-overlapping" if apart >= (5 if channels[0] <= 14 else 4) else "overlapping"


def _controllers(run: SavedRun) -> str:
    return "+".join(run.controllers())


def _direction(run: SavedRun) -> str:
    return "+".join(sorted({str(flow.get("direction", "upload")) for flow in run.scenario.get("flows", {}).values()}))


RELATIONS: dict[str, Callable[[SavedRun], str]] = {
    "scenario": _same_scenario,
    "channel": channel_relation,
    "congestion": _controllers,
    "direction": _direction,
}
"""By what results can be gathered."""


def slug(text: str) -> str:
    """A name for a file or directory: letters, digits, point, plus and hyphen."""
    kept = "".join(letter if letter.isalnum() or letter in ".+-" else "-" for letter in text)
    return "-".join(part for part in kept.split("-") if part) or "run"


def _who(row: Mapping[str, Any]) -> Who:
    return row["run"], row["seed"], row["variant"]


def _distinct(
    rows: Iterable[dict[str, Any]], taken: set[Who], directory: str, number: int
) -> list[tuple[Who, dict[str, Any]]]:
    """Each run's name so far, and its row with a name that no other run has."""
    named = []
    for row in rows:
        before, new = _who(row), dict(row)
        candidates = (Path(directory).name, directory, f"{directory} {number}")
        while _who(new) in taken:
            new["variant"] = ", ".join(part for part in (row["variant"], candidates[0]) if part)
            candidates = (*candidates[1:], f"{candidates[0]}'")
        taken.add(_who(new))
        named.append((before, new))
    return named


def _scenarios(
    directory: str | Path, target: Path, names: Iterable[tuple[Who, dict[str, Any]]], count: int
) -> list[dict[str, Any]]:
    """Copies the scenarios under new names; the rows with these."""
    rows = []
    for at, (_, row) in enumerate(names, count + 1):
        name = "scenario.toml" if at == 1 else f"scenario-{at}.toml"
        write_bytes(target / name, read_scenario_text(Path(directory) / row["scenario"]).encode("utf-8"))
        rows.append(row | {"scenario": name, "source": readable(Path(directory).name)})
    return rows


def _renamed(table: pa.Table, names: Iterable[tuple[Who, dict[str, Any]]]) -> pa.Table:
    """The table with the new names of its runs."""
    changed = {before: _who(row) for before, row in names if before != _who(row)}
    if not changed:
        return table
    rows = zip(*(table[column].to_pylist() for column in WHO), strict=True)
    variants = pa.array([changed.get(who, who)[2] for who in rows], pa.string())
    return table.set_column(table.column_names.index("variant"), "variant", variants)


def _joined(parts: Sequence[pa.Table], table: str) -> pa.Table:
    """One table; where one has a column that others have not, theirs is null there. Text repeats, so it is numbered."""
    try:
        whole = pa.concat_tables(parts, promote_options="default").combine_chunks()
    except pa.ArrowException as error:
        raise BadResult(f"{table}.parquet: the results do not go together: {error}") from error
    for at, field in enumerate(whole.schema):
        if pa.types.is_string(field.type) and whole.num_rows:
            whole = whole.set_column(at, field.name, whole[field.name].dictionary_encode().combine_chunks())
    return whole
