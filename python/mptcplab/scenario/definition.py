"""Scenarios in Python: loaded, parsed or built, and always checked by the Rust core (`_core`).

Owns the public classes `Scenario`, `Path` and `Flow`, and the conversion of Python values to TOML. The core decides
what is valid; its `ScenarioError` names the key, the value and the nearest valid choice.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal, Never

from mptcplab import _core
from mptcplab.policies import loading
from mptcplab.policies.base import CongestionControl, Scheduler
from mptcplab.results.model.events import REASONS, Trace
from mptcplab.results.model.events import trace as read_trace
from mptcplab.results.model.varied_values import typed
from mptcplab.results.run import Run, Runs
from mptcplab.run.batch import run_jobs
from mptcplab.run.jobs import Job
from mptcplab.scenario import arguments
from mptcplab.scenario.arguments import name_fields

if TYPE_CHECKING:
    from concurrent.futures import Executor

ScenarioError = _core.ScenarioError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


HISTORICAL: dict[str, str | bool] = {
    "scheduler": "minrtt",
    "opportunistic_rule": "original",
    "penalisation": True,
    "coupling_scope": "all",
    "pacing": False,
    "sndbuf_shrinks": True,
    "rcvbuf_by_path": False,
}
"""MPTCP as in the papers of 2011 to 2014, for the keys of a flow or the `defaults` of a scenario. For mptcplab's
defaults and their reasons, see docs/never-slower.md.
"""

AS_STUDIED: dict[str, str | bool] = {**HISTORICAL, "minshall": False}
"""Settings of the published studies. Minshall's variant of Nagle's algorithm is off, although kernels of these years
had it. Of all claims of the studies, only D-3.2 (study `ro_bottleneck`) has another verdict with this variant.
"""

NO_JITTER: dict[str, str] = {"start": "0s", "processing": "0s"}
"""A `jitter` that disables the random delays of hosts. Without losses, all seeds then give the same run."""


@name_fields
@dataclass(kw_only=True)
class Path:
    """A path between client and server, with the keys of `[paths.NAME]` in a scenario file."""

    rate: str | None = None
    trace: str | None = None
    """A file with delivery opportunities, or with path properties over time; replaces `rate`."""
    trace_start: str | None = None
    trace_repeat: bool | None = None
    delay: str | None = None
    rtt: str | None = None
    loss: str | None = None
    gilbert_elliott: Mapping[str, str] | None = None
    loss_model: Mapping[str, Any] | None = None
    """`{"kind": NAME, ...}`: a model that a plugin adds to the core."""
    jitter: str | None = None
    reorder: bool | None = None
    queue: str | Mapping[str, Any] | None = None
    """A limit (`"53p"`), or a queue discipline (`{"kind": "codel"}`)."""
    mark: str | None = None
    path_mtu: int | None = None
    icmp: bool | None = None
    mtu: int | None = None
    duplicate: str | None = None
    corrupt: str | None = None
    slot: str | None = None
    slot_frames: int | None = None
    up: bool | None = None
    forward: Mapping[str, Any] | None = None
    backward: Mapping[str, Any] | None = None


@name_fields
@dataclass(kw_only=True)
class Cell:
    """An access point and its channel, with the keys of `[cells.NAME]`."""

    standard: Literal["802.11b", "802.11a", "802.11g", "802.11n"] | None = None
    channel: int | None = None
    access_point: str | None = None
    slot: Literal["short", "long"] | None = None
    protection: bool | None = None
    wpa2: bool | None = None
    streams: int | None = None
    short_guard: bool | None = None
    aggregation: bool | None = None
    queue: str | None = None
    discipline: Literal["droptail", "codel"] | None = None
    retry_limit: int | None = None
    cw_min: int | None = None
    cw_max: int | None = None


@name_fields
@dataclass(kw_only=True)
class Station:
    """A wireless interface of a host, with the keys of `[stations.NAME]`."""

    host: str | None = None
    cell: str | None = None
    rate: str | None = None
    distance: str | None = None
    queue: str | None = None
    discipline: Literal["droptail", "codel"] | None = None
    ring: int | None = None
    loss: str | None = None
    delay: str | None = None
    mtu: int | None = None
    up: bool | None = None


@name_fields
@dataclass(kw_only=True)
class Flow:
    """A connection, with the keys of `[flows.NAME]`; keys of a plugin go into `more`."""

    from_: str | None = None
    """The host that opens the connection: `from` in a file."""
    to: str | None = None
    stack: Literal["mptcplab", "linux"] | None = None
    transport: Literal["mptcp", "tcp", "udp"] | None = None
    version: Literal["v0", "v1"] | None = None
    direction: Literal["upload", "download"] | None = None
    permutation: int | None = None
    """A flow from each host of the `topology`."""
    paths: Sequence[str] | None = None
    congestion: str | type[CongestionControl] | Mapping[str, Any] | None = None
    """A name, a class, or `{"kind": NAME or class, ...}` with parameters; `scheduler` is alike."""
    coupling_scope: Literal["all", "shared"] | None = None
    scheduler: str | type[Scheduler] | Mapping[str, Any] | None = None
    path_manager: str | Mapping[str, Any] | None = None
    subflows: int | None = None
    backup: Sequence[str] | None = None
    opportunistic_retransmission: bool | None = None
    opportunistic_rule: Literal["original", "all_beneficial", "speculative"] | None = None
    penalisation: bool | None = None
    penalty_rule: Literal["original", "kernel_0.89"] | None = None
    autotuning: bool | None = None
    sndbuf_shrinks: bool | None = None
    rcvbuf_by_path: bool | None = None
    cwnd_capping: bool | None = None
    rcvbuf: str | None = None
    sndbuf: str | None = None
    mss: int | None = None
    notsent_lowat: str | None = None
    subflow_queues: bool | None = None
    buffer_memory: bool | None = None
    reinjection: Literal["timeout", "data_level"] | None = None
    windows_by_subflow: bool | None = None
    failed_path_probe: str | None = None
    wide_data_acks: bool | None = None
    add_addr_timeout: str | None = None
    blackhole_timeout: str | None = None
    bulk: bool | None = None
    bytes: str | None = None
    blocks: str | None = None
    application: Mapping[str, Any] | None = None
    """`{"kind": NAME, ...}`: an application that a plugin adds to the core."""
    rate: str | None = None
    datagram: str | None = None
    on: str | None = None
    off: str | None = None
    deadline: str | None = None
    small_queues: str | None = None
    slow_start: Literal["standard", "hystart++", "hystart"] | None = None
    ssthresh: str | None = None
    initial_window: int | None = None
    pacing: bool | None = None
    sack: bool | None = None
    timestamps: bool | None = None
    byte_counting: bool | None = None
    rack: bool | None = None
    frto: bool | None = None
    undo_spurious_loss: bool | None = None
    delayed_ack: bool | None = None
    nagle: bool | None = None
    minshall: bool | None = None
    min_rto: str | None = None
    user_timeout: str | None = None
    checksum: bool | None = None
    accept_mptcp: bool | None = None
    accept_subflows: int | None = None
    send_queue_rule: Literal["off", "published", "unacked", "linked"] | None = None
    ecn: Literal["off", "passive", "on"] | None = None
    abe: bool | None = None
    restart_after_idle: bool | None = None
    cwnd_limited_per_round: bool | None = None
    mtu_probing: Literal["off", "blackhole", "on"] | None = None
    start: str | None = None
    stop: str | None = None
    count: int | None = None
    stagger: str | None = None
    baselines: bool | None = None
    more: Mapping[str, Any] | None = None


@name_fields
@dataclass(kw_only=True)
class Event:
    """A change during the run, with the keys of `[[events]]`."""

    at: str
    set: Mapping[str, Any]
    path: str | None = None
    link: str | None = None
    station: str | None = None
    middlebox: str | None = None
    direction: Literal["forward", "backward"] | None = None
    how: Literal["admin", "blackhole", "endpoint", "route"] | None = None


class Scenario:
    """A checked, immutable scenario; `vary` returns a changed copy."""

    def __init__(
        self,
        *,
        duration: str,
        flows: Mapping[str, Flow | Mapping[str, Any]],
        paths: Mapping[str, Path | Mapping[str, Any]] | None = None,
        events: Sequence[Event | Mapping[str, Any]] = (),
        name: str = "scenario",
        **more: Any,
    ) -> None:
        """Builds a scenario; `more` accepts every other key of a scenario file."""
        if not isinstance(name, str):
            raise TypeError(f"name = {name!r}: must be a string")
        for key, kind in (("cells", Cell), ("stations", Station)):
            if more.get(key) is not None:
                arguments.tables(more[key], key, kind)
        table: dict[str, Any] = {
            "name": name,
            "duration": duration,
            "paths": arguments.tables({} if paths is None else paths, "paths", Path),
            "flows": arguments.tables(flows, "flows", Flow),
        }
        table |= more
        if isinstance(events, (str, Mapping, Event)) or not isinstance(events, Iterable):
            raise TypeError(f"events = {events!r}: must be a list of Event(...) or mappings")
        if events:
            table["events"] = list(events)
        self._core = _core.Scenario.built(to_toml(table), name)

    @classmethod
    def _of(cls, core: _core.Scenario) -> Scenario:
        scenario = cls.__new__(cls)
        vars(scenario)["_core"] = core
        return scenario

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Scenario:
        """Reads a scenario file. A policy `file.py:Class` can be next to it."""
        loading.look_in(FilePath(path).parent)
        return cls._of(_core.Scenario.load(FilePath(path)))

    @classmethod
    def parse(cls, text: str, name: str = "scenario") -> Scenario:
        """Parses the text of a scenario file; errors refer to it as `name`."""
        return cls._of(_core.Scenario.parse(text, name))

    @classmethod
    def packaged(cls, name: str) -> Scenario:
        """Reads an example scenario of mptcplab, such as `s1`."""
        return cls.load(FilePath(__file__).parents[1] / "scenarios" / f"{name}.toml")

    def vary(self, values: Mapping[str, str | int | bool], *, origin: str = "vary") -> Scenario:
        """A copy with other values by dotted key: `{"paths.wifi.loss": "5%"}`; errors start with `origin`."""
        if not isinstance(values, Mapping):
            raise TypeError(f"{origin}: {values!r}: must be a mapping from keys to values")
        checked = {key: arguments.plain(value, f"{origin}: {key}") for key, value in values.items()}
        pairs = [(key, value if isinstance(value, str) else _value(value)) for key, value in checked.items()]
        return Scenario._of(self._core.with_values(pairs, origin))

    def run(
        self,
        seed: int = 1,
        *,
        captures: str | PathLike[str] | None = None,
        trace: str | Trace | None = None,
        **others: Never,
    ) -> Run:
        """Runs the scenario once. With `captures`, writes a pcapng per host and interface to that directory.

        With `trace`, comma-separated event kinds or `all`, the run has `events`. With or without `trace`, the run is
        observed, so it has link capacities and limiting factors. The runs of `runs` and `sweep` are not observed.
        """
        arguments.none_of(others, "run", ("seed", "captures", "trace"), {"seeds": "runs(seeds=range(1, 4))"})
        seed = arguments.seed(seed)
        wanted = read_trace(trace) if isinstance(trace, str) else REASONS if trace is None else trace
        results = _core.run(self._core, seed, None if captures is None else FilePath(captures), wanted)
        return Run(self._core, seed, results)

    def runs(self, seeds: Iterable[int], *, workers: int | None = None, executor: Executor | None = None) -> Runs:
        """Runs the scenario once per seed, on several cores, or on an executor such as a `ProcessPoolExecutor`."""
        jobs = [Job(self._core, seed) for seed in arguments.seeds(seeds)]
        return run_jobs(jobs, workers=arguments.workers(workers), executor=executor)

    def sweep(
        self,
        vary: Mapping[str, Sequence[str | int | bool]],
        *,
        seeds: Iterable[int] = (1,),
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> Runs:
        """Runs every combination of the values with every seed; `variant` of a run names the combination.

        `executor` is as for `runs` (docs/clusters.md).
        """
        jobs, seeds, vary = [], arguments.seeds(seeds), arguments.choices(vary)
        workers = arguments.workers(workers)
        columns = itertools.product(*typed(vary).values())
        for choice, its in zip(itertools.product(*vary.values()), columns, strict=True):
            point, values = dict(zip(vary, choice, strict=True)), dict(zip(vary, its, strict=True))
            variant = ", ".join(f"{key}={value}" for key, value in point.items())
            scenario = self.vary(point).core
            jobs += [Job(scenario, seed, variant, values=values) for seed in seeds]
        return run_jobs(jobs, workers=workers, executor=executor)

    def baselines(self) -> list[tuple[str, str, Scenario]]:
        """Plain TCP over each path of each flow, for comparison: flow, path, scenario."""
        return [(flow, path, Scenario._of(core)) for flow, path, core in self._core.baselines()]

    def to_toml(self) -> str:
        """The scenario with all defaults, as TOML."""
        return self._core.to_toml()

    @property
    def core(self) -> _core.Scenario:
        """The scenario as an object of the Rust core."""
        return self._core

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self._core.name

    @property
    def duration(self) -> float:
        """The duration in seconds."""
        return self._core.duration

    @property
    def flows(self) -> list[str]:
        """Names of the flows."""
        return self._core.flows

    @property
    def paths(self) -> list[str]:
        """Names of the paths and links."""
        return self._core.paths

    def __repr__(self) -> str:
        """Name, paths, flows and duration."""
        return f"<Scenario {self.name}: {', '.join(self.flows)} over {', '.join(self.paths)}, {self.duration:g} s>"


def to_toml(table: Mapping[str, Any]) -> str:
    """TOML of nested mappings, dataclasses, sequences and plain values; omits None."""
    lines: list[str] = []
    _write_table(lines, "", arguments.plain(table, ""))
    return "\n".join(lines) + "\n"


def _write_table(lines: list[str], name: str, table: Mapping[str, Any]) -> None:
    nested = {key: item for key, item in table.items() if isinstance(item, Mapping)}
    arrays = {
        key: item
        for key, item in table.items()
        if isinstance(item, list) and item and all(isinstance(entry, Mapping) for entry in item)
    }
    for key, item in table.items():
        if key not in nested and key not in arrays:
            lines.append(f"{_key(key)} = {_value(item)}")
    for key, item in nested.items():
        inner = f"{name}.{_key(key)}" if name else _key(key)
        lines.append(f"\n[{inner}]")
        _write_table(lines, inner, item)
    for key, items in arrays.items():
        for item in items:
            lines.append(f"\n[[{_key(key)}]]")
            lines.extend(f"{_key(inner)} = {_value(value)}" for inner, value in item.items())


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return '"' + "".join(_escape(letter) for letter in str(value)) + '"'


def _escape(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    return letter if letter >= " " and letter != "\x7f" else f"\\u{ord(letter):04x}"
