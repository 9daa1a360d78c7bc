"""The results of a survey as text, tables and files.

A survey runs MPTCP on generated networks and compares it with plain TCP, to find networks on which MPTCP is slower. A
policy is a set of flow keys, for example a controller and a scheduler; `historical` sets the rules of the kernels of
2012 and 2013. A load is a file, or blocks that are written at a rate. The oracle is the upper bound for any sender.

Owns the counts, the sentence about a network, and the files: a table of all networks, and scenario files of the worst
ones. Never runs anything; `measure`, `short_flows` and `shared_bottleneck` have the measured values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mptcplab.results.text.summary import limits_in_words, megabits
from mptcplab.results.write.export import write_parquet
from mptcplab.survey.measure import AFTER_S, BACK_S, SILENCE_S, Measured
from mptcplab.survey.shared_bottleneck import Share
from mptcplab.survey.short_flows import LATE, Timed
from mptcplab.util.files import write_bytes

LINES = (0.95, 0.8, 0.5)
"""Networks whose goodput is below these shares of the best path are counted."""
WORST = 10
"""Scenario files per policy."""


def is_unconstrained(one: Measured) -> bool:
    """Whether only link rates limit a flow: no randomness, and a buffer above twice the sum of the BDPs."""
    window = 4 << 20 if one.network.buffer is None else one.network.buffer
    return not one.network.chance and window > 2 * sum(link.bdp for link in one.network.links)


def distribution(measured: Sequence[Measured]) -> dict[str, Any]:
    """The results of one policy: counts of networks below each share of the best path, and medians of the ratios."""
    ratios = np.array([one.of_best for one in measured])
    roomy = [one.of_sum for one in measured if is_unconstrained(one)]
    return {
        "networks": len(ratios),
        **{f"below_{line:g}": int((ratios < line).sum()) for line in LINES},
        "worst": float(ratios.min()),
        "median": float(np.median(ratios)),
        "median_of_sum": float(np.median([one.of_sum for one in measured])),
        "roomy": len(roomy),
        "median_of_sum_roomy": float(np.median(roomy)) if roomy else None,
        "median_of_oracle": float(np.median([one.of_oracle for one in measured])),
        **(_changing(measured) if any(one.after for one in measured) else {}),
    }


def _changing(measured: Sequence[Measured]) -> dict[str, Any]:
    """The results on changing paths: counts of networks below 80% of the best path, in the run or after a change. Also
    counts of networks with a silence, or with a recovered path that stayed unused.
    """
    return {
        "least_below_0.8": sum(one.least < LINES[1] for one in measured),
        "least": min(one.least for one in measured),
        "silent": sum(one.silence > SILENCE_S for one in measured),
        "longest_silence": max(one.silence for one in measured),
        "left_unused": sum(one.back > BACK_S for one in measured),
    }


def sentence(one: Measured) -> str:
    """The result on a network and its limiting factors, as text."""
    alone = ", ".join(f"path{at} {megabits(rate)}" for at, rate in enumerate(one.alone, 1))
    row = one.flow
    words = f"Goodput {megabits(one.goodput)}, {one.of_best:.1%} of plain TCP over the best path. "
    words += f"Plain TCP alone: {alone}. "
    if one.after:
        shares = ", ".join(f"{share:.1%}" for share in one.after)
        words += f"In the {AFTER_S:g} s after each change: {shares} of the best path. "
        words += f"Nothing arrived for {one.silence:.1f} s. " if one.silence > SILENCE_S else ""
        words += f"A recovered path was unused for {one.back:.1f} s. " if one.back > BACK_S else ""
    words += limits_in_words(row["limits"]).capitalize()
    # M2 is penalisation: a subflow that blocks the receive window halves its congestion window.
    if row["penalties"]:
        words += f"; penalisation (M2) halved windows {row['penalties']} times"
    return words + "."


def times(timed: Sequence[Timed]) -> list[dict[str, Any]]:
    """The results of each policy and load, one row for each reference: plain TCP on the first or on the best path.

    Files are compared with the path on which the connection starts, long files also with the best path, blocks only
    with the best path. `late` loads take more than `LATE` times as long as TCP. Late loads with an explanation are
    counted once, by the first that applies. `excused`: the lower bound for any sender (`Timed.least`) is late too.
    `join`: MPTCP is not late compared with plain TCP that starts after the join. `with_options`: MPTCP is not late
    compared with MPTCP on the reference path alone, which sends the same options.
    """
    rows = []
    for (policy, load, what), known in compared(timed).items():
        every = [one for one in timed if (one.policy.name, str(one.load)) == (policy, load)]
        ratios = [ratio for ratio, *_ in known]
        row: dict[str, Any] = {"policy": policy, "load": load, "beside": what, "networks": len(ratios)}
        row["not_measured"] = sum(what == "first path" or one.load.is_long(one.network) for one in every) - len(ratios)
        if ratios:
            late = [(other, one) for ratio, other, one in known if ratio > LATE]
            others = [one for other, one in late if one.least <= LATE * other]
            left = [one for one in others if one.time > LATE * one.joined]
            with_options = sum(one.time <= LATE * _with_options(one, what) for one in left)
            row |= {"median": float(np.median(ratios)), "late": len(late), "excused": len(late) - len(others)}
            row |= {"join": len(others) - len(left), "with_options": with_options, "worst": max(ratios)}
        rows.append(row)
    return rows


def compared(timed: Sequence[Timed]) -> dict[tuple[str, str, str], list[tuple[float, float, Timed]]]:
    """By policy, load and reference: for each network the ratio, the time of the reference in s, and the other values.

    Excludes networks on which neither MPTCP nor TCP completed the load, and does not compare short files with the
    best path.
    """
    found: dict[tuple[str, str, str], list[tuple[float, float, Timed]]] = {}
    for one in timed:
        reference = [("first path", one.of_first, one.alone[0])] if one.load.file is not None else []
        reference.append(("best path", one.of_best if one.load.is_long(one.network) else math.nan, min(one.alone)))
        for what, ratio, other in reference:
            known = found.setdefault((one.policy.name, str(one.load), what), [])
            if not math.isnan(ratio):
                known.append((ratio, other, one))
    return found


def _with_options(one: Timed, reference: str) -> float:
    return (one.with_options[0] if reference == "first path" else min(one.with_options)) if one.with_options else 0.0


def friendliness(shares: Sequence[Share]) -> list[dict[str, Any]]:
    """The results of each policy behind shared bottlenecks, as means over the bottlenecks: its share, the share
    relative to the policy `historical`, and RFC 6356's three goals.
    """
    historical = {one.bottleneck: one.share for one in shares if one.policy.name == "historical"}
    rows = []
    for policy in dict.fromkeys(one.policy.name for one in shares):
        own = [one for one in shares if one.policy.name == policy]
        share = float(np.mean([one.share for one in own]))
        # With one competing flow on each path, neither is more congested.
        on_free = [one.on_free for one in own if one.bottleneck.others > 1]
        rows.append(
            {
                "policy": policy,
                "bottlenecks": len(own),
                "share": share,
                "least": min(one.share for one in own),
                "most": max(one.share for one in own),
                "of_historical": share / float(np.mean(list(historical.values()))) if historical else None,
                "of_tcp": float(np.mean([one.of_tcp for one in own])),
                "to_others": float(np.mean([one.to_others for one in own])),
                "on_free": float(np.mean(on_free)) if on_free else None,
            }
        )
    return rows


def save_shares(shares: Sequence[Share], output: Path) -> None:
    """Writes `shared.parquet`: one row per bottleneck and policy."""
    columns: dict[str, list[Any]] = {
        "network": [one.bottleneck.name for one in shares],
        "policy": [one.policy.name for one in shares],
        "others": [one.bottleneck.others for one in shares],
        "goodput": [one.own for one in shares],
        "goodput_of_others": [one.others for one in shares],
        "share": [one.share for one in shares],
        "of_tcp": [one.of_tcp for one in shares],
        "to_others": [one.to_others for one in shares],
        "on_free": [one.on_free for one in shares],
        "link": [str(one.bottleneck) for one in shares],
    }
    output.mkdir(parents=True, exist_ok=True)
    write_parquet(pa.table(columns), output / "shared.parquet")


def save_times(timed: Sequence[Timed], output: Path) -> None:
    """Writes `short.parquet`: one row per network, policy and load."""
    columns: dict[str, list[Any]] = {
        "network": [one.network.name for one in timed],
        "policy": [one.policy.name for one in timed],
        "load": [str(one.load) for one in timed],
        "runs": [one.runs for one in timed],
        "time_s": [one.time for one in timed],
        "first_path_s": [one.alone[0] for one in timed],
        "best_path_s": [min(one.alone) for one in timed],
        "of_first": [one.of_first for one in timed],
        "of_best": [one.of_best for one in timed],
        "least_s": [one.least for one in timed],
        "joined_s": [one.joined for one in timed],
        "with_options_first_path_s": [one.with_options[0] if one.with_options else math.nan for one in timed],
        "with_options_best_path_s": [min(one.with_options, default=math.nan) for one in timed],
        "long": [one.load.is_long(one.network) for one in timed],
        "links": [str(one.network) for one in timed],
    }
    output.mkdir(parents=True, exist_ok=True)
    write_parquet(pa.table(columns), output / "short.parquet")


def save(measured: Iterable[Measured], output: Path) -> None:
    """Writes `survey.parquet`, and the worst networks of each policy as scenario files."""
    measured = list(measured)
    columns: dict[str, list[Any]] = {
        "network": [one.network.name for one in measured],
        "policy": [one.policy.name for one in measured],
        "paths": [len(one.network.links) for one in measured],
        "runs": [one.runs for one in measured],
        "buffer_bytes": [one.network.buffer for one in measured],
        "goodput": [one.goodput for one in measured],
        "best_path": [one.best for one in measured],
        "of_best": [one.of_best for one in measured],
        "of_sum": [one.of_sum for one in measured],
        "of_oracle": [one.of_oracle for one in measured],
        "least": [one.least for one in measured],
        "silence_s": [one.silence for one in measured],
        "back_s": [one.back for one in measured],
        "links": [str(one.network) for one in measured],
    }
    (output / "worst").mkdir(parents=True, exist_ok=True)
    write_parquet(pa.table(columns), output / "survey.parquet")
    for policy in dict.fromkeys(one.policy.name for one in measured):
        own = sorted((one for one in measured if one.policy.name == policy), key=lambda one: one.of_best)
        for place, one in enumerate(own[:WORST], 1):
            keys = {"transport": "mptcp", "baselines": True, **one.policy.keys}
            scenario = one.network.scenario(keys, name=f"{policy} {place}: {one.network.name}")
            text = f"# {sentence(one)}\n# {one.network}\n{scenario.to_toml()}"
            write_bytes(output / "worst" / f"{policy.replace('+', '-')}-{place:02d}.toml", text.encode())
