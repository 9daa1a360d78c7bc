"""Merges result directories into one, for `mptcplab merge` and `group`, like mp-merge and mp-gather of the UCL study.

Owns the groups and the joint tables. Keeps every row and every value. If two runs have the same name, seed and variant,
the variant of the later run gets the name of its directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mptcplab.results.read.result_files import SAMPLES, read_columns, read_pieces, read_scenario_text
from mptcplab.results.read.result_reader import WHO, SavedRun, describe, load
from mptcplab.results.write.parquet_join import join
from mptcplab.util.files import digest, only_writer, slug, write_bytes
from mptcplab.util.json_files import write_json
from mptcplab.util.user_input import BadResult, nearest, readable

TABLES = ("samples", "flows", "paths", "links", "blocks")

Who = tuple[str, int, str]
Changed = dict[Who, Who]
"""The new name, seed and variant of each run that also occurs in another result."""


def merge(directories: Sequence[str | Path], output: str | Path) -> list[Who]:
    """Writes the runs of all `directories` into one result; returns run, seed and variant of each.

    Raises `BadResult` if a directory has no result, or is the output itself. After an error, all new files are removed.
    """
    target = Path(output)
    for directory in directories:
        describe(directory)
        if Path(directory).resolve() == target.resolve():
            raise BadResult(f"{directory}: cannot be merged into itself; choose another --output")
    if (target / "run.json").exists():
        raise BadResult(f"{target}: already contains a result; choose another --output")
    is_new = not target.exists()
    written: list[Path] = []
    with only_writer(target):
        try:
            return _merge(directories, target, written)
        except BaseException:
            for file in written:
                file.unlink(missing_ok=True)
            if is_new:
                with suppress(OSError):
                    target.rmdir()
            raise


def _merge(directories: Sequence[str | Path], target: Path, written: list[Path]) -> list[Who]:
    """Merges the runs; `written` collects the new files."""
    described: list[dict[str, Any]] = []
    found: dict[str, list[tuple[Path, Changed]]] = {table: [] for table in TABLES}
    for number, directory in enumerate(directories, 1):
        names = _distinct(
            describe(directory)["runs"], {_who(row) for row in described}, readable(str(directory)), number
        )
        written += (target / _scenario_name(len(described) + at) for at in range(1, len(names) + 1))
        described += _scenarios(directory, target, names, len(described))
        for table in TABLES:
            file = Path(directory) / f"{table}.parquet"
            if file.is_file():
                found[table].append((file, {before: _who(row) for before, row in names if before != _who(row)}))
    version = describe(directories[0])["mptcplab"]
    for table, files in found.items():
        if files:
            written.append(target / f"{table}.parquet")
            _join(table, files, target / f"{table}.parquet")
    backends = sorted({str(describe(directory).get("backend", "sim")) for directory in directories})
    write_json({"mptcplab": version, "backend": ", ".join(backends), "runs": described}, target / "run.json")
    return [_who(row) for row in described]


def group(directories: Sequence[str | Path], by: Sequence[str], output: str | Path) -> dict[str, list[str]]:
    """Merges each group of results with equal values of all keys in `by` into its own directory below `output`.

    Returns the members of each group by name. `by` has keys of `RELATIONS`, `seed`, `variant`, or keys of the
    scenario: `paths.wifi.loss`, `flows.*.rcvbuf`, or the last part of a key. Raises `BadResult` for a key that no
    result has.
    """
    loaded = {str(directory): load(directory) for directory in directories}
    for key in by:
        check_key(key, [run for runs in loaded.values() for run in runs])
    groups: dict[str, list[str]] = {}
    for directory, runs in loaded.items():
        alike = {", ".join(_value(run, key) for key in by) for run in runs}
        if len(alike) > 1:
            raise BadResult(
                f"{directory}: its runs belong to several groups ({'; '.join(sorted(alike))}), because the result is "
                "merged; group the results from which it was merged"
            )
        groups.setdefault(alike.pop() if alike else "empty", []).append(directory)
    names = group_directories(groups)
    for group, members in groups.items():
        merge(members, Path(output) / names[group])
    return groups


def group_directories(groups: Iterable[str]) -> dict[str, str]:
    """The directory name of each group; numbered if two are equal."""
    found: dict[str, str] = {}
    for group in groups:
        name, number = slug(group), 2
        while name in found.values():
            name, number = f"{slug(group)}-{number}", number + 1
        found[group] = name
    return found


def check_key(key: str, runs: Sequence[SavedRun]) -> None:
    """Rejects an unknown key, and lists the known ones."""
    if key in RELATIONS or key in _OF_RUN or any(_matching(run, key) for run in runs):
        return
    keys = sorted({name for run in runs for name, _ in run.settings()})
    near = nearest(key, [*RELATIONS, *_OF_RUN, *keys])
    hint = f"did you mean {near}? " if near else ""
    raise BadResult(
        f"no result has a key {readable(key)!r}; {hint}choose from: {', '.join([*RELATIONS, *_OF_RUN])}, or keys of "
        f"scenarios: {', '.join(keys) or 'none'} (patterns: * for any name, or the last part of a key)"
    )


def _value(run: SavedRun, key: str) -> str:
    if key in RELATIONS:
        return RELATIONS[key](run)
    if key in _OF_RUN:
        return f"{key} {getattr(run, key)}"
    values = dict.fromkeys(value if isinstance(value, str) else str(value) for _, value in _matching(run, key))
    return f"{key.rsplit('.', 1)[-1]} {'+'.join(values) or 'unset'}"


def _matching(run: SavedRun, key: str) -> list[tuple[str, Any]]:
    """The scenario keys that `key` selects, with values: an exact key, a pattern with *, or the last part of keys."""
    return [
        (name, value)
        for name, value in run.settings()
        if fnmatchcase(name, key) or ("." not in key and name.rsplit(".", 1)[-1] == key)
    ]


def _same_scenario(run: SavedRun) -> str:
    """The scenario's name, and a digest of the rest without seeds."""
    text = repr(sorted((key, repr(value)) for key, value in run.settings()))
    return f"{run.name} {digest(text)}"


def channel_relation(run: SavedRun) -> str:
    """The relative channel layout of a run's networks; `BadResult` without channels.

    Interfaces of one cell are one network. `one channel` for a single network; `cross band` for 5 GHz (above 14) with
    2.4 GHz (1 to 14); `same channel` if all are equal; `non-overlapping` if all channels differ by at least 5 at 2.4
    GHz or 4 at 5 GHz; otherwise `overlapping`.
    """
    networks = {str(run.line(path).get("cell", path)): run.channel(path) for path in run.paths}
    channels = [number for number in networks.values() if number is not None]
    if not channels:
        raise BadResult(f"{run.source or run.name}: the scenario has no radio cells, so no interface has a channel")
    if len(channels) == 1:
        return "one channel"
    if len({number > 14 for number in channels}) > 1:
        return "cross band"
    if len(set(channels)) == 1:
        return "same channel"
    # In both bands, channel numbers are 5 MHz apart and channels 20 MHz wide.
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
"""Values other than scenario keys that can define a group."""
_OF_RUN = ("seed", "variant")


def _who(row: Mapping[str, Any]) -> Who:
    return row["run"], row["seed"], row["variant"]


def _distinct(
    rows: Iterable[dict[str, Any]], taken: set[Who], directory: str, number: int
) -> list[tuple[Who, dict[str, Any]]]:
    """The previous name of each run, and its row with a unique name."""
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


def _scenario_name(number: int) -> str:
    return "scenario.toml" if number == 1 else f"scenario-{number}.toml"


def _scenarios(
    directory: str | Path, target: Path, names: Iterable[tuple[Who, dict[str, Any]]], count: int
) -> list[dict[str, Any]]:
    """Copies the scenarios under new names; returns the rows with the new names."""
    rows = []
    for at, (_, row) in enumerate(names, count + 1):
        name = _scenario_name(at)
        write_bytes(target / name, read_scenario_text(Path(directory) / row["scenario"]).encode("utf-8"))
        rows.append(row | {"scenario": name, "source": readable(Path(directory).name)})
    return rows


def _join(table: str, files: Sequence[tuple[Path, Changed]], target: Path) -> None:
    """One joint table, with one row group in memory at a time."""
    wanted = SAMPLES if table == "samples" else None
    pieces = (_renamed(piece, changed) for file, changed in files for piece in read_pieces(file, wanted))
    try:
        join(pieces, [read_columns(file) for file, _ in files], target)
    except pa.ArrowException as error:
        raise BadResult(f"{table}.parquet: the results cannot be joined: {error}") from error


def _renamed(table: pa.Table, changed: Changed) -> pa.Table:
    """The table with the new names of its runs; the rows of a run are contiguous."""
    if not changed or not table.num_rows:
        return table
    table = table.unify_dictionaries()
    encoded = [table[column].combine_chunks().dictionary_encode() for column in WHO]
    codes = np.stack([np.asarray(column.indices) for column in encoded])
    starts = np.concatenate(([0], 1 + np.flatnonzero((codes[:, 1:] != codes[:, :-1]).any(axis=0))))
    lengths = np.diff(np.concatenate((starts, [table.num_rows])))
    rows = zip(*(table[column].take(pa.array(starts)).to_pylist() for column in WHO), strict=True)
    names = [changed.get(who, who)[2] for who in rows]
    numbered = pa.array(np.repeat(np.arange(len(names), dtype=np.int32), lengths))
    variants = pa.DictionaryArray.from_arrays(numbered, pa.array(names, pa.string())).cast(pa.string())
    return table.set_column(table.column_names.index("variant"), "variant", variants)
