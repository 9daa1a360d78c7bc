"""A person's own results with what a study published of the same experiment laid over them.

Owns how a saved run becomes one point, and which runs are one curve: those whose scenarios differ in nothing but the
value on the horizontal axis. What was published is the business of the studies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab import analysis, plots
from mptcplab.inputs import BadResult, choose, readable
from mptcplab.reading import read_table
from mptcplab.saved import WHO, SavedRun
from mptcplab.statistics import Estimate, estimate
from mptcplab.studies.published import TIME, Published, mark
from mptcplab.sweep_plot import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mptcplab.studies.base import Experiment

MOST_CURVES = 10
"""Curves in a panel; of more, the first."""


@dataclass(frozen=True)
class Measured:
    """A saved run and its rows of `flows` and `paths`."""

    run: SavedRun
    flows: Sequence[Mapping[str, Any]]
    paths: Sequence[Mapping[str, Any]]

    def seconds(self, flow: Mapping[str, Any]) -> float:
        """How long a transfer took; the whole run if it did not end."""
        return float(flow["completion_s"] or self.run.duration)

    def over_wifi(self, flow: str) -> float:
        """The part of a flow's bytes that paths of that name carried."""
        own = [row for row in self.paths if row["flow"] == flow]
        wifi = sum(int(row["bytes_acked"]) for row in own if row["path"].startswith("wifi"))
        return wifi / max(1, sum(int(row["bytes_acked"]) for row in own))

    def mean(self, value: Callable[[Mapping[str, Any]], float]) -> float:
        """Of a value over the flows."""
        return sum(map(value, self.flows)) / len(self.flows)

    def rate(self, flow: Mapping[str, Any]) -> float:
        """Mb/s over the time of a transfer."""
        return float(flow["bytes_received_total"]) * 8 / self.seconds(flow) / 1e6


def _by_flow(column: str, scale: float) -> Callable[[Measured], dict[str, float]]:
    return lambda found: {str(row["flow"]): row[column] / scale for row in found.flows}


def _interfaces(found: Measured) -> dict[str, float]:
    total = 0.0
    for path in found.run.paths:
        times, rates = found.run.series("interface_throughput", path=path)
        late = rates[times > found.run.warmup + 1e-9]
        total += float(late.mean()) if late.size else 0.0
    return {"": total / 1e6}


def _parts(found: Measured) -> tuple[float, float]:
    """Throughput of the flows of Multipath TCP, and of the others, means."""
    kinds: dict[bool, list[float]] = {True: [], False: []}
    for row in found.flows:
        kinds[bool(row["multipath"])].append(row["throughput"])
    if not all(kinds.values()):
        raise BadResult(f"{found.run.source}: this was published of Multipath TCP beside TCP, and only one of them ran")
    return sum(kinds[True]) / len(kinds[True]), sum(kinds[False]) / len(kinds[False])


def _ratio(found: Measured) -> dict[str, float]:
    both = _parts(found)
    return {"": both[0] / max(both[1], 8e-6)}


def _part(found: Measured) -> dict[str, float]:
    _parts(found)
    all_of = sum(row["throughput"] for row in found.flows)
    return {"": sum(row["throughput"] for row in found.flows if row["multipath"]) / max(all_of, 8e-6)}


QUANTITIES: Mapping[str, tuple[str, Callable[[Measured], dict[str, float]]]] = {
    "goodput": ("goodput [Mb/s]", _by_flow("goodput", 1e6)),
    "interface_throughput": ("frames on all interfaces [Mb/s]", _interfaces),
    "completion_time": ("time of a transfer [s]", lambda found: {"": found.mean(found.seconds)}),
    "pair_rate": ("throughput of a pair [Mb/s]", lambda found: {"": found.mean(found.rate)}),
    "wifi_rate": (
        "of it over WiFi [Mb/s]",
        lambda found: {"": found.mean(lambda row: found.rate(row) * found.over_wifi(row["flow"]))},
    ),
    "wifi_share": (
        "share of WiFi [%]",
        lambda found: {
            "": 100 * found.mean(lambda row: found.rate(row) * found.over_wifi(row["flow"])) / found.mean(found.rate)
        },
    ),
    "mptcp_over_tcp": ("throughput of MPTCP over TCP's", _ratio),
    "mptcp_part": ("MPTCP's part of the throughput of all", _part),
}
"""What one run gives, by curve, for each quantity that was published beside the course of a run."""


def experiment_of(runs: Sequence[SavedRun], known: Mapping[str, Experiment], wanted: str) -> Experiment:
    """The experiment `wanted`, or without that the one that the scenario names.

    Raises `BadResult` where none is known, or its source gives no number.
    """
    have = sorted(name for name, experiment in known.items() if experiment.published)
    if wanted:
        name = choose(readable(wanted), known, "experiment")
    else:
        marks = {mark(str(run.scenario.get("description", ""))) for run in runs}
        name = str(next(iter(marks))) if len(marks) == 1 else ""
        if name not in known:
            raise BadResult(
                f"{runs[0].source}: its scenario is of no published experiment that it names (the description of what "
                f"`mptcplab study` writes does); say which: --published STUDY/EXPERIMENT, one of {', '.join(have)}"
            )
    if not known[name].published:
        raise BadResult(f"{name}: its source gives words and no number to draw; these have numbers: {', '.join(have)}")
    return known[name]


def plot_published(runs: Sequence[SavedRun], experiment: Experiment) -> Figure:
    """A panel for each quantity that was published, over what it was published; of several seeds means."""
    panels: dict[tuple[str, str], list[Published]] = {}
    for one in experiment.published:
        panels.setdefault((one.of, one.over), []).append(one)
    with plots.house_style():
        figure, axes = plots.new_figure(1, len(panels), width=7.4, height=4.2)
        for panel, ((of, over), published) in zip(axes, panels.items(), strict=True):
            if over == TIME:
                _course(panel, runs[0], of, published)
            else:
                _curves(panel, measured(runs), of, over, published)
            panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8.5)
        axes[0].set_title(f"your runs, and what was published: {experiment.study}/{experiment.name}")
    return figure


def measured(runs: Sequence[SavedRun]) -> list[Measured]:
    """The runs of a result with their rows."""
    rows: dict[str, dict[tuple[Any, ...], list[Mapping[str, Any]]]] = {}
    for table in ("flows", "paths"):
        rows[table] = {}
        for row in read_table(Path(runs[0].source) / f"{table}.parquet").to_pylist():
            rows[table].setdefault(tuple(row[name] for name in WHO), []).append(row)
    found = []
    for run in runs:
        who = (run.name, run.seed, run.variant)
        if who not in rows["flows"]:
            raise BadResult(f"{run.source}: flows.parquet has no row of seed {run.seed} of {run.name}")
        found.append(Measured(run, rows["flows"][who], rows["paths"].get(who, [])))
    return found


def _course(axes: Axes, run: SavedRun, metric: str, published: Sequence[Published]) -> None:
    """A metric of the first run over time, a line for each flow and interface."""
    quantity = analysis.COLUMNS[metric]
    series = {f"{flow}, {path}": run.series(metric, flow=flow, path=path) for flow in run.flows for path in run.paths}
    drawn = {name: both for name, both in series.items() if both[0].size}
    if not drawn:
        raise BadResult(f"{run.source}: {metric} was not measured here")
    chosen = list(drawn)[:MOST_CURVES]
    for name, look in plots.looks(chosen).items():
        times, values = drawn[name]
        plots.curve(axes, times, values / quantity.scale, name, look, markers=8)
    for one in published:
        one.draw(axes)
    plots.finish(axes, x="time [s]", y=f"{metric.replace('_', ' ')} [{quantity.unit}]", legend=None)


def _curves(axes: Axes, found: Sequence[Measured], of: str, over: str, published: Sequence[Published]) -> None:
    name, value = QUANTITIES[of]
    places: dict[str, float] = {}
    curves: dict[tuple[str, str], dict[str, list[float]]] = {}
    alike: dict[str, list[Measured]] = {}
    for one in found:
        for flow, got in value(one).items():
            where = _value_of(one.run, over, flow) if over else "your runs"
            rest = repr(sorted(_rest(one.run, over)))
            alike.setdefault(rest, []).append(one)
            curves.setdefault((rest, flow), {}).setdefault(where, []).append(got)
    texts = list(dict.fromkeys([*(where for curve in curves.values() for where in curve), *_places(published)]))
    if over:
        unit = _number_all(texts, over, places)
    else:
        unit, places = "", {"your runs": 0.0}
    labels = _labels(alike, curves, over)
    looks = plots.looks([f"curve {at}" for at in range(len(curves))])
    for (key, curve), look in list(zip(curves.items(), looks.values(), strict=True))[:MOST_CURVES]:
        points: list[tuple[float, Estimate]] = sorted(
            ((places[where], estimate(values)) for where, values in curve.items()), key=lambda point: point[0]
        )
        xs, means = [x for x, _ in points], [of_it.mean for _, of_it in points]
        spread = [of_it.half_width for _, of_it in points]
        plots.curve(axes, xs, means, labels[key], look, spread=spread, markers=20)
    for one_published in published:
        one_published.draw(axes, places.__getitem__)
    axis = over.rsplit(".", 1)[-1]
    plots.finish(axes, x=f"{axis} [{unit}]" if unit else axis, y=name, legend=None)
    if not over:
        axes.set_xticks([])


def _places(published: Sequence[Published]) -> list[str]:
    return [place for one in published for place in one.places]


def _number_all(texts: Sequence[str], over: str, places: dict[str, float]) -> str:
    """Gives each value its place on the axis; their unit."""
    units = set()
    for text in texts:
        of_it = number(text)
        if of_it is None:
            raise BadResult(f"{over} = {text}: is no number with a unit, so that it has no place on an axis")
        places[text], unit = of_it
        units.add(unit)
    if len(units) > 1:
        raise BadResult(f"{over}: its values have several units ({', '.join(sorted(units))})")
    return str(units.pop()) if units else ""


def _value_of(run: SavedRun, over: str, flow: str) -> str:
    """What the scenario says there: of the flow itself where the key is of flows, otherwise the first that is found."""
    found = {key: value for key, value in run.settings() if fnmatchcase(key, over)}
    if not found:
        raise BadResult(f"{run.source}: its scenario has no {over}, over which this was published")
    return str(found.get(over.replace("*", flow, 1), next(iter(found.values()))))


def _rest(run: SavedRun, over: str) -> list[tuple[str, str]]:
    """The scenario without what the axis has; a send buffer goes with its receive buffer."""
    own = ["name", "description", *([over, over.replace("rcvbuf", "sndbuf")] if over else [])]
    return [(key, repr(value)) for key, value in run.settings() if not any(fnmatchcase(key, one) for one in own)]


def _labels(
    alike: Mapping[str, Sequence[Measured]], curves: Mapping[tuple[str, str], object], over: str
) -> dict[tuple[str, str], str]:
    """What each curve is: what its variants or names have in common, and the flow where there are several."""
    several = len({flow for _, flow in curves}) > 1
    found: dict[tuple[str, str], str] = {}
    leaf = over.rsplit(".", 1)[-1]
    for rest, flow in curves:
        variants = {
            ", ".join(part for part in one.run.variant.split(", ") if part and not (leaf and leaf in part))
            for one in alike[rest]
        }
        common = _common([one.run.name for one in alike[rest]])
        words = [variants.pop() if len(variants) == 1 else "", flow if several else ""]
        label = ", ".join(word for word in words if word) or common or flow or "measured"
        while f"yours: {label}" in found.values():
            label += "'"
        found[rest, flow] = f"yours: {label}"
    return found


def _common(names: Sequence[str]) -> str:
    """The words with which all names begin, without a number at their end."""
    first = names[0]
    same = next(
        (at for at in range(len(first)) if any(name[: at + 1] != first[: at + 1] for name in names)), len(first)
    )
    return first[:same].rstrip(" ,;:-=(0123456789.")
