"""Errors of the Python API: early, with the field, its value and valid values, without a line of a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mptcplab import Cell, Event, Flow, Path, Scenario, ScenarioError

PATHS = {"wifi": Path(rate="8Mbit", delay="10ms")}
FLOWS = {"bulk": Flow(congestion="lia")}


def _scenario(**changed: Any) -> Scenario:
    return Scenario(**({"duration": "2s", "paths": PATHS, "flows": FLOWS} | changed))


def _path(**values: Any) -> Path:
    return Path(**values)


def _flow(**values: Any) -> Flow:
    return Flow(**values)


SCENARIOS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"paths": {"wifi": "8Mbit"}}, TypeError, "paths.wifi = '8Mbit': must be Path(...) or a mapping, not str"),
    ({"paths": [Path(rate="8Mbit")]}, TypeError, "paths = [Path("),
    ({"flows": Flow()}, TypeError, "flows = Flow("),
    ({"flows": {"bulk": Path(rate="1Mbit")}}, TypeError, "flows.bulk = Path("),
    ({"flows": {1: Flow()}}, TypeError, "flows: the key 1 must be a string"),
    ({"cells": {"north": 7}}, TypeError, "cells.north = 7: must be Cell(...) or a mapping, not int"),
    (
        {"paths": {"wifi": _path(rate=8_000_000)}},
        ValueError,
        'paths.wifi.rate = 8000000: a rate needs a unit (try "8Mbit")',
    ),
    (
        {"paths": {"wifi": _path(rate="8Mbit", loss=0.01)}},
        ValueError,
        "paths.wifi.loss = 0.01: a loss must be in percent",
    ),
    (
        {"paths": {"wifi": _path(rate="8Mbit", loss=float("nan"))}},
        ValueError,
        "paths.wifi.loss = nan: must be a finite",
    ),
    (
        {"paths": {"wifi": Path(rate="8Mbit", mtu=2**70)}},
        ValueError,
        "paths.wifi.mtu = 1180591620717411303424: must be",
    ),
    (
        {"paths": {"wifi": _path(rate=b"8Mbit")}},
        TypeError,
        "paths.wifi.rate = b'8Mbit': must be a string, a number",
    ),
    (
        {"flows": {"bulk": _flow(paths={"wifi"})}},
        TypeError,
        "flows.bulk.paths = {'wifi'}: must be a list, because its order",
    ),
    ({"flows": {"bulk": {"congestion": object}}}, TypeError, "flows.bulk.congestion = <class 'object'>: must be"),
    ({"flows": {"bulk": {"cc": "lia"}}}, ValueError, 'flows.bulk.cc: unknown key; did you mean "congestion"?'),
    ({"duration": 2}, ValueError, 'duration = 2: a duration needs a unit, such as "2ms" or "2s"'),
    ({"duration": None}, ValueError, "duration: a scenario needs a duration"),
    ({"events": Event(at="1s", path="wifi", set={"up": False})}, TypeError, "events = Event("),
    (
        {"events": [Event(at="9s", path="wifi", set={"up": False})]},
        ValueError,
        'events[0].at = "9s": must not be after the end',
    ),
    ({"name": 7}, TypeError, "name = 7: must be a string"),
]


@pytest.mark.parametrize(("changed", "kind", "says"), SCENARIOS)
def test_a_wrong_value_of_a_scenario_names_its_field(changed: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        _scenario(**changed)
    message = str(raised.value)
    assert says in message
    assert not re.search(r":\d+:", message), "nobody has seen the lines"
    assert len(message) < 2000


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: Flow(cc="lia"), "Flow has no field cc; did you mean congestion?"),  # type: ignore[call-arg]
        (lambda: Flow(rcvbuff="1MB"), "Flow has no field rcvbuff; did you mean rcvbuf?"),  # type: ignore[call-arg]
        (lambda: Path(latency="5ms"), "Path has no field latency; did you mean delay?"),  # type: ignore[call-arg]
        (lambda: Path("8Mbit"), "Path('8Mbit'): arguments must be named; write Path(rate=...)"),  # type: ignore[call-arg]
        (lambda: Cell(zzzzzzzz=1), "Cell has no field zzzzzzzz; there are: standard, channel"),  # type: ignore[call-arg]
    ],
)
def test_a_field_that_is_not_there_has_a_near_one_named(made: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=re.escape(says)):
        made()


RUNS: list[tuple[Callable[[Scenario], object], type[Exception], str]] = [
    (lambda s: s.run(seed=-1), ValueError, "seed = -1: must be between 0 and 18446744073709551615"),
    (lambda s: s.run(seed=2**64), ValueError, "seed = 18446744073709551616: must be between"),
    (lambda s: s.run(seed="1"), TypeError, "seed = '1': must be an integer, not str"),  # type: ignore[arg-type]
    (lambda s: s.run(seed=1.0), TypeError, "seed = 1.0: must be an integer, not float"),  # type: ignore[arg-type]
    (lambda s: s.runs(3), TypeError, "seeds = 3: must be several integers"),  # type: ignore[arg-type]
    (lambda s: s.runs([1, -2]), ValueError, "seeds[1] = -2: must be between"),
    (lambda s: s.runs([]), ValueError, "seeds = []: must not be empty"),
    (lambda s: s.runs([1], workers=0), ValueError, "workers = 0: must be at least 1"),
    (lambda s: s.runs([1], workers=-1), ValueError, "workers = -1: must be at least 1"),
    (
        lambda s: s.sweep({"paths.wifi.loss": "5%"}),
        TypeError,
        "vary: paths.wifi.loss = '5%': must be a list of values (try ['5%'])",
    ),
    (lambda s: s.sweep({"paths.wifi.loss": []}), ValueError, "vary: paths.wifi.loss = []: must not be empty"),
    (lambda s: s.sweep(["paths.wifi.loss"]), TypeError, "vary = ['paths.wifi.loss']: must be a mapping"),  # type: ignore[arg-type]
    (lambda s: s.sweep({"path.wifi.loss": ["5%"]}), ScenarioError, 'vary: path.wifi.loss = "5%": there is no such key'),
    (lambda s: s.vary({"paths.wifi.loss": 0.05}), ScenarioError, 'vary: paths.wifi.loss = "0.05": a loss must'),  # type: ignore[dict-item]
    (lambda s: s.vary({"paths.wifi.loss": object()}), TypeError, "vary: paths.wifi.loss = <object"),  # type: ignore[dict-item]
]


@pytest.mark.parametrize(("use", "kind", "says"), RUNS)
def test_a_wrong_argument_of_a_run_is_named(
    use: Callable[[Scenario], object], kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind) as raised:
        use(_scenario())
    assert says in str(raised.value)
    assert "--" not in str(raised.value), "no option of a command was given"


def test_numbers_of_numpy_and_paths_of_files_are_values() -> None:
    scenario = _scenario(paths={"wifi": Path(rate=str(np.str_("8Mbit")), mtu=np.int64(1400))})  # type: ignore[arg-type]
    assert "mtu = 1400" in scenario.to_toml()
    assert scenario.run(seed=np.int64(3)).seed == 3  # type: ignore[arg-type]
